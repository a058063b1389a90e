// TCMalloc's page heap (gperftools 2.x, page_heap.cc): spans of 8 KiB pages. A request takes the shortest free span that is long
// enough, cuts it, and leaves the rest; freed spans join free neighbours, so whoever asks next gets any part of what others freed.
// Spans whose frames went back to the system are kept apart. Of lists of one length the newest comes first.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "models/heap/size_classes.hpp"
#include "sim/policy/heap_manager.hpp"

namespace homenode {

class SpanHeap {
public:
  static constexpr std::uint64_t page = SizeClasses::page;
  static constexpr std::uint64_t large_from = (1 << 20) / page;               // kMaxPages: lists by exact length below it
  static constexpr std::int64_t first_delay = 1 << 18, most_delay = 1 << 20;  // kDefaultReleaseDelay, kMaxReleaseDelay, in pages

  // `obtain` gives memory of so many bytes, aligned to a page of the heap. `releases`: whether frames go back to the system, at
  // TCMALLOC_RELEASE_RATE 1: a page for each 1000 freed.
  SpanHeap(std::function<AddressRange(std::uint64_t bytes)> obtain, std::uint64_t obtain_unit, bool releases)
      : obtain_{std::move(obtain)}, obtain_unit_{obtain_unit}, releases_{releases} {}

  static std::uint64_t page_at(Address at) { return at.value() / page; }
  static Address first_byte(std::uint64_t number) { return Address{number * page}; }

  struct Span {
    std::uint64_t first = 0, pages = 0;  // page number, length
    bool grown = false;                  // memory came from the system for it
  };
  Span take(std::uint64_t pages, std::vector<PageOperation>&);
  // A span starts on a multiple of so many pages, a power of two.
  Span take_aligned(std::uint64_t pages, std::uint64_t alignment, std::vector<PageOperation>&);
  void give(std::uint64_t first, std::uint64_t pages, std::vector<PageOperation>&);

  std::uint64_t system_bytes() const { return system_ * page; }
  std::uint64_t returned_bytes() const { return returned_pages_ * page; }

private:
  struct Free {
    std::uint64_t pages = 0, since = 0;
    bool returned = false;
  };
  using Spans = std::map<std::uint64_t, Free>;
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // length, newest or lowest first, first page

  static Key key(std::uint64_t first, const Free& span) { return {span.pages, span.pages < large_from ? ~span.since : 0, first}; }
  std::optional<Span> find(std::uint64_t pages);
  Span carve(std::uint64_t first, std::uint64_t pages);
  void insert(std::uint64_t first, std::uint64_t pages, bool returned);
  void remove(Spans::iterator);
  void join(std::uint64_t first, std::uint64_t pages, bool returned);
  std::uint64_t release_one(std::vector<PageOperation>&);
  void count_down(std::uint64_t pages, std::vector<PageOperation>&);

  std::function<AddressRange(std::uint64_t)> obtain_;
  std::uint64_t obtain_unit_;
  bool releases_;
  Spans spans_;                    // free ones by first page
  std::set<Key> kept_, returned_;  // of those the ones with and without frames
  std::uint64_t system_ = 0, free_pages_ = 0, returned_pages_ = 0, order_ = 0;
  std::int64_t until_release_ = 0;             // scavenge_counter_
  std::uint64_t release_length_ = large_from;  // release_index_: round the lists
};

}  // namespace homenode
