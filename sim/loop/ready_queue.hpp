// When which thread goes on. Of a thread the newest entry counts; earlier ones are void, but stay until their time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "sim/base/units.hpp"

namespace homenode {

class ReadyQueue {
public:
  explicit ReadyQueue(std::size_t threads) : newest_(threads) {}

  void push(std::size_t thread, Time time) { entries_.push({time, thread, ++newest_[thread]}); }
  // The thread's entries are void.
  void withdraw(std::size_t thread) { ++newest_[thread]; }
  bool empty() const { return entries_.empty(); }
  // Of the first entry, which may be void; Time::max() if there is none.
  Time next_time() const { return entries_.empty() ? Time::max() : entries_.top().time; }
  // Takes the first entry out, of several at one time that of the lowest thread; nothing if it is void.
  std::optional<std::size_t> pop() {
    const Entry first = entries_.top();
    entries_.pop();
    return first.number == newest_[first.thread] ? std::optional{first.thread} : std::nullopt;
  }

private:
  struct Entry {
    Time time;
    std::size_t thread;
    std::uint64_t number;  // of the thread's entries
    bool operator>(const Entry& other) const { return std::tie(time, thread) > std::tie(other.time, other.thread); }
  };
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entries_;
  std::vector<std::uint64_t> newest_;  // by thread
};

}  // namespace homenode
