// Traces of sizes and teams that cannot be captured here: from at least three captures of one program, whose terms
// (trace_terms.hpp) may differ in numbers only and whose every number follows a law (law.hpp). A further capture is held out: it
// must be predicted exactly (equal content hash, equal marks, threads and dependences) before anything is written.
// Instructions by class need not follow an exact law of a program's sizes: a region's are interpolated, as so many per access and so
// many per iteration or as a law of their sum, whichever the held-out capture is nearer to. The trace says so.
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
  // How many numbers follow which form, and how many of them only the held-out capture confirms.
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
