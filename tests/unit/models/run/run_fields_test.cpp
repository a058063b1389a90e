// The table of a run's options, and the checks that it makes.
#include "models/run/run_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/base/errors.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(RunFields, HaveNamesOfTheirOwnAndPlacesInTheReportWithoutGaps) {
  std::set<std::string> names;
  std::vector<int> places;
  for (const RunField& field : run_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_FALSE(field.meaning.empty()) << field.name;
    if (field.report > 0) places.push_back(field.report);
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(places[i], static_cast<int>(i) + 1);
}

TEST(RunFields, DefaultsPassTheirChecks) { EXPECT_NO_THROW(check(RunSpec{}, two_sockets(), {})); }

TEST(RunFields, ThreadsFitTheCoresOrAreToldToShareThem) {
  const Machine machine = two_sockets();
  RunSpec spec;
  spec.threads = machine.cores() + 1;
  EXPECT_THAT([&] { check(spec, machine, {}); }, ThrowsMessage<UsageError>(HasSubstr("or more with --oversubscribe")));
  spec.oversubscribe = true;
  EXPECT_NO_THROW(check(spec, machine, {}));
}

TEST(RunFields, LabelsThatNoRegionHasAreRefused) {
  RunSpec spec;
  spec.distribution = "sweep@dynamic:4";
  EXPECT_NO_THROW(check(spec, two_sockets(), {"init", "sweep"}));
  EXPECT_THAT([&] { check(spec, two_sockets(), {"init"}); }, ThrowsMessage<UsageError>(HasSubstr("unknown region label 'sweep'")));
}

TEST(RunFields, TasksOfAProgramWithoutTasksAreRefusedUnlessALoopIsNamed) {
  RunSpec spec;
  const auto check_without_tasks = [&] { check(spec, two_sockets(), {"init", "sweep"}, 0, false); };
  for (const char* text : {"tasks", "tasks:queue=4", "locality-queues", "static tasks", "init@dynamic:4 tasks"}) {
    spec.distribution = text;
    EXPECT_THAT(check_without_tasks, ThrowsMessage<UsageError>(HasSubstr("for a program without tasks; allowed: static, "))) << text;
    EXPECT_NO_THROW(check(spec, two_sockets(), {"init", "sweep"})) << text;
  }
  for (const char* text : {"static", "sweep@tasks", "init@static:1 sweep@locality-queues"}) {
    spec.distribution = text;
    EXPECT_NO_THROW(check_without_tasks()) << text;
  }
}

TEST(RunFields, SeedsMatterToCachesByLinesAlone) {
  RunSpec one, other;
  other.seed = 1;
  EXPECT_EQ(what_caches_see(one, false), what_caches_see(other, false));
  EXPECT_NE(what_caches_see(one, true), what_caches_see(other, true));
}

}  // namespace
}  // namespace homenode::test
