// NAME+MODIFIER: how any kind of policy is put under another one, and how values with a unit are written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/errors.hpp"
#include "sim/base/registry.hpp"

namespace homenode::test {
namespace {

using ::testing::HasSubstr;

struct Greeting {
  std::string text;
};

Registry<Greeting> greetings() {
  PolicyEntry<Greeting> hello{
      .name = "hello", .description = "", .parameters = {}, .make = [](const Parameters&) { return std::make_unique<Greeting>("hello"); }};
  PolicyEntry<Greeting> late{
      "late", "", {time_parameter("by", "", Time::from_seconds(1)), bytes_parameter("size", "", Bytes{4096}, Bytes{2})}, nullptr};
  late.modify = [](const Parameters& parameters, const std::shared_ptr<Greeting>& greeting) {
    return std::make_unique<Greeting>(greeting->text + " after " + to_string(parameters.time("by")) + " and " +
                                      to_string(parameters.bytes("size")));
  };
  return {"greeting", {std::move(hello), std::move(late)}};
}

std::string made(std::string_view text) {
  try {
    return greetings().make(text)->text;
  } catch (const UsageError& error) { return error.what(); }
}

TEST(Modifiers, workOnThePolicyBeforeThemFromLeftToRight) {
  EXPECT_EQ(made("hello"), "hello");
  EXPECT_EQ(made("hello+late"), "hello after 1 s and 4 KiB");
  EXPECT_EQ(made("hello+late:by=2ms,size=1MiB+late:5 us"), "hello after 2 ms and 1 MiB after 5 us and 4 KiB");
}

TEST(Modifiers, workOnAPolicyThatHasNoName) {
  // Only what follows the first + is looked up.
  const auto own = std::make_shared<Greeting>("own");
  EXPECT_EQ(greetings().modify("mine+late", own)->text, "own after 1 s and 4 KiB");
  EXPECT_EQ(greetings().modify("mine", own), own);
}

TEST(Modifiers, areRefusedWithoutAPolicyAndPoliciesAfterAPlus) {
  EXPECT_THAT(made("late"), HasSubstr("greeting 'late' modifies another one; allowed: a greeting before it, as in 'hello+late'"));
  EXPECT_THAT(made("hello+hello"), HasSubstr("unknown modifier of a greeting 'hello'; allowed: late"));
  EXPECT_THAT(made("hullo"), HasSubstr("unknown greeting 'hullo'; allowed: hello"));
  EXPECT_THAT(made("hello+"), HasSubstr("empty policy name"));
}

TEST(Modifiers, valuesHaveTheirUnit) {
  EXPECT_THAT(made("hello+late:by=5"), HasSubstr("greeting 'late': by = '5' is not a time with its unit of at least 1 ps"));
  EXPECT_THAT(made("hello+late:by=0s"), HasSubstr("not a time with its unit of at least 1 ps"));
  EXPECT_THAT(made("hello+late:size=1B"), HasSubstr("size = '1B' is not a size with its unit of at least 2 B"));
}

}  // namespace
}  // namespace homenode::test
