// The queue of events against a sorted set: near events, events far beyond the ring, several at one time.
#include "models/engines/line/event_queue.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

namespace homenode::test {
namespace {

// Popped events = the set's, in its order, whatever is pushed between; none is lost.
TEST(EventQueue, popsInOrderOfTimeAndWho) {
  std::mt19937_64 random{7};
  EventQueue queue;
  std::set<std::pair<std::int64_t, std::uint32_t>> expected;
  std::int64_t now = 0;
  for (int i = 0; i < 200000; ++i) {
    const bool push = expected.size() < 2 || (expected.size() < 60 && random() % 2 == 0);
    if (push) {
      constexpr std::int64_t reach[] = {1, 1000, 100000, 3000000, 50000000, 2000000000};
      const std::int64_t time = now + static_cast<std::int64_t>(random()) % reach[random() % 6] * (random() % 3 != 0);
      const auto who = static_cast<std::uint32_t>(random() % 1000);
      const std::pair<std::int64_t, std::uint32_t> event{std::max(time, now), who};
      if (expected.insert(event).second) queue.push({event.first, who});
    } else {
      const EventQueue::Event first = queue.first(), event = queue.pop();
      ASSERT_EQ(first, event);
      ASSERT_EQ(std::pair(event.time, event.who), *expected.begin());
      expected.erase(expected.begin());
      now = event.time;
    }
    ASSERT_EQ(queue.empty(), expected.empty());
    if (!expected.empty()) { ASSERT_EQ(queue.first().time, expected.begin()->first); }
  }
}

}  // namespace
}  // namespace homenode::test
