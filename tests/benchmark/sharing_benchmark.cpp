// Events a second of the engines that share bandwidth: one event = one activity that ends and one that starts, with new rates for
// those it concerns. A socket's threads read from `homes` nodes over a full mesh of links.
#include <benchmark/benchmark.h>

#include <random>

#include "models/engines/simgrid/simgrid_sharing.hpp"
#include "models/engines/staged/flow_sharing.hpp"

namespace homenode {
namespace {

enum class Load { idle, saturated };  // memory faster, or slower, than the cores ask

std::vector<Activity> activities(std::size_t threads, std::size_t sockets, std::size_t homes, Load load) {
  std::mt19937_64 random{1};
  std::vector<Activity> made;
  for (std::size_t i = 0; i < 16 * threads; ++i) {
    const std::size_t socket = i % threads * sockets / threads;
    Activity activity;
    for (std::size_t h = 0; h < homes; ++h) {
      const std::size_t home = (socket + h) % sockets;
      const double seconds = 1e-6 * (1 + static_cast<double>(random() % 1000) * 1e-3);
      activity.uses.push_back({ResourceId{home}, seconds});
      if (home != socket) activity.uses.push_back({ResourceId{sockets + home * sockets + socket}, seconds});
    }
    const double alone = 1e-6 * static_cast<double>(threads * homes) / static_cast<double>(sockets);
    activity.minimum = Time::from_seconds(alone * (load == Load::idle ? 4 : 0.5) * (1 + static_cast<double>(random() % 1000) * 1e-4));
    made.push_back(std::move(activity));
  }
  return made;
}

template <class Make>
void run(benchmark::State& state, Make make, Load load) {
  const auto threads = static_cast<std::size_t>(state.range(0)), sockets = static_cast<std::size_t>(state.range(1));
  const auto work = activities(threads, sockets, static_cast<std::size_t>(state.range(2)), load);
  auto sharing = make(sockets + sockets * sockets, threads);
  std::vector<ActivityEnd> ended;
  std::size_t next = 0;
  while (next < threads) sharing->start(work[next++]);
  for (auto _ : state) {
    ended.clear();
    sharing->advance(*sharing->next_event(), ended);
    for (std::size_t i = 0; i < ended.size(); ++i) sharing->start(work[next++ % work.size()]);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(next - threads));
}

void flow(benchmark::State& state, Load load) {
  run(
      state, [](std::size_t resources, std::size_t) { return std::make_unique<FlowSharing>(resources); }, load);
}
void simgrid(benchmark::State& state, Load load) {
  run(
      state, [](std::size_t resources, std::size_t threads) { return std::make_unique<SimgridSharing>(resources, threads); }, load);
}

BENCHMARK_CAPTURE(flow, idle, Load::idle)->Args({32, 4, 1})->Args({32, 4, 4})->Args({256, 8, 8});
BENCHMARK_CAPTURE(flow, saturated, Load::saturated)->Args({32, 4, 1})->Args({32, 4, 4})->Args({256, 8, 8});
BENCHMARK_CAPTURE(simgrid, idle, Load::idle)->Args({32, 4, 4});
BENCHMARK_CAPTURE(simgrid, saturated, Load::saturated)->Args({32, 4, 4});

}  // namespace
}  // namespace homenode
