// A core goes through the lines of its slice, each through the caches, at the time at which it gets there.
#include <utility>

#include "models/engines/line/line_engine.hpp"

namespace homenode {

void LineEngine::run(RunningSlice& r) {
  while (true) {
    if (!r.kernel.empty()) {
      if (!write_for_kernel(r)) return;
      if (r.clock > horizon()) return later(r);
    } else {
      if (r.reached == nullptr) {
        if (!r.cursor.next(r.slice, r.reached, r.reached_line)) {
          r.reached = nullptr;
          if (r.port.fill > 0) r.port.hold_back(r.clock, 0);
          return wait(r, RunningSlice::Waits::at_end);
        }
        compute(r, *r.reached);
        // What others ask for before this clock takes links and controllers first.
        if (r.clock > horizon()) return later(r);
      }
      if (!access(r, *std::exchange(r.reached, nullptr), r.reached_line)) return;
    }
  }
}

// Goes on when all events before its clock are done.
void LineEngine::later(RunningSlice& r) {
  r.wake = r.clock;
  events_.push({r.clock, static_cast<std::uint32_t>(r.thread.index())});
}

// The next line of a page that the kernel zeroes. False if the core has to wait.
bool LineEngine::write_for_kernel(RunningSlice& r) {
  RunningSlice::KernelLines& kernel = r.kernel.back();
  if (kernel.lines == 0) {
    r.kernel.pop_back();
    return true;
  }
  const LineNumber number{--kernel.lines};
  Miss miss;
  miss.path = &routes_->non_temporal_write(r.asker, number, kernel.home);
  miss.served = routes_->served(number, kernel.home);
  miss.source = LineSource::non_temporal;
  miss.writes_memory = true;
  miss.home = kernel.home;
  miss.not_before = go_out(r, r.clock);
  if (machine_.nodes[kernel.home.index()].has_side_cache()) miss.side = AtSideCache::write;
  counts_.memory(r.asker.node, r.thread, kernel.home, 0, 1);
  return issue(r, miss, static_cast<float>(machine_.prefetched_lines));
}

// Moves the clock over computing and page faults in front of the next line of `touch`.
void LineEngine::compute(RunningSlice& r, const LineTouch& touch) {
  const double accesses = static_cast<double>(touch.accesses) / static_cast<double>(touch.lines.size());
  r.computed += r.access_time * accesses;
  const auto whole = static_cast<Picoseconds>(r.computed);
  r.computed -= static_cast<double>(whole);
  r.clock += whole;
  if (r.port.fill > 0) {
    r.port.take(r.port.access * accesses, r.clock);
    r.port.hold_back(r.clock, r.port.in_hand);
  }
  if (r.faults_per_access > 0) {
    r.faults_due += r.faults_per_access * accesses;
    while (r.faults_due >= 1) {  // nothing new begins meanwhile, what is in flight arrives
      r.faults_due -= 1;
      r.clock += wait_to_fault(r, r.clock) + r.fault_time;
    }
  }
}

// False if the core has to wait.
bool LineEngine::access(RunningSlice& r, const LineTouch& touch, LineNumber line) {
  LineFate fate = caches_.access_line(r.asker.core, line, touch, victims_);
  if (touch.non_temporal && touch.writes) fresh_.write_past(r.asker.core, {line, line + 1});
  if (fate.from == LineFate::From::memory)
    if (const auto level = fresh_.serve(r.asker.core, line))
      fate = {.from = LineFate::From::cache, .level = static_cast<std::uint8_t>(*level)};
  if (fate.level != 0 || fate.from != LineFate::From::cache)
    caches_.prefetch_tables(r.asker.core, r.cursor.ahead(r.slice, 4), r.cursor.ahead(r.slice, 2), r.cursor.stream());
  counts_.events.upgrade_lines += fate.upgrade;
  if (!victims_.writebacks.empty()) write_back(r, r.clock);
  Miss miss;
  float places = touch.parallelism;
  if (touch.non_temporal && touch.writes) {
    const NodeId home = home_of(r, line);
    victims_.non_temporal_writes.clear();
    count_line(r, line, home, true);
    miss.path = &routes_->non_temporal_write(r.asker, line, home);
    miss.served = routes_->served(line, home);
    miss.source = LineSource::non_temporal;
    miss.writes_memory = true;
    miss.side = remember_write(r, line, home);
    miss.home = home;
    miss.not_before = std::max(exchange(r.streaming_free, exchange_.non_temporal, r.clock), go_out(r, r.clock));
    if (!touch.reads) return issue(r, miss, static_cast<float>(machine_.streaming_lines()));
    // Nobody waits for what leaves after a read.
    write_memory(miss.side, home, miss.served, r.clock);
    send_beside(*miss.path, r.clock);
    miss = {};
  }
  switch (fate.from) {
    case LineFate::From::nowhere: return true;
    case LineFate::From::cache: {
      ++counts_.events.hit_lines[fate.level];
      r.from_outermost += fate.level > 0 && fate.level + 1U == machine_.caches.size();
      const auto invalidated = caches_.invalidated();
      if (invalidated.empty()) {
        if (fate.level == 0) return true;
        miss.source = fate.level + 1U == machine_.caches.size() && fate.level >= 2 ? LineSource::l3 : LineSource::l2;
        miss.level = fate.level;
        break;
      }
      const unsigned cores = machine_.caches.back().cores_per_cache;
      const NodeId home = home_of(r, line);
      for (const std::uint32_t domain : invalidated) {
        const LinePath& path = routes_->upgrade(r.asker, line, home, CoreId{std::size_t{domain} * cores});
        if (miss.path == nullptr || path.after > miss.path->after) miss.path = &path;
      }
      miss.source = LineSource::upgraded;
      break;
    }
    case LineFate::From::transfer:
      miss.path = &routes_->transfer(r.asker, line, home_of(r, line), CoreId{fate.owner});
      miss.source = fate.dirty ? LineSource::dirty_copy : LineSource::clean_copy;
      miss.through_port = !machine_.share_outermost_cache(r.asker.core, CoreId{fate.owner});
      ++counts_.events.transfer_lines;
      break;
    case LineFate::From::memory: {
      const NodeId home = home_of(r, line);
      miss.path = &routes_->read(r.asker, line, home);
      miss.served = routes_->served(line, home);
      miss.source = counts_.memory_source(r.asker, home);
      count_line(r, line, home, false);
      ++r.from_memory;
      miss.not_before = exchange(r.exchange_free, touch.writes ? exchange_.write : exchange_.read, r.clock);
      miss.through_port = true;
      remember_read(r, line, home, miss);
      break;
    }
  }
  if (r.port.fill > 0 && (fate.from != LineFate::From::cache || fate.level > 0)) r.port.take(r.port.fill, r.clock);
  miss.awaited = is_awaited(r, touch, fate.from);
  if (!issue(r, miss, places)) return false;
  const bool waits = touch.atomic && fate.from == LineFate::From::transfer;  // as in contention_cost.hpp
  if (!waits && !miss.awaited && (machine_.overlap == Overlap::full || touch.parallelism > 1)) return true;
  wait(r, miss.awaited ? RunningSlice::Waits::for_line : RunningSlice::Waits::for_all);
  return false;
}

// Of 255 such loads as many as the touch says, of those from each place by themselves: loops may alternate between two. Without overlap a
// core stops at each line anyway. The first level's latency is among the core's cycles.
bool LineEngine::is_awaited(RunningSlice& r, const LineTouch& touch, LineFate::From from) const {
  if (touch.waited == 0 || machine_.overlap == Overlap::none || touch.parallelism > static_cast<float>(machine_.miss_buffers)) return false;
  double& due = r.waits_due[from == LineFate::From::memory ? 2 : from == LineFate::From::transfer ? 1 : 0];
  due += machine_.load_waits * touch.waited;
  if (due < 255) return false;
  due -= 255;
  return true;
}

void LineEngine::write_back(RunningSlice& r, Picoseconds at) {
  for (const LineRange& lines : victims_.writebacks) {
    for (LineNumber line = lines.first; line < lines.last; ++line) {
      const NodeId home = home_of(r, line);
      const LineRoutes::Served served = routes_->served(line, home);
      count_line(r, line, home, true);
      exchange(r.exchange_free, exchange_.write, at);
      go_out(r, at);
      write_memory(remember_write(r, line, home), home, served, at);
      send_beside(routes_->writeback(r.asker, line, home), at);
    }
  }
  victims_.writebacks.clear();
}

// When the core is through with a line that takes it `pace`, beside what it exchanges already.
Picoseconds LineEngine::exchange(Picoseconds& free, Picoseconds pace, Picoseconds at) {
  if (pace == 0) return 0;
  free = std::max(free, at) + pace;
  return free;
}

NodeId LineEngine::home_of(const RunningSlice& r, LineNumber line) const {
  return r.addresses->home_for(first_byte(line, line_bytes_), r.asker.node);
}

void LineEngine::count_line(RunningSlice& r, LineNumber line, NodeId home, bool write) {
  counts_.memory(r.asker.node, r.thread, home, write ? 0 : 1, write ? 1 : 0);
  if (r.addresses->watch().watches() != Watch::traffic) return;
  if (!r.exchanged.empty() && r.exchanged.back().lines.last == line && r.exchanged.back().write == write)
    ++r.exchanged.back().lines.last;
  else
    r.exchanged.push_back({{line, line + 1}, write});
}

// Slices run beside each other: of each what its own thread exchanged.
void LineEngine::tell_traffic(AddressSpace& addresses, Time now) {
  for (RunningSlice& r : cores_) {
    for (const RunningSlice::Exchanged& part : r.exchanged) addresses.watch().exchanged(bytes_of(part.lines, line_bytes_), part.write);
    r.exchanged.clear();
    addresses.watch().tell_traffic({r.thread, r.asker.core, r.asker.node, now});
  }
}

}  // namespace homenode
