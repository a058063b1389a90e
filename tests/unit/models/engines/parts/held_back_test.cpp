// Expected waits at the lock of the address space; each by its equation.
#include "models/engines/parts/held_back.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace homenode::test {
namespace {

TEST(WaitForFaults, isTheMeanOfTheLastToEnd) {
  // Who only faults has 0 to 1 us left: the last of m ends after m / (m + 1) us on average.
  for (const int m : {1, 3, 9}) {
    const std::vector<FaultingSlice> slices(static_cast<std::size_t>(m), {1e-6, 1e-6});
    EXPECT_NEAR(wait_for_faults(slices), 1e-6 * m / (m + 1), 1e-15);
  }
}

TEST(WaitForFaults, isRareWhereFaultsAre) {
  // One slice that faults half of the time: 1/2 x 1/2 us. None: nothing.
  EXPECT_NEAR(wait_for_faults(std::array{FaultingSlice{1e-6, 2e-6}}), 0.25e-6, 1e-15);
  EXPECT_EQ(wait_for_faults({}), 0);
}

TEST(HeldBack, isWhatIsLeftOfTheTimeAtTheNextFault) {
  // Blocked for 3 us, a fault every 2 us: the next one comes after 0 to 2 us, 1 on average. For 1 us: in half of the cases, 1/2 us each.
  EXPECT_NEAR(held_back(3e-6, 2e-6), 2e-6, 1e-15);
  EXPECT_NEAR(held_back(1e-6, 2e-6), 0.25e-6, 1e-15);
  EXPECT_EQ(held_back(0, 2e-6), 0);
  EXPECT_EQ(held_back(-1, 2e-6), 0);
}

TEST(HeldBack, behindAnotherWriterIsTheHoldAlone) {
  // All that waited fault together for 1 us, then for 5 us none: who only faults loses the 5 us.
  EXPECT_NEAR(held_back_again(1e-6 + 5e-6, 1e-6), 5e-6, 1e-15);
  EXPECT_EQ(held_back_again(1e-6, 4e-6), 0);
}

}  // namespace
}  // namespace homenode::test
