// Memory-side caches, the directory in memory and the ports of outermost caches, line by line (../parts/memory_side.hpp).
//
// A memory-side cache serves one line after the other, each for what its bandwidth gives; a line that it has comes a controller's idle time
// later, so that a read takes the machine's latency of a hit. What it writes for a read that misses follows at once. A line that it does
// not have is asked of the controller once the tags are read, and takes at the least what the machine says of one. A line that comes in by
// a port gets the first time at which the port is free. A port that has more lines to send than a core has miss buffers holds up the reads
// of its cores.
#include <algorithm>
#include <cmath>

#include "models/engines/line/line_engine.hpp"
#include "models/engines/parts/controller_costs.hpp"
#include "models/engines/parts/controller_load.hpp"

namespace homenode {
void LineEngine::describe_memory_side() {
  first_side_cache_ = first_side_cache(machine_, topology_);
  first_port_ = first_port(machine_, topology_);
  if (machine_.has_side_caches()) {
    for (std::size_t node = 0; node < machine_.nodes.size(); ++node) {
      const LineCosts costs = side_cache_costs(machine_, NodeId{node});
      side_caches_.push_back({to_picoseconds(costs.read), to_picoseconds(costs.write)});
    }
  }
  if (!machine_.has_ports()) return;
  const LineCosts costs = port_costs(machine_);
  port_out_ = to_picoseconds(costs.write);
  ports_.assign(machine_.cores() / machine_.caches.back().cores_per_cache, Port{TimeSlots{to_picoseconds(costs.read)}});
}

void LineEngine::remember_read(const RunningSlice& r, LineNumber line, NodeId home, Miss& miss) {
  if (side_.remembers()) {
    side_.read({line, line + 1}, r.asker.node, *r.addresses, [&](const MemorySide::Met& met) {
      counts_.remembered(home, 1, met.hits, met.directory);
      if (machine_.nodes[home.index()].has_side_cache()) miss.side = met.hits != 0 ? AtSideCache::hit : AtSideCache::miss;
      miss.home = home;
      write_victims(r.clock, home, met.directory, line);
    });
  }
  if (!ports_.empty()) miss.not_before = std::max(miss.not_before, held_up_by_port(r));
}

AtSideCache LineEngine::remember_write(const RunningSlice& r, LineNumber line, NodeId home) {
  AtSideCache side = AtSideCache::none;
  if (!side_.remembers()) return side;
  side_.write({line, line + 1}, r.asker.node, *r.addresses, [&](const MemorySide::Met& met) {
    if (machine_.nodes[home.index()].has_side_cache()) side = met.fills != 0 ? AtSideCache::filling_write : AtSideCache::write;
    write_victims(r.clock, home, 0, line);
  });
  return side;
}

// Modified lines that a memory-side cache gave up go to memory; a changed note to where the line is.
void LineEngine::write_victims(Picoseconds at, NodeId home, std::uint64_t noted, LineNumber line) {
  for (const LineNumber victim : side_.victims()) {
    const LineRoutes::Served served = routes_->served(victim, home);
    controllers_[served.controller].write(served.line, at);
  }
  side_.victims().clear();
  if (noted == 0) return;
  const AtSideCache side = machine_.nodes[home.index()].has_side_cache() ? AtSideCache::write : AtSideCache::none;
  write_memory(side, home, routes_->served(line, home), at);
}

void LineEngine::write_memory(AtSideCache side, NodeId home, const LineRoutes::Served& served, Picoseconds at) {
  if (side == AtSideCache::none)
    controllers_[served.controller].write(served.line, at);
  else
    write_side_cache(side, home, served, at);
}

// When it is taken.
Picoseconds LineEngine::write_side_cache(AtSideCache side, NodeId home, const LineRoutes::Served& served, Picoseconds at) {
  const SideCache& cost = side_caches_[home.index()];
  const bool fills = side == AtSideCache::filling_write;
  const Picoseconds taken = use_side_cache(home, at, cost.read + (fills ? 2 : 1) * cost.write);
  if (fills) controllers_[served.controller].read(served.line, at);
  return taken;
}

// When it begins.
Picoseconds LineEngine::use_side_cache(NodeId home, Picoseconds from, Picoseconds width) {
  SideCache& side = side_caches_[home.index()];
  const Picoseconds begins = std::max(side.free, from);
  side.free = begins + width;
  if (timeline_ != nullptr)
    timeline_->used(first_side_cache_ + home.index(), Time::picoseconds(begins), Time::picoseconds(side.free),
                    1e-12 * static_cast<double>(width));
  return begins;
}

// When a line that gets there `now` leaves the memory of its home, or is taken there; of a read that misses the memory-side cache, first
// when its tags are read, and again from then on. `idle`: how long it would be there if nobody else were.
Picoseconds LineEngine::at_memory(Miss& miss, Picoseconds now, Picoseconds& idle, std::size_t& resource) {
  MemoryController& controller = controllers_[miss.served.controller];
  resource = miss.served.controller;
  idle = miss.writes_memory ? 0 : controller.idle();
  if (miss.side == AtSideCache::none)
    return miss.writes_memory ? controller.write(miss.served.line, now) : controller.read(miss.served.line, now);
  if (miss.side == AtSideCache::fetched) {
    const NodeDescription& node = machine_.nodes[miss.home.index()];
    const Picoseconds adds = std::max<Picoseconds>((node.latency - *node.memory_side_latency).count() - controller.idle(), 0);
    idle += adds;
    return controller.read(miss.served.line, now) + adds;
  }
  resource = first_side_cache_ + miss.home.index();
  if (miss.writes_memory) return write_side_cache(miss.side, miss.home, miss.served, now);
  const SideCache& side = side_caches_[miss.home.index()];
  const bool hit = miss.side == AtSideCache::hit;
  if (!hit) miss.side = AtSideCache::fetched;
  return use_side_cache(miss.home, now, hit ? side.read : side.read + side.write) + controller.idle();
}

// When the line, which is there when it is `ready`, begins to pass the port.
Picoseconds LineEngine::come_in(RunningSlice& r, Picoseconds ready, Picoseconds now) {
  const std::size_t domain = machine_.cache_of(r.asker.core, machine_.caches.size() - 1).index();
  TimeSlots& port = ports_[domain].in;
  const Picoseconds begins = port.take(ready, now);
  const std::size_t resource = first_port_ + 2 * domain;
  if (timeline_ != nullptr)
    timeline_->used(resource, Time::picoseconds(begins), Time::picoseconds(begins + port.width()),
                    1e-12 * static_cast<double>(port.width()));
  if (begins > ready) {
    if (r.waited[resource] == 0) r.queued.push_back(static_cast<std::uint32_t>(resource));
    r.waited[resource] += begins - ready;
  }
  return begins;
}

Picoseconds LineEngine::go_out(const RunningSlice& r, Picoseconds at) {
  if (ports_.empty()) return 0;
  const std::size_t domain = machine_.cache_of(r.asker.core, machine_.caches.size() - 1).index();
  Port& port = ports_[domain];
  const Picoseconds begins = std::max(port.out_free, at);
  port.out_free = begins + port_out_;
  if (timeline_ != nullptr)
    timeline_->used(first_port_ + 2 * domain + 1, Time::picoseconds(begins), Time::picoseconds(port.out_free),
                    1e-12 * static_cast<double>(port_out_));
  return begins;
}

Picoseconds LineEngine::held_up_by_port(const RunningSlice& r) const {
  const Port& port = ports_[machine_.cache_of(r.asker.core, machine_.caches.size() - 1).index()];
  return port.out_free - machine_.miss_buffers * port_out_;
}

}  // namespace homenode
