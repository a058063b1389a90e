#include "models/heap/central_list.hpp"

#include <algorithm>
#include <iterator>

namespace homenode {
namespace {

constexpr std::size_t first_room = 16;
constexpr std::uint64_t transfer_bytes = 1 << 20;  // of one class at most, or one transfer

}  // namespace

CentralList::CentralList(const SizeClasses::Class& size, SpanHeap& pages)
    : size_{size},
      pages_{pages},
      room_{std::min<std::size_t>(first_room, std::max<std::size_t>(1, transfer_bytes / (size.bytes * size.batch)))} {}

Address CentralList::fetch() {
  Span& span = spans_.at(open_.back());
  const Address block = span.free.back();
  span.free.pop_back();
  ++span.used;
  if (span.free.empty()) open_.pop_back();
  return block;
}

CentralList::Moved CentralList::remove(std::size_t count, std::vector<PageOperation>& operations) {
  Moved moved;
  if (count == size_.batch && !transfers_.empty()) {
    moved.blocks = std::move(transfers_.back());
    transfers_.pop_back();
    return moved;
  }
  if (open_.empty()) {
    const SpanHeap::Span got = pages_.take(size_.pages, operations);
    moved.used_page_heap = true;
    moved.grown = got.grown;
    Span& span = spans_[got.first];
    span.pages = size_.pages;
    // Cut from the front, so the first block is the next one.
    for (std::uint64_t n = size_.pages * SpanHeap::page / size_.bytes; n-- > 0;)
      span.free.push_back(SpanHeap::first_byte(got.first) + n * size_.bytes);
    open_.push_back(got.first);
  }
  while (moved.blocks.size() < count && !open_.empty()) moved.blocks.push_back(fetch());
  return moved;
}

bool CentralList::insert(const std::vector<Address>& blocks, std::vector<PageOperation>& operations) {
  if (blocks.size() == size_.batch && transfers_.size() < room_) {
    transfers_.push_back(blocks);
    return false;
  }
  bool gave = false;
  for (const Address block : blocks) {
    const auto at = std::prev(spans_.upper_bound(SpanHeap::page_at(block)));
    Span& span = at->second;
    if (span.free.empty()) open_.push_back(at->first);
    span.free.push_back(block);
    if (--span.used > 0) continue;
    open_.erase(std::find(open_.begin(), open_.end(), at->first));
    pages_.give(at->first, span.pages, operations);
    spans_.erase(at);
    gave = true;
  }
  return gave;
}

}  // namespace homenode
