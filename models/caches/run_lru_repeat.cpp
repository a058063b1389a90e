// Jumps over rounds that repeat (run_lru.hpp): what is held, and moving it.
#include "models/caches/run_lru.hpp"

namespace homenode {

namespace {

struct HeldLines final : CacheContents {
  std::vector<StackContents> stacks;
  std::uint64_t decided_by_place = 0;
};

}  // namespace

std::uint64_t RunLru::decided_by_place() const {
  std::uint64_t sum = 0;
  for (const Tier& tier : tiers_)
    for (const RecencyStack& stack : tier.stacks) sum += stack.decided_by_place();
  return sum;
}

std::unique_ptr<CacheContents> RunLru::contents() const {
  for (const Tier& tier : tiers_)
    if (!tier.stacks.front().has_contents()) return nullptr;
  auto held = std::make_unique<HeldLines>();
  held->decided_by_place = decided_by_place();
  for (const Tier& tier : tiers_)
    for (const RecencyStack& stack : tier.stacks) held->stacks.push_back(stack.contents());
  return held;
}

bool RunLru::repeats(const CacheContents& before, const LineMoves& moves) const {
  const auto& held = dynamic_cast<const HeldLines&>(before);
  if (held.decided_by_place != decided_by_place()) return false;
  std::size_t stack = 0;
  for (const Tier& tier : tiers_)
    for (const RecencyStack& now : tier.stacks)
      if (!now.holds(held.stacks[stack++], moves)) return false;
  return true;
}

// The directory is a filter, whose bits may be stale: where lines come to lie, one core of those that reach the cache is noted.
void RunLru::move(const LineMoves& moves, std::uint64_t times) {
  for (Tier& tier : tiers_)
    for (std::size_t i = 0; i < tier.stacks.size(); ++i) {
      tier.stacks[i].move(moves, times);
      const CoreMask bit = directory_.bit(CoreId{i * tier.cores_per_cache});
      tier.stacks[i].for_each([&](const LineSegment& segment) {
        const auto last = SharingDirectory::block_of(segment.last - 1);
        for (auto number = SharingDirectory::block_of(segment.first); number <= last; ++number) {
          SharedBlock& block = directory_.block(number);
          block.holders |= bit;
          if (segment.dirty) block.writers |= bit;
        }
      });
    }
}

}  // namespace homenode
