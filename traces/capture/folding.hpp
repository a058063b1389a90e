// Runs of one item, as the recording runtime closed them, folded into nests of up to four loops, and items that differ only by
// constant shifts folded into blocks of iterations. Lossless: unfolding gives the runs back in their order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/workload.hpp"

namespace homenode {

struct PlacedRun {  // a run whose base is known as an object and an offset
  ObjectId object;
  AccessRun run;  // run.offset: in the object; slot not yet given
};

// Consecutive runs of one site with equal shape and constant steps become one run with one more dimension.
// The result is sorted by sequence.
void fold_runs(std::vector<PlacedRun>&);

// Patterns without repetition: equal content, one id.
class PatternTable {
public:
  explicit PatternTable(std::vector<ItemPattern>& patterns) : patterns_{patterns} {}
  PatternId intern(ItemPattern);

private:
  std::vector<ItemPattern>& patterns_;
  std::map<std::string, PatternId> known_;
};

// What one iteration did.
struct Item {
  std::vector<PlacedRun> runs;
  std::vector<HeapEvent> heap_events;  // their slots are not yet given
  std::vector<ObjectId> heap_objects;  // by heap event
  std::vector<SyncEvent> sync_events;
};

// Collects the items of an execution in the order of their iterations and folds them as they come.
class BlockFolder {
public:
  void add(std::int64_t iteration, const Item&);
  // Blocks with slots joined by object and shift; per-access work is multiplied into each pattern.
  std::vector<ItemBlock> finish(PatternTable&, const WorkCounts& per_access);
  std::uint64_t accesses() const { return accesses_; }
  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }

private:
  struct Draft {
    std::int64_t first = 0, last = 0;
    std::size_t shape = 0;           // index in shapes_
    std::vector<SlotBinding> slots;  // one a run
  };
  std::vector<Draft> drafts_;
  std::vector<ItemPattern> shapes_;
  std::map<std::string, std::size_t> known_;
  std::uint64_t accesses_ = 0, reads_ = 0, writes_ = 0;
};

}  // namespace homenode
