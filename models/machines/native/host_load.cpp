#include "models/machines/native/host_load.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>

namespace homenode::native {
namespace {

// A competitor for a processor costs a switch every slice, that is every 0.75 to 4 ms (Linux: sched_min_granularity_ns), hundreds
// a second; the system's own threads on an idle host take a few. Short measurements say nothing by one or two.
constexpr double switches_per_second = 50;
constexpr std::uint64_t fewest_switches = 5;
// One slow sample harms nothing, since the best counts. Where the median is far off, most were disturbed and the best may be too.
constexpr double median_over_best = 1.25;

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
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

std::string disturbance(const Spread& samples, const Usage& meanwhile) {
  const auto switches = meanwhile.involuntary_switches;
  if (switches >= fewest_switches && static_cast<double>(switches) > switches_per_second * meanwhile.cpu_seconds)
    return "other work took its processors away " + std::to_string(switches) + " times in " + two_digits(meanwhile.cpu_seconds) + " s";
  const double best = samples.value, median = samples.median;
  const double ratio = best > 0 && median > 0 ? std::max(best / median, median / best) : 1;  // of rates or of times
  if (ratio > median_over_best) return "its samples' median was off the best by a factor of " + two_digits(ratio);
  return "";
}

}  // namespace homenode::native
