#include "traces/parametric/term.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/errors.hpp"

namespace homenode::parametric {
namespace {

using Numbers = std::vector<std::int64_t>;

const RecordKind a{"a", "a", {"value"}}, b{"b", "b", {"value"}}, outer{"outer", "outer", {}};

std::vector<Numbers> written_out(const Term& term, const Numbers& numbers) {
  std::vector<Numbers> result;
  expand(term, numbers, [&](const Term& record, std::span<const std::int64_t> values) {
    Numbers line{record.kind == &a ? 1 : 2};
    line.insert(line.end(), values.begin(), values.end());
    result.push_back(line);
  });
  return result;
}

TEST(Term, ConstantDifferencesAreOneRepeat) {
  // 5, 8, 11, 14 = 4 times, first 5, difference 3.
  const TermPointer term = list({record(a, {5}), record(a, {8}), record(a, {11}), record(a, {14})});
  EXPECT_EQ(term->numbers, (Numbers{4, 5, 3}));
  EXPECT_EQ(written_out(*term, term->numbers), (std::vector<Numbers>{{1, 5}, {1, 8}, {1, 11}, {1, 14}}));
  EXPECT_EQ(place_of(*term, 0), "how often a occurs");
  EXPECT_EQ(place_of(*term, 1), "a: value");
  EXPECT_EQ(place_of(*term, 2), "a: value, from one occurrence to the next");
}

TEST(Term, TwoOccurrencesAreNoLaw) {
  const TermPointer term = list({record(a, {5}), record(a, {8})});
  EXPECT_EQ(term->numbers, (Numbers{5, 8}));
}

TEST(Term, RepeatsNest) {
  // Rows (a, b b b) three times: what the rows' repeat holds is one row, whose b are a repeat themselves.
  std::vector<TermPointer> elements;
  std::vector<Numbers> all;
  for (std::int64_t row = 0; row < 4; ++row) {
    elements.push_back(record(a, {10 * row}));
    all.push_back({1, 10 * row});
    for (std::int64_t k = 0; k < 3 + row; ++k) {
      elements.push_back(record(b, {100 * row + k}));
      all.push_back({2, 100 * row + k});
    }
  }
  const TermPointer term = list(elements);
  // count 4; first: a 0, b 3 times from 0 by 1; differences: a 10, b once more, from 100 on, by 0.
  EXPECT_EQ(term->numbers, (Numbers{4, 0, 3, 0, 1, 10, 1, 100, 0}));
  EXPECT_EQ(written_out(*term, term->numbers), all);
  // Another count is another list of the same skeleton.
  EXPECT_EQ(written_out(*term, {1, 7, 2, 0, 1, 10, 1, 100, 0}), (std::vector<Numbers>{{1, 7}, {2, 0}, {2, 1}}));
}

TEST(Term, ListsOfOtherLengthsHaveTheSameSkeleton) {
  const auto of = [](std::int64_t inner) {
    std::vector<TermPointer> elements{record(b, {0})};
    for (std::int64_t k = 0; k < inner; ++k) elements.push_back(record(a, {k * inner}));
    elements.push_back(record(b, {inner}));
    return list(elements);
  };
  EXPECT_EQ(of(5)->skeleton, of(9)->skeleton);
  EXPECT_NE(of(5)->skeleton, of(2)->skeleton);  // two are no repeat
  EXPECT_THAT(first_difference(*of(5), *of(2)), ::testing::HasSubstr("a, repeated against a"));
}

TEST(Term, TheFirstDifferenceNamesTheWay) {
  const TermPointer one = list({record(outer, {}, {list({record(a, {1})})})}), other = list({record(outer, {}, {list({record(b, {1})})})});
  EXPECT_EQ(first_difference(*one, *other), "outer: a against b");
}

TEST(Term, LessThanNothingIsRefused) {
  const TermPointer term = list({record(a, {5}), record(a, {8}), record(a, {11})});
  EXPECT_TRUE(written_out(*term, {0, 5, 3}).empty());
  EXPECT_THROW(written_out(*term, {-1, 5, 3}), UsageError);
  EXPECT_THROW(written_out(*term, {most_records + 1, 5, 3}), UsageError);
}

}  // namespace
}  // namespace homenode::parametric
