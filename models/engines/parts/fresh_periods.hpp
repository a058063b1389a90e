// Periods of slices that do to the pages that the kernel has just zeroed what the period before did, some pages further on. For jumps over
// rounds that repeat (repeated_rounds.hpp).
//
// Which cache serves a line of a page depends on that page alone: who zeroed it, what its core has taken in since, which lines were asked
// for. So a period does what the one before did if it finds each page as that one found the page one move before it. Compared are what
// pages were when the last period began, and what the pages one move further on are now: those that the last period touched, and those
// that lie as far ahead as jumps go. What a period leaves behind is then what the last one left, moved.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/engines/parts/fresh_pages.hpp"

namespace homenode {

// Lines that a slice touched, and how far the next period's lie from them: whole pages.
struct MovingLines {
  LineRange lines;
  std::int64_t by = 0;
};

class FreshPeriods {
public:
  explicit FreshPeriods(FreshPages& pages) : pages_{pages} {}

  void begin();
  // Nobody will ask about the one that began last.
  void end() { pages_.before_.reset(); }
  // How many more periods do what the one that began last did, at most so many. 0 if pages went back or moved meanwhile. `touched`: all
  // that it touched; what moves differently shares no page, nor comes to share one.
  std::uint64_t alike(std::span<const MovingLines> touched, std::uint64_t most);
  // Leaves the pages as so many periods would; at most as many as `alike` has just said.
  void pass(std::uint64_t periods);

private:
  struct Span {  // of pages
    std::int64_t first = 0, last = 0, by = 0;
    Span along(std::uint64_t periods) const;  // all that it comes to
  };
  // What decides which cache serves lines of a page. Settled pages count as FreshPages::in_use: memory serves all their lines.
  struct State {
    std::uint64_t core = FreshPages::nobody;
    std::uint64_t taken_since = 0;  // lines, by that core
    std::span<const std::uint64_t> asked;
    bool operator==(const State&) const;
  };
  std::vector<Span> spans_of(std::span<const MovingLines>) const;
  bool are_within(std::span<const Span>) const;
  bool is_settled(const Span&, std::uint64_t periods) const;
  std::uint64_t alike(const Span&, std::uint64_t most) const;
  State state(std::int64_t page) const;
  State state_before(std::int64_t page) const;
  State state(const FreshPages::Page&, std::span<const std::uint64_t> asked, const FreshPages::LineCounts& taken) const;
  void move(const Span&, std::uint64_t periods);

  FreshPages& pages_;
  std::vector<Span> unsettled_;  // of what the last period touched
};

}  // namespace homenode
