#include "models/distribution/follow_log.hpp"

#include <algorithm>
#include <set>

namespace homenode {
namespace {

class FollowLog final : public WorkDistribution {
public:
  explicit FollowLog(const std::vector<HandOut>& log) : log_{log} {}

  void prepare(const RegionView& region, const Team& team, const CostOracle*) override {
    by_thread_.assign(team.size(), {});
    taken_.assign(team.size(), 0);
    queued_.clear();
    region_ = region.region;
    for (const HandOut& out : log_) {
      if (out.items.execution == region.execution && out.thread.index() < team.size()) by_thread_[out.thread.index()].push_back(out);
    }
  }

  Decision next(ThreadId thread, Time) override {
    const auto& items = by_thread_[thread.index()];
    std::size_t& taken = taken_[thread.index()];
    if (taken == items.size()) return {};
    if (region_->kind == RegionKind::task && !queued_.erase(items[taken].items.first)) return {Decision::Kind::wait, {}, Time{}};
    const HandOut& out = items[taken++];
    return {Decision::Kind::run, out.items, out.overhead};
  }

  // As the distribution was that is followed: one that decided during the run took its time.
  std::unique_ptr<WorkDistribution> fixed_schedule() const override {
    const auto took_no_time = [](const std::vector<HandOut>& items) {
      return std::all_of(items.begin(), items.end(), [](const HandOut& out) { return out.overhead == Time{}; });
    };
    if (region_->kind == RegionKind::task || !std::all_of(by_thread_.begin(), by_thread_.end(), took_no_time)) return nullptr;
    return std::make_unique<FollowLog>(*this);
  }

  // A task waits for the thread that ran it, until that has run what it ran before.
  bool can_run_tasks() const override { return true; }
  Submit submit(const ItemRange& task, ThreadId creator, Time now) override {
    queue(task, creator, now);
    return {Submit::Kind::queued, Time{}};
  }
  void queue(const ItemRange& task, ThreadId, Time) override { queued_.insert(task.first); }
  bool withdraw(const ItemRange& task, ThreadId thread) override {
    const auto& items = by_thread_[thread.index()];
    std::size_t& taken = taken_[thread.index()];
    if (taken == items.size() || items[taken].items != task) return false;
    ++taken;
    queued_.erase(task.first);
    return true;
  }

private:
  const std::vector<HandOut>& log_;
  std::vector<std::vector<HandOut>> by_thread_;
  std::vector<std::size_t> taken_;
  const Region* region_ = nullptr;
  std::set<std::int64_t> queued_;  // tasks that are ready
};

}  // namespace

std::unique_ptr<WorkDistribution> follow_log(const std::vector<HandOut>& log) { return std::make_unique<FollowLog>(log); }

}  // namespace homenode
