// Policies that are added while others are made.
#include "sim/base/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "sim/base/errors.hpp"

namespace homenode::test {
namespace {

using ::testing::HasSubstr;

struct Named {
  std::string text;
};

PolicyEntry<Named> entry(const std::string& name, const std::string& text) {
  return {.name = name, .description = "", .parameters = {}, .make = [text](const Parameters&) { return std::make_unique<Named>(text); }};
}

Registry<Named> words() { return {"word", {entry("yes", "yes"), entry("no", "no")}}; }

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const UsageError& error) { return error.what(); }
  return "";
}

TEST(Registry, takesPoliciesOfExtensionsAndReplacesThem) {
  Registry<Named> registry = words();
  registry.add(entry("maybe", "first"));
  EXPECT_EQ(registry.make("maybe")->text, "first");
  registry.add(entry("maybe", "second"));
  EXPECT_EQ(registry.make("maybe")->text, "second");
  EXPECT_EQ(registry.entries().size(), 3u);
  EXPECT_TRUE(registry.is_built_in("no"));
  EXPECT_FALSE(registry.is_built_in("maybe"));
}

TEST(Registry, keepsWhatIsBuiltIn) {
  Registry<Named> registry = words();
  EXPECT_THAT(refusal([&] { registry.add(entry("no", "never")); }), HasSubstr("word 'no' is built in; allowed: any other name"));
  registry.remove("no");
  EXPECT_EQ(registry.make("no")->text, "no");
}

TEST(Registry, takesBackWhatAnExtensionAdded) {
  Registry<Named> registry = words();
  registry.add(entry("maybe", "maybe"));
  const auto kept = registry.make("maybe");
  registry.remove("maybe");
  registry.remove("maybe");
  EXPECT_EQ(kept->text, "maybe");
  EXPECT_THAT(refusal([&] { registry.make("maybe"); }), HasSubstr("unknown word 'maybe'"));
}

TEST(Registry, refusesWhatIsNoName) {
  Registry<Named> registry = words();
  for (const std::string name : {"", "Yes", "1st", "-a", "a b", "a+b", "a:b", "a_b"})
    EXPECT_THAT(refusal([&] { registry.add(entry(name, "")); }), HasSubstr("word name '" + name + "'; allowed: a small letter")) << name;
}

TEST(Registry, looksFurtherForAnUnknownNameAlone) {
  Registry<Named> registry = words();
  int looked = 0;
  registry.when_unknown([&] {
    ++looked;
    registry.add(entry("installed", "found"));
  });
  EXPECT_EQ(registry.make("yes")->text, "yes");
  EXPECT_EQ(looked, 0);
  EXPECT_EQ(registry.make("installed")->text, "found");
  EXPECT_EQ(registry.make("installed")->text, "found");
  EXPECT_EQ(looked, 1);
  EXPECT_THAT(refusal([&] { registry.make("missing"); }), HasSubstr("unknown word 'missing'"));
  EXPECT_EQ(looked, 2);
}

TEST(Registry, isFilledByOneThreadAndReadByOthers) {
  Registry<Named> registry = words();
  std::thread writer{[&] {
    for (int i = 0; i < 200; ++i) registry.add(entry("word-" + std::to_string(i % 20), std::to_string(i)));
  }};
  for (int i = 0; i < 200; ++i) EXPECT_EQ(registry.make("yes")->text, "yes");
  writer.join();
  EXPECT_EQ(registry.entries().size(), 22u);
  EXPECT_EQ(registry.make("word-19")->text, "199");
}

}  // namespace
}  // namespace homenode::test
