#include "sim/loop/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"
#include "models/run/distribution_plan.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/unit/sim/loop/fixed_time_memory.hpp"

namespace homenode::test {
namespace {

using ::testing::HasSubstr;

const Time fork_cost = Time::nanoseconds(100), barrier_cost = Time::nanoseconds(40), iteration_time = Time::nanoseconds(10);
const Time context_switch = SchedulerSettings{}.context_switch;

class ListedWorkload final : public Workload {
public:
  std::size_t add(RegionKind kind, Binding binding, std::int64_t iterations, std::uint32_t parallel, bool barrier, std::string label) {
    if (patterns.empty()) {
      ItemPattern pattern;
      pattern.slots = 1;
      AccessRun run;
      run.width = 8;
      run.dimensions = 1;
      run.dimension[0] = {512, 8, 1};
      pattern.runs.push_back(run);
      patterns.push_back(pattern);
      objects.push_back({ObjectKind::global, false, 1 << 20, 64, SiteId{}, "array", ObjectId::none(), -1});
    }
    Region region;
    region.kind = kind;
    region.label = std::move(label);
    regions.push_back(region);
    Execution execution;
    execution.region = RegionId{regions.size() - 1};
    execution.iterations = iterations;
    execution.binding = binding;
    execution.team = binding == Binding::rank ? static_cast<std::uint32_t>(iterations) : 1;
    execution.parallel = parallel;
    execution.barrier_after = barrier;
    executions.push_back(execution);
    auto body = std::make_shared<ExecutionBody>();
    body->blocks.push_back({0, iterations, PatternId{0}, {{ObjectId{0}, 0, 4096}}});
    bodies.push_back(body);
    return executions.size() - 1;
  }
  std::shared_ptr<const ExecutionBody> body(ExecutionId id) const override { return bodies.at(id.index()); }
  std::vector<std::shared_ptr<ExecutionBody>> bodies;
};

Machine four_cores() {
  Machine machine;
  machine.name = "four-cores";
  machine.sockets = 2;
  machine.nodes = {{SocketId{0}, Bytes{1 << 30}, Time::nanoseconds(60), {}}, {SocketId{1}, Bytes{1 << 30}, Time::nanoseconds(60), {}}};
  machine.core_node = {NodeId{0}, NodeId{0}, NodeId{1}, NodeId{1}};
  CacheDescription cache;
  cache.size = Bytes{1 << 20};
  machine.caches = {cache};
  machine.fork_base = fork_cost;
  machine.barrier_base = barrier_cost;
  machine.fork_log_factor = machine.barrier_log_factor = machine.reduction_log_factor = 0;
  return machine;
}

struct SimulatedRun {
  explicit SimulatedRun(const ListedWorkload& workload_, unsigned threads, std::string_view distribution = "static",
                        bool oversubscribe = false, Bytes quantum = Bytes{1 << 16},
                        std::function<void(const Work&, AddressSpace&)> at_start = nullptr)
      : workload{workload_}, placement{page_placements().make("first-touch")}, mapping{thread_mappings().make("compact")} {
    const DistributionPlan plan{distribution};
    AddressSpace addresses{machine, workload, *placement, Bytes{4096}};
    memory.at_start = std::move(at_start);
    report = simulate({workload, machine, *mapping, [&](const std::string& label) { return plan.make(label); }, memory, addresses, threads,
                       oversubscribe, quantum, true});
    expect_accounted(report);
  }
  const ListedWorkload& workload;
  Machine machine = four_cores();
  std::unique_ptr<PagePlacement> placement;
  std::unique_ptr<ThreadMapping> mapping;
  FixedTimeMemory memory{iteration_time};
  RunReport report;
};

TEST(Simulation, aLoopTakesForkPlusTheLongestBlockPlusBarrier) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 10, 1, true, "sweep");
  // 10 iterations on 4 threads: blocks of 3, 3, 2, 2. T = fork + 3 t + barrier.
  const SimulatedRun run{workload, 4};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 3 + barrier_cost);
  EXPECT_EQ(run.report.threads[0].busy, iteration_time * 3);
  EXPECT_EQ(run.report.threads[3].busy, iteration_time * 2);
  EXPECT_EQ(run.report.threads[3].idle, run.report.time - iteration_time * 2);
  EXPECT_EQ(run.report.regions.at(0).executions, 1u);
  EXPECT_TRUE(run.memory.flushed);
  EXPECT_EQ(run.report.regions[0].exclusive, iteration_time * 3);
  EXPECT_EQ(run.report.overheads.fork, fork_cost);
  EXPECT_EQ(run.report.overheads.barrier, barrier_cost);
  EXPECT_EQ(run.report.overheads.waiting, Time{});
}

TEST(Simulation, regionsThatOverlapShareTheTime) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 6, 1, false, "first");
  workload.add(RegionKind::loop, Binding::free, 2, 1, true, "second");
  // Threads 0 and 1 have two iterations of the first loop, 2 and 3 one; then 0 and 1 have one of the second. From entry to exit the first
  // takes 2 t and the second 3 t, one of which is that of both: 2 threads of 2 are in the first; then it is the second's alone.
  const SimulatedRun run{workload, 4};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 3 + barrier_cost);
  EXPECT_EQ(run.report.regions[0].exclusive, iteration_time * 2);
  EXPECT_EQ(run.report.regions[1].exclusive, iteration_time);
}

TEST(Simulation, codeThatIsBoundToRanksRunsOnTheFirstOfALargerTeam) {
  ListedWorkload workload;
  workload.add(RegionKind::thread, Binding::rank, 2, 1, true, "patches");
  workload.add(RegionKind::loop, Binding::free, 4, 1, true, "sweep");
  const SimulatedRun run{workload, 4};
  // Two threads have one iteration each of the patches, all four one of the loop.
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 2 + barrier_cost * 2);
  EXPECT_EQ(run.report.threads[1].busy, iteration_time * 2);
  EXPECT_EQ(run.report.threads[2].busy, iteration_time);
  EXPECT_EQ(run.report.regions[0].ranks, 2u);
  EXPECT_EQ(run.report.regions[1].ranks, 0u);
  try {
    const SimulatedRun refused{workload, 1};
    FAIL() << "a team without the second rank was accepted";
  } catch (const UsageError& error) { EXPECT_THAT(error.what(), HasSubstr("allowed: --threads 2 or more, found 1")); }
}

TEST(Simulation, oneThreadPaysNeitherForkNorBarrier) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 10, 1, true, "sweep");
  EXPECT_EQ((SimulatedRun{workload, 1}.report.time), iteration_time * 10);
}

TEST(Simulation, serialCodeRunsOnTheMasterWhileOthersIdle) {
  ListedWorkload workload;
  workload.add(RegionKind::serial, Binding::free, 1, 0, false, "main:serial#0");
  workload.add(RegionKind::loop, Binding::free, 4, 1, true, "sweep");
  workload.add(RegionKind::serial, Binding::free, 1, 0, false, "main:serial#1");
  // T = serial + fork + one iteration each + barrier + serial.
  const SimulatedRun run{workload, 4};
  EXPECT_EQ(run.report.time, iteration_time * 3 + fork_cost + barrier_cost);
  EXPECT_EQ(run.report.threads[0].busy, iteration_time * 3);
  EXPECT_EQ(run.report.threads[1].busy, iteration_time);
}

TEST(Simulation, nowaitLetsAThreadGoAheadIntoTheNextLoop) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 1, 1, false, "first");  // only thread 0 has work here
  workload.add(RegionKind::loop, Binding::free, 4, 1, true, "second");
  // With nowait thread 0 needs 2 t, the others t; with a barrier between, all would need 2 t + barrier.
  const SimulatedRun run{workload, 4};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 2 + barrier_cost);
  EXPECT_EQ(run.report.threads[1].busy, iteration_time);
  workload.executions[0].barrier_after = true;
  EXPECT_EQ((SimulatedRun{workload, 4}.report.time), fork_cost + iteration_time * 2 + barrier_cost * 2);
}

TEST(Simulation, rankBoundCodeRunsOnItsRankAndRefusesOtherTeams) {
  ListedWorkload workload;
  workload.add(RegionKind::thread, Binding::rank, 2, 1, true, "patches");
  const SimulatedRun run{workload, 2};
  ASSERT_EQ(run.report.log.size(), 2u);
  for (const HandOut& out : run.report.log) EXPECT_EQ(out.items.first, static_cast<std::int64_t>(out.thread.index()));
  try {
    const SimulatedRun refused{workload, 4};
    FAIL() << "a team of another size was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'patches' is bound to the ranks of a team of 2"));
    EXPECT_THAT(error.what(), HasSubstr("--threads 2, found 4"));
  }
}

TEST(Simulation, replicatedCodeRunsOnceOnEveryThread) {
  ListedWorkload workload;
  workload.add(RegionKind::thread, Binding::replicated, 1, 1, true, "prologue");
  const SimulatedRun run{workload, 3};
  EXPECT_EQ(run.report.log.size(), 3u);
  EXPECT_EQ(run.report.time, fork_cost + iteration_time + barrier_cost);
}

TEST(Simulation, aSingleIsTakenOnceByWhoeverComesFirst) {
  ListedWorkload workload;
  workload.add(RegionKind::single, Binding::free, 1, 1, true, "single");
  const SimulatedRun run{workload, 4};
  ASSERT_EQ(run.report.log.size(), 1u);
  EXPECT_EQ(run.report.log[0].thread, ThreadId{0});
}

TEST(Simulation, threadsThatShareACoreTakeTurns) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 8, 1, true, "sweep");
  EXPECT_THROW((SimulatedRun{workload, 8}), UsageError);
  // Two threads a core, one iteration each: T = fork + 2 t + switch + barrier; a thread's waiting for its core is idle time.
  const SimulatedRun run{workload, 8, "static", true};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 2 + context_switch + barrier_cost);
  EXPECT_EQ(run.report.threads[0].busy, iteration_time);
  EXPECT_EQ(run.report.threads[7].busy, context_switch + iteration_time);
}

TEST(Simulation, workIsCutIntoSlicesOfAtMostAQuantum) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 64, 1, true, "sweep");
  // 4 KiB an iteration (and one byte of rounding), 64 KiB a quantum: at most 15 iterations a slice.
  const SimulatedRun run{workload, 1};
  std::int64_t total = 0;
  for (const Work& slice : run.memory.slices) {
    EXPECT_LE(slice.items.size(), 15);
    total += slice.items.size();
  }
  EXPECT_EQ(total, 64);
}

// Accesses [first, last) of the slices that ran on a thread; whole iterations count as one range up to the end.
std::vector<std::pair<std::uint64_t, std::uint64_t>> stretches(const FixedTimeMemory& memory, ThreadId thread = ThreadId{0}) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> result;
  for (const Work& slice : memory.slices) {
    if (slice.place.thread != thread) continue;
    result.emplace_back(slice.stretch ? slice.stretch->first : 0, slice.stretch ? slice.stretch->last : Stretch::to_the_end);
  }
  return result;
}

TEST(Simulation, anIterationThatTouchesMoreThanAQuantumIsCutInside) {
  ListedWorkload workload;
  workload.add(RegionKind::serial, Binding::free, 1, 0, false, "serial");
  // 512 accesses of 8 bytes by quanta of 1 KiB: 128 accesses a slice, 4 slices. T = one iteration; it is logged as one.
  const SimulatedRun run{workload, 1, "static", false, Bytes{1024}};
  ASSERT_EQ(run.memory.slices.size(), 4u);
  for (std::uint64_t s = 0; s < 4; ++s) {
    EXPECT_EQ(run.memory.slices[s].stretch->first, 128 * s);
    EXPECT_EQ(run.memory.slices[s].items, (ItemRange{ExecutionId{0}, 0, 1}));
  }
  EXPECT_EQ(run.report.time, iteration_time);
  EXPECT_EQ(run.report.threads[0].busy, iteration_time);
  ASSERT_EQ(run.report.log.size(), 1u);
  EXPECT_EQ(run.report.log[0].items, (ItemRange{ExecutionId{0}, 0, 1}));
}

TEST(Simulation, threadsAreCutIndependentlyAndShareCores) {
  ListedWorkload workload;
  workload.add(RegionKind::thread, Binding::rank, 8, 1, true, "bodies");
  // 8 threads on 4 cores, one iteration of 4 slices each, all within one time slice of the scheduler: T = fork + 2 t + switch + barrier.
  const SimulatedRun run{workload, 8, "static", true, Bytes{1024}};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 2 + context_switch + barrier_cost);
  for (std::size_t t = 0; t < 8; ++t) {
    const auto of_thread = stretches(run.memory, ThreadId{t});
    ASSERT_EQ(of_thread.size(), 4u) << t;
    for (std::uint64_t s = 0; s < 4; ++s) EXPECT_EQ(of_thread[s].first, 128 * s);
    EXPECT_EQ(run.report.threads[t].busy, iteration_time + (t < 4 ? Time{} : context_switch));
  }
}

TEST(Simulation, completionIsToldOnceForAllThatWasHandedOut) {
  class Whole final : public WorkDistribution {
  public:
    explicit Whole(std::vector<ItemRange>& completed) : completed_{completed} {}
    void prepare(const RegionView& region, const Team&, const CostOracle*) override { region_ = region; }
    Decision next(ThreadId, Time) override {
      if (std::exchange(given_, true)) return {};
      return {Decision::Kind::run, {region_.execution, 0, region_.iterations}, Time{}};
    }
    void complete(ItemRange items, ThreadId, Time) override { completed_.push_back(items); }

  private:
    std::vector<ItemRange>& completed_;
    RegionView region_;
    bool given_ = false;
  };
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 5, 1, true, "sweep");
  const Machine machine = four_cores();
  const auto placement = page_placements().make("first-touch");
  const auto mapping = thread_mappings().make("compact");
  FixedTimeMemory memory{iteration_time};
  AddressSpace addresses{machine, workload, *placement, Bytes{4096}};
  std::vector<ItemRange> completed;
  simulate({workload, machine, *mapping, [&](const std::string&) { return std::make_unique<Whole>(completed); }, memory, addresses, 2,
            false, Bytes{1024}});
  ASSERT_EQ(completed.size(), 1u);
  EXPECT_EQ(completed[0], (ItemRange{ExecutionId{0}, 0, 5}));
  EXPECT_EQ(memory.slices.size(), 5u * 4);
}

TEST(Simulation, releasedObjectsLeaveTheCachesAndTheirPages) {
  ListedWorkload workload;
  workload.add(RegionKind::serial, Binding::free, 1, 0, false, "temporaries");
  workload.objects[0].kind = ObjectKind::heap;
  workload.patterns[0].heap_events = {{0, HeapOperation::allocate, 0, false}, {9, HeapOperation::release, 0, false}};
  const SimulatedRun run{workload, 1};
  ASSERT_EQ(run.memory.dropped.size(), 1u);
  EXPECT_EQ(run.memory.dropped[0].size(), std::uint64_t{1} << 20);
}

// An iteration that allocates and releases objects 1, 2 and 3, all of one size, beside its accesses to object 0.
ListedWorkload with_heap(std::vector<HeapEvent> events, std::int64_t iterations = 1) {
  ListedWorkload workload;
  workload.add(iterations == 1 ? RegionKind::serial : RegionKind::loop, Binding::free, iterations, iterations == 1 ? 0 : 1, iterations > 1,
               "temporaries");
  for (int i = 0; i < 3; ++i) workload.objects.push_back({ObjectKind::heap, false, 1 << 20, 64, SiteId{}, "block", ObjectId::none(), -1});
  workload.patterns[0].slots = 4;
  workload.patterns[0].heap_events = std::move(events);
  for (std::size_t object = 1; object < 4; ++object) workload.bodies[0]->blocks[0].slots.push_back({ObjectId{object}, 0, 0});
  return workload;
}

// Which of the objects 1 to 3 are placed when each slice starts, and where.
struct Seen {
  std::string placed;
  std::vector<Address> address;
};
std::vector<Seen> heap_at_each_slice(const ListedWorkload& workload, RunReport* report = nullptr) {
  std::vector<Seen> result;
  SimulatedRun run{
      workload, 1, "static", false, Bytes{1 << 16}, [&](const Work&, AddressSpace& addresses) {
        Seen seen;
        for (std::size_t object = 1; object < 4; ++object) {
          seen.placed += addresses.placed(ObjectId{object}) ? std::to_string(object) : "-";
          seen.address.push_back(addresses.placed(ObjectId{object}) ? addresses.address(ObjectId{object}, ThreadId{0}) : Address{});
        }
        result.push_back(seen);
      }};
  if (report) *report = run.report;
  return result;
}

TEST(Simulation, heapCallsTakeEffectJustBeforeTheAccessThatFollowsThem) {
  // allocate 1 | 100 accesses | release 1, allocate 2 | 200 accesses | release 2 | the rest
  const ListedWorkload workload = with_heap({{0, HeapOperation::allocate, 1, false},
                                             {100, HeapOperation::release, 1, false},
                                             {100, HeapOperation::allocate, 2, false},
                                             {300, HeapOperation::release, 2, false},
                                             {512, HeapOperation::allocate, 3, false}});
  RunReport report;
  const std::vector<Seen> seen = heap_at_each_slice(workload, &report);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].placed, "1--");
  EXPECT_EQ(seen[1].placed, "-2-");
  EXPECT_EQ(seen[2].placed, "---");  // 3 comes after the last access
  // A block of the size that was given back last gets its addresses.
  EXPECT_EQ(seen[1].address[1], seen[0].address[0]);
  // 512 accesses by 100, 200 and 212: the cuts cost nothing.
  EXPECT_NEAR(static_cast<double>(report.time.count()), static_cast<double>(iteration_time.count()), 3);
}

TEST(Simulation, heapCallsBesideNoAccessTakeEffectOnceAndInOrder) {
  // release 1 between two allocations of it: addresses must go back before 2 asks for the same number of bytes.
  ListedWorkload workload = with_heap({{0, HeapOperation::allocate, 1, false},
                                       {0, HeapOperation::release, 1, false},
                                       {0, HeapOperation::allocate, 2, false},
                                       {0, HeapOperation::allocate, 1, false}});
  workload.patterns[0].runs.clear();
  const std::vector<Seen> seen = heap_at_each_slice(workload);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].placed, "12-");
  EXPECT_LT(seen[0].address[1], seen[0].address[0]);  // 2 lies where 1 was first
}

TEST(Simulation, eachIterationMakesItsOwnHeapCalls) {
  // Three iterations that allocate, work and release: 2 slices each, the same addresses every time, 3 releases.
  const ListedWorkload workload = with_heap({{0, HeapOperation::allocate, 1, false}, {256, HeapOperation::release, 1, false}}, 3);
  const std::vector<Seen> seen = heap_at_each_slice(workload);
  ASSERT_EQ(seen.size(), 6u);
  for (std::size_t s = 0; s < 6; ++s) EXPECT_EQ(seen[s].placed, s % 2 == 0 ? "1--" : "---");
  EXPECT_EQ(seen[2].address[0], seen[0].address[0]);
  EXPECT_EQ(seen[4].address[0], seen[0].address[0]);
}

TEST(Simulation, aReallocationGivesTheOldBlockBack) {
  ListedWorkload workload = with_heap({{0, HeapOperation::allocate, 1, false}, {100, HeapOperation::reallocate, 2, false}});
  workload.objects[2].reallocated_from = ObjectId{1};
  const std::vector<Seen> seen = heap_at_each_slice(workload);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].placed, "1--");
  EXPECT_EQ(seen[1].placed, "-2-");
  EXPECT_NE(seen[1].address[1], seen[0].address[0]);  // both exist while the contents move
}

TEST(Simulation, aDistributionThatLosesIterationsIsRefused) {
  class Loser final : public WorkDistribution {
    void prepare(const RegionView&, const Team&, const CostOracle*) override {}
    Decision next(ThreadId, Time) override { return {}; }
  };
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 5, 1, true, "sweep");
  const Machine machine = four_cores();
  const auto placement = page_placements().make("first-touch");
  const auto mapping = thread_mappings().make("compact");
  FixedTimeMemory memory{iteration_time};
  AddressSpace addresses{machine, workload, *placement, Bytes{4096}};
  EXPECT_THROW(simulate({workload, machine, *mapping, [](const std::string&) { return std::make_unique<Loser>(); }, memory, addresses, 2}),
               PolicyError);
}

// An iteration has 512 accesses and takes 10 ns, so 256 of them take 5 ns.
constexpr std::uint64_t half = 256, end_of_iteration = 512;
const Time half_time = Time::nanoseconds(5);

// Gives the execution a pattern of its own with these events.
void synchronise(ListedWorkload& workload, std::size_t execution, std::vector<SyncEvent> events) {
  ItemPattern pattern = workload.patterns[0];
  pattern.sync_events = std::move(events);
  workload.patterns.push_back(pattern);
  workload.bodies[execution]->blocks[0].pattern = PatternId{workload.patterns.size() - 1};
}

TEST(Synchronised, criticalSectionsFollowEachOther) {
  ListedWorkload workload;
  const std::size_t loop = workload.add(RegionKind::loop, Binding::free, 4, 1, true, "sweep");
  synchronise(workload, loop, {{0, SyncOperation::critical_enter, 7, 0}, {half, SyncOperation::critical_leave, 7, 0}});
  // Four threads, half of each iteration one after the other, the other half beside the next one's. T = fork + 4 h + h + barrier.
  const SimulatedRun run{workload, 4};
  EXPECT_EQ(run.report.time, fork_cost + half_time * 5 + barrier_cost);
  EXPECT_EQ(run.report.threads[3].busy, iteration_time);  // waiting is idle time
}

TEST(Synchronised, theSignalOfAReleaseTakesTheWayBetweenTheCores) {
  ListedWorkload workload;
  const std::size_t loop = workload.add(RegionKind::loop, Binding::free, 2, 1, true, "sweep");
  synchronise(workload, loop, {{0, SyncOperation::lock, 7, 0}, {half, SyncOperation::unlock, 7, 0}});
  SimulatedRun run{workload, 2};
  const Time without = run.report.time;
  run.machine.core_to_core_local = Time::nanoseconds(3);  // cores 0 and 1 are of one socket
  AddressSpace addresses{run.machine, workload, *run.placement, Bytes{4096}};
  FixedTimeMemory memory{iteration_time};
  const DistributionPlan plan{"static"};
  const RunReport slower = simulate({workload, run.machine, *run.mapping, [&](const std::string& label) { return plan.make(label); },
                                     memory, addresses, 2, false, Bytes{1 << 16}, false});
  EXPECT_EQ(slower.time, without + Time::nanoseconds(3));
}

TEST(Synchronised, orderedPartsKeepTheLoopsOrder) {
  ListedWorkload workload;
  const std::size_t loop = workload.add(RegionKind::loop, Binding::free, 4, 1, true, "sweep");
  workload.regions[0].ordered = true;
  synchronise(workload, loop, {{half, SyncOperation::ordered_enter, 0, 0}, {end_of_iteration, SyncOperation::ordered_leave, 0, 0}});
  // First halves at once, second halves in turn. T = fork + h + 4 h + barrier, whichever thread has which iteration.
  EXPECT_EQ((SimulatedRun{workload, 4}.report.time), fork_cost + half_time * 5 + barrier_cost);
  // One iteration a thread and a time: thread 0 has 0 and 2, thread 1 has 1 and 3. 0: 0-2h, 1: 0-h, 2h-3h, 2: 2h-3h, 3h-4h,
  // 3: 3h-4h, 4h-5h.
  EXPECT_EQ((SimulatedRun{workload, 2, "static:1"}.report.time), fork_cost + half_time * 5 + barrier_cost);
}

TEST(Synchronised, anIterationWithoutAnOrderedPartEndsItsTurnWithItself) {
  // Of four iterations on two threads the last two have an ordered second half. Thread 1 is there after h and waits for the end of 0 and 1
  // after 4 h; then three halves follow: fork + 7 h + barrier.
  ListedWorkload workload;
  const std::size_t loop = workload.add(RegionKind::loop, Binding::free, 4, 1, true, "sweep");
  workload.regions[0].ordered = true;
  synchronise(workload, loop, {{half, SyncOperation::ordered_enter, 0, 0}, {end_of_iteration, SyncOperation::ordered_leave, 0, 0}});
  auto& blocks = workload.bodies[loop]->blocks;
  blocks = {{0, 2, PatternId{0}, {{ObjectId{0}, 0, 4096}}}, {2, 4, blocks[0].pattern, {{ObjectId{0}, 2 * 4096, 4096}}}};
  EXPECT_EQ((SimulatedRun{workload, 2}.report.time), fork_cost + half_time * 7 + barrier_cost);
}

// main creates two threads, works, and joins them.
struct TwoThreads {
  explicit TwoThreads(std::vector<SyncEvent> first = {}, std::vector<SyncEvent> second = {}) {
    const std::size_t main = workload.add(RegionKind::serial, Binding::free, 1, 0, false, "main");
    const std::size_t one = workload.add(RegionKind::thread, Binding::free, 1, 0, false, "work");
    const std::size_t two = workload.add(RegionKind::thread, Binding::free, 2, 0, false, "work2");
    workload.threads.resize(3);
    synchronise(workload, main,
                {{0, SyncOperation::create, 1, one},
                 {0, SyncOperation::create, 2, two},
                 {end_of_iteration, SyncOperation::join, 1, 0},
                 {end_of_iteration, SyncOperation::join, 2, 0}});
    synchronise(workload, one, std::move(first));
    synchronise(workload, two, std::move(second));
  }
  ListedWorkload workload;
};

TEST(Synchronised, createdThreadsRunBesideTheirCreatorUntilItJoinsThem) {
  const TwoThreads program;
  // T = creation + the longer routine: two iterations.
  const SimulatedRun run{program.workload, 3};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 2);
  EXPECT_EQ(run.report.threads[0].busy, iteration_time);
  EXPECT_EQ(run.report.threads[1].busy, iteration_time);
  EXPECT_EQ(run.report.threads[2].busy, iteration_time * 2);
  ASSERT_EQ(run.report.regions.size(), 3u);
  EXPECT_EQ(run.report.regions[2].time, iteration_time * 2);
}

TEST(Synchronised, executionsOfOneRegionThatOverlapAreNotAddedUp) {
  TwoThreads program;
  program.workload.executions[2].region = program.workload.executions[1].region;
  // One thread is in the region for one iteration, another for two, from the same moment on: the region takes two.
  const SimulatedRun run{program.workload, 3};
  ASSERT_EQ(run.report.regions.size(), 2u);
  EXPECT_EQ(run.report.regions[1].executions, 2u);
  EXPECT_EQ(run.report.regions[1].time, iteration_time * 2);
}

TEST(Synchronised, aConditionWaitsForTheSignalThatEndedItAtCapture) {
  // Thread 1 waits at its half for the signal that thread 2 gives at the end of each of its two iterations: the first one does.
  const TwoThreads program{{{half, SyncOperation::wait, 9, 5}}, {{end_of_iteration, SyncOperation::signal, 9, 5}}};
  // Thread 1: h, sleeps until thread 2's first iteration ends (2 h), wakes up, h: 3 h + wake-up, which is longer than thread 2's 4 h. Main
  // has nothing to do any more when it wakes up. T = creation + 3 h + wake-up.
  const SimulatedRun run{program.workload, 3};
  const Time wakeup = SchedulerSettings{}.wakeup;
  EXPECT_EQ(run.report.regions[1].time, half_time * 3 + wakeup);
  EXPECT_EQ(run.report.time, fork_cost + half_time * 3 + wakeup);
}

// main creates so many threads one after the other in each of two waves, and joins a wave before it creates the next.
ListedWorkload waves(std::uint64_t threads) {
  ListedWorkload workload;
  std::vector<SyncEvent> events;
  for (std::uint64_t wave = 0; wave < 2; ++wave) {
    for (const SyncOperation operation : {SyncOperation::create, SyncOperation::join})
      for (std::uint64_t t = 0; t < threads; ++t) {
        const std::uint64_t number = 1 + wave * threads + t;
        events.push_back({end_of_iteration, operation, number, operation == SyncOperation::create ? number - 1 : 0});
      }
  }
  for (std::uint64_t t = 0; t < 2 * threads; ++t) workload.add(RegionKind::thread, Binding::free, 1, 0, false, "work");
  const std::size_t main = workload.add(RegionKind::serial, Binding::free, 1, 0, false, "main");
  workload.threads.resize(1 + 2 * threads);
  synchronise(workload, main, events);
  return workload;
}

TEST(Synchronised, threadsCountAgainstCoresWhileTheyAreAlive) {
  // Seven threads in all, four at once on four cores: those of the second wave take the cores of the first one's.
  const ListedWorkload two_waves = waves(3);
  const SimulatedRun run{two_waves, 7};
  EXPECT_EQ(run.report.threads_at_once, 4u);
  for (std::size_t t = 1; t <= 3; ++t) EXPECT_EQ(run.report.threads[t].core, run.report.threads[t + 3].core);
  const ListedWorkload larger = waves(4);
  try {
    const SimulatedRun refused{larger, 9};
    FAIL() << "five threads at once on four cores were accepted";
  } catch (const UsageError& error) { EXPECT_THAT(error.what(), HasSubstr("5 threads at once on machine 'four-cores' with 4 cores")); }
  EXPECT_EQ((SimulatedRun{larger, 9, "static", true}.report.threads_at_once), 5u);
}

TEST(Synchronised, threadsOfTheProgramAreRefusedOnAnotherNumber) {
  const TwoThreads program;
  try {
    const SimulatedRun run{program.workload, 2};
    FAIL() << "no error";
  } catch (const UsageError& error) { EXPECT_THAT(error.what(), HasSubstr("allowed: --threads 3, or none said, found 2")); }
}

TEST(Synchronised, aDeadlockIsNamed) {
  const TwoThreads program{{{0, SyncOperation::lock, 1, 0}, {half, SyncOperation::lock, 2, 0}},
                           {{0, SyncOperation::lock, 2, 0}, {half, SyncOperation::lock, 1, 0}}};
  try {
    const SimulatedRun run{program.workload, 3};
    FAIL() << "no deadlock";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cycle: thread 1 waits for lock 2, held by thread 2; thread 2 waits for lock 1, held by thread 1"));
  }
}

}  // namespace
}  // namespace homenode::test
