#include "models/engines/parts/fresh_pages.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "models/engines/parts/engine_options.hpp"
#include "sim/machine/line_bytes.hpp"
#include "sim/program/recorded.hpp"

namespace homenode {

FreshPages fresh_pages(const Machine& machine, const EngineOptions& options) {
  if (!options.fresh_pages) return {};
  return {machine, static_cast<std::uint64_t>(options.page.count()), line_bytes(machine), options.pages_in_use};
}

FreshPages::FreshPages(const Machine& machine, std::uint64_t page_bytes, std::uint64_t line_bytes, std::span<const PageNumber> in_use)
    : caches_{machine.caches},
      line_bytes_{line_bytes},
      lines_{std::max<std::uint64_t>(page_bytes / line_bytes, 1)},
      page_shift_{static_cast<unsigned>(std::countr_zero(lines_))},
      words_{static_cast<std::size_t>((lines_ + 63) / 64)},
      taken_(machine.cores(), 0) {
  if (machine.cores() >= FreshPages::in_use) throw std::invalid_argument("lines of fresh pages: at most 65533 cores");
  for (const PageNumber page : in_use) {
    make_room_for(page.value());
    pages_[page.value()].core = FreshPages::in_use;
  }
}

std::optional<std::size_t> level_that_holds(std::span<const CacheDescription> caches, std::uint64_t bytes, std::size_t from) {
  for (std::size_t level = from; level < caches.size(); ++level)
    if (bytes * caches[level].cores_per_cache <= static_cast<std::uint64_t>(caches[level].size.count())) return level;
  return std::nullopt;
}

bool are_zeroed_in_caches(const Workload& workload, const Machine& machine, Bytes page, Bytes huge) {
  return huge.count() == 0 && has(workload, Recorded::objects) &&
         level_that_holds(machine.caches, static_cast<std::uint64_t>(page.count())).has_value();
}

void FreshPages::make_room_for(std::uint64_t page) {
  if (page < pages_.size()) return;
  pages_.resize(std::max<std::size_t>(page + 1, 2 * pages_.size()));
  asked_.resize(pages_.size() * words_, 0);
}

void FreshPages::come_to(CoreId core, std::uint64_t page) {
  make_room_for(page);
  if (before_) keep(page);
  if (pages_[page].core != nobody) return;
  pages_[page] = {.since = taken_[core.index()], .core = core.index()};
  taken_[core.index()] += lines_;
}

// Memory serves a settled page as it serves one that was in use before: found out once. Not in a period, which asks what its pages were.
void FreshPages::ask(const Part& part) {
  asked_[part.word] |= part.mask;
  if (!before_ && is_settled(part.page)) pages_[part.page].core = in_use;
}

// Settled pages are not kept: nothing that changes of them decides where a line comes from. A page may age out of the caches in a period
// and be touched only then; it is settled before its first touch in every period that repeats.
void FreshPages::keep(std::uint64_t page) {
  if (is_settled(page)) return;
  if (!before_->pages.try_emplace(page, Before::Kept{.page = pages_[page], .word = before_->asked.size()}).second) return;
  const std::span<const std::uint64_t> asked = asked_of(page);
  before_->asked.insert(before_->asked.end(), asked.begin(), asked.end());
}

bool FreshPages::is_settled(const Page& page, std::span<const std::uint64_t> asked, const LineCounts& taken) const {
  if (page.core == nobody) return false;
  if (page.core == in_use || !level_that_holds(caches_, bytes_since(page, taken))) return true;
  const std::uint64_t all = lines_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lines_) - 1;
  return std::all_of(asked.begin(), asked.end(), [&](std::uint64_t word) { return word == all; });
}

void FreshPages::give_back(LineRange lines) {
  before_.reset();
  const std::uint64_t first = (lines.first - first_line_ + lines_ - 1) / lines_, last = (lines.last - first_line_) / lines_;
  for (std::uint64_t page = first; page < std::min<std::uint64_t>(last, pages_.size()); ++page) {
    pages_[page] = {};
    std::fill_n(asked_.begin() + static_cast<std::ptrdiff_t>(page * words_), words_, 0);
  }
}

void FreshPages::move(LineRange lines) {
  before_.reset();
  const std::uint64_t first = (lines.first - first_line_) / lines_, last = (lines.last - first_line_) / lines_;
  for (std::uint64_t page = first; page < std::min<std::uint64_t>(last, pages_.size()); ++page)
    if (pages_[page].core != nobody) pages_[page].core = in_use;
}

FreshPages::End FreshPages::end_of(const CacheOutcome& outcome) {
  const auto& reads = outcome.reads;
  const auto& writes = outcome.non_temporal_writes;
  return {reads.size(), writes.size(), reads.empty() ? 0 : reads.back().lines.size(), writes.empty() ? 0 : writes.back().size()};
}

FreshPages::Part FreshPages::part_from(LineNumber first, LineNumber last) const {
  const std::uint64_t number = first - first_line_, place = number & (lines_ - 1);
  Part part{.page = number >> page_shift_, .lines = std::min({64 - place % 64, lines_ - place, last - first}), .bit = place % 64};
  part.word = part.page * words_ + place / 64;
  part.mask = (part.lines == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << part.lines) - 1) << part.bit;
  return part;
}

void FreshPages::write_past(CoreId core, LineRange lines) {
  if (!any()) return;
  for (LineNumber line = lines.first; line < lines.last;) {
    const Part part = part_from(line, lines.last);
    if (!is_in_use(part.page)) {
      come_to(core, part.page);
      ask(part);
    }
    line = line + part.lines;
  }
}

std::optional<std::size_t> FreshPages::serve(CoreId core, LineNumber line) {
  if (!any()) return std::nullopt;
  const Part part = part_from(line, line + 1);
  std::optional<std::size_t> level;
  if (!is_in_use(part.page)) {
    come_to(core, part.page);
    if ((asked_[part.word] & part.mask) == 0) level = level_of(pages_[part.page], core);
    ask(part);
  }
  if (!level) ++taken_[core.index()];
  return level;
}

void FreshPages::serve(CoreId core, End end, CacheOutcome& outcome) {
  if (!any()) return;
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
  for (const MissRange& miss : behind_) serve(core, miss, outcome);
}

void FreshPages::serve(CoreId core, const MissRange& miss, CacheOutcome& outcome) {
  LineNumber from = miss.lines.first;  // of what memory serves and was not noted yet
  for (LineNumber line = miss.lines.first; line < miss.lines.last;) {
    const Part part = part_from(line, miss.lines.last);
    if (!is_in_use(part.page)) {
      from_memory(core, {{from, line}, miss.parallelism}, outcome);
      serve(core, line, part, miss.parallelism, outcome);
      from = line + part.lines;
    }
    line = line + part.lines;
  }
  from_memory(core, {{from, miss.lines.last}, miss.parallelism}, outcome);
}

void FreshPages::serve(CoreId core, LineNumber first, const Part& part, float parallelism, CacheOutcome& outcome) {
  come_to(core, part.page);
  const std::uint64_t before = asked_[part.word] & part.mask;
  const std::optional<std::size_t> held = before == part.mask ? std::nullopt : level_of(pages_[part.page], core);
  const std::uint64_t old = (held ? before : part.mask) >> part.bit;
  const std::size_t level = held.value_or(0);
  ask(part);
  // Lines that are alike, together.
  for (std::uint64_t done = 0; done < part.lines;) {
    const bool is_old = (old >> done & 1) != 0;
    const auto alike = static_cast<std::uint64_t>(is_old ? std::countr_one(old >> done) : std::countr_zero(old >> done));
    const std::uint64_t next = std::min(done + alike, part.lines);
    if (is_old) {
      from_memory(core, {{first + done, first + next}, parallelism}, outcome);
    } else {
      outcome.hit_lines[level] += next - done;
      outcome.hit_weight[level] += static_cast<double>(next - done) / static_cast<double>(parallelism);
    }
    done = next;
  }
}

void FreshPages::from_memory(CoreId core, const MissRange& miss, CacheOutcome& outcome) {
  if (miss.lines.size() == 0) return;
  taken_[core.index()] += miss.lines.size();
  if (!outcome.reads.empty() && outcome.reads.back().lines.last == miss.lines.first && outcome.reads.back().parallelism == miss.parallelism)
    outcome.reads.back().lines.last = miss.lines.last;
  else
    outcome.reads.push_back(miss);
}

std::optional<std::size_t> FreshPages::level_of(const Page& page, CoreId core) const {
  if (page.core == nobody || page.core == in_use) return std::nullopt;
  const CoreId by{page.core};
  const unsigned sharers = caches_.back().cores_per_cache;  // as Machine::cache_of
  if (by.index() / sharers != core.index() / sharers) return std::nullopt;
  return level_that_holds(caches_, bytes_since(page, taken_), by == core ? 0 : caches_.size() - 1);
}

}  // namespace homenode
