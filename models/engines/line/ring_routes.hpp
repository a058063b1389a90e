// The way of one line over a ring of cores, tag directories and controllers (sim/machine/ring_geometry.hpp). A miss sends its address to
// the line's directory, which sends it on to the controller, or to the core that has the line; from there the line comes on a data
// ring. Each miss also sends two acknowledgements that nobody waits for (G. Chrysos, Hot Chips 2012: one data, two address, two
// acknowledge messages). Messages wait for a place on their ring (ring_slots.hpp), never on the ring.
//
// What a miss takes beside the ring and the DRAM is spent in equal parts before each of the two address messages, before the controller,
// and behind the data (assumed; it decides only where misses queue).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/engines/line/line_routes.hpp"
#include "models/engines/line/ring_slots.hpp"
#include "sim/machine/physical_memory.hpp"
#include "sim/machine/ring_geometry.hpp"
#include "sim/report/timeline.hpp"

namespace homenode {

class RingRoutes final : public LineRoutes {
public:
  // `controller_idle`: picoseconds of a read in an idle controller. A timeline is told what rides take of their rings, which are shared
  // resources from `first_ring` on. Throws InputError if the DRAM alone takes longer than memory.
  RingRoutes(const Machine&, PhysicalMemory, std::int64_t controller_idle, Timeline* timeline = nullptr, std::size_t first_ring = 0);

  Served served(LineNumber line, NodeId) const override {
    const LineNumber physical = memory_.line(line);
    return {geometry_.controller_of(physical), geometry_.within_controller(physical)};
  }
  const LinePath& read(const Asker&, LineNumber, NodeId home) override;
  const LinePath& non_temporal_write(const Asker&, LineNumber, NodeId home) override;
  const LinePath& writeback(const Asker&, LineNumber, NodeId home) override;
  const LinePath& transfer(const Asker&, LineNumber, NodeId home, CoreId owner) override;
  const LinePath& upgrade(const Asker&, LineNumber, NodeId home, CoreId sharer) override;
  std::int64_t least_transfer() const override { return fixed_transfer_; }
  std::int64_t ride(const RingRide&, std::int64_t now) override;
  std::vector<RingUse> rings() const override;

private:
  using Paths = std::vector<std::unique_ptr<LinePath>>;  // made when first asked for
  struct Ring {
    std::vector<std::array<RingSlots, 2>> copies;  // upwards, downwards
    std::array<std::uint64_t, 2> messages{}, hops{};
  };

  double places(const Ring& ring) const { return static_cast<double>(ring.copies.size() * geometry_.stops()); }  // of one direction
  std::size_t key(const Asker& asker, std::size_t directory, std::size_t supplier, std::size_t suppliers) const {
    return (asker.core.index() * geometry_.directories() + directory) * suppliers + supplier;
  }
  // Of the line's directory and controller; `make` is given the stops of core, directory and controller.
  template <class Make>
  const LinePath& of_memory(Paths&, const Asker&, LineNumber, Make&& make);
  const LinePath& of_core(Paths&, const Asker&, LineNumber, CoreId other, RingKind answer);
  RingRide ride_on(RingKind, std::size_t from, std::size_t to) const;
  void send(LinePath&, RingKind, std::size_t from, std::size_t to, std::int64_t before) const;

  RingGeometry geometry_;
  PhysicalMemory memory_;
  std::int64_t hop_, fixed_memory_, fixed_transfer_;  // picoseconds; of memory without the DRAM
  std::size_t cores_;
  std::array<Ring, ring_kinds> rings_;
  Timeline* timeline_;
  std::size_t first_ring_;
  Paths read_, non_temporal_, writeback_, transfer_, upgrade_;
};

}  // namespace homenode
