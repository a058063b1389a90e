// Which lines a cache still holds whose victims are random, without following each line. Of C lines each leaves with the chance 1 / C when
// another one comes and all places are taken, however recently it was used. So of lines that were there some time ago the share
// exp(-evictions since / C) still is, and a hit changes nothing: a clock that counts evictions tells it.
//
// Sets fill unevenly: lines are spread over them at random, W on average where the cache is just filled, by a Poisson law. Crowded sets
// evict more often, and empty places of others do not help them. Sets are therefore followed in `classes` classes of equal capacity,
// from the emptiest to the fullest, each with its own clock.
//
// Which lines are in which class, and which of a class are lost first, is settled once for all by their numbers: a stretch of lines,
// 256 or a sixty-fourth of the cache, is in one class, and of it those are held whose place, counted from a start of the stretch's own, is
// below the share.
#pragma once

#include <array>
#include <cstdint>

#include "sim/program/line_touch.hpp"

namespace homenode {

class RandomVictims {
public:
  static constexpr std::size_t classes = 8;
  // Evictions so far by class, over the lines that it holds.
  using Clock = std::array<double, classes>;

  // `ways` = 0 or `lines`: no sets.
  RandomVictims(std::uint64_t lines, unsigned ways);

  const Clock& now() const { return clock_; }
  // Of all classes together, over the lines of the cache.
  static double mean(const Clock& clock);
  // Lines that are there from now on, and were not.
  void filled(LineRange);
  // Lines that were there at `since` leave by other means than eviction; those of them that are still there make room.
  void left(LineRange, const Clock& since);
  // Evicts what has no place.
  void settle();

  struct Fate {
    bool held = false;
    std::uint64_t lines = 0;  // from the first on
  };
  // Of lines that were there at `since`: whether the first one still is, and how many share its fate.
  Fate fate(LineRange, const Clock& since) const;

  // The share of hits in sweeps over so many lines, again and again; without `distance` smaller than 0.
  double sweep_hits(double distance) const;

private:
  std::size_t class_of(std::uint64_t stretch_number) const;
  std::uint64_t start_of(std::uint64_t stretch_number) const;
  std::uint64_t held_lines(std::size_t in_class, const Clock& since) const;  // of a stretch
  // each(part of one stretch, its class)
  template <class Each>
  void for_each_stretch(LineRange, Each&&) const;

  std::uint64_t salt_;                    // by size, so that caches behind each other are independent
  std::uint64_t stretch_;                 // lines, a power of two
  double capacity_;                       // of a class, in lines
  double evicted_;                        // by what an eviction moves the clock of its class
  std::array<double, classes> share_{};   // of all lines, by class
  std::array<double, classes> filled_{};  // lines held, by class
  Clock clock_{};
};

}  // namespace homenode
