// Who goes on first.
#include "sim/loop/ready_queue.hpp"

#include <gtest/gtest.h>

namespace homenode::test {
namespace {

Time ns(std::int64_t count) { return Time::nanoseconds(count); }

TEST(ReadyQueue, goesByTimeThenByThread) {
  ReadyQueue queue{3};
  EXPECT_EQ(queue.next_time(), Time::max());
  queue.push(2, ns(5));
  queue.push(0, ns(9));
  queue.push(1, ns(5));
  EXPECT_EQ(queue.next_time(), ns(5));
  for (const std::size_t thread : {1U, 2U, 0U}) EXPECT_EQ(queue.pop(), thread);
  EXPECT_TRUE(queue.empty());
}

TEST(ReadyQueue, countsTheNewestEntryOfAThread) {
  ReadyQueue queue{2};
  queue.push(0, ns(1));
  queue.push(0, ns(2));
  queue.push(1, ns(3));
  queue.withdraw(1);
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_EQ(queue.pop(), 0U);
  EXPECT_FALSE(queue.empty());  // a void entry keeps its time
  EXPECT_EQ(queue.next_time(), ns(3));
  EXPECT_EQ(queue.pop(), std::nullopt);
}

}  // namespace
}  // namespace homenode::test
