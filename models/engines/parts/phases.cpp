#include "models/engines/parts/phases.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/engines/parts/core_clocks.hpp"

namespace homenode {
namespace {

constexpr double window_weight = 1;        // a window that waits for lines is at least as long as its latency
constexpr double windows_of_nothing = 16;  // rows of a block may all lie at one place of their pages: kept together, or left out

double share_of(double part, double all) { return all > 0 ? part / all : 0; }

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
  waited += other.waited;
  for (std::size_t level = 0; level < most_levels; ++level) {
    hit_lines[level] += other.hit_lines[level];
    hit_weight[level] += other.hit_weight[level];
    waited_hits[level] += other.waited_hits[level];
    busiest_set[level] += other.busiest_set[level];
  }
}

double SlicePhase::streams_again() const {
  constexpr double some = 0.01;  // of the reads: less are no stream
  return loads > some * streamed ? again / loads : 0;
}

namespace {

std::uint64_t lines_of(const LineRange& range) { return range.size(); }
template <class Range>
std::uint64_t lines_of(const Range& range) {
  return range.lines.size();
}

}  // namespace

template <class Range, class Told>
void PhaseRecorder::Seen::further(const std::vector<Range>& list, const Told& told) {
  if (ranges > 0) told(list[ranges - 1], static_cast<double>(lines_of(list[ranges - 1]) - last));
  for (; ranges < list.size(); ++ranges) told(list[ranges], static_cast<double>(lines_of(list[ranges])));
  last = list.empty() ? 0 : lines_of(list.back());
}

PhaseRecorder::FirstLevelSets::FirstLevelSets(const Machine& machine) {
  const auto limits = [](const CacheDescription& cache) { return cache.level > 1 && cache.same_set.value_or(Time{}) > Time{}; };
  if (std::none_of(machine.caches.begin(), machine.caches.end(), limits)) return;
  const CacheDescription& first = machine.caches.front();
  lines_.resize(std::max<std::size_t>(1, static_cast<std::size_t>(first.size.count() / (first.line.count() * first.ways))));
}

void PhaseRecorder::FirstLevelSets::add(const ShortHit& hit) {
  for (std::uint64_t line = hit.first.value(); line < hit.first.value() + hit.lines; ++line) {
    const std::size_t set = line % lines_.size();
    if (lines_[set] == Lines{}) used_.push_back(static_cast<std::uint32_t>(set));
    ++lines_[set][std::min<std::size_t>(hit.level, SlicePhase::most_levels) - 1];
  }
}

void PhaseRecorder::FirstLevelSets::busiest_to(std::array<double, SlicePhase::most_levels>& sum, double one_in, double followed) {
  if (used_.empty()) return;
  // By lines, not by what they take: the same for all machines that a record of the slice is read for.
  const auto lines_of = [&](std::uint32_t set) { return std::accumulate(lines_[set].begin(), lines_[set].end(), 0.0); };
  std::uint32_t busiest = used_.front();
  double most = 0, all = 0;
  for (const std::uint32_t set : used_) {
    const double lines = lines_of(set);
    all += lines;
    if (lines > most) most = lines, busiest = set;
  }
  // As many sets as the busiest one would make, those left out among them; the chance that one of them was followed.
  const double sets = all / most / std::max(followed, 1 / one_in);
  const double seen = one_in > 1 ? 1 - std::pow(1 - 1 / one_in, sets) : 1;
  for (std::size_t level = 0; level < sum.size(); ++level) sum[level] += static_cast<double>(lines_[busiest][level]) / seen;
  for (const std::uint32_t set : used_) lines_[set] = {};
  used_.clear();
}

void PhaseRecorder::start(const CacheOutcome& outcome, double single) {
  single_ = single;
  const auto at_end = [](const auto& list) { return Seen{list.size(), list.empty() ? 0 : lines_of(list.back())}; };
  reads_ = at_end(outcome.reads);
  transfers_ = at_end(outcome.transfers);
  upgraded_ = at_end(outcome.upgraded);
  writebacks_ = at_end(outcome.writebacks);
  non_temporal_ = at_end(outcome.non_temporal_writes);
  for (std::size_t level = 0; level < levels_; ++level) {
    hit_lines_[level] = outcome.hit_lines[level];
    if (level > 0) hit_weight_[level - 1] = outcome.hit_weight[level];
  }
}

void PhaseRecorder::add(std::span<const LineTouch> group, const CacheOutcome& outcome) {
  double accesses = 0;
  double all = 0, scattered = 0, waited = 0;  // lines: of the group, of those in no stream, of these the ones that are waited for
  for (const LineTouch& touch : group) {
    window_.accesses += static_cast<double>(touch.accesses);
    accesses += static_cast<double>(touch.accesses);
    if (touch.lines.size() == 1) (kept_.has(touch.lines.first) ? in_sample_ : left_out_) += static_cast<double>(touch.accesses);
    if (touch.non_temporal && !touch.reads) continue;  // nothing comes in
    const double lines = touch.lines.size() == 1 ? single_ : static_cast<double>(touch.lines.size());
    all += lines;
    if (!(touch.parallelism > miss_buffers_)) {
      scattered += lines;
      waited += lines * touch.waited / 255;
      continue;
    }
    if (touch.non_temporal) continue;
    followed_ += lines;
    if (touch.writes && !touch.reads) stores_ += lines;
  }
  if (follows_sets()) {
    for (const ShortHit& hit : outcome.short_hits) set_.add(hit);
    set_accesses_ += accesses;
    settle_sets(false);
  }
  reads_.further(outcome.reads, [&](const MissRange& miss, double lines) {
    const double weight = lines / static_cast<double>(miss.parallelism);
    window_.reads += lines;
    window_.read_weight += weight;
    if (!(miss.parallelism > miss_buffers_)) {
      if (waited > 0) window_.waited += lines * waited / scattered;
      return;
    }
    streamed_ += lines;
    window_.streamed_weight += weight;
  });
  transfers_.further(outcome.transfers, [&](const TransferRange& transfer, double lines) {
    window_.transferred += lines;
    window_.transfer_weight += lines / static_cast<double>(transfer.parallelism);
    if (waited > 0 && !(transfer.parallelism > miss_buffers_)) window_.waited += lines * waited / scattered;
  });
  upgraded_.further(outcome.upgraded, [&](const UpgradeRange& upgrade, double lines) {
    window_.transfer_weight += lines / static_cast<double>(upgrade.parallelism);
  });
  const auto write = [&](const LineRange&, double lines) { window_.written += lines; };
  writebacks_.further(outcome.writebacks, write);
  non_temporal_.further(outcome.non_temporal_writes, write);
  if (!(sample_ > 1)) settle_streams();  // a sample tells of a group nothing or several times as much
  for (std::size_t level = 0; level < levels_; ++level) {
    const auto lines = static_cast<double>(outcome.hit_lines[level] - hit_lines_[level]);
    hit_lines_[level] = outcome.hit_lines[level];
    if (level == 0) continue;
    window_.hit_lines[level - 1] += lines;
    if (waited > 0) window_.waited_hits[level - 1] += lines * waited / all;
    window_.hit_weight[level - 1] += outcome.hit_weight[level] - hit_weight_[level - 1];
    hit_weight_[level - 1] = outcome.hit_weight[level];
  }
  // Of a sample, a window without a line that memory gave may have some among those left out.
  const double until_nothing = sample_ > 1 ? windows_of_nothing : 1;
  if (window_.accesses < sample_ * window_accesses_) return;
  if (window_.weight() > 0 ? window_.weight() >= sample_ * window_weight : window_.accesses >= until_nothing * sample_ * window_accesses_)
    close();
}

void PhaseRecorder::settle_streams() {
  window_.streamed += streamed_;
  window_.loads += streamed_ - std::min(stores_, streamed_);
  window_.again += std::max(0.0, followed_ - streamed_);
  followed_ = stores_ = streamed_ = 0;
}

void PhaseRecorder::settle_sets(bool now) {
  if (!now && set_accesses_ < window_accesses_) return;
  set_.busiest_to(window_.busiest_set, sample_, share_of(in_sample_, in_sample_ + left_out_));
  set_accesses_ = in_sample_ = left_out_ = 0;
}

void PhaseRecorder::close() {
  settle_streams();
  settle_sets(true);
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

// Weights of the lines that prefetchers follow, and of all lines from memory, with what reading streams again does to the former.
double slowed_streams(const SlicePhase& phase, const Machine& machine) {
  if (!(machine.reread_slowdown > 0) || !(phase.loads > 0)) return phase.streamed_weight;
  const double of_loads = phase.streamed_weight * phase.loads / phase.streamed;  // lines that stores ask for come beside them
  return std::max(phase.streamed_weight, of_loads * (1 + machine.reread_slowdown * disturbance(phase)));
}
double slowed_weight(const SlicePhase& phase, const Machine& machine) {
  return phase.read_weight - phase.streamed_weight + slowed_streams(phase, machine);
}

// What comes on top of the longer of computing and waiting, of the lines that prefetchers follow; hits and lines at random places overlap.
double serial_seconds(const SlicePhase& phase, const CoreSeconds<double>& of_phase, const Machine& machine) {
  if (!(machine.reread_serial > 0) || !(phase.streamed_weight > 0)) return 0;
  const double streams = of_phase.reads * slowed_streams(phase, machine) / slowed_weight(phase, machine);
  return machine.reread_serial * disturbance(phase) * std::min(of_phase.core + of_phase.waited, streams);
}

double hit_seconds_of(const SlicePhase& phase, const Machine& machine) {
  double seconds = 0;
  for (std::size_t level = 1; level < machine.caches.size() && level <= SlicePhase::most_levels; ++level) {
    seconds += level_seconds(machine.caches[level], phase.hit_lines[level - 1], phase.hit_weight[level - 1]);
  }
  return seconds;
}

// What each phase has its share of.
struct PhaseTotals {
  double accesses = 0, hits = 0, moved = 0, weight = 0;
  PhaseTotals(std::span<const SlicePhase> phases, const Machine& machine) {
    for (const SlicePhase& phase : phases) {
      accesses += phase.accesses;
      hits += hit_seconds_of(phase, machine);
      moved += phase.transfer_weight;
      weight += slowed_weight(phase, machine);
    }
  }
  // Seconds of a line from memory or another core, on average.
  double latency(const CoreSeconds<double>& spent) const { return share_of(spent.transfers + spent.reads, moved + weight); }
};

double waited_seconds(const SlicePhase& phase, double line_latency, const Machine& machine, double cycle) {
  const auto latency = [&](std::size_t level) { return at_cycle(machine.caches[level], cycle).latency.seconds(); };
  const double first = machine.caches.empty() ? 0 : latency(0);
  double seconds = phase.waited * std::max(0.0, line_latency - first);
  for (std::size_t level = 1; level < machine.caches.size() && level <= SlicePhase::most_levels; ++level)
    if (phase.waited_hits[level - 1] > 0) seconds += phase.waited_hits[level - 1] * std::max(0.0, latency(level) - first);
  return machine.load_waits * seconds;
}

bool is_waited_for(const SlicePhase& phase) {
  return phase.waited > 0 || std::any_of(phase.waited_hits.begin(), phase.waited_hits.end(), [](double lines) { return lines > 0; });
}

bool in_phases(std::span<const SlicePhase> phases, const Machine& machine) { return machine.overlap != Overlap::none && !phases.empty(); }

}  // namespace

namespace {

double same_set_seconds(const SlicePhase& phase, const Machine& machine, double cycle) {
  double seconds = 0;
  for (std::size_t level = 1; level < machine.caches.size() && level <= SlicePhase::most_levels; ++level)
    seconds += phase.busiest_set[level - 1] * at_cycle(machine.caches[level], cycle).same_set.value_or(Time{}).seconds();
  return seconds;
}

}  // namespace

double same_set_seconds(std::span<const SlicePhase> phases, const Machine& machine, double cycle) {
  double seconds = 0;
  for (const SlicePhase& phase : phases) seconds += same_set_seconds(phase, machine, cycle);
  return seconds;
}

double fill_seconds(std::span<const SlicePhase> phases, const Machine& machine, double cycle) {
  double lines = 0;
  for (const SlicePhase& phase : phases) lines += phase.fills();
  return fill_cycle(machine, cycle) * lines * fill_pace(machine);
}

double reread_factor(std::span<const SlicePhase> phases, const Machine& machine) {
  double slowed = 0, weight = 0;
  for (const SlicePhase& phase : phases) {
    slowed += slowed_weight(phase, machine);
    weight += phase.read_weight;
  }
  return weight > 0 ? slowed / weight : 1;
}

namespace {

// `told`: a phase, what it spends, and how long that keeps the core busy.
template <class Told>
void each_phase(std::span<const SlicePhase> phases, const CoreSeconds<double>& spent, const Machine& machine, const Told& told) {
  const PhaseTotals all{phases, machine};
  const auto waited_of = [&, latency = all.latency(spent)](const SlicePhase& phase) { return waited_seconds(phase, latency, machine, 1); };
  double waited = 0;
  if (spent.waited > 0)
    for (const SlicePhase& phase : phases) waited += waited_of(phase);
  const double same_set = spent.same_set > 0 ? same_set_seconds(phases, machine, 1) : 0;
  double fills = 0;
  for (const SlicePhase& phase : phases) fills += phase.fills();
  for (const SlicePhase& phase : phases) {
    const CoreSeconds<double> of_phase{
        .core = spent.core * share_of(phase.accesses, all.accesses),
        .hits = spent.hits * share_of(hit_seconds_of(phase, machine), all.hits),
        .transfers = spent.transfers * share_of(phase.transfer_weight, all.moved),
        .reads = spent.reads * share_of(slowed_weight(phase, machine), all.weight),
        .waited = waited > 0 ? spent.waited * waited_of(phase) / waited : 0,
        .same_set = spent.same_set > 0 ? spent.same_set * same_set_seconds(phase, machine, 1) / same_set : 0,
        .loading = spent.loading * share_of(phase.accesses, all.accesses),
        .fills = spent.fills * share_of(phase.fills(), fills),
    };
    const double longer = std::max(of_phase.core + of_phase.waited, of_phase.memory());
    told(phase, of_phase, longer + serial_seconds(phase, of_phase, machine));
  }
}

}  // namespace

double waited_seconds(std::span<const SlicePhase> phases, const CoreSeconds<double>& spent, const Machine& machine, double cycle) {
  if (!in_phases(phases, machine) || std::none_of(phases.begin(), phases.end(), is_waited_for)) return 0;
  const double latency = PhaseTotals{phases, machine}.latency(spent);
  double seconds = 0;
  for (const SlicePhase& phase : phases) seconds += waited_seconds(phase, latency, machine, cycle);
  return seconds;
}

double busy_seconds(std::span<const SlicePhase> phases, const CoreSeconds<double>& spent, const Machine& machine) {
  const double together = spent.busy(machine.overlap);
  if (!in_phases(phases, machine)) return together;
  double seconds = 0;
  each_phase(phases, spent, machine, [&](const SlicePhase&, const CoreSeconds<double>&, double busy) { seconds += busy; });
  return std::max(seconds, together);
}

SliceParts parts_of(std::span<const SlicePhase> phases, const CoreSeconds<double>& spent, const Machine& machine) {
  constexpr double denser = 1.5;
  const double whole = busy_seconds(phases, spent, machine);
  const SliceParts one{.dense = {whole, 1, spent}, .rest = {}};
  if (!in_phases(phases, machine) || phases.size() < 2) return one;
  double lines = 0, seconds = 0;
  each_phase(phases, spent, machine, [&](const SlicePhase& phase, const CoreSeconds<double>&, double busy) {
    seconds += busy;
    lines += phase.lines();
  });
  if (!(lines > 0)) return one;
  SliceParts parts;
  each_phase(phases, spent, machine, [&](const SlicePhase& phase, const CoreSeconds<double>& of_phase, double busy) {
    SlicePart& part = phase.lines() * seconds > lines * busy ? parts.dense : parts.rest;
    part.seconds += whole * busy / seconds;
    part.lines += phase.lines() / lines;
    part.spent += of_phase;
  });
  return parts.dense.lines * whole > denser * parts.dense.seconds ? parts : one;
}

}  // namespace homenode
