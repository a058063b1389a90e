// What happens next, by (time, who): a binary heap of plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace homenode {

class EventQueue {
public:
  struct Event {
    std::int64_t time = 0;  // picoseconds
    std::uint32_t who = 0;
    bool operator<(const Event& other) const { return time != other.time ? time < other.time : who < other.who; }
  };

  bool empty() const { return heap_.empty(); }
  const Event& first() const { return heap_.front(); }
  void push(Event event) {
    heap_.push_back(event);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  Event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }

private:
  static bool later(const Event& a, const Event& b) { return b < a; }
  std::vector<Event> heap_;
};

}  // namespace homenode
