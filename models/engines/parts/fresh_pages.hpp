// Lines of pages that the kernel has just zeroed. The first access to a page makes the kernel write all of it, on the core that came. Its
// lines are in that core's caches then. Measured on a Zen 4 (decision 0058): 4 ns a line in random order, each waiting for the one before.
//
// A line that nobody had asked for yet is served by the core's innermost cache that holds what the core has taken in since: pages that
// were zeroed, and lines from memory. Other cores find it in the outermost cache, if they share that. Else it comes from memory.
//
// Left out:
// - transparent huge pages, which are larger than what caches keep;
// - write-backs of zeroed lines that the program never asks for;
// - that the first writer of a page which others only read zeroes it anew;
// - what a core takes in from outer caches and other cores, which also evicts lines.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

struct EngineOptions;

// The innermost level from `from` on of which one core's share is at least so large; none: only memory is.
std::optional<std::size_t> level_that_holds(std::span<const CacheDescription>, std::uint64_t bytes, std::size_t from = 0);

// Whether a zeroed page stays in the caches. `huge`: size of transparent huge pages, 0 B without. A trace that does not tell objects may
// begin in the middle of a program: all of its pages count as in use.
bool are_zeroed_in_caches(const Workload&, const Machine&, Bytes page, Bytes huge);

class FreshPages {
public:
  // All pages were in use before the program: nothing is served.
  FreshPages() = default;
  // Pages are the system's until the program comes to them, but for those `in_use`.
  FreshPages(const Machine&, std::uint64_t page_bytes, std::uint64_t line_bytes, std::span<const PageNumber> in_use);
  // Line 0 of page 0; to be told before lines are. Does not change.
  void number_from(LineNumber line) { first_line_ = line; }

  // Whether there can be any.
  bool any() const { return !caches_.empty(); }
  // Pages that lie wholly in the range go back to the system.
  void give_back(LineRange);
  // These whole pages were copied to other frames, through memory.
  void move(LineRange);

  // Where the lines of `outcome` that memory serves end, before the caches add to them.
  struct End {
    std::size_t reads = 0, writes = 0;            // ranges
    std::uint64_t last_read = 0, last_write = 0;  // lines of the last one
  };
  static End end_of(const CacheOutcome&);
  // Turns reads behind `end` that need no memory into hits. Nobody had come to a page if nobody asked memory for a line of it: the core
  // zeroes it then.
  void serve(CoreId, End end, CacheOutcome&);
  // The same of one line that the caches do not have, and that the core asks for: the level that serves it, none if memory does.
  std::optional<std::size_t> serve(CoreId, LineNumber line);
  // Non-temporal stores: no cache has the line any longer.
  void write_past(CoreId, LineRange);

private:
  struct Page {
    std::uint64_t since : 48 = 0;  // what its core had taken in when it zeroed the page
    std::uint64_t core : 16 = nobody;
  };
  static constexpr std::uint64_t nobody = 0xffff, in_use = 0xfffe;
  using LineCounts = std::vector<std::uint64_t>;  // that each core took in: of pages that it zeroed, and from memory
  // Pages as they were when the period began, of those that changed; and `taken_` then.
  struct Before {
    struct Kept {
      Page page;
      std::size_t word = 0;  // in `asked`
    };
    std::unordered_map<std::uint64_t, Kept> pages;
    std::vector<std::uint64_t> asked;
    LineCounts taken;
  };
  friend class FreshPeriods;

  void make_room_for(std::uint64_t page);
  void come_to(CoreId, std::uint64_t page);
  void keep(std::uint64_t page);
  std::span<const std::uint64_t> asked_of(std::uint64_t page) const { return {&asked_[page * words_], words_}; }
  // Bytes that the page's core took in since it zeroed the page, the page included.
  std::uint64_t bytes_since(const Page& page, const LineCounts& taken) const { return (taken[page.core] - page.since) * line_bytes_; }
  // Whether no cache will serve a line of the page any more.
  bool is_settled(const Page&, std::span<const std::uint64_t> asked, const LineCounts& taken) const;
  bool is_settled(std::uint64_t page) const { return is_settled(pages_[page], asked_of(page), taken_); }
  std::optional<std::size_t> level_of(const Page&, CoreId) const;  // none: memory
  // Lines of a page that one word of `asked_` is of.
  struct Part {
    std::uint64_t page = 0, mask = 0, lines = 0;
    std::size_t word = 0;   // place in asked_
    std::uint64_t bit = 0;  // of the first line
  };
  Part part_from(LineNumber first, LineNumber last) const;
  bool is_in_use(std::uint64_t page) const { return page < pages_.size() && pages_[page].core == in_use; }
  void ask(const Part&);
  void serve(CoreId, const MissRange&, CacheOutcome&);
  void serve(CoreId, LineNumber first, const Part&, float parallelism, CacheOutcome&);
  void from_memory(CoreId, const MissRange&, CacheOutcome&);

  std::vector<CacheDescription> caches_;        // a copy: records outlive the machine
  std::uint64_t line_bytes_ = 64, lines_ = 64;  // lines of a page, a power of two
  unsigned page_shift_ = 6;                     // 2^page_shift_ = lines_
  std::size_t words_ = 1;                       // of 64 lines, by page
  LineNumber first_line_;
  std::vector<Page> pages_;
  std::vector<std::uint64_t> asked_;  // by page and word: lines that memory or this was asked for
  LineCounts taken_;
  std::optional<Before> before_;   // of the period in hand (fresh_periods.hpp)
  std::vector<MissRange> behind_;  // scratch
};

FreshPages fresh_pages(const Machine&, const EngineOptions&);

}  // namespace homenode
