// Places in flight, lines on their paths, and cores that wait for them.
#include "models/engines/line/line_engine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace homenode {

bool LineEngine::issue(RunningSlice& r, const Miss& miss, float parallelism) {
  LinesInFlight& others = r.in_flight(miss);
  others.returns.drop_until(r.clock);
  const auto whole = static_cast<std::uint32_t>(parallelism);
  const double owed = others.owed + (static_cast<double>(parallelism) - whole);
  if (others.size() >= std::max(owed >= 1 ? whole + 1 : whole, 1U)) {
    r.put_off = miss;
    r.put_off_parallelism = parallelism;
    wait(r, RunningSlice::Waits::for_place);
    return false;
  }
  others.owed = owed >= 1 ? owed - 1 : owed;
  begin(r, miss);
  return true;
}

void LineEngine::begin(RunningSlice& r, const Miss& miss) {
  if (miss.awaited) r.awaited_at = RunningSlice::never;
  if (miss.path == nullptr) {  // from a cache of its own
    Picoseconds at = r.clock + r.levels[miss.level].latency;
    if (r.levels[miss.level].delivers > 0) {
      Picoseconds& free = r.level_free[miss.level];
      free = std::max(free, r.clock) + r.levels[miss.level].delivers;
      at = std::max(at, free);
    }
    r.latency += at - r.clock;
    counts_.latency(miss.source, at - r.clock);
    r.misses.returns.add(at);
    if (miss.awaited) r.awaited_at = at - r.levels.front().latency;
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
  ++r.in_flight(miss).under_way;
  const auto& stages = miss.path->stages;
  if (stages.empty() || stages.front().before == 0)
    step(transactions_[index], index, r.clock);
  else
    events_.push({r.clock + stages.front().before, index | is_transaction});
}

// The transaction is where its stage begins.
void LineEngine::step(Transaction& transaction, std::uint32_t index, Picoseconds now) {
  RunningSlice& r = cores_[transaction.core];
  Miss& miss = transaction.miss;
  const Picoseconds event = now;
  const auto& stages = miss.path->stages;
  while (transaction.stage < stages.size()) {
    const PathStage& stage = stages[transaction.stage];
    Picoseconds left = now, idle = 0;
    std::size_t resource = 0;
    if (stage.link == PathStage::controller) {
      const AtSideCache before = miss.side;
      left = at_memory(miss, now, idle, resource);
      if (miss.side != before) {  // the tags are read: the line is asked for when that is done
        events_.push({left, index | is_transaction});
        return;
      }
    } else if (stage.link == PathStage::on_ring) {
      left = routes_->ride(stage.ring, now);
      idle = ring_hop_ * stage.ring.hops;
      resource = controllers_.size() + link_free_.size() + 2 * static_cast<std::size_t>(stage.ring.kind) + (stage.ring.up ? 0 : 1);
    } else {
      left = hold(stage.link, now, stage.held);
      resource = controllers_.size() + stage.link;
    }
    const Picoseconds waited = left - now - idle;
    if (waited > 0) {
      if (r.waited[resource] == 0) r.queued.push_back(static_cast<std::uint32_t>(resource));
      r.waited[resource] += waited;
    }
    if (++transaction.stage < stages.size()) left += stages[transaction.stage].before;
    if (transaction.stage < stages.size() && left != now) {
      events_.push({left, index | is_transaction});
      return;
    }
    now = left;
  }
  if (miss.through_port && !ports_.empty()) now = come_in(r, now, event);
  const Picoseconds at = std::max(now + miss.path->after, miss.not_before);
  counts_.latency(miss.source, at - transaction.issued);
  r.latency += at - transaction.issued;
  LinesInFlight& others = r.in_flight(miss);
  --others.under_way;
  others.returns.add(at);
  if (miss.awaited) r.awaited_at = std::max(event, at - r.levels.front().latency);
  free_transactions_.push_back(index);
  returned(r, others, at);
}

// `others`: the line's kind.
void LineEngine::returned(RunningSlice& r, const LinesInFlight& others, Picoseconds at) {
  if (r.waits == RunningSlice::Waits::no) return;
  if (r.waits == RunningSlice::Waits::for_line) return wake_for_line(r);
  const bool all = r.waits != RunningSlice::Waits::for_place;
  if (all ? r.misses.under_way + r.streams.under_way != 0 : &r.in_flight(*r.put_off) != &others) return;
  const Picoseconds wake = all ? r.last_return() : std::min(r.wake, at);
  if (wake == r.wake) return;
  r.wake = wake;
  events_.push({wake, static_cast<std::uint32_t>(r.thread.index())});
}

// Once it is known when the line is there.
void LineEngine::wake_for_line(RunningSlice& r) {
  if (r.awaited_at == RunningSlice::never || r.wake != RunningSlice::never) return;
  r.wake = std::max(r.clock, r.awaited_at);
  events_.push({r.wake, static_cast<std::uint32_t>(r.thread.index())});
}

void LineEngine::wait(RunningSlice& r, RunningSlice::Waits waits) {
  r.waits = waits;
  r.wake = RunningSlice::never;
  if (waits == RunningSlice::Waits::for_line) return wake_for_line(r);
  Picoseconds wake = RunningSlice::never;
  if (waits == RunningSlice::Waits::for_place) {
    const ReturnTimes& returns = r.in_flight(*r.put_off).returns;
    if (!returns.empty()) wake = returns.first();
  } else if (r.misses.under_way + r.streams.under_way == 0) {
    wake = std::max(r.clock, r.last_return());
  }
  if (wake == RunningSlice::never) return;
  r.wake = wake;
  events_.push({wake, static_cast<std::uint32_t>(r.thread.index())});
}

void LineEngine::wake(RunningSlice& r, Picoseconds now, std::vector<Completion>& done) {
  const RunningSlice::Waits waited = std::exchange(r.waits, RunningSlice::Waits::no);
  r.wake = RunningSlice::never;
  r.clock = std::max(r.clock, now);
  if (waited == RunningSlice::Waits::at_end) return finish(r, r.clock, done);
  if (waited == RunningSlice::Waits::for_place) {
    const Miss miss = *r.put_off;
    r.put_off.reset();
    if (!issue(r, miss, r.put_off_parallelism)) return;
    if (miss.awaited) return wait(r, RunningSlice::Waits::for_line);
    if (machine_.overlap == Overlap::none && r.put_off_parallelism <= 1) return wait(r, RunningSlice::Waits::for_all);
  }
  run(r);
}

Picoseconds LineEngine::hold(std::uint32_t link, Picoseconds from, Picoseconds held) {
  const Picoseconds begins = std::max(from, link_free_[link]);
  link_free_[link] = begins + held;
  if (timeline_ != nullptr)
    timeline_->used(controllers_.size() + link, Time::picoseconds(begins), Time::picoseconds(begins + held),
                    1e-12 * static_cast<double>(held));
  return begins;
}

void LineEngine::send_beside(const LinePath& path, Picoseconds at) {
  for (const LinkHold& message : path.beside) hold(message.link, at, message.held);
  for (const RingRide& ride : path.rides_beside) routes_->ride(ride, at);
  for (const LinkBytes& bytes : path.counted)
    counts_.events.link_bytes[bytes.link.index()] += static_cast<std::uint64_t>(std::llround(bytes.bytes));
}

// A line of the reader's own, at its home, that the writer has just written.
std::optional<Time> LineEngine::signal(const Place& writer, const Place& reader) {
  if (writer.core == reader.core) return writer.now;
  const Asker asker{reader.core, reader.node, machine_.socket_of(reader.node)};
  const LinePath& path = routes_->transfer(asker, LineNumber{reader.thread.index()}, reader.node, writer.core);
  Picoseconds at = writer.now.count();
  send_beside(path, at);
  for (const PathStage& stage : path.stages) {
    at += stage.before;
    at = stage.link == PathStage::on_ring ? routes_->ride(stage.ring, at) : hold(stage.link, at, stage.held);
  }
  return Time::picoseconds(at + path.after);
}

}  // namespace homenode
