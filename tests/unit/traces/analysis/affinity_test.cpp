// C55: the mapping rules of S3, section 3, as instrumented programs apply them.
extern "C" {
#include "traces/analysis/affinity.h"
}

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace {

using testing::ElementsAre;

std::vector<unsigned> autonomous_cores(unsigned threads, unsigned cores) {
  std::vector<unsigned> result;
  for (unsigned i = 0; i < threads; ++i) result.push_back(homenode_autonomous_core(i, threads, cores));
  return result;
}

class Mapping {
public:
  Mapping(std::vector<homenode_thread_kind> kinds, std::vector<std::uint32_t> fathers, unsigned cores)
      : kinds_(std::move(kinds)), fathers_(std::move(fathers)), sets_(kinds_.size()) {
    mapping_->kinds = kinds_.data();
    mapping_->fathers = fathers_.data();
    mapping_->cores_of_kind = sets_.data();
    homenode_mapping_begin(mapping_.get(), cores);
  }
  void expect(std::uint64_t count) { mapping_->expected += count; }
  std::vector<unsigned> next(std::uint32_t kind) {
    const cpu_set_t set = homenode_mapping_next(mapping_.get(), kind);
    std::vector<unsigned> result;
    for (unsigned core = 0; core < mapping_->cores; ++core)
      if (CPU_ISSET(core, &set)) result.push_back(core);
    EXPECT_EQ(result.size(), static_cast<std::size_t>(CPU_COUNT(&set)));  // no core beyond the machine's
    return result;
  }

private:
  std::vector<homenode_thread_kind> kinds_;
  std::vector<std::uint32_t> fathers_;
  std::vector<cpu_set_t> sets_;
  std::unique_ptr<homenode_mapping> mapping_ = std::make_unique<homenode_mapping>();
};

TEST(AutonomousCores, AreTheFloorsOfTheMultiplesOfCoresPerThread) {
  // k = 8/3: floor(0), floor(8/3), floor(16/3)
  EXPECT_THAT(autonomous_cores(3, 8), ElementsAre(0, 2, 5));
  // k = 1
  EXPECT_THAT(autonomous_cores(4, 4), ElementsAre(0, 1, 2, 3));
  // k = 4/6: 0, 0.67, 1.33, 2, 2.67, 3.33
  EXPECT_THAT(autonomous_cores(6, 4), ElementsAre(0, 0, 1, 2, 2, 3));
}

TEST(AutonomousCores, AreBalancedForEveryCount) {
  // max load - min load <= 1
  for (unsigned cores = 1; cores <= 40; ++cores)
    for (unsigned threads = 1; threads <= 100; ++threads) {
      std::vector<unsigned> load(cores, 0);
      for (const unsigned core : autonomous_cores(threads, cores)) ++load.at(core);
      const auto [least, most] = std::minmax_element(load.begin(), load.end());
      ASSERT_LE(*most - *least, 1u) << threads << " threads on " << cores << " cores";
    }
  // 2400 threads on 8 cores (S3, section 4): 300 each
  const auto many = autonomous_cores(2400, 8);
  for (unsigned core = 0; core < 8; ++core) EXPECT_EQ(std::count(many.begin(), many.end(), core), 300);
}

TEST(RunTimeMapping, AutonomousThreadsAreSpreadOverTheCoresByTheirExpectedNumber) {
  Mapping mapping({{HOMENODE_MAIN, 0, 0}, {HOMENODE_AUTONOMOUS, 0, 1}}, {0}, 8);
  mapping.expect(2);
  EXPECT_THAT(mapping.next(1), ElementsAre(0));
  EXPECT_THAT(mapping.next(1), ElementsAre(4));
  // more than were expected: k = 1
  EXPECT_THAT(mapping.next(1), ElementsAre(2));
}

TEST(RunTimeMapping, SideBySideThreadsShareACore) {
  // Kinds 1 and 2 are loops of side-by-side threads, below the main thread but not side by side with it.
  Mapping mapping({{HOMENODE_MAIN, 0, 0}, {HOMENODE_SIDE_BY_SIDE, 0, 0}, {HOMENODE_SIDE_BY_SIDE, 0, 0}}, {}, 4);
  EXPECT_THAT(mapping.next(1), ElementsAre(1));
  EXPECT_THAT(mapping.next(2), ElementsAre(2));
  EXPECT_THAT(mapping.next(1), ElementsAre(1));
}

TEST(RunTimeMapping, SideBySideThreadsGetTheUnionWithTheirFathers) {
  // Kind 3 belongs with 1 and 2; kind 4 with the main thread.
  Mapping mapping({{HOMENODE_MAIN, 0, 0},
                   {HOMENODE_SIDE_BY_SIDE, 0, 0},
                   {HOMENODE_SIDE_BY_SIDE, 0, 0},
                   {HOMENODE_SIDE_BY_SIDE, 0, 2},
                   {HOMENODE_SIDE_BY_SIDE, 2, 3}},
                  {1, 2, 0}, 4);
  mapping.next(1);
  mapping.next(2);
  EXPECT_THAT(mapping.next(3), ElementsAre(1, 2));
  EXPECT_THAT(mapping.next(4), ElementsAre(0));
}

TEST(RunTimeMapping, PostponedThreadsGetTheLeastLoadedCore) {
  Mapping mapping({{HOMENODE_MAIN, 0, 0}, {HOMENODE_AUTONOMOUS, 0, 1}, {HOMENODE_POSTPONED, 0, 1}}, {0}, 3);
  mapping.expect(2);
  mapping.next(1);                               // core 0, beside the main thread
  EXPECT_THAT(mapping.next(1), ElementsAre(1));  // floor(3/2)
  EXPECT_THAT(mapping.next(2), ElementsAre(2));  // loads 2, 1, 0
  EXPECT_THAT(mapping.next(2), ElementsAre(1));  // loads 2, 1, 1
}

TEST(RunTimeMapping, OneCoreServesAll) {
  Mapping mapping({{HOMENODE_MAIN, 0, 0}, {HOMENODE_AUTONOMOUS, 0, 0}, {HOMENODE_SIDE_BY_SIDE, 0, 0}, {HOMENODE_POSTPONED, 0, 0}}, {}, 1);
  for (std::uint32_t kind = 1; kind <= 3; ++kind) EXPECT_THAT(mapping.next(kind), ElementsAre(0));
}

}  // namespace
