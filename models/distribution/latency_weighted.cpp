// S0, section 4: contiguous chunks of such sizes that all threads finish together; threads that reach more remote memory, or lines that
// other threads have just written, get less. Sizes come before the execution from the closed form alone (sim/hardware/cost_oracle.hpp),
// by a fixed point: each thread's weight is multiplied by the mean time over its own until the times are equal. The best schedule on the
// way stands; the first one is static's, which others must beat by 0.5 %, so that by the estimate nobody loses. Without an oracle all
// weights are equal.
//
// An execution that spends more than that on placing pages keeps the weights that its region has, equal ones at first: which of two threads
// that share a page takes its fault depends on who comes first, by less than any estimate knows, and where pages lie is what later
// executions are weighed by. S0's scheme, too, places pages before it weighs anything. The first execution without that stays as it is,
// the second and third are weighed, and before the fourth the estimate must still say that this is worth it, or weights are equal again.
//
// `refine`: in so many further executions of the region the same step is tried with the times that its threads took in the one before;
// what took least stands.
// `dims`: threads form a grid over the first dimensions of the region's iterations; the first is cut into contiguous groups of rows, each
// of them along the second, and so on, so that every thread has one block whose share is its weight.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "models/distribution/register.hpp"
#include "sim/base/errors.hpp"
#include "sim/hardware/cost_oracle.hpp"

namespace homenode {
namespace {

constexpr int most_rounds = 24;
constexpr double damping = 0.8;  // of the exponent: several threads change at once
constexpr double enough = 1e-3;  // spread of times over their mean
// Of the time: what other weights must promise. Less is below the closed form's own errors (validation/closed_form.md), and lines that
// change hands come out of other threads' caches at first.
constexpr double worth_moving = 0.005;
constexpr double most_change = 2;  // of a weight in one round
// The first execution of a loop (0) finds its data where others left them, so that its weights would suit nothing but that; those that
// follow are weighed; this one tells whether they were worth it, with data where the weights brought them.
constexpr std::int64_t trial = 3;

using Weights = std::vector<double>;

// What weights a loop's threads had in its last execution and how long each worked, the weights that took least so far, and what an
// execution with equal weights was estimated to take.
struct Weighed {
  Weights weights, seconds, best;
  std::int64_t executions = 0;
  double least = 0, equal = 0;
};
// By region and number of iterations.
struct WeighedLoops : std::map<std::pair<const Region*, std::int64_t>, Weighed> {};

class LatencyWeighted final : public WorkDistribution {
public:
  explicit LatencyWeighted(const Parameters& parameters)
      : refine_{parameters.get("refine")},
        dimensions_{static_cast<std::size_t>(parameters.get("dims"))},
        rows_{parameters.get("rows")},
        columns_{parameters.get("columns")} {}

  bool wants_estimates() const override { return true; }
  std::unique_ptr<WorkDistribution> fixed_schedule() const override { return std::make_unique<LatencyWeighted>(*this); }

  void prepare(const RegionView& region, const Team& team, const CostOracle* oracle) override {
    region_ = region;
    set_extents(team.size());
    Weighed scratch;
    memory_ = region.memory == nullptr ? nullptr : &region.memory->of<WeighedLoops>()[{region.region, region.iterations}];
    Weighed& known = memory_ == nullptr ? scratch : *memory_;
    if (known.weights.size() != team.size()) {
      known = {};
      known.weights = equal_weights(team.size());
    }
    const RegionEstimate unchanged = oracle == nullptr ? RegionEstimate{} : oracle->estimate(region_.execution, schedule(known.weights));
    if (unchanged.fault_share <= worth_moving) weigh(known, oracle, unchanged.seconds);
    schedule_ = schedule(known.weights);
    known.seconds.assign(team.size(), 0);
    next_.assign(team.size(), 0);
    started_.assign(team.size(), Time{});
    own_.assign(team.size(), {});
    for (const ScheduledRange& range : schedule_) own_[range.thread.index()].push_back({region.execution, range.first, range.last});
  }

  Decision next(ThreadId thread, Time now) override {
    const std::size_t t = thread.index();
    if (next_[t] == 0) started_[t] = now;
    if (next_[t] == own_[t].size()) return {};
    return {Decision::Kind::run, own_[t][next_[t]++], Time{}};
  }

  void complete(ItemRange, ThreadId thread, Time now) override {
    if (memory_ != nullptr) memory_->seconds[thread.index()] = (now - started_[thread.index()]).seconds();
  }

private:
  // The trace's dimensions, or rows and columns as the user says: compilers make one counter of collapsed loops, and captures see no more.
  void set_extents(std::size_t threads) {
    extents_.clear();
    if (dimensions_ == 1) {
      extents_ = {region_.iterations};
    } else if (columns_ > 0) {
      std::int64_t plane = columns_;
      const bool fits = dimensions_ != 3 || !__builtin_mul_overflow(rows_, columns_, &plane);
      if (fits && plane > 0 && region_.iterations % plane == 0) extents_.assign({region_.iterations / plane, rows_, columns_});
      if (dimensions_ == 2 && !extents_.empty()) extents_.erase(extents_.begin() + 1);
    } else if (region_.region != nullptr) {
      for (const LoopDimension& dimension : region_.region->dimensions) {
        const std::int64_t round_up = dimension.step > 0 ? dimension.step - 1 : dimension.step + 1;
        std::int64_t span = 0;  // a trace may hold any bounds
        const bool fits = !__builtin_sub_overflow(dimension.high, dimension.low, &span) && !__builtin_add_overflow(span, round_up, &span);
        extents_.push_back(!fits || dimension.step == 0 || (dimension.step == -1 && span == INT64_MIN) ? 0 : span / dimension.step);
      }
      for (std::size_t d = dimensions_; d < extents_.size(); ++d)
        extents_[dimensions_ - 1] = product(extents_[dimensions_ - 1], extents_[d]);
      extents_.resize(std::min(extents_.size(), dimensions_));
    }
    const std::int64_t all = std::accumulate(extents_.begin(), extents_.end(), std::int64_t{1}, product);
    if (extents_.size() < dimensions_ || all != region_.iterations) refuse_dimensions();
    find_grid(threads);
  }

  // -1, which no number of iterations is, where it overflows.
  static std::int64_t product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result) ? -1 : result;
  }

  [[noreturn]] void refuse_dimensions() const {
    const std::string name = region_.region == nullptr ? std::string{} : region_.region->label;
    const std::string wanted = dimensions_ == 2 ? "columns=C with C" : "rows=R and columns=C with R x C";
    throw UsageError("latency-weighted:dims=" + std::to_string(dimensions_) + " does not know how the " +
                     std::to_string(region_.iterations) + " iterations of region '" + name + "' form " + std::to_string(dimensions_) +
                     " dimensions; allowed: " + wanted + " a divisor of them, or dims=1; for single regions: REGION@latency-weighted:...");
  }

  // Of the grids that hold all threads the one whose blocks have the least surface.
  void find_grid(std::size_t threads) {
    grid_.assign(1, static_cast<std::int64_t>(threads));
    if (dimensions_ == 1) return;
    double least = std::numeric_limits<double>::infinity();
    const auto all = static_cast<std::int64_t>(threads);
    for (std::int64_t a = 1; a <= all; ++a) {
      if (all % a != 0) continue;
      for (std::int64_t b = 1; b <= all / a; ++b) {
        const bool fits = dimensions_ == 2 ? b == all / a : all / a % b == 0;
        if (!fits) continue;
        std::vector<std::int64_t> grid{a, b};
        if (dimensions_ == 3) grid.push_back(all / a / b);
        double surface = 0;
        for (std::size_t d = 0; d < grid.size(); ++d)
          surface += static_cast<double>(grid[d]) / static_cast<double>(std::max<std::int64_t>(extents_[d], 1));
        if (surface < least) least = surface, grid_ = grid;
      }
    }
  }

  static Weights equal_weights(std::size_t threads) { return Weights(threads, 1 / static_cast<double>(threads)); }

  // `unchanged`: what the execution would take with the weights as they are.
  void weigh(Weighed& known, const CostOracle* oracle, double unchanged) const {
    const std::int64_t before = known.executions++;
    if (oracle == nullptr || before > trial) {
      if (refine_ > 0 && before <= trial + 1 + refine_) refine(known, before <= trial + refine_);
    } else if (before == trial) {
      if (unchanged >= known.equal) known.weights = equal_weights(known.weights.size());
    } else if (before > 0) {
      if (before == 1) known.equal = unchanged;
      known.weights = fixed_point(*oracle, known.weights);
    }
  }

  Weights fixed_point(const CostOracle& oracle, const Weights& start) const {
    Weights weights = start, best = start;
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < most_rounds; ++round) {
      const RegionEstimate now = oracle.estimate(region_.execution, schedule(weights));
      if (round == 1) least *= 1 - worth_moving;
      if (now.seconds < least) {
        least = now.seconds;
        best = weights;
      }
      if (!step(weights, now.thread_seconds)) break;
    }
    return best;
  }

  // The weights with which the region took the least stand; as long as there are trials left, those that follow from them come next.
  static void refine(Weighed& known, bool another_trial) {
    if (known.seconds.size() != known.weights.size()) return;
    const double longest = *std::max_element(known.seconds.begin(), known.seconds.end());
    if (known.best.empty() || longest < known.least) {
      known.least = longest;
      known.best = known.weights;
    } else {
      known.weights = known.best;
    }
    if (another_trial) step(known.weights, known.seconds);
  }

  // False once the times are equal enough.
  static bool step(Weights& weights, const std::vector<double>& seconds) {
    const double mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
    if (!(mean > 0)) return false;
    const auto [shortest, longest] = std::minmax_element(seconds.begin(), seconds.end());
    if (*longest - *shortest <= enough * mean) return false;
    double sum = 0;
    for (std::size_t t = 0; t < weights.size(); ++t) {
      const double change = seconds[t] > 0 ? std::pow(mean / seconds[t], damping) : most_change;
      weights[t] *= std::clamp(change, 1 / most_change, most_change);
      sum += weights[t];
    }
    for (double& weight : weights) weight /= sum;
    return true;
  }

  // Cuts [0, extent) for groups of threads by their weights.
  static std::vector<std::int64_t> cuts(std::int64_t extent, const std::vector<double>& weights) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<std::int64_t> result{0};
    double before = 0;
    for (const double weight : weights) {
      before += weight;
      const double share = sum > 0 ? before / sum : 1;
      result.push_back(std::clamp(static_cast<std::int64_t>(std::llround(share * static_cast<double>(extent))), result.back(), extent));
    }
    result.back() = extent;
    return result;
  }

  std::vector<ScheduledRange> schedule(const Weights& weights) const {
    std::vector<ScheduledRange> ranges;
    if (dimensions_ == 1 && std::all_of(weights.begin(), weights.end(), [&](double w) { return w == weights.front(); })) {
      // As libgomp splits them: the first n mod T threads get one iteration more.
      const auto threads = static_cast<std::int64_t>(weights.size());
      const std::int64_t quotient = region_.iterations / threads, remainder = region_.iterations % threads;
      for (std::int64_t t = 0; t < threads; ++t) {
        const std::int64_t first = t * quotient + std::min(t, remainder);
        ranges.push_back({first, first + quotient + (t < remainder ? 1 : 0), ThreadId{static_cast<std::size_t>(t)}});
      }
    } else {
      split(weights, 0, 0, 0, ranges);
      std::sort(ranges.begin(), ranges.end(), [](const ScheduledRange& a, const ScheduledRange& b) { return a.first < b.first; });
    }
    std::erase_if(ranges, [](const ScheduledRange& range) { return range.first >= range.last; });
    return ranges;
  }

  // Threads of one group, from `thread` on, share the iterations that the dimensions before `d` have left them: rows from `first` on.
  void split(const Weights& weights, std::size_t d, std::size_t thread, std::int64_t first, std::vector<ScheduledRange>& ranges) const {
    std::size_t inner = 1;
    for (std::size_t k = d + 1; k < grid_.size(); ++k) inner *= static_cast<std::size_t>(grid_[k]);
    std::int64_t length = 1;  // iterations of one step of this dimension
    for (std::size_t k = d + 1; k < extents_.size(); ++k) length *= extents_[k];
    std::vector<double> of_group;
    for (std::size_t group = 0; group < static_cast<std::size_t>(grid_[d]); ++group) {
      const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(thread + group * inner);
      of_group.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(inner), 0.0));
    }
    const std::vector<std::int64_t> cut = cuts(extents_[d], of_group);
    for (std::size_t group = 0; group < of_group.size(); ++group) {
      const std::size_t of_thread = thread + group * inner;
      if (d + 1 == grid_.size()) {
        if (cut[group] < cut[group + 1])
          ranges.push_back({first + cut[group] * length, first + cut[group + 1] * length, ThreadId{of_thread}});
      } else {
        for (std::int64_t row = cut[group]; row < cut[group + 1]; ++row) split(weights, d + 1, of_thread, first + row * length, ranges);
      }
    }
  }

  std::int64_t refine_;
  std::size_t dimensions_;
  std::int64_t rows_, columns_;
  RegionView region_;
  Weighed* memory_ = nullptr;
  std::vector<std::int64_t> extents_, grid_;  // of the iterations, of the threads
  std::vector<ScheduledRange> schedule_;
  std::vector<std::vector<ItemRange>> own_;  // by thread
  std::vector<std::size_t> next_;
  std::vector<Time> started_;
};

}  // namespace

PolicyEntry<WorkDistribution> latency_weighted() {
  return {.name = "latency-weighted",
          .description = "one chunk a thread, sized so that all finish together by an estimate without replays (Metzger et al.)",
          .parameters = {integer_parameter("refine", "executions",
                                           "executions of a region that correct the weights from the threads' simulated times", 0, 0, 1000),
                         integer_parameter("dims", "dimensions", "dimensions of the loop that are cut into blocks, one a thread", 1, 1, 3),
                         integer_parameter("rows", "iterations", "with dims=3: extent of the second dimension; 0 = from the trace", 0, 0),
                         integer_parameter("columns", "iterations", "with dims=2 or 3: extent of the last dimension; 0 = from the trace", 0,
                                           0)},
          .make =
              [](const Parameters& parameters) {
                const std::int64_t dims = parameters.get("dims"), rows = parameters.get("rows"), columns = parameters.get("columns");
                if ((rows > 0 && dims < 3) || (columns > 0 && dims < 2))
                  throw UsageError("latency-weighted:dims=" + std::to_string(dims) + " takes " +
                                   (dims == 1 ? "neither rows nor columns" : "no rows") +
                                   "; allowed: columns with dims=2, rows and columns with dims=3");
                return std::make_unique<LatencyWeighted>(parameters);
              },
          .examples = {"latency-weighted:refine=1"}};
}

}  // namespace homenode
