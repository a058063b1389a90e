// Where a line's set lies, and looking through it: the part of SetCaches that every access goes through, inline in its sources.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "models/caches/set_caches.hpp"
#include "sim/base/prefetch.hpp"
#include "sim/machine/mixed_bits.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace homenode {

inline void append(std::vector<LineRange>& ranges, LineRange lines) {
  if (!ranges.empty() && ranges.back().last == lines.first)
    ranges.back().last = lines.last;
  else
    ranges.push_back(lines);
}

struct FourEntries {
  std::uint32_t entry[4];
  static FourEntries at(const std::uint32_t* place) {
    FourEntries four;
    std::memcpy(&four, place, sizeof four);
    return four;
  }
  void put(std::uint32_t* place) const { std::memcpy(place, this, sizeof *this); }
};

// The first `way` entries move one place back, from the back, as many at a time as fit in a register; the first four are read before any
// is overwritten. `entry` comes first.
inline void make_first(std::uint32_t* set, unsigned way, std::uint32_t entry) {
  if (way >= 4) {
    const FourEntries first = FourEntries::at(set);
    for (; way > 4; way -= 4) FourEntries::at(set + way - 4).put(set + way - 3);
    first.put(set + 1);
  } else {
    for (; way > 0; --way) set[way] = set[way - 1];
  }
  set[0] = entry;
}

// The ways of a line of the host at a time: where among them the wanted one is cannot be foreseen, so nothing depends on it.
[[gnu::always_inline]] inline unsigned SetCaches::find(const Entry* set, unsigned ways, Id id) {
  const Entry key = 2 * id + 1;
  unsigned way = 0;
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(key)), one = _mm_set1_epi32(1);
  const auto four = [&](unsigned at) {
    return _mm_cmpeq_epi32(_mm_or_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(set + at)), one), wanted);
  };
  for (; way + 8 <= ways; way += 8) {
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi32(four(way), four(way + 4))));
    if (found != 0) return way + static_cast<unsigned>(std::countr_zero(found)) / 2;
  }
  for (; way + 4 <= ways; way += 4) {
    const auto found = static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(four(way))));
    if (found != 0) return way + static_cast<unsigned>(std::countr_zero(found));
  }
#endif
  for (; way < ways; ++way)
    if ((set[way] | 1) == key) return way;
  return ways;
}

inline unsigned SetCaches::victim(std::size_t index, std::size_t cache, std::uint32_t set) const {
  const Level& level = levels_[index];
  if (level.drawn.empty()) return level.ways - 1;
  const std::uint64_t number = (cache * level.cache_entries + set) / level.ways;
  const std::uint64_t bits = mixed_bits(mixed_bits(number * most_levels + index) ^ seed_ ^ level.drawn[number]);
  return static_cast<unsigned>((bits >> 32) * level.ways >> 32);
}

inline std::uint32_t SetCaches::set_in(const Level& level, Id id, std::uint32_t frame) const {
  std::uint32_t physical = frame;
  if (!level.random_frames) physical = level.by_id ? id - 1 : static_cast<std::uint32_t>(line_number(id).value());
  if (level.scaled) physical = sample_.number_in_frame(physical);
  std::uint32_t set = level.set_mask != 0 || level.sets == 1 ? physical & level.set_mask : physical % level.sets;
  if (level.slices > 1) set += static_cast<std::uint32_t>((mixed_bits(frame) >> 32) * level.slices >> 32) * level.sets;
  return set * level.ways;
}

inline SetCaches::Entry* SetCaches::filter_set(std::size_t domain, Id id) {
  return filters_.data() + domain * filter_.cache_entries + set_in(filter_, id, frame_of(id));
}

inline void SetCaches::prefetch_filter_set(CoreId core, Id id) const {
  const Entry* set = filters_.data() + cache_of(core, outermost()) * filter_.cache_entries + set_in(filter_, id, frame_of(id));
  prefetch_host(set);
  if (filter_.ways > 1) prefetch_host(set + filter_.ways - 1);
}

inline void SetCaches::find_sets(Line& line, Id id, std::size_t first, std::size_t last) const {
  line.id = id;
  const std::uint32_t frame = frame_of(id);
  for (std::size_t l = first; l < last; ++l) line.set[l] = set_in(levels_[l], id, frame);
}

inline SetCaches::Id SetCaches::numbered(LineNumber number) {
  const Id id = numbers_.number(sample_.number(number));
  if (id > frames_.size() << sample_.kept_shift()) know_new_lines();
  return id;
}

inline void SetCaches::prefetch(CoreId core, const Line& line) const {
  for (std::size_t level = 1; level < levels_.size(); ++level) prefetch_set(level, core, line.set[level]);
  prefetch_host(&states_[line.id]);
  if (filtered()) prefetch_filter_set(core, line.id);
}

// What is needed for the lines that leave on account of this one: what is known of them, and where they go to in the outermost level.
// `younger`: lines that come before it in its set of the first level. Returns what `Ahead::moved_to` is.
inline std::uint32_t SetCaches::prefetch_victims(CoreId core, const Line& line, std::size_t younger) const {
  const std::size_t last = outermost();
  const auto leaving = [&](std::size_t level, std::uint32_t set, std::size_t before) {
    const unsigned ways = levels_[level].ways, way = victim(level, cache_of(core, level), set);
    return own_set(core, level, set)[before == 0 ? way : (way + ways - before % ways) % ways];
  };
  Entry moved = 0;  // from the level before
  // An inclusive outermost level has what comes out of a second one; to foresee what is dirty of that costs more than to wait for its set.
  const bool follows = last < 2 || by_evictions(last) || filtered();
  for (std::size_t level = 0; level < last && follows; ++level) {
    if (level == 0 || !by_evictions(level))
      moved = leaving(level, line.set[level], level == 0 ? younger : 0);
    else if (moved != 0)
      moved = leaving(level, set_in(levels_[level], moved >> 1, frame_of(moved >> 1)), 0);
    if (level > 0 && moved != 0) prefetch_host(&states_[moved >> 1]);
    if (level + 1 == last && moved != 0 && filtered()) prefetch_filter_set(core, moved >> 1);
  }
  std::uint32_t moved_to = no_set;
  if (moved != 0 && (by_evictions(last) || (moved & 1) != 0)) {
    moved_to = set_in(levels_[last], moved >> 1, frame_of(moved >> 1));
    prefetch_set(last, core, moved_to);
  }
  if (by_evictions(last)) return moved_to;
  if ((states_[line.id].domains & domain_bit(core)) == 0) prefetch_last_victim(core, line.set[last]);
  return no_set;
}

inline void SetCaches::prefetch_last_victim(CoreId core, std::uint32_t set) const {
  const std::size_t last = outermost();
  const Entry leaves = own_set(core, last, set)[victim(last, cache_of(core, last), set)];
  if (leaves != 0) prefetch_host(&states_[leaves >> 1]);
}

template <class Each>
inline void SetCaches::for_each_domain(std::uint32_t mask, Each&& each) const {
  for (; mask != 0; mask &= mask - 1) {
    const std::size_t first = static_cast<std::size_t>(std::countr_zero(mask)) * domains_a_bit_;
    for (std::size_t cache = first; cache < std::min(first + domains_a_bit_, domains_); ++cache) each(cache);
  }
}

inline bool SetCaches::remove(std::size_t level, std::size_t cache, const Line& line, bool& dirty) {
  Entry* set = set_of(level, cache, line);
  const unsigned ways = levels_[level].ways, way = find(set, ways, line.id);
  if (way == ways) return false;
  dirty |= (set[way] & 1) != 0;
  std::copy(set + way + 1, set + ways, set + way);
  set[ways - 1] = 0;
  return true;
}

inline void SetCaches::write_back(Lane& lane, const Line& line) {
  append(lane.outcome->writebacks, sample_.stands_for(line_number(line.id)));
  states_[line.id].writer = nobody;
}

inline bool SetCaches::remove_everywhere(const Line& line, LineState& known) {
  bool dirty = false;
  cores_.for_each_core(known.holders, [&](CoreId core) {
    for (std::size_t level = 0; level < outermost(); ++level) remove(level, cache_of(core, level), line, dirty);
    if (filtered()) leave_filter(cache_of(core, outermost()), line.id);
  });
  for_each_domain(known.domains, [&](std::size_t cache) { remove(outermost(), cache, line, dirty); });
  known = {.forwarder = known.forwarder};
  return dirty;
}

}  // namespace homenode
