#include "models/engines/parts/fresh_periods.hpp"

#include <algorithm>
#include <cstdlib>

namespace homenode {

FreshPeriods::Span FreshPeriods::Span::along(std::uint64_t periods) const {
  const std::int64_t all = by * static_cast<std::int64_t>(periods);
  return {.first = first + std::min<std::int64_t>(all, 0), .last = last + std::max<std::int64_t>(all, 0), .by = by};
}

bool FreshPeriods::State::operator==(const State& other) const {
  return core == other.core && taken_since == other.taken_since && std::ranges::equal(asked, other.asked);
}

void FreshPeriods::begin() {
  if (pages_.any()) pages_.before_.emplace(FreshPages::Before{.pages = {}, .asked = {}, .taken = pages_.taken_});
}

// By address, those that meet as one.
std::vector<FreshPeriods::Span> FreshPeriods::spans_of(std::span<const MovingLines> moving) const {
  std::vector<Span> spans;
  const auto lines = static_cast<std::int64_t>(pages_.lines_);
  for (const auto& [touched, by] : moving) {
    if (touched.first >= touched.last) continue;
    const auto first = static_cast<std::int64_t>(touched.first - pages_.first_line_),
               last = static_cast<std::int64_t>(touched.last - pages_.first_line_);
    spans.push_back({.first = first / lines, .last = (last + lines - 1) / lines, .by = by / lines});
  }
  std::ranges::sort(spans, {}, &Span::first);
  std::vector<Span> joined;
  for (const Span& span : spans) {
    if (!joined.empty() && span.first <= joined.back().last && span.by == joined.back().by)
      joined.back().last = std::max(joined.back().last, span.last);
    else
      joined.push_back(span);
  }
  return joined;
}

// Whether all pages that changed lie in the spans.
bool FreshPeriods::are_within(std::span<const Span> spans) const {
  return std::ranges::all_of(pages_.before_->pages, [&](const auto& kept) {
    const auto page = static_cast<std::int64_t>(kept.first);
    const auto behind = std::ranges::upper_bound(spans, page, {}, &Span::first);
    return behind != spans.begin() && page < std::prev(behind)->last;
  });
}

// Nothing that the period did there, nor what comes, depends on when pages were zeroed.
bool FreshPeriods::is_settled(const Span& span, std::uint64_t periods) const {
  const Span all = span.along(periods);
  for (std::int64_t page = all.first; page < all.last; ++page)
    if (state(page).core != FreshPages::in_use) return false;
  return std::ranges::none_of(pages_.before_->pages, [&](const auto& kept) {
    return span.first <= static_cast<std::int64_t>(kept.first) && static_cast<std::int64_t>(kept.first) < span.last;
  });
}

std::uint64_t FreshPeriods::alike(std::span<const MovingLines> touched, std::uint64_t most) {
  unsettled_.clear();
  if (!pages_.any()) return most;
  if (!pages_.before_) return 0;
  const std::vector<Span> spans = spans_of(touched);
  if (!are_within(spans)) return 0;
  std::vector<bool> settled;
  for (const Span& span : spans) {
    settled.push_back(is_settled(span, most));
    if (!settled.back()) unsettled_.push_back(span);
  }
  std::uint64_t periods = most;
  // Neither runs into what the other has touched. What moves differently does not, by the contract; what stands still runs nowhere.
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if ((settled[i - 1] && settled[i]) || spans[i].by != spans[i - 1].by || spans[i].by == 0) continue;
    const std::int64_t between = std::max<std::int64_t>(spans[i].first - spans[i - 1].last, 0);
    periods = std::min(periods, static_cast<std::uint64_t>(between / std::abs(spans[i].by)));
  }
  for (const Span& span : unsettled_) periods = alike(span, periods);
  return periods;
}

std::uint64_t FreshPeriods::alike(const Span& span, std::uint64_t most) const {
  const std::int64_t by = std::abs(span.by);
  if (by == 0) {
    const auto stays = [&](std::int64_t page) { return state_before(page) == state(page); };
    for (std::int64_t page = span.first; page < span.last; ++page)
      if (pages_.before_->pages.contains(static_cast<std::uint64_t>(page)) && !stays(page)) return 0;
    return most;
  }
  std::uint64_t periods = most;
  const std::int64_t size = span.last - span.first;
  // `at`: pages from where it began on, in the direction in which it moves.
  for (std::int64_t at = 0; periods > 0 && at < size + by * static_cast<std::int64_t>(periods - 1); ++at) {
    const std::int64_t page = span.by > 0 ? span.first + at : span.last - 1 - at;
    if (state_before(page) == state(page + span.by)) continue;
    periods = at < size ? 0 : std::min(periods, static_cast<std::uint64_t>((at - size) / by) + 1);
  }
  return periods;
}

FreshPeriods::State FreshPeriods::state(const FreshPages::Page& page, std::span<const std::uint64_t> asked,
                                        const FreshPages::LineCounts& taken) const {
  if (page.core == FreshPages::nobody) return {};
  if (pages_.is_settled(page, asked, taken)) return {.core = FreshPages::in_use, .asked = {}};
  return {.core = page.core, .taken_since = taken[page.core] - page.since, .asked = asked};
}

FreshPeriods::State FreshPeriods::state(std::int64_t page) const {
  if (page < 0 || page >= std::ssize(pages_.pages_)) return {};
  const auto number = static_cast<std::uint64_t>(page);
  return state(pages_.pages_[number], pages_.asked_of(number), pages_.taken_);
}

FreshPeriods::State FreshPeriods::state_before(std::int64_t page) const {
  if (page < 0 || page >= std::ssize(pages_.pages_)) return {};
  const auto number = static_cast<std::uint64_t>(page);
  const FreshPages::Before& before = *pages_.before_;
  const auto kept = before.pages.find(number);
  if (kept == before.pages.end()) return state(pages_.pages_[number], pages_.asked_of(number), before.taken);
  return state(kept->second.page, std::span{before.asked}.subspan(kept->second.word, pages_.words_), before.taken);
}

// After the jump a page is what the page `times` moves behind it is now, `times` periods later. `times`: how many of the periods come as
// far as this page.
void FreshPeriods::move(const Span& span, std::uint64_t periods) {
  const std::int64_t by = std::abs(span.by), size = span.last - span.first, most = static_cast<std::int64_t>(periods);
  pages_.make_room_for(static_cast<std::uint64_t>(span.along(periods).last - 1));
  const auto number = [&](std::int64_t at) { return static_cast<std::size_t>(span.by > 0 ? span.first + at : span.last - 1 - at); };
  // From the far end, since they come from nearer.
  for (std::int64_t at = size + by * most - 1; at >= by; --at) {
    const std::int64_t times = std::min(at / by, most);
    const std::size_t to = number(at), from = number(at - times * by);
    FreshPages::Page page = pages_.pages_[from];
    if (page.core != FreshPages::nobody && page.core != FreshPages::in_use)
      page.since += (pages_.taken_[page.core] - pages_.before_->taken[page.core]) * static_cast<std::uint64_t>(times);
    pages_.pages_[to] = page;
    std::copy_n(pages_.asked_.begin() + static_cast<std::ptrdiff_t>(from * pages_.words_), pages_.words_,
                pages_.asked_.begin() + static_cast<std::ptrdiff_t>(to * pages_.words_));
  }
}

void FreshPeriods::pass(std::uint64_t periods) {
  if (!pages_.before_) return;
  for (const Span& span : unsettled_)
    if (span.by != 0) move(span, periods);
  for (std::size_t core = 0; core < pages_.taken_.size(); ++core)
    pages_.taken_[core] += (pages_.taken_[core] - pages_.before_->taken[core]) * periods;
  end();
}

}  // namespace homenode
