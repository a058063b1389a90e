// The law of one number of a trace: the polynomial in the varied parameters that has the fewest terms and is exact in every capture.
// Why polynomials: loop bounds are affine in a program's sizes. Offsets, sequence numbers, block counts and bytes are sums of products
// of loop bounds. So they are polynomials with rational coefficients and whole values.
//
// A form is a set of monomials. Forms are tried in the order of their number of terms:
//   a constant; for each set of parameters all monomials up to degree 1, 2, 3, 4; for two or more parameters also their
//   multilinear products.
// A form with t terms needs at least t captures: three captures of one parameter allow degree 2. With exactly t captures it fits any
// values, so only the held-out capture can confirm it.
// The arithmetic is exact.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace homenode::parametric {

__extension__ typedef __int128 Wide;
using Point = std::vector<std::int64_t>;  // one value a parameter

class Laws {
public:
  static constexpr unsigned highest_degree = 4;

  Laws(std::vector<std::string> parameters, std::vector<Point> captures);

  struct Form {
    std::string name;                              // "constant", "affine in n", "of degree 2 in n"
    std::vector<std::vector<unsigned>> monomials;  // exponents by parameter
    bool confirmed = false;                        // fewer terms than captures
    std::vector<std::size_t> captures;             // as many as terms, which determine it
  };
  const std::vector<Form>& forms() const { return forms_; }

  // The first form that is exact for these values, one a capture; nothing if none is.
  std::optional<std::size_t> form_of(std::span<const std::int64_t> values) const;

  struct Value {
    Wide numerator = 0, denominator = 1;
    bool is_whole() const { return numerator % denominator == 0; }
    bool is_number() const;  // a whole number of 64 bits
    std::int64_t number() const { return static_cast<std::int64_t>(numerator / denominator); }
    std::string text() const;  // "510.5"
  };
  // All forms evaluated at one point.
  class At {
  public:
    Value value(std::size_t form, std::span<const std::int64_t> values) const;

  private:
    friend class Laws;
    struct Weights {
      std::vector<std::size_t> captures;
      std::vector<Wide> numerators;
      Wide denominator = 1;
    };
    std::vector<Weights> weights_;  // by form
  };
  At at(const Point&) const;

private:
  At::Weights weights(const Form&, const Point&) const;
  // Chooses Form::captures; false if no such captures have independent equations.
  bool determine(Form&) const;

  std::vector<std::string> parameters_;
  std::vector<Point> captures_;
  std::vector<Form> forms_;
  std::vector<At> at_captures_;
};

}  // namespace homenode::parametric
