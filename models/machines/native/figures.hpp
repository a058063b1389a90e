// Figures of a host out of many samples: measured in passes until they settle. No clock and no thread here: steps are given.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/machines/native/host_load.hpp"
#include "models/machines/native/measure.hpp"

namespace homenode::native {

// A figure has settled when at least `least_passes` undisturbed passes were measured and the 90 % interval of what stands for them
// (share_of_passes) lies within `within` of it, up and down.
struct SettlingLimits {
  unsigned least_passes = 5, most_passes = 12;
  double within = 0.03;
};

// The 90 % interval of the quantile `share` of a distribution of which these are samples: order statistics k and n + 1 - m, k the greatest
// with P(Binomial(n, share) < k) <= 5 %, m with P(Binomial(n, 1 - share) < m) <= 5 %. To the end of the range where there is none.
struct Interval {
  double low = 0, high = 0;
};
Interval quantile_interval(std::vector<double> samples, double share);

// Which sample comes nearest to the truth where others disturb: they make times longer and rates smaller.
enum class Kind { time, rate, other };
// The share of the undisturbed passes below a figure: a quarter for times and three quarters for rates, as others come and go between the
// probes and leave up to half of such passes too slow; a half for the rest.
double share_of_passes(Kind);

class Figures {
public:
  // What one pass measured; `disturbance` as host_load.hpp has it.
  void add(const std::string& name, double value, Kind, const std::string& disturbance = {});
  bool has(const std::string& name) const { return passes_.contains(name); }
  double least_of_all_passes(const std::string& name) const;  // disturbed ones, too; 0 for an unknown name
  bool settled(const std::string& name, const SettlingLimits&) const;
  // The passes' quantile (share_of_passes), bounded by the least and the largest of them, and by `within` of itself at least. Disturbed
  // passes count only where fewer than three were undisturbed: then the best counts, and the figure says so. `unsettled` tells by how much
  // the figure is still open. An empty Spread for an unknown name.
  Spread of(const std::string& name, const SettlingLimits&) const;
  std::vector<std::string> names() const;  // as they were first added

private:
  struct Pass {
    double value = 0;
    std::string disturbance;
  };
  std::map<std::string, std::vector<Pass>> passes_;
  std::map<std::string, Kind> kinds_;
  std::vector<std::string> order_;
};

struct MeasuringStep {
  using Found = std::function<void(const std::string& figure, double value, Kind)>;
  std::string name;
  std::function<void(const Found&)> measure;
  bool switches_threads = false;    // by itself: that threads lose their processor is no sign of others
  std::vector<unsigned> cpus = {};  // on which it runs; empty: all
  bool of_others = false;           // it measures what others do: that they work does not disturb it, nor does it wait for them to go
};
struct MeasuringEnvironment {
  // Told "pass 3 of at most 15: NAME" before each step of each pass; may be empty.
  std::function<void(const std::string& step)> progress{};
  std::function<Usage()> usage = usage_now;
  // The share of the time in which others had work on a step's cores (other_thread.hpp), asked before and after it; may be empty.
  std::function<double(const MeasuringStep&)> others{};
  std::function<void()> pause{};  // before they are asked again: a step waits a while for them to go
};
// All steps, one after the other, again and again, so that a figure's samples lie as far apart as the whole calibration is long. From the
// least number of passes on, steps of which all figures have settled are left out.
Figures measure_in_passes(const std::vector<MeasuringStep>&, const SettlingLimits&, const MeasuringEnvironment& = {});

}  // namespace homenode::native
