// Errors that a user can cause. Libraries throw them and never print, exit or repair input;
// the command line prints `what()` on one line and exits with 2. bindings/ translates each class once.
#pragma once

#include <stdexcept>
#include <string>

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

// "unknown machine 'foo'; allowed: a, b, c" with the nearest name first, for every place that looks a name up.
template <class Names>
std::string unknown_name(const std::string& what, const std::string& found, const Names& allowed) {
  std::string message = "unknown " + what + " '" + found + "'; allowed: ";
  bool first = true;
  for (const auto& name : allowed) {
    if (!first) message += ", ";
    message += name;
    first = false;
  }
  return message;
}

}  // namespace homenode
