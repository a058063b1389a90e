#include "models/engines/parts/phases.hpp"

#include <algorithm>
#include <cmath>

namespace homenode {
namespace {

constexpr double window_weight = 1;  // a window that waits for lines is at least as long as its latency

int bin_of(const SlicePhase& window, int bins) {
  if (!(window.weight() > 0)) return bins;
  // Factors of four of memory latencies an access, from 4^-7 on.
  const double power = std::floor(std::log2(window.weight() / std::max(window.accesses, 1.0)) / 2);
  return static_cast<int>(std::clamp(power + bins - 1, 0.0, bins - 1.0));
}

}  // namespace

void SlicePhase::add(const SlicePhase& other) {
  accesses += other.accesses;
  reads += other.reads;
  read_weight += other.read_weight;
  transferred += other.transferred;
  transfer_weight += other.transfer_weight;
  written += other.written;
  streamed += other.streamed;
  streamed_weight += other.streamed_weight;
  loads += other.loads;
  again += other.again;
  for (std::size_t level = 0; level < most_levels; ++level) {
    hit_lines[level] += other.hit_lines[level];
    hit_weight[level] += other.hit_weight[level];
  }
}

double SlicePhase::streams_again() const {
  constexpr double some = 0.01;  // of the reads: less are no stream
  return loads > some * streamed ? again / loads : 0;
}

std::uint64_t PhaseRecorder::LinesSeen::further(const std::vector<LineRange>& lines) {
  std::uint64_t more = ranges > 0 ? lines[ranges - 1].size() - last : 0;
  for (; ranges < lines.size(); ++ranges) more += lines[ranges].size();
  last = ranges > 0 ? lines[ranges - 1].size() : 0;
  return more;
}

void PhaseRecorder::start(const CacheOutcome& outcome) {
  ranges_ = outcome.reads.size();
  last_lines_ = outcome.reads.empty() ? 0 : outcome.reads.back().lines.size();
  transfers_ = outcome.transfers.size();
  last_transferred_ = outcome.transfers.empty() ? 0 : outcome.transfers.back().lines.size();
  writebacks_ = non_temporal_ = {};
  writebacks_.further(outcome.writebacks);
  non_temporal_.further(outcome.non_temporal_writes);
  for (std::size_t level = 0; level < levels_; ++level) {
    hit_lines_[level] = outcome.hit_lines[level];
    if (level > 0) hit_weight_[level - 1] = outcome.hit_weight[level];
  }
}

void PhaseRecorder::add(std::span<const LineTouch> group, const CacheOutcome& outcome) {
  double stores = 0, followed = 0, streamed = 0;  // lines of streams
  for (const LineTouch& touch : group) {
    window_.accesses += static_cast<double>(touch.accesses);
    if (!(touch.parallelism > miss_buffers_) || touch.non_temporal) continue;
    const auto lines = static_cast<double>(touch.lines.size());
    followed += lines;
    if (touch.writes && !touch.reads) stores += lines;
  }
  const auto read = [&](std::uint64_t number, float parallelism) {
    const auto lines = static_cast<double>(number), weight = lines / static_cast<double>(parallelism);
    window_.reads += lines;
    window_.read_weight += weight;
    if (!(parallelism > miss_buffers_)) return;
    streamed += lines;
    window_.streamed_weight += weight;
  };
  if (ranges_ > 0) read(outcome.reads[ranges_ - 1].lines.size() - last_lines_, outcome.reads[ranges_ - 1].parallelism);
  for (; ranges_ < outcome.reads.size(); ++ranges_) read(outcome.reads[ranges_].lines.size(), outcome.reads[ranges_].parallelism);
  last_lines_ = ranges_ > 0 ? outcome.reads[ranges_ - 1].lines.size() : 0;
  const auto transfer = [&](std::uint64_t number, float parallelism) {
    window_.transferred += static_cast<double>(number);
    window_.transfer_weight += static_cast<double>(number) / static_cast<double>(parallelism);
  };
  if (transfers_ > 0)
    transfer(outcome.transfers[transfers_ - 1].lines.size() - last_transferred_, outcome.transfers[transfers_ - 1].parallelism);
  for (; transfers_ < outcome.transfers.size(); ++transfers_)
    transfer(outcome.transfers[transfers_].lines.size(), outcome.transfers[transfers_].parallelism);
  last_transferred_ = transfers_ > 0 ? outcome.transfers[transfers_ - 1].lines.size() : 0;
  window_.written += static_cast<double>(writebacks_.further(outcome.writebacks) + non_temporal_.further(outcome.non_temporal_writes));
  window_.streamed += streamed;
  window_.loads += streamed - std::min(stores, streamed);
  window_.again += std::max(0.0, followed - streamed);
  for (std::size_t level = 0; level < levels_; ++level) {
    const auto lines = static_cast<double>(outcome.hit_lines[level] - hit_lines_[level]);
    hit_lines_[level] = outcome.hit_lines[level];
    if (level == 0) continue;
    window_.hit_lines[level - 1] += lines;
    window_.hit_weight[level - 1] += outcome.hit_weight[level] - hit_weight_[level - 1];
    hit_weight_[level - 1] = outcome.hit_weight[level];
  }
  if (window_.accesses >= window_accesses_ && (window_.weight() >= window_weight || !(window_.weight() > 0))) close();
}

void PhaseRecorder::close() {
  phases_[static_cast<std::size_t>(bin_of(window_, bins))].add(window_);
  window_ = {};
}

void PhaseRecorder::finish(std::vector<SlicePhase>& phases) {
  close();
  phases.clear();
  for (SlicePhase& phase : phases_) {
    if (!(phase.accesses > 0)) continue;
    phases.push_back(phase);
    phase = {};
  }
}

namespace {

// How much of the disturbance there is: all of it from two streams on, which a calibration measures with two and four; a quarter with one.
double disturbance(const SlicePhase& phase) {
  const double pairs = std::min(1.0, phase.streams_again() / 2);
  return pairs * pairs;
}

double slowed_weight(const SlicePhase& phase, const Machine& machine) {
  if (!(machine.reread_slowdown > 0) || !(phase.loads > 0)) return phase.read_weight;
  const double of_loads = phase.streamed_weight * phase.loads / phase.streamed;  // lines that stores ask for come beside them
  return phase.read_weight - phase.streamed_weight +
         std::max(phase.streamed_weight, of_loads * (1 + machine.reread_slowdown * disturbance(phase)));
}

// Of the shorter of computing and transfers, what comes on top.
double serial_share(const SlicePhase& phase, const Machine& machine) {
  if (!(machine.reread_serial > 0) || !(phase.streamed_weight > 0)) return 0;
  return machine.reread_serial * disturbance(phase) * phase.streamed_weight / phase.read_weight;
}

double hit_seconds_of(const SlicePhase& phase, const Machine& machine) {
  double seconds = 0;
  for (std::size_t level = 1; level < machine.caches.size() && level <= SlicePhase::most_levels; ++level) {
    seconds += level_seconds(machine.caches[level], phase.hit_lines[level - 1], phase.hit_weight[level - 1]);
  }
  return seconds;
}

double share_of(double part, double all) { return all > 0 ? part / all : 0; }

}  // namespace

double reread_factor(std::span<const SlicePhase> phases, const Machine& machine) {
  double slowed = 0, weight = 0;
  for (const SlicePhase& phase : phases) {
    slowed += slowed_weight(phase, machine);
    weight += phase.read_weight;
  }
  return weight > 0 ? slowed / weight : 1;
}

namespace {

// `told`: a phase, how many seconds it keeps the core busy, and of these how many it computes.
template <class Told>
void each_phase(std::span<const SlicePhase> phases, const CoreSeconds<double>& spent, const Machine& machine, const Told& told) {
  double accesses = 0, hits = 0, moved = 0, weight = 0;
  for (const SlicePhase& phase : phases) {
    accesses += phase.accesses;
    hits += hit_seconds_of(phase, machine);
    moved += phase.transfer_weight;
    weight += slowed_weight(phase, machine);
  }
  for (const SlicePhase& phase : phases) {
    const double computing = spent.core * share_of(phase.accesses, accesses);
    const double transfers = spent.hits * share_of(hit_seconds_of(phase, machine), hits) +
                             spent.transfers * share_of(phase.transfer_weight, moved) +
                             spent.reads * share_of(slowed_weight(phase, machine), weight);
    told(phase, std::max(computing, transfers) + serial_share(phase, machine) * std::min(computing, transfers), computing);
  }
}

bool in_phases(std::span<const SlicePhase> phases, const Machine& machine) { return machine.overlap != Overlap::none && !phases.empty(); }

}  // namespace

double busy_seconds(std::span<const SlicePhase> phases, const CoreSeconds<double>& spent, const Machine& machine) {
  const double together = spent.busy(machine.overlap);
  if (!in_phases(phases, machine)) return together;
  double seconds = 0;
  each_phase(phases, spent, machine, [&](const SlicePhase&, double busy, double) { seconds += busy; });
  return std::max(seconds, together);
}

SliceParts parts_of(std::span<const SlicePhase> phases, const CoreSeconds<double>& spent, const Machine& machine) {
  constexpr double denser = 1.5;
  const double whole = busy_seconds(phases, spent, machine);
  SliceParts parts{.dense = {whole, 1, spent.core >= spent.memory()}, .rest = {}};
  if (!in_phases(phases, machine) || phases.size() < 2) return parts;
  double lines = 0, seconds = 0;
  each_phase(phases, spent, machine, [&](const SlicePhase& phase, double busy, double) {
    seconds += busy;
    lines += phase.lines();
  });
  SlicePart dense;
  double computing = 0;
  each_phase(phases, spent, machine, [&](const SlicePhase& phase, double busy, double computed) {
    if (!(phase.lines() * seconds > lines * busy)) return;
    dense.seconds += busy;
    dense.lines += phase.lines();
    computing += computed;
  });
  if (!(dense.lines * seconds > denser * lines * dense.seconds)) return parts;
  parts.rest = {whole * (1 - dense.seconds / seconds), 1 - dense.lines / lines, 2 * (spent.core - computing) >= seconds - dense.seconds};
  parts.dense = {whole * dense.seconds / seconds, dense.lines / lines, 2 * computing >= dense.seconds};
  return parts;
}

}  // namespace homenode
