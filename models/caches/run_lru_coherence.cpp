// Who holds what, and what becomes of it: transfers, upgrades, evictions.
#include <algorithm>
#include <array>
#include <limits>

#include "models/caches/run_lru.hpp"

namespace homenode {

namespace {

constexpr std::size_t most_tiers = 8;

}  // namespace

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
    demands_.push_back({.lines = lines, .touch = touch, .spilled = spilled});
    return;
  }
  if (writes)
    invalidate_others(core, contested, mask, outcome);
  else
    downgrade_owner(core, contested, mask, outcome);
  LineNumber at = lines.first;
  for (const DirtyCopy& part : newest_) {
    if (part.lines.first > at) demand({at, part.lines.first}, touch, spilled, writes);
    demands_.push_back({.lines = part.lines, .touch = touch, .served = true, .spilled = spilled});
    outcome.transfers.push_back({part.lines, CoreId{part.writer}, parallelism});
    at = part.lines.last;
  }
  if (at < lines.last) demand({at, lines.last}, touch, spilled, writes);
  prune_directory(core, contested, mask);
}

// Lines whose newest copy is not another core's. A store has just invalidated the clean copies in shared_.
void RunLru::demand(LineRange lines, unsigned touch, bool spilled, bool writes) {
  LineNumber at = lines.first;
  const auto ask = [&](LineNumber to, std::uint64_t invalidated) {
    if (at < to) demands_.push_back({.lines = {at, to}, .touch = touch, .spilled = spilled, .invalidated = invalidated});
    at = std::max(at, to);
  };
  if (writes)
    for (const SharedCopies& part : shared_) {
      ask(std::min(lines.last, part.lines.first), 0);
      ask(std::min(lines.last, part.lines.last), part.domains);
    }
  ask(lines.last, 0);
}

// A store to lines that the core holds clean: an older copy in a tier of victims is of no more use, other cores' go.
void RunLru::upgrade(CoreId core, LineRange lines, unsigned level, float parallelism, CacheOutcome& outcome) {
  for (std::size_t t = 1; t < tiers_.size(); ++t)
    if (victim(t)) tiers_[t].stacks[stack_of(t, core)].remove(lines, [](LineRange, bool, std::uint16_t) {});
  const CoreMask mask = contenders(core, lines, true);
  if (mask == 0) return;
  invalidate_others(core, lines, mask, outcome);
  for (const SharedCopies& part : shared_) {
    outcome.upgrades += part.lines.size();
    outcome.upgraded.push_back({part.lines, part.domains, level, parallelism});
  }
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

// Lines that the last level of another domain has lost may still be in its stack (RecencyStack::evict): they serve nobody.
void RunLru::take_out_lost(RecencyStack& stack, CoreId other, LineRange lines) {
  const std::size_t outermost = tiers_.size() - 1;
  if (&stack != &tiers_[outermost].stacks[stack_of(outermost, other)]) return;
  lost_.clear();
  stack.look_up(lines, 0, lost_);
  stack.classify(lost_, 0);
  for (const StackPiece& piece : lost_) {
    if (!piece.present || piece.level < tiers_[outermost].levels) continue;
    if (piece.dirty) lost_dirty_.push_back(piece.lines);
    stack.remove(piece.lines, [](LineRange, bool, std::uint16_t) {});
  }
}

// Of the dirty lines taken out, those that nobody has newer.
void RunLru::report_lost(CacheOutcome& outcome) {
  for (LineRange lost : lost_dirty_) {
    for (const DirtyCopy& part : newest_) {
      if (part.lines.last <= lost.first) continue;
      if (part.lines.first >= lost.last) break;
      if (lost.first < part.lines.first) outcome.written_earlier.push_back({lost.first, part.lines.first});
      lost.first = std::min(lost.last, part.lines.last);
    }
    if (lost.first < lost.last) outcome.written_earlier.push_back(lost);
  }
  lost_dirty_.clear();
}

void RunLru::invalidate_others(CoreId core, LineRange lines, CoreMask mask, CacheOutcome& outcome) {
  newest_.clear();
  shared_.clear();
  for_each_foreign_stack(core, mask, [&](RecencyStack& stack, CoreId other) {
    take_out_lost(stack, other, lines);
    stack.remove(lines, [&](LineRange part, bool dirty, std::uint16_t writer) {
      shared_.push_back({part, domains_.bit_of(other)});
      if (dirty) newest_.push_back({part, writer});
    });
  });
  keep_only_union(newest_);
  report_lost(outcome);
  join_copies(shared_);
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
    if (same_domain(core, other)) return stack.clean(lines, found);
    for (const DirtyCopy& part : held_) {
      take_out_lost(stack, other, part.lines);
      stack.clean(part.lines, found);
    }
  });
  keep_only_union(newest_);
  report_lost(outcome);
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

// Sorted, disjoint; parts that overlap are of the domains of both.
void RunLru::join_copies(std::vector<SharedCopies>& parts) {
  if (parts.size() < 2) return;
  std::sort(parts.begin(), parts.end(), [](const SharedCopies& a, const SharedCopies& b) { return a.lines.first < b.lines.first; });
  cuts_.clear();
  for (const SharedCopies& part : parts) cuts_.insert(cuts_.end(), {part.lines.first, part.lines.last});
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  joined_.clear();
  std::size_t first = 0;  // of the parts, the first that does not end before the cut
  for (std::size_t cut = 0; cut + 1 < cuts_.size(); ++cut) {
    while (first < parts.size() && parts[first].lines.last <= cuts_[cut]) ++first;
    std::uint64_t domains = 0;
    for (std::size_t i = first; i < parts.size() && parts[i].lines.first <= cuts_[cut]; ++i)
      if (parts[i].lines.last > cuts_[cut]) domains |= parts[i].domains;
    if (domains == 0) continue;
    if (!joined_.empty() && joined_.back().lines.last == cuts_[cut] && joined_.back().domains == domains)
      joined_.back().lines.last = cuts_[cut + 1];
    else
      joined_.push_back({{cuts_[cut], cuts_[cut + 1]}, domains});
  }
  parts.swap(joined_);
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
  // Of this tier: merge_dirty may evict from the tiers further out, never from this one or those inside.
  auto& evicted = tier.evicted;
  auto& dirty = tier.dirty;
  evicted.clear();
  tier.stacks[index].evict([&](const LineSegment& segment) { evicted.push_back(segment); });
  if (evicted.empty()) return;
  const bool last = t + 1 == tiers_.size();
  const std::size_t next = last ? 0 : index * tier.cores_per_cache / tiers_[t + 1].cores_per_cache;
  const bool to_victim = !last && victim(t + 1);
  if (to_victim) tiers_[t + 1].stacks[next].begin_group();
  for (const LineSegment& segment : evicted) {
    const LineRange lines{segment.first, segment.last};
    dirty.clear();
    if (segment.dirty) dirty.push_back({lines, segment.writer});
    if (t > 0 && tier.inclusion == Inclusion::inclusive) {
      CoreMask mask = 0;
      for (auto block = SharingDirectory::block_of(lines.first); block <= SharingDirectory::block_of(lines.last - 1); ++block)
        mask |= directory_.block(block).holders;
      directory_.for_each_core(mask, [&](CoreId core) {
        if (stack_of(t, core) != index) return;
        for (std::size_t inner = 0; inner < t; ++inner)
          tiers_[inner].stacks[stack_of(inner, core)].remove(lines, [&](LineRange part, bool is_dirty, std::uint16_t writer) {
            if (is_dirty) dirty.push_back({part, writer});
          });
      });
      keep_only_union(dirty);
    }
    if (to_victim) {
      RecencyStack& stack = tiers_[t + 1].stacks[next];
      stack.touch(lines, false, 0);
      for (const DirtyCopy& part : dirty) stack.mark_dirty(part.lines, part.writer, [](LineRange) {});
    } else {
      for (const DirtyCopy& part : dirty) {
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
      stack.for_each([&](const LineSegment& segment) {
        if (segment.dirty) newest_.push_back({{segment.first, segment.last}, segment.writer});
      });
      for (std::size_t i = begin; i < newest_.size(); ++i) stack.clean(newest_[i].lines, [](LineRange, std::uint16_t) {});
    }
  keep_only_union(newest_);
  for (const DirtyCopy& newest : newest_) outcome.writebacks.push_back(newest.lines);
}

}  // namespace homenode
