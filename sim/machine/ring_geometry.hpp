// Where cores, tag directories and memory controllers sit on a ring, which of them serve a line (by its physical address), and the
// latency that follows. The request goes from the core to the line's directory, from there to its controller, the line
// from the controller to the core (G. Chrysos, Hot Chips 2012), each the shorter way round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/addresses.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

class RingGeometry {
public:
  // Throws InputError: an order that does not name every device once, a hash that cannot spread over the number of devices, a mean
  // latency of memory or between cores that the mean way round alone exceeds.
  explicit RingGeometry(const Machine&);

  std::size_t stops() const { return stops_; }
  std::size_t directories() const { return stop_of_directory_.size(); }
  std::size_t controllers() const { return stop_of_controller_.size(); }
  std::size_t stop_of_core(CoreId core) const { return stop_of_core_[core.index()]; }
  std::size_t stop_of_directory(std::size_t directory) const { return stop_of_directory_[directory]; }
  std::size_t stop_of_controller(std::size_t controller) const { return stop_of_controller_[controller]; }

  // Of a line by its physical number (address / line size).
  std::size_t directory_of(LineNumber) const;
  std::size_t controller_of(LineNumber) const;
  // Its number among the lines of its controller.
  LineNumber within_controller(LineNumber line) const { return LineNumber{line.value() / controllers()}; }

  // Hops the shorter way; where both are as long, upwards.
  std::size_t hops(std::size_t from, std::size_t to) const {
    const std::size_t up = (to + stops_ - from) % stops_;
    return up < stops_ - up ? up : stops_ - up;
  }
  bool upwards(std::size_t from, std::size_t to) const { return (to + stops_ - from) % stops_ * 2 <= stops_; }
  // core -> directory -> supplier (a controller or another core) -> core.
  std::size_t tour(std::size_t core, std::size_t directory, std::size_t supplier) const {
    return hops(core, directory) + hops(directory, supplier) + hops(supplier, core);
  }

  // Of all cores, directories and controllers, and of all pairs of cores and directories, in hops.
  double mean_memory_tour() const { return mean_memory_tour_; }
  double mean_core_tour() const { return mean_core_tour_; }

  // Latency of a load without the hops on the ring: the machine's latencies are means over all paths.
  Time fixed_memory_latency() const { return fixed_memory_; }
  Time fixed_transfer_latency() const { return fixed_transfer_; }
  // Idle load-to-use latency of a line in memory: the latency database of S2, section 4.
  Time memory_latency(CoreId core, LineNumber line) const {
    return fixed_memory_ + hop_ * static_cast<std::int64_t>(tour(stop_of_core(core), stop_of_directory_[directory_of(line)],
                                                                 stop_of_controller_[controller_of(line)]));
  }
  Time hop() const { return hop_; }

private:
  std::size_t stops_ = 0;
  std::vector<std::size_t> stop_of_core_, stop_of_directory_, stop_of_controller_;
  AddressHash directory_hash_, controller_hash_;
  Time hop_, fixed_memory_, fixed_transfer_;
  double mean_memory_tour_ = 0, mean_core_tour_ = 0;
};

}  // namespace homenode
