// How one number of a trace depends on the parameters that were varied: the polynomial with the fewest terms that meets it in
// every capture. Loop bounds are affine in a program's sizes, and what nested loops add up to (offsets, sequence numbers, counts of
// blocks, bytes) are sums of products of loop bounds: polynomials with rational coefficients and whole values.
//
// Forms, tried in the order of their number of terms; a form with t terms needs t captures, all of which it meets exactly:
//   constant; in each set of parameters, degree 1 to 4 (all monomials up to it); in two or more also their multilinear products.
// Three captures of one parameter allow degree 2. A form that has as many terms as there are captures meets anything: only the
// held-out capture can confirm it.
// The arithmetic is exact; nothing is approximated.
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

  // The first form that these values (one a capture) follow; nothing if none does.
  std::optional<std::size_t> form_of(std::span<const std::int64_t> values) const;

  struct Value {
    Wide numerator = 0, denominator = 1;
    bool whole() const { return numerator % denominator == 0; }
    bool fits() const;  // a whole number of 64 bits
    std::int64_t number() const { return static_cast<std::int64_t>(numerator / denominator); }
    std::string text() const;  // "510.5"
  };
  // What all forms say at one point.
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
  bool determine(Form&) const;

  std::vector<std::string> parameters_;
  std::vector<Point> captures_;
  std::vector<Form> forms_;
  std::vector<At> at_captures_;
};

}  // namespace homenode::parametric
