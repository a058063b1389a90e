#include "models/machines/native/core_limits.hpp"

#include <algorithm>
#include <cmath>

#include "sim/machine/line_bytes.hpp"

namespace homenode {
namespace native {

FollowedStreams followed_streams(const std::vector<StreamsPoint>& points, double demand) {
  constexpr double all = 0.85, shows = 1.2;
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

// Nanoseconds a line as the figure of that many streams says.
void streams(DescribedFields& fields, const Machine& machine, const HostFigures& host) {
  const double line = static_cast<double>(line_bytes(machine)), latency = host.of(figure::latency(host.plan.memory_set)).value;
  const Spread in_flight = host.of(figure::misses_in_flight);
  std::vector<native::StreamsPoint> points;
  Spread told = in_flight;
  std::string times;
  for (const unsigned number : host.plan.streams) {
    const Spread rate = host.of(figure::streams(number));
    if (!(rate.value > 0)) return;
    told = resting_on(told, rate);
    points.push_back({static_cast<double>(number), line / rate.value * 1e9});
    times += (times.empty() ? "" : ", ") + std::to_string(number) + ": " + DescribedFields::time_text(points.back().nanoseconds);
  }
  const double demand = latency / std::max(in_flight.value, 1.0);
  const native::FollowedStreams found = native::followed_streams(points, demand);
  told.value = std::round(found.streams);
  told.low = std::floor(found.low);
  told.high = std::ceil(found.high);
  fields.set(
      "core.prefetch_streams", told, [](double number) { return std::to_string(static_cast<unsigned>(number)); },
      (found.streams > 0 ? "" : "all are followed; ") + ("a line by streams side by side " + times) + "; asked for by the core " +
          DescribedFields::time_text(demand));
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

void describe_core_limits(DescribedFields& fields, const MachineFile& file, const HostFigures& host) {
  streams(fields, file.machine, host);
  streaming_lines(fields, file.machine, host);
}

}  // namespace homenode
