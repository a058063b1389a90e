#include "models/heap/span_heap.hpp"

#include <algorithm>
#include <iterator>

namespace homenode {

void SpanHeap::insert(std::uint64_t first, std::uint64_t pages, bool returned) {
  const Free span{pages, ++order_, returned};
  spans_[first] = span;
  (returned ? returned_ : kept_).insert(key(first, span));
  (returned ? returned_pages_ : free_pages_) += pages;
}

void SpanHeap::remove(Spans::iterator span) {
  (span->second.returned ? returned_ : kept_).erase(key(span->first, span->second));
  (span->second.returned ? returned_pages_ : free_pages_) -= span->second.pages;
  spans_.erase(span);
}

// SearchFreeAndLargeLists: the shortest; at equal length one with frames if it has a list of its own, else the lower address.
std::optional<SpanHeap::Span> SpanHeap::find(std::uint64_t pages) {
  const auto kept = kept_.lower_bound({pages, 0, 0}), returned = returned_.lower_bound({pages, 0, 0});
  if (kept == kept_.end() && returned == returned_.end()) return std::nullopt;
  bool take_kept = returned == returned_.end();
  if (kept != kept_.end() && !take_kept) {
    const std::uint64_t length = std::get<0>(*kept), other = std::get<0>(*returned);
    take_kept = length < other || (length == other && (length < large_from || std::get<2>(*kept) < std::get<2>(*returned)));
  }
  return carve(std::get<2>(take_kept ? *kept : *returned), pages);
}

SpanHeap::Span SpanHeap::carve(std::uint64_t first, std::uint64_t pages) {
  const auto found = spans_.find(first);
  const Free span = found->second;
  remove(found);
  if (span.pages > pages) insert(first + pages, span.pages - pages, span.returned);
  return {first, pages, false};
}

SpanHeap::Span SpanHeap::take(std::uint64_t pages, std::vector<PageOperation>& operations) {
  if (const auto found = find(pages)) return *found;
  // GrowHeap: at least 1 MiB, entered as a span that is freed.
  const AddressRange memory = obtain_(round_up(std::max(pages, large_from) * page, obtain_unit_));
  const std::uint64_t got = memory.size() / page;
  system_ += got;
  give(page_at(memory.first), got, operations);
  Span span = *find(pages);
  span.grown = true;
  return span;
}

SpanHeap::Span SpanHeap::take_aligned(std::uint64_t pages, std::uint64_t alignment, std::vector<PageOperation>& operations) {
  if (alignment <= 1) return take(pages, operations);
  const Span whole = take(pages + alignment - 1, operations);
  const std::uint64_t first = round_up(whole.first, alignment), behind = whole.first + whole.pages - (first + pages);
  if (first > whole.first) give(whole.first, first - whole.first, operations);
  if (behind > 0) give(first + pages, behind, operations);
  return {first, pages, whole.grown};
}

void SpanHeap::give(std::uint64_t first, std::uint64_t pages, std::vector<PageOperation>& operations) {
  join(first, pages, false);
  if (releases_) count_down(pages, operations);
}

// Spans join only if both or neither have frames.
void SpanHeap::join(std::uint64_t first, std::uint64_t pages, bool returned) {
  auto after = spans_.lower_bound(first);
  if (after != spans_.begin()) {
    const auto before = std::prev(after);
    if (before->second.returned == returned && before->first + before->second.pages == first) {
      first = before->first;
      pages += before->second.pages;
      remove(before);
    }
  }
  if (after != spans_.end() && after->second.returned == returned && after->first == first + pages) {
    pages += after->second.pages;
    remove(after);
  }
  insert(first, pages, returned);
}

// IncrementalScavenge: the first call releases at once, for the counter starts at 0.
void SpanHeap::count_down(std::uint64_t pages, std::vector<PageOperation>& operations) {
  until_release_ -= static_cast<std::int64_t>(pages);
  if (until_release_ >= 0) return;
  const std::uint64_t released = release_one(operations);
  until_release_ = released == 0 ? first_delay : std::min(static_cast<std::int64_t>(1000 * released), most_delay);
}

// ReleaseAtLeastNPages(1): round the lists, of each the oldest span; of the large ones the shortest.
std::uint64_t SpanHeap::release_one(std::vector<PageOperation>& operations) {
  for (std::uint64_t step = 0; step <= large_from && !kept_.empty(); ++step, ++release_length_) {
    if (release_length_ > large_from) release_length_ = 0;
    auto found = kept_.lower_bound({release_length_, 0, 0});
    if (release_length_ < large_from) {  // the last of this length
      const auto longer = kept_.lower_bound({release_length_ + 1, 0, 0});
      if (found == longer) continue;
      found = std::prev(longer);
    } else if (found == kept_.end()) {
      continue;
    }
    const std::uint64_t first = std::get<2>(*found), pages = std::get<0>(*found);
    remove(spans_.find(first));
    operations.push_back({PageOperation::Kind::discard, AddressRange::of(first_byte(first), pages * page)});
    join(first, pages, true);
    ++release_length_;
    return pages;
  }
  return 0;
}

}  // namespace homenode
