#include "models/heap/glibc_arena.hpp"
#include "sim/memory/address_space.hpp"

#include <algorithm>
#include <iterator>

namespace homenode {
namespace {

constexpr std::uint64_t heap_tables = 48, arena_tables = 2256, fencepost = 32;

}  // namespace

GlibcArena::GlibcArena(AddressSpace& addresses, std::uint64_t brk_room)
    : addresses_{addresses}, main_{brk_room > 0}, page_{addresses.page_bytes()} {
  if (main_) {
    const AddressRange room = addresses_.reserve(brk_room);
    segments_.push_back({room.first, room.first, room.last, room.first});
  }
}

void GlibcArena::start_segment(AddressRange room, std::uint64_t committed, std::uint64_t tables) {
  segments_.push_back({room.first, room.first + committed, room.last, room.first + tables});
  committed_ += committed;
  top_ = room.first + tables;
  chunks_[top_] = {committed - tables, State::top, 0};
}

void GlibcArena::extend_top(std::uint64_t bytes) {
  Segment& segment = segments_.back();
  if (top_ == Address{}) {
    top_ = segment.first_chunk;
    chunks_[top_] = {0, State::top, 0};
  }
  segment.end += bytes;
  committed_ += bytes;
  chunks_[top_].size += bytes;
}

// What is left of the top of a segment that cannot grow is a free chunk before two fenceposts.
void GlibcArena::retire_top() {
  if (top_ == Address{}) return;
  const auto top = chunks_.find(top_);
  if (top->second.size >= fencepost + least_chunk) {
    top->second.size -= fencepost;
    coalesce(top);
  } else {
    chunks_.erase(top);
  }
  top_ = {};
}

bool GlibcArena::can_serve(std::uint64_t size) const {
  const auto fast = fast_.find(size);
  if (fast != fast_.end() && !fast->second.empty()) return true;
  if (free_.lower_bound({size, 0, Address{}}) != free_.end()) return true;
  return top_ != Address{} && chunks_.at(top_).size >= size + least_chunk;
}

std::optional<Address> GlibcArena::take(std::uint64_t size) {
  if (const auto fast = fast_.find(size); fast != fast_.end() && !fast->second.empty()) {
    const Address chunk = fast->second.back();
    fast->second.pop_back();
    chunks_[chunk].state = State::used;
    return chunk;
  }
  if (size >= least_large) consolidate();
  for (const bool again : {false, true}) {
    if (const auto fit = free_.lower_bound({size, 0, Address{}}); fit != free_.end()) {
      const auto chunk = chunks_.find(std::get<2>(*fit));
      remove_free(chunk);
      chunk->second.state = State::used;
      if (const std::uint64_t rest = chunk->second.size - size; rest >= least_chunk) {
        chunk->second.size = size;
        insert_free(chunk->first + size, rest);
      }
      return chunk->first;
    }
    if (top_ != Address{} && chunks_[top_].size >= size + least_chunk) {
      const Address chunk = top_;
      const std::uint64_t rest = chunks_[chunk].size - size;
      chunks_[chunk] = {size, State::used, 0};
      top_ = chunk + size;
      chunks_[top_] = {rest, State::top, 0};
      return chunk;
    }
    if (!again) consolidate();
  }
  return std::nullopt;
}

bool GlibcArena::grow(std::uint64_t size, std::uint64_t top_pad) {
  const std::uint64_t old = top_ == Address{} ? 0 : chunks_[top_].size;
  if (main_) {
    const std::uint64_t more = round_up(size + top_pad + least_chunk - std::min(old, size + top_pad + least_chunk), page_);
    if (segments_.back().end + more <= segments_.back().limit) {
      extend_top(more);
      return true;
    }
    retire_top();
    const std::uint64_t bytes = round_up(std::max(size + top_pad + least_chunk + header, morecore_least), page_);
    start_segment(addresses_.reserve(bytes), bytes, header);
    return true;
  }
  if (!segments_.empty()) {
    const std::uint64_t more = round_up(size + least_chunk - old, page_);
    if (segments_.back().end + more <= segments_.back().limit) {
      extend_top(more);
      return true;
    }
  }
  const std::uint64_t tables = heap_tables + (segments_.empty() ? arena_tables : 0);
  std::uint64_t bytes = size + least_chunk + tables;
  if (bytes > heap_most) return false;
  bytes = round_up(std::min(std::max(bytes + top_pad, heap_least), heap_most), page_);
  retire_top();
  start_segment(addresses_.reserve(heap_most, heap_most), bytes, tables);
  return true;
}

void GlibcArena::carve(Address chunk, Address begin, std::uint64_t size) {
  const Address end = chunk + chunks_[chunk].size;
  const std::uint64_t rest = end - (begin + size);
  chunks_[begin] = {rest >= least_chunk ? size : end - begin, State::used, 0};
  if (rest >= least_chunk) coalesce(chunks_.insert_or_assign(begin + size, Chunk{rest, State::used, 0}).first);
  if (begin > chunk) {
    chunks_[chunk].size = begin - chunk;
    coalesce(chunks_.find(chunk));
  }
}

void GlibcArena::insert_free(Address at, std::uint64_t size) {
  chunks_[at] = {size, State::free, ++releases_};
  free_.insert({size, releases_, at});
}

void GlibcArena::remove_free(Chunks::iterator chunk) { free_.erase({chunk->second.size, chunk->second.since, chunk->first}); }

// Joins a chunk that is no longer used with free neighbours, or with the top.
std::uint64_t GlibcArena::coalesce(Chunks::iterator chunk) {
  Address at = chunk->first;
  std::uint64_t size = chunk->second.size;
  if (chunk != chunks_.begin()) {
    const auto before = std::prev(chunk);
    if (before->second.state == State::free && before->first + before->second.size == at) {
      remove_free(before);
      at = before->first;
      size += before->second.size;
      chunks_.erase(chunk);
      chunk = before;
    }
  }
  const auto after = std::next(chunk);
  const bool adjacent = after != chunks_.end() && at + size == after->first;
  if (adjacent && after->second.state == State::top) {
    size += after->second.size;
    chunks_.erase(after);
    chunk->second = {size, State::top, 0};
    top_ = at;
    return size;
  }
  if (adjacent && after->second.state == State::free) {
    remove_free(after);
    size += after->second.size;
    chunks_.erase(after);
  }
  insert_free(at, size);
  return size;
}

void GlibcArena::consolidate() {
  for (auto& [size, chunks] : fast_) {
    for (const Address chunk : chunks) coalesce(chunks_.find(chunk));
    chunks.clear();
  }
}

void GlibcArena::release(Address at, std::uint64_t trim_threshold, std::uint64_t top_pad, std::vector<PageOperation>& operations) {
  const auto chunk = chunks_.find(at);
  if (chunk->second.size <= most_fast) {
    chunk->second.state = State::fast;
    fast_[chunk->second.size].push_back(at);
    return;
  }
  if (coalesce(chunk) < consolidate_from) return;
  consolidate();
  if (top_ == Address{}) return;
  if (!main_) drop_empty_heaps(top_pad, operations);
  trim(trim_threshold, top_pad, operations);
}

// heap_trim: a heap that holds nothing goes if its predecessor has room for the next requests.
void GlibcArena::drop_empty_heaps(std::uint64_t top_pad, std::vector<PageOperation>& operations) {
  while (segments_.size() > 1 && top_ == segments_.back().first_chunk) {
    const Segment heap = segments_.back();
    const Segment& before = segments_[segments_.size() - 2];
    const Address fence = before.end - fencepost;
    auto last = chunks_.lower_bound(fence);
    const bool any = last != chunks_.begin();
    if (any) --last;
    const bool joins = any && last->second.state == State::free && last->first + last->second.size == fence;
    const std::uint64_t room = (joins ? last->second.size : 0) + fencepost;
    if (room + (before.limit - before.end) < top_pad + least_chunk + page_) return;
    chunks_.erase(top_);
    committed_ -= heap.end - heap.base;
    operations.push_back({PageOperation::Kind::unmap, {heap.base, heap.limit}});
    segments_.pop_back();
    if (joins) remove_free(last);
    top_ = joins ? last->first : fence;
    chunks_[top_] = {room, State::top, 0};
  }
}

void GlibcArena::trim(std::uint64_t threshold, std::uint64_t top_pad, std::vector<PageOperation>& operations) {
  Chunk& top = chunks_[top_];
  Segment& segment = segments_.back();
  if (top.size < threshold || top.size - least_chunk - 1 <= top_pad) return;
  if (main_ && segments_.size() > 1) return;  // not brk's: other memory lies behind it
  const std::uint64_t extra = (top.size - least_chunk - 1 - top_pad) / page_ * page_;
  if (extra == 0) return;
  // brk, or for other heaps madvise (shrink_heap in arena.c).
  operations.push_back({main_ ? PageOperation::Kind::shrink : PageOperation::Kind::discard, {segment.end - extra, segment.end}});
  segment.end = segment.end - extra;
  top.size -= extra;
  committed_ -= extra;
}

bool GlibcArena::owns(Address address) const {
  return std::any_of(segments_.begin(), segments_.end(), [&](const Segment& s) { return s.base <= address && address < s.end; });
}

std::uint64_t GlibcArena::free_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [at, chunk] : chunks_) bytes += chunk.state == State::used ? 0 : chunk.size;
  return bytes;
}

}  // namespace homenode
