// Stack distances of pieces of one group, by hand.
#include "models/caches/recency_stack.hpp"

#include <gtest/gtest.h>

namespace homenode::test {
namespace {

// Line 0 is touched by a group of its own; then `others` further lines by another group; then all of them at once. Whether a fully
// associative cache of 20 lines holds line 0 then.
bool holds_the_oldest(std::uint64_t others) {
  RecencyStack stack{std::make_shared<const StackBounds>(std::vector<StackLevel>{{20, 0}})};
  const auto line = [](std::uint64_t number) { return LineRange{LineNumber{100 * number}, LineNumber{100 * number + 1}}; };
  stack.begin_group();
  stack.touch(line(0), false, 0);
  stack.end_group();
  stack.begin_group();
  for (std::uint64_t i = 1; i <= others; ++i) stack.touch(line(i), false, 0);
  stack.end_group();
  std::vector<StackPiece> pieces;
  for (std::uint64_t i = 0; i <= others; ++i) stack.look_up(line(i), static_cast<unsigned>(i), pieces);
  stack.classify(pieces, others + 1);
  return pieces.front().level == 0;
}

TEST(RecencyStack, linesOfAGroupThatAreYoungerThanAPieceCountOnceUpToSixteenPieces) {
  // 16 pieces: 15 younger lines, which the group touches again, and itself: a distance of 15 + (16 - 15) = 16 lines at most.
  EXPECT_TRUE(holds_the_oldest(15));
  // 17 pieces are not told apart: 16 younger lines and 17 of the group, 33 lines at its end, of which 20 are 3 / 16 of the line's way.
  EXPECT_FALSE(holds_the_oldest(16));
}

}  // namespace
}  // namespace homenode::test
