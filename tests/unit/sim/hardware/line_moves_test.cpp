#include "sim/hardware/line_moves.hpp"

#include <gtest/gtest.h>

namespace homenode::test {
namespace {

// Objects on lines 100 to 199 and 300 to 399, of which the second moves by 8.
LineMoves two_objects() { return *LineMoves::of({{LineRange::of(300, 400), 8}, {LineRange::of(100, 200), 0}}); }

TEST(LineMoves, areThoseOfTheObject) {
  const LineMoves moves = two_objects();
  EXPECT_EQ(moves.of(LineRange::of(300, 400)), 8);
  EXPECT_EQ(moves.of(LineRange::of(399, 400)), 8);
  EXPECT_EQ(moves.of(LineRange::of(150, 160)), 0);
  EXPECT_EQ(moves.object_of(LineNumber{399}), 1u);
  EXPECT_EQ(moves.object_of(LineNumber{400}), 2u);
  // 300 + 3 x 8
  EXPECT_EQ(moves.moved(LineRange::of(300, 310), 3).first, LineNumber{324});
  EXPECT_EQ(moves.moved(LineRange::of(300, 310), 3).last, LineNumber{334});
}

TEST(LineMoves, areNothingForLinesOfNoObject) {
  EXPECT_EQ(two_objects().of(LineRange::of(0, 90)), 0);
  EXPECT_EQ(two_objects().of(LineRange::of(90, 250)), 0);  // with an object that stays
  EXPECT_EQ(two_objects().of(LineRange::of(400, 500)), 0);
}

TEST(LineMoves, cannotBeSaidOfLinesThatPartlyMove) {
  EXPECT_EQ(two_objects().of(LineRange::of(290, 301)), std::nullopt);
  EXPECT_EQ(two_objects().of(LineRange::of(399, 401)), std::nullopt);
}

TEST(LineMoves, cannotBeSaidWhereObjectsThatMoveDifferentlyShareALine) {
  EXPECT_FALSE(LineMoves::of({{LineRange::of(10, 20), 8}, {LineRange::of(19, 30), 16}}).has_value());
  const auto alike = LineMoves::of({{LineRange::of(10, 20), 8}, {LineRange::of(19, 30), 8}, {LineRange::of(12, 13), 8}});
  ASSERT_TRUE(alike.has_value());
  EXPECT_EQ(alike->of(LineRange::of(10, 30)), 8);
}

TEST(LineMoves, goBackwards) {
  const auto back = LineMoves::of({{LineRange::of(100, 200), -4}});
  EXPECT_EQ(back->moved(LineRange::of(190, 200), 2).first, LineNumber{182});
}

}  // namespace
}  // namespace homenode::test
