// A memory model in which every iteration takes a fixed time and nothing is shared: what is left is the loop's own logic.
// An iteration that comes in stretches has 512 accesses of 8 bytes, which share its time evenly.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "sim/hardware/memory_model.hpp"

namespace homenode::test {

class FixedTimeMemory final : public MemoryModel {
public:
  explicit FixedTimeMemory(Time per_iteration) : per_iteration_{per_iteration} {}

  static constexpr std::uint64_t accesses = 512, access_bytes = 8;

  Started start(const Work& work, AddressSpace& addresses) override {
    Started started{WorkId{slices.size()}};
    Time time = per_iteration_ * work.items.size();
    if (work.stretch) {
      const std::uint64_t quantum = std::max<std::uint64_t>(static_cast<std::uint64_t>(work.stretch->quantum.count()) / access_bytes, 1);
      const std::uint64_t end = std::min({work.stretch->last, work.stretch->first + quantum, accesses});
      time = Time::picoseconds(per_iteration_.count() * static_cast<std::int64_t>(end - work.stretch->first) /
                               static_cast<std::int64_t>(accesses));
      if (end < accesses) started.reached = end;
    }
    pending_.insert({now_ + work.overhead + time, work.place.thread});
    slices.push_back(work);
    ends.push_back(now_ + work.overhead + time);
    if (at_start) at_start(work, addresses);
    return started;
  }
  std::optional<Time> next_event() override { return pending_.empty() ? std::nullopt : std::optional{pending_.begin()->first}; }
  void advance(Time to, std::vector<Completion>& done) override {
    now_ = to;
    while (!pending_.empty() && pending_.begin()->first <= to) {
      done.push_back({WorkId{}, pending_.begin()->second, pending_.begin()->first});
      pending_.erase(pending_.begin());
    }
  }
  EventCounts counts() const override { return {}; }
  std::vector<std::vector<BottleneckTime>> bottlenecks() const override { return {}; }
  void drop(AddressRange bytes, bool) override { dropped.push_back(bytes); }
  void flush(AddressSpace&) override { flushed = true; }

  Time hold_back_faults(Time now, Time held) override {
    held_back.emplace_back(now, held);
    return writers_wait;
  }
  Time faults_in_call(const Place&, std::uint64_t faults, const AddressSpace&) override {
    return fault * static_cast<std::int64_t>(faults);
  }

  Time writers_wait, fault;                                  // for faults under way; of a fault in a heap call
  std::vector<std::pair<Time, Time>> held_back;              // from when, for how long beside the wait
  std::function<void(const Work&, AddressSpace&)> at_start;  // to look at what the slice finds
  std::vector<Work> slices;
  std::vector<Time> ends;  // by slice
  std::vector<AddressRange> dropped;
  bool flushed = false;

private:
  Time per_iteration_, now_;
  std::set<std::pair<Time, ThreadId>> pending_;
};

}  // namespace homenode::test
