// First free times on a resource: 4 ns a use, kept in halves of 2 ns.
#include "models/engines/line/time_slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/machine/mixed_bits.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t ns = 1000, width = 4 * ns;

TEST(TimeSlots, aUseBeginsWhenItIsReady) {
  TimeSlots slots{width};
  EXPECT_EQ(slots.take(1000 * ns, 0), 1000 * ns);
  // Within the first half of a free use: no wait for a clock.
  EXPECT_EQ(slots.take(2001 * ns, 0), 2001 * ns);
}

TEST(TimeSlots, oneAfterTheOther) {
  TimeSlots slots{width};
  for (std::int64_t use = 0; use < 100; ++use) EXPECT_EQ(slots.take(1000 * ns, 0), (1000 + 4 * use) * ns);
}

TEST(TimeSlots, whoIsReadyLaterMayGoFirst) {
  TimeSlots slots{width};
  slots.take(1000 * ns, 0);
  slots.take(1010 * ns, 0);
  EXPECT_EQ(slots.take(1000 * ns, 0), 1004 * ns);  // 1004 to 1008, before 1010
  EXPECT_EQ(slots.take(1006 * ns, 0), 1014 * ns);  // 1008 to 1010 are too short
}

TEST(TimeSlots, whatIsGivenBackIsFree) {
  TimeSlots slots{width};
  slots.take(1000 * ns, 0);
  const std::int64_t second = slots.take(1000 * ns, 0);
  slots.give_back(second);
  EXPECT_EQ(slots.take(1000 * ns, 0), second);
}

TEST(TimeSlots, moreThanIsKeptGoesInTurn) {
  // 16384 halves are kept, 8192 uses; then one behind the other.
  TimeSlots slots{width};
  constexpr std::int64_t uses = 10000;
  std::int64_t last = -width;
  for (std::int64_t use = 0; use < uses; ++use) {
    const std::int64_t begin = slots.take(0, 0);
    EXPECT_GE(begin, last + width);
    last = begin;
  }
  EXPECT_LE(last, (uses + 64) * width);  // a word at most is left out
  // Once that time has come, the next one waits for nobody.
  EXPECT_EQ(slots.take(last + 100 * width, last + 100 * width), last + 100 * width);
}

TEST(TimeSlots, whoIsNotReadySoonKeepsNobodyWaiting) {
  TimeSlots slots{width};
  EXPECT_EQ(slots.take(1'000'000 * ns, 0), 1'000'000 * ns);
  EXPECT_EQ(slots.take(0, 0), 0);
}

TEST(TimeSlots, neverTwoAtATimeAndNeverBeforeReady) {
  TimeSlots slots{width};
  std::vector<std::int64_t> begins;
  std::uint64_t random = 1;
  for (std::int64_t now = 0; now < 400'000 * ns; now += 5 * ns) {  // 80 % of the time
    random = mixed_bits(random + 1);
    const std::int64_t ready = now + static_cast<std::int64_t>(random % 200'000);
    begins.push_back(slots.take(ready, now));
    EXPECT_GE(begins.back(), ready);
    EXPECT_LE(begins.back(), ready + 2000 * ns);
  }
  std::sort(begins.begin(), begins.end());
  for (std::size_t i = 1; i < begins.size(); ++i) EXPECT_GE(begins[i] - begins[i - 1], width / 2);
  for (std::size_t i = 2; i < begins.size(); ++i) EXPECT_GE(begins[i] - begins[i - 2], width * 3 / 2);
}

}  // namespace
}  // namespace homenode::test
