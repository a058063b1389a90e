// One line on its way through the sets: where it is found, who else loses it, what it pushes out. Compiled once for each number of levels
// and each choice of those that take in victims, so that what a line does is a straight run of instructions.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "models/caches/set_caches.hpp"
#include "models/caches/set_lookup.hpp"

namespace homenode {

// Frames and states of all lines that have numbers.
void SetCaches::know_new_lines() {
  const unsigned kept = sample_.kept_shift(), lines = sample_.page_shift();
  while (frames_.size() << kept < numbers_.size()) {
    const LineNumber first = numbers_.line(static_cast<Id>((frames_.size() << kept) + 1));
    frames_.push_back(static_cast<std::uint32_t>(mixed_bits((first.value() >> kept) ^ seed_) << lines));
  }
  if (states_.size() <= numbers_.size()) states_.resize(std::max(numbers_.size() + 1, states_.size() * 3 / 2));
}

// What the compiler knows of a hierarchy, as one number: its highest bit is at levels - 1, bit L - 1, below it, says that level L takes in
// what the levels before it evict.
template <unsigned code>
struct SetCaches::Shape {
  static constexpr unsigned levels = std::bit_width(code), last = levels - 1;
  static constexpr bool by_evictions(unsigned level) { return level > 0 && (code >> (level - 1) & 1) != 0; }
};

unsigned SetCaches::shape_code() const {
  unsigned code = 1U << (levels_.size() - 1);
  for (std::size_t level = 1; level < levels_.size(); ++level)
    if (by_evictions(level)) code |= 1U << (level - 1);
  return code;
}

template <unsigned... code>
constexpr std::array<SetCaches::OfShape, sizeof...(code)> SetCaches::of_shapes(std::integer_sequence<unsigned, code...>) {
  return {OfShape{&SetCaches::pass_line_of<Shape<code + 1>>, &SetCaches::insert<Shape<code + 1>, Shape<code + 1>::last>}...};
}

SetCaches::OfShape SetCaches::of_shape() const {
  static constexpr auto all = of_shapes(std::make_integer_sequence<unsigned, (1U << most_levels) - 1>{});
  return levels_.empty() ? OfShape{} : all[shape_code() - 1];
}

template <class S>
void SetCaches::pass_line_of(Lane& lane, CoreId core, const Line& line, Use use, LineFate& fate) {
  lane.invalidated.clear();
  if (use.non_temporal() && !use.reads()) {
    non_temporal(lane, line);
    fate.from = LineFate::From::nowhere;
    return;
  }
  Entry* const set = own_set(core, 0, line);
  const unsigned way = find(set, levels_[0].ways, line.id);
  if (way == levels_[0].ways) return look_in<S, 1>(lane, core, line, use, fate);
  if (use.writes_cached() && (set[way] & 1) == 0) return served<S, 0>(lane, core, line, use, way, fate);
  make_first(set, way, set[way]);
  if (use.non_temporal()) non_temporal(lane, line);
}

template <class S, unsigned level>
void SetCaches::look_in(Lane& lane, CoreId core, const Line& line, Use use, LineFate& fate) {
  unsigned way = 0;
  if constexpr (level < S::levels) {
    const unsigned ways = levels_[level].ways;
    way = find(own_set(core, level, line), ways, line.id);
    if (way == ways) return look_in<S, level + 1>(lane, core, line, use, fate);
  }
  served<S, level>(lane, core, line, use, way, fate);
}

// A line that was found in `level`; behind the last one: nowhere.
template <class S, unsigned level>
void SetCaches::served(Lane& lane, CoreId core, const Line& line, Use use, unsigned way, LineFate& fate) {
  constexpr bool missed = level == S::levels;
  fate.level = level;
  const bool writes = use.writes_cached();
  LineState& known = states_[line.id];
  const bool private_hit = !missed && levels_[missed ? 0 : level].cores_per_cache == 1;
  const std::uint16_t owner = known.writer;
  if (missed && forwards_clean_) forwarded(core, line, fate);
  bool transferred = false;
  if (writes) {
    const Copies others = take<S>(lane, core, line, known);
    fate.upgrade = others.held && private_hit;
    transferred = others.dirty && !private_hit;
    if (private_hit)
      for (unsigned outer = level + 1; outer < S::levels; ++outer) {
        bool old = false;
        if (S::by_evictions(outer) && levels_[outer].cores_per_cache > 1) remove(outer, cache_of(core, outer), line, old);
      }
  } else if (!private_hit && owner != nobody && owner != core.index()) {
    transferred = share<S>(lane, core, line, known, !missed);
  }
  if (transferred) {
    fate.from = LineFate::From::transfer;
    fate.owner = owner;
    fate.dirty = true;
  } else if (missed && fate.from == LineFate::From::cache) {
    fate.from = LineFate::From::memory;
  }
  fill<S, level>(lane, core, line, known, way, writes, transferred);
  if (missed && forwards_clean_) known.forwarder = static_cast<std::uint16_t>(1 + cache_of(core, S::last)) & 0x7fff;
  if (use.non_temporal()) non_temporal(lane, line);
}

// Before the access changes anything: whether another outermost cache answers with clean data.
void SetCaches::forwarded(CoreId core, const Line& line, LineFate& fate) {
  const std::uint16_t last = states_[line.id].forwarder;
  if (last == 0 || last - 1U == cache_of(core, outermost()) || !holds(outermost(), last - 1U, line)) return;
  fate.from = LineFate::From::transfer;
  fate.owner = static_cast<std::uint16_t>((last - 1U) * levels_[outermost()].cores_per_cache);
}

// Puts the line into every level on the way in from where it was: `way` of `level`.
template <class S, unsigned level>
void SetCaches::fill(Lane& lane, CoreId core, const Line& line, LineState& known, unsigned way, bool writes, bool transferred) {
  known.holders |= cores_.bit(core);
  bool dirty = writes;
  if constexpr (level < S::levels) {
    Entry* set = own_set(core, level, line);
    if (transferred) way = find(set, levels_[level].ways, line.id);  // what the other core wrote may have come between
    if (way < levels_[level].ways) {
      const Entry entry = set[way];
      const bool was_dirty = (entry & 1) != 0;
      if (!S::by_evictions(level)) {
        make_first(set, way, entry);
      } else if (writes || (!transferred && !stays<S>(core, line, known, level, was_dirty))) {
        remove(level, cache_of(core, level), line, dirty);
        if (was_dirty) known.written_by(core);
      } else if (!transferred) {
        make_first(set, way, entry);
      }
    }
  }
  if (writes) known.written_by(core);
  insert_from<S, level>(lane, core, line, dirty);
  if (level == 0 && writes) own_set(core, 0, line)[0] |= 1;
  if (level >= S::last && filtered()) enter_filter(lane, core, line.id);
}

// Into the levels before `level` that are no levels of victims, the outer ones first.
template <class S, unsigned level>
void SetCaches::insert_from(Lane& lane, CoreId core, const Line& line, bool dirty) {
  if constexpr (level > 0) {
    if constexpr (!S::by_evictions(level - 1)) insert_absent<S, level - 1>(lane, core, line, level == 1 && dirty);
    insert_from<S, level - 1>(lane, core, line, dirty);
  }
}

// A hit in a level of victims leaves the line where other cores of the domain hold it as well (non_inclusive), and where it
// is the newest copy of a line that anybody else holds.
template <class S>
bool SetCaches::stays(CoreId core, const Line& line, LineState& known, unsigned level, bool dirty) {
  const bool near = levels_[level].inclusion == Inclusion::non_inclusive;
  if (!dirty && !near) return false;
  bool held = false;
  cores_.for_each_core(known.holders, [&](CoreId other) {
    if (held || other == core || (!dirty && !same_domain(core, other))) return;
    unsigned l = 0;
    for (; l < S::last && !held && cache_of(other, l) != cache_of(core, l); ++l) held = holds(l, cache_of(other, l), line);
    if (!held && l == S::last && cores_.exact() && !filtered()) known.holders &= ~cores_.bit(other);
  });
  if (dirty)
    for_each_domain(known.domains, [&](std::size_t cache) {
      if (!held && cache != cache_of(core, S::last)) held = holds(S::last, cache, line);
    });
  return held;
}

template <class S>
SetCaches::Copies SetCaches::take(Lane& lane, CoreId core, const Line& line, LineState& known) {
  Copies copies;
  const CoreMask others = known.holders & ~cores_.only(core);
  cores_.for_each_core(others, [&](CoreId other) {
    if (other == core) return;
    bool held = false;
    for (unsigned level = 0; level < S::last && cache_of(other, level) != cache_of(core, level); ++level)
      held |= remove(level, cache_of(other, level), line, copies.dirty);
    if (held) lane.removed_from(cache_of(other, S::last));
    if (filtered() && !same_domain(core, other)) leave_filter(cache_of(other, S::last), line.id);
    copies.held |= held;
  });
  known.holders = cores_.bit(core);
  const std::uint32_t domain = domain_bit(core), foreign = domains_a_bit_ == 1 ? known.domains & ~domain : known.domains;
  for_each_domain(foreign, [&](std::size_t cache) {
    if (cache == cache_of(core, S::last) || !remove(S::last, cache, line, copies.dirty)) return;
    lane.removed_from(cache);
    copies.held = true;
  });
  known.domains &= domain;
  return copies;
}

template <class S>
bool SetCaches::share(Lane& lane, CoreId core, const Line& line, LineState& known, bool near) {
  const CoreId owner{known.writer};
  if (near && !same_domain(core, owner)) return false;  // a copy in the own domain is good even while another one owns the line
  if (known.clean_inside && same_domain(core, owner)) return false;
  bool dirty = false;
  unsigned common = known.clean_inside ? S::last : 0;
  for (; common < S::levels && cache_of(owner, common) != cache_of(core, common); ++common) {
    Entry* set = own_set(owner, common, line);
    const unsigned way = find(set, levels_[common].ways, line.id);
    if (way == levels_[common].ways) continue;
    dirty |= (set[way] & 1) != 0;
    set[way] &= ~Entry{1};
  }
  known.clean_inside = known.clean_inside || common >= S::last;
  if (!dirty) {
    if (common == S::levels) known.writer = nobody;
    return false;
  }
  if (common == S::levels && S::by_evictions(S::last)) common = S::last;
  put_dirty_from<S, 0>(lane, owner, line, common);
  return true;
}

// Where the level is not known before.
template <class S, unsigned level>
void SetCaches::put_dirty_from(Lane& lane, CoreId core, const Line& line, unsigned from) {
  if constexpr (level == S::levels)
    put_dirty<S, level>(lane, core, line);
  else if (from == level)
    put_dirty<S, level>(lane, core, line);
  else
    put_dirty_from<S, level + 1>(lane, core, line, from);
}

// Newest data go to `level` of the core's path, or beyond.
template <class S, unsigned level>
void SetCaches::put_dirty(Lane& lane, CoreId core, const Line& line) {
  if constexpr (level == S::levels) {
    write_back(lane, line);
  } else {
    Entry* set = own_set(core, level, line);
    const unsigned way = find(set, levels_[level].ways, line.id);
    if (way < levels_[level].ways)
      set[way] |= 1;
    else if constexpr (S::by_evictions(level))
      insert_absent<S, level>(lane, core, line, true);
    else
      put_dirty<S, level + 1>(lane, core, line);
  }
}

template <class S, unsigned level>
void SetCaches::insert(Lane& lane, CoreId core, const Line& line, bool dirty) {
  const unsigned ways = levels_[level].ways;
  Entry* set = own_set(core, level, line);
  const unsigned way = find(set, ways, line.id);
  if (way == ways) return insert_absent<S, level>(lane, core, line, dirty);
  make_first(set, way, set[way] | (dirty ? 1U : 0U));
}

template <class S, unsigned level>
void SetCaches::insert_absent(Lane& lane, CoreId core, const Line& line, bool dirty) {
  const unsigned ways = levels_[level].ways;
  Entry* set = own_set(core, level, line);
  unsigned out = ways - 1;
  const bool full = set[out] != 0;
  if (full && !levels_[level].drawn.empty()) {
    const std::size_t cache = cache_of(core, level);
    out = victim(level, cache, line.set[level]);
    ++levels_[level].drawn[(cache * levels_[level].cache_entries + line.set[level]) / ways];
  }
  const Entry old = set[out];
  make_first(set, out, 2 * line.id + (dirty ? 1 : 0));
  if (level == S::last) states_[line.id].domains |= domain_bit(core);
  if (old != 0) evicted<S, level>(lane, core, old);
}

template <class S, unsigned level>
void SetCaches::evicted(Lane& lane, CoreId core, Entry entry) {
  bool dirty = (entry & 1) != 0;
  const Id id = entry >> 1;
  constexpr bool to_victims = level < S::last && S::by_evictions(level + 1);
  const bool purges = level > 0 && levels_[level].inclusion == Inclusion::inclusive;
  // Behind an inclusive outermost level without a filter a holder's bit only says where to look: to leave it costs less than to look here
  // whether it is still right.
  const bool keeps_holders = level + 1 == S::last && (S::by_evictions(S::last) || filtered());
  if (!dirty && !purges && !to_victims && !keeps_holders && level < S::last) return;
  LineState& known = states_[id];
  if (purges) {
    const Line line = line_of(id, 0, level);
    cores_.for_each_core(known.holders, [&](CoreId other) {
      if (cache_of(other, level) != cache_of(core, level)) return;
      for (unsigned inner = 0; inner < level; ++inner) remove(inner, cache_of(other, inner), line, dirty);
      if (level + 1 >= S::last && cores_.exact()) known.holders &= ~cores_.bit(other);
    });
  } else if (keeps_holders && levels_[level].cores_per_cache == 1) {
    const Line line = line_of(id, 0, level + 1);
    bool held = false;
    for (unsigned inner = 0; inner < level; ++inner) held = held || own_holds(core, inner, line);
    cores_.for_each_core(cores_.bit(core), [&](CoreId other) {  // that share the bit
      for (unsigned inner = 0; inner <= level && other != core; ++inner) held = held || own_holds(other, inner, line);
    });
    if (!held) known.holders &= ~cores_.bit(core);
  }
  if (level + 1 == S::last && filtered()) leave_filter_unless_held(core, id, known);
  if (level == S::last && domains_a_bit_ == 1) known.domains &= ~domain_bit(core);
  if constexpr (to_victims)
    insert<S, level + 1>(lane, core, line_of(id, level + 1, level + 2), dirty);
  else if (dirty)
    put_dirty<S, level + 1>(lane, core, line_of(id, level + 1, S::levels));
}

// A full line goes to memory and replaces whatever the caches hold of it, dirty or not.
void SetCaches::non_temporal(Lane& lane, const Line& line) {
  append(lane.outcome->non_temporal_writes, sample_.stands_for(line_number(line.id)));
  remove_everywhere(line, states_[line.id]);
}

}  // namespace homenode
