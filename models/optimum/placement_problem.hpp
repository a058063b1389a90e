// Which node each page is to lie on, as an optimisation problem over numbers alone:
//
//   minimise  T = sum over phases of  max over the rows of the phase of (fixed + sum over pages of their seconds where they lie)
//   with at most `room` pages on a node.
//
// A row is what one thread, controller or link needs in one phase. A row that is the mean of others never decides T, but it bounds
// what pages that are not placed yet must add to the greatest of them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/addresses.hpp"

namespace homenode {

struct PlacementProblem {
  struct Row {
    std::uint32_t phase = 0;
    double fixed = 0;     // seconds, wherever pages lie
    bool linear = false;  // one of the rows whose sum, one to a phase, the linear relaxation minimises (transport_flow.hpp)
  };
  struct Seconds {
    std::uint32_t row = 0;
    double seconds = 0;
  };
  // Pages that are alike: each adds the same.
  struct PageClass {
    std::vector<PageNumber> pages;         // their numbers
    std::vector<std::vector<Seconds>> on;  // by node: what one of them adds there
  };
  std::size_t nodes = 0, phases = 0;
  std::vector<std::uint64_t> room;  // by node, pages
  std::vector<Row> rows;            // by phase
  std::vector<PageClass> classes;

  std::uint64_t pages() const;
  // Where each phase's rows begin; one more entry for the end.
  std::vector<std::uint32_t> first_rows() const;
};

// How many pages of each class lie on each node.
using PageCounts = std::vector<std::vector<std::uint64_t>>;

// T of a placement, in seconds.
double placement_seconds(const PlacementProblem&, const PageCounts&);

}  // namespace homenode
