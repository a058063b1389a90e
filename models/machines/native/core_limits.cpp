#include "models/machines/native/core_limits.hpp"

#include <algorithm>
#include <cmath>

#include "sim/machine/line_bytes.hpp"

namespace homenode {
namespace native {

constexpr double shows = 1.2;  // of a line that the core asks for, over one that is prefetched: least ratio that says something

double followed_stride(const std::vector<StridePoint>& points, double followed, double demand, double line) {
  double largest = line;
  for (const StridePoint& point : points) {
    if (point.nanoseconds > (followed + demand) / 2) break;
    largest = point.bytes;
  }
  return largest;
}

double lines_before_prefetch(double nanoseconds, double lines, double followed, double demand) {
  return lines * std::clamp((nanoseconds - followed) / (demand - followed), 0.0, 1.0);
}

FollowedStreams followed_streams(const std::vector<StreamsPoint>& points, double demand) {
  constexpr double all = 0.85;
  if (points.empty()) return {};
  const auto faster = [](const StreamsPoint& a, const StreamsPoint& b) { return a.nanoseconds < b.nanoseconds; };
  const double followed = std::min_element(points.begin(), points.end(), faster)->nanoseconds;
  if (demand < shows * followed) return {};
  std::vector<double> found;
  double least = 0;
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    const double share = std::clamp((demand - point->nanoseconds) / (demand - followed), 0.0, 1.0);
    if (share >= all) {
      least = point->streams;
      break;
    }
    found.push_back(share * point->streams);
  }
  if (found.empty()) return {};
  std::sort(found.begin(), found.end());
  const double median = (found[(found.size() - 1) / 2] + found[found.size() / 2]) / 2;
  return {std::max(median, least), std::max(found.front(), least), std::max(found.back(), least)};
}

}  // namespace native

namespace {

using native::Kernel;
using native::Spread;

// A line of a stream, by the fastest of the streams; and one that the core asks for, by its latency over the outstanding misses.
struct LineTimes {
  double followed = 0, demand = 0;  // nanoseconds
  bool differ() const { return followed > 0 && demand >= native::shows * followed; }
  std::string text() const {
    return "a line of a stream " + DescribedFields::time_text(followed) + ", asked for by the core " + DescribedFields::time_text(demand);
  }
};
LineTimes line_times(const Machine& machine, const HostFigures& host) {
  double fastest = 0;
  for (const unsigned number : host.plan.streams) fastest = std::max(fastest, host.of(figure::streams(number)).value);
  const double latency = host.of(figure::latency(host.plan.memory_set)).value;
  return {fastest > 0 ? static_cast<double>(line_bytes(machine)) / fastest * 1e9 : 0,
          latency / std::max(host.of(figure::misses_in_flight).value, 1.0)};
}

// Nanoseconds a line as the figure of that many streams says.
void streams(DescribedFields& fields, const Machine& machine, const HostFigures& host) {
  const auto line = static_cast<double>(line_bytes(machine));
  std::vector<native::StreamsPoint> points;
  Spread told = host.of(figure::misses_in_flight);
  std::string times;
  for (const unsigned number : host.plan.streams) {
    const Spread rate = host.of(figure::streams(number));
    if (!(rate.value > 0)) return;
    told = resting_on(told, rate);
    points.push_back({static_cast<double>(number), line / rate.value * 1e9});
    times += (times.empty() ? "" : ", ") + std::to_string(number) + ": " + DescribedFields::time_text(points.back().nanoseconds);
  }
  const double demand = line_times(machine, host).demand;
  const native::FollowedStreams found = native::followed_streams(points, demand);
  told.value = std::round(found.streams);
  told.low = std::floor(found.low);
  told.high = std::ceil(found.high);
  fields.set(
      "core.prefetch_streams", told, [](double number) { return std::to_string(static_cast<unsigned>(number)); },
      (found.streams > 0 ? "" : "all are followed; ") + ("a line by streams side by side " + times) + "; asked for by the core " +
          DescribedFields::time_text(demand));
}

void strides(DescribedFields& fields, const Machine& machine, const HostFigures& host) {
  const auto line = static_cast<double>(line_bytes(machine));
  const LineTimes times = line_times(machine, host);
  if (!times.differ()) return;
  Spread told = host.of(figure::misses_in_flight);
  std::string loads;
  std::vector<native::StridePoint> by_value, by_low, by_high;
  for (const std::size_t stride : host.plan.strides) {
    const Spread load = host.of(figure::strided(stride));
    if (!(load.value > 0)) return;
    told = resting_on(told, load);
    const auto bytes = static_cast<double>(stride);
    by_value.push_back({bytes, load.value});
    by_low.push_back({bytes, load.low});
    by_high.push_back({bytes, load.high});
    loads += (loads.empty() ? "" : ", ") + DescribedFields::bytes_text(bytes) + ": " + DescribedFields::time_text(load.value);
  }
  const auto limit = [&](const std::vector<native::StridePoint>& points) {
    return native::followed_stride(points, times.followed, times.demand, line);
  };
  told.value = limit(by_value);
  told.low = limit(by_high);
  told.high = limit(by_low);
  fields.set("core.prefetch_stride_limit", told, DescribedFields::bytes_text,
             "a load by bytes from one to the next " + loads + "; " + times.text());
}

void trigger(DescribedFields& fields, const Machine& machine, const HostFigures& host) {
  const Spread run = host.of(figure::run);
  const LineTimes times = line_times(machine, host);
  if (!(run.value > 0) || !times.differ()) return;
  const auto lines = static_cast<double>(host.plan.run_lines);
  const auto first = [&](double line) { return native::lines_before_prefetch(line, lines, times.followed, times.demand); };
  fields.set("core.prefetch_trigger", resting_on(mapped(run, first), host.of(figure::misses_in_flight)), DescribedFields::count_text,
             "a line of " + std::to_string(host.plan.run_lines) + " in a row at random places " + DescribedFields::time_text(run.value) +
                 "; " + times.text());
}

// Little's law, as for core.prefetched_lines.
void streaming_lines(DescribedFields& fields, const Machine& machine, const HostFigures& host) {
  const Spread rate = host.of(figure::bandwidth(Kernel::write_nontemporal, 1));
  const Time way = machine.nodes.front().latency - machine.dram.activate - machine.dram.column;
  if (rate.passes == 0 || way <= Time{}) return;
  const double line = static_cast<double>(line_bytes(machine));
  const auto lines = [&](double bandwidth) { return bandwidth * way.seconds() / line; };
  fields.set("core.write_combining_buffers", mapped(rate, lines), DescribedFields::count_text,
             "one core's non-temporal stores x (latency less the DRAM's own) / line");
}

}  // namespace

namespace {

constexpr double somebody = 1.03;  // interrupts alone make a mean longer than the least

// The least time is that of all passes: one may have no moment in which nobody else is there. On average of the kinds of work; nothing if
// they were not measured.
native::Spread slowdown(const HostFigures& host, const std::vector<std::string>& kinds) {
  native::Spread result;
  for (const std::string& kind : kinds) {
    const native::Spread mean = host.of(figure::unit_mean(kind));
    if (mean.passes == 0) return {};
    const double least = host.figures.least_of_all_passes(figure::unit_least(kind)) * static_cast<double>(kinds.size());
    if (!(least > 0)) return {};
    result = result.passes == 0 ? mapped(mean, [](double) { return 0; }) : resting_on(result, mean);
    result.value += mean.value / least, result.low += mean.low / least, result.high += mean.high / least;
  }
  return mapped(result, [](double value) { return std::clamp(value, 1.0, 4.0); });
}

void other_thread(DescribedFields& fields, const HostFigures& host) {
  const native::Spread units = slowdown(host, {"integer", "load", "dispatch"}), fetching = slowdown(host, {"fetch"});
  if (units.passes > 0 && units.value > somebody)
    fields.set("core.smt_slowdown", units, DescribedFields::number_text,
               "additions, loads and no-operations that do not wait for each other: the mean of their times over the least");
  if (fetching.passes > 0 && fetching.value > somebody)
    fields.set("core.smt_fetch_slowdown", fetching, DescribedFields::number_text,
               "a loop of one line of code a cycle: the mean of its time over the least");
}

}  // namespace

void describe_core_limits(DescribedFields& fields, const MachineFile& file, const HostFigures& host) {
  streams(fields, file.machine, host);
  strides(fields, file.machine, host);
  trigger(fields, file.machine, host);
  streaming_lines(fields, file.machine, host);
  other_thread(fields, host);
}

}  // namespace homenode
