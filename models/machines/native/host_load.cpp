#include "models/machines/native/host_load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

namespace homenode::native {
namespace {

// A competitor for a processor costs a switch every slice, that is every 0.75 to 4 ms (Linux: sched_min_granularity_ns), hundreds
// a second; the system's own threads on an idle host take a few. Short measurements say nothing by one or two.
constexpr double switches_per_second = 50;
constexpr std::uint64_t fewest_switches = 5;
// One slow sample harms nothing, since the best counts. Where the median is far off, most were disturbed and the best may be too.
constexpr double median_over_best = 1.25;
// Who uses another processor takes memory bandwidth and shares of caches, and switches nobody out. The system counts in ticks of 10 ms, a
// processor each.
constexpr double others_share = 0.05, fewest_seconds = 0.04;

// Seconds of all processors since the system began: in use, and stolen. "cpu user nice system idle iowait irq softirq steal ..."
void add_system_times(Usage& usage) {
  std::ifstream statistics{"/proc/stat"};
  std::string name;
  double ticks[8] = {};
  statistics >> name;
  for (double& count : ticks) statistics >> count;
  if (!statistics || name != "cpu") return;
  const auto second = static_cast<double>(sysconf(_SC_CLK_TCK));
  usage.busy_seconds = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / second;
  usage.stolen_seconds = ticks[7] / second;
}

double seconds(const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; }

std::string two_digits(double value) {
  const double scale = std::pow(10, std::floor(std::log10(std::max(value, 1e-3))) - 1);
  std::string text = std::to_string(std::round(value / scale) * scale);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

Usage usage_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  Usage now{seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<std::uint64_t>(usage.ru_nivcsw)};
  now.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  add_system_times(now);
  return now;
}

std::string disturbance(const Spread& samples, const Usage& meanwhile) {
  const auto switches = meanwhile.involuntary_switches;
  if (switches >= fewest_switches && static_cast<double>(switches) > switches_per_second * meanwhile.cpu_seconds)
    return "other work took its processors away " + std::to_string(switches) + " times in " + two_digits(meanwhile.cpu_seconds) + " s";
  const auto too_much = [&](double spent) { return spent > std::max(fewest_seconds, others_share * meanwhile.wall_seconds); };
  if (too_much(meanwhile.stolen_seconds))
    return "the hypervisor took " + two_digits(meanwhile.stolen_seconds) + " s of " + two_digits(meanwhile.wall_seconds) + " s";
  if (const double others = meanwhile.busy_seconds - meanwhile.cpu_seconds; too_much(others))
    return "other work used processors for " + two_digits(others) + " s of " + two_digits(meanwhile.wall_seconds) + " s";
  const double best = samples.value, median = samples.median;
  const double ratio = best > 0 && median > 0 ? std::max(best / median, median / best) : 1;  // of rates or of times
  if (ratio > median_over_best) return "its samples' median was off the best by a factor of " + two_digits(ratio);
  return "";
}

}  // namespace homenode::native
