#include "models/engines/line/line_engine.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "models/engines/line/ring_routes.hpp"
#include "models/engines/parts/controller_costs.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/line_bytes.hpp"

namespace homenode {

LineEngine::LineEngine(const Workload& workload, const Machine& machine, const Topology& topology, const EngineOptions& options)
    : workload_{workload},
      machine_{machine},
      topology_{topology},
      line_bytes_{line_bytes(machine)},
      system_{options.system},
      stage_{workload, machine, std::make_unique<SliceCollector>(collecting_),
             LineTouchOptions::of(machine, options.stores, options.code.get()), options.page},
      caches_{machine, options.seed, SetCaches::forwards_clean(machine)},
      fresh_{fresh_pages(machine, options)},
      core_times_{workload, machine, options.code},
      core_clocks_{workload, machine, options.team, options.code},
      link_free_(topology.directed_links(), 0),
      side_{machine, true},
      counts_{machine, topology},
      causes_{machine, topology, workload.regions.size()},
      timeline_{options.timeline} {
  stage_.know_touches();
  for (std::size_t level = 0; level + 1 < machine.caches.size(); ++level) {
    if (machine.caches[level].cores_per_cache > 1)
      throw UsageError("machine '" + machine.name + "': " + std::to_string(machine.caches[level].cores_per_cache) +
                       " cores share the caches of level " + std::to_string(level + 1) +
                       "; the engine line allows cores to share the outermost level only");
  }
  const auto pace = [&](const std::optional<Bandwidth>& bandwidth) { return bandwidth ? line_time(*bandwidth) : 0; };
  exchange_ = {pace(machine.read_bandwidth), pace(machine.write_bandwidth), pace(machine.nontemporal_bandwidth)};
  for (std::size_t c = 0; c < machine.controllers.size(); ++c)
    controllers_.emplace_back(machine.dram, line_costs(machine, c), std::max<std::uint64_t>(4096 / line_bytes_, 1));
  for (std::size_t c = 0; c < controllers_.size(); ++c) controllers_[c].set_timeline(timeline_, c);
  if (machine.ring) {
    routes_ = std::make_unique<RingRoutes>(machine, options.physical_memory.value_or(PhysicalMemory{machine, options.page, options.seed}),
                                           controllers_.front().idle(), timeline_, controllers_.size() + link_free_.size());
    ring_hop_ = machine.ring->hop.count();
  } else {
    routes_ = std::make_unique<SocketRoutes>(machine, topology, controllers_.front().idle());
  }
  lookahead_ = routes_->least_transfer() / 2;
  describe_memory_side();
}

EventCounts LineEngine::counts() const {
  EventCounts counts = counts_.all();
  counts.rings = routes_->rings();
  return counts;
}

// 0: no limit.
Picoseconds LineEngine::line_time(Bandwidth bandwidth) const {
  const double rate = bandwidth.bytes_per_second();
  return rate > 0 ? std::llround(static_cast<double>(line_bytes_) / rate * 1e12) : 0;
}

// Where a core waits for the last lines of its slice, the slice ends.
bool LineEngine::ends_slice(const EventQueue::Event& event) const {
  if ((event.who & is_transaction) != 0) return false;
  const RunningSlice& r = cores_[event.who];
  return r.active && r.wake == event.time && r.waits == RunningSlice::Waits::at_end;
}

void LineEngine::process(const EventQueue::Event& event, std::vector<Completion>& done) {
  if ((event.who & is_transaction) != 0) {
    const std::uint32_t index = event.who & ~is_transaction;
    step(transactions_[index], index, event.time);
  } else if (RunningSlice& r = cores_[event.who]; r.active && r.wake == event.time) {
    wake(r, event.time, done);
  }
}

void LineEngine::run_ahead(Time until) {
  limit_ = std::min(until.count(), RunningSlice::never / 2);
  std::vector<Completion> none;
  while (events_.first().time <= limit_ && !ends_slice(events_.first())) process(events_.pop(), none);
}

std::optional<Time> LineEngine::next_event() {
  if (events_.empty()) return std::nullopt;
  return Time::picoseconds(events_.first().time);
}

void LineEngine::advance(Time to, std::vector<Completion>& done) {
  limit_ = std::min(to.count(), RunningSlice::never / 2);
  const std::size_t first = done.size();
  while (events_.first().time <= limit_) process(events_.pop(), done);
  std::sort(done.begin() + static_cast<std::ptrdiff_t>(first), done.end(),
            [](const Completion& a, const Completion& b) { return std::tie(a.time, a.thread) < std::tie(b.time, b.thread); });
}

void LineEngine::drop(AddressRange bytes, bool discard) {
  if (side_.remembers()) side_.forget(lines_of(bytes, line_bytes_));
  victims_.clear();
  caches_.drop(lines_of(bytes, line_bytes_), discard, victims_);
  victims_.clear();
}

void LineEngine::flush(AddressSpace& addresses) {
  victims_.clear();
  caches_.flush(victims_);
  std::vector<HomeShare> shares;
  for (const LineRange& lines : victims_.writebacks) addresses.homes(lines, NodeId{0}, shares);
  for (const HomeShare& share : shares) counts_.at_end(share.home, share.lines);
}

}  // namespace homenode
