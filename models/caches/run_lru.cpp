#include "models/caches/run_lru.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace homenode {

namespace {

constexpr std::size_t most_tiers = 8;

// A group is done at once up to this share of the private tier: the LRU order inside a group is linear by fractions, but
// lines that a group re-reads of itself need smaller steps.
constexpr std::uint64_t group_share = 4;

// Groups of so many streams are gathers: the host waits for memory there, and need not.
constexpr std::size_t many_streams = 8;

// Whether the next level with other users takes what this one evicts.
bool filled_by_victims_of(const Machine& machine, std::size_t level) {
  const auto other_users = [&](const CacheDescription& cache) { return cache.cores_per_cache != machine.caches[level].cores_per_cache; };
  const auto next = std::find_if(machine.caches.begin() + static_cast<std::ptrdiff_t>(level), machine.caches.end(), other_users);
  return next != machine.caches.end() && next->inclusion != Inclusion::inclusive;
}

bool overlap(LineRange a, LineRange b) { return a.first < b.last && b.first < a.last; }

}  // namespace

RunLru::RunLru(const Machine& machine) : directory_(machine.cores()), levels_(machine.caches.size()) {
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
    if (tiers_.empty() || tiers_.back().cores_per_cache != cache.cores_per_cache) {
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
    levels.push_back({capacities_.back(), chance ? cache.ways : 0});
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
      if (writes && !piece.dirty) upgrade(core, piece.lines, outcome);
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
  const auto hit = [&](const Demand& demand, std::uint64_t lines, unsigned level) {
    if (demand.served) return;
    outcome.hit_lines[tier.first_level + level] += lines;
    outcome.hit_weight[tier.first_level + level] += static_cast<double>(lines) / static_cast<double>(group[demand.touch].parallelism);
  };

  tier.pieces.clear();
  std::uint64_t lines = 0;
  for (unsigned i = 0; i < demands_.size(); ++i) {
    if (demands_[i].served && filled_by_victims) {  // what was transferred passes by; a store makes an old copy useless
      if (group[demands_[i].touch].writes) stack.remove(demands_[i].lines, [](LineRange, bool, std::uint16_t) {});
      continue;
    }
    if (demands_[i].spilled && filled_by_victims) {
      hit(demands_[i], demands_[i].lines.size(), 0);
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
    if (held) hit(demand, piece.lines.size(), piece.level);
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
    missed_.push_back({piece.lines, demand.touch, demand.served, piece.present && !last});
  }
  if (!filled_by_victims)
    for (std::size_t i = 0; i < demands_.size(); ++i) stack.touch(demands_[i].lines, false, 0, tier.absent[i] != 0);
  if (group_begun) {
    stack.end_group();
    evict(t, own, outcome);
  }
}

// A hit in a tier of victims leaves the line when other cores of the domain hold it as well (non_inclusive), and when it is
// the newest copy of lines that anybody else holds: newest data lie in an inner tier only while nobody else holds them.
bool RunLru::stays_for_others(std::size_t t, CoreId core, const StackPiece& piece) {
  if (!piece.dirty && tiers_[t].inclusion != Inclusion::non_inclusive) return false;
  CoreMask mask = 0;
  for (auto block = SharingDirectory::block_of(piece.lines.first); block <= SharingDirectory::block_of(piece.lines.last - 1); ++block)
    mask |= directory_.block(block).holders;
  bool stays = false;
  for_each_foreign_stack(core, mask & ~directory_.only(core), [&](RecencyStack& stack, CoreId other) {
    if (!stays && (piece.dirty || stack_of(t, other) == stack_of(t, core))) stays = stack.any(piece.lines);
  });
  return stays;
}

// Lines that the innermost tier misses: those whose newest copy another core has come from there.
void RunLru::fetch(CoreId core, LineRange lines, unsigned touch, bool writes, bool spilled, float parallelism, CacheOutcome& outcome) {
  LineRange contested = lines;
  const CoreMask mask = contenders(core, contested, writes);
  if (mask == 0) {
    demands_.push_back({lines, touch, false, spilled});
    return;
  }
  if (writes)
    invalidate_others(core, contested, mask);
  else
    downgrade_owner(core, contested, mask, outcome);
  LineNumber at = lines.first;
  for (const DirtyCopy& part : newest_) {
    if (part.lines.first > at) demands_.push_back({{at, part.lines.first}, touch, false, spilled});
    demands_.push_back({part.lines, touch, true, spilled});
    outcome.transfers.push_back({part.lines, CoreId{part.writer}, parallelism});
    at = part.lines.last;
  }
  if (at < lines.last) demands_.push_back({{at, lines.last}, touch, false, spilled});
  prune_directory(core, contested, mask);
}

// A store to lines that the core holds clean: an older copy in a tier of victims is of no more use, other cores' go.
void RunLru::upgrade(CoreId core, LineRange lines, CacheOutcome& outcome) {
  for (std::size_t t = 1; t < tiers_.size(); ++t)
    if (victim(t)) tiers_[t].stacks[stack_of(t, core)].remove(lines, [](LineRange, bool, std::uint16_t) {});
  const CoreMask mask = contenders(core, lines, true);
  if (mask == 0) return;
  invalidate_others(core, lines, mask);
  for (const DirtyCopy& part : held_) outcome.upgrades += part.lines.size();
  prune_directory(core, lines, mask);
}

// A full line goes to memory and replaces whatever the caches hold of it, dirty or not.
void RunLru::non_temporal(LineRange lines, CacheOutcome& outcome) {
  outcome.non_temporal_writes.push_back(lines);
  CacheOutcome ignored;
  drop(lines, true, ignored);
}

CoreMask RunLru::contenders(CoreId core, LineRange& lines, bool writes) {
  const CoreMask bit = directory_.bit(core), only = directory_.only(core);
  const auto first = SharingDirectory::block_of(lines.first), last = SharingDirectory::block_of(lines.last - 1);
  CoreMask mask = 0;
  std::uint64_t contested_first = 0, contested_last = 0;
  for (auto number = first; number <= last; ++number) {
    SharedBlock& block = directory_.block(number);
    const CoreMask others = (writes ? block.holders : block.writers) & ~only;
    if (others != 0) {
      if (mask == 0) contested_first = number;
      contested_last = number;
      mask |= others;
    }
    block.holders |= bit;
    if (writes) block.writers |= bit;
  }
  if (mask != 0)
    lines = {std::max(lines.first, SharingDirectory::lines_of(contested_first).first),
             std::min(lines.last, SharingDirectory::lines_of(contested_last).last)};
  return mask;
}

template <class Each>
void RunLru::for_each_foreign_stack(CoreId core, CoreMask mask, Each&& each) {
  std::array<std::size_t, most_tiers> previous;
  previous.fill(std::numeric_limits<std::size_t>::max());
  directory_.for_each_core(mask, [&](CoreId other) {
    for (std::size_t t = 0; t < tiers_.size(); ++t) {
      const std::size_t stack = stack_of(t, other);
      if (stack == stack_of(t, core)) break;  // from here on the paths are one
      if (stack == previous[t]) continue;
      previous[t] = stack;
      each(tiers_[t].stacks[stack], other);
    }
  });
}

void RunLru::invalidate_others(CoreId core, LineRange lines, CoreMask mask) {
  newest_.clear();
  held_.clear();
  for_each_foreign_stack(core, mask, [&](RecencyStack& stack, CoreId) {
    stack.remove(lines, [&](LineRange part, bool dirty, std::uint16_t writer) {
      held_.push_back({part, writer});
      if (dirty) newest_.push_back({part, writer});
    });
  });
  keep_only_union(newest_);
  keep_only_union(held_);
}

void RunLru::downgrade_owner(CoreId core, LineRange lines, CoreMask mask, CacheOutcome& outcome) {
  newest_.clear();
  const std::size_t outermost = tiers_.size() - 1;
  // A copy in the own domain is good even while another domain owns the line.
  held_.clear();
  if (victim(outermost)) {
    Tier& tier = tiers_[outermost];
    tier.pieces.clear();
    tier.stacks[stack_of(outermost, core)].look_up(lines, 0, tier.pieces);
    for (const StackPiece& piece : tier.pieces)
      if (!piece.present) held_.push_back({piece.lines, 0});
  } else {
    held_.push_back({lines, 0});
  }
  for_each_foreign_stack(core, mask, [&](RecencyStack& stack, CoreId other) {
    const auto found = [&](LineRange part, std::uint16_t writer) { newest_.push_back({part, writer}); };
    if (same_domain(core, other))
      stack.clean(lines, found);
    else
      for (const DirtyCopy& part : held_) stack.clean(part.lines, found);
  });
  keep_only_union(newest_);
  for (const DirtyCopy& part : newest_) {
    const CoreId owner{part.writer};
    std::size_t t = 0;
    while (t < outermost && stack_of(t, owner) != stack_of(t, core)) ++t;
    if (same_domain(owner, core) || victim(outermost))
      merge_dirty(t, stack_of(t, owner), part.lines, part.writer, outcome);
    else
      outcome.writebacks.push_back(part.lines);
  }
}

// Clears the bits of cores that hold nothing any more, so that data which moved on cost nothing again.
void RunLru::prune_directory(CoreId core, LineRange lines, CoreMask mask) {
  for (auto number = SharingDirectory::block_of(lines.first); number <= SharingDirectory::block_of(lines.last - 1); ++number) {
    SharedBlock& block = directory_.block(number);
    const LineRange whole = SharingDirectory::lines_of(number);
    for (CoreMask rest = mask & (block.holders | block.writers); rest != 0; rest &= rest - 1) {
      const CoreMask bit = rest & ~(rest - 1);
      bool held = false, dirty = false;
      directory_.for_each_core(bit, [&](CoreId other) {
        for (std::size_t t = 0; t < tiers_.size(); ++t) {
          const RecencyStack& stack = tiers_[t].stacks[stack_of(t, other)];
          held |= (stack_of(t, other) != stack_of(t, core) || other == core) && stack.any(whole);
          dirty |= stack.any_dirty(whole);
        }
      });
      if (!held) block.holders &= ~bit;
      if (!dirty) block.writers &= ~bit;
    }
  }
}

// Sorted, disjoint; of parts that overlap the earlier one stands.
void RunLru::keep_only_union(std::vector<DirtyCopy>& parts) {
  if (parts.size() < 2) return;
  std::stable_sort(parts.begin(), parts.end(), [](const DirtyCopy& a, const DirtyCopy& b) { return a.lines.first < b.lines.first; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    DirtyCopy part = parts[i];
    part.lines.first = std::max(part.lines.first, parts[kept].lines.last);
    if (part.lines.first < part.lines.last) parts[++kept] = part;
  }
  parts.resize(kept + 1);
}

void RunLru::merge_dirty(std::size_t t, std::size_t index, LineRange lines, std::uint16_t writer, CacheOutcome& outcome) {
  std::vector<LineRange> absent;
  RecencyStack& stack = tiers_[t].stacks[index];
  stack.mark_dirty(lines, writer, [&](LineRange part) { absent.push_back(part); });
  if (absent.empty()) return;
  if (t > 0 && victim(t)) {
    stack.begin_group();
    for (const LineRange& part : absent) stack.touch(part, true, writer);
    stack.end_group();
    evict(t, index, outcome);
    return;
  }
  for (const LineRange& part : absent) {
    if (t + 1 == tiers_.size())
      outcome.writebacks.push_back(part);
    else
      merge_dirty(t + 1, index * tiers_[t].cores_per_cache / tiers_[t + 1].cores_per_cache, part, writer, outcome);
  }
}

void RunLru::evict(std::size_t t, std::size_t index, CacheOutcome& outcome) {
  Tier& tier = tiers_[t];
  auto& evicted = tier.evicted;
  evicted.clear();
  tier.stacks[index].evict([&](const Segment& segment) { evicted.push_back(segment); });
  if (evicted.empty()) return;
  const bool last = t + 1 == tiers_.size();
  const std::size_t next = last ? 0 : index * tier.cores_per_cache / tiers_[t + 1].cores_per_cache;
  const bool to_victim = !last && victim(t + 1);
  if (to_victim) tiers_[t + 1].stacks[next].begin_group();
  for (const Segment& segment : evicted) {
    const LineRange lines{segment.first, segment.last};
    held_.clear();
    if (segment.dirty) held_.push_back({lines, segment.writer});
    if (t > 0 && tier.inclusion == Inclusion::inclusive) {
      CoreMask mask = 0;
      for (auto block = SharingDirectory::block_of(lines.first); block <= SharingDirectory::block_of(lines.last - 1); ++block)
        mask |= directory_.block(block).holders;
      directory_.for_each_core(mask, [&](CoreId core) {
        if (stack_of(t, core) != index) return;
        for (std::size_t inner = 0; inner < t; ++inner)
          tiers_[inner].stacks[stack_of(inner, core)].remove(lines, [&](LineRange part, bool dirty, std::uint16_t writer) {
            if (dirty) held_.push_back({part, writer});
          });
      });
      keep_only_union(held_);
    }
    if (to_victim) {
      RecencyStack& stack = tiers_[t + 1].stacks[next];
      stack.touch(lines, false, 0);
      for (const DirtyCopy& part : held_) stack.mark_dirty(part.lines, part.writer, [](LineRange) {});
    } else {
      for (const DirtyCopy& part : held_) {
        if (last)
          outcome.writebacks.push_back(part.lines);
        else
          merge_dirty(t + 1, next, part.lines, part.writer, outcome);
      }
    }
  }
  if (to_victim) {
    tiers_[t + 1].stacks[next].end_group();
    evict(t + 1, next, outcome);
  }
}

void RunLru::drop(LineRange lines, bool discard, CacheOutcome& outcome) {
  if (lines.size() == 0) return;
  const auto last = SharingDirectory::block_of(lines.last - 1);
  auto number = SharingDirectory::block_of(lines.first);
  while (number <= last) {
    const SharedBlock* block = directory_.find(number);
    if (!block) {
      number = SharingDirectory::next_chunk(number);
      continue;
    }
    const CoreMask mask = block->holders;
    const auto begin = number;
    for (; number <= last && (block = directory_.find(number)) && block->holders == mask; ++number) {
      const LineRange whole = SharingDirectory::lines_of(number);
      if (whole.first >= lines.first && whole.last <= lines.last) directory_.block(number) = {};
    }
    if (mask == 0) continue;
    const LineRange part{std::max(lines.first, SharingDirectory::lines_of(begin).first),
                         std::min(lines.last, SharingDirectory::lines_of(number - 1).last)};
    newest_.clear();
    std::array<std::size_t, most_tiers> previous;
    previous.fill(std::numeric_limits<std::size_t>::max());
    directory_.for_each_core(mask, [&](CoreId core) {
      for (std::size_t t = 0; t < tiers_.size(); ++t) {
        const std::size_t stack = stack_of(t, core);
        if (stack == previous[t]) continue;
        previous[t] = stack;
        tiers_[t].stacks[stack].remove(part, [&](LineRange removed, bool dirty, std::uint16_t writer) {
          if (dirty) newest_.push_back({removed, writer});
        });
      }
    });
    if (discard) continue;
    keep_only_union(newest_);
    for (const DirtyCopy& newest : newest_) outcome.writebacks.push_back(newest.lines);
  }
}

void RunLru::flush(CacheOutcome& outcome) {
  newest_.clear();
  for (Tier& tier : tiers_)
    for (RecencyStack& stack : tier.stacks) {
      const std::size_t begin = newest_.size();
      stack.for_each([&](const Segment& segment) {
        if (segment.dirty) newest_.push_back({{segment.first, segment.last}, segment.writer});
      });
      for (std::size_t i = begin; i < newest_.size(); ++i) stack.clean(newest_[i].lines, [](LineRange, std::uint16_t) {});
    }
  keep_only_union(newest_);
  for (const DirtyCopy& newest : newest_) outcome.writebacks.push_back(newest.lines);
}

}  // namespace homenode
