#include "models/caches/set_caches.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "models/caches/set_lookup.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/mixed_bits.hpp"

namespace homenode {

// Its sets, of a sample, and what follows from them.
void SetCaches::spread(Level& level, std::uint64_t line, unsigned one_in) const {
  level.scaled = !sample_.all() && level.sets % (LineSample::page_bytes / line) != 0;
  if (level.scaled) level.sets = std::max((level.sets + one_in / 2) / one_in, 1U);
  level.set_mask = std::has_single_bit(level.sets) ? level.sets - 1 : 0;
  level.cache_entries = std::uint64_t{level.sets} * level.slices * level.ways;
}

SetCaches::SetCaches(const Machine& machine, std::uint64_t seed, bool forwards_clean, unsigned one_in)
    : cores_(machine.cores()),
      domain_bits_(machine),
      sample_(machine, one_in, seed),
      seed_(mixed_bits(seed + 0x9e3779b97f4a7c15ULL)),
      forwards_clean_(forwards_clean) {
  if (machine.caches.size() > most_levels)
    throw UsageError("machine '" + machine.name + "' has " + std::to_string(machine.caches.size()) +
                     " cache levels; the caches by lines allow at most " + std::to_string(most_levels));
  for (const CacheDescription& description : machine.caches) {
    Level& level = levels_.emplace_back();
    const auto line = static_cast<std::uint64_t>(description.line.count());
    const std::uint64_t lines = static_cast<std::uint64_t>(description.size.count()) / line;
    level.ways = static_cast<unsigned>(std::min<std::uint64_t>(std::max(description.ways, 1U), lines));
    level.cores_per_cache = description.cores_per_cache;
    level.inclusion = description.inclusion;
    level.slices = std::max(description.slices, 1U);
    level.sets = static_cast<std::uint32_t>(std::max<std::uint64_t>(lines / level.ways / level.slices, 1));
    spread(level, line, one_in);
    level.random_frames = levels_.size() > 1;
    level.by_id = sample_.all() && std::has_single_bit(level.sets) && level.sets <= LineNumbers::chunk_lines;
    domains_ = (machine.cores() + level.cores_per_cache - 1) / level.cores_per_cache;
    level.first_entry = entries_.size();
    entries_.resize(entries_.size() + level.cache_entries * domains_, 0);
    if (description.victim == Victim::random) level.drawn.assign(level.cache_entries * domains_ / level.ways, 0);
  }
  if (!machine.caches.empty() && machine.caches.back().snoop_filter.value_or(Bytes{}) > Bytes{})
    describe_filter(machine.caches.back(), one_in);
  of_shape_ = of_shape();
  missed_.resize(sample_.kept());
  domains_a_bit_ = (domains_ + 31) / 32;
  path_.resize(machine.cores() * most_levels);
  first_entry_.resize(path_.size());
  for (std::size_t core = 0; core < machine.cores(); ++core)
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const std::size_t place = core * most_levels + l;
      path_[place] = static_cast<std::uint32_t>(core / levels_[l].cores_per_cache);
      first_entry_[place] = levels_[l].first_entry + path_[place] * levels_[l].cache_entries;
    }
}

void SetCaches::expect(CoreId core, std::span<const LineTouch> group) {
  const std::size_t first = ahead_.size();
  line_up(group);
  expected_.push_back(ahead_.size() - first);
  if (!lanes_.lanes.empty()) return;  // `begin` goes on
  for (std::size_t next = first; next < std::min(ahead_.size(), passed_ + lines_ahead); ++next) prefetch(core, ahead_[next].line);
}

// Of lines that wait for `begin`, which has them pass on one thread after all.
void SetCaches::find_sets_ahead(CoreId core) {
  for (Ahead& next : ahead_) find_sets(next.line, next.line.id, 0, levels_.size());
  for (std::size_t next = 0; next < std::min(ahead_.size(), lines_ahead); ++next) prefetch(core, ahead_[next].line);
}

void SetCaches::access(CoreId core, std::span<const LineTouch> group, CacheOutcome& outcome) {
  if (outcome.hit_lines.size() < levels_.size()) {
    outcome.hit_lines.resize(levels_.size(), 0);
    outcome.hit_weight.resize(levels_.size(), 0.0);
  }
  for (const LineTouch& touch : group) {
    outcome.accesses += touch.accesses;
    all_touches_ += touch.lines.size();
  }
  if (expected_.empty()) {
    expect(core, group);
    begin(core);
  }
  if (lanes_.beside) {
    note_next(outcome, expected_.front());
  } else {
    whole_.outcome = &outcome;
    pass_next(core, expected_.front());
  }
  expected_.pop_front();
  if (!expected_.empty()) return;
  ahead_.clear();
  passed_ = 0;
  lanes_.beside = false;
}

// Streams of a group advance together: one line of each in turn, in proportion to their lengths. So single lines come in the last turn.
void SetCaches::line_up(std::span<const LineTouch> group) {
  if (!sample_.all()) return line_up_kept(group);
  std::uint64_t longest = 0;
  streams_.clear();
  for (const LineTouch& touch : group) {
    longest = std::max(longest, touch.lines.size());
    if (touch.lines.size() > 1) streams_.push_back({&touch, touch.lines.first, 0});
  }
  for (std::uint64_t turn = 0; turn + 1 < longest; ++turn)
    for (Stream& stream : streams_) {
      stream.part += stream.touch->lines.size();
      if (stream.part < longest) continue;
      stream.part -= longest;
      line_up(stream.next++, *stream.touch);
    }
  for (const LineTouch& touch : group)
    if (touch.lines.size() > 0) line_up(touch.lines.last - 1, touch);
}

// The same of a sample, which has few of the lines: those are found, and put in order by their turns.
void SetCaches::line_up_kept(std::span<const LineTouch> group) {
  std::uint64_t longest = 0;
  for (const LineTouch& touch : group) longest = std::max(longest, touch.lines.size());
  turns_.clear();
  for (const LineTouch& touch : group) {
    const std::uint64_t size = touch.lines.size();
    sample_.for_each(touch.lines, [&](LineNumber line) {
      const std::uint64_t place = line - touch.lines.first;
      // The first turn by whose end place + 1 lines have come: turn + 1 = (place + 1) longest / size, rounded up.
      turns_.push_back({size == longest ? place : ((place + 1) * longest + size - 1) / size - 1, &touch, line});
    });
  }
  std::sort(turns_.begin(), turns_.end(),
            [](const Turn& a, const Turn& b) { return a.number != b.number ? a.number < b.number : a.touch < b.touch; });
  for (const Turn& turn : turns_) line_up(turn.line, *turn.touch);
}

void SetCaches::line_up(LineNumber line, const LineTouch& touch) {
  Ahead& next = ahead_.emplace_back();
  next.number = line;
  next.touch = &touch;
  const Id id = numbered(line);
  if (lanes_.lanes.empty()) return find_sets(next.line, id, 0, levels_.size());
  next.line.id = id;
  lanes_.lanes[lane_of(id)].asked.push_back({id, Use{touch}});
}

// Asks the host for what lines will need, and later for what those need that they push out; then the lines one by one.
void SetCaches::pass_next(CoreId core, std::size_t count) {
  const std::size_t begin = passed_, end = passed_ + count;
  const auto ask_for_victims = [&](Ahead& next) {
    if (!own_holds(core, 0, next.line)) next.moved_to = prefetch_victims(core, next.line, 0);
  };
  if (begin == 0)
    for (std::size_t next = 0; next < std::min(victims_ahead, ahead_.size()); ++next) ask_for_victims(ahead_[next]);
  for (; passed_ < end; ++passed_) {
    if (passed_ + lines_ahead < ahead_.size()) prefetch(core, ahead_[passed_ + lines_ahead].line);
    if (passed_ + victims_ahead < ahead_.size()) ask_for_victims(ahead_[passed_ + victims_ahead]);
    if (passed_ + last_victims_ahead < ahead_.size() && ahead_[passed_ + last_victims_ahead].moved_to != no_set)
      prefetch_last_victim(core, ahead_[passed_ + last_victims_ahead].moved_to);
    const Ahead& next = ahead_[passed_];
    LineFate fate;
    pass_line(whole_, core, next.line, Use{*next.touch}, fate);
    note(*whole_.outcome, fate, next, domains_of(whole_));
  }
  kept_touches_ += count;
}

std::uint64_t SetCaches::domains_of(const Lane& lane) const {
  std::uint64_t domains = 0;
  for (const std::uint32_t cache : lane.invalidated) domains |= domain_bits_.bit_of_cache(cache);
  return domains;
}

LineFate SetCaches::access_line(CoreId core, LineNumber number, const LineTouch& touch, CacheOutcome& outcome) {
  whole_.outcome = &outcome;
  LineFate fate;
  pass_line(whole_, core, line_of(numbered(number)), Use{touch}, fate);
  return fate;
}

void SetCaches::prefetch_tables(CoreId core, LineNumber far, LineNumber near, std::size_t before) const {
  if (const Id id = find_id(far); id != 0) prefetch(core, line_of(id));
  if (const Id id = find_id(near); id != 0) prefetch_victims(core, line_of(id), before);
}

void SetCaches::note(CacheOutcome& outcome, const LineFate& fate, const Ahead& line, std::uint64_t domains) {
  const LineNumber number = line.number;
  const LineTouch& touch = *line.touch;
  const std::uint64_t lines = sample_.one_in();
  outcome.upgrades += fate.upgrade ? lines : 0;
  switch (fate.from) {
    case LineFate::From::nowhere: return;
    case LineFate::From::cache:
      outcome.hit_lines[fate.level] += lines;
      outcome.hit_weight[fate.level] += static_cast<double>(lines) / static_cast<double>(touch.parallelism);
      if (touch.lines.size() <= ShortHit::most) outcome.note_hit(LineRange{number, number + 1}, fate.level);
      if (domains != 0) note_upgrade(outcome, fate, line, domains);
      return;
    case LineFate::From::transfer: {
      auto& transfers = outcome.transfers;
      const LineRange moved = sample_.stands_for(number);
      if (!transfers.empty() && transfers.back().lines.last == moved.first && transfers.back().owner.index() == fate.owner &&
          transfers.back().parallelism == touch.parallelism)
        transfers.back().lines.last = moved.last;
      else
        transfers.push_back({moved, CoreId{fate.owner}, touch.parallelism});
      return;
    }
    case LineFate::From::memory: {
      if (!sample_.all()) ++missed_[sample_.place(line.line.id - 1)];
      auto& reads = outcome.reads;
      const LineRange read = sample_.stands_for(number);
      if (!reads.empty() && reads.back().lines.last == read.first && reads.back().parallelism == touch.parallelism)
        reads.back().lines.last = read.last;
      else
        reads.push_back({read, touch.parallelism});
      return;
    }
  }
}

// Of a line that others lost.
void SetCaches::note_upgrade(CacheOutcome& outcome, const LineFate& fate, const Ahead& line, std::uint64_t domains) {
  const LineTouch& touch = *line.touch;
  const LineRange lines = sample_.stands_for(line.number);
  auto& upgraded = outcome.upgraded;
  if (!upgraded.empty() && upgraded.back().lines.last == lines.first && upgraded.back().domains == domains &&
      upgraded.back().level == fate.level && upgraded.back().parallelism == touch.parallelism)
    upgraded.back().lines.last = lines.last;
  else
    upgraded.push_back({lines, domains, fate.level, touch.parallelism});
}

SetCaches::Held SetCaches::held(CoreId core, LineNumber number) {
  Held held;
  const Id id = find_id(number);
  if (id == 0) return held;
  const Line line = line_of(id);
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

void SetCaches::drop(LineRange lines, bool discard, CacheOutcome& outcome) {
  for (LineNumber number = lines.first; number < lines.last; ++number) {
    if (!sample_.has(number)) continue;
    const Id id = find_id(number);
    if (id == 0) {  // nor does anything of its chunk
      number = LineNumber{number.value() | (LineNumbers::chunk_lines - 1)};
      continue;
    }
    if (id >= states_.size()) continue;
    // An inclusive outermost level has all that the caches inside it have.
    const bool nowhere = states_[id].domains == 0 && (!by_evictions(outermost()) || states_[id].holders == 0);
    if (nowhere) continue;
    if (remove_everywhere(line_of(id), states_[id]) && !discard) append(outcome.writebacks, sample_.stands_for(number));
  }
}

// The kept lines of a page are a sample without replacement of its lines (W. G. Cochran, Sampling Techniques, 1977, chapter 2): the
// standard error of their sum. Not below what the sample says wrongly of the touches, whose number is known: lines that many touch may all
// have been left out.
double SetCaches::sampling_error() const {
  if (sample_.all() || all_touches_ == 0) return 0;
  const auto kept = static_cast<double>(missed_.size());
  double sum = 0, squares = 0;
  for (const std::uint64_t missed : missed_) {
    sum += static_cast<double>(missed);
    squares += static_cast<double>(missed) * static_cast<double>(missed);
  }
  const double variance = std::max(0.0, squares - sum * sum / kept) / (kept - 1);
  const double spread = sum > 0 ? std::sqrt(variance * kept * (1 - 1.0 / sample_.one_in())) / sum : 0;
  const double touches = static_cast<double>(kept_touches_) * sample_.one_in() / static_cast<double>(all_touches_);
  return std::max(spread, std::abs(touches - 1));
}

void SetCaches::flush(CacheOutcome& outcome) {
  outcome.sampling_error = sampling_error();
  std::vector<LineNumber> dirty;
  for (Entry& entry : entries_) {
    if ((entry & 1) == 0) continue;
    entry &= ~Entry{1};
    states_[entry >> 1].writer = nobody;
    dirty.push_back(line_number(entry >> 1));
  }
  std::sort(dirty.begin(), dirty.end());
  dirty.erase(std::unique(dirty.begin(), dirty.end()), dirty.end());
  for (const LineNumber line : dirty) append(outcome.writebacks, sample_.stands_for(line));
}

}  // namespace homenode
