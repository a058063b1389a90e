// What balancing costs on recorded slices, against equations. The policy is scripted: it unmaps all pages at given times.
#include "models/run/balanced_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/placement/register.hpp"
#include "sim/base/errors.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr Time us(std::int64_t microseconds) { return Time::picoseconds(1'000'000 * microseconds); }

class UnmapsAt final : public PagePlacement {
public:
  explicit UnmapsAt(std::vector<Time> times, NodeId moves_to = NodeId::none()) : times_{std::move(times)}, moves_to_{moves_to} {}
  void fault(std::span<const PageFault>, std::span<NodeId>) override {}
  Watch watches() const override { return Watch::hinting_faults; }
  std::optional<Time> wakeup() const override { return next_ < times_.size() ? std::optional{times_[next_]} : std::nullopt; }
  void wake(const Place&, PageActions& actions) override {
    ++next_;
    for (PageNumber page; page < PageNumber{actions.pages()}; ++page) actions.unmap(page);
  }
  void observe(const Place&, std::span<const PageUse> uses, PageActions& actions) override {
    if (moves_to_.is_none()) return;
    for (const PageUse& use : uses) actions.migrate(use.page, moves_to_);
  }

private:
  std::vector<Time> times_;
  NodeId moves_to_;
  std::size_t next_ = 0;
};

// Two threads, on a node each: `init` of 100 us, then `sweeps` sweeps of 50 us, 10 us apart, in which each thread touches ten pages first.
struct Recorded {
  explicit Recorded(unsigned sweeps) : machine{two_sockets(1)}, policy{page_placements().make("first-touch")} {
    WorkloadBuilder builder;
    const ObjectId array = builder.object("array", 20 * 4096, ObjectKind::mapped);
    const RegionId init = builder.loop("init", 2), sweep = builder.loop("sweep", 2);
    builder.nest(init, {512}, {write(array, 0, {8}, 10 * 4096)});
    builder.repeat(init);
    builder.nest(sweep, {512}, {read(array, 0, {8}, 10 * 4096)});
    for (unsigned s = 0; s < sweeps; ++s) builder.repeat(sweep);
    workload = builder.build();
    policy->prepare(nullptr, machine);
    addresses = std::make_unique<AddressSpace>(machine, *workload, *policy, Bytes{4096});
    range = addresses->place_object(array, ThreadId{0});
    addresses->touch({range.first, range.first + 10 * 4096}, true, on(0, Time{}));
    addresses->touch({range.first + 10 * 4096, range.last}, true, on(1, Time{}));
    for (const std::size_t core : {0u, 1u}) addresses->runs_on(CoreId{core});
    log = std::make_unique<TouchLog>(*workload);
    execution(0, Time{}, us(100), addresses->page_of(range.first), false);
    for (unsigned s = 0; s < sweeps; ++s) execution(s + 1, us(110 + 60 * s), us(50), addresses->page_of(range.first), true);
    system.balancing.hinting_fault = us(1);
    system.balancing.scan = Time{};
    system.migration = {us(2), us(3)};
  }
  Place on(std::size_t thread, Time now) const { return {ThreadId{thread}, CoreId{thread}, NodeId{thread}, now}; }
  void execution(std::size_t id, Time begin, Time length, PageNumber first, bool touches) {
    for (const std::size_t thread : {0u, 1u}) {
      const auto item = static_cast<std::int64_t>(thread);
      log->start({on(thread, begin), {ExecutionId{id}, item, item + 1}, Time{}});
      std::vector<PageUse> uses;
      for (std::uint64_t page = 0; touches && page < 10; ++page) uses.push_back({first + 10 * thread + page, NodeId{thread}});
      log->touched(uses);
    }
    for (const std::size_t thread : {0u, 1u}) log->end({WorkId{}, ThreadId{thread}, begin + length});
  }
  BalancedTime time(PagePlacement& balancing, Time at_least) const {
    return balanced_time({*log, *addresses, machine, system}, balancing, at_least.seconds());
  }
  Machine machine;
  std::unique_ptr<PagePlacement> policy;
  std::shared_ptr<Workload> workload;
  std::unique_ptr<AddressSpace> addresses;
  AddressRange range;  // of the array
  std::unique_ptr<TouchLog> log;
  OperatingSystem system;
};

TEST(BalancedTime, withoutScansIsTheProgramsOwn) {
  // 100 us, then sweeps of 10 + 50 us: recorded are 4, their last two a group. 400 us take 100 + 5 x 60: a group goes beyond.
  const Recorded recorded{4};
  UnmapsAt never{{}};
  const BalancedTime time = recorded.time(never, us(400));
  EXPECT_EQ(time.group, 2u);
  EXPECT_EQ(time.repeats, 1u);
  EXPECT_EQ(time.seconds_alone, us(100 + 6 * 60));
  EXPECT_EQ(time.seconds, time.seconds_alone);
  EXPECT_EQ(time.scans, 0u);
}

TEST(BalancedTime, paysForHintingFaultsWhereThePagesAreTouchedFirst) {
  // Each scan: ten faults of 1 us for each thread, side by side.
  const Recorded recorded{4};
  UnmapsAt two{{us(170), us(345)}};
  const BalancedTime time = recorded.time(two, us(400));
  EXPECT_EQ(time.scans, 2u);
  EXPECT_EQ(time.hinting_faults, 40u);
  EXPECT_EQ(time.seconds, time.seconds_alone + us(2 * 10));
}

TEST(BalancedTime, seesPagesThatTheProgramReleasedAtItsEnd) {
  Recorded recorded{4};
  recorded.addresses->unmap(recorded.range);
  UnmapsAt two{{us(170), us(345)}};
  const BalancedTime time = recorded.time(two, us(400));
  EXPECT_EQ(time.scans, 2u);
  EXPECT_EQ(time.hinting_faults, 40u);
}

TEST(BalancedTime, queuesForTheLockOfTheAddressSpace) {
  // 2 us of each fault under the lock: the threads come at once, the first holds it for ten faults; the second's line comes from the
  // other socket, once a fault: 20 + 10 x (2 + 0.1) us behind the 10 us that the faults take besides.
  Recorded recorded{4};
  recorded.system.fault.serial = us(2);
  recorded.system.fault.serial_transfers = 1;
  UnmapsAt once{{us(170)}};
  const BalancedTime time = recorded.time(once, us(300));
  EXPECT_EQ(time.seconds, time.seconds_alone + us(10 + 20) + Time::picoseconds(21'000'000));
}

TEST(BalancedTime, countsWhatMovesAndPaysForIt) {
  // All pages to node 0: thread 1's ten cost 2 + 3 us each and the copy, 64 lines of 150 ns with 16 in flight: 0.6 us.
  const Recorded recorded{4};
  UnmapsAt moving{{us(170)}, NodeId{0}};
  const BalancedTime time = recorded.time(moving, us(300));
  EXPECT_EQ(time.moved_pages, 10u);
  EXPECT_EQ(time.seconds, time.seconds_alone + us(10 + 10 * 5 + 10 * 6 / 10));
}

TEST(BalancedTime, ofAScanHasAShootdownForTheCoresThatRanTheProgram) {
  Recorded recorded{4};
  recorded.system.mapping.shootdown = us(4);
  recorded.system.mapping.shootdown_core = us(3);
  UnmapsAt once{{us(170)}};
  EXPECT_EQ(recorded.time(once, us(300)).seconds, us(100 + 4 * 60) + us(10 + 4 + 3));
}

TEST(BalancedTime, needsExecutionsThatRepeat) {
  const Recorded once{1};
  UnmapsAt never{{}};
  EXPECT_THROW(once.time(never, us(400)), UsageError);
}

TEST(RepeatedGroup, isTheOneThatCoversMost) {
  const auto group = [](const std::vector<std::uint32_t>& regions) {
    std::vector<LoggedExecution> executions;
    for (const std::uint32_t region : regions) executions.push_back({ExecutionId{executions.size()}, RegionId{region}, {}});
    const RepeatedGroup found = repeated_group(executions);
    return std::pair{found.first, found.last};
  };
  using ::testing::Pair;
  EXPECT_THAT(group({0, 1, 2, 1, 2}), Pair(3, 5));
  EXPECT_THAT(group({0, 1, 1, 2, 1, 1, 2, 3}), Pair(4, 7));  // what comes behind is left out
  EXPECT_THAT(group({0, 1, 2}), Pair(0, 0));
}

}  // namespace
}  // namespace homenode::test
