#include "sim/base/text.hpp"

#include <gtest/gtest.h>

namespace homenode {
namespace {

TEST(Text, KeepsWhatIsUtf8) {
  for (const char* text : {"", "plain", "caf\xC3\xA9", "\xE2\x80\xA6", "\xF0\x9F\x98\x80", "tab\t and \x1B[31m"}) {
    EXPECT_EQ(valid_utf8(text), text);
  }
}

TEST(Text, EscapesBytesThatAreNoCharacter) {
  EXPECT_EQ(valid_utf8("caf\xE9.c"), "caf\\xE9.c");                   // Latin-1
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\\xC0\\xAF");                    // '/' in two bytes
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\\xED\\xA0\\x80");           // a surrogate
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(valid_utf8("end\xE2\x80"), "end\\xE2\\x80");              // cut off
}

TEST(Text, InMessagesHasNoControlCharactersAndABound) {
  EXPECT_EQ(brief("a\nb\tc\x1B[2J\x7F"), "a\\nb\\tc\\x1B[2J\\x7F");
  EXPECT_EQ(brief("\xC2\x9B"
                  "31m"),
            "\\x9B31m");  // CSI as one character, U+009B
  EXPECT_EQ(brief(std::string(200, 'a')), std::string(200, 'a'));
  EXPECT_EQ(brief(std::string(1 << 20, 'a')), std::string(200, 'a') + "…");
  EXPECT_EQ(brief("caf\xC3\xA9", 4), "caf…");  // no half characters
}

}  // namespace
}  // namespace homenode
