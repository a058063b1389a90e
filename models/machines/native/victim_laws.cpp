// Which law a last level's latencies follow beyond its size.
#include <algorithm>
#include <array>
#include <cmath>

#include "models/machines/native/estimators.hpp"
#include "sim/machine/random_sweep.hpp"

namespace homenode::native {
namespace {

constexpr double step = 1.0 / 64, most_ratio = 32;

// The share of hits by what is swept over what is held.
using Curve = std::vector<double>;

template <class Law>
Curve curve_of(Law&& law) {
  Curve curve;
  for (double ratio = 0; ratio <= most_ratio; ratio += step) curve.push_back(law(ratio));
  return curve;
}

// Of lines whose set has n of the sweep, on average ratio x ways: a Poisson law, and one more, the line itself.
Curve scattered(const Curve& even, unsigned ways) {
  return curve_of([&](double ratio) {
    if (ratio == 0) return 1.0;
    const double mean = ratio * ways;
    double hits = 0;
    for (unsigned others = 0; others <= mean + 8 * std::sqrt(mean) + 8; ++others) {
      const double place = (others + 1.0) / ways / step;
      const std::size_t at = std::min(static_cast<std::size_t>(place), even.size() - 1);
      hits += std::exp(others * std::log(mean) - mean - std::lgamma(others + 1.0)) * even[at];
    }
    return hits;
  });
}

double at_ratio(const Curve& curve, double ratio) {
  return curve[std::min(static_cast<std::size_t>(std::max(0.0, ratio) / step + 0.5), curve.size() - 1)];
}

struct SweptShare {
  double swept = 0, hits = 0;
};

LawOfVictims fitted(const std::vector<SweptShare>& shares, const std::vector<Curve>& curves, double whole) {
  LawOfVictims best;
  const auto least =
      std::min_element(shares.begin(), shares.end(), [](const SweptShare& a, const SweptShare& b) { return a.swept < b.swept; });
  for (double bytes = std::max(least->swept / 2, 1.0); bytes <= 1.05 * whole; bytes *= 1.02) {
    for (const Curve& curve : curves) {
      double squares = 0;
      for (const SweptShare& share : shares) squares += std::pow(at_ratio(curve, share.swept / bytes) - share.hits, 2);
      const double error = std::sqrt(squares / static_cast<double>(shares.size()));
      if (error < best.error) best = {bytes, error};
    }
  }
  return best;
}

}  // namespace

VictimLaws victim_laws(const std::vector<LatencyPoint>& curve, double hit, double memory, const SweptLevel& level) {
  constexpr double all_served = 0.9;
  VictimLaws laws;
  if (!(memory > hit)) return laws;
  std::vector<SweptShare> shares;
  std::size_t missed = 0;
  for (const LatencyPoint& point : curve) {
    if (point.bytes <= level.besides) continue;
    shares.push_back({point.bytes - level.besides, std::clamp((memory - point.nanoseconds) / (memory - hit), 0.0, 1.0)});
    missed += shares.back().hits < all_served ? 1 : 0;
  }
  laws.shown = missed > 0 && missed < shares.size();
  if (!laws.shown) return laws;
  // One line of a direct-mapped set has no choice: then the laws are one.
  const Curve oldest = curve_of([](double ratio) { return ratio <= 1 ? 1.0 : 0.0; }), random = curve_of(random_sweep_hits);
  const unsigned lines = std::max(level.ways, 1U);
  laws.oldest = fitted(shares, {oldest, scattered(oldest, lines)}, level.bytes);
  laws.random = fitted(shares, {random, scattered(random, lines)}, level.bytes);
  laws.best = fitted(shares, {curve_of([](double ratio) { return ratio <= 1 ? 1.0 : 1 / ratio; })}, level.bytes);
  return laws;
}

}  // namespace homenode::native
