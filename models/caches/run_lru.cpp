#include "models/caches/run_lru.hpp"

#include <algorithm>

namespace homenode {

namespace {

// A group is done at once up to this share of the private tier: the LRU order inside a group is linear by fractions, but
// lines that a group re-reads of itself need smaller steps.
constexpr std::uint64_t group_share = 4;

// Groups of so many streams are gathers: the host waits for memory there, and need not.
constexpr std::size_t many_streams = 8;

// Levels of one tier have the same users and are LRU.
bool starts_tier(const std::vector<CacheDescription>& caches, std::size_t level) {
  if (level == 0) return true;
  const CacheDescription &inner = caches[level - 1], &outer = caches[level];
  return inner.cores_per_cache != outer.cores_per_cache || inner.victim == Victim::random || outer.victim == Victim::random;
}

// Whether the next tier takes what this level evicts.
bool filled_by_victims_of(const Machine& machine, std::size_t level) {
  std::size_t next = level + 1;
  while (next < machine.caches.size() && !starts_tier(machine.caches, next)) ++next;
  return next < machine.caches.size() && machine.caches[next].inclusion != Inclusion::inclusive;
}

bool overlap(LineRange a, LineRange b) { return a.first < b.last && b.first < a.last; }

}  // namespace

RunLru::RunLru(const Machine& machine) : directory_(machine.cores()), domains_(machine), levels_(machine.caches.size()) {
  std::vector<StackLevel> levels;
  const auto finish_tier = [&] {
    Tier& tier = tiers_.back();
    tier.levels = static_cast<unsigned>(levels.size());
    const std::size_t count = (machine.cores() + tier.cores_per_cache - 1) / tier.cores_per_cache;
    tier.stacks.reserve(count);
    const auto bounds = std::make_shared<const StackBounds>(levels);
    for (std::size_t i = 0; i < count; ++i) tier.stacks.emplace_back(bounds);
    levels.clear();
  };
  for (std::size_t level = 0; level < levels_; ++level) {
    const CacheDescription& cache = machine.caches[level];
    if (starts_tier(machine.caches, level)) {
      if (!tiers_.empty()) finish_tier();
      Tier& tier = tiers_.emplace_back();
      tier.cores_per_cache = cache.cores_per_cache;
      tier.first_level = static_cast<unsigned>(level);
      tier.inclusion = level == 0 ? Inclusion::inclusive : cache.inclusion;
    }
    const auto lines = static_cast<std::uint64_t>(cache.size.count() / cache.line.count());
    const std::uint64_t inner = levels.empty() ? 0 : levels.back().lines;
    capacities_.push_back(cache.inclusion == Inclusion::exclusive ? inner + lines : std::max(inner, lines));
    // The first level is indexed within a page: nothing about its sets is random. And what falls out of an inner level early, by the
    // chance of its set, is held by a tier of victims and takes room there: that room is known only if the inner level has no such chance.
    const bool chance = level > 0 && !filled_by_victims_of(machine, level);
    levels.push_back({capacities_.back(), chance ? cache.ways : 0, cache.victim});
  }
  finish_tier();
  std::uint64_t private_lines = 0;
  for (std::size_t level = 0; level < tiers_[0].levels; ++level)
    private_lines += static_cast<std::uint64_t>(machine.caches[level].size.count() / machine.caches[level].line.count());
  group_limit_ = std::max<std::uint64_t>(16, private_lines / group_share);
}

void RunLru::access(CoreId core, std::span<const LineTouch> group, CacheOutcome& outcome) {
  if (outcome.hit_lines.size() < levels_) {
    outcome.hit_lines.resize(levels_, 0);
    outcome.hit_weight.resize(levels_, 0.0);
  }
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const LineTouch& touch = group[i];
    if (i > 0 && touch.lines.first < group[i - 1].lines.last) {
      const auto twice = [&](const LineTouch& earlier) { return overlap(earlier.lines, touch.lines); };
      if (std::any_of(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(i), twice)) {
        // Touched twice in one group: in two groups, one after the other.
        step(core, group.first(i), lines, outcome);
        access(core, group.subspan(i), outcome);
        return;
      }
    }
    outcome.accesses += touch.accesses;
    lines += touch.lines.size();
  }
  step(core, group, lines, outcome);
}

void RunLru::step(CoreId core, std::span<const LineTouch> group, std::uint64_t lines, CacheOutcome& outcome) {
  if (lines == 0) return;
  if (lines <= group_limit_) return innermost(core, group, lines, outcome);
  const std::uint64_t steps = (lines + group_limit_ - 1) / group_limit_;
  auto& chunk = tiers_[0].chunk;
  for (std::uint64_t i = 0; i < steps; ++i) {
    chunk.clear();
    std::uint64_t chunk_lines = 0;
    for (const LineTouch& touch : group) {
      const std::uint64_t size = touch.lines.size();
      const LineRange part{touch.lines.first + size * i / steps, touch.lines.first + size * (i + 1) / steps};
      if (part.size() == 0) continue;
      chunk.push_back(touch);
      chunk.back().lines = part;
      chunk_lines += part.size();
    }
    innermost(core, chunk, chunk_lines, outcome);
  }
}

void RunLru::prefetch(CoreId core, std::span<const LineTouch> group) {
  for (const LineTouch& touch : group) {
    for (std::size_t t = 0; t < tiers_.size(); ++t) tiers_[t].stacks[stack_of(t, core)].prefetch_table(touch.lines.first);
    directory_.prefetch(SharingDirectory::block_of(touch.lines.first));
  }
  // What they will push out, if the caches are full.
  for (std::size_t t = 0; t < tiers_.size(); ++t)
    tiers_[t].stacks[stack_of(t, core)].for_each_oldest(group.size(), [&](LineNumber line) {
      for (std::size_t inner = 0; inner <= t; ++inner) tiers_[inner].stacks[stack_of(inner, core)].prefetch_table(line);
      if (t > 0) directory_.prefetch(SharingDirectory::block_of(line));
    });
  for (std::size_t t = 0; t < tiers_.size(); ++t) {
    const RecencyStack& stack = tiers_[t].stacks[stack_of(t, core)];
    for (const LineTouch& touch : group) stack.prefetch_segment(touch.lines.first);
  }
}

void RunLru::innermost(CoreId core, std::span<const LineTouch> group, std::uint64_t lines, CacheOutcome& outcome) {
  Tier& tier = tiers_[0];
  const std::size_t own = stack_of(0, core);
  RecencyStack& stack = tier.stacks[own];
  const auto self = static_cast<std::uint16_t>(core.index());
  const auto cached = [](const LineTouch& touch) { return !touch.non_temporal || touch.reads; };

  if (group.size() > many_streams) prefetch(core, group);
  tier.pieces.clear();
  bool any_bypass = false;
  for (unsigned i = 0; i < group.size(); ++i) {
    if (cached(group[i]))
      stack.look_up(group[i].lines, i, tier.pieces);
    else
      lines -= group[i].lines.size();
    any_bypass |= group[i].non_temporal;
  }
  stack.classify(tier.pieces, lines);

  demands_.clear();
  tier.absent.assign(group.size(), false);
  for (const StackPiece& piece : tier.pieces) {
    const LineTouch& touch = group[piece.touch];
    tier.absent[piece.touch] = !piece.present && piece.lines.size() == touch.lines.size();
    const bool writes = touch.writes && !touch.non_temporal;
    if (piece.level < tier.levels) {
      outcome.hit_lines[piece.level] += piece.lines.size();
      outcome.hit_weight[piece.level] += static_cast<double>(piece.lines.size()) / static_cast<double>(touch.parallelism);
      outcome.note_hit(piece.lines, piece.level);
      if (writes && !piece.dirty) upgrade(core, piece.lines, piece.level, touch.parallelism, outcome);
    } else {
      if (tiers_.size() == 1 && piece.present && piece.dirty) {  // evicted and written back before this access
        stack.clean(piece.lines, [&](LineRange part, std::uint16_t) { outcome.writebacks.push_back(part); });
      }
      fetch(core, piece.lines, piece.touch, writes, piece.present, touch.parallelism, outcome);
    }
  }

  stack.begin_group();
  for (std::size_t i = 0; i < group.size(); ++i)
    if (cached(group[i])) stack.touch(group[i].lines, group[i].writes && !group[i].non_temporal, self, tier.absent[i] != 0);
  stack.end_group();
  // Lines that move inwards from a tier of victims leave room there for what they push out.
  const bool swaps = tiers_.size() > 1 && victim(1);
  if (!swaps) evict(0, own, outcome);

  for (std::size_t t = 1; t < tiers_.size() && !demands_.empty(); ++t) {
    outer(t, core, group, outcome);
    std::swap(demands_, missed_);
  }
  if (swaps) evict(0, own, outcome);
  if (group.size() > many_streams)
    for (std::size_t t = 0; t < tiers_.size(); ++t) tiers_[t].stacks[stack_of(t, core)].prefetch_oldest(2 * group.size());
  for (const Demand& demand : demands_)
    if (!demand.served) outcome.reads.push_back({demand.lines, group[demand.touch].parallelism});

  if (any_bypass)
    for (const LineTouch& touch : group)
      if (touch.non_temporal) non_temporal(touch.lines, outcome);
}

void RunLru::outer(std::size_t t, CoreId core, std::span<const LineTouch> group, CacheOutcome& outcome) {
  Tier& tier = tiers_[t];
  const std::size_t own = stack_of(t, core);
  RecencyStack& stack = tier.stacks[own];
  const bool last = t + 1 == tiers_.size(), filled_by_victims = victim(t);
  const auto hit = [&](const Demand& demand, LineRange lines, unsigned level) {
    if (demand.served) return;
    const float parallelism = group[demand.touch].parallelism;
    outcome.hit_lines[tier.first_level + level] += lines.size();
    outcome.hit_weight[tier.first_level + level] += static_cast<double>(lines.size()) / static_cast<double>(parallelism);
    outcome.note_hit(lines, tier.first_level + level);
    if (demand.invalidated != 0) outcome.upgraded.push_back({lines, demand.invalidated, tier.first_level + level, parallelism});
  };

  tier.pieces.clear();
  std::uint64_t lines = 0;
  for (unsigned i = 0; i < demands_.size(); ++i) {
    if (demands_[i].served && filled_by_victims) {  // what was transferred passes by; a store makes an old copy useless
      if (group[demands_[i].touch].writes) stack.remove(demands_[i].lines, [](LineRange, bool, std::uint16_t) {});
      continue;
    }
    if (demands_[i].spilled && filled_by_victims) {
      hit(demands_[i], demands_[i].lines, 0);
      continue;
    }
    lines += demands_[i].lines.size();
    stack.look_up(demands_[i].lines, i, tier.pieces);
  }
  stack.classify(tier.pieces, lines);

  missed_.clear();
  tier.absent.assign(demands_.size(), false);
  bool group_begun = false;
  if (!filled_by_victims) {
    stack.begin_group();
    group_begun = true;
  }
  RecencyStack& innermost_stack = tiers_[0].stacks[stack_of(0, core)];
  for (const StackPiece& piece : tier.pieces) {
    const Demand& demand = demands_[piece.touch];
    tier.absent[piece.touch] = !piece.present && piece.lines.size() == demand.lines.size();
    const bool held = piece.level < tier.levels;
    if (held) hit(demand, piece.lines, piece.level);
    if (filled_by_victims && piece.present) {
      const bool stays = held && !group[demand.touch].writes && stays_for_others(t, core, piece);
      if (stays) {
        if (!group_begun) stack.begin_group();
        group_begun = true;
        stack.touch(piece.lines, false, 0);
      } else {
        stack.remove(piece.lines, [&](LineRange part, bool dirty, std::uint16_t writer) {
          if (!dirty) return;
          if (held || !last) {
            innermost_stack.mark_dirty(part, writer, [&](LineRange absent) { outcome.writebacks.push_back(absent); });
            for (auto block = SharingDirectory::block_of(part.first); block <= SharingDirectory::block_of(part.last - 1); ++block)
              directory_.block(block).writers |= directory_.bit(core);
          } else {
            outcome.writebacks.push_back(part);
          }
        });
      }
    }
    if (held) continue;
    if (last && !filled_by_victims && piece.present && piece.dirty)
      stack.clean(piece.lines, [&](LineRange part, std::uint16_t) { outcome.writebacks.push_back(part); });
    missed_.push_back({piece.lines, demand.touch, demand.served, piece.present && !last, demand.invalidated});
  }
  if (!filled_by_victims)
    for (std::size_t i = 0; i < demands_.size(); ++i) stack.touch(demands_[i].lines, false, 0, tier.absent[i] != 0);
  if (group_begun) {
    stack.end_group();
    evict(t, own, outcome);
  }
}

}  // namespace homenode
