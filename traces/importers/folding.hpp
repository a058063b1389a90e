// Folds single accesses, as another tool lists them, into nests of up to four loops. Folding is lossless: unfolding gives the accesses
// back in their exact order.
//
// A class is a site, an object, a kind and a width. Three accesses of one class begin a run if their addresses and their places in
// the sequence have constant distances. A run predicts the address and the place of its next access, and it ends when that access
// does not come. So runs of one class may be interleaved, as in a stencil whose accesses carry no site. Ended runs of equal shape
// are folded in the same way into the next outer loop.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

// What one iteration did. Each run has a slot of its own; streams share one slot for each object. If these are more slots than a
// pattern can have, runs share the slot of their object too.
struct FoldedItem {
  struct Position {
    ObjectId object;
    std::int64_t offset = 0;
    bool operator==(const Position&) const = default;
  };
  ItemPattern pattern;              // offsets are relative to the first access through the slot
  std::vector<Position> positions;  // by slot
};

class AccessFolder {
public:
  static constexpr std::size_t most_objects = 65535;  // of one iteration

  // Accesses in their order.
  void add(SiteId, ObjectId, std::int64_t offset, AccessKind, std::uint16_t width);
  // Instructions that belong to the iteration.
  void add_work(const WorkCounts& counts) { work_ += counts; }

  std::uint64_t accesses() const { return sequence_; }
  std::size_t objects() const { return objects_.size(); }
  // How much is in memory, in units of some hundred bytes: it grows with what does not fold.
  std::size_t held() const { return 4 * classes_.size() + runs_.size() + irregular_; }

  // Ends the iteration; the folder is empty after it.
  FoldedItem finish();

private:
  static constexpr std::size_t window = 32;     // accesses (or runs) of a class among which a new run is looked for
  static constexpr std::size_t most_open = 64;  // runs of a class that go on at once

  struct Element {
    std::int64_t offset = 0;
    std::uint64_t sequence = 0;
  };
  struct Open {
    Element first, last;
    std::int64_t stride = 0;
    std::uint64_t sequence_stride = 0;
    std::uint32_t count = 0;
  };
  struct Class {
    ObjectId object;
    AccessRun shape;              // without offset and sequence
    std::vector<Open> open;       // runs that go on
    std::vector<Element> recent;  // elements of no run, oldest first
  };
  struct ClassKey {
    std::uint32_t site, object;
    std::uint32_t kind_and_width;
    bool operator==(const ClassKey&) const = default;
  };
  struct ClassKeyHash {
    std::size_t operator()(const ClassKey&) const;
  };
  struct NestedKey {
    std::size_t within;
    std::uint32_t count;
    std::int64_t stride;
    std::uint64_t sequence_stride;
    auto operator<=>(const NestedKey&) const = default;
  };
  struct StreamKey {
    SiteId site;
    AccessKind kind;
    std::uint16_t width;
    auto operator<=>(const StreamKey&) const = default;
  };
  struct Single {
    ObjectId object;
    std::int64_t offset = 0;
    std::uint64_t sequence = 0;
  };
  struct PlacedRun {
    ObjectId object;
    AccessRun run;
  };

  void push(std::size_t number, const Element&);
  bool begin_run(Class&, const Element&);
  void close(std::size_t number, Open);
  void emit(std::size_t number, const Element&);
  void add_streams(FoldedItem&, std::map<ObjectId, SlotNumber>& slots);
  void add_runs(FoldedItem&, std::map<ObjectId, SlotNumber>& slots);

  std::uint64_t sequence_ = 0;
  std::size_t irregular_ = 0;
  WorkCounts work_;
  std::vector<Class> classes_;
  std::unordered_map<ClassKey, std::size_t, ClassKeyHash> class_of_;
  std::map<NestedKey, std::size_t> nested_;
  std::unordered_map<ObjectId, bool> objects_;
  std::map<StreamKey, std::vector<Single>> singles_;
  std::vector<PlacedRun> runs_;
  std::vector<Open> ended_;
};

}  // namespace homenode
