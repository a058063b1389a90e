// One of two ways of doing the same, by how long it took so far. Now and then the other way is tried: the host's state changes (other work
// on its CPUs, CPUs on chiplets far apart). For choices that no result depends on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace homenode {

class Pace {
public:
  static constexpr std::uint64_t tries = 32;  // of so many choices one is a try of each way

  // Which way is taken next: 0 or 1, beginning with 1.
  std::size_t choose() {
    const std::uint64_t number = chosen_++ % tries;
    way_ = number == 0 ? 1 : number == tries / 2 || took_[0] == 0 ? 0 : took_[1] < took_[0] ? 1 : 0;
    return way_;
  }
  // What the way that was chosen last took, for so much work.
  void took(double seconds, std::uint64_t work) {
    if (work == 0 || chosen_ == 0) return;
    const double each = seconds / static_cast<double>(work);
    double& known = took_[way_];
    known = known == 0 ? each : known + (each < known ? less_counts : more_counts) * (each - known);
  }

private:
  // What disturbs one piece of work only makes it slower.
  static constexpr double less_counts = 0.5, more_counts = 0.1;
  std::array<double, 2> took_{};  // for a piece of work; 0: never tried
  std::uint64_t chosen_ = 0;
  std::size_t way_ = 0;
};

}  // namespace homenode
