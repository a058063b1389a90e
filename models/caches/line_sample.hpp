// Which lines a sampled cache model follows: set sampling (R. E. Kessler, M. D. Hill, D. A. Wood, IEEE Transactions on Computers 43(6),
// 1994: constant-bits sets). The bits of an address within its page choose the same part of the sets in every level, whatever the page's
// frame. So one line in N of each page, with every set that it can lie in, is simulated as if the others did not exist, exactly;
// each stands for N lines of its page, the others are left out. Chosen by seed, one from each N neighbours. A level whose sets are no
// multiple of a page's lines is made smaller by N instead.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/addresses.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/mixed_bits.hpp"
#include "sim/program/line_touch.hpp"

namespace homenode {

class LineSample {
public:
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr std::uint8_t none = 0xff;

  // 1: all lines. Throws UsageError where a page has fewer than 2 * one_in lines or a level fewer than one_in sets, and for lines of less
  // than 64 bytes.
  LineSample(const Machine& machine, unsigned one_in, std::uint64_t seed) : one_in_{one_in} {
    const std::uint64_t line = machine.caches.empty() ? 64 : static_cast<std::uint64_t>(machine.caches.front().line.count());
    const auto lines = static_cast<unsigned>(std::max<std::uint64_t>(page_bytes / line, 1));
    page_shift_ = static_cast<unsigned>(std::countr_zero(lines));
    page_mask_ = lines - 1;
    if (const std::string refused = refusal(machine, one_in); !refused.empty()) throw UsageError(refused);
    kept_ = lines / one_in;
    kept_shift_ = static_cast<unsigned>(std::countr_zero(kept_));
    place_.fill(none);
    for (unsigned k = 0; k < kept_; ++k) {
      const auto chosen = static_cast<unsigned>(k * one_in + mixed_bits(seed ^ (k + 1)) % one_in);
      place_[chosen] = static_cast<std::uint8_t>(k);
      line_in_page_.push_back(static_cast<std::uint8_t>(chosen));
      if (one_in > 1) of_page_ |= std::uint64_t{1} << chosen;  // then a page has at most 64 lines
    }
  }

  static bool allows(const Machine& machine, unsigned one_in) { return refusal(machine, one_in).empty(); }

  bool all() const { return one_in_ == 1; }
  unsigned one_in() const { return one_in_; }
  bool has(LineNumber line) const { return all() || place_[line.value() & page_mask_] != none; }
  // The kept ones of a range, if they are not all: each(line), ascending.
  template <class Each>
  void for_each(LineRange lines, Each&& each) const {
    for (std::uint64_t first = lines.first.value(); first < lines.last.value(); first = (first | page_mask_) + 1)
      for (std::uint64_t rest = of_page_ >> (first & page_mask_); rest != 0; rest &= rest - 1) {
        const LineNumber line{first + static_cast<std::uint64_t>(std::countr_zero(rest))};
        if (line >= lines.last) return;
        each(line);
      }
  }
  // The kept lines, numbered without gaps, and back.
  LineNumber number(LineNumber line) const {
    if (all()) return line;
    return LineNumber{line.value() >> page_shift_ << kept_shift_ | place_[line.value() & page_mask_]};
  }
  // Of the first kept line from this one on; of those in a range.
  LineNumber first_number_from(LineNumber line) const {
    if (all()) return line;
    const std::uint64_t before = of_page_ & ((std::uint64_t{1} << (line.value() & page_mask_)) - 1);
    return LineNumber{(line.value() >> page_shift_ << kept_shift_) + static_cast<std::uint64_t>(std::popcount(before))};
  }
  LineRange numbers(LineRange lines) const { return {first_number_from(lines.first), first_number_from(lines.last)}; }
  LineNumber line(LineNumber number) const {
    if (all()) return number;
    return LineNumber{number.value() >> kept_shift_ << page_shift_ | line_in_page_[number.value() & (kept_ - 1)]};
  }
  // The same of a frame's line.
  std::uint32_t number_in_frame(std::uint32_t line) const { return line >> page_shift_ << kept_shift_ | place_[line & page_mask_]; }
  std::uint32_t line_in_page(std::uint32_t number) const {
    const std::uint32_t place = number & (kept_ - 1);
    return all() ? place : line_in_page_[place];
  }
  unsigned kept() const { return kept_; }  // of a page
  KeptLines kept_lines() const {
    KeptLines kept{.one_in = one_in_, .of_64 = 0};
    for (unsigned line = 0; line < 64; ++line) kept.of_64 |= std::uint64_t{has(LineNumber{line})} << line;
    return kept;
  }
  unsigned place(std::uint32_t number) const { return number & (kept_ - 1); }
  unsigned kept_shift() const { return kept_shift_; }
  unsigned page_shift() const { return page_shift_; }
  // The lines of its page that a kept line stands for.
  LineRange stands_for(LineNumber line) const {
    const LineNumber first{line.value() - (line.value() & (one_in_ - 1))};
    return {first, first + one_in_};
  }

private:
  // Empty if the machine's caches can be sampled so.
  static std::string refusal(const Machine& machine, unsigned one_in) {
    if (one_in == 1) return {};
    const std::string asked = "cache model 'lines': sample=" + std::to_string(one_in) + " on '" + machine.name + "', ";
    for (const CacheDescription& cache : machine.caches) {
      const std::uint64_t lines = page_bytes / static_cast<std::uint64_t>(cache.line.count());
      if (lines > 64) return asked + "whose lines have " + std::to_string(cache.line.count()) + " bytes; allowed: 64 or more";
      if (2 * one_in > lines)
        return asked + "whose pages have " + std::to_string(lines) + " lines; allowed: at most " + std::to_string(lines / 2);
      const auto sets = static_cast<std::uint64_t>(cache.size.count() / cache.line.count()) / std::max(1U, cache.ways);
      if (sets < one_in)
        return asked + "whose cache level " + std::to_string(cache.level) + " has " + std::to_string(sets) + " sets; allowed: at most that";
    }
    return {};
  }

  unsigned one_in_, page_shift_ = 6, kept_ = 64, kept_shift_ = 6;
  std::uint64_t page_mask_ = 63, of_page_ = 0;    // kept lines of a page; 0 of all
  std::array<std::uint8_t, page_bytes> place_{};  // by line of a page: its place among the kept ones
  std::vector<std::uint8_t> line_in_page_;        // and back
};

}  // namespace homenode
