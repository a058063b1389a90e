#include "models/engines/staged/staged_memory_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/engines/parts/controller_load.hpp"
#include "models/engines/parts/page_work.hpp"
#include "models/optimum/page_demand.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/line_bytes.hpp"
#include "sim/machine/transfer_latency.hpp"
#include "sim/report/timeline.hpp"

namespace homenode {
namespace {

constexpr double picosecond = 1e-12;

}  // namespace

StagedMemoryModel::StagedMemoryModel(const Workload& workload, const Machine& machine, const Topology& topology,
                                     std::unique_ptr<CacheModel> caches, std::unique_ptr<BandwidthSharing> sharing, EngineOptions options)
    : workload_{workload},
      machine_{machine},
      topology_{topology},
      line_bytes_{line_bytes(machine)},
      caches_{workload,          machine,
              std::move(caches), LineTouchOptions::of(machine, options.stores, options.code.get()),
              options.page,      SharedRecord{options.record, options.recorded},
              options.warp,      fresh_pages(machine, options)},
      sharing_{std::move(sharing)},
      options_{std::move(options)},
      messages_{machine, topology},
      domains_{machine},
      bound_{workload, machine},
      fault_lock_{machine, topology, options_.system.fault},
      side_{machine, true},
      port_costs_{port_costs(machine)},
      first_side_cache_{first_side_cache(machine, topology)},
      first_port_{first_port(machine, topology)},
      controllers_of_(machine.nodes.size()),
      core_times_{workload, machine, options_.code},
      core_clocks_{workload, machine, options_.team, options_.code},
      causes_{machine, topology, workload.regions.size()},
      demand_{machine.nodes.size()},
      use_{causes_.shared()},
      visited_links_(std::max<std::size_t>(topology.directed_links(), 1), 0.0),
      offered_(causes_.shared(), 0.0),
      load_(causes_.shared(), 0.0),
      counts_{machine, topology} {
  for (std::size_t c = 0; c < machine.controllers.size(); ++c) {
    const ControllerDescription& controller = machine.controllers[c];
    controllers_of_[controller.node.index()].push_back(c);
    line_costs_.push_back(line_costs(machine, c));
    if (!(line_costs_.back().write > 0)) {
      throw InputError("machine '" + machine.name + "', controller " + std::to_string(c) + ": bandwidth one to one is " +
                       to_string(controller.one_to_one) + " beside " + to_string(controller.read_only) +
                       " for reads only; allowed: less than twice as much");
    }
  }
  for (std::size_t node = 0; node < machine.nodes.size(); ++node) {
    Time least = Time::max();
    for (std::size_t home = 0; home < machine.nodes.size(); ++home) least = std::min(least, topology.latency(NodeId{node}, NodeId{home}));
    nearest_.push_back(least.seconds());
    side_costs_.push_back(side_cache_costs(machine, NodeId{node}));
  }
}

Started StagedMemoryModel::start(const Work& work, AddressSpace& addresses) {
  const Place& place = work.place;
  counts_.add_thread(place.thread);
  demand_.clear();
  use_.clear();
  double kernel_seconds = 0;  // of work on pages
  hinting_faults_ = collapses_ = 0;
  cycle_ = core_clocks_.cycle(work.items.execution, place.core);
  const CacheStage::Passed passed = pass_caches(work, addresses, kernel_seconds);
  const CacheOutcome& outcome = passed.slice.outcome;
  const std::uint64_t huge_before = addresses.huge_pages();
  const std::uint64_t faulted = addresses.settle();  // the placement is asked once for the whole slice
  demand_.add(outcome, place.node, addresses, side_);
  note_written_earlier(outcome, addresses);
  tell_traffic(outcome, place, addresses);
  const CoreTimes::Work computing = core_times_.of(passed.slice);
  CoreSeconds<double> spent{std::max(cycle_ * computing.seconds, passed.walks.least_core_seconds(machine_.tlb)), hit_time(outcome),
                            transfer_time(outcome, place, addresses) + ownership_time(outcome, place), 0, 0};
  const double faults = fault_time(place, faulted, addresses.huge_pages() - huge_before, addresses);
  // Non-temporal stores wait beside all else.
  const double exchange = std::max(exchange_time(), streaming_time(place.node) - spent.hits - spent.transfers);
  use_resources(place, outcome);

  // What the slice would take alone on an idle machine, then the load it adds, then its latency under all load.
  const std::span<const SlicePhase> phases{passed.slice.phases};
  const double reread = reread_factor(phases, machine_);
  spent.same_set = same_set_seconds(phases, machine_, cycle_);
  spent.loading = cycle_ * computing.loads * load_pace(machine_);
  spent.fills = fill_seconds(phases, machine_, cycle_);
  const auto read_in = [&](double seconds) {
    spent.reads = reread * seconds;
    spent.waited = waited_seconds(phases, spent, machine_, cycle_);
    spent.reads = std::max(spent.reads, exchange);
  };
  read_in(idle_read_time(place.node));
  const double alone = busy_seconds(phases, spent, machine_);
  const double contended = contention_time(passed.slice.contention, place, alone);
  for (const std::uint32_t resource : use_.ascending()) offered_[resource] += offered_share(use_.seconds(ResourceId{resource}), alone);
  read_in(loaded_read_time(place.node));
  const Time page_work = Time::from_seconds(kernel_seconds);
  if (options_.timeline != nullptr)
    options_.timeline->record(ThreadActivity::page_work, place.thread, workload_, work.items, place.now, place.now + page_work);
  const double walks = passed.walks.seconds(machine_.tlb, from_memory(outcome));
  const double overhead = work.overhead.seconds() + faults + walks + kernel_seconds;
  note_bound(work, passed.slice, spent, work.overhead.seconds() + walks, faulted, addresses);

  const SliceParts parts = parts_of(phases, spent, machine_);
  Running running;
  running.thread = place.thread;
  running.region = workload_.executions[work.items.execution.index()].region;
  running.begin = place.now;
  const double whole = parts.dense.seconds + parts.rest.seconds;
  const auto part_of = [&](const SlicePart& part, double kernel, double lines) {
    const double idle = whole > 0 ? alone * part.seconds / whole : 0, before = kernel + lines;
    const bool waits = lines > kernel + part.seconds;
    return Part{Time::from_seconds(part.seconds + before), std::max(idle + before, picosecond), part.lines,
                waits ? PrivateCause::latency : private_cause(part.spent, machine_.overlap, kernel)};
  };
  running.parts = {part_of(parts.dense, overhead, contended), part_of(parts.rest, 0, 0)};
  running.last_part = parts.rest.seconds > 0 ? 1 : 0;
  if (use_.seconds(lock()) > 0) running.faults_on = machine_.socket_of(place.node);
  note_faults(running, place, faults + watched_fault_seconds(), faulted + hinting_faults_ + collapses_);
  list_uses(work, outcome, running);
  for (const ResourceUse& use : running.uses) offered_[use.resource.index()] -= offered_share(use.seconds, alone);
  counts_.events.tlb_misses += passed.walks.pages;
  count(outcome, place);
  return {begin(std::move(running)), passed.slice.reached, page_work};
}

CacheStage::Passed StagedMemoryModel::pass_caches(const Work& work, AddressSpace& addresses, double& kernel_seconds) {
  PageWatch& watch = addresses.watch();
  if (watch.watches() == Watch::nothing) return caches_.pass(work, addresses);
  watch.begin_slice(work.place);
  work_on_pages(work.place, addresses, kernel_seconds);
  return caches_.pass(work, addresses, [&] {
    watch.tell_faults(work.place);
    work_on_pages(work.place, addresses, kernel_seconds);
  });
}

// What the placement did to pages since it was last looked at, on the core at `place`.
void StagedMemoryModel::work_on_pages(const Place& place, AddressSpace& addresses, double& kernel_seconds) {
  const PageWork done = addresses.watch().take_work();
  const std::uint64_t lines = addresses.page_bytes() / line_bytes_;
  hinting_faults_ += done.hinting_faults;
  collapses_ += done.collapsed.size();
  add_page_work(done, place.node, addresses, machine_, topology_, options_.system, kernel_seconds);
  const auto leave_caches = [&](PageNumber page, NodeId home) {
    moved_.clear();
    caches_.drop(lines_of(addresses.bytes_of(page), line_bytes_), false, moved_);
    caches_.moved(lines_of(addresses.bytes_of(page), line_bytes_));
    for (const LineRange& modified : moved_.writebacks) demand_.of(home).writebacks += modified.size();
  };
  const auto copy = [&](const PageMove& move) {
    leave_caches(move.page, move.from);
    demand_.of(move.from).reads += lines;
    if (machine_.nodes[move.from.index()].has_side_cache()) demand_.of(move.from).hits += lines;  // as if all were there
    demand_.of(move.to).non_temporal += lines;
    demand_.of(move.to).copied += lines;
  };
  for (const PageNumber page : done.collapsed) leave_caches(page, place.node);
  for (const PageMove& move : done.moves) copy(move);
  for (const PageMove& move : done.copies) copy(move);
}

// Bytes without time, as at the end of the run: the controllers were busy with them before.
void StagedMemoryModel::note_written_earlier(const CacheOutcome& outcome, const AddressSpace& addresses) {
  if (outcome.written_earlier.empty()) return;
  shares_.clear();
  for (const LineRange& lines : outcome.written_earlier) addresses.homes(lines, NodeId{0}, shares_);
  for (const HomeShare& share : shares_) counts_.at_end(share.home, share.lines);
}

void StagedMemoryModel::tell_traffic(const CacheOutcome& outcome, const Place& place, AddressSpace& addresses) {
  PageWatch& watch = addresses.watch();
  if (watch.watches() != Watch::traffic) return;
  const auto tell = [&](const LineRange& lines, bool write) { watch.exchanged(bytes_of(lines, line_bytes_), write); };
  for (const MissRange& miss : outcome.reads) tell(miss.lines, false);
  for (const LineRange& lines : outcome.writebacks) tell(lines, true);
  for (const LineRange& lines : outcome.non_temporal_writes) tell(lines, true);
  watch.tell_traffic(place);
}

double StagedMemoryModel::from_memory(const CacheOutcome& outcome) const {
  double reads = 0;
  for (const MissRange& miss : outcome.reads) reads += static_cast<double>(miss.lines.size());
  const double outermost = machine_.caches.size() > 1 ? static_cast<double>(outcome.hit_lines.back()) : 0;
  return reads > 0 ? reads / (reads + outermost) : 0;
}

double StagedMemoryModel::hit_time(const CacheOutcome& outcome) const {
  double seconds = 0;
  for (std::size_t level = 1; level < outcome.hit_weight.size() && level < machine_.caches.size(); ++level) {
    seconds +=
        level_seconds(at_cycle(machine_.caches[level], cycle_), static_cast<double>(outcome.hit_lines[level]), outcome.hit_weight[level]);
  }
  return seconds;
}

double StagedMemoryModel::transfer_time(const CacheOutcome& outcome, const Place& place, const AddressSpace& addresses) {
  double seconds = 0;
  const SocketId socket = machine_.socket_of(place.node);
  for (const TransferRange& transfer : outcome.transfers) {
    const SocketId owner = machine_.socket_of(transfer.owner);
    const std::uint64_t lines = transfer.lines.size();
    const Time latency = transfer_latency(machine_, topology_, place.core, transfer.owner);
    seconds += static_cast<double>(lines) / transfer.parallelism * latency.seconds();
    shares_.clear();
    addresses.homes(transfer.lines, place.node, shares_);
    for (const HomeShare& share : shares_) use_links(messages_.transfer(socket, machine_.socket_of(share.home), owner), share.lines);
    count_latency("transfer", latency, lines);
    counts_.events.transfer_lines += lines;
  }
  return seconds;
}

// A store waits for the farthest copy, as long as for its data: beyond what it waits for the level that has the line.
double StagedMemoryModel::ownership_time(const CacheOutcome& outcome, const Place& place) {
  double seconds = 0;
  const SocketId socket = machine_.socket_of(place.node);
  for (const UpgradeRange& upgrade : outcome.upgraded) {
    Time farthest;
    domains_.for_each(upgrade.domains,
                      [&](CoreId other) { farthest = std::max(farthest, transfer_latency(machine_, topology_, place.core, other)); });
    const Time found = upgrade.level > 0 ? at_cycle(machine_.caches[upgrade.level], cycle_).latency : Time{};
    const std::uint64_t lines = upgrade.lines.size();
    seconds += static_cast<double>(lines) / upgrade.parallelism * std::max(Time{}, farthest - found).seconds();
    use_links(messages_.upgrade(socket), lines);
    count_latency("upgrade", std::max(farthest, found), lines);
  }
  return seconds;
}

// Lines that other cores write in the same time: seconds that the slice waits for them; adds the busiest line to the resources.
double StagedMemoryModel::contention_time(const Contention& contention, const Place& place, double alone) {
  const ContentionCost cost = contention_cost(contention, place.core, alone, machine_, topology_);
  if (!cost.any()) return 0;
  use_.add(contended_line(), cost.line);
  const SocketId socket = machine_.socket_of(place.node);
  for (const Contention::Writer& writer : contention.writers) {
    const SocketId owner = machine_.socket_of(writer.core);
    use_links(messages_.transfer(socket, owner, owner), static_cast<std::uint64_t>(std::llround(cost.handed * writer.share)));
  }
  const auto lines = static_cast<std::uint64_t>(std::llround(cost.handed));
  count_latency("transfer", cost.transfer, lines);
  counts_.events.transfer_lines += lines;
  return cost.waits;
}

double StagedMemoryModel::exchange_time() const {
  if (!limits_exchange(machine_)) return 0;
  ExchangedLines<double> lines{};
  for (const HomeDemand& demand : demand_.by_home()) {
    lines.reads += static_cast<double>(demand.reads);
    lines.writebacks += static_cast<double>(demand.writebacks);
    lines.non_temporal += static_cast<double>(demand.non_temporal);
  }
  return exchange_seconds(machine_, static_cast<double>(line_bytes_), lines, std::min(lines.reads, lines.writebacks));
}

double StagedMemoryModel::streaming_time(NodeId writer) const {
  double seconds = 0;
  for (std::size_t home = 0; home < machine_.nodes.size(); ++home)
    seconds +=
        static_cast<double>(demand_.by_home()[home].streamed()) * streaming_latency(machine_, topology_, writer, NodeId{home}).seconds();
  return streaming_seconds(machine_, seconds);
}

double StagedMemoryModel::idle_read_time(NodeId reader) const {
  double seconds = 0;
  for (std::size_t home = 0; home < machine_.nodes.size(); ++home) {
    const HomeDemand& demand = demand_.by_home()[home];
    seconds += (demand.read_weight - demand.hit_weight) * topology_.latency(reader, NodeId{home}).seconds() +
               demand.hit_weight * topology_.side_cache_latency(reader, NodeId{home}).seconds();
  }
  return seconds;
}

double StagedMemoryModel::loaded_read_time(NodeId reader) {
  double seconds = 0;
  for (std::size_t home = 0; home < machine_.nodes.size(); ++home) {
    const HomeDemand& demand = demand_.by_home()[home];
    if (demand.reads == 0) continue;
    Time extra;
    for (const std::size_t controller : controllers_of_[home])
      extra = std::max(extra, extra_latency(machine_, topology_, controller, offered_[controller]));
    const Time latency = topology_.latency(reader, NodeId{home}) + extra;
    Time hit = topology_.side_cache_latency(reader, NodeId{home});
    if (demand.hits != 0) hit += extra_latency_of_side_cache(machine_, NodeId{home}, offered_[first_side_cache_ + home]);
    seconds += (demand.read_weight - demand.hit_weight) * latency.seconds() + demand.hit_weight * hit.seconds();
    const char* const source = name_of(distance(machine_, topology_, reader, NodeId{home}));
    count_latency(source, latency, demand.reads - demand.hits);
    count_latency(source, hit, demand.hits);
  }
  return seconds;
}

// Lines of pages that moved are not among them: another placement would not move them. `around`: overhead that every placement has.
void StagedMemoryModel::note_bound(const Work& work, const FilteredSlice& filtered, CoreSeconds<double> spent, double around,
                                   std::uint64_t faults, const AddressSpace& addresses) {
  const CacheOutcome& outcome = filtered.outcome;
  double read_weight = 0;
  for (const HomeDemand& demand : demand_.by_home()) read_weight += demand.read_weight;
  spent.reads = read_weight * nearest_[work.place.node.index()];
  spent.waited = waited_seconds(filtered.phases, spent, machine_, cycle_);
  const double least = spent.busy(machine_.overlap) + around;
  const FaultCost& fault = options_.system.fault;
  const Time least_fault = std::min(fault.parallel, fault.cold.value_or(fault.parallel)) + fault.serial;
  LowerBound::Slice slice{work.items.execution, work.place, Time::from_seconds(least), least_fault * static_cast<std::int64_t>(faults)};
  for (const MissRange& miss : outcome.reads) slice.reads += miss.lines.size();
  for (const LineRange& lines : outcome.writebacks) slice.writes += lines.size();
  for (const LineRange& lines : outcome.non_temporal_writes) slice.writes += lines.size();
  bound_.add(slice);
  if (options_.page_demand == nullptr) return;
  const double beside_reads = spent.hits + spent.transfers + (machine_.overlap == Overlap::full ? 0 : spent.core) + around;
  options_.page_demand->add(bound_.phase(work.items.execution), work.place, outcome, least, beside_reads, addresses);
}

void StagedMemoryModel::count(const CacheOutcome& outcome, const Place& place) {
  for (std::size_t home = 0; home < machine_.nodes.size(); ++home) {
    const HomeDemand& demand = demand_.by_home()[home];
    counts_.memory(place.node, place.thread, NodeId{home}, demand.reads, demand.writes());
    counts_.remembered(NodeId{home}, demand.reads, demand.hits, demand.noted);
    counts_.events.zeroed_bytes += demand.zeroed * line_bytes_;
  }
  for (std::size_t level = 0; level < outcome.hit_lines.size(); ++level) {
    counts_.events.hit_lines[level] += outcome.hit_lines[level];
    if (level == 0) continue;
    std::uint64_t lines = outcome.hit_lines[level];
    for (const UpgradeRange& upgrade : outcome.upgraded)
      if (upgrade.level == level) lines -= upgrade.lines.size();
    count_latency(level + 1 == outcome.hit_lines.size() && level >= 2 ? "L3" : "L2", at_cycle(machine_.caches[level], cycle_).latency,
                  lines);
  }
  counts_.events.accesses += outcome.accesses;
  counts_.events.upgrade_lines += outcome.upgrades;
}

void StagedMemoryModel::count_latency(const char* source, Time latency, std::uint64_t lines) {
  if (lines == 0) return;
  const auto same = [source](const auto& known) { return known.first == source; };
  auto found = std::find_if(sources_.begin(), sources_.end(), same);
  if (found == sources_.end()) found = sources_.insert(found, {source, &counts_.events.latency_ns[source]});
  (*found->second)[static_cast<std::int64_t>(std::llround(latency.nanoseconds()))] += lines;
}

// That run such work at a time.
std::size_t StagedMemoryModel::threads_of(ExecutionId id) const {
  const Region& region = workload_.regions[workload_.executions[id.index()].region.index()];
  if (region.kind == RegionKind::serial) return running_.size() + 1;  // others may be at work beside it
  return threads_with_work(workload_, id, std::min<std::size_t>(options_.threads, machine_.cores()));
}

double StagedMemoryModel::customers(const Work& work, const CacheOutcome& outcome) const {
  double lines = 0, streams = 0;
  for (const MissRange& miss : outcome.reads) {
    const auto number = static_cast<double>(miss.lines.size());
    const bool scattered = miss.parallelism <= static_cast<float>(machine_.miss_buffers);
    lines += number;
    streams += scattered ? number / miss.parallelism : number;
  }
  return static_cast<double>(threads_of(work.items.execution)) * (streams > 0 ? lines / streams : 1);
}

void StagedMemoryModel::list_uses(const Work& work, const CacheOutcome& outcome, Running& running) {
  double most = 0;
  for (const std::uint32_t resource : use_.ascending()) {
    const double seconds = use_.seconds(ResourceId{resource});
    running.uses.push_back({ResourceId{resource}, seconds});
    if (!is_serial(ResourceId{resource})) most = std::max(most, seconds);
  }
  if (visits_ > most && most > 0) running.crowding = 1 + (visits_ / most - 1) / (2 * customers(work, outcome));
}

WorkId StagedMemoryModel::begin(Running running) {
  if (running.faults_on) fault_lock_.enter(*running.faults_on);  // left when all of the slice has ended
  running.work = WorkId{begun_++};
  const WorkId work = running.work;
  run(std::move(running));
  return work;
}

// Faults come first, and lines that others write, too.
double StagedMemoryModel::seconds_now(const Running& running, const ResourceUse& use) const {
  if (is_serial(use.resource)) return running.part == 0 ? use.seconds : 0;
  return running.now().share * use.seconds;
}

// Until its end a part offers what it would draw at idle latency, overheads included: what the equilibrium asks for.
void StagedMemoryModel::run(Running running) {
  const Part& part = running.now();
  Activity activity{part.minimum, {}};
  running.load_before.clear();
  for (const ResourceUse& use : running.uses) {
    const double seconds = seconds_now(running, use), crowding = is_serial(use.resource) ? 1 : running.crowding;
    offered_[use.resource.index()] += offered_share(seconds, part.alone);
    running.load_before.push_back(load_[use.resource.index()]);
    if (seconds > 0) activity.uses.push_back({use.resource, crowding * seconds});
  }
  running_.emplace(sharing_->start(activity), std::move(running));
}

// Stretched beyond what it needs alone: by the resource that was in most demand while the part ran.
std::size_t StagedMemoryModel::cause_of(const Running& running, Time duration) const {
  std::size_t cause = causes_.number(running.now().private_cause);
  if (const Time minimum = running.now().minimum; duration <= minimum + Time::picoseconds(1 + minimum.count() / 1000)) return cause;
  double greatest = -1;
  for (std::size_t u = 0; u < running.uses.size(); ++u) {
    const std::size_t resource = running.uses[u].resource.index();
    const double load = load_[resource] - running.load_before[u];
    if (load > greatest) {
      greatest = load;
      cause = resource;
    }
  }
  return cause;
}

void StagedMemoryModel::advance(Time to, std::vector<Completion>& done) {
  ended_.clear();
  sharing_->advance(to, ended_);
  const double passed = (to - now_).seconds();
  for (std::size_t resource = 0; resource < load_.size(); ++resource) load_[resource] += offered_[resource] * passed;
  now_ = to;
  const std::size_t first = done.size();
  for (const ActivityEnd& end : ended_) {
    auto node = running_.extract(end.activity);
    Running& running = node.mapped();
    const Time duration = end.time - running.begin;
    if (running.waiting) {
      causes_.add(running.region, causes_.page_faults(), duration.seconds());
      go_on(std::move(running), end.time, done);
      continue;
    }
    causes_.add(running.region, cause_of(running, duration), duration.seconds());
    const Part& part = running.now();
    for (const ResourceUse& use : running.uses) {
      const std::size_t resource = use.resource.index();
      const double seconds = seconds_now(running, use);
      if (options_.timeline != nullptr) options_.timeline->used(resource, running.begin, end.time, seconds);
      offered_[resource] = std::max(0.0, offered_[resource] - offered_share(seconds, part.alone));
    }
    go_on(std::move(running), end.time, done);
  }
  std::sort(done.begin() + static_cast<std::ptrdiff_t>(first), done.end(),
            [](const Completion& a, const Completion& b) { return std::tie(a.time, a.thread) < std::tie(b.time, b.thread); });
}

void StagedMemoryModel::go_on(Running&& running, Time now, std::vector<Completion>& done) {
  running.begin = now;
  if (const Time wait = Time::from_seconds(running.held_back); wait > Time{}) {
    running.held_back = 0;
    running.waiting = true;
    running_.emplace(sharing_->start({wait, {}}), std::move(running));
    return;
  }
  running.waiting = false;
  running.faults = {};
  if (running.part < running.last_part) {
    ++running.part;
    run(std::move(running));
    return;
  }
  done.push_back({running.work, running.thread, now});
  if (running.faults_on) fault_lock_.leave(*running.faults_on);
}

void StagedMemoryModel::drop(AddressRange bytes, bool discard) {
  if (side_.remembers()) side_.forget(lines_of(bytes, line_bytes_));
  moved_.clear();
  caches_.drop(lines_of(bytes, line_bytes_), discard, moved_);
}

void StagedMemoryModel::flush(AddressSpace& addresses) {
  moved_.clear();
  caches_.flush(moved_);
  counts_.events.sampling_error = moved_.sampling_error;
  shares_.clear();
  for (const LineRange& lines : moved_.writebacks) addresses.homes(lines, NodeId{0}, shares_);
  for (const HomeShare& share : shares_) counts_.at_end(share.home, share.lines);
}

}  // namespace homenode
