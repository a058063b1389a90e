#include "models/machines/native/estimators.hpp"

#include <algorithm>
#include <cmath>

namespace homenode::native {

double served_bytes(const std::vector<LatencyPoint>& curve, double hit, double memory) {
  constexpr double least_share = 0.25, nearly_all = 0.75;
  if (!(memory > hit)) return 0;
  const auto share_of = [&](const LatencyPoint& point) { return std::min(1.0, (memory - point.nanoseconds) / (memory - hit)); };
  double served = 0;
  for (const LatencyPoint& point : curve) {
    const double share = share_of(point), bytes = share * point.bytes;
    if (share < least_share || bytes <= served) continue;
    const bool keeps_less = std::any_of(
        curve.begin(), curve.end(), [&](const LatencyPoint& other) { return other.bytes <= bytes / 2 && share_of(other) < nearly_all; });
    if (!keeps_less) served = bytes;
  }
  return served;
}

double composition(const std::vector<ComposedPoint>& points) {
  double above = 0, squares = 0;
  for (const ComposedPoint& point : points) {
    const double least = std::min(point.computing, point.transfers);
    above += (point.measured - std::max(point.computing, point.transfers)) * least;
    squares += least * least;
  }
  return squares > 0 ? above / squares : 0;
}

double composition_error(const std::vector<ComposedPoint>& points, double theta) {
  double sum = 0;
  for (const ComposedPoint& point : points) {
    const auto [least, most] = std::minmax(point.computing, point.transfers);
    sum += std::abs((most + theta * least) / point.measured - 1);
  }
  return points.empty() ? 0 : sum / static_cast<double>(points.size());
}

RereadLaw reread(const std::vector<RereadPoint>& points, double alone) {
  std::vector<double> on_top;
  for (const RereadPoint& point : points) on_top.push_back(point.memory - point.cache);
  if (on_top.empty() || !(alone > 0)) return {};
  std::sort(on_top.begin(), on_top.end());
  // Less on top than a line takes alone is a part of it that does not overlap; more can only be a slower line.
  const double transfers = std::max(alone, (on_top[(on_top.size() - 1) / 2] + on_top[on_top.size() / 2]) / 2);
  std::vector<ComposedPoint> composed;
  for (const RereadPoint& point : points) composed.push_back({point.cache, transfers, point.memory});
  return {transfers / alone - 1, std::clamp(composition(composed), 0.0, 1.0)};
}

FaultSplit split_fault(double alone, double together, unsigned threads) {
  constexpr double shows = 1.1;
  const double most = std::min(alone, together / threads);
  if (together < shows * alone) return {alone, 0, most};
  return {alone - most, most, most};
}

Wakeups wakeups(const std::vector<WakeupPoint>& curve) {
  constexpr double differs = 1.25;
  if (curve.empty()) return {};
  const double shallow = curve.front().nanoseconds, deep = curve.back().nanoseconds;
  if (deep < differs * shallow) return {shallow, std::max(shallow, deep), std::nullopt};
  const double middle = (shallow + deep) / 2;
  for (std::size_t later = 1; later < curve.size(); ++later) {
    const WakeupPoint &before = curve[later - 1], &after = curve[later];
    if (after.nanoseconds < middle) continue;
    const double share = std::clamp((middle - before.nanoseconds) / (after.nanoseconds - before.nanoseconds), 0.0, 1.0);
    return {shallow, deep, before.idle_microseconds + share * (after.idle_microseconds - before.idle_microseconds)};
  }
  return {shallow, deep, std::nullopt};
}

Sharing sharing(double slowdown) {
  if (slowdown < 1.2) return Sharing::own_cores;
  return slowdown >= 1.5 ? Sharing::one_core : Sharing::unclear;
}

}  // namespace homenode::native
