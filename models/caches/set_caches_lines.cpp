// One line on its way through the sets: where it is found, who else loses it, what it pushes out.
#include <algorithm>
#include <cstring>

#include "models/caches/set_caches.hpp"
#include "models/caches/set_lookup.hpp"

namespace homenode {

namespace {

// The first `way` entries move one place back; the first place is free then. From the back, as many at a time as fit in a register.
template <class Entry>
void make_first(Entry* set, unsigned way) {
  struct Four {
    Entry entry[4];
  };
  for (; way >= 4; way -= 4) {
    Four four;
    std::memcpy(&four, set + way - 4, sizeof four);
    std::memcpy(set + way - 3, &four, sizeof four);
  }
  for (; way > 0; --way) set[way] = set[way - 1];
}

}  // namespace

// Frames and states of all lines that have numbers.
void SetCaches::know_new_lines() {
  const unsigned kept = sample_.kept_shift(), lines = sample_.page_shift();
  while (frames_.size() << kept < numbers_.size()) {
    const LineNumber first = numbers_.line(static_cast<Id>((frames_.size() << kept) + 1));
    frames_.push_back(static_cast<std::uint32_t>(mixed_bits((first.value() >> kept) ^ seed_) << lines));
  }
  if (states_.size() <= numbers_.size()) states_.resize(std::max(numbers_.size() + 1, states_.size() * 3 / 2));
}

LineFate SetCaches::pass_line(Lane& lane, CoreId core, const Line& line, Use use) {
  LineFate fate;
  lane.invalidated.clear();
  if (use.non_temporal && !use.reads) {
    non_temporal(lane, line);
    fate.from = LineFate::From::nowhere;
    return fate;
  }
  const bool writes = use.writes && !use.non_temporal;
  std::size_t level = 0;
  unsigned way = 0;
  Entry* set = nullptr;
  for (; level < levels_.size(); ++level) {
    set = own_set(core, level, line);
    way = find(set, levels_[level].ways, line.id);
    if (way < levels_[level].ways) break;
  }
  const bool missed = level == levels_.size();
  fate.level = static_cast<std::uint8_t>(level);
  if (set != nullptr && level == 0 && (!writes || (set[way] & 1) != 0)) {
    const Entry entry = set[way];
    make_first(set, way);
    set[0] = entry;
    if (use.non_temporal) non_temporal(lane, line);
    return fate;
  }
  LineState& known = states_[line.id];
  const bool private_hit = !missed && levels_[level].cores_per_cache == 1;
  const std::uint16_t owner = known.writer;
  if (missed && forwards_clean_) forwarded(core, line, fate);
  bool transferred = false;
  if (writes) {
    const Copies others = take(lane, core, line, known);
    fate.upgrade = others.held && private_hit;
    transferred = others.dirty && !private_hit;
    if (private_hit)
      for (std::size_t outer = level + 1; outer < levels_.size(); ++outer) {
        bool old = false;
        if (levels_[outer].cores_per_cache > 1 && by_evictions(outer)) remove(outer, cache_of(core, outer), line, old);
      }
  } else if (!private_hit && owner != nobody && owner != core.index()) {
    transferred = share(lane, core, line, known, !missed);
  }
  if (transferred) {
    fate.from = LineFate::From::transfer;
    fate.owner = owner;
    fate.dirty = true;
  } else if (missed && fate.from == LineFate::From::cache) {
    fate.from = LineFate::From::memory;
  }
  fill(lane, core, line, known, {level, way}, writes, transferred);
  if (missed && forwards_clean_) known.forwarder = static_cast<std::uint16_t>(1 + cache_of(core, outermost()));
  if (use.non_temporal) non_temporal(lane, line);
  return fate;
}

// Before the access changes anything: whether another outermost cache answers with clean data.
void SetCaches::forwarded(CoreId core, const Line& line, LineFate& fate) {
  const std::uint16_t last = states_[line.id].forwarder;
  if (last == 0 || last - 1U == cache_of(core, outermost()) || !holds(outermost(), last - 1U, line)) return;
  fate.from = LineFate::From::transfer;
  fate.owner = static_cast<std::uint16_t>((last - 1U) * levels_[outermost()].cores_per_cache);
}

// Puts the line into every level on the way in from where it was.
void SetCaches::fill(Lane& lane, CoreId core, const Line& line, LineState& known, Found found, bool writes, bool transferred) {
  auto [level, way] = found;
  known.holders |= cores_.bit(core);
  bool dirty = writes;
  if (level < levels_.size()) {
    Entry* set = own_set(core, level, line);
    if (transferred) way = find(set, levels_[level].ways, line.id);  // what the other core wrote may have come between
    if (way < levels_[level].ways) {
      const Entry entry = set[way];
      const bool was_dirty = (entry & 1) != 0;
      if (!by_evictions(level)) {
        make_first(set, way);
        set[0] = entry;
      } else if (writes || (!transferred && !stays(core, line, known, level, was_dirty))) {
        remove(level, cache_of(core, level), line, dirty);
        if (was_dirty) known.writer = static_cast<std::uint16_t>(core.index());
      } else if (!transferred) {
        make_first(set, way);
        set[0] = entry;
      }
    }
  }
  if (writes) known.writer = static_cast<std::uint16_t>(core.index());
  for (std::size_t inner = level; inner-- > 0;)
    if (!by_evictions(inner)) insert_absent(lane, core, inner, line, inner == 0 && dirty);
  if (level == 0 && writes) own_set(core, 0, line)[0] |= 1;
  if (filtered() && level >= outermost()) enter_filter(lane, core, line.id);
}

// A hit in a level of victims leaves the line where other cores of the domain hold it as well (non_inclusive), and where it
// is the newest copy of a line that anybody else holds.
bool SetCaches::stays(CoreId core, const Line& line, LineState& known, std::size_t level, bool dirty) {
  const bool near = levels_[level].inclusion == Inclusion::non_inclusive;
  if (!dirty && !near) return false;
  bool held = false;
  cores_.for_each_core(known.holders, [&](CoreId other) {
    if (held || other == core || (!dirty && !same_domain(core, other))) return;
    for (std::size_t l = 0; l < outermost() && cache_of(other, l) != cache_of(core, l); ++l) held |= holds(l, cache_of(other, l), line);
  });
  if (dirty)
    for_each_domain(known.domains, [&](std::size_t cache) {
      if (!held && cache != cache_of(core, outermost())) held = holds(outermost(), cache, line);
    });
  return held;
}

SetCaches::Copies SetCaches::take(Lane& lane, CoreId core, const Line& line, LineState& known) {
  Copies copies;
  const CoreMask others = known.holders & ~cores_.only(core);
  cores_.for_each_core(others, [&](CoreId other) {
    if (other == core) return;
    bool held = false;
    for (std::size_t level = 0; level < outermost() && cache_of(other, level) != cache_of(core, level); ++level)
      held |= remove(level, cache_of(other, level), line, copies.dirty);
    if (held) lane.removed_from(cache_of(other, outermost()));
    if (filtered() && !same_domain(core, other)) leave_filter(cache_of(other, outermost()), line.id);
    copies.held |= held;
  });
  known.holders = cores_.bit(core);
  const std::uint32_t domain = domain_bit(core), foreign = domains_a_bit_ == 1 ? known.domains & ~domain : known.domains;
  for_each_domain(foreign, [&](std::size_t cache) {
    if (cache == cache_of(core, outermost()) || !remove(outermost(), cache, line, copies.dirty)) return;
    lane.removed_from(cache);
    copies.held = true;
  });
  known.domains &= domain;
  return copies;
}

bool SetCaches::share(Lane& lane, CoreId core, const Line& line, LineState& known, bool near) {
  const CoreId owner{known.writer};
  if (near && !same_domain(core, owner)) return false;  // a copy in the own domain is good even while another one owns the line
  bool dirty = false;
  std::size_t common = 0;
  for (; common < levels_.size() && cache_of(owner, common) != cache_of(core, common); ++common) {
    Entry* set = own_set(owner, common, line);
    const unsigned way = find(set, levels_[common].ways, line.id);
    if (way == levels_[common].ways) continue;
    dirty |= (set[way] & 1) != 0;
    set[way] &= ~Entry{1};
  }
  if (!dirty) return false;
  const std::size_t last = levels_.size() - 1;
  if (common <= last)
    put_dirty(lane, owner, common, line);
  else if (by_evictions(last))
    put_dirty(lane, owner, last, line);
  else
    write_back(lane, line);
  return true;
}

// Newest data go to `level` of the core's path, or beyond.
void SetCaches::put_dirty(Lane& lane, CoreId core, std::size_t level, const Line& line) {
  for (; level < levels_.size(); ++level) {
    Entry* set = own_set(core, level, line);
    const unsigned way = find(set, levels_[level].ways, line.id);
    if (way < levels_[level].ways) {
      set[way] |= 1;
      return;
    }
    if (by_evictions(level)) return insert(lane, core, level, line, true);
  }
  write_back(lane, line);
}

void SetCaches::insert(Lane& lane, CoreId core, std::size_t index, const Line& line, bool dirty) {
  const unsigned ways = levels_[index].ways;
  Entry* set = own_set(core, index, line);
  const unsigned way = find(set, ways, line.id);
  if (way == ways) return insert_absent(lane, core, index, line, dirty);
  const Entry merged = set[way] | (dirty ? 1U : 0U);
  make_first(set, way);
  set[0] = merged;
}

void SetCaches::insert_absent(Lane& lane, CoreId core, std::size_t index, const Line& line, bool dirty) {
  const unsigned ways = levels_[index].ways;
  const std::size_t cache = cache_of(core, index);
  Entry* set = set_of(index, cache, line);
  const bool full = set[ways - 1] != 0;
  const unsigned out = full ? victim(index, cache, line.set[index]) : ways - 1;
  if (full && !levels_[index].drawn.empty()) ++levels_[index].drawn[(cache * levels_[index].cache_entries + line.set[index]) / ways];
  const Entry old = set[out];
  make_first(set, out);
  set[0] = 2 * line.id + (dirty ? 1 : 0);
  if (index == outermost()) states_[line.id].domains |= domain_bit(core);
  if (old != 0) evicted(lane, core, index, old);
}

void SetCaches::evicted(Lane& lane, CoreId core, std::size_t index, Entry entry) {
  bool dirty = (entry & 1) != 0;
  const Id id = entry >> 1;
  const std::size_t last = outermost();
  const bool to_victims = index < last && by_evictions(index + 1), purges = index > 0 && levels_[index].inclusion == Inclusion::inclusive;
  if (!dirty && !purges && !to_victims && index + 1 < last) return;
  LineState& known = states_[id];
  if (purges) {
    const Line line = line_of(id, 0, index);
    cores_.for_each_core(known.holders, [&](CoreId other) {
      if (cache_of(other, index) != cache_of(core, index)) return;
      for (std::size_t inner = 0; inner < index; ++inner) remove(inner, cache_of(other, inner), line, dirty);
      if (index + 1 >= last && cores_.exact()) known.holders &= ~cores_.bit(other);
    });
  } else if (index + 1 == last && levels_[index].cores_per_cache == 1 && cores_.exact()) {
    const Line line = line_of(id, 0, index);
    bool held = false;
    for (std::size_t inner = 0; inner < index; ++inner) held |= own_holds(core, inner, line);
    if (!held) known.holders &= ~cores_.bit(core);
  }
  if (filtered() && index + 1 == last) leave_filter_unless_held(core, id, known);
  if (index == last && domains_a_bit_ == 1) known.domains &= ~domain_bit(core);
  if (to_victims)
    insert(lane, core, index + 1, line_of(id, index + 1, index + 2), dirty);
  else if (dirty)
    put_dirty(lane, core, index + 1, line_of(id, index + 1, levels_.size()));
}

// A full line goes to memory and replaces whatever the caches hold of it, dirty or not.
void SetCaches::non_temporal(Lane& lane, const Line& line) {
  append(lane.outcome->non_temporal_writes, sample_.stands_for(line_number(line.id)));
  remove_everywhere(line, states_[line.id]);
}

}  // namespace homenode
