#include "models/line/line_engine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/errors.hpp"
#include "sim/hardware/controller_costs.hpp"
#include "sim/hardware/controller_load.hpp"

namespace homenode {
namespace {

constexpr double picosecond = 1e-12;

// Behind the shared resources, as causes of what bound a slice.
enum PrivateCause : std::size_t { core_cause, latency_cause, overhead_cause };
constexpr const char* private_names[] = {"core", "latency", "overhead"};

std::int64_t picoseconds(double seconds) { return std::llround(seconds / picosecond); }

}  // namespace

LineEngine::LineEngine(const Workload& workload, const Machine& machine, const Topology& topology, const StagedOptions& options)
    : workload_{workload},
      machine_{machine},
      topology_{topology},
      system_{options.system},
      stage_{workload, machine, std::make_unique<SliceCollector>(collecting_), LineTouchOptions::of(machine, options.stores), options.page},
      caches_{machine, options.seed, machine.snoop != SnoopMode::directory},
      core_times_{workload, machine},
      link_free_(topology.directed_links(), 0),
      binding_(workload.regions.size()) {
  for (std::size_t level = 0; level + 1 < machine.caches.size(); ++level) {
    if (machine.caches[level].cores_per_cache > 1)
      throw UsageError("machine '" + machine.name + "': " + std::to_string(machine.caches[level].cores_per_cache) +
                       " cores share the caches of level " + std::to_string(level + 1) +
                       "; the engine line allows cores to share the outermost level only");
  }
  for (std::size_t c = 0; c < machine.controllers.size(); ++c)
    controllers_.emplace_back(machine.dram, line_costs(machine, c), std::max<std::uint64_t>(4096 / line_bytes(), 1));
  routes_ = std::make_unique<SocketRoutes>(machine, topology, controllers_.front().idle());
  lookahead_ = machine.core_to_core_local.count() / 2;
  const std::size_t nodes = machine.nodes.size();
  counts_.nodes = nodes;
  counts_.traffic_bytes.assign(nodes * nodes, 0);
  counts_.read_bytes.assign(nodes, 0);
  counts_.write_bytes.assign(nodes, 0);
  counts_.link_bytes.assign(topology.directed_links(), 0);
  counts_.hit_lines.assign(machine.caches.size(), 0);
  for (auto& of_source : latencies_) of_source.assign(short_latencies, 0);
}

std::uint64_t LineEngine::line_bytes() const {
  return static_cast<std::uint64_t>(machine_.caches.empty() ? 64 : machine_.caches.front().line.count());
}

Started LineEngine::start(const Work& work, AddressSpace& addresses) {
  const Place& place = work.place;
  const std::size_t thread = place.thread.index();
  if (cores_.size() <= thread) cores_.resize(thread + 1);
  if (counts_.local_bytes.size() <= thread) {
    counts_.local_bytes.resize(thread + 1, 0);
    counts_.remote_bytes.resize(thread + 1, 0);
  }
  if (body_of_ != work.items.execution) {
    body_ = workload_.body(work.items.execution);
    body_of_ = work.items.execution;
  }
  Running& r = cores_[thread];
  r.slice.clear();
  r.kernel.clear();
  r.queued.clear();
  r.locked = 0;
  r.asker = {place.core, place.node, machine_.socket_of(place.node)};
  r.thread = place.thread;
  r.region = workload_.executions[work.items.execution.index()].region;
  r.work = WorkId{works_++};
  r.addresses = &addresses;
  collecting_ = &r.slice;
  Picoseconds overhead = work.overhead.count();
  const bool watched = addresses.watch().watches() != Watch::nothing;
  if (watched) {
    if (addresses.watch().watches() == Watch::traffic) addresses.watch().tell_traffic(place);  // since the slice before
    addresses.watch().begin_slice(place);
    overhead += work_on_pages(place, addresses);
  }
  const auto tell_faults = [&] {
    addresses.watch().tell_faults(place);
    overhead += work_on_pages(place, addresses);
  };
  const CacheStage::Passed passed = stage_.pass(work, addresses, watched ? tell_faults : std::function<void()>{});
  counts_.tlb_misses += passed.walked_pages;
  counts_.accesses += passed.slice.accesses;
  const std::uint64_t faulted = addresses.settle();
  if (faulted != 0) start_kernel_work(r, work, faulted, overhead);
  // A walk holds up the access that needs the translation, and overlaps with nothing but other walks.
  overhead += picoseconds(passed.walks * machine_.tlb.miss_penalty.seconds());

  r.begin = place.now.count();
  r.overhead = overhead;
  r.latency = 0;
  r.accesses = passed.slice.accesses;
  r.clock = r.begin + overhead;
  r.computing_left = core_times_.seconds(passed.slice, *body_) / picosecond;
  r.access_time = passed.slice.accesses == 0 ? 0 : r.computing_left / static_cast<double>(passed.slice.accesses);
  if (passed.slice.accesses == 0) r.clock += std::llround(std::exchange(r.computing_left, 0.0));
  r.computed = 0;
  // Faults come page by page as the slice gets there.
  r.faults = faulted;
  r.faults_per_access = passed.slice.accesses == 0 ? 0 : static_cast<double>(faulted) / static_cast<double>(passed.slice.accesses);
  // Threads that begin together do not fault together: each begins elsewhere between two faults (multiples of the golden ratio).
  const double golden = 0.6180339887498949 * static_cast<double>(thread);
  r.faults_due = golden - std::floor(golden);
  if (passed.slice.accesses == 0) r.clock += system_.fault.parallel.count() * static_cast<Picoseconds>(faulted);
  r.places = 0;
  r.returns.clear();
  r.level_free.assign(machine_.caches.size(), 0);
  r.group = r.first_touch = r.touch = 0;
  r.step = r.steps = 0;
  r.line = r.line_end = 0;
  r.put_off.reset();
  r.earliest_end = r.clock;
  r.active = true;
  r.waits = Waits::no;
  r.wake = r.clock;
  active_.push_back(static_cast<std::uint32_t>(thread));
  events_.push({r.clock, static_cast<std::uint32_t>(thread)});
  return {r.work, passed.slice.reached};
}

// What faults take beside their own time (system.hpp): the lock one after the other, and the lines that the kernel writes.
void LineEngine::start_kernel_work(Running& r, const Work& work, std::uint64_t faulted, Picoseconds& overhead) {
  const FaultCost& cost = system_.fault;
  const auto faults = static_cast<Picoseconds>(faulted);
  Picoseconds serial = cost.serial.count();
  const Picoseconds from = work.place.now.count() + overhead;
  if (cost.serial_transfers > 0 && faults_free_ > from) {
    const auto hops = static_cast<std::int64_t>(topology_.hops(faulted_last_, r.asker.socket));
    const Time transfer = hops == 0 ? machine_.core_to_core_local : machine_.core_to_core_remote * hops;
    serial += picoseconds(cost.serial_transfers * transfer.seconds());
  }
  if (serial > 0) {
    const Picoseconds begins = std::max(from, faults_free_);
    faults_free_ = begins + serial * faults;
    faulted_last_ = r.asker.socket;
    r.locked = faults_free_ - from;
    overhead += r.locked;
  }
  if (cost.zeroing == 0) return;
  const double lines_per_page = static_cast<double>(r.addresses->page_bytes()) / static_cast<double>(line_bytes());
  for (std::size_t home = 0; home < counts_.nodes; ++home) {
    const std::uint64_t pages = r.addresses->settled_pages()[home];
    if (pages == 0) continue;
    const auto lines = static_cast<std::uint64_t>(std::llround(static_cast<double>(pages) * lines_per_page * cost.zeroing));
    r.kernel.push_back({NodeId{home}, lines});
    counts_.zeroed_bytes += lines * line_bytes();
  }
}

// What a placement did to pages since it was last looked at; the time that it takes the core. Copies are written by the time.
LineEngine::Picoseconds LineEngine::work_on_pages(const Place& place, AddressSpace& addresses) {
  const PageWork done = addresses.watch().take_work();
  double seconds = static_cast<double>(done.hinting_faults) * system_.balancing.hinting_fault.seconds() +
                   static_cast<double>(done.unmapped) * system_.balancing.scan.seconds();
  const std::uint64_t lines = addresses.page_bytes() / line_bytes();
  const Asker asker{place.core, place.node, machine_.socket_of(place.node)};
  for (const PageMove& move : done.moves) {
    const LineNumber first = addresses.first_byte(move.page) / line_bytes();
    victims_.clear();
    caches_.drop({first, first + lines}, false, victims_);
    std::uint64_t modified = 0;
    for (const LineRange& range : victims_.writebacks) modified += range.size();
    count_memory(asker, place.thread, move.from, true, modified);
    count_memory(asker, place.thread, move.from, false, lines);
    count_memory(asker, place.thread, move.to, true, lines);
    for (LineNumber line = first; line < first + lines; ++line) {
      const LineRoutes::Served served = routes_->served(line, move.to);
      controllers_[served.controller].write(served.line, place.now.count());
      send_beside(routes_->writeback(asker, line, move.to), place.now.count());
    }
    const Time latency = std::max(topology_.latency(place.node, move.from), topology_.latency(place.node, move.to));
    seconds += (system_.migration.fixed + system_.migration.shootdown).seconds() +
               static_cast<double>(lines) / machine_.prefetched_lines * latency.seconds();
  }
  return picoseconds(seconds);
}

NodeId LineEngine::home_of(const Running& r, LineNumber line) const {
  const NodeId home = r.addresses->home_of(line * line_bytes());
  return home.is_none() ? r.asker.node : home;  // the zero page
}

LineEngine::Source LineEngine::source_of(const Asker& asker, NodeId home) const {
  if (asker.node == home) return from_local;
  switch (topology_.hops(asker.socket, machine_.socket_of(home))) {
    case 0:
      return from_socket;
    case 1:
      return from_one_hop;
    case 2:
      return from_two_hops;
    default:
      return from_more_hops;
  }
}

void LineEngine::count_line(const Running& r, LineNumber line, NodeId home, bool write) {
  count_memory(r.asker, r.thread, home, write, 1);
  PageWatch& watch = r.addresses->watch();
  if (watch.watches() == Watch::traffic) watch.exchanged(line * line_bytes(), (line + 1) * line_bytes(), write);
}

void LineEngine::count_memory(const Asker& asker, ThreadId thread, NodeId home, bool write, std::uint64_t lines) {
  const std::uint64_t bytes = lines * line_bytes();
  counts_.traffic_bytes[asker.node.index() * counts_.nodes + home.index()] += bytes;
  (write ? counts_.write_bytes : counts_.read_bytes)[home.index()] += bytes;
  counts_.memory_lines += lines;
  (asker.node == home ? counts_.local_bytes : counts_.remote_bytes)[thread.index()] += bytes;
}

LineEngine::Picoseconds LineEngine::hold(std::uint32_t link, Picoseconds from, Picoseconds held) {
  const Picoseconds begins = std::max(from, link_free_[link]);
  link_free_[link] = begins + held;
  return begins;
}

void LineEngine::send_beside(const LinePath& path, Picoseconds at) {
  for (const LinkHold& message : path.beside) hold(message.link, at, message.held);
  for (const LinkBytes& bytes : path.counted)
    counts_.link_bytes[bytes.link.index()] += static_cast<std::uint64_t>(std::llround(bytes.bytes));
}

bool LineEngine::next_line(Running& r, const LineTouch*& touch, LineNumber& line) {
  while (r.line == r.line_end) {
    const SliceTouches& slice = r.slice;
    if (r.steps != 0 && ++r.touch == slice.group_ends[r.group]) {
      r.touch = r.first_touch;
      if (++r.step == r.steps) {
        r.first_touch = r.touch = slice.group_ends[r.group++];
        r.steps = 0;
      }
    }
    if (r.steps == 0) {
      while (r.group < slice.group_ends.size() && slice.group_ends[r.group] == r.first_touch) ++r.group;
      if (r.group == slice.group_ends.size()) return false;
      r.step = 0;
      for (std::size_t t = r.first_touch; t < slice.group_ends[r.group]; ++t) r.steps = std::max(r.steps, slice.touches[t].lines.size());
      if (r.steps == 0) {  // nothing but empty ranges
        r.first_touch = r.touch = slice.group_ends[r.group++];
        continue;
      }
    }
    const LineRange& lines = slice.touches[r.touch].lines;
    const std::uint64_t size = lines.size();
    if (size == r.steps) {
      r.line = lines.first + r.step;
      r.line_end = r.line + 1;
    } else {
      r.line = lines.first + r.step * size / r.steps;
      r.line_end = lines.first + (r.step + 1) * size / r.steps;
    }
  }
  touch = &r.slice.touches[r.touch];
  line = r.line++;
  return true;
}

void LineEngine::run(Running& r, Picoseconds until) {
  run_lines(r, until);
  // Whatever its lines take, it has to compute for what is left; rounded down by more than all fractions of a picosecond.
  r.earliest_end = r.clock + static_cast<Picoseconds>(std::max(0.0, r.computing_left - 1000));
}

void LineEngine::run_lines(Running& r, Picoseconds until) {
  while (true) {
    if (!r.kernel.empty()) {
      KernelLines& kernel = r.kernel.back();
      if (kernel.lines == 0) {
        r.kernel.pop_back();
        continue;
      }
      const LineNumber number = --kernel.lines;
      Miss miss;
      miss.path = &routes_->bypassed_write(r.asker, number, kernel.home);
      miss.served = routes_->served(number, kernel.home);
      miss.source = bypassed;
      miss.writes_memory = true;
      count_memory(r.asker, r.thread, kernel.home, true, 1);
      if (!issue(r, miss, static_cast<float>(machine_.prefetched_lines))) return;
    } else {
      const LineTouch* touch = nullptr;
      LineNumber line = 0;
      if (!next_line(r, touch, line)) return wait(r, Waits::at_end);
      const double computing = r.access_time * static_cast<double>(touch->accesses) / static_cast<double>(touch->lines.size());
      r.computing_left -= computing;
      r.computed += computing;
      const auto whole = static_cast<Picoseconds>(r.computed);
      r.computed -= static_cast<double>(whole);
      r.clock += whole;
      if (r.faults_per_access > 0) {
        r.faults_due += r.faults_per_access * static_cast<double>(touch->accesses) / static_cast<double>(touch->lines.size());
        while (r.faults_due >= 1) {  // nothing new begins meanwhile, what is in flight arrives
          r.faults_due -= 1;
          r.clock += system_.fault.parallel.count();
        }
      }
      if (!access(r, *touch, line)) return;
    }
    if (r.clock > until || (!events_.empty() && r.clock > events_.first().time + lookahead_)) {
      r.wake = r.clock;
      events_.push({r.clock, static_cast<std::uint32_t>(r.thread.index())});
      return;
    }
  }
}

// False if the core has to wait.
bool LineEngine::access(Running& r, const LineTouch& touch, LineNumber line) {
  const LineFate fate = caches_.access_line(r.asker.core, line, touch, victims_);
  if ((fate.level != 0 || fate.from != LineFate::From::cache) && line + 4 < touch.lines.last)
    caches_.expect(r.asker.core, line + 4, line + 2);
  counts_.upgrade_lines += fate.upgrade;
  if (!victims_.writebacks.empty()) write_back(r, r.clock);
  Miss miss;
  float places = touch.parallelism;
  if (touch.bypass && touch.writes) {
    const NodeId home = home_of(r, line);
    victims_.bypassed_writes.clear();
    count_line(r, line, home, true);
    miss.path = &routes_->bypassed_write(r.asker, line, home);
    miss.served = routes_->served(line, home);
    miss.source = bypassed;
    miss.writes_memory = true;
    if (!touch.reads) return issue(r, miss, static_cast<float>(machine_.miss_buffers));
    // Nobody waits for what leaves after a read.
    controllers_[miss.served.controller].write(miss.served.line, r.clock);
    send_beside(*miss.path, r.clock);
    miss = {};
  }
  switch (fate.from) {
    case LineFate::From::nowhere:
      return true;
    case LineFate::From::cache: {
      ++counts_.hit_lines[fate.level];
      const auto invalidated = caches_.invalidated();
      if (invalidated.empty()) {
        if (fate.level == 0) return true;
        miss.source = fate.level + 1U == machine_.caches.size() && fate.level >= 2 ? from_l3 : from_l2;
        miss.level = fate.level;
        break;
      }
      const unsigned cores = machine_.caches.back().cores_per_cache;
      const NodeId home = home_of(r, line);
      for (const std::uint32_t domain : invalidated) {
        const LinePath& path = routes_->upgrade(r.asker, line, home, CoreId{std::size_t{domain} * cores});
        if (miss.path == nullptr || path.after > miss.path->after) miss.path = &path;
      }
      miss.source = upgraded;
      break;
    }
    case LineFate::From::transfer:
      miss.path = &routes_->transfer(r.asker, line, home_of(r, line), CoreId{fate.owner});
      miss.source = fate.dirty ? from_dirty_copy : from_clean_copy;
      ++counts_.transfer_lines;
      break;
    case LineFate::From::memory: {
      const NodeId home = home_of(r, line);
      miss.path = &routes_->read(r.asker, line, home);
      miss.served = routes_->served(line, home);
      miss.source = source_of(r.asker, home);
      count_line(r, line, home, false);
      break;
    }
  }
  if (!issue(r, miss, places)) return false;
  if (machine_.overlap == Overlap::full || touch.parallelism > 1) return true;
  wait(r, Waits::for_all);
  return false;
}

void LineEngine::write_back(const Running& r, Picoseconds at) {
  for (const LineRange& lines : victims_.writebacks) {
    for (LineNumber line = lines.first; line < lines.last; ++line) {
      const NodeId home = home_of(r, line);
      const LineRoutes::Served served = routes_->served(line, home);
      count_line(r, line, home, true);
      controllers_[served.controller].write(served.line, at);
      send_beside(routes_->writeback(r.asker, line, home), at);
    }
  }
  victims_.writebacks.clear();
}

bool LineEngine::issue(Running& r, const Miss& miss, float parallelism) {
  std::erase_if(r.returns, [&](Picoseconds at) { return at <= r.clock; });
  const double whole = std::floor(parallelism), owed = r.places + (parallelism - whole);
  const double places = std::max(owed >= 1 ? whole + 1 : whole, 1.0);
  if (static_cast<double>(r.under_way + r.returns.size()) >= places) {
    r.put_off = miss;
    r.put_off_parallelism = parallelism;
    wait(r, Waits::for_place);
    return false;
  }
  r.places = owed >= 1 ? owed - 1 : owed;
  begin(r, miss);
  return true;
}

void LineEngine::begin(Running& r, const Miss& miss) {
  if (miss.path == nullptr) {  // from a cache of its own
    const CacheDescription& cache = machine_.caches[miss.level];
    Picoseconds at = r.clock + cache.latency.count();
    if (cache.bandwidth_per_core.bytes_per_second() > 0) {
      Picoseconds& free = r.level_free[miss.level];
      free = std::max(free, r.clock) + picoseconds(static_cast<double>(line_bytes()) / cache.bandwidth_per_core.bytes_per_second());
      at = std::max(at, free);
    }
    r.latency += at - r.clock;
    count_latency(miss.source, at - r.clock);
    r.returns.push_back(at);
    return;
  }
  send_beside(*miss.path, r.clock);
  std::uint32_t index = 0;
  if (free_transactions_.empty()) {
    index = static_cast<std::uint32_t>(transactions_.size());
    transactions_.emplace_back();
  } else {
    index = free_transactions_.back();
    free_transactions_.pop_back();
  }
  transactions_[index] = {miss, static_cast<std::uint32_t>(r.thread.index()), 0, r.clock};
  ++r.under_way;
  const auto& stages = miss.path->stages;
  if (stages.empty() || stages.front().before == 0)
    step(transactions_[index], index, r.clock);
  else
    events_.push({r.clock + stages.front().before, index | is_transaction});
}

// The transaction is where its stage begins.
void LineEngine::step(Transaction& transaction, std::uint32_t index, Picoseconds now) {
  Running& r = cores_[transaction.core];
  const Miss& miss = transaction.miss;
  const auto& stages = miss.path->stages;
  while (transaction.stage < stages.size()) {
    const PathStage& stage = stages[transaction.stage];
    Picoseconds left = now, idle = 0;
    std::size_t resource = 0;
    if (stage.link == PathStage::controller) {
      MemoryController& controller = controllers_[miss.served.controller];
      left = miss.writes_memory ? controller.write(miss.served.line, now) : controller.read(miss.served.line, now);
      idle = miss.writes_memory ? 0 : controller.idle();
      resource = miss.served.controller;
    } else {
      left = hold(stage.link, now, stage.held);
      resource = controllers_.size() + stage.link;
    }
    const Picoseconds waited = left - now - idle;
    if (waited > 0) {
      const auto known = std::find_if(r.queued.begin(), r.queued.end(), [&](const auto& q) { return q.first == resource; });
      if (known == r.queued.end())
        r.queued.emplace_back(resource, waited);
      else
        known->second += waited;
    }
    if (++transaction.stage < stages.size()) left += stages[transaction.stage].before;
    if (transaction.stage < stages.size() && left != now) {
      events_.push({left, index | is_transaction});
      return;
    }
    now = left;
  }
  const Picoseconds at = now + miss.path->after;
  count_latency(miss.source, at - transaction.issued);
  r.latency += at - transaction.issued;
  --r.under_way;
  free_transactions_.push_back(index);
  returned(r, at);
}

void LineEngine::returned(Running& r, Picoseconds at) {
  r.returns.push_back(at);
  if (r.waits == Waits::no) return;
  const bool all = r.waits != Waits::for_place;
  if (all && r.under_way != 0) return;
  const Picoseconds wake = all ? *std::max_element(r.returns.begin(), r.returns.end()) : std::min(r.wake, at);
  if (wake == r.wake) return;
  r.wake = wake;
  events_.push({wake, static_cast<std::uint32_t>(r.thread.index())});
}

void LineEngine::wait(Running& r, Waits waits) {
  r.waits = waits;
  r.wake = never;
  Picoseconds wake = never;
  if (waits == Waits::for_place) {
    for (const Picoseconds at : r.returns) wake = std::min(wake, at);
  } else if (r.under_way == 0) {
    wake = r.clock;
    for (const Picoseconds at : r.returns) wake = std::max(wake, at);
  }
  if (wake == never) return;
  r.wake = wake;
  events_.push({wake, static_cast<std::uint32_t>(r.thread.index())});
}

void LineEngine::wake(Running& r, Picoseconds now, std::vector<Completion>& done) {
  const Waits waited = std::exchange(r.waits, Waits::no);
  r.wake = never;
  r.clock = std::max(r.clock, now);
  if (waited == Waits::at_end) return finish(r, r.clock, done);
  if (waited == Waits::for_place) {
    const Miss miss = *r.put_off;
    r.put_off.reset();
    if (!issue(r, miss, r.put_off_parallelism)) return;
    if (machine_.overlap == Overlap::none && r.put_off_parallelism <= 1) return wait(r, Waits::for_all);
  }
  run(r, now_ + lookahead_);
}

void LineEngine::finish(Running& r, Picoseconds at, std::vector<Completion>& done) {
  r.active = false;
  active_.erase(std::find(active_.begin(), active_.end(), static_cast<std::uint32_t>(r.thread.index())));
  done.push_back({r.work, r.thread, Time::picoseconds(at)});
  // Waiting for a resource for more than a tenth of what its lines took on the way: that held it up longest; else the way itself did.
  auto& causes = binding_[r.region.index()];
  const std::size_t resources = shared_resources(machine_, topology_);
  const double seconds = static_cast<double>(at - r.begin) * picosecond, overhead = static_cast<double>(r.overhead) * picosecond;
  const double faults = static_cast<double>(r.faults) * system_.fault.parallel.seconds();
  const double working = r.access_time * static_cast<double>(r.accesses) * picosecond;
  const double computing = std::clamp(seconds - overhead - faults, 0.0, working);
  const double stalled = std::max(0.0, seconds - overhead - faults - computing);
  const double locked = static_cast<double>(r.locked) * picosecond, kernel = overhead - locked + faults;
  if (locked > 0) causes[resources - 1] += locked;  // "page faults"
  if (kernel > 0) causes[resources + overhead_cause] += kernel;
  if (computing > 0) causes[resources + core_cause] += computing;
  if (!(stalled > 0)) return;
  std::size_t cause = resources + latency_cause;
  Picoseconds longest = r.latency / 10;
  for (const auto& [resource, waited] : r.queued) {
    if (waited <= longest) continue;
    longest = waited;
    cause = resource;
  }
  causes[cause] += stalled;
}

void LineEngine::count_latency(Source source, Picoseconds latency) {
  if (source == bypassed) return;
  const std::int64_t nanoseconds = (latency + 500) / 1000;
  if (nanoseconds < static_cast<std::int64_t>(short_latencies))
    ++latencies_[source][static_cast<std::size_t>(nanoseconds)];
  else
    ++long_latencies_[source][nanoseconds];
}

// The earliest time at which a slice can end: each has to compute for what is left of it.
std::optional<Time> LineEngine::next_event() {
  if (events_.empty()) return std::nullopt;
  Picoseconds least = never;
  for (const std::uint32_t core : active_) least = std::min(least, cores_[core].earliest_end);
  return Time::picoseconds(std::max({events_.first().time, least, now_}));
}

void LineEngine::advance(Time to, std::vector<Completion>& done) {
  now_ = to.count();
  const std::size_t first = done.size();
  while (!events_.empty() && events_.first().time <= now_) {
    const EventQueue::Event event = events_.pop();
    if ((event.who & is_transaction) != 0) {
      const std::uint32_t index = event.who & ~is_transaction;
      step(transactions_[index], index, event.time);
    } else if (Running& r = cores_[event.who]; r.active && r.wake == event.time) {
      wake(r, event.time, done);
    }
  }
  std::sort(done.begin() + static_cast<std::ptrdiff_t>(first), done.end(),
            [](const Completion& a, const Completion& b) { return std::tie(a.time, a.thread) < std::tie(b.time, b.thread); });
}

EventCounts LineEngine::counts() const {
  static constexpr std::array<const char*, sources> names{
      "L2", "L3", "local", "same socket", "1 hop", "2 hops", "more hops", "clean transfer", "transfer", "upgrade", "bypassed"};
  EventCounts counts = counts_;
  for (std::size_t source = 0; source < sources; ++source) {
    for (std::size_t nanoseconds = 0; nanoseconds < short_latencies; ++nanoseconds) {
      const std::uint64_t lines = latencies_[source][nanoseconds];
      if (lines != 0) counts.latency_ns[names[source]][static_cast<std::int64_t>(nanoseconds)] += lines;
    }
    for (const auto& [nanoseconds, lines] : long_latencies_[source]) counts.latency_ns[names[source]][nanoseconds] += lines;
  }
  return counts;
}

std::string LineEngine::resource_name(std::size_t resource) const {
  const std::size_t shared = shared_resources(machine_, topology_);
  return resource >= shared ? private_names[resource - shared] : shared_resource_name(machine_, topology_, resource);
}

std::vector<std::vector<BindingTime>> LineEngine::binding() const {
  std::vector<std::vector<BindingTime>> result(binding_.size());
  for (std::size_t region = 0; region < binding_.size(); ++region) {
    for (const auto& [cause, seconds] : binding_[region]) result[region].push_back({resource_name(cause), seconds});
    std::stable_sort(result[region].begin(), result[region].end(),
                     [](const BindingTime& a, const BindingTime& b) { return a.seconds > b.seconds; });
  }
  return result;
}

void LineEngine::drop(std::uint64_t first_address, std::uint64_t last_address, bool discard) {
  const std::uint64_t line = line_bytes();
  victims_.clear();
  caches_.drop({first_address / line, (last_address + line - 1) / line}, discard, victims_);
  victims_.clear();
}

void LineEngine::flush(AddressSpace& addresses) {
  victims_.clear();
  caches_.flush(victims_);
  std::vector<HomeShare> shares;
  for (const LineRange& lines : victims_.writebacks) addresses.homes(lines.first, lines.last, NodeId{0}, shares);
  for (const HomeShare& share : shares) {  // counted as written by the home's own node: nobody waits for it
    const std::uint64_t bytes = share.lines * line_bytes();
    counts_.traffic_bytes[share.home.index() * counts_.nodes + share.home.index()] += bytes;
    counts_.write_bytes[share.home.index()] += bytes;
    counts_.memory_lines += share.lines;
  }
}

}  // namespace homenode
