#include "models/engines/line/ring_routes.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

constexpr std::array<const char*, ring_kinds> kind_names{"data", "address", "acknowledge"};

}  // namespace

RingRoutes::RingRoutes(const Machine& machine, PhysicalMemory memory, std::int64_t controller_idle, Timeline* timeline,
                       std::size_t first_ring)
    : geometry_{machine},
      memory_{memory},
      hop_{geometry_.hop().count()},
      fixed_memory_{geometry_.fixed_memory_latency().count() - controller_idle},
      fixed_transfer_{geometry_.fixed_transfer_latency().count()},
      cores_{machine.cores()},
      timeline_{timeline},
      first_ring_{first_ring} {
  if (fixed_memory_ < 0) {
    throw InputError("machine '" + machine.name + "': memory answers after " + to_string(geometry_.fixed_memory_latency()) +
                     " beside the ring, its DRAM alone takes " + to_string(Time::picoseconds(controller_idle)) +
                     "; allowed: dram.activate + dram.column of at most that");
  }
  const std::array<unsigned, ring_kinds> copies{machine.ring->data_rings, machine.ring->address_rings, machine.ring->acknowledge_rings};
  for (std::size_t kind = 0; kind < ring_kinds; ++kind) {
    const RingSlots empty{geometry_.stops(), hop_};
    rings_[kind].copies.assign(copies[kind], {empty, empty});
  }
  const std::size_t asked = cores_ * geometry_.directories();
  read_.resize(asked * geometry_.controllers());
  non_temporal_.resize(read_.size());
  writeback_.resize(read_.size());
  transfer_.resize(asked * cores_);
  upgrade_.resize(asked * cores_);
}

RingRide RingRoutes::ride_on(RingKind kind, std::size_t from, std::size_t to) const {
  const bool up = geometry_.upwards(from, to);
  // A ring downwards counts its stops the other way round.
  const std::size_t stop = up ? from : (geometry_.stops() - from) % geometry_.stops();
  return {kind, up, static_cast<std::uint16_t>(stop), static_cast<std::uint16_t>(geometry_.hops(from, to))};
}

void RingRoutes::send(LinePath& path, RingKind kind, std::size_t from, std::size_t to, std::int64_t before) const {
  PathStage stage;
  stage.link = PathStage::on_ring;
  stage.before = before;
  stage.ring = ride_on(kind, from, to);
  path.stages.push_back(stage);
}

template <class Make>
const LinePath& RingRoutes::of_memory(Paths& paths, const Asker& asker, LineNumber line, Make&& make) {
  const LineNumber physical = memory_.line(line);
  const std::size_t directory = geometry_.directory_of(physical), controller = geometry_.controller_of(physical);
  std::unique_ptr<LinePath>& path = paths[key(asker, directory, controller, geometry_.controllers())];
  if (!path) {
    path = std::make_unique<LinePath>();
    make(*path, geometry_.stop_of_core(asker.core), geometry_.stop_of_directory(directory), geometry_.stop_of_controller(controller));
  }
  return *path;
}

const LinePath& RingRoutes::read(const Asker& asker, LineNumber line, NodeId) {
  return of_memory(read_, asker, line, [&](LinePath& path, std::size_t core, std::size_t directory, std::size_t controller) {
    const std::int64_t part = fixed_memory_ / 4;
    send(path, RingKind::address, core, directory, part);
    send(path, RingKind::address, directory, controller, part);
    path.stages.push_back({PathStage::controller, part, 0, {}});
    send(path, RingKind::data, controller, core, 0);
    path.after = fixed_memory_ - 3 * part;
    path.rides_beside = {ride_on(RingKind::acknowledge, directory, core), ride_on(RingKind::acknowledge, core, directory)};
  });
}

const LinePath& RingRoutes::non_temporal_write(const Asker& asker, LineNumber line, NodeId) {
  return of_memory(non_temporal_, asker, line, [&](LinePath& path, std::size_t core, std::size_t directory, std::size_t controller) {
    const std::int64_t part = fixed_memory_ / 4;
    send(path, RingKind::address, core, directory, part);
    send(path, RingKind::acknowledge, directory, core, part);
    send(path, RingKind::data, core, controller, part);
    path.stages.push_back({PathStage::controller, 0, 0, {}});
    path.after = fixed_memory_ - 3 * part;
    path.rides_beside = {ride_on(RingKind::acknowledge, core, directory)};
  });
}

const LinePath& RingRoutes::writeback(const Asker& asker, LineNumber line, NodeId) {
  return of_memory(writeback_, asker, line, [&](LinePath& path, std::size_t core, std::size_t directory, std::size_t controller) {
    path.rides_beside = {ride_on(RingKind::address, core, directory), ride_on(RingKind::data, core, controller),
                         ride_on(RingKind::acknowledge, directory, core)};
  });
}

// `answer`: what the other core sends; the directory acknowledges a line that was handed on.
const LinePath& RingRoutes::of_core(Paths& paths, const Asker& asker, LineNumber line, CoreId other, RingKind answer) {
  const std::size_t number = geometry_.directory_of(memory_.line(line));
  std::unique_ptr<LinePath>& path = paths[key(asker, number, other.index(), cores_)];
  if (path) return *path;
  path = std::make_unique<LinePath>();
  const std::size_t core = geometry_.stop_of_core(asker.core), directory = geometry_.stop_of_directory(number),
                    from = geometry_.stop_of_core(other);
  const std::int64_t part = fixed_transfer_ / 4;
  send(*path, RingKind::address, core, directory, part);
  send(*path, RingKind::address, directory, from, part);
  send(*path, answer, from, core, part);
  path->after = fixed_transfer_ - 3 * part;
  path->rides_beside = {ride_on(RingKind::acknowledge, core, directory)};
  if (answer == RingKind::data) path->rides_beside.push_back(ride_on(RingKind::acknowledge, directory, core));
  return *path;
}

const LinePath& RingRoutes::transfer(const Asker& asker, LineNumber line, NodeId, CoreId owner) {
  return of_core(transfer_, asker, line, owner, RingKind::data);
}

const LinePath& RingRoutes::upgrade(const Asker& asker, LineNumber line, NodeId, CoreId sharer) {
  return of_core(upgrade_, asker, line, sharer, RingKind::acknowledge);
}

std::int64_t RingRoutes::ride(const RingRide& wanted, std::int64_t now) {
  if (wanted.hops == 0) return now;
  Ring& ring = rings_[static_cast<std::size_t>(wanted.kind)];
  const std::size_t direction = wanted.up ? 0 : 1;
  std::size_t first = 0;
  std::int64_t boards = ring.copies[0][direction].boards(wanted.stop, now);
  for (std::size_t copy = 1; copy < ring.copies.size(); ++copy) {
    const std::int64_t at = ring.copies[copy][direction].boards(wanted.stop, now);
    if (at >= boards) continue;
    first = copy;
    boards = at;
  }
  ring.copies[first][direction].ride(wanted.stop, wanted.hops, boards);
  ++ring.messages[direction];
  ring.hops[direction] += wanted.hops;
  const std::int64_t arrives = boards + hop_ * wanted.hops;
  if (timeline_ != nullptr)
    timeline_->used(first_ring_ + 2 * static_cast<std::size_t>(wanted.kind) + direction, Time::picoseconds(boards),
                    Time::picoseconds(arrives), 1e-12 * static_cast<double>(arrives - boards) / places(ring));
  return arrives;
}

std::vector<RingUse> RingRoutes::rings() const {
  std::vector<RingUse> uses;
  for (std::size_t kind = 0; kind < ring_kinds; ++kind) {
    const Ring& ring = rings_[kind];
    for (std::size_t direction = 0; direction < 2; ++direction) {
      const double busy = static_cast<double>(ring.hops[direction]) * static_cast<double>(hop_) * 1e-12 / places(ring);
      uses.push_back({std::string{kind_names[kind]} + (direction == 0 ? " up" : " down"), ring.messages[direction], ring.hops[direction],
                      Time::from_seconds(busy)});
    }
  }
  return uses;
}

}  // namespace homenode
