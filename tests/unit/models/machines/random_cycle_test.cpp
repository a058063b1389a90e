// The order in which a calibration chases pointers.
#include "models/machines/native/random_cycle.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace homenode::native {
namespace {

class RandomCycle : public testing::TestWithParam<std::size_t> {};

TEST_P(RandomCycle, PassesThroughEachLineOnce) {
  const std::size_t lines = GetParam();
  std::vector<bool> passed(lines, false);
  std::size_t line = 0;
  for (std::size_t step = 0; step < lines; ++step) {
    ASSERT_LT(line, lines);
    ASSERT_FALSE(passed[line]);
    passed[line] = true;
    line = next_in_cycle(line, lines);
  }
  EXPECT_EQ(line, 0u);
}

// Prefetchers follow a load whose address moves by the same distance three times.
TEST_P(RandomCycle, HasNoStrideThatRepeats) {
  const auto lines = static_cast<std::int64_t>(GetParam());
  std::size_t repeated = 0, at = 0;
  std::int64_t before = 0;
  for (std::int64_t step = 0; step < lines; ++step) {
    const std::size_t next = next_in_cycle(at, GetParam());
    const std::int64_t stride = static_cast<std::int64_t>(next) - static_cast<std::int64_t>(at);
    repeated += stride == before ? 1 : 0;
    before = stride;
    at = next;
  }
  EXPECT_LT(static_cast<double>(repeated), 0.01 * static_cast<double>(lines));
}

INSTANTIATE_TEST_SUITE_P(, RandomCycle, testing::Values(4096, 5120, 6144, 7168, 8192, 5000, 65537), testing::PrintToStringParamName());

}  // namespace
}  // namespace homenode::native
