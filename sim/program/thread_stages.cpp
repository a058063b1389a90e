#include "sim/program/thread_stages.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace homenode {

void ThreadStages::creates(std::size_t creator, std::size_t created) {
  made_[created] = {true, creator, of(creator)};
  ++stages_[creator];
}

void ThreadStages::joins(std::size_t joiner, std::size_t joined) {
  ++stages_[joiner];
  joins_[joiner].push_back({of(joiner), joined});
}

// Vector clocks, stage by stage: what is over when a stage begins is what was over before it, and all that came before the thread
// that is joined there (or before its own creation).
bool ThreadStages::begin(std::size_t thread) {
  auto& stages = over_[thread];
  if (stages.size() == stages_[thread]) return false;
  const std::size_t next = stages.size();
  if (next == 0) {
    std::vector<std::uint32_t> clock(stages_.size(), 0);
    if (made_[thread].known) {
      const Creation& creation = made_[thread];
      if (over_[creation.creator].size() <= creation.stage) return false;
      clock = over_[creation.creator][creation.stage];
      clock[creation.creator] = creation.stage + 1;
    }
    stages.push_back(std::move(clock));
    return true;
  }
  std::vector<std::uint32_t> clock = stages.back();
  clock[thread] = static_cast<std::uint32_t>(next);
  const auto& joined = joins_[thread];
  const auto join = std::lower_bound(joined.begin(), joined.end(), next, [](const Join& j, std::size_t stage) { return j.stage < stage; });
  if (join != joined.end() && join->stage == next) {
    const std::size_t other = join->joined;
    if (over_[other].size() < stages_[other]) return false;
    const auto& its = over_[other].back();
    for (std::size_t t = 0; t < clock.size(); ++t) clock[t] = std::max(clock[t], its[t]);
    clock[other] = stages_[other];
  }
  stages.push_back(std::move(clock));
  return true;
}

void ThreadStages::settle() {
  over_.assign(stages_.size(), {});
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t thread = 0; thread < stages_.size(); ++thread)
      while (begin(thread)) progress = true;
  }
  for (std::size_t thread = 0; thread < stages_.size(); ++thread) {
    if (over_[thread].size() != stages_[thread])
      throw InputError("thread " + std::to_string(thread) + " is created or joined in a circle of threads");
  }
}

}  // namespace homenode
