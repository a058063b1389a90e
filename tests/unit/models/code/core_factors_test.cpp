// Factors on the core time of regions: their text, and what they change.
#include "models/code/core_factors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "sim/base/errors.hpp"

namespace homenode::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const UsageError& error) { return error.what(); }
  return "";
}

std::shared_ptr<const CodeCycles> two_regions() {
  return std::make_shared<const CodeCycles>(CodeCycles{{{.cycles = 2, .mispredictions = 0.5}, {.cycles = 3, .mispredictions = 1}}});
}

TEST(CoreFactors, areReadByRegion) {
  EXPECT_THAT(core_factors("0@1.5  12@0.25"), ElementsAre(Pair(0, 1.5), Pair(12, 0.25)));
  EXPECT_TRUE(core_factors("").empty());
}

TEST(CoreFactors, refuseWhatIsNoFactorOfARegion) {
  for (const char* text : {"1.5", "@2", "0@", "0@x", "x@1", "-1@2", "0@0", "0@-1", "0@1000", "0@nan", "0@1,5"})
    EXPECT_THAT(refusal([&] { core_factors(text); }), HasSubstr("allowed: REGION@FACTOR")) << text;
  EXPECT_THAT(refusal([] { core_factors("1@2 1@3"); }), HasSubstr("region 1 has two core factors"));
}

TEST(CoreFactors, multiplyTheCoreTimeOfTheirRegionsAlone) {
  const auto code = two_regions();
  const auto changed = with_core_factors(code, "1@2");
  EXPECT_EQ(changed->regions[0].cycles, 2);
  EXPECT_EQ(changed->regions[0].mispredictions, 0.5);
  EXPECT_EQ(changed->regions[1].cycles, 6);
  EXPECT_EQ(changed->regions[1].mispredictions, 2);
  EXPECT_EQ(code->regions[1].cycles, 3);  // other runs of the trace share it
  EXPECT_EQ(with_core_factors(code, ""), code);
}

TEST(CoreFactors, wantCodeAndItsRegions) {
  EXPECT_THAT(refusal([] { with_core_factors(nullptr, "0@2"); }), HasSubstr("timed by classes"));
  EXPECT_THAT(refusal([] { with_core_factors(two_regions(), "2@2"); }), HasSubstr("allowed: 0 to 1"));
  EXPECT_EQ(with_core_factors(nullptr, ""), nullptr);
}

}  // namespace
}  // namespace homenode::test
