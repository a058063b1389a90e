// What was found out about a program is kept: all of it by name, or the last.
#include "sim/program/known_by_name.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace homenode::test {
namespace {

TEST(LastKnown, IsMadeOnceAsLongAsItIsAskedForByTheSameName) {
  const LastKnown last;
  int made = 0;
  const auto value = [&](int result) {
    return [&made, result] {
      ++made;
      return std::make_shared<const int>(result);
    };
  };
  EXPECT_EQ(*last.get<int>("a", value(1)), 1);
  EXPECT_EQ(*last.get<int>("a", value(2)), 1);
  const LastKnown copy = last;  // NOLINT(performance-unnecessary-copy-initialization): that copies share is what is tested
  EXPECT_EQ(*copy.get<int>("a", value(2)), 1);
  EXPECT_EQ(*last.get<int>("b", value(3)), 3);
  EXPECT_EQ(*last.get<int>("a", value(4)), 4);
  EXPECT_EQ(made, 3);
}

TEST(LastKnown, StaysWithWhoGotItWhenAnotherTakesItsPlace) {
  const LastKnown last;
  const auto kept = last.get<int>("a", [] { return std::make_shared<const int>(1); });
  last.get<int>("b", [] { return std::make_shared<const int>(2); });
  EXPECT_EQ(*kept, 1);
}

TEST(LastKnown, AFailureIsToldAndNotKept) {
  const LastKnown last;
  const auto fails = []() -> std::shared_ptr<const int> { throw std::runtime_error("no"); };
  EXPECT_THROW(last.get<int>("a", fails), std::runtime_error);
  EXPECT_THROW(last.get<int>("a", fails), std::runtime_error);
  EXPECT_EQ(*last.get<int>("a", [] { return std::make_shared<const int>(2); }), 2);
}

TEST(LastKnown, ThreadsThatAskForTheSameWaitForIt) {
  const LastKnown last;
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  std::vector<int> found(8);
  for (int& each : found)
    threads.emplace_back([&] {
      each = *last.get<int>("a", [&] {
        ++made;
        return std::make_shared<const int>(7);
      });
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(found, std::vector<int>(8, 7));
}

}  // namespace
}  // namespace homenode::test
