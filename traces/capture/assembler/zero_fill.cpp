#include "traces/capture/assembler/zero_fill.hpp"

#include <algorithm>

namespace homenode {

namespace {
// Accesses between the allocation and its fill: the pointer is stored, it is compared with null.
constexpr std::uint64_t most_between = 16;
}  // namespace

void ZeroFill::expect(std::uint64_t address, std::uint64_t bytes, std::uint64_t sequence) {
  low_ = address, bytes_ = bytes, sequence_ = sequence, kept_bytes_ = 0;
}

bool ZeroFill::keep(const Writes& writes) {
  const std::uint64_t end = writes.base + writes.count * writes.width;
  if (writes.base < low_ || end > low_ + bytes_) return false;
  const std::uint64_t before = (writes.base - low_ + writes.step - 1) / writes.step;  // writes of the fill
  if (writes.sequence < sequence_ + before || writes.sequence > sequence_ + before + most_between) return false;
  const auto overlaps = [&](const Writes& kept) { return kept.base < end && writes.base < kept.base + kept.count * kept.width; };
  if (std::any_of(kept_.begin(), kept_.end(), overlaps)) return false;
  kept_.push_back(writes);
  kept_bytes_ += writes.count * writes.width;
  return true;
}

bool ZeroFill::keeps(std::size_t site) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const Writes& kept) { return kept.site == site; });
}

std::vector<ZeroFill::Writes> ZeroFill::close() {
  bytes_ = kept_bytes_ = 0;
  std::vector<Writes> kept;
  kept.swap(kept_);
  std::sort(kept.begin(), kept.end(), [](const Writes& a, const Writes& b) { return a.base < b.base; });
  return kept;
}

}  // namespace homenode
