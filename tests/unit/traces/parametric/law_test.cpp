#include "traces/parametric/law.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "sim/base/errors.hpp"

namespace homenode::parametric {
namespace {

using Function = std::function<std::int64_t(const Point&)>;

std::vector<std::int64_t> values_of(const std::vector<Point>& captures, const Function& function) {
  std::vector<std::int64_t> values;
  for (const Point& point : captures) values.push_back(function(point));
  return values;
}

struct Said {
  std::string form, value;
  bool confirmed = false;
};
// What the laws say at a point of a function that they know at the captures.
Said said(const std::vector<std::string>& names, const std::vector<Point>& captures, const Function& function, const Point& point) {
  const Laws laws{names, captures};
  const auto values = values_of(captures, function);
  const auto form = laws.form_of(values);
  if (!form) return {"none", "", false};
  return {laws.forms()[*form].name, laws.at(point).value(*form, values).text(), laws.forms()[*form].confirmed};
}

const std::vector<Point> three{{40}, {48}, {56}}, four{{40}, {48}, {56}, {64}};

TEST(Law, TheFewestTermsThatMeetAllCapturesAreTheLaw) {
  // f(n) = 7: constant; 3 n - 2: affine, f(8192) = 24574; n / 8 - 1: affine with a fraction, f(8192) = 1023.
  const Said constant = said({"n"}, three, [](const Point&) { return 7; }, {8192});
  EXPECT_EQ(constant.form, "constant");
  EXPECT_EQ(constant.value, "7");
  const Said affine = said({"n"}, three, [](const Point& p) { return 3 * p[0] - 2; }, {8192});
  EXPECT_EQ(affine.form, "affine in n");
  EXPECT_EQ(affine.value, "24574");
  EXPECT_TRUE(affine.confirmed);
  EXPECT_EQ(said({"n"}, three, [](const Point& p) { return p[0] / 8 - 1; }, {8192}).value, "1023");
}

TEST(Law, ThreeCapturesDetermineASquareButDoNotConfirmIt) {
  // f(n) = 8 n (n - 2) + 8: f(8192) = 8 * 8192 * 8190 + 8 = 536739848.
  const auto square = [](const Point& p) { return 8 * p[0] * (p[0] - 2) + 8; };
  const Said by_three = said({"n"}, three, square, {8192}), by_four = said({"n"}, four, square, {8192});
  EXPECT_EQ(by_three.form, "of degree 2 in n");
  EXPECT_EQ(by_three.value, "536739848");
  EXPECT_FALSE(by_three.confirmed);
  EXPECT_TRUE(by_four.confirmed);
  EXPECT_EQ(by_four.value, "536739848");
}

TEST(Law, ACubeNeedsFourCaptures) {
  // f(n) = 8 n^3: f(2000) = 6.4e10. Three points of it lie on a parabola, which is another function.
  const auto cube = [](const Point& p) { return 8 * p[0] * p[0] * p[0]; };
  EXPECT_EQ(said({"n"}, four, cube, {2000}).value, "64000000000");
  EXPECT_NE(said({"n"}, three, cube, {2000}).value, "64000000000");
}

TEST(Law, WhatNoFormMeetsHasNoLaw) {
  // f(n) = 2^(n / 8) at four captures: differences of all orders; of degree 3 at most where five captures are there to see it.
  const std::vector<Point> five{{8}, {16}, {24}, {32}, {40}, {48}};
  EXPECT_EQ(said({"n"}, five, [](const Point& p) { return std::int64_t{1} << p[0] / 8; }, {64}).form, "none");
}

TEST(Law, AFractionIsSaidAsOne) {
  // f(n) = n / 16: f(8200) = 512.5.
  EXPECT_EQ(said({"n"}, {{64}, {96}, {128}}, [](const Point& p) { return p[0] / 16; }, {8200}).value, "512.5");
}

TEST(Law, TwoParametersAddWithThreeCapturesAndMultiplyWithFour) {
  const std::vector<Point> corners{{16, 2}, {32, 2}, {16, 4}};
  // f(n, s) = 5 n + 3 s: f(100, 10) = 530; in n alone: 2 n + 1, f = 201.
  EXPECT_EQ(said({"n", "s"}, corners, [](const Point& p) { return 5 * p[0] + 3 * p[1]; }, {100, 10}).value, "530");
  const Said alone = said({"n", "s"}, corners, [](const Point& p) { return 2 * p[0] + 1; }, {100, 10});
  EXPECT_EQ(alone.form, "affine in n");
  EXPECT_EQ(alone.value, "201");
  // f = n s + n: with the fourth corner, f(100, 10) = 1100.
  const std::vector<Point> square{{16, 2}, {32, 2}, {16, 4}, {32, 4}};
  const Said product = said({"n", "s"}, square, [](const Point& p) { return p[0] * p[1] + p[0]; }, {100, 10});
  EXPECT_EQ(product.form, "of products of n, s");
  EXPECT_EQ(product.value, "1100");
}

TEST(Law, NumbersBeyond128BitsAreRefused) {
  // 3 points at 2^62: the square of one has 124 bits, times a value of 62 bits more than 128.
  const std::int64_t far = std::int64_t{1} << 62;
  EXPECT_THROW(said({"n"}, {{far}, {far - 3}, {far - 7}}, [far](const Point& p) { return p[0] == far ? far : 1; }, {5}), UsageError);
}

}  // namespace
}  // namespace homenode::parametric
