// Lines in flight against a sorted multiset, in whatever order they come.
#include "models/engines/line/return_times.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace homenode::test {
namespace {

// first = min, last = max, size = those later than what was dropped.
TEST(ReturnTimes, keepsThemInOrder) {
  std::mt19937_64 random{3};
  ReturnTimes times;
  std::multiset<std::int64_t> expected;
  std::int64_t now = 0;
  for (int i = 0; i < 20000; ++i) {
    now += static_cast<std::int64_t>(random() % 40);
    times.drop_until(now);
    expected.erase(expected.begin(), expected.upper_bound(now));
    for (std::size_t add = random() % 4; add > 0; --add) {
      const std::int64_t time = now + static_cast<std::int64_t>(random() % 1000);
      times.add(time);
      expected.insert(time);
    }
    ASSERT_EQ(times.size(), expected.size());
    ASSERT_EQ(times.empty(), expected.empty());
    if (expected.empty()) continue;
    ASSERT_EQ(times.first(), *expected.begin());
    ASSERT_EQ(times.last(), *expected.rbegin());
  }
}

}  // namespace
}  // namespace homenode::test
