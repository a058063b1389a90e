// Predicts the trace of a size or team that cannot be captured here, from at least three captures of one program.
// The terms of the captures (trace_terms.hpp) must be equal up to numbers, and each number must follow a law (law.hpp).
// One more capture is held out. It must be predicted exactly (content hash, marks, threads, dependences) before anything is written.
// Instruction counts need not follow an exact law. They are interpolated for each region in two ways: per access and per iteration, or as
// a law of the region's total. The way that predicts the held-out capture better is taken, and the trace says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace homenode {

struct ExtrapolationRequest {
  std::vector<std::filesystem::path> captures;  // at least three, of different parameters
  std::filesystem::path check;                  // held out
  std::map<std::string, std::int64_t> set;      // the asked values; parameters that are not named stay as in the last capture
  std::filesystem::path output;
};

struct Extrapolation {
  std::string content_hash, arguments;
  std::uint64_t accesses = 0, footprint_bytes = 0, executions = 0;
  std::string captured_at, checked_at, asked_at;  // "n=40, n=48, n=56"; "n=64"; "n=8192"
  std::string check_hash;
  // How many numbers of the trace follow a form. confirmed_by_captures is false if only the held-out capture confirms them.
  struct Form {
    std::string name;
    std::uint64_t numbers = 0;
    bool confirmed_by_captures = false;
  };
  std::vector<Form> forms;
  std::vector<std::string> remarks;  // what the check cannot show
  double work_error = 0;             // of the instructions of the held-out capture, relative, as interpolated
};

// A feature of this prefix marks a trace that was extrapolated.
inline constexpr std::string_view extrapolated_feature = "extrapolated:";

// Throws UsageError, before anything is written, if the captures do not fit together, if a region's structure or a number follows
// no law (the message names both), if the held-out capture is not predicted exactly, or if the asked values give no whole numbers.
Extrapolation extrapolate(const ExtrapolationRequest&);

}  // namespace homenode
