// Folds the runs that the recording runtime sends into nests of up to four loops, and items that differ only by constant shifts into
// blocks of iterations. Folding is lossless: unfolding gives the accesses back in their exact order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/program/workload.hpp"
#include "traces/capture/assembler/loose_accesses.hpp"
#include "traces/capture/assembler/slots.hpp"
#include "traces/format/records/large_memory.hpp"

namespace homenode {

// A run whose base is known as an object and an offset: run.offset is in the object, its slot is not yet given.
struct PlacedRun {
  ObjectId object;
  AccessRun run;
};

// What one iteration did: a pattern in which every run has a slot of its own, and the object and offset of each slot.
struct Item {
  struct Position {
    ObjectId object;
    std::int64_t offset = 0;
  };
  ItemPattern pattern;              // offsets are 0; streams: relative to the first access of the stream to that object
  std::vector<Position> positions;  // by slot
  // Iterations are many: the room of the small ones is used again.
  void clear() {
    positions.clear();
    if (pattern.streams.empty() && pattern.runs.capacity() <= 4096) {
      pattern.slots = 0;
      pattern.accesses = pattern.reads = pattern.writes = 0;
      pattern.work = {};
      pattern.runs.clear();
      pattern.heap_events.clear();
      pattern.sync_events.clear();
    } else {
      pattern = {};
    }
  }
};

// Folds the runs of one iteration, site by site. Memory grows only with accesses that do not fold.
class ItemFolder {
public:
  // Sites are dense small numbers; runs of one site come in the order of their sequence.
  void add(std::size_t site, const PlacedRun&);
  // The fast path for an access outside of a run that is neither streamable nor bulk. False: this is the site's first single access, and
  // add() must take it.
  bool add_single(std::size_t site, ObjectId object, std::uint64_t distance, std::int64_t offset, std::uint64_t sequence) {
    if (site >= sites_.size() || !sites_[site].shape_known) return false;
    SiteFolder& folder = sites_[site];
    activate(folder, site);
    folder.singles.push_back({object, static_cast<std::uint32_t>(std::min<std::uint64_t>(distance, UINT32_MAX)), offset, sequence});
    bound(folder);
    return true;
  }
  void add_heap_event(const HeapEvent&, ObjectId);  // its slot is given here
  std::size_t heap_events() const { return events_.pattern.heap_events.size(); }
  void zero_block(std::size_t event) { events_.pattern.heap_events[event].zeroed = true; }  // calloc's, as it turned out
  void add_sync_event(const SyncEvent&);
  bool is_empty() const { return active_.empty() && events_.pattern.heap_events.empty() && events_.pattern.sync_events.empty(); }
  // Runs and single accesses in memory, but for the few of open nests. Some may fold yet: fold() folds all that came, and ends open nests.
  std::size_t held() const;
  void fold();
  // Closes everything; the folder is empty after it.
  void finish(Item&);

private:
  struct Level {
    PlacedRun first;
    std::uint32_t count = 0;
    std::int64_t last_offset = 0, stride = 0;
    std::uint64_t last_sequence = 0, sequence_stride = 0;
  };
  using Single = LooseAccess;
  struct SiteFolder {
    Level level[AccessRun::max_dimensions];
    // Single accesses: before `folded` those that fold into nothing, behind it those that came since. One vector, as what folds
    // into nothing never takes more room than it did before. Long ago: in `loose`, in less room.
    LooseAccesses loose;
    std::vector<Single> singles;
    std::size_t folded = 0;
    PlacedRun single_shape;
    bool active = false, shape_known = false;
  };
  // So many accesses, from `first` in the singles of a site, at constant distances.
  struct Stretch {
    std::size_t first = 0;
    std::uint32_t count = 0;
    std::int64_t stride = 0;
    std::uint64_t sequence_stride = 0;
  };
  void activate(SiteFolder& folder, std::size_t site) {
    if (folder.active) return;
    folder.active = true;
    active_.push_back(site);
  }
  // Memory is bounded by what does not fold.
  void bound(SiteFolder& folder) {
    constexpr std::size_t many = 1 << 16;
    if (folder.singles.size() == folder.singles.capacity() && folder.singles.size() >= many)
      format::reserve_large(folder.singles, 2 * folder.singles.size());
    if (folder.singles.size() - folder.folded >= most_unfolded) fold_singles(folder);
  }
  static Stretch stretch_at(const std::vector<Single>&, std::size_t first);
  static PlacedRun placed(const SiteFolder&, const Single&);
  void push(SiteFolder&, unsigned level, const PlacedRun&);
  void close(SiteFolder&, unsigned level);
  void emit(SiteFolder&, const PlacedRun&);
  void close_all(SiteFolder&);
  void fold_singles(SiteFolder&);
  static void pack_singles(SiteFolder&);
  static void sort_singles(SiteFolder&);
  void add_stream(SiteFolder&, Item&);

  std::vector<SiteFolder> sites_;
  std::vector<std::size_t> active_;
  static constexpr std::size_t most_unfolded = 1 << 20;
  std::vector<PlacedRun> runs_;
  SlotsOfObjects slots_;
  Item events_;
};

// Collects items in the order of their iterations and hands out finished blocks.
class BlockFolder {
public:
  using Intern = std::function<PatternId(const ItemPattern&)>;
  using Emit = std::function<void(ItemBlock)>;

  // Iterations of one folder grow; a gap ends a block.
  void add(std::int64_t iteration, Item&, const Intern&, const Emit&);
  void finish(const Intern&, const Emit&);

  // The caller knows that the next iterations repeat the last one with the block's shifts. Only while is_steady().
  void repeat(std::int64_t iterations) { last_ += iterations; }
  // At least two iterations in the open block, so that its shifts are known.
  bool is_steady() const { return last_ - first_ >= 2; }
  const Item& open_item() const { return item_; }
  const std::vector<std::int64_t>& shifts() const { return shifts_; }  // by slot of open_item
  std::int64_t first() const { return first_; }
  std::int64_t last() const { return last_; }

private:
  void close(const Intern&, const Emit&);
  Item item_;  // of the open block's first iteration
  std::vector<std::int64_t> shifts_;
  std::int64_t first_ = 0, last_ = 0;
  // How the last block's slots were joined: the next one of the same shape is joined alike if it fits, and has the same pattern.
  std::vector<SlotNumber> joined_;
  std::vector<std::int64_t> relative_;
  std::vector<std::size_t> leader_;  // by joined slot: the slot whose first access is its base
  PatternId pattern_ = PatternId::none();
  bool same_shape_as_joined_ = false;
};

}  // namespace homenode
