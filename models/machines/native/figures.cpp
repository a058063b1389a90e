#include "models/machines/native/figures.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "models/machines/native/other_thread.hpp"

namespace homenode::native {
namespace {

constexpr std::size_t fewest_undisturbed = 3;

double quantile(std::vector<double> samples, double share) {
  std::sort(samples.begin(), samples.end());
  const double at = share * static_cast<double>(samples.size() - 1), below = std::floor(at);
  const auto index = static_cast<std::size_t>(below);
  const double next = samples[std::min(index + 1, samples.size() - 1)];
  return samples[index] + (at - below) * (next - samples[index]);
}

// How far the interval reaches from the figure, as a share of it.
double reach(const std::vector<double>& samples, double value, double share) {
  const Interval interval = quantile_interval(samples, share);
  const double farthest = std::max(interval.high - value, value - interval.low);
  if (farthest == 0) return 0;
  return value == 0 ? 1 : farthest / std::abs(value);
}

// The greatest k with P(Binomial(n, share) < k) <= 5 %.
std::size_t order_statistic(std::size_t n, double share) {
  double term = std::pow(1 - share, static_cast<double>(n)), below = 0;  // P(X = k), P(X < k)
  std::size_t k = 0;
  while (k < n && below + term <= 0.05) {
    below += term;
    term *= share / (1 - share) * static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k;
}

constexpr unsigned most_pauses = 10;

// How much others had to do when they were asked last.
double without_others(const MeasuringEnvironment& environment, const MeasuringStep& step) {
  double share = environment.others(step);
  for (unsigned pause = 0; share > most_other_thread_share && environment.pause && pause < most_pauses; ++pause) {
    environment.pause();
    share = environment.others(step);
  }
  return share;
}

std::string percent(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

}  // namespace

Interval quantile_interval(std::vector<double> samples, double share) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  const std::size_t first = std::max<std::size_t>(order_statistic(n, share), 1);
  const std::size_t last = std::max<std::size_t>(order_statistic(n, 1 - share), 1);
  return {samples[first - 1], samples[n - last]};
}

double share_of_passes(Kind kind) { return kind == Kind::time ? 0.25 : kind == Kind::rate ? 0.75 : 0.5; }

void Figures::add(const std::string& name, double value, Kind kind, const std::string& disturbance) {
  if (!passes_.contains(name)) order_.push_back(name);
  kinds_[name] = kind;
  passes_[name].push_back({value, disturbance});
}

std::vector<std::string> Figures::names() const { return order_; }

double Figures::least_of_all_passes(const std::string& name) const {
  const auto found = passes_.find(name);
  if (found == passes_.end()) return 0;
  const auto less = [](const Pass& a, const Pass& b) { return a.value < b.value; };
  return std::min_element(found->second.begin(), found->second.end(), less)->value;
}

bool Figures::settled(const std::string& name, const SettlingLimits& limits) const {
  const Spread spread = of(name, limits);
  return spread.passes != 0 && spread.disturbance.empty() && spread.unsettled.empty();
}

Spread Figures::of(const std::string& name, const SettlingLimits& limits) const {
  const auto found = passes_.find(name);
  if (found == passes_.end()) return {};
  std::vector<double> all, undisturbed;
  std::string reason;
  for (const Pass& pass : found->second) {
    all.push_back(pass.value);
    if (pass.disturbance.empty())
      undisturbed.push_back(pass.value);
    else if (reason.empty())
      reason = pass.disturbance;
  }
  const bool enough = undisturbed.size() >= std::min<std::size_t>(fewest_undisturbed, limits.least_passes);
  const std::vector<double>& used = enough ? undisturbed : all;
  Spread spread = least(used);
  const Kind kind = kinds_.at(name);
  const double share = share_of_passes(kind);
  spread.value = enough || kind == Kind::other ? quantile(used, share) : kind == Kind::time ? spread.low : spread.high;
  spread.passes = static_cast<unsigned>(used.size());
  spread.low = std::min(spread.low, spread.value * (spread.value < 0 ? 1 + limits.within : 1 - limits.within));
  spread.high = std::max(spread.high, spread.value * (spread.value < 0 ? 1 - limits.within : 1 + limits.within));
  if (!enough) {
    // The best of few is hardly the very best: another one may lie as far beyond it as the next lies behind.
    std::vector<double> sorted = used;
    std::sort(sorted.begin(), sorted.end());
    if (kind == Kind::time && sorted.size() > 1) spread.low = std::min(spread.low, 2 * sorted[0] - sorted[1]);
    if (kind == Kind::rate && sorted.size() > 1) spread.high = std::max(spread.high, 2 * sorted.back() - sorted[sorted.size() - 2]);
    spread.disturbance = reason;
    if (reason.empty()) spread.unsettled = "only " + std::to_string(used.size()) + " of " + std::to_string(limits.least_passes) + " passes";
    return spread;
  }
  const double open = reach(used, spread.value, share);
  if (used.size() < limits.least_passes)
    spread.unsettled = "only " + std::to_string(used.size()) + " of " + std::to_string(limits.least_passes) + " passes were undisturbed";
  else if (open > limits.within)
    spread.unsettled = "it is known to " + percent(open) + " after " + std::to_string(used.size()) + " passes";
  return spread;
}

Figures measure_in_passes(const std::vector<MeasuringStep>& steps, const SettlingLimits& limits, const MeasuringEnvironment& environment) {
  Figures figures;
  std::vector<std::set<std::string>> of_step(steps.size());
  for (unsigned pass = 0; pass < limits.most_passes; ++pass) {
    bool all_settled = true;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const auto is_settled = [&](const std::string& name) { return figures.settled(name, limits); };
      if (pass >= limits.least_passes && std::all_of(of_step[s].begin(), of_step[s].end(), is_settled)) continue;
      all_settled = false;
      if (environment.progress)
        environment.progress("pass " + std::to_string(pass + 1) + " of at most " + std::to_string(limits.most_passes) + ": " +
                             steps[s].name);
      std::vector<std::tuple<std::string, double, Kind>> found;
      const bool asks = environment.others && !steps[s].of_others;
      double others = asks ? without_others(environment, steps[s]) : 0;
      const Usage before = environment.usage();
      steps[s].measure([&](const std::string& name, double value, Kind kind) { found.emplace_back(name, value, kind); });
      Usage meanwhile = environment.usage() - before;
      if (steps[s].switches_threads) meanwhile.involuntary_switches = 0;
      if (asks) others = std::max(others, environment.others(steps[s]));
      std::string disturbed = disturbance({}, meanwhile);
      if (disturbed.empty() && others > most_other_thread_share)
        disturbed = "others had work on its cores in " + percent(others) + " of the probes before or after it";
      for (const auto& [name, value, kind] : found) {
        figures.add(name, value, kind, disturbed);
        of_step[s].insert(name);
      }
    }
    if (all_settled) break;
  }
  return figures;
}

}  // namespace homenode::native
