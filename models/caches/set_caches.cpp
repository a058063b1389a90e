#include "models/caches/set_caches.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "sim/base/errors.hpp"
#include "sim/machine/mixed_bits.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace homenode {

namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::size_t batch = 64;  // lines whose tables are asked for ahead of use

// The first `way` entries move one place back; the first place is free then.
template <class Entry>
void make_first(Entry* set, unsigned way) {
  for (unsigned w = way; w > 0; --w) set[w] = set[w - 1];
}

void append(std::vector<LineRange>& ranges, LineNumber line) {
  if (!ranges.empty() && ranges.back().last == line)
    ++ranges.back().last;
  else
    ranges.push_back({line, line + 1});
}

}  // namespace

inline unsigned SetCaches::find(const Entry* set, unsigned ways, Id id) {
  const Entry key = 2 * id + 1;
  unsigned way = 0;
#if defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(key)), one = _mm_set1_epi32(1);
  for (; way + 4 <= ways; way += 4) {
    const __m128i four = _mm_or_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(set + way)), one);
    const auto found = static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted))));
    if (found != 0) return way + static_cast<unsigned>(std::countr_zero(found));
  }
#endif
  for (; way < ways; ++way)
    if ((set[way] | 1) == key) return way;
  return ways;
}

SetCaches::SetCaches(const Machine& machine, std::uint64_t seed, bool forwards_clean)
    : cores_(machine.cores()), seed_(mixed_bits(seed + 0x9e3779b97f4a7c15ULL)), forwards_clean_(forwards_clean) {
  if (machine.caches.size() > most_levels)
    throw UsageError("machine '" + machine.name + "' has " + std::to_string(machine.caches.size()) +
                     " cache levels; the caches by lines allow at most " + std::to_string(most_levels));
  for (const CacheDescription& description : machine.caches) {
    Level& level = levels_.emplace_back();
    const auto line = static_cast<std::uint64_t>(description.line.count());
    page_shift_ = static_cast<unsigned>(std::countr_zero(std::max<std::uint64_t>(page_bytes / line, 1)));
    page_mask_ = (std::uint32_t{1} << page_shift_) - 1;
    const std::uint64_t lines = static_cast<std::uint64_t>(description.size.count()) / line;
    level.ways = static_cast<unsigned>(std::min<std::uint64_t>(std::max(description.ways, 1U), lines));
    level.cores_per_cache = description.cores_per_cache;
    level.inclusion = description.inclusion;
    level.slices = std::max(description.slices, 1U);
    level.sets = static_cast<std::uint32_t>(std::max<std::uint64_t>(lines / level.ways / level.slices, 1));
    level.set_mask = std::has_single_bit(level.sets) ? level.sets - 1 : 0;
    level.cache_entries = std::uint64_t{level.sets} * level.slices * level.ways;
    level.random_frames = levels_.size() > 1;
    domains_ = (machine.cores() + level.cores_per_cache - 1) / level.cores_per_cache;
    level.entries.assign(level.cache_entries * domains_, 0);
  }
  domains_a_bit_ = (domains_ + 31) / 32;
  path_.resize(machine.cores() * most_levels);
  for (std::size_t core = 0; core < machine.cores(); ++core)
    for (std::size_t l = 0; l < levels_.size(); ++l)
      path_[core * most_levels + l] = static_cast<std::uint32_t>(core / levels_[l].cores_per_cache);
}

inline std::uint32_t SetCaches::set_in(const Level& level, LineNumber number, std::uint32_t frame) const {
  const std::uint32_t physical = level.random_frames ? frame : static_cast<std::uint32_t>(number);
  std::uint32_t set = level.set_mask != 0 || level.sets == 1 ? physical & level.set_mask : physical % level.sets;
  if (level.slices > 1) set += static_cast<std::uint32_t>((mixed_bits(frame) >> 32) * level.slices >> 32) * level.sets;
  return set * level.ways;
}

inline SetCaches::Line SetCaches::line_of(LineNumber number, Id id) const {
  Line line;
  line.id = id;
  line.number = number;
  const std::uint32_t frame = frame_of(id);
  for (std::size_t l = 0; l < levels_.size(); ++l) line.set[l] = set_in(levels_[l], number, frame);
  return line;
}

inline SetCaches::Id SetCaches::numbered(LineNumber number) {
  const Id id = numbers_.number(number);
  if (id > frames_.size() << page_shift_) {
    while (frames_.size() << page_shift_ < numbers_.size()) {
      const LineNumber first = numbers_.line(static_cast<Id>((frames_.size() << page_shift_) + 1));
      frames_.push_back(static_cast<std::uint32_t>(mixed_bits((first >> page_shift_) ^ seed_) << page_shift_));
    }
    if (states_.size() <= numbers_.size()) states_.resize(std::max(numbers_.size() + 1, states_.size() * 3 / 2));
  }
  return id;
}

bool SetCaches::remove(std::size_t level, std::size_t cache, const Line& line, bool& dirty) {
  Entry* set = set_of(level, cache, line);
  const unsigned ways = levels_[level].ways, way = find(set, ways, line.id);
  if (way == ways) return false;
  dirty |= (set[way] & 1) != 0;
  std::copy(set + way + 1, set + ways, set + way);
  set[ways - 1] = 0;
  return true;
}

template <class Each>
void SetCaches::for_each_domain(std::uint32_t mask, Each&& each) const {
  for (; mask != 0; mask &= mask - 1) {
    const std::size_t first = static_cast<std::size_t>(std::countr_zero(mask)) * domains_a_bit_;
    for (std::size_t cache = first; cache < std::min(first + domains_a_bit_, domains_); ++cache) each(cache);
  }
}

void SetCaches::write_back(const Line& line) {
  append(outcome_->writebacks, line.number);
  states_[line.id].writer = nobody;
}

void SetCaches::access(CoreId core, std::span<const LineTouch> group, CacheOutcome& outcome) {
  outcome_ = &outcome;
  if (outcome.hit_lines.size() < levels_.size()) {
    outcome.hit_lines.resize(levels_.size(), 0);
    outcome.hit_weight.resize(levels_.size(), 0.0);
  }
  // Streams of a group advance together: one line of each in turn, in proportion to their lengths.
  std::uint64_t longest = 0;
  for (const LineTouch& touch : group) {
    outcome.accesses += touch.accesses;
    longest = std::max(longest, touch.lines.size());
  }
  ahead_.clear();
  for (std::uint64_t step = 0; step < longest; ++step)
    for (const LineTouch& touch : group) {
      const std::uint64_t size = touch.lines.size();
      const std::uint64_t end = touch.lines.first + (step + 1) * size / longest;
      for (LineNumber line = touch.lines.first + step * size / longest; line < end; ++line) {
        ahead_.push_back({line_of(line, numbered(line)), &touch});
        if (ahead_.size() == batch) access_ahead(core);
      }
    }
  access_ahead(core);
}

// Asks the host for what the lines will need and for what those need that they push out; then the lines one by one.
void SetCaches::access_ahead(CoreId core) {
  if (ahead_.empty()) return;
  if (ahead_.size() > 1) {
    const std::size_t last = levels_.size() - 1;
    for (const Ahead& next : ahead_) {
      for (std::size_t level = 1; level <= last; ++level) __builtin_prefetch(set_of(level, cache_of(core, level), next.line));
      __builtin_prefetch(&states_[next.line.id]);
    }
    for (const Ahead& next : ahead_) {
      const Entry oldest = set_of(last, cache_of(core, last), next.line)[levels_[last].ways - 1];
      if (oldest != 0) __builtin_prefetch(&states_[oldest >> 1]);
    }
  }
  for (const Ahead& next : ahead_) note(pass_line(core, next.line, *next.touch), next.line.number, *next.touch);
  ahead_.clear();
}

LineFate SetCaches::access_line(CoreId core, LineNumber number, const LineTouch& touch, CacheOutcome& outcome) {
  outcome_ = &outcome;
  return pass_line(core, line_of(number, numbered(number)), touch);
}

void SetCaches::prefetch_tables(CoreId core, LineNumber far, LineNumber near, std::size_t before) const {
  const std::size_t last = outermost();
  if (const Id id = numbers_.find(far); id != 0) {
    const std::uint32_t frame = frame_of(id);
    for (std::size_t level = 1; level <= last; ++level) prefetch_set(level, cache_of(core, level), set_in(levels_[level], far, frame));
    __builtin_prefetch(&states_[id]);
  }
  const Id id = numbers_.find(near);
  if (id == 0) return;
  // What goes from level to level, each time the oldest of a set.
  const auto oldest = [&](std::size_t level, Id of, std::size_t younger = 0) {
    const std::uint32_t set = set_in(levels_[level], numbers_.line(of), frame_of(of));
    const std::size_t way = levels_[level].ways - 1 - younger % levels_[level].ways;
    return levels_[level].entries[cache_of(core, level) * levels_[level].cache_entries + set + way];
  };
  if (const Entry out = oldest(last, id); out != 0) __builtin_prefetch(&states_[out >> 1]);
  Entry out = 0;
  Id in = id;
  for (std::size_t level = 0; level < last; ++level) {
    if (level > 0 && !by_evictions(level)) in = id;
    out = oldest(level, in, level == 0 ? before : 0);
    if (out == 0) return;
    in = out >> 1;
  }
  __builtin_prefetch(&states_[in]);
  if ((out & 1) != 0 || by_evictions(last))
    prefetch_set(last, cache_of(core, last), set_in(levels_[last], numbers_.line(in), frame_of(in)));
}

void SetCaches::note(const LineFate& fate, LineNumber number, const LineTouch& touch) {
  outcome_->upgrades += fate.upgrade;
  switch (fate.from) {
    case LineFate::From::nowhere:
      return;
    case LineFate::From::cache:
      ++outcome_->hit_lines[fate.level];
      outcome_->hit_weight[fate.level] += 1.0 / static_cast<double>(touch.parallelism);
      return;
    case LineFate::From::transfer: {
      auto& transfers = outcome_->transfers;
      if (!transfers.empty() && transfers.back().lines.last == number && transfers.back().owner.index() == fate.owner &&
          transfers.back().parallelism == touch.parallelism)
        ++transfers.back().lines.last;
      else
        transfers.push_back({{number, number + 1}, CoreId{fate.owner}, touch.parallelism});
      return;
    }
    case LineFate::From::memory: {
      auto& reads = outcome_->reads;
      if (!reads.empty() && reads.back().lines.last == number && reads.back().parallelism == touch.parallelism)
        ++reads.back().lines.last;
      else
        reads.push_back({{number, number + 1}, touch.parallelism});
      return;
    }
  }
}

LineFate SetCaches::pass_line(CoreId core, const Line& line, const LineTouch& touch) {
  LineFate fate;
  invalidated_.clear();
  if (touch.non_temporal && !touch.reads) {
    non_temporal(line);
    fate.from = LineFate::From::nowhere;
    return fate;
  }
  const bool writes = touch.writes && !touch.non_temporal;
  std::size_t level = 0;
  unsigned way = 0;
  Entry* set = nullptr;
  for (; level < levels_.size(); ++level) {
    set = set_of(level, cache_of(core, level), line);
    way = find(set, levels_[level].ways, line.id);
    if (way < levels_[level].ways) break;
  }
  const bool missed = level == levels_.size();
  fate.level = static_cast<std::uint8_t>(level);
  if (set != nullptr && level == 0 && (!writes || (set[way] & 1) != 0)) {
    const Entry entry = set[way];
    make_first(set, way);
    set[0] = entry;
    if (touch.non_temporal) non_temporal(line);
    return fate;
  }
  LineState& known = states_[line.id];
  const bool private_hit = !missed && levels_[level].cores_per_cache == 1;
  const std::uint16_t owner = known.writer;
  if (missed && forwards_clean_) forwarded(core, line, fate);
  bool transferred = false;
  if (writes) {
    const Copies others = take(core, line, known);
    fate.upgrade = others.held && private_hit;
    transferred = others.dirty && !private_hit;
    if (private_hit)
      for (std::size_t outer = level + 1; outer < levels_.size(); ++outer) {
        bool old = false;
        if (levels_[outer].cores_per_cache > 1 && by_evictions(outer)) remove(outer, cache_of(core, outer), line, old);
      }
  } else if (!private_hit && owner != nobody && owner != core.index()) {
    transferred = share(core, line, known, !missed);
  }
  if (transferred) {
    fate.from = LineFate::From::transfer;
    fate.owner = owner;
    fate.dirty = true;
  } else if (missed && fate.from == LineFate::From::cache) {
    fate.from = LineFate::From::memory;
  }
  fill(core, line, known, level, writes, transferred);
  if (missed && forwards_clean_) known.forwarder = static_cast<std::uint16_t>(1 + cache_of(core, outermost()));
  if (touch.non_temporal) non_temporal(line);
  return fate;
}

// Before the access changes anything: whether another outermost cache answers with clean data.
void SetCaches::forwarded(CoreId core, const Line& line, LineFate& fate) {
  const std::uint16_t last = states_[line.id].forwarder;
  if (last == 0 || last - 1U == cache_of(core, outermost()) || !holds(outermost(), last - 1U, line)) return;
  fate.from = LineFate::From::transfer;
  fate.owner = static_cast<std::uint16_t>((last - 1U) * levels_[outermost()].cores_per_cache);
}

SetCaches::Held SetCaches::held(CoreId core, LineNumber number) {
  Held held;
  const Id id = numbers_.find(number);
  if (id == 0) return held;
  const Line line = line_of(number, id);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::size_t caches = (path_.size() / most_levels + levels_[level].cores_per_cache - 1) / levels_[level].cores_per_cache;
    for (std::size_t cache = 0; cache < caches; ++cache) {
      const Entry* set = set_of(level, cache, line);
      const unsigned way = find(set, levels_[level].ways, line.id);
      if (way == levels_[level].ways) continue;
      const bool dirty = (set[way] & 1) != 0;
      const bool here = cache == cache_of(core, level);
      (here ? held.here : held.elsewhere) = true;
      if (dirty) (here ? held.dirty_here : held.dirty_elsewhere) = true;
    }
  }
  return held;
}

// Puts the line into every level on the way in from where it was.
void SetCaches::fill(CoreId core, const Line& line, LineState& known, std::size_t level, bool writes, bool transferred) {
  known.holders |= cores_.bit(core);
  bool dirty = writes;
  if (level < levels_.size()) {
    Entry* set = set_of(level, cache_of(core, level), line);
    const unsigned way = find(set, levels_[level].ways, line.id);
    if (way < levels_[level].ways) {
      const bool was_dirty = (set[way] & 1) != 0;
      if (!by_evictions(level)) {
        std::rotate(set, set + way, set + way + 1);
      } else if (writes || (!transferred && !stays(core, line, known, level, was_dirty))) {
        remove(level, cache_of(core, level), line, dirty);
        if (was_dirty) known.writer = static_cast<std::uint16_t>(core.index());
      } else if (!transferred) {
        std::rotate(set, set + way, set + way + 1);
      }
    }
  }
  if (writes) known.writer = static_cast<std::uint16_t>(core.index());
  for (std::size_t inner = level; inner-- > 0;)
    if (!by_evictions(inner)) insert_absent(core, inner, line, inner == 0 && dirty);
  if (level == 0 && writes) set_of(0, cache_of(core, 0), line)[0] |= 1;
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

SetCaches::Copies SetCaches::take(CoreId core, const Line& line, LineState& known) {
  Copies copies;
  const CoreMask others = known.holders & ~cores_.only(core);
  cores_.for_each_core(others, [&](CoreId other) {
    if (other == core) return;
    bool held = false;
    for (std::size_t level = 0; level < outermost() && cache_of(other, level) != cache_of(core, level); ++level)
      held |= remove(level, cache_of(other, level), line, copies.dirty);
    if (held) removed_from(cache_of(other, outermost()));
    copies.held |= held;
  });
  known.holders = cores_.bit(core);
  const std::uint32_t domain = domain_bit(core), foreign = domains_a_bit_ == 1 ? known.domains & ~domain : known.domains;
  for_each_domain(foreign, [&](std::size_t cache) {
    if (cache == cache_of(core, outermost()) || !remove(outermost(), cache, line, copies.dirty)) return;
    removed_from(cache);
    copies.held = true;
  });
  known.domains &= domain;
  return copies;
}

bool SetCaches::share(CoreId core, const Line& line, LineState& known, bool near) {
  const CoreId owner{known.writer};
  if (near && !same_domain(core, owner)) return false;  // a copy in the own domain is good even while another one owns the line
  bool dirty = false;
  std::size_t common = 0;
  for (; common < levels_.size() && cache_of(owner, common) != cache_of(core, common); ++common) {
    Entry* set = set_of(common, cache_of(owner, common), line);
    const unsigned way = find(set, levels_[common].ways, line.id);
    if (way == levels_[common].ways) continue;
    dirty |= (set[way] & 1) != 0;
    set[way] &= ~Entry{1};
  }
  if (!dirty) return false;
  const std::size_t last = levels_.size() - 1;
  if (common <= last)
    put_dirty(owner, common, line);
  else if (by_evictions(last))
    put_dirty(owner, last, line);
  else
    write_back(line);
  return true;
}

// Newest data go to `level` of the core's path, or beyond.
void SetCaches::put_dirty(CoreId core, std::size_t level, const Line& line) {
  for (; level < levels_.size(); ++level) {
    Entry* set = set_of(level, cache_of(core, level), line);
    const unsigned way = find(set, levels_[level].ways, line.id);
    if (way < levels_[level].ways) {
      set[way] |= 1;
      return;
    }
    if (by_evictions(level)) return insert(core, level, line, true);
  }
  write_back(line);
}

void SetCaches::insert(CoreId core, std::size_t index, const Line& line, bool dirty) {
  const unsigned ways = levels_[index].ways;
  Entry* set = set_of(index, cache_of(core, index), line);
  const unsigned way = find(set, ways, line.id);
  if (way == ways) return insert_absent(core, index, line, dirty);
  const Entry merged = set[way] | (dirty ? 1U : 0U);
  make_first(set, way);
  set[0] = merged;
}

void SetCaches::insert_absent(CoreId core, std::size_t index, const Line& line, bool dirty) {
  const unsigned ways = levels_[index].ways;
  Entry* set = set_of(index, cache_of(core, index), line);
  const Entry old = set[ways - 1];
  make_first(set, ways - 1);
  set[0] = 2 * line.id + (dirty ? 1 : 0);
  if (index == outermost()) states_[line.id].domains |= domain_bit(core);
  if (old != 0) evicted(core, index, old);
}

void SetCaches::evicted(CoreId core, std::size_t index, Entry entry) {
  bool dirty = (entry & 1) != 0;
  const Id id = entry >> 1;
  const std::size_t last = outermost();
  const bool to_victims = index < last && by_evictions(index + 1), purges = index > 0 && levels_[index].inclusion == Inclusion::inclusive;
  if (!dirty && !purges && !to_victims && index + 1 < last) return;
  const Line line = line_of(id);
  LineState& known = states_[id];
  if (purges) {
    cores_.for_each_core(known.holders, [&](CoreId other) {
      if (cache_of(other, index) != cache_of(core, index)) return;
      for (std::size_t inner = 0; inner < index; ++inner) remove(inner, cache_of(other, inner), line, dirty);
      if (index + 1 >= last && cores_.exact()) known.holders &= ~cores_.bit(other);
    });
  } else if (index + 1 == last && levels_[index].cores_per_cache == 1 && cores_.exact()) {
    bool held = false;
    for (std::size_t inner = 0; inner < index; ++inner) held |= holds(inner, cache_of(core, inner), line);
    if (!held) known.holders &= ~cores_.bit(core);
  }
  if (index == last && domains_a_bit_ == 1) known.domains &= ~domain_bit(core);
  if (to_victims)
    insert(core, index + 1, line, dirty);
  else if (dirty)
    put_dirty(core, index + 1, line);
}

bool SetCaches::remove_everywhere(const Line& line, LineState& known) {
  bool dirty = false;
  cores_.for_each_core(known.holders, [&](CoreId core) {
    for (std::size_t level = 0; level < outermost(); ++level) remove(level, cache_of(core, level), line, dirty);
  });
  for_each_domain(known.domains, [&](std::size_t cache) { remove(outermost(), cache, line, dirty); });
  known = {.forwarder = known.forwarder};
  return dirty;
}

// A full line goes to memory and replaces whatever the caches hold of it, dirty or not.
void SetCaches::non_temporal(const Line& line) {
  append(outcome_->non_temporal_writes, line.number);
  remove_everywhere(line, states_[line.id]);
}

void SetCaches::drop(LineRange lines, bool discard, CacheOutcome& outcome) {
  outcome_ = &outcome;
  for (LineNumber number = lines.first; number < lines.last; ++number) {
    const Id id = numbers_.find(number);
    if (id == 0) {  // nor does anything of its chunk
      number |= LineNumbers::chunk_lines - 1;
      continue;
    }
    if (id >= states_.size() || (states_[id].holders == 0 && states_[id].domains == 0)) continue;
    if (remove_everywhere(line_of(number, id), states_[id]) && !discard) append(outcome.writebacks, number);
  }
}

void SetCaches::flush(CacheOutcome& outcome) {
  std::vector<LineNumber> dirty;
  for (Level& level : levels_)
    for (Entry& entry : level.entries) {
      if ((entry & 1) == 0) continue;
      entry &= ~Entry{1};
      states_[entry >> 1].writer = nobody;
      dirty.push_back(numbers_.line(entry >> 1));
    }
  std::sort(dirty.begin(), dirty.end());
  dirty.erase(std::unique(dirty.begin(), dirty.end()), dirty.end());
  for (const LineNumber line : dirty) append(outcome.writebacks, line);
}

}  // namespace homenode
