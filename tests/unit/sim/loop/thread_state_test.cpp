// Which change of a thread's state follows which.
#include "sim/loop/thread_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace homenode::test {
namespace {

using enum ThreadState;

const std::vector<ThreadState> all_states = {unused, ready, needs_core, deciding, computing, in_heap_call, waiting, asleep, ended};

std::vector<ThreadState> followers(ThreadState from) {
  std::vector<ThreadState> states;
  for (const ThreadState to : all_states)
    if (may_follow(from, to)) states.push_back(to);
  return states;
}

TEST(ThreadState, changesAsTheLoopNeedsItAndNotOtherwise) {
  using ::testing::ElementsAre;
  EXPECT_THAT(followers(unused), ElementsAre(ready));
  EXPECT_THAT(followers(ready), ElementsAre(ready, needs_core, deciding, waiting));
  EXPECT_THAT(followers(needs_core), ElementsAre(ready, deciding));
  EXPECT_THAT(followers(deciding), ElementsAre(ready, computing, in_heap_call, waiting, asleep, ended));
  EXPECT_THAT(followers(computing), ElementsAre(deciding));
  for (const ThreadState from : {in_heap_call, waiting, asleep, ended}) EXPECT_THAT(followers(from), ElementsAre(ready)) << name_of(from);
}

TEST(ThreadState, isWhatItBecame) {
  ThreadStateMachine state;
  EXPECT_TRUE(state.is(unused));
  for (const ThreadState next : {ready, needs_core, deciding, computing, deciding, ready, deciding, ended, ready}) {
    state.become(next);
    EXPECT_TRUE(state.is(next));
  }
}

TEST(ThreadState, refusesAnyOtherChangeByName) {
  ThreadStateMachine state;
  for (const ThreadState next : {ready, deciding, computing}) state.become(next);
  try {
    state.become(ready);  // while the memory model works for it
    FAIL() << "no error";
  } catch (const std::logic_error& error) { EXPECT_STREQ(error.what(), "a thread that is computing cannot become ready"); }
  EXPECT_TRUE(state.is(computing));
}

}  // namespace
}  // namespace homenode::test
