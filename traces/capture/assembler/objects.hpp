// Which object lies at an address now: a heap block, a global, a frame, a stack, a thread-local block.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/program/workload.hpp"
#include "traces/capture/assembler/program.hpp"

namespace homenode {

class ObjectMap {
public:
  explicit ObjectMap(ProgramText& program) : program_{program} {}

  // The object of an address. Most accesses of a site stay in one object, so each site keeps its last Place.
  struct Place {
    std::uint64_t low = 1, high = 0;
    ObjectId object = ObjectId::none();
    std::uint64_t epoch = 0;
  };
  void locate(Place& place, std::uint64_t address) {
    if (place.epoch != epoch_ || address < place.low || address >= place.high) find(place, address);
  }
  ObjectId object_at(std::uint64_t address);

  void set_page_size(std::uint64_t bytes) { page_size_ = bytes; }
  void add_variables(const ModuleSymbols&, std::uint64_t bias);
  // Stack and thread-local variables of a thread that the program creates are private to it until another one touches them.
  void add_stack(std::uint64_t low, std::uint64_t high, std::uint32_t thread = 0);
  void set_running(std::uint32_t thread) { running_ = thread, ++epoch_; }
  void add_thread_local_block(std::uint32_t rank, std::uint64_t low, std::uint64_t high);
  void add_frame(std::uint32_t rank, std::uint64_t low, std::uint64_t high, const CallSite& function, bool in_parallel);
  void begin_parallel() { team_frame_.clear(), tasks_.clear(), rank_ = 0; }
  // The rank whose accesses follow.
  void set_rank(std::uint32_t rank);
  // An explicit task begins on a rank; tasks nest. Frames of functions that the task calls are private to its thread. A frame of its
  // creators, whose stack begins at `stack`, becomes shared when the task touches it: from then on, frames of that function are one
  // object a task.
  void begin_task_frames(std::uint32_t rank, std::uint64_t stack, std::uint32_t number);
  void end_task_frames(std::uint32_t rank);
  // `old`: the block that was reallocated, or 0.
  ObjectId allocate(ObjectKind, std::uint64_t address, std::uint64_t bytes, std::uint64_t old, std::uint64_t alignment, const CallSite&);
  std::optional<ObjectId> release(std::uint64_t address);
  // Heap blocks are named by the place that allocated them; after look_up_lines.
  void name_objects();

  std::vector<TracedObject> objects;

private:
  struct Live {
    std::uint64_t high = 0;
    ObjectId object = ObjectId::none();
    const Variable* variable = nullptr;  // not yet made an object
    bool frame = false;
    std::uint32_t thread = 0;  // created by the program, whose own it is; 0 = of no such one
    std::uint32_t rank = 0;    // whose frame it is
  };
  struct Task {
    std::uint64_t low = 0, high = 0;  // its part of the rank's stack
    std::uint32_t number = 0;
  };
  // What tells one stack frame from another. Frames that are private to whoever runs have no rank, address or task.
  struct Frame {
    std::string function;
    std::uint64_t bytes = 0;
    bool is_private = false;
    std::uint32_t rank = 0;
    std::uint64_t low = 0;
    std::uint32_t task = 0;
    auto operator<=>(const Frame&) const = default;
  };
  struct Stack {
    std::uint64_t high = 0;
    ObjectId object = ObjectId::none();
    std::uint32_t thread = 0;
  };
  ObjectId add(ObjectKind, std::uint64_t bytes, std::string symbol, SiteId, std::int32_t owner = -1, bool is_private = false);
  void replace(std::uint64_t low, std::uint64_t high, ObjectId, bool is_frame = false, std::uint32_t thread = 0);
  void share(ObjectId, std::uint32_t thread);
  std::uint32_t task_of(std::uint32_t rank, std::uint64_t low) const;
  void share_with_task(ObjectId, std::uint64_t address, const Live*, std::uint64_t low);
  using LiveObjects = std::map<std::uint64_t, Live>;
  LiveObjects::iterator erase(LiveObjects::iterator);
  void find(Place&, std::uint64_t address);
  void look_up(Place&, std::uint64_t address);

  // What live_ said of an address lately, of objects that are no thread's own: large ones by page, small ones by line.
  struct Known {
    std::uint64_t key = ~std::uint64_t{0}, low = 1, high = 0;
    ObjectId object = ObjectId::none();
  };
  static constexpr std::size_t known_entries = 4096;
  static constexpr std::uint64_t large = 4096;
  static std::uint64_t page_key(std::uint64_t address) { return address >> 12 << 1; }
  static std::uint64_t line_key(std::uint64_t address) { return address >> 6 << 1 | 1; }
  Known& known(std::uint64_t key) { return known_[(key * 0x9E3779B97F4A7C15u) >> 52]; }
  bool recall(Place&, std::uint64_t address, std::uint64_t key);
  void forget(std::uint64_t low, std::uint64_t high);

  ProgramText& program_;
  std::uint64_t page_size_ = 4096;
  LiveObjects live_;  // by lowest address
  std::vector<Known> known_ = std::vector<Known>(known_entries);
  std::map<std::uint64_t, Stack> stacks_;  // by lowest address
  std::map<Frame, ObjectId> frames_;
  std::set<std::pair<std::string, std::uint64_t>> shared_with_tasks_;  // function, bytes
  std::map<std::uint32_t, std::vector<Task>> tasks_;                   // by rank
  std::map<std::uint32_t, std::uint64_t> team_frame_;                  // by rank: where its share of the team's code ends on its stack
  std::vector<ObjectId> named_by_site_;
  std::uint64_t epoch_ = 1;  // of live_
  std::uint32_t running_ = 0, rank_ = 0;
};

}  // namespace homenode
