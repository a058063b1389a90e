#include "models/heap/size_classes.hpp"

#include <algorithm>
#include <bit>

namespace homenode {
namespace {

constexpr std::uint64_t least_step = 8, most_moved = 32, moved_bytes = 64 * 1024;

// Rounding up wastes at most an eighth from 128 bytes on; below, steps of 16 for what SSE needs.
std::uint64_t step_from(std::uint64_t bytes) {
  if (bytes >= 128) return std::min(std::bit_floor(bytes) / 8, SizeClasses::page);
  return bytes >= 16 ? 16 : least_step;
}

std::uint64_t batch_of(std::uint64_t bytes) { return std::clamp<std::uint64_t>(moved_bytes / bytes, 2, most_moved); }

// At most an eighth of a span is left over, and it holds a quarter of a transfer.
std::uint64_t span_pages(std::uint64_t bytes) {
  std::uint64_t span = 0;
  do {
    span += SizeClasses::page;
    while (span % bytes > span / 8) span += SizeClasses::page;
  } while (span / bytes < batch_of(bytes) / 4);
  return span / SizeClasses::page;
}

}  // namespace

SizeClasses::SizeClasses() {
  for (std::uint64_t bytes = least_step; bytes <= most_small; bytes += step_from(bytes)) {
    const std::uint64_t pages = span_pages(bytes);
    // A class that fits as often into as many pages as the one before it replaces that.
    if (!classes_.empty() && classes_.back().pages == pages && pages * page / bytes == pages * page / classes_.back().bytes) {
      classes_.back().bytes = bytes;
    } else {
      classes_.push_back({bytes, pages, 0});
    }
  }
  for (Class& one : classes_) one.batch = static_cast<std::size_t>(batch_of(one.bytes));
}

std::size_t SizeClasses::of(std::uint64_t bytes, std::uint64_t alignment) const {
  const auto smaller = [](const Class& one, std::uint64_t wanted) { return one.bytes < wanted; };
  auto found = std::lower_bound(classes_.begin(), classes_.end(), bytes, smaller);
  while (found->bytes % alignment != 0) ++found;  // the last one is a multiple of a page
  return static_cast<std::size_t>(found - classes_.begin());
}

}  // namespace homenode
