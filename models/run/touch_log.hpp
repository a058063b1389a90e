// Who touches which page first in each execution of a run, and how long its slices take: what balanced_time.hpp repeats. A placement that
// is watched (Watch::touches) and a memory model around the engine's, which together fill one log; the run itself is as without them,
// but for slices passing the caches in the order of time.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "models/placement/modifier.hpp"
#include "sim/hardware/memory_model.hpp"

namespace homenode {

struct LoggedSlice {
  Place place;  // place.now: its begin
  Time duration;
  std::vector<PageNumber> pages;  // that nobody touched before it in its execution
};

struct LoggedExecution {
  ExecutionId id;
  RegionId region;
  std::vector<LoggedSlice> slices;  // in the order in which they began
};

class TouchLog {
public:
  explicit TouchLog(const Workload& workload) : workload_{workload} {}

  void start(const Work&);
  void touched(std::span<const PageUse>);  // by the slice that started last
  void end(const Completion&);
  // Whether an execution has begun since this was last asked: its touches are to be seen anew.
  bool fresh() { return std::exchange(fresh_, false); }
  const std::vector<LoggedExecution>& executions() const { return executions_; }  // in the order in which they began
  // Of a page when it was touched last; none if that was never.
  NodeId home(PageNumber page) const { return page.value() < homes_.size() ? homes_[page.value()] : NodeId::none(); }

private:
  struct At {
    std::size_t execution = 0, slice = 0;
  };
  const Workload& workload_;
  std::vector<LoggedExecution> executions_;
  std::vector<NodeId> homes_;  // by page
  std::vector<At> running_;    // by thread
  At last_;
  bool fresh_ = false;
};

class LoggedPlacement final : public PlacementModifier {
public:
  LoggedPlacement(std::shared_ptr<PagePlacement> placement, std::shared_ptr<TouchLog> log)
      : PlacementModifier{std::move(placement)}, log_{std::move(log)} {}
  Watch watches() const override { return Watch::touches; }
  std::optional<Time> wakeup() const override { return Time{}; }
  void wake(const Place&, PageActions& actions) override {
    if (!log_->fresh()) return;
    for (PageNumber page; page < PageNumber{actions.pages()}; ++page) actions.unmap(page);
  }
  void observe(const Place&, std::span<const PageUse> uses, PageActions&) override { log_->touched(uses); }

private:
  std::shared_ptr<TouchLog> log_;
};

class LoggedMemory final : public MemoryModel {
public:
  LoggedMemory(std::unique_ptr<MemoryModel> memory, std::shared_ptr<TouchLog> log) : memory_{std::move(memory)}, log_{std::move(log)} {}

  Started start(const Work& work, AddressSpace& addresses) override {
    log_->start(work);
    return memory_->start(work, addresses);
  }
  void advance(Time to, std::vector<Completion>& done) override {
    const std::size_t first = done.size();
    memory_->advance(to, done);
    for (std::size_t i = first; i < done.size(); ++i) log_->end(done[i]);
  }
  void order_by_time() override { memory_->order_by_time(); }
  void run_ahead(Time until) override { memory_->run_ahead(until); }
  std::optional<Time> next_event() override { return memory_->next_event(); }
  EventCounts counts() const override { return memory_->counts(); }
  std::vector<std::vector<BottleneckTime>> bottlenecks() const override { return memory_->bottlenecks(); }
  std::optional<LeastTime> least_time() const override { return memory_->least_time(); }
  void drop(AddressRange bytes, bool discard) override { memory_->drop(bytes, discard); }
  void give_back(AddressRange pages) override { memory_->give_back(pages); }
  std::optional<Time> signal(const Place& writer, const Place& reader) override { return memory_->signal(writer, reader); }
  Time hold_back_faults(Time now, Time held) override { return memory_->hold_back_faults(now, held); }
  Time faults_in_call(const Place& place, std::uint64_t faults, const AddressSpace& addresses) override {
    return memory_->faults_in_call(place, faults, addresses);
  }
  void flush(AddressSpace& addresses) override { memory_->flush(addresses); }

private:
  std::unique_ptr<MemoryModel> memory_;
  std::shared_ptr<TouchLog> log_;
};

}  // namespace homenode
