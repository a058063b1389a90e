// When lines in flight return, in order: most come in the order in which they were asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace homenode {

class ReturnTimes {
public:
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  std::int64_t first() const { return ring_[first_]; }
  std::int64_t last() const { return ring_[at(count_ - 1)]; }
  void clear() { first_ = count_ = 0; }
  void add(std::int64_t time) {
    if (count_ == ring_.size()) grow();
    std::size_t place = count_++;
    for (; place > 0 && ring_[at(place - 1)] > time; --place) ring_[at(place)] = ring_[at(place - 1)];
    ring_[at(place)] = time;
  }
  // Those that are there by then.
  void drop_until(std::int64_t time) {
    while (count_ != 0 && ring_[first_] <= time) {
      first_ = at(1);
      --count_;
    }
  }

private:
  std::size_t at(std::size_t place) const { return (first_ + place) & (ring_.size() - 1); }
  void grow() {
    std::vector<std::int64_t> larger(2 * ring_.size());
    for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[at(i)];
    ring_.swap(larger);
    first_ = 0;
  }

  std::vector<std::int64_t> ring_ = std::vector<std::int64_t>(16);  // a power of two
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace homenode
