// A column in few bytes is the vector of its numbers.
#include "sim/program/number_column.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace homenode {
namespace {

template <class Number>
class NumberColumnOf : public ::testing::Test {};
using Numbers = ::testing::Types<std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(NumberColumnOf, Numbers);

template <class Number>
std::vector<Number> numbers_of(const NumberColumn<Number>& column) {
  return {column.begin(), column.end()};
}

template <class Number>
NumberColumn<Number> column_of(const std::vector<Number>& numbers) {
  NumberColumn<Number> column;
  for (const Number number : numbers) column.push_back(number);
  return column;
}

// Numbers of up to so many bits, of both signs where there are signs, and the ends of the range now and then.
template <class Number>
Number drawn(std::mt19937_64& random, unsigned bits) {
  using Limits = std::numeric_limits<Number>;
  if (bits >= static_cast<unsigned>(Limits::digits)) return random() % 2 == 0 ? Limits::min() : Limits::max();
  const auto number = static_cast<Number>(random() >> (64 - std::max(bits, 1U)));
  return std::is_signed_v<Number> && random() % 2 == 0 ? static_cast<Number>(-number) : number;
}

TYPED_TEST(NumberColumnOf, HoldsWhatAVectorHolds) {
  std::mt19937_64 random{1};
  for (int round = 0; round < 300; ++round) {
    NumberColumn<TypeParam> column;
    std::vector<TypeParam> expected;
    if (round % 2 == 0) column.reserve(random() % 50);
    const unsigned most_bits = static_cast<unsigned>(random() % 65);
    for (std::size_t left = random() % 100; left > 0; --left) {
      const auto number = drawn<TypeParam>(random, static_cast<unsigned>(random() % (most_bits + 1)));
      if (random() % 4 == 0 && !expected.empty()) {
        const std::size_t at = random() % expected.size();
        column.set(at, number);
        expected[at] = number;
      } else {
        column.push_back(number);
        expected.push_back(number);
      }
    }
    ASSERT_EQ(numbers_of(column), expected);
    EXPECT_EQ(column.size(), expected.size());
    EXPECT_EQ(column, column_of(expected));
    if (expected.empty()) continue;
    EXPECT_EQ(column.front(), expected.front());
    EXPECT_EQ(column.back(), expected.back());
    expected.back() ^= 1;
    EXPECT_FALSE(column == column_of(expected));
  }
}

TEST(NumberColumn, ACopyIsAColumnOfItsOwn) {
  NumberColumn<std::int64_t> column{1, 2, 300};
  NumberColumn<std::int64_t> copy = column;
  copy.set(0, -70000);
  EXPECT_EQ(numbers_of(column), (std::vector<std::int64_t>{1, 2, 300}));
  EXPECT_EQ(numbers_of(copy), (std::vector<std::int64_t>{-70000, 2, 300}));
}

TEST(NumberColumn, NothingIsLeftOfOneThatIsMoved) {
  NumberColumn<std::int64_t> column{1, 2, 300};
  NumberColumn<std::int64_t> moved = std::move(column);
  EXPECT_EQ(moved.size(), 3U);
  EXPECT_TRUE(column.empty());  // NOLINT(bugprone-use-after-move): what a vector promises
  column = std::move(moved);
  EXPECT_EQ(column.back(), 300);
  EXPECT_TRUE(moved.empty());  // NOLINT(bugprone-use-after-move)
}

TEST(NumberColumn, TheLastOfAReservedColumnBecomesWide) {
  NumberColumn<std::uint64_t> column;
  column.reserve(3);
  for (std::uint64_t number : {1, 2, 3}) column.push_back(number);
  column.set(2, ~std::uint64_t{0});
  EXPECT_EQ(numbers_of(column), (std::vector<std::uint64_t>{1, 2, ~std::uint64_t{0}}));
}

TEST(NumberColumn, EqualNumbersStayEqualAfterAnotherOne) {
  NumberColumn<std::uint32_t> column;
  for (int i = 0; i < 1000; ++i) column.push_back(70000);
  column.push_back(1);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(column[i], 70000U);
  EXPECT_EQ(column.back(), 1U);
}

}  // namespace
}  // namespace homenode
