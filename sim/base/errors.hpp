// Errors that a user can cause. Libraries throw them and never print, exit or repair input;
// the command line prints `what()` on one line and exits with 2. bindings/ translates each class once.
#pragma once

#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace homenode {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A value whose unit or size is wrong; the reader of a file adds the place to it.
struct UnitError : Error {
  using Error::Error;
};
// A file that cannot be used: file, line or record, what was found, what is allowed.
struct InputError : Error {
  using Error::Error;
};
// An unknown name, an unknown parameter, a value out of range, a combination that makes no sense.
struct UsageError : Error {
  using Error::Error;
};
// A policy broke its contract (an illegal node, an item handed out twice, an exception in Python code).
struct PolicyError : Error {
  using Error::Error;
};
// The simulated program cannot go on; the message names the cycle of waits.
struct DeadlockError : Error {
  using Error::Error;
};

// The fewest characters to put in and to drop that make `allowed` of `found`, whatever their case. A replaced one counts as both,
// so that an abbreviation is near to its name: 'first' to 'first-touch' (6) rather than to 'bind' (7).
std::size_t distance_between_names(std::string_view found, std::string_view allowed);

// "unknown machine 'foo'; allowed: a, b, c" with the nearest name first, the others as given, for every place that looks a name up.
std::string unknown_name(const std::string& what, const std::string& found, std::vector<std::string> allowed);
template <class Names>
std::string unknown_name(const std::string& what, const std::string& found, const Names& allowed) {
  return unknown_name(what, found, std::vector<std::string>(std::begin(allowed), std::end(allowed)));
}

}  // namespace homenode
