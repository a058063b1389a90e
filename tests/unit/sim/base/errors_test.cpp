#include "sim/base/errors.hpp"

#include <gtest/gtest.h>

#include <set>

namespace homenode {
namespace {

// distance = |found| + |allowed| - 2 x the characters that can stay
TEST(UnknownName, DistanceCountsWhatIsPutInAndDropped) {
  EXPECT_EQ(distance_between_names("static", "static"), 0u);
  EXPECT_EQ(distance_between_names("Static", "static"), 0u);
  EXPECT_EQ(distance_between_names("", "bind"), 4u);
  EXPECT_EQ(distance_between_names("bind", ""), 4u);
  EXPECT_EQ(distance_between_names("first", "first-touch"), 5u + 11 - 2 * 5);
  EXPECT_EQ(distance_between_names("first", "bind"), 5u + 4 - 2 * 1);  // i stays
  EXPECT_EQ(distance_between_names("frist", "first"), 5u + 5 - 2 * 4);
  EXPECT_EQ(distance_between_names("non-temporal", "nt"), 12u + 2 - 2 * 2);
}

TEST(UnknownName, ListsTheNearestFirstAndTheOthersAsGiven) {
  const std::vector<std::string> names{"bind", "interleave", "first-touch", "optimal"};
  EXPECT_EQ(unknown_name("placement", "first", names),
            "unknown placement 'first'; allowed: first-touch, bind, interleave, optimal; did you mean 'first-touch'?");
  EXPECT_EQ(unknown_name("stores", "non-temporal", std::vector<std::string>{"machine", "regular", "nt"}),
            "unknown stores 'non-temporal'; allowed: nt, machine, regular");
  EXPECT_EQ(unknown_name("placement", "bnid", names),
            "unknown placement 'bnid'; allowed: bind, interleave, first-touch, optimal; did you mean 'bind'?");
  EXPECT_EQ(unknown_name("placement", "Optimum", names),
            "unknown placement 'Optimum'; allowed: optimal, bind, interleave, first-touch; did you mean 'optimal'?");
}

TEST(UnknownName, TakesAnyListAndTheFirstOfEquals) {
  EXPECT_EQ(unknown_name("engine", "x", std::set<std::string>{"b", "a"}), "unknown engine 'x'; allowed: a, b");
  EXPECT_EQ(unknown_name("label", "x", std::vector<std::string>{}), "unknown label 'x'; allowed: ");
}

TEST(UnknownName, OfALongListNamesThreeThatMayBeMeant) {
  std::vector<std::string> names{"links.bandwidth", "link_bandwidth", "link_latency", "nodes.bandwidth"};
  for (int i = 0; i < 127; ++i) names.push_back(std::to_string(i));
  EXPECT_EQ(unknown_name("parameter", "linkbandwidth", names),
            "unknown parameter 'linkbandwidth'; did you mean 'link_bandwidth', 'links.bandwidth' or 'nodes.bandwidth'? Allowed: one of 131 "
            "names");
  EXPECT_EQ(unknown_name("parameter", "qqq", names), "unknown parameter 'qqq'; allowed: one of 131 names");
}

TEST(UnknownName, EchoesTheBeginningOfALongOne) {
  std::string said{"unknown engine '"};
  said.append(std::string(40, 'e')).append("…' (5000 characters); allowed: line");
  EXPECT_EQ(unknown_name("engine", std::string(5000, 'e'), std::vector<std::string>{"line"}), said);
}

}  // namespace
}  // namespace homenode
