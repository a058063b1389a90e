// One contract for every distribution: each iteration is handed out once, whoever asks when, and the same calls get the same answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "models/distribution/register.hpp"
#include "models/run/run.hpp"
#include "sim/hardware/cost_oracle.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/registered.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

// Thread t takes 1 + t % 3 ns an iteration, the first execution places pages.
class UnevenThreads final : public CostOracle {
public:
  static double seconds(std::size_t thread) { return 1e-9 * static_cast<double>(1 + thread % 3); }
  explicit UnevenThreads(std::size_t threads) : threads_{threads} {}
  RegionEstimate estimate(ExecutionId execution, std::span<const ScheduledRange> schedule) const override {
    RegionEstimate estimate{0, std::vector<double>(threads_, 0.0), execution.index() == 0 ? 0.5 : 0, "core"};
    for (const ScheduledRange& range : schedule)
      estimate.thread_seconds[range.thread.index()] += static_cast<double>(range.last - range.first) * seconds(range.thread.index());
    estimate.seconds = *std::max_element(estimate.thread_seconds.begin(), estimate.thread_seconds.end());
    return estimate;
  }
  void record_execution(ExecutionId, std::span<const ScheduledRange>) override {}

private:
  std::size_t threads_;
};

// The first half lies on node 0, the second on node 1; every fifth nowhere.
class HalfAndHalf final : public ItemHomes {
public:
  explicit HalfAndHalf(std::int64_t iterations) : iterations_{iterations} {}
  NodeId home(std::int64_t iteration) const override {
    if (iteration % 5 == 0) return NodeId::none();
    return NodeId{2 * iteration < iterations_ ? 0u : 1u};
  }

private:
  std::int64_t iterations_;
};

// A team that asks a distribution as the simulation does, each thread as soon as it has done what it got. Every answer is held to the
// contract; `expect` is told of what runs.
class AskingTeam {
public:
  AskingTeam(WorkDistribution& asked, std::int64_t iterations, ExecutionId execution, std::size_t threads)
      : asked_{asked}, iterations_{iterations}, execution_{execution}, running_(threads) {
    for (std::size_t t = 0; t < threads; ++t) ready_.insert({Time::nanoseconds(static_cast<double>(7 * t % 5)), t});
  }

  std::vector<HandOut> run() {
    std::size_t calls = 0;
    while (!ready_.empty() && !::testing::Test::HasFatalFailure()) {
      const auto [now, thread] = *ready_.begin();
      ready_.erase(ready_.begin());
      if (calls++ > 100'000) {
        ADD_FAILURE() << "threads ask for ever";
        break;
      }
      ask(thread, now);
    }
    EXPECT_TRUE(waiting_.empty()) << waiting_.size() << " threads wait for ever";
    return std::move(log_);
  }

private:
  void ask(std::size_t t, Time now) {
    const ThreadId thread{t};
    if (running_[t]) {
      asked_.complete(*running_[t], thread, now);
      running_[t].reset();
      wake_the_waiting(now);
    }
    const Decision decision = asked_.next(thread, now);
    EXPECT_GE(decision.overhead, Time{}) << "in the past";
    const Time then = now + decision.overhead;
    switch (decision.kind) {
      case Decision::Kind::run: {
        const ItemRange& items = decision.items;
        ASSERT_EQ(items.execution, execution_);
        ASSERT_TRUE(items.first >= 0 && items.first < items.last && items.last <= iterations_) << items.first << " to " << items.last;
        log_.push_back({items, thread, decision.overhead});
        running_[t] = items;
        ready_.insert({then + Time::from_seconds(UnevenThreads::seconds(t)) * items.size(), t});
        break;
      }
      case Decision::Kind::busy:
        wake_the_waiting(now);
        ready_.insert({then, t});
        break;
      case Decision::Kind::wait: waiting_.insert(t); break;
      case Decision::Kind::finished: break;
    }
  }
  void wake_the_waiting(Time now) {
    for (const std::size_t t : waiting_) ready_.insert({now, t});
    waiting_.clear();
  }

  WorkDistribution& asked_;
  std::int64_t iterations_;
  ExecutionId execution_;
  std::vector<std::optional<ItemRange>> running_;  // by thread
  std::set<std::pair<Time, std::size_t>> ready_;
  std::set<std::size_t> waiting_;
  std::vector<HandOut> log_;
};

std::vector<std::int64_t> iterations_of(const std::vector<HandOut>& log) {
  std::vector<std::int64_t> result;
  for (const HandOut& out : log) {
    for (std::int64_t i = out.items.first; i < out.items.last; ++i) result.push_back(i);
  }
  return result;
}

std::vector<std::int64_t> sorted(std::vector<std::int64_t> iterations) {
  std::sort(iterations.begin(), iterations.end());
  return iterations;
}

std::vector<std::int64_t> all(std::int64_t iterations) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(iterations));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

// A region whose executions one distribution serves, as in a run.
struct Served {
  Served(const std::string& text, std::int64_t iterations_, std::size_t threads, RegionKind kind = RegionKind::loop)
      : distribution{work_distributions().make(text)}, iterations{iterations_}, homes{iterations_}, oracle{threads} {
    region.kind = kind;
    team.machine = &machine;
    for (std::size_t t = 0; t < threads; ++t) team.core.emplace_back(t % machine.cores());
  }
  void prepare(std::size_t execution) {
    distribution->prepare({ExecutionId{execution}, &region, iterations, &homes, &memory, 7}, team,
                          distribution->wants_estimates() ? &oracle : nullptr);
  }
  std::vector<HandOut> run(std::size_t execution) {
    prepare(execution);
    return AskingTeam{*distribution, iterations, ExecutionId{execution}, team.size()}.run();
  }

  std::unique_ptr<WorkDistribution> distribution;
  std::int64_t iterations;
  Machine machine = two_sockets(8);
  Region region;
  Team team;
  HalfAndHalf homes;
  LoopMemory memory;
  UnevenThreads oracle;
};

constexpr std::array<std::int64_t, 11> numbers_of_iterations{0, 1, 2, 3, 4, 7, 17, 64, 97, 100, 1000};
constexpr std::array<std::size_t, 7> sizes_of_teams{1, 2, 3, 4, 5, 8, 13};

class EveryDistribution : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryDistribution, handsOutEachIterationOnce) {
  for (const std::int64_t iterations : numbers_of_iterations) {
    for (const std::size_t threads : sizes_of_teams) {
      Served served{GetParam(), iterations, threads};
      for (std::size_t execution = 0; execution < 6; ++execution)
        ASSERT_EQ(sorted(iterations_of(served.run(execution))), all(iterations)) << threads << " threads, execution " << execution;
    }
  }
}

TEST_P(EveryDistribution, givesEqualCallsEqualAnswers) {
  for (const std::size_t threads : sizes_of_teams) {
    Served one{GetParam(), 97, threads}, other{GetParam(), 97, threads};
    for (std::size_t execution = 0; execution < 6; ++execution) {
      const std::vector<HandOut> first = one.run(execution), second = other.run(execution);
      ASSERT_EQ(first.size(), second.size());
      for (std::size_t i = 0; i < first.size(); ++i) {
        ASSERT_EQ(first[i].thread, second[i].thread);
        ASSERT_EQ(first[i].items, second[i].items);
        ASSERT_EQ(first[i].overhead, second[i].overhead);
      }
    }
  }
}

// A fixed schedule is asked thread by thread, before the execution begins.
TEST_P(EveryDistribution, hasAFixedScheduleOnlyIfNextHandsOutTheSame) {
  for (const std::int64_t iterations : numbers_of_iterations) {
    for (const std::size_t threads : sizes_of_teams) {
      Served served{GetParam(), iterations, threads};
      served.prepare(0);
      const auto fixed = served.distribution->fixed_schedule();
      if (!fixed) return;
      std::map<std::size_t, std::vector<ItemRange>> by_thread;
      for (const HandOut& out : AskingTeam{*served.distribution, iterations, ExecutionId{0u}, threads}.run())
        by_thread[out.thread.index()].push_back(out.items);
      for (std::size_t t = threads; t-- > 0;) {
        for (const ItemRange& items : by_thread[t]) {
          const Decision decision = fixed->next(ThreadId{t}, Time{});
          ASSERT_EQ(decision.kind, Decision::Kind::run);
          ASSERT_EQ(decision.items, items);
        }
        ASSERT_EQ(fixed->next(ThreadId{t}, Time{}).kind, Decision::Kind::finished);
      }
    }
  }
}

// Thread 0 creates a task of each iteration; each third one waits for another first. In the end every fourth that is still queued goes to
// a thread that waits for it.
std::vector<std::int64_t> run_tasks(Served& served) {
  served.prepare(0);
  WorkDistribution& asked = *served.distribution;
  std::vector<std::int64_t> ran;
  std::set<std::int64_t> queued;
  Time now;
  const auto take_one = [&](std::size_t thread) {
    const Decision decision = asked.next(ThreadId{thread}, now);
    EXPECT_GE(decision.overhead, Time{});
    if (decision.kind != Decision::Kind::run) return false;
    EXPECT_EQ(decision.items.size(), 1);
    EXPECT_EQ(queued.erase(decision.items.first), 1u) << "task " << decision.items.first << " was not queued";
    ran.push_back(decision.items.first);
    asked.complete(decision.items, ThreadId{thread}, now);
    return true;
  };
  for (std::int64_t i = 0; i < served.iterations; ++i, now += Time::nanoseconds(1)) {
    const ItemRange task{ExecutionId{0u}, i, i + 1};
    Submit answer{Submit::Kind::queued, Time{}};
    if (i % 3 == 2)
      asked.queue(task, ThreadId{0u}, now);
    else
      answer = asked.submit(task, ThreadId{0u}, now);
    EXPECT_GE(answer.overhead, Time{});
    if (answer.kind == Submit::Kind::queued)
      queued.insert(i);
    else
      ran.push_back(i);
    if (i % 2 == 0) take_one(static_cast<std::size_t>(i) % served.team.size());
  }
  const std::vector<std::int64_t> left(queued.begin(), queued.end());
  for (std::size_t i = 0; i < left.size(); i += 4) {
    if (!asked.withdraw({ExecutionId{0u}, left[i], left[i] + 1}, ThreadId{0u})) continue;
    queued.erase(left[i]);
    ran.push_back(left[i]);
  }
  for (bool found = true; found;) {
    found = false;
    for (std::size_t t = 0; t < served.team.size(); ++t) found |= take_one(t);
  }
  return ran;
}

TEST_P(EveryDistribution, runsEachTaskOnceIfItRunsTasks) {
  for (const std::int64_t iterations : numbers_of_iterations) {
    for (const std::size_t threads : sizes_of_teams) {
      Served served{GetParam(), iterations, threads, RegionKind::task};
      if (!served.distribution->can_run_tasks()) return;
      const std::vector<std::int64_t> ran = run_tasks(served);
      ASSERT_EQ(sorted(ran), all(iterations)) << threads << " threads";
      Served again{GetParam(), iterations, threads, RegionKind::task};
      ASSERT_EQ(run_tasks(again), ran);
    }
  }
}

// Whole runs.
RunReport replay(const Workload& workload, const std::string& distribution, unsigned threads) {
  RunSpec options;
  options.threads = threads;
  options.distribution = distribution;
  options.seed = 7;
  RunExtras extras;
  extras.keep_log = true;
  return run(workload, two_sockets(), options, extras);
}

std::vector<std::int64_t> handed_out(const RunReport& report, std::size_t execution) {
  std::vector<HandOut> log = report.log;
  std::erase_if(log, [&](const HandOut& out) { return out.items.execution.index() != execution; });
  return iterations_of(log);
}

TEST_P(EveryDistribution, handsOutEachIterationOnceInWholeRuns) {
  for (const std::int64_t iterations : {0, 1, 2, 7, 64, 97}) {
    const auto workload = test::blocks(iterations, 64, 2);
    for (const unsigned threads : {1U, 2U, 5U, 8U}) {
      const RunReport report = replay(*workload, GetParam(), threads);
      for (const std::size_t execution : {0U, 1U, 2U})
        EXPECT_EQ(sorted(handed_out(report, execution)), all(iterations)) << threads << " threads, execution " << execution;
    }
  }
}

TEST_P(EveryDistribution, takesTheSameTimeForTheSameSeed) {
  const auto workload = test::blocks(97, 4096, 2);
  const RunReport one = replay(*workload, GetParam(), 8), other = replay(*workload, GetParam(), 8);
  EXPECT_EQ(one.time, other.time);
  for (const std::size_t execution : {0U, 1U, 2U}) EXPECT_EQ(handed_out(one, execution), handed_out(other, execution));
}

INSTANTIATE_TEST_SUITE_P(registry, EveryDistribution, ::testing::ValuesIn(every_text(work_distributions())), test_name);

TEST(DistributionContract, entriesAreSound) { expect_sound_entries(work_distributions(), {}); }

}  // namespace
}  // namespace homenode::test
