#include "traces/parametric/law.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "sim/base/errors.hpp"

namespace homenode::parametric {
namespace {

[[noreturn]] void refuse_size() { throw UsageError("the parameters are too large for exact arithmetic with 128 bits"); }

Wide times(Wide a, Wide b) {
  Wide product = 0;
  if (__builtin_mul_overflow(a, b, &product)) refuse_size();
  return product;
}
Wide plus(Wide a, Wide b) {
  Wide sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) refuse_size();
  return sum;
}
Wide common_divisor(Wide a, Wide b) {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

struct Rational {
  Wide numerator = 0, denominator = 1;  // lowest terms, denominator > 0
  Rational() = default;
  Rational(Wide n, Wide d = 1) : numerator{d < 0 ? -n : n}, denominator{d < 0 ? -d : d} {
    const Wide divisor = common_divisor(numerator, denominator);
    numerator /= divisor;
    denominator /= divisor;
  }
  bool zero() const { return numerator == 0; }
};
Rational operator*(const Rational& a, const Rational& b) {
  // Across first, so that nothing grows that need not.
  const Rational left{a.numerator, b.denominator}, right{b.numerator, a.denominator};
  return {times(left.numerator, right.numerator), times(left.denominator, right.denominator)};
}
Rational operator/(const Rational& a, const Rational& b) { return a * Rational{b.denominator, b.numerator}; }
Rational operator-(const Rational& a, const Rational& b) {
  return {plus(times(a.numerator, b.denominator), -times(b.numerator, a.denominator)), times(a.denominator, b.denominator)};
}

Wide monomial_at(const std::vector<unsigned>& exponents, const Point& point) {
  Wide value = 1;
  for (std::size_t p = 0; p < exponents.size(); ++p)
    for (unsigned e = 0; e < exponents[p]; ++e) value = times(value, point[p]);
  return value;
}

// All exponents of the chosen parameters up to a total degree, or each at most once; the constant first.
std::vector<std::vector<unsigned>> monomials(std::size_t parameters, unsigned chosen, unsigned degree, bool multilinear) {
  std::vector<std::vector<unsigned>> result;
  std::vector<unsigned> exponents(parameters, 0);
  const auto extend = [&](const auto& self, std::size_t p, unsigned left) -> void {
    if (p == parameters) {
      result.push_back(exponents);
      return;
    }
    const unsigned most = (chosen >> p & 1u) == 0 ? 0 : multilinear ? 1 : left;
    for (exponents[p] = 0; exponents[p] <= most; ++exponents[p]) self(self, p + 1, multilinear ? left : left - exponents[p]);
    exponents[p] = 0;
  };
  extend(extend, 0, degree);
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    unsigned sum_a = 0, sum_b = 0;
    for (const unsigned e : a) sum_a += e;
    for (const unsigned e : b) sum_b += e;
    return sum_a < sum_b;
  });
  return result;
}

}  // namespace

bool Laws::Value::is_number() const {
  if (!is_whole()) return false;
  const Wide quotient = numerator / denominator;
  return quotient >= std::numeric_limits<std::int64_t>::min() && quotient <= std::numeric_limits<std::int64_t>::max();
}

std::string Laws::Value::text() const {
  if (is_number()) return std::to_string(number());
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.15g", static_cast<double>(numerator) / static_cast<double>(denominator));
  return digits;
}

Laws::Laws(std::vector<std::string> parameters, std::vector<Point> captures)
    : parameters_{std::move(parameters)}, captures_{std::move(captures)} {
  const std::size_t count = parameters_.size();
  std::vector<Form> all(1);
  all[0] = {"constant", monomials(count, 0, 0, false), false, {}};
  for (unsigned chosen = 1; chosen < 1u << count; ++chosen) {
    std::string names;
    unsigned size = 0;
    for (std::size_t p = 0; p < count; ++p) {
      if ((chosen >> p & 1u) == 0) continue;
      names += (size++ > 0 ? ", " : "") + parameters_[p];
    }
    for (unsigned degree = 1; degree <= highest_degree; ++degree) {
      const std::string text = degree == 1 ? "affine in " : "of degree " + std::to_string(degree) + " in ";
      all.push_back({text + names, monomials(count, chosen, degree, false), false, {}});
    }
    if (size > 1) all.push_back({"of products of " + names, monomials(count, chosen, 1, true), false, {}});
  }
  std::stable_sort(all.begin(), all.end(), [](const Form& a, const Form& b) { return a.monomials.size() < b.monomials.size(); });
  for (Form& form : all) {
    if (form.monomials.size() > captures_.size() || !determine(form)) continue;
    form.confirmed = form.monomials.size() < captures_.size();
    forms_.push_back(std::move(form));
  }
  for (const Point& point : captures_) at_captures_.push_back(at(point));
}

// Finds as many captures as the form has terms whose equations are independent.
bool Laws::determine(Form& form) const {
  std::vector<std::vector<Rational>> reduced;
  std::vector<std::size_t> pivots;
  form.captures.clear();
  for (std::size_t c = 0; c < captures_.size() && reduced.size() < form.monomials.size(); ++c) {
    std::vector<Rational> row;
    for (const auto& exponents : form.monomials) row.emplace_back(monomial_at(exponents, captures_[c]));
    for (std::size_t r = 0; r < reduced.size(); ++r) {
      const Rational factor = row[pivots[r]] / reduced[r][pivots[r]];
      if (factor.zero()) continue;
      for (std::size_t m = 0; m < row.size(); ++m) row[m] = row[m] - factor * reduced[r][m];
    }
    const auto pivot = std::find_if(row.begin(), row.end(), [](const Rational& value) { return !value.zero(); });
    if (pivot == row.end()) continue;
    pivots.push_back(static_cast<std::size_t>(pivot - row.begin()));
    reduced.push_back(std::move(row));
    form.captures.push_back(c);
  }
  return form.captures.size() == form.monomials.size();
}

// The weights w with f(point) = sum w[i] f(capture i) for each f of the form: sum w[i] m(capture i) = m(point) for each monomial m.
Laws::At::Weights Laws::weights(const Form& form, const Point& point) const {
  const std::size_t size = form.monomials.size();
  std::vector<std::vector<Rational>> matrix(size, std::vector<Rational>(size + 1));
  for (std::size_t m = 0; m < size; ++m) {
    for (std::size_t i = 0; i < size; ++i) matrix[m][i] = Rational{monomial_at(form.monomials[m], captures_[form.captures[i]])};
    matrix[m][size] = Rational{monomial_at(form.monomials[m], point)};
  }
  for (std::size_t column = 0; column < size; ++column) {
    std::size_t pivot = column;
    while (matrix[pivot][column].zero()) ++pivot;  // determine() found the equations independent
    std::swap(matrix[pivot], matrix[column]);
    for (std::size_t row = 0; row < size; ++row) {
      if (row == column || matrix[row][column].zero()) continue;
      const Rational factor = matrix[row][column] / matrix[column][column];
      for (std::size_t k = column; k <= size; ++k) matrix[row][k] = matrix[row][k] - factor * matrix[column][k];
    }
  }
  At::Weights result;
  result.captures = form.captures;
  std::vector<Rational> solution;
  for (std::size_t i = 0; i < size; ++i) {
    solution.push_back(matrix[i][size] / matrix[i][i]);
    const Wide denominator = solution.back().denominator;
    result.denominator = times(result.denominator / common_divisor(result.denominator, denominator), denominator);
  }
  for (const Rational& weight : solution) result.numerators.push_back(times(weight.numerator, result.denominator / weight.denominator));
  return result;
}

Laws::At Laws::at(const Point& point) const {
  At result;
  for (const Form& form : forms_) result.weights_.push_back(weights(form, point));
  return result;
}

Laws::Value Laws::At::value(std::size_t form, std::span<const std::int64_t> values) const {
  const Weights& weights = weights_[form];
  Value result{0, weights.denominator};
  for (std::size_t i = 0; i < weights.captures.size(); ++i)
    result.numerator = plus(result.numerator, times(weights.numerators[i], values[weights.captures[i]]));
  return result;
}

std::optional<std::size_t> Laws::form_of(std::span<const std::int64_t> values) const {
  for (std::size_t form = 0; form < forms_.size(); ++form) {
    bool meets = true;
    for (std::size_t c = 0; meets && c < captures_.size(); ++c) {
      const Value value = at_captures_[c].value(form, values);
      meets = value.is_number() && value.number() == values[c];
    }
    if (meets) return form;
  }
  return std::nullopt;
}

}  // namespace homenode::parametric
