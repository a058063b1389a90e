// How fast iterations go through touch expansion and the run-granular caches; items are accesses of the program.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>

#include "models/caches/set_caches.hpp"
#include "tests/support/machines.hpp"
#include "tests/unit/models/caches/programs.hpp"

namespace {

using namespace homenode;
using namespace homenode::test;

enum class Caches { none, runs, lines };

void drive(LineTouches& touches, CacheModel* model, const Program& program, const std::vector<std::uint64_t>& bases, Totals& totals) {
  std::vector<LineTouch> group;
  CacheOutcome outcome;
  touches.start(program.patterns, program.body, 0, program.iterations(),
                [&](ObjectId object) { return Address{base_address + bases[object.index()]}; });
  while (touches.next(group)) {
    if (!model) continue;
    outcome.clear();
    model->access(CoreId{0u}, group, outcome);
    totals.add(outcome);
  }
}

void run(benchmark::State& state, const std::vector<const Program*>& programs, const std::vector<std::uint64_t>& bases,
         std::int64_t accesses, StoreTreatment stores, Caches caches) {
  const Machine machine = one_node(4);
  LineTouches touches{LineTouchOptions::of(machine, stores)};
  for (auto _ : state) {
    std::unique_ptr<CacheModel> model;
    if (caches == Caches::runs) model = std::make_unique<RunLru>(machine);
    if (caches == Caches::lines) model = std::make_unique<SetCaches>(machine);
    Totals totals;
    for (const Program* program : programs) drive(touches, model.get(), *program, bases, totals);
    benchmark::DoNotOptimize(totals.reads);
  }
  state.SetItemsProcessed(accesses * static_cast<std::int64_t>(state.iterations()));
}

// The reference work of architecture.md: two sweeps of a five-point stencil on 2048^2 doubles.
void reference_work(benchmark::State& state, Caches caches) {
  const std::uint32_t n = 2048;
  const Program forth = stencil(n, 8, false, 0, 1), back = stencil(n, 8, false, 1, 0);
  run(state, {&forth, &back}, {0, 8ULL * n * n}, 2 * 6 * std::int64_t{n - 2} * (n - 2), StoreTreatment::regular, caches);
}
BENCHMARK_CAPTURE(reference_work, expansion, Caches::none)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reference_work, expansion_and_runs, Caches::runs)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reference_work, expansion_and_lines, Caches::lines)->Unit(benchmark::kMillisecond);

void lattice_blocks(benchmark::State& state, StoreTreatment stores) {
  const Lattice lattice{60, 600, 600, 10, 10, 600};
  const Program program = lattice_sweep(lattice);
  run(state, {&program}, {0, 8ULL * 60 * 600 * 600}, 7 * lattice.updates(0, lattice.blocks()), stores, Caches::runs);
}
BENCHMARK_CAPTURE(lattice_blocks, regular, StoreTreatment::regular)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lattice_blocks, nontemporal, StoreTreatment::nontemporal)->Unit(benchmark::kMillisecond);

// Independent or dependent reads of random lines of 64 MiB.
void random_reads(benchmark::State& state, std::uint32_t distance, Caches caches) {
  const std::uint32_t elements = 1 << 20;
  Program program;
  ItemPattern pattern;
  IrregularStream stream;
  stream.width = 8;
  std::mt19937_64 random{1};
  for (std::uint32_t i = 0; i < elements; ++i) {
    stream.slot.push_back(0);
    stream.offset.push_back(static_cast<std::int64_t>(random() % (1 << 20)) * 64);
    stream.producer_distance.push_back(distance);
    stream.sequence.push_back(i);
  }
  pattern.streams.push_back(stream);
  pattern.accesses = elements;
  pattern.slots = 1;
  program.patterns.push_back(pattern);
  program.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}}});
  run(state, {&program}, {0}, elements, StoreTreatment::regular, caches);
}
BENCHMARK_CAPTURE(random_reads, gather_runs, 0U, Caches::runs)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(random_reads, gather_lines, 0U, Caches::lines)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(random_reads, chase_runs, 1U, Caches::runs)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(random_reads, chase_lines, 1U, Caches::lines)->Unit(benchmark::kMillisecond);

// hotspot's 16 x 16 blocks of floats: rows of one or two lines.
void small_blocks(benchmark::State& state, Caches caches) {
  const std::uint32_t n = 2050;
  const std::uint64_t array = 4ULL * n * n;
  const Program forth = blocked_stencil(n, 4, 16, 0, 1), back = blocked_stencil(n, 4, 16, 1, 0);
  run(state, {&forth, &back}, {0, array, 2 * array}, 2 * 7 * std::int64_t{n - 2} * (n - 2), StoreTreatment::regular, caches);
}
BENCHMARK_CAPTURE(small_blocks, expansion, Caches::none)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(small_blocks, runs, Caches::runs)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(small_blocks, lines, Caches::lines)->Unit(benchmark::kMillisecond);

}  // namespace
