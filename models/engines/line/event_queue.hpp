// What happens next, by (time, who). Nearly all events lie a few hundred nanoseconds ahead, a few dozen at a time: a ring of short
// buckets (Brown, "Calendar queues", CACM 31(10), 1988), lists of nodes that are used again and stay in the host's first cache; what lies
// beyond the ring waits in a heap.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace homenode {

class EventQueue {
public:
  struct Event {
    std::int64_t time = 0;  // picoseconds, not negative
    std::uint32_t who = 0;
    bool operator<(const Event& other) const { return time != other.time ? time < other.time : who < other.who; }
    bool operator==(const Event&) const = default;
  };

  static constexpr std::int64_t never = INT64_MAX;

  EventQueue() { heads_.fill(none); }

  bool empty() const { return size_ == 0; }
  // {never, 0} if there is none.
  const Event& first() const { return first_; }

  // Not before what was popped last.
  void push(Event event) {
    ++size_;
    if (event < first_) first_ = event;
    const std::int64_t bucket = bucket_of(event);
    if (bucket >= floor_ + static_cast<std::int64_t>(buckets)) {
      late_.push_back(event);
      std::push_heap(late_.begin(), late_.end(), later);
    } else {
      put(event, bucket);
    }
  }

  Event pop() {
    const Event event = first_;
    if (in_ring_ == 0) advance(bucket_of(event));
    floor_ = bucket_of(event);
    take(event);
    if (!late_.empty()) advance(floor_);
    --size_;
    find_first();
    return event;
  }

private:
  static constexpr unsigned bucket_shift = 8;  // 256 ps
  static constexpr std::size_t buckets = 4096, words = buckets / 64;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Node {
    Event event;
    std::uint32_t next = none;
  };

  static bool later(const Event& a, const Event& b) { return b < a; }
  std::int64_t bucket_of(const Event& event) const { return std::max(event.time >> bucket_shift, floor_); }
  static std::size_t slot_of(std::int64_t bucket) { return static_cast<std::size_t>(bucket) % buckets; }

  void put(const Event& event, std::int64_t bucket) {
    std::uint32_t node = free_;
    if (node == none) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_ = nodes_[node].next;
    }
    const std::size_t slot = slot_of(bucket);
    nodes_[node] = {event, heads_[slot]};
    heads_[slot] = node;
    used_[slot / 64] |= std::uint64_t{1} << slot % 64;
    ++in_ring_;
  }

  void take(const Event& event) {
    const std::size_t slot = slot_of(floor_);
    std::uint32_t* link = &heads_[slot];
    while (nodes_[*link].event != event) link = &nodes_[*link].next;
    const std::uint32_t node = *link;
    *link = nodes_[node].next;
    nodes_[node].next = free_;
    free_ = node;
    if (heads_[slot] == none) used_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
    --in_ring_;
  }

  // The ring begins at the bucket: what comes into its reach leaves the heap.
  void advance(std::int64_t floor) {
    floor_ = floor;
    while (!late_.empty() && bucket_of(late_.front()) < floor_ + static_cast<std::int64_t>(buckets)) {
      std::pop_heap(late_.begin(), late_.end(), later);
      put(late_.back(), bucket_of(late_.back()));
      late_.pop_back();
    }
  }

  void find_first() {
    if (in_ring_ == 0) {
      first_ = late_.empty() ? Event{never, 0} : late_.front();
      return;
    }
    const std::size_t from = slot_of(floor_);
    std::size_t word = from / 64;
    std::uint64_t bits = used_[word] & (~std::uint64_t{0} << from % 64);
    while (bits == 0) {
      word = (word + 1) % words;
      bits = used_[word];
    }
    std::uint32_t node = heads_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))];
    first_ = nodes_[node].event;
    for (node = nodes_[node].next; node != none; node = nodes_[node].next)
      if (nodes_[node].event < first_) first_ = nodes_[node].event;
  }

  Event first_{never, 0};
  std::size_t size_ = 0, in_ring_ = 0;
  std::int64_t floor_ = 0;  // the ring's first bucket; none of an event is before it
  std::array<std::uint64_t, words> used_{};
  std::array<std::uint32_t, buckets> heads_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = none;
  std::vector<Event> late_;
};

}  // namespace homenode
