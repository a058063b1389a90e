// OpenMP's auto schedule (OpenMP 5.2, 11.5.3: the decision "is delegated to the compiler and/or runtime system") as runtime systems
// take it: libgomp runs static ("For now map to schedule(static)", GCC 12, libgomp/loop.c), and so does this by default; libomp, which
// is Intel's as well, runs its analytical form of guided (LLVM 16, openmp/runtime/src: kmp_global.cpp, __kmp_auto; kmp_dispatch.cpp,
// kmp_sch_guided_analytical_chunked): with x = 1 - 1 / (2 threads), chunk k of n iterations is [n (1 - x^k), n (1 - x^(k+1))), at
// least one iteration; from 3 iterations a thread down it is dynamic.
#include <algorithm>
#include <cmath>

#include "models/distribution/register.hpp"
#include "models/distribution/shared_counter.hpp"

namespace homenode {

PolicyEntry<WorkDistribution> static_schedule();  // static.cpp
namespace {

enum class Library { libgomp, libomp };

class AnalyticalGuided final : public WorkDistribution {
public:
  void prepare(const RegionView& region, const Team& team, const CostOracle*) override {
    region_ = region;
    next_ = 0;
    chunk_ = 0;
    const auto threads = static_cast<std::int64_t>(team.size());
    left_by_chunk_ = 3 * threads >= region.iterations ? 0 : 1 - 0.5 / static_cast<double>(threads);
    whole_ = threads == 1;
    chunk_time_ = whole_ ? Time{} : shared_counter_time(team);
  }

  Decision next(ThreadId, Time) override {
    if (next_ >= region_.iterations) return {};
    const std::int64_t first = next_;
    next_ = whole_ ? region_.iterations : std::clamp(end_of(++chunk_), first + 1, region_.iterations);
    return {Decision::Kind::run, {region_.execution, first, next_}, chunk_time_};
  }

private:
  std::int64_t end_of(std::int64_t chunks) const {
    if (left_by_chunk_ == 0) return 0;
    return static_cast<std::int64_t>(static_cast<double>(region_.iterations) * (1 - std::pow(left_by_chunk_, static_cast<double>(chunks))));
  }

  RegionView region_;
  std::int64_t next_ = 0, chunk_ = 0;
  double left_by_chunk_ = 0;  // share of the iterations that are left; 0 = chunks of one
  bool whole_ = false;
  Time chunk_time_;
};

}  // namespace

PolicyEntry<WorkDistribution> auto_schedule() {
  return {.name = "auto",
          .description = "OpenMP auto: the schedule that the runtime chooses",
          .parameters = {word_parameter("runtime", "libgomp chooses static; libomp (Intel) chooses guided with analytical chunk sizes",
                                        {"libgomp", "libomp"})},
          .make = [](const Parameters& parameters) -> std::unique_ptr<WorkDistribution> {
            if (static_cast<Library>(parameters.get("runtime")) == Library::libomp) return std::make_unique<AnalyticalGuided>();
            Parameters whole;
            whole.set("chunk", 0);
            return static_schedule().make(whole);
          },
          .examples = {"auto:libomp"}};
}

}  // namespace homenode
