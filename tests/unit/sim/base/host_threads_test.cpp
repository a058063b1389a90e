// Host threads: every part is done once, by whomever, and what one throws arrives.
#include "sim/base/host_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace homenode::test {
namespace {

TEST(HostThreads, DoEachPartOfEachJobOnce) {
  for (const unsigned helpers : {0U, 1U, 3U}) {
    HostThreads threads{helpers};
    for (std::uint32_t job = 0; job < 2000; ++job) {
      const std::uint32_t parts = job % 9;
      std::vector<int> done(parts, 0);
      threads.start(parts, [&](std::uint32_t part) { ++done[part]; });
      threads.finish();
      ASSERT_EQ(done, std::vector<int>(parts, 1)) << helpers << " helpers, job " << job;
    }
  }
}

TEST(HostThreads, ThrowWhatAPartThrew) {
  HostThreads threads{1};
  threads.start(8, [](std::uint32_t part) {
    if (part == 5) throw std::runtime_error("five");
  });
  EXPECT_THROW(threads.finish(), std::runtime_error);
  threads.start(2, [](std::uint32_t) {});
  EXPECT_NO_THROW(threads.finish());
}

TEST(HostThreads, EndWhileAJobWaits) {
  std::atomic<int> done{0};
  {
    HostThreads threads{2};
    threads.start(4, [&](std::uint32_t) { ++done; });
  }
  EXPECT_LE(done, 4);
}

}  // namespace
}  // namespace homenode::test
