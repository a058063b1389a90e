#include "models/distribution/follow_log.hpp"

namespace homenode {
namespace {

class FollowLog final : public WorkDistribution {
public:
  explicit FollowLog(const std::vector<HandOut>& log) : log_{log} {}

  void prepare(const RegionView& region, const Team& team, const CostOracle*) override {
    by_thread_.assign(team.size(), {});
    taken_.assign(team.size(), 0);
    for (const HandOut& out : log_) {
      if (out.items.execution == region.execution && out.thread.index() < team.size()) by_thread_[out.thread.index()].push_back(out);
    }
  }

  Decision next(ThreadId thread, Time) override {
    const auto& items = by_thread_[thread.index()];
    std::size_t& taken = taken_[thread.index()];
    if (taken == items.size()) return {};
    const HandOut& out = items[taken++];
    return {Decision::Kind::run, out.items, out.overhead};
  }

private:
  const std::vector<HandOut>& log_;
  std::vector<std::vector<HandOut>> by_thread_;
  std::vector<std::size_t> taken_;
};

}  // namespace

std::unique_ptr<WorkDistribution> follow_log(const std::vector<HandOut>& log) { return std::make_unique<FollowLog>(log); }

}  // namespace homenode
