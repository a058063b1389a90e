// One direction of one ring: a place a stop, and all places move on by one stop in every hop. A message takes the place that passes its
// stop if nobody rides in it, else the next one, and leaves it where it is wanted: once on the ring nothing stops it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace homenode {

class RingSlots {
public:
  // `hop`: picoseconds, more than 0.
  RingSlots(std::size_t stops, std::int64_t hop) : hop_{hop}, free_from_(stops, 0) {}

  // When a message that is at `stop` from `now` on would find a place. Stops are counted in the direction of travel.
  std::int64_t boards(std::size_t stop, std::int64_t now) const {
    while (free_from_[place(stop, now / hop_)] > now / hop_) now = (now / hop_ + 1) * hop_;
    return now;
  }
  // Takes the place that it found for so many hops.
  void ride(std::size_t stop, std::size_t hops, std::int64_t boarded) {
    free_from_[place(stop, boarded / hop_)] = boarded / hop_ + static_cast<std::int64_t>(hops);
  }

private:
  std::size_t place(std::size_t stop, std::int64_t window) const {
    const auto stops = static_cast<std::int64_t>(free_from_.size());
    return static_cast<std::size_t>((static_cast<std::int64_t>(stop) - window % stops + stops) % stops);
  }

  std::int64_t hop_;
  std::vector<std::int64_t> free_from_;  // by place: the window in which its rider has left
};

}  // namespace homenode
