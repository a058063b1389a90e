// Which cache model serves a trace: by ranges of lines (RunLru) where accesses come in runs, line by line (SetCaches) where
// they do not. One model serves a whole run, because what one region leaves in the caches is what the next one finds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/registry.hpp"
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
  std::string name;    // runs, lines, lines:sample=N
  std::string region;  // that decided it: most touches; empty when it was asked for by name
  double lines_per_touch = 0;
  unsigned one_in = 1;  // lines of which it follows one
};

// `name`: a cache model, or `auto`. That takes lines if touches of the whole trace cover fewer than `short_run` lines on average:
// there a range costs as much as its lines one by one (bench_cache_benchmark), and the sets of the caches are exact besides. Beyond
// `many_lines` touched lines it takes one in `sample_of_many`, where the machine allows that (line_sample.hpp).
// Throws UsageError for another name.
inline constexpr double short_run = 4;
inline constexpr double many_lines = 1 << 23;  // some seconds of a replay
inline constexpr unsigned sample_of_many = 8;
CacheChoice choose_caches(const std::string& name, const Workload&, const Machine&, const LineTouchOptions&);
// Whether the choice follows single lines, all or a sample.
bool is_by_lines(const std::string& name);

// Makes the caches of a machine. `seed`: of page frames and of samples.
struct CacheMaker {
  std::function<std::unique_ptr<CacheModel>(const Machine&, std::uint64_t seed)> make;
};
// The cache models: runs, lines.
const Registry<CacheMaker>& cache_models();
// Throws UsageError for what is no cache model and not `auto`.
void check_caches(const std::string& name);
// Throws UsageError for a name that is no cache model.
std::unique_ptr<CacheModel> make_caches(const std::string& name, const Machine&, std::uint64_t seed);

}  // namespace homenode
