// Schedule clauses, as distributions.
#include "models/distribution/as_written.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "models/distribution/register.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

TEST(WrittenSchedule, isTheDistributionOfAClause) {
  const std::vector<std::pair<std::string, std::string>> clauses{{"", "static"},
                                                                 {"static", "static"},
                                                                 {"static,3", "static:3"},
                                                                 {"dynamic", "dynamic:1"},
                                                                 {"dynamic,64", "dynamic:64"},
                                                                 {"nonmonotonic:dynamic,64", "dynamic:64"},
                                                                 {"DYNAMIC,4", "dynamic:4"},
                                                                 {"guided", "guided"},
                                                                 {"monotonic:guided,8", "guided:8"},
                                                                 {"auto", "static"},
                                                                 {"monotonic,simd:dynamic,4", "dynamic:4"},
                                                                 {"dynamic,(64)", "dynamic:64"},
                                                                 {"dynamic,64L", "dynamic:64"},
                                                                 {"guided,0x10", "guided:16"},
                                                                 {"runtime", "dynamic:1"}};
  for (const auto& [clause, distribution] : clauses) {
    EXPECT_EQ(written_schedule(clause).distribution, distribution) << clause;
    EXPECT_EQ(written_schedule(clause).unknown_chunk, "") << clause;
    EXPECT_NO_THROW(work_distributions().make(distribution));
  }
}

TEST(WrittenSchedule, ofAChunkThatIsNoNumberTakesOne) {
  for (const std::string chunk : {"n", "settings::get().chunk", "n*2", "1<<6", "a::b()", "0", "-1", "99999999999999999999"}) {
    EXPECT_EQ(written_schedule("dynamic," + chunk).distribution, "dynamic:1");
    EXPECT_EQ(written_schedule("dynamic," + chunk).unknown_chunk, chunk);
    EXPECT_EQ(written_schedule("nonmonotonic:dynamic," + chunk).clause, "dynamic," + chunk);
  }
}

// What each of three threads gets of ten iterations, asked in turns.
std::vector<std::pair<std::int64_t, std::int64_t>> handed_out(WorkDistribution& distribution, const Region& region) {
  const Machine machine = two_sockets();
  Team team{.core = {CoreId{0}, CoreId{0}, CoreId{0}}, .machine = &machine};
  distribution.prepare({.execution = ExecutionId{0}, .region = &region, .iterations = 10}, team, nullptr);
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (int turn = 0; turn < 4; ++turn)
    for (std::size_t t = 0; t < team.size(); ++t)
      if (const Decision decision = distribution.next(ThreadId{t}, Time{}); decision.kind == Decision::Kind::run)
        found.emplace_back(decision.items.first, decision.items.last);
  return found;
}

TEST(AsWritten, givesEachLoopItsOwnSchedule) {
  const auto written = work_distributions().make("program");  // one for all regions of a name, so that clauses may differ
  for (const auto& [clause, distribution] :
       {std::pair<std::string, std::string>{"static,2", "static:2"}, {"dynamic,3", "dynamic:3"}, {"", "static"}, {"guided", "guided"}}) {
    Region region;
    region.schedule_clause = clause;
    const auto explicitly = work_distributions().make(distribution);
    EXPECT_EQ(handed_out(*written, region), handed_out(*explicitly, region)) << clause;
    // What has one passes the caches ahead of time.
    EXPECT_EQ(written->fixed_schedule() == nullptr, explicitly->fixed_schedule() == nullptr) << clause;
  }
}

TEST(WrittenSchedule, isALoopsOwnIfItIsNotStatic) {
  for (const char* clause : {"", "static", "auto", "runtime", "monotonic:static"}) EXPECT_FALSE(is_scheduled_by_itself(clause)) << clause;
  for (const char* clause : {"static,1", "dynamic", "dynamic,64", "guided", "dynamic,chunk_at_runtime"})
    EXPECT_TRUE(is_scheduled_by_itself(clause)) << clause;
}

}  // namespace
}  // namespace homenode::test
