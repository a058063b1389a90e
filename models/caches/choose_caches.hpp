// Which cache model serves a trace: by ranges of lines (RunLru) where accesses come in runs, line by line (SetCaches) where
// they do not. One model serves a whole run, because what one region leaves in the caches is what the next one finds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/choices.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/program/line_touches.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

// Of one region, from a sample of its iterations.
struct RunLength {
  std::string label;
  std::uint64_t accesses = 0;
  double touches = 0, lines = 0;  // extrapolated to all its accesses
  double lines_per_touch() const { return touches > 0 ? lines / touches : 0; }
};

std::vector<RunLength> run_lengths(const Workload&, const LineTouchOptions&);

struct CacheChoice {
  std::string name;    // runs | lines
  std::string region;  // that decided it: most touches; empty when it was asked for by name
  double lines_per_touch = 0;
};

// `name`: one of them. `auto` takes lines if touches of the whole trace cover fewer than `short_run` lines on average:
// there a range costs as much as its lines one by one (bench_cache_benchmark), and the sets of the caches are exact besides.
// Throws UsageError for another name.
inline constexpr double short_run = 4;
CacheChoice choose_caches(const std::string& name, const Workload&, const LineTouchOptions&);

// The cache models: runs, lines. `seed`: of page frames, where sets are modelled.
const Choices<std::function<std::unique_ptr<CacheModel>(const Machine&, std::uint64_t seed)>>& cache_models();
// What can be asked for: auto, and the cache models.
std::vector<std::string> cache_model_names();
// Throws UsageError for a name that is no cache model.
std::unique_ptr<CacheModel> make_caches(const std::string& name, const Machine&, std::uint64_t seed);

}  // namespace homenode
