// A slice begins: its pages, faults, walks, what the kernel does before its first line. It ends: what held it up.
#include "models/engines/line/line_engine.hpp"

#include <algorithm>
#include <cmath>

#include "models/engines/parts/contention_cost.hpp"
#include "models/engines/parts/held_back.hpp"
#include "models/engines/parts/page_work.hpp"
#include "models/engines/parts/slice_cost.hpp"
#include "sim/machine/transfer_latency.hpp"
#include "sim/report/timeline.hpp"

namespace homenode {
namespace {

constexpr double picosecond = 1e-12;

}  // namespace

Started LineEngine::start(const Work& work, AddressSpace& addresses) {
  const Place& place = work.place;
  const std::size_t thread = place.thread.index();
  if (cores_.size() <= thread) cores_.resize(thread + 1);
  counts_.add_thread(place.thread);
  if (addresses.watch().watches() == Watch::traffic) tell_traffic(addresses, place.now);  // since the slice before
  RunningSlice& r = cores_[thread];
  r.slice.clear();
  r.kernel.clear();
  r.queued.clear();
  r.waited.assign(causes_.shared(), 0);
  r.locked = 0;
  r.asker = {place.core, place.node, machine_.socket_of(place.node)};
  r.thread = place.thread;
  r.region = workload_.executions[work.items.execution.index()].region;
  r.work = WorkId{works_++};
  r.addresses = &addresses;
  collecting_ = &r.slice;
  Picoseconds overhead = work.overhead.count();
  watched_faults_ = 0;
  fresh_.number_from(line_of(addresses.first_byte(PageNumber{0}), line_bytes_));
  r.held_back = 0;
  const bool watched = addresses.watch().watches() != Watch::nothing;
  if (watched) {
    addresses.watch().begin_slice(place);
    overhead += work_on_pages(place, addresses);
  }
  const auto tell_faults = [&] {
    addresses.watch().tell_faults(place);
    overhead += work_on_pages(place, addresses);
  };
  const CacheStage::Passed passed = stage_.pass(work, addresses, watched ? tell_faults : std::function<void()>{});
  const Time page_work = Time::picoseconds(overhead) - work.overhead;
  if (timeline_ != nullptr)
    timeline_->record(ThreadActivity::page_work, place.thread, workload_, work.items, place.now, place.now + page_work);
  counts_.events.tlb_misses += passed.walks.pages;
  counts_.events.accesses += passed.slice.accesses;
  const std::uint64_t huge_before = addresses.huge_pages();
  const std::uint64_t faulted = addresses.settle();
  if (faulted + watched_faults_ != 0) start_kernel_work(r, work, faulted, overhead);
  // Walks hold up their accesses, and overlap with each other alone. Where their lines come from is taken from the thread's slice before.
  const std::uint64_t lines = r.from_memory + r.from_outermost;
  const double from_memory = lines == 0 ? 1 : static_cast<double>(r.from_memory) / static_cast<double>(lines);
  overhead += to_picoseconds(passed.walks.seconds(machine_.tlb, from_memory));
  r.from_memory = r.from_outermost = 0;

  r.begin = place.now.count();
  r.overhead = overhead;
  r.latency = 0;
  r.accesses = passed.slice.accesses;
  r.clock = r.begin + overhead;
  const double cycle = core_clocks_.cycle(work.items.execution, place.core);
  const double computing =
      std::max(cycle * core_times_.of(passed.slice).seconds, passed.walks.least_core_seconds(machine_.tlb)) / picosecond;
  r.access_time = passed.slice.accesses == 0 ? 0 : computing / static_cast<double>(passed.slice.accesses);
  if (passed.slice.accesses == 0) r.clock += std::llround(computing);
  wait_for_contended_lines(r, passed.slice.contention, place, computing);
  r.computed = 0;
  // Faults come page by page as the slice gets there.
  r.fault_seconds = fault_seconds(system_.fault, faulted, addresses.huge_pages() - huge_before, addresses.settled_cold());
  r.fault_time = faulted == 0 ? 0 : to_picoseconds(r.fault_seconds / static_cast<double>(faulted));
  r.faults_per_access = passed.slice.accesses == 0 ? 0 : static_cast<double>(faulted) / static_cast<double>(passed.slice.accesses);
  // Threads that begin together do not fault together: each begins elsewhere between two faults (multiples of the golden ratio).
  const double golden = 0.6180339887498949 * static_cast<double>(thread);
  r.faults_due = golden - std::floor(golden);
  if (passed.slice.accesses == 0) r.clock += r.fault_time * static_cast<Picoseconds>(faulted);
  r.misses.clear();
  r.streams.clear();
  take_levels(r, cycle, passed.slice);
  r.exchange_free = r.streaming_free = 0;
  r.cursor.restart();
  r.reached = nullptr;
  r.put_off.reset();
  r.active = true;
  r.waits = RunningSlice::Waits::no;
  r.wake = r.clock;
  active_.push_back(static_cast<std::uint32_t>(thread));
  events_.push({r.clock, static_cast<std::uint32_t>(thread)});
  return {r.work, passed.slice.reached, page_work};
}

void LineEngine::take_levels(RunningSlice& r, double cycle, const FilteredSlice& slice) {
  r.levels.clear();
  for (const CacheDescription& described : machine_.caches) {
    const CacheDescription cache = at_cycle(described, cycle);
    r.levels.push_back({cache.latency.count(), line_time(cache.bandwidth_per_core)});
  }
  r.level_free.assign(r.levels.size(), 0);
  r.port = {};
  if (fill_pace(machine_) == 0 || r.accesses == 0) return;
  const double loading = cycle * core_times_.of(slice).loads * load_pace(machine_) / picosecond / static_cast<double>(r.accesses);
  r.port = {.access = std::min(loading, r.access_time),  // loads are a part of computing
            .fill = fill_cycle(machine_, cycle) * fill_pace(machine_) / picosecond,
            .in_hand = r.access_time * machine_.overlap_accesses,
            .free = static_cast<double>(r.clock)};
}

// What faults take beside their own time (system.hpp): the lock one after the other, and the lines that the kernel writes.
void LineEngine::start_kernel_work(RunningSlice& r, const Work& work, std::uint64_t faulted, Picoseconds& overhead) {
  const FaultCost& cost = system_.fault;
  const auto faults = static_cast<Picoseconds>(faulted + watched_faults_);
  if (watched_faults_ != 0) {  // the others wait as they come
    r.locked = std::max<Picoseconds>(faults_held_until_ - work.place.now.count() - overhead, 0);
    overhead += r.locked;
  }
  Picoseconds serial = cost.serial.count();
  const Picoseconds from = work.place.now.count() + overhead;
  if (cost.serial_transfers > 0 && faults_free_ > from) {
    const Time transfer = transfer_latency(machine_, topology_, faulted_last_, r.asker.socket);
    serial += to_picoseconds(cost.serial_transfers * transfer.seconds());
  }
  if (serial > 0) {
    const Picoseconds begins = std::max(from, faults_free_);
    faults_free_ = begins + serial * faults;
    faulted_last_ = r.asker.socket;
    r.locked += faults_free_ - from;
    if (timeline_ != nullptr)
      timeline_->used(causes_.page_faults(), Time::picoseconds(begins), Time::picoseconds(faults_free_),
                      picosecond * static_cast<double>(faults_free_ - begins));
    overhead += faults_free_ - from;
  }
  if (faulted == 0) return;
  for_each_zeroed(*r.addresses, machine_, cost, [&](NodeId home, std::uint64_t lines) {
    if (fresh_.any()) {
      overhead += to_picoseconds(
          zeroing_seconds(machine_, static_cast<double>(lines), topology_.side_cache_latency(work.place.node, home).seconds()));
      return;
    }
    r.kernel.push_back({home, lines});
    counts_.events.zeroed_bytes += lines * line_bytes_;
  });
}

// Lines that other cores write in the same time. All that is done with the busiest one comes one after the other, while the slice goes on
// with what else it has to do.
void LineEngine::wait_for_contended_lines(RunningSlice& r, const Contention& contention, const Place& place, double computing) {
  r.contended = 0;
  const ContentionCost cost = contention_cost(contention, place.core, computing * picosecond, machine_, topology_);
  if (!cost.any()) return;
  const Picoseconds from = place.now.count() + r.overhead, begins = std::max(from, contended_free_);
  contended_free_ = begins + to_picoseconds(cost.line);
  if (timeline_ != nullptr)
    timeline_->used(causes_.contended_line(), Time::picoseconds(begins), Time::picoseconds(contended_free_), cost.line);
  const auto lines = static_cast<std::uint64_t>(std::llround(cost.handed));
  counts_.events.transfer_lines += lines;
  counts_.latency(LineSource::dirty_copy, cost.transfer.count(), lines);
  r.contended = std::max(to_picoseconds(cost.waits), contended_free_ - from - to_picoseconds(computing * picosecond));
  r.overhead += r.contended;
  r.clock += r.contended;
}

// What a fault that comes at `at` waits for a writer of the lock.
Picoseconds LineEngine::wait_to_fault(RunningSlice& r, Picoseconds at) const {
  const Picoseconds wait = std::max<Picoseconds>(faults_held_until_ - at, 0);
  r.held_back += wait;
  return wait;
}

// A slice's faults are as long as each other; between them it computes, and waits for memory, which is not known beforehand: as if it did
// not.
Time LineEngine::hold_back_faults(Time now, Time held) {
  std::vector<FaultingSlice> faulting;
  for (const std::uint32_t core : active_) {
    const RunningSlice& r = cores_[core];
    if (!(r.faults_per_access > 0)) continue;
    const auto fault = static_cast<double>(r.fault_time) * picosecond;
    faulting.push_back({fault, fault + r.access_time / r.faults_per_access * picosecond});
  }
  const bool again = now.count() == faults_held_until_ && now > Time{};  // behind another writer, faults that waited go first
  double wait = again ? 0 : wait_for_faults(faulting);
  for (const FaultingSlice& slice : faulting)
    if (again) wait = std::max(wait, slice.held);
  faults_held_until_ = now.count() + to_picoseconds(wait) + held.count();
  return Time::from_seconds(wait);
}

Time LineEngine::faults_in_call(const Place& place, std::uint64_t faults, const AddressSpace& addresses) {
  const FaultCost& cost = system_.fault;
  counts_.add_thread(place.thread);
  double seconds =
      fault_seconds(cost, faults, 0, std::min(faults, addresses.settled_cold())) + static_cast<double>(faults) * cost.serial.seconds();
  for_each_zeroed(addresses, machine_, cost, [&](NodeId home, std::uint64_t lines) {
    seconds += zeroing_seconds(machine_, static_cast<double>(lines), topology_.side_cache_latency(place.node, home).seconds());
    if (fresh_.any()) return;
    counts_.memory(place.node, place.thread, home, 0, lines);
    counts_.events.zeroed_bytes += lines * line_bytes_;
  });
  if (system_.mapping.excludes_faults != 0)
    seconds += std::max(0.0, static_cast<double>(faults_held_until_ - place.now.count()) * picosecond);
  return Time::from_seconds(seconds);
}

// What a placement did to pages since it was last looked at; the time that it takes the core. Copies are written by the time.
Picoseconds LineEngine::work_on_pages(const Place& place, AddressSpace& addresses) {
  const PageWork done = addresses.watch().take_work();
  const std::uint64_t lines = addresses.page_bytes() / line_bytes_;
  double seconds = 0;
  watched_faults_ += done.hinting_faults + done.collapsed.size();
  add_page_work(done, place.node, addresses, machine_, topology_, system_, seconds);
  const Asker asker{place.core, place.node, machine_.socket_of(place.node)};
  // Returns how many of the page's lines were modified.
  const auto leave_caches = [&](PageNumber page) {
    victims_.clear();
    caches_.drop(lines_of(addresses.bytes_of(page), line_bytes_), false, victims_);
    fresh_.move(lines_of(addresses.bytes_of(page), line_bytes_));
    std::uint64_t modified = 0;
    for (const LineRange& range : victims_.writebacks) modified += range.size();
    return modified;
  };
  const auto copy = [&](const PageMove& move) {
    counts_.memory(place.node, place.thread, move.from, lines, leave_caches(move.page));
    counts_.memory(place.node, place.thread, move.to, 0, lines);
    counts_.remembered(move.from, lines, lines, 0);
    const LineNumber first = line_of(addresses.first_byte(move.page), line_bytes_);
    for (LineNumber line = first; line < first + lines; ++line) {
      const LineRoutes::Served served = routes_->served(line, move.to);
      controllers_[served.controller].write(served.line, place.now.count());
      send_beside(routes_->writeback(asker, line, move.to), place.now.count());
    }
  };
  for (const PageNumber page : done.collapsed)
    if (const std::uint64_t modified = leave_caches(page)) counts_.memory(place.node, place.thread, place.node, 0, modified);
  for (const PageMove& move : done.moves) copy(move);
  for (const PageMove& move : done.copies) copy(move);
  return to_picoseconds(seconds);
}

void LineEngine::finish(RunningSlice& r, Picoseconds at, std::vector<Completion>& done) {
  r.active = false;
  active_.erase(std::find(active_.begin(), active_.end(), static_cast<std::uint32_t>(r.thread.index())));
  done.push_back({r.work, r.thread, Time::picoseconds(at)});
  // Waiting for a resource for more than a tenth of what its lines took on the way: that held it up longest; else the way itself did.
  const double seconds = static_cast<double>(at - r.begin) * picosecond, overhead = static_cast<double>(r.overhead) * picosecond;
  const double faults = r.fault_seconds + static_cast<double>(r.held_back) * picosecond;
  const double working = r.access_time * static_cast<double>(r.accesses) * picosecond;
  const double computing = std::clamp(seconds - overhead - faults, 0.0, working);
  const double late = std::max(0.0, seconds - overhead - faults - computing);
  const double held = std::min(static_cast<double>(r.port.held) * picosecond, late), stalled = late - held;
  const double contended = static_cast<double>(r.contended) * picosecond;
  const double locked = static_cast<double>(r.locked + r.held_back) * picosecond, kernel = overhead - locked - contended + faults;
  if (contended > 0) causes_.add(r.region, causes_.contended_line(), contended);
  if (locked > 0) causes_.add(r.region, causes_.page_faults(), locked);
  if (kernel > 0) causes_.add(r.region, causes_.number(PrivateCause::overhead), kernel);
  if (computing > 0) causes_.add(r.region, causes_.number(PrivateCause::core), computing);
  if (held > 0) causes_.add(r.region, causes_.number(PrivateCause::cache), held);
  if (!(stalled > 0)) return;
  std::size_t cause = causes_.number(PrivateCause::latency);
  Picoseconds longest = r.latency / 10;
  for (const std::uint32_t resource : r.queued) {
    if (r.waited[resource] <= longest) continue;
    longest = r.waited[resource];
    cause = resource;
  }
  causes_.add(r.region, cause, stalled);
}

}  // namespace homenode
