// Random programs of tasks against the order that their dependences ask for.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/unit/sim/loop/task_program.hpp"

namespace homenode::test::tasks {
namespace {

// Random programs: every task may create others, wait, open groups and name addresses.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random_{seed} { root_ = describe(-1, 0); }

  struct Child {
    std::int64_t task;
    std::vector<std::pair<std::uint64_t, bool>> addresses;
  };
  std::vector<TaskProgram::Events> tasks;
  std::map<std::int64_t, std::vector<Child>> children;  // by creator, -1 the single
  const TaskProgram::Events& root() const { return root_; }

private:
  int roll(int sides) { return static_cast<int>(random_() % static_cast<unsigned>(sides)); }
  TaskProgram::Events describe(std::int64_t own, int depth) {
    TaskProgram::Events events;
    int open = 0;
    const int most = depth == 0 ? 12 : depth < 4 ? 4 : 0;
    for (int step = 0; step < most; ++step) {
      const std::uint64_t at = static_cast<std::uint64_t>(step) * 40;
      const int what = roll(10);
      if (what == 0) {
        events.push_back(wait(at));
      } else if (what == 1) {
        events.push_back(group_begin(at));
        ++open;
      } else if (what == 2 && open > 0) {
        events.push_back(group_end(at));
        --open;
      } else if (what < 8 && tasks.size() < 300) {
        const auto task = static_cast<std::int64_t>(tasks.size());
        tasks.emplace_back();
        Child child{task, {}};
        for (std::uint64_t address = 0; address < 3; ++address) {
          if (roll(3) != 0) continue;
          child.addresses.emplace_back(address, roll(2) == 0);
          events.push_back(child.addresses.back().second ? depends_out(at, address) : depends_in(at, address));
        }
        events.push_back(submit(at, task - std::max<std::int64_t>(own, 0)));
        children[own].push_back(child);
        tasks[static_cast<std::size_t>(task)] = describe(task, depth + 1);
      }
    }
    while (open-- > 0) events.push_back(group_end(at_end));
    return events;
  }
  std::mt19937 random_;
  TaskProgram::Events root_;
};

class AnyProgram : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(seeds, AnyProgram, ::testing::Range(0U, 20U));

bool follows(const RandomProgram::Child& later, const RandomProgram::Child& earlier) {
  for (const auto& [address, writes] : later.addresses) {
    for (const auto& [other, wrote] : earlier.addresses) {
      if (address == other && (writes || wrote)) return true;
    }
  }
  return false;
}

TEST_P(AnyProgram, runsEachTaskOnceAndInTheOrderOfItsDependences) {
  const RandomProgram random{GetParam()};
  TaskProgram program;
  const std::size_t tasks = program.tasks(random.tasks);
  program.single(random.root());
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    for (const char* distribution : {"tasks:queue=3", "tasks"}) {
      const TaskRun run{program, threads, distribution};
      const std::vector<std::int64_t> order = run.order(tasks);
      ASSERT_EQ(order.size(), random.tasks.size());
      EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(), random.tasks.size());
      // Of two children of one creator that name one address, not both reading: end of the earlier <= begin of the later.
      for (const auto& [creator, siblings] : random.children) {
        for (std::size_t later = 0; later < siblings.size(); ++later) {
          for (std::size_t earlier = 0; earlier < later; ++earlier) {
            if (follows(siblings[later], siblings[earlier])) {
              EXPECT_LE(run.span(tasks, siblings[earlier].task).second, run.span(tasks, siblings[later].task).first);
            }
          }
        }
      }
      // Work is conserved: busy time of all threads = items * t.
      Time busy;
      for (const ThreadReport& thread : run.report.threads) busy += thread.busy;
      EXPECT_NEAR(busy.seconds(), item_time.seconds() * static_cast<double>(random.tasks.size() + 1), 1e-9);
      EXPECT_EQ(run.report.time, (TaskRun{program, threads, distribution}.report.time));
    }
  }
}

}  // namespace
}  // namespace homenode::test::tasks
