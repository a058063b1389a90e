#include "traces/capture/assembler/zero_fill.hpp"

#include <algorithm>

namespace homenode {

namespace {
// Accesses between the allocation and its fill: the pointer is stored, it is compared with null.
constexpr std::uint64_t most_between = 16;
}  // namespace

bool ZeroFill::fits(const Writes& writes, std::uint64_t filled_before) const {
  const std::uint64_t end = writes.base + writes.count * writes.width;
  if (writes.base < low_ || end > low_ + bytes_) return false;
  const std::uint64_t before = (writes.base - low_ + writes.step - 1) / writes.step;  // writes of the fill
  if (writes.sequence < sequence_ + before || writes.sequence > sequence_ + before + most_between + filled_before) return false;
  return std::none_of(kept_.begin(), kept_.end(),
                      [&](const Writes& kept) { return kept.base < end && writes.base < kept.base + kept.count * kept.width; });
}

void ZeroFill::keep(const Writes& writes) {
  const auto earlier = [](const Writes& a, const Writes& b) { return a.base < b.base; };
  kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), writes, earlier), writes);
  kept_bytes_ += writes.count * writes.width;
}

bool ZeroFill::keeps(std::size_t site) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const Writes& kept) { return kept.site == site; });
}

}  // namespace homenode
