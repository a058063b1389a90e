// A memory model in which every iteration takes a fixed time and nothing is shared: what is left is the loop's own logic.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sim/hardware/memory_model.hpp"

namespace homenode::test {

class FixedTimeMemory final : public MemoryModel {
public:
  explicit FixedTimeMemory(Time per_iteration) : per_iteration_{per_iteration} {}

  WorkId start(const Work& work, AddressSpace&) override {
    const Time end = now_ + work.overhead + per_iteration_ * work.items.size();
    pending_.insert({end, work.place.thread});
    slices.push_back(work);
    return WorkId{slices.size() - 1};
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
  std::vector<std::vector<BindingTime>> binding() const override { return {}; }
  void drop(std::uint64_t first, std::uint64_t last, bool) override { dropped.emplace_back(first, last); }
  void flush(AddressSpace&) override { flushed = true; }

  std::vector<Work> slices;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dropped;
  bool flushed = false;

private:
  Time per_iteration_, now_;
  std::set<std::pair<Time, ThreadId>> pending_;
};

}  // namespace homenode::test
