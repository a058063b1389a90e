// The table of a run's options: a new option is a row here, a member of RunSpec, and its use. From the rows come the arguments of
// hn.replay and its kin, the options of the command line, the keys of the report, the checks and the key under which runs share what
// they did to the caches.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "models/run/run_spec.hpp"

namespace homenode {

// Whether what leaves the caches depends on a field; `by_lines`: only where caches are modelled by lines.
enum class SeenByCaches : std::uint8_t { no, yes, by_lines };

struct RunField {
  using Member = std::variant<unsigned RunSpec::*, std::uint64_t RunSpec::*, bool RunSpec::*, std::string RunSpec::*>;

  std::string name;                               // in Python; the command line writes --name
  Member member{};                                // its default is that of RunSpec
  std::string sign{};                             // what stands for a value in --help; empty: the allowed names, or a flag
  std::string meaning{};                          // one line for --help
  std::vector<std::string> (*names)() = nullptr;  // that it takes, if it takes names alone
  std::string what{};                             // in errors: of such a name, or "{} threads" of a number
  std::string range{};                            // in errors: which numbers are allowed
  void (*check)(const std::string&) = nullptr;    // of a text beyond `names`: throws UsageError
  bool required = false;                          // a call must name it
  bool axis = false;                              // a grid may vary it
  int report = 0;                                 // its place among the report's keys, from 1; 0: it has none
  SeenByCaches seen_by_caches = SeenByCaches::no;
  bool closed_form = false;  // an estimate depends on it, not a replay alone
};

const std::vector<RunField>& run_fields();

// Throws UsageError for the first value that cannot be on any machine.
void check_values(const RunSpec&);

// The same on this machine, `labels` being those of the regions. `threads_at_once`: of a program that creates its threads, what counts
// against cores; 0: it creates none. `has_tasks`: whether it creates tasks. The system and
// the energy description are not looked at.
void check(const RunSpec&, const Machine&, const std::vector<std::string>& labels, std::size_t threads_at_once = 0, bool has_tasks = true);

// Of a value as the user wrote it: "-1 threads; allowed: at least 1".
std::string number_refused(const RunField&, const std::string& value);

// A text, equal for runs of one trace and machine of which the caches see the same, but for the machine itself: they may share a record.
// `by_lines`: whether caches are modelled by lines, of which runs with different seeds see different frames.
std::string what_caches_see(const RunSpec&, bool by_lines);
// The same of the machine: of those with equal texts the caches see the same, if the runs' texts are equal, too.
std::string what_caches_see(const Machine&);

}  // namespace homenode
