// A description is parsed again only where its text has changed.
#include "models/machines/parsed_once.hpp"

#include <gtest/gtest.h>

#include <string>

namespace homenode::test {
namespace {

int parsed = 0;

struct Parsed {
  std::string text, name;
};
Parsed parse(std::string_view text, const std::string& name) {
  ++parsed;
  return {std::string{text}, name};
}

TEST(ParsedOnce, KeepsWhatATextWasUntilItDiffers) {
  EXPECT_EQ(parsed_once("a = 1", "one.toml", &parse).text, "a = 1");
  EXPECT_EQ(parsed_once("a = 1", "one.toml", &parse).name, "one.toml");
  EXPECT_EQ(parsed, 1);
  EXPECT_EQ(parsed_once("a = 2", "one.toml", &parse).text, "a = 2");
  EXPECT_EQ(parsed, 2);
  EXPECT_EQ(parsed_once("a = 2", "two.toml", &parse).name, "two.toml");  // its errors name their file
  EXPECT_EQ(parsed, 3);
}

}  // namespace
}  // namespace homenode::test
