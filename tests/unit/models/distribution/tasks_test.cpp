// How many tasks wait before their producer runs one itself.
#include <gtest/gtest.h>

#include "models/distribution/register.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

// Tasks that a thread can queue while nobody runs any, up to a thousand.
int queued(const std::string& text, std::size_t threads) {
  const Machine machine = two_sockets();
  Region region;
  region.kind = RegionKind::task;
  Team team{{}, &machine};
  for (std::size_t t = 0; t < threads; ++t) team.core.emplace_back(t);
  const auto tasks = work_distributions().make(text);
  tasks->prepare({ExecutionId{0u}, &region, 1000}, team, nullptr);
  int count = 0;
  while (count < 1000 && tasks->submit({ExecutionId{0u}, count, count + 1}, ThreadId{0u}, Time{}).kind == Submit::Kind::queued) ++count;
  return count;
}

TEST(TaskQueues, areAsLongAsTheirRuntimeSystemHasThem) {
  // icc: 256 for all; libgomp: 64 a thread, in one queue; libomp: 256 a thread, of which thread 0 fills its own.
  EXPECT_EQ(queued("tasks", 8), 256);
  EXPECT_EQ(queued("tasks:runtime=libgomp", 8), 512);
  EXPECT_EQ(queued("tasks:runtime=libgomp", 2), 128);
  EXPECT_EQ(queued("tasks:runtime=libomp", 8), 256);
  EXPECT_EQ(queued("tasks:runtime=libgomp,queue=5", 8), 5);
}

}  // namespace
}  // namespace homenode::test
