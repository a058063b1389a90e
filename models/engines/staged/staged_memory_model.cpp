#include "models/engines/staged/staged_memory_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "models/engines/parts/controller_costs.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

// Causes beyond the shared resources, in this order after them.
enum PrivateCause : std::size_t { core_cause, latency_cause, cache_cause, overhead_cause, private_causes };
constexpr const char* private_names[private_causes] = {"core", "latency", "cache", "overhead"};

constexpr double picosecond = 1e-12;

}  // namespace

StagedMemoryModel::StagedMemoryModel(const Workload& workload, const Machine& machine, const Topology& topology,
                                     std::unique_ptr<CacheModel> caches, std::unique_ptr<BandwidthSharing> sharing, StagedOptions options)
    : workload_{workload},
      machine_{machine},
      topology_{topology},
      caches_{workload,     machine,        std::move(caches), LineTouchOptions::of(machine, options.stores),
              options.page, options.record, options.recorded},
      sharing_{std::move(sharing)},
      options_{std::move(options)},
      messages_{machine, topology},
      bound_{workload, machine},
      faulting_(machine.sockets, 0),
      controllers_of_(machine.nodes.size()),
      core_times_{workload, machine},
      demand_(machine.nodes.size()),
      use_(shared_resources(machine, topology), 0.0),
      offered_(shared_resources(machine, topology), 0.0),
      load_(shared_resources(machine, topology), 0.0),
      causes_(machine, topology, private_names, workload.regions.size()) {
  for (std::size_t c = 0; c < machine.controllers.size(); ++c) {
    const ControllerDescription& controller = machine.controllers[c];
    controllers_of_[controller.node.index()].push_back(c);
    const LineCosts costs = line_costs(machine, c);
    if (!(costs.write > 0)) {
      throw InputError("machine '" + machine.name + "', controller " + std::to_string(c) + ": bandwidth one to one is " +
                       to_string(controller.one_to_one) + " beside " + to_string(controller.read_only) +
                       " for reads only; allowed: less than twice as much");
    }
    read_cost_.push_back(costs.read);
    write_cost_.push_back(costs.write);
  }
  for (std::size_t node = 0; node < machine.nodes.size(); ++node) {
    Time least = Time::max();
    for (std::size_t home = 0; home < machine.nodes.size(); ++home) least = std::min(least, topology.latency(NodeId{node}, NodeId{home}));
    nearest_.push_back(least.seconds());
  }
  const std::size_t nodes = machine.nodes.size();
  counts_.nodes = nodes;
  counts_.traffic_bytes.assign(nodes * nodes, 0);
  counts_.read_bytes.assign(nodes, 0);
  counts_.write_bytes.assign(nodes, 0);
  counts_.link_bytes.assign(topology.directed_links(), 0);
  counts_.hit_lines.assign(machine.caches.size(), 0);
}

std::uint64_t StagedMemoryModel::line_bytes() const {
  return static_cast<std::uint64_t>(machine_.caches.empty() ? 64 : machine_.caches.front().line.count());
}

Started StagedMemoryModel::start(const Work& work, AddressSpace& addresses) {
  const Execution& execution = workload_.executions[work.items.execution.index()];
  if (body_of_ != work.items.execution) {
    body_ = workload_.body(work.items.execution);
    body_of_ = work.items.execution;
  }
  const Place& place = work.place;
  if (counts_.local_bytes.size() <= place.thread.index()) {
    counts_.local_bytes.resize(place.thread.index() + 1, 0);
    counts_.remote_bytes.resize(place.thread.index() + 1, 0);
  }
  const bool watched = addresses.watch().watches() != Watch::nothing;
  if (watched) {
    addresses.watch().begin_slice(place);
    work_on_pages(place, addresses);
  }
  const auto tell_faults = [&] {
    addresses.watch().tell_faults(place);
    work_on_pages(place, addresses);
  };
  const CacheStage::Passed passed = caches_.pass(work, addresses, watched ? tell_faults : std::function<void()>{});
  outcome_ = &passed.slice.outcome;
  counts_.tlb_misses += passed.walked_pages;
  const std::uint64_t faulted = addresses.settle();  // the placement is asked once for the whole slice
  const double walk_seconds = passed.walks * machine_.tlb.miss_penalty.seconds();
  collect_demand(place.node, addresses);
  if (watched) tell_traffic(place, addresses);
  const double transfers = transfer_seconds(place, addresses);
  const double faults = fault_seconds(place, faulted, addresses);
  use_resources(place);

  // What the slice would take alone on an idle machine, then the load it adds, then its latency under all load.
  const double core = core_times_.seconds(passed.slice, *body_);
  double hits = 0;
  for (std::size_t level = 1; level < outcome_->hit_weight.size() && level < machine_.caches.size(); ++level) {
    // By latency, as many lines in flight as the stream allows, or by what the level delivers to one core.
    const CacheDescription& cache = machine_.caches[level];
    const double bandwidth = cache.bandwidth_per_core.bytes_per_second();
    const double delivery = bandwidth > 0 ? static_cast<double>(outcome_->hit_lines[level] * line_bytes()) / bandwidth : 0;
    hits += std::max(outcome_->hit_weight[level] * cache.latency.seconds(), delivery);
  }
  double idle = 0, read_weight = 0;
  for (std::size_t home = 0; home < demand_.size(); ++home) {
    read_weight += demand_[home].read_weight;
    if (demand_[home].reads != 0) idle += demand_[home].read_weight * topology_.latency(place.node, NodeId{home}).seconds();
  }
  const auto busy = [&](double memory) { return machine_.overlap == Overlap::full ? std::max(core, memory) : core + memory; };
  const double alone = busy(hits + transfers + idle);
  if (alone > 0) {
    for (const std::uint32_t resource : used_) offered_[resource] += use_[resource] / alone;
  }
  double loaded = 0;
  for (std::size_t home = 0; home < demand_.size(); ++home) {
    const HomeDemand& demand = demand_[home];
    if (demand.reads == 0) continue;
    const Time latency = topology_.latency(place.node, NodeId{home});
    Time extra;
    for (const std::size_t controller : controllers_of_[home])
      extra = std::max(extra, extra_latency(machine_, topology_, controller, offered_[controller]));
    loaded += demand.read_weight * (latency + extra).seconds();
    count_latency(memory_source(place.node, NodeId{home}), latency + extra, demand.reads);
  }
  const double memory = hits + transfers + loaded;
  if (options_.timeline != nullptr)
    options_.timeline->record(ThreadActivity::page_work, place.thread, workload_, work.items, place.now,
                              place.now + Time::from_seconds(kernel_seconds_));
  const double overhead = work.overhead.seconds() + faults + walk_seconds + std::exchange(kernel_seconds_, 0.0);
  const double private_seconds = busy(memory) + overhead;
  const double around = work.overhead.seconds() + walk_seconds;
  const double least = busy(hits + transfers + read_weight * nearest_[place.node.index()]) + around;
  note_bound(work, least, faulted);
  if (options_.page_demand != nullptr) {
    const double beside_reads = hits + transfers + (machine_.overlap == Overlap::full ? 0 : core) + around;
    options_.page_demand->add(bound_.phase(work.items.execution), place, *outcome_, least, beside_reads, addresses);
  }

  Running running;
  running.thread = place.thread;
  running.region = execution.region;
  running.begin = place.now;
  running.minimum = Time::from_seconds(private_seconds);
  running.private_cause = overhead > busy(memory)     ? overhead_cause
                          : core >= memory            ? core_cause
                          : hits > loaded + transfers ? cache_cause
                                                      : latency_cause;
  if (use_[lock()] > 0) {
    running.faults_on = machine_.socket_of(place.node);
    faulting_pairs_ += transfers_from_others(*running.faults_on) * 2;
    ++faulting_[running.faults_on->index()];
    ++faulting_slices_;
  }
  Activity activity;
  activity.minimum = running.minimum;
  activity.uses.reserve(used_.size());
  running.load_before.reserve(used_.size());
  for (const std::uint32_t resource : used_) {
    activity.uses.push_back({ResourceId{resource}, use_[resource]});
    if (alone > 0) offered_[resource] -= use_[resource] / alone;
    // Until its end it offers what it would draw at idle latency, overheads included: what the equilibrium asks for.
    running.share_of_second = 1 / std::max(alone + overhead, picosecond);
    offered_[resource] += use_[resource] * running.share_of_second;
    running.load_before.push_back(load_[resource]);
    use_[resource] = 0;
  }
  used_.clear();
  running.uses = activity.uses;
  count_traffic(place);
  for (HomeDemand& demand : demand_) demand = {};
  const ActivityId id = sharing_->start(activity);
  running.activity = id;
  running_.emplace(id, std::move(running));
  return {WorkId{id.index()}, passed.slice.reached};
}

double StagedMemoryModel::fault_seconds(const Place& place, std::uint64_t faults, const AddressSpace& addresses) {
  if (faults == 0) return 0;
  const FaultCost& cost = options_.system.fault;
  const auto number = static_cast<double>(faults);
  const double serial = number * lock_seconds(machine_.socket_of(place.node));
  remember(ResourceId{lock()}, serial);
  double seconds = number * cost.parallel.seconds() + serial;
  if (cost.zeroing == 0) return seconds;
  const double lines_per_page = static_cast<double>(addresses.page_bytes()) / static_cast<double>(line_bytes());
  for (std::size_t home = 0; home < demand_.size(); ++home) {
    const std::uint64_t pages = addresses.settled_pages()[home];
    if (pages == 0) continue;
    const auto lines = static_cast<std::uint64_t>(std::llround(static_cast<double>(pages) * lines_per_page * cost.zeroing));
    demand_[home].zeroed = lines;
    seconds += static_cast<double>(lines) / machine_.prefetched_lines * topology_.latency(place.node, NodeId{home}).seconds();
  }
  return seconds;
}

Time StagedMemoryModel::lock_transfer(SocketId from, SocketId to) const {
  const auto hops = static_cast<std::int64_t>(topology_.hops(from, to));
  return hops == 0 ? machine_.core_to_core_local : machine_.core_to_core_remote * hops;
}

Time StagedMemoryModel::transfers_from_others(SocketId socket) const {
  Time sum;
  for (std::size_t other = 0; other < faulting_.size(); ++other)
    if (faulting_[other] != 0) sum += lock_transfer(socket, SocketId{other}) * static_cast<std::int64_t>(faulting_[other]);
  return sum;
}

// n slices that fault hand the lock to each other, each as likely: S / n transfers for one fault of each, S summed over ordered pairs.
// A slice is charged with what it adds to that, for those that began before it will wait for it as well.
double StagedMemoryModel::lock_seconds(SocketId socket) const {
  const FaultCost& cost = options_.system.fault;
  if (cost.serial_transfers == 0 || faulting_slices_ == 0) return cost.serial.seconds();
  const auto others = static_cast<double>(faulting_slices_);
  const double added = 2 * transfers_from_others(socket).seconds() - faulting_pairs_.seconds() / others;
  return cost.serial.seconds() + cost.serial_transfers * std::max(added, 0.0) / (others + 1);
}

// What the placement did to pages since it was last looked at, on the core at `place`.
void StagedMemoryModel::work_on_pages(const Place& place, AddressSpace& addresses) {
  const PageWork done = addresses.watch().take_work();
  kernel_seconds_ += static_cast<double>(done.hinting_faults) * options_.system.balancing.hinting_fault.seconds() +
                     static_cast<double>(done.unmapped) * options_.system.balancing.scan.seconds();
  const std::uint64_t lines = addresses.page_bytes() / line_bytes();
  for (const PageMove& move : done.moves) {
    const LineNumber first = addresses.first_byte(move.page) / line_bytes();
    moved_.clear();
    caches_.drop({first, first + lines}, false, moved_);
    for (const LineRange& modified : moved_.writebacks) demand_[move.from.index()].writebacks += modified.size();
    demand_[move.from.index()].reads += lines;
    demand_[move.to.index()].non_temporal += lines;
    // The copy goes at the pace of the slower side, with as many lines in flight as a stream has.
    const Time latency = std::max(topology_.latency(place.node, move.from), topology_.latency(place.node, move.to));
    kernel_seconds_ += (options_.system.migration.fixed + options_.system.migration.shootdown).seconds() +
                       static_cast<double>(lines) / machine_.prefetched_lines * latency.seconds();
  }
}

void StagedMemoryModel::tell_traffic(const Place& place, AddressSpace& addresses) {
  PageWatch& watch = addresses.watch();
  if (watch.watches() != Watch::traffic) return;
  const std::uint64_t line = line_bytes();
  for (const MissRange& miss : outcome_->reads) watch.exchanged(miss.lines.first * line, miss.lines.last * line, false);
  for (const LineRange& lines : outcome_->writebacks) watch.exchanged(lines.first * line, lines.last * line, true);
  for (const LineRange& lines : outcome_->non_temporal_writes) watch.exchanged(lines.first * line, lines.last * line, true);
  watch.tell_traffic(place);
}

void StagedMemoryModel::collect_demand(NodeId reader, const AddressSpace& addresses) {
  const auto by_home = [&](const LineRange& lines, auto add) {
    shares_.clear();
    addresses.homes(lines.first, lines.last, reader, shares_);
    for (const HomeShare& share : shares_) add(demand_[share.home.index()], share.lines);
  };
  for (const MissRange& miss : outcome_->reads) {
    by_home(miss.lines, [&](HomeDemand& demand, std::uint64_t lines) {
      demand.reads += lines;
      demand.read_weight += static_cast<double>(lines) / miss.parallelism;
    });
  }
  for (const LineRange& lines : outcome_->writebacks) {
    by_home(lines, [](HomeDemand& demand, std::uint64_t count) { demand.writebacks += count; });
  }
  for (const LineRange& lines : outcome_->non_temporal_writes) {
    by_home(lines, [](HomeDemand& demand, std::uint64_t count) { demand.non_temporal += count; });
  }
}

void StagedMemoryModel::remember(ResourceId resource, double seconds) {
  if (seconds <= 0) return;
  if (use_[resource.index()] == 0) used_.push_back(resource.value());
  use_[resource.index()] += seconds;
}

void StagedMemoryModel::use_link_bytes(const std::vector<LinkBytes>& costs, std::uint64_t lines) {
  for (const LinkBytes& cost : costs) {
    const double bytes = cost.bytes * static_cast<double>(lines);
    const double bandwidth = machine_.links[cost.link.index() / 2].bandwidth.bytes_per_second();
    remember(ResourceId{machine_.controllers.size() + cost.link.index()}, bytes / bandwidth);
    counts_.link_bytes[cost.link.index()] += static_cast<std::uint64_t>(std::llround(bytes));
  }
}

// Lines of pages that moved are not among them: another placement would not move them.
void StagedMemoryModel::note_bound(const Work& work, double least_seconds, std::uint64_t faults) {
  LowerBound::Slice slice{work.items.execution, work.place, Time::from_seconds(least_seconds),
                          (options_.system.fault.parallel + options_.system.fault.serial) * static_cast<std::int64_t>(faults)};
  for (const MissRange& miss : outcome_->reads) slice.reads += miss.lines.size();
  for (const LineRange& lines : outcome_->writebacks) slice.writes += lines.size();
  for (const LineRange& lines : outcome_->non_temporal_writes) slice.writes += lines.size();
  bound_.add(slice);
}

void StagedMemoryModel::use_resources(const Place& place) {
  const SocketId socket = machine_.socket_of(place.node);
  for (std::size_t home = 0; home < demand_.size(); ++home) {
    const HomeDemand& demand = demand_[home];
    const std::uint64_t writes = demand.writes();
    if (demand.reads + writes == 0) continue;
    const auto& controllers = controllers_of_[home];
    for (const std::size_t c : controllers) {  // lines are spread evenly over a node's controllers
      const double seconds = static_cast<double>(demand.reads) * read_cost_[c] + static_cast<double>(writes) * write_cost_[c];
      remember(ResourceId{c}, seconds / static_cast<double>(controllers.size()));
    }
    const SocketId there = machine_.socket_of(NodeId{home});
    if (demand.reads != 0) use_link_bytes(messages_.read(socket, there), demand.reads);
    const std::uint64_t non_temporal = demand.non_temporal + demand.zeroed;
    if (non_temporal != 0) use_link_bytes(messages_.non_temporal_write(socket, there), non_temporal);
    if (demand.writebacks != 0) use_link_bytes(messages_.writeback(socket, there), demand.writebacks);
  }
  if (outcome_->upgrades != 0) use_link_bytes(messages_.upgrade(socket), outcome_->upgrades);
  std::sort(used_.begin(), used_.end());
}

double StagedMemoryModel::transfer_seconds(const Place& place, const AddressSpace& addresses) {
  double seconds = 0;
  const SocketId socket = machine_.socket_of(place.node);
  for (const TransferRange& transfer : outcome_->transfers) {
    const SocketId owner = machine_.socket_of(transfer.owner);
    const std::uint64_t lines = transfer.lines.size();
    const auto hops = static_cast<std::int64_t>(std::max<std::size_t>(topology_.hops(socket, owner), 1));
    const Time latency = owner == socket ? machine_.core_to_core_local : machine_.core_to_core_remote * hops;
    seconds += static_cast<double>(lines) / transfer.parallelism * latency.seconds();
    shares_.clear();
    addresses.homes(transfer.lines.first, transfer.lines.last, place.node, shares_);
    for (const HomeShare& share : shares_) use_link_bytes(messages_.transfer(socket, machine_.socket_of(share.home), owner), share.lines);
    count_latency("transfer", latency, lines);
    counts_.transfer_lines += lines;
  }
  return seconds;
}

void StagedMemoryModel::count_traffic(const Place& place) {
  const std::uint64_t line = line_bytes();
  for (std::size_t home = 0; home < demand_.size(); ++home) {
    const HomeDemand& demand = demand_[home];
    const std::uint64_t writes = demand.writes(), bytes = (demand.reads + writes) * line;
    counts_.traffic_bytes[place.node.index() * counts_.nodes + home] += bytes;
    counts_.read_bytes[home] += demand.reads * line;
    counts_.write_bytes[home] += writes * line;
    counts_.zeroed_bytes += demand.zeroed * line;
    counts_.memory_lines += demand.reads + writes;
    auto& by_thread = home == place.node.index() ? counts_.local_bytes : counts_.remote_bytes;
    by_thread[place.thread.index()] += bytes;
  }
  for (std::size_t level = 0; level < outcome_->hit_lines.size(); ++level) {
    counts_.hit_lines[level] += outcome_->hit_lines[level];
    if (level > 0)
      count_latency(level + 1 == outcome_->hit_lines.size() && level >= 2 ? "L3" : "L2", machine_.caches[level].latency,
                    outcome_->hit_lines[level]);
  }
  counts_.accesses += outcome_->accesses;
  counts_.upgrade_lines += outcome_->upgrades;
}

void StagedMemoryModel::count_latency(const char* source, Time latency, std::uint64_t lines) {
  if (lines == 0) return;
  const auto same = [source](const auto& known) { return known.first == source; };
  auto found = std::find_if(sources_.begin(), sources_.end(), same);
  if (found == sources_.end()) found = sources_.insert(found, {source, &counts_.latency_ns[source]});
  (*found->second)[static_cast<std::int64_t>(std::llround(latency.nanoseconds()))] += lines;
}

const char* StagedMemoryModel::memory_source(NodeId reader, NodeId home) const {
  if (reader == home) return "local";
  switch (topology_.hops(machine_.socket_of(reader), machine_.socket_of(home))) {
    case 0:
      return "same socket";
    case 1:
      return "1 hop";
    case 2:
      return "2 hops";
    default:
      return "more hops";
  }
}

void StagedMemoryModel::advance(Time to, std::vector<Completion>& done) {
  ended_.clear();
  sharing_->advance(to, ended_);
  const double passed = (to - now_).seconds();
  for (std::size_t resource = 0; resource < load_.size(); ++resource) load_[resource] += offered_[resource] * passed;
  now_ = to;
  const std::size_t first = done.size();
  for (const ActivityEnd& end : ended_) {
    auto found = running_.find(end.activity);
    const Running& running = found->second;
    done.push_back({WorkId{end.activity.index()}, running.thread, end.time});
    const Time duration = end.time - running.begin;
    std::size_t cause = causes_.of_model(running.private_cause);
    // Stretched beyond what it needs alone: by the resource that was in most demand during its life.
    if (duration > running.minimum + Time::picoseconds(1 + running.minimum.count() / 1000)) {
      double greatest = -1;
      for (std::size_t u = 0; u < running.uses.size(); ++u) {
        const std::size_t resource = running.uses[u].resource.index();
        const double load = load_[resource] - running.load_before[u];
        if (load > greatest) {
          greatest = load;
          cause = resource;
        }
      }
    }
    causes_.add(running.region, cause, duration.seconds());
    if (options_.timeline != nullptr) {
      for (const ResourceUse& use : running.uses) options_.timeline->used(use.resource.index(), running.begin, end.time, use.seconds);
    }
    for (const ResourceUse& use : running.uses)
      offered_[use.resource.index()] = std::max(0.0, offered_[use.resource.index()] - use.seconds * running.share_of_second);
    if (running.faults_on) {
      --faulting_[running.faults_on->index()];
      --faulting_slices_;
      faulting_pairs_ -= transfers_from_others(*running.faults_on) * 2;
    }
    running_.erase(found);
  }
  std::sort(done.begin() + static_cast<std::ptrdiff_t>(first), done.end(),
            [](const Completion& a, const Completion& b) { return std::tie(a.time, a.thread) < std::tie(b.time, b.thread); });
}

void StagedMemoryModel::drop(std::uint64_t first_address, std::uint64_t last_address, bool discard) {
  const std::uint64_t line = line_bytes();
  moved_.clear();
  caches_.drop({first_address / line, (last_address + line - 1) / line}, discard, moved_);
}

void StagedMemoryModel::flush(AddressSpace& addresses) {
  moved_.clear();
  caches_.flush(moved_);
  const std::uint64_t line = line_bytes();
  shares_.clear();
  for (const LineRange& lines : moved_.writebacks) addresses.homes(lines.first, lines.last, NodeId{0}, shares_);
  for (const HomeShare& share : shares_) {  // counted as written by the home's own node: nobody waits for it
    const std::size_t home = share.home.index();
    counts_.traffic_bytes[home * counts_.nodes + home] += share.lines * line;
    counts_.write_bytes[home] += share.lines * line;
    counts_.memory_lines += share.lines;
  }
}

}  // namespace homenode
