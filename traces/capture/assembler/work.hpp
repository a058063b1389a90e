// Work counts of the twin, spread over the regions of the trace. The twin counts stretches of the program: parallel construct k,
// and the serial code before it; the regions of a stretch share its counts by their accesses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

class TwinWork {
public:
  using Shares = std::vector<std::pair<RegionId, std::uint64_t>>;  // accesses of each region in a stretch
  // `kind` is serial or parallel, as in the twin's file.
  void note(const std::string& kind, std::uint64_t ordinal, Shares);

  struct Rates {
    std::map<RegionId, WorkCounts> per_access;
    std::vector<Loss> losses;
  };
  // The file is read now, so it may be a pipe that the twin writes to after the traced program; an empty one: there is no twin.
  Rates rates(const std::filesystem::path&) const;

private:
  struct Stretch {
    std::string kind;
    std::uint64_t ordinal;
    Shares shares;
  };
  std::vector<Stretch> stretches_;
};

}  // namespace homenode
