#include "models/engines/parts/fresh_pages.hpp"

#include <algorithm>

#include "models/engines/parts/engine_options.hpp"
#include "sim/machine/line_bytes.hpp"
#include "sim/program/recorded.hpp"

namespace homenode {

FreshPages fresh_pages(const Machine& machine, const EngineOptions& options) {
  if (!options.fresh_pages) return {};
  return {machine, static_cast<std::uint64_t>(options.page.count()), line_bytes(machine), options.pages_in_use};
}

FreshPages::FreshPages(const Machine& machine, std::uint64_t page_bytes, std::uint64_t line_bytes, std::span<const PageNumber> in_use)
    : fresh_{!machine.caches.empty()},
      page_bytes_{page_bytes},
      line_bytes_{line_bytes},
      lines_{std::max<std::uint64_t>(page_bytes / line_bytes, 1)},
      words_{static_cast<std::size_t>((lines_ + 63) / 64)},
      zeroed_(machine.cores(), 0),
      read_(machine.cores(), 0) {
  for (const CacheDescription& cache : machine.caches)
    capacity_.push_back(static_cast<std::uint64_t>(cache.size.count()) / std::max(cache.cores_per_cache, 1U));
  if (!machine.caches.empty()) sharers_ = std::max(machine.caches.back().cores_per_cache, 1U);
  for (const PageNumber page : in_use) {
    make_room_for(page.value());
    pages_[page.value()].core = used;
  }
}

bool are_zeroed_in_caches(const Workload& workload, const Machine& machine, Bytes page, Bytes huge) {
  return huge.count() == 0 && has(workload, Recorded::objects) &&
         std::any_of(machine.caches.begin(), machine.caches.end(), [page](const CacheDescription& cache) {
           return cache.size.count() >= page.count() * std::max(cache.cores_per_cache, 1U);
         });
}

void FreshPages::make_room_for(std::uint64_t page) {
  if (page < pages_.size()) return;
  pages_.resize(std::max<std::size_t>(page + 1, 2 * pages_.size()));
  asked_.resize(pages_.size() * words_, 0);
}

// True: nobody had.
bool FreshPages::come_to(CoreId core, std::uint64_t page) {
  make_room_for(page);
  if (pages_[page].core != nobody) return false;
  pages_[page] = {.number = ++zeroed_[core.index()], .read = read_[core.index()], .core = static_cast<std::uint32_t>(core.index())};
  return true;
}

bool FreshPages::over(LineRange lines) const {
  if (!fresh_) return true;
  const std::uint64_t all = lines_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lines_) - 1;
  for (std::uint64_t page = (lines.first - first_line_) / lines_; page <= (lines.last - 1 - first_line_) / lines_; ++page) {
    if (page >= pages_.size() || pages_[page].core == nobody) return false;
    const auto words = asked_.begin() + static_cast<std::ptrdiff_t>(page * words_);
    if (std::all_of(words, words + static_cast<std::ptrdiff_t>(words_), [&](std::uint64_t word) { return word == all; })) continue;
    if (pages_[page].core != used && level_of(pages_[page], CoreId{pages_[page].core}) != memory) return false;
  }
  return true;
}

void FreshPages::give_back(LineRange lines) {
  const std::uint64_t first = (lines.first - first_line_ + lines_ - 1) / lines_, last = (lines.last - first_line_) / lines_;
  for (std::uint64_t page = first; page < std::min<std::uint64_t>(last, pages_.size()); ++page) {
    pages_[page] = {};
    std::fill_n(asked_.begin() + static_cast<std::ptrdiff_t>(page * words_), words_, 0);
  }
}

void FreshPages::move(LineRange lines) {
  const std::uint64_t first = (lines.first - first_line_) / lines_, last = (lines.last - first_line_) / lines_;
  for (std::uint64_t page = first; page < std::min<std::uint64_t>(last, pages_.size()); ++page)
    if (pages_[page].core != nobody) pages_[page].core = used;
}

FreshPages::End FreshPages::end_of(const CacheOutcome& outcome) {
  const auto& reads = outcome.reads;
  const auto& writes = outcome.non_temporal_writes;
  return {reads.size(), writes.size(), reads.empty() ? 0 : reads.back().lines.size(), writes.empty() ? 0 : writes.back().size()};
}

FreshPages::Part FreshPages::part_from(LineNumber first, LineNumber last) const {
  const std::uint64_t number = first - first_line_, place = number % lines_;
  Part part{.page = number / lines_, .lines = std::min({64 - place % 64, lines_ - place, last - first}), .bit = place % 64};
  part.word = part.page * words_ + place / 64;
  part.mask = (part.lines == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << part.lines) - 1) << part.bit;
  return part;
}

void FreshPages::write_past(CoreId core, LineRange lines) {
  if (!fresh_) return;
  for (LineNumber line = lines.first; line < lines.last;) {
    const Part part = part_from(line, lines.last);
    come_to(core, part.page);
    asked_[part.word] |= part.mask;
    line = line + part.lines;
  }
}

std::optional<std::size_t> FreshPages::serve(CoreId core, LineNumber line) {
  if (!fresh_) return std::nullopt;
  const Part part = part_from(line, line + 1);
  come_to(core, part.page);
  const bool asked = (asked_[part.word] & part.mask) != 0;
  asked_[part.word] |= part.mask;
  const std::size_t level = asked ? memory : level_of(pages_[part.page], core);
  if (level != memory) return level;
  ++read_[core.index()];
  return std::nullopt;
}

bool FreshPages::serve(CoreId core, End end, CacheOutcome& outcome) {
  if (!fresh_) return false;
  const std::vector<LineRange>& writes = outcome.non_temporal_writes;
  if (end.writes > 0) write_past(core, {writes[end.writes - 1].first + end.last_write, writes[end.writes - 1].last});
  for (std::size_t range = end.writes; range < writes.size(); ++range) write_past(core, writes[range]);
  std::vector<MissRange>& reads = outcome.reads;
  behind_.clear();
  if (end.reads > 0) {
    MissRange& grown = reads[end.reads - 1];
    const LineNumber from = grown.lines.first + end.last_read;
    if (from < grown.lines.last) behind_.push_back({{from, grown.lines.last}, grown.parallelism});
    grown.lines.last = from;
  }
  behind_.insert(behind_.end(), reads.begin() + static_cast<std::ptrdiff_t>(end.reads), reads.end());
  reads.resize(end.reads);
  bool any = false;
  for (const MissRange& miss : behind_) any |= serve(core, miss, outcome);
  return any;
}

bool FreshPages::serve(CoreId core, const MissRange& miss, CacheOutcome& outcome) {
  bool any = false;
  for (LineNumber line = miss.lines.first; line < miss.lines.last;) {
    const Part part = part_from(line, miss.lines.last);
    any |= come_to(core, part.page);
    std::uint64_t old = asked_[part.word] & part.mask;
    asked_[part.word] |= part.mask;
    const std::size_t level = old == part.mask ? memory : level_of(pages_[part.page], core);
    if (level == memory) old = part.mask;
    // Lines that are alike, together.
    for (std::uint64_t done = 0; done < part.lines;) {
      const auto is_old = [&](std::uint64_t at) { return (old >> (part.bit + at) & 1) != 0; };
      std::uint64_t next = done + 1;
      while (next < part.lines && is_old(next) == is_old(done)) ++next;
      if (is_old(done)) {
        from_memory(core, {{line + done, line + next}, miss.parallelism}, outcome);
      } else {
        outcome.hit_lines[level] += next - done;
        outcome.hit_weight[level] += static_cast<double>(next - done) / static_cast<double>(miss.parallelism);
        any = true;
      }
      done = next;
    }
    line = line + part.lines;
  }
  return any;
}

void FreshPages::from_memory(CoreId core, const MissRange& miss, CacheOutcome& outcome) {
  read_[core.index()] += miss.lines.size();
  if (!outcome.reads.empty() && outcome.reads.back().lines.last == miss.lines.first && outcome.reads.back().parallelism == miss.parallelism)
    outcome.reads.back().lines.last = miss.lines.last;
  else
    outcome.reads.push_back(miss);
}

std::size_t FreshPages::level_of(const Page& page, CoreId core) const {
  if (page.core == nobody || page.core == used) return memory;
  const CoreId by{page.core};
  const bool own = by == core;
  const std::size_t outermost = capacity_.size() - 1;
  if (!own && by.index() / sharers_ != core.index() / sharers_) return memory;
  const std::uint64_t pages = zeroed_[by.index()] - page.number + 1;
  const std::uint64_t taken_in = pages * page_bytes_ + (read_[by.index()] - page.read) * line_bytes_;
  for (std::size_t level = own ? 0 : outermost; level <= outermost; ++level)
    if (taken_in <= capacity_[level]) return level;
  return memory;
}

}  // namespace homenode
