#include "models/core/core_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "sim/base/errors.hpp"

namespace homenode::test {
namespace {

CoreRequest read(const std::string& text) {
  std::istringstream input{text};
  return read_core_request(input);
}

TEST(CoreRequest, isRead) {
  const CoreRequest request =
      read("cpu znver3\nblock 17 4883c4\nblock 18 c3 401000\n\nsequence 17*40 18 17 17*2\nsequence 17*40 18 17*3\nend\n");
  EXPECT_EQ(request.cpu, "znver3");
  EXPECT_THAT(request.blocks.at(17).bytes, testing::ElementsAre(0x48, 0x83, 0xc4));
  EXPECT_FALSE(request.blocks.at(17).address);
  EXPECT_EQ(request.blocks.at(18).address, 0x401000);
  const std::vector<CoreRequest::Run> runs{{17, 40}, {18, 1}, {17, 3}};  // runs of one block are one, so both lines are the same
  ASSERT_EQ(request.sequences.size(), 1);
  EXPECT_EQ(request.sequences.at(runs), 2);
}

TEST(CoreRequest, saysHowOftenBranchesAreWrong) {
  const CoreRequest request = read("cpu znver3\nblock 17 7400\nblock 18 7400\nwrong 17 2.5\nend\n");
  EXPECT_THAT(request.executions_a_misprediction, testing::ElementsAre(testing::Pair(17, 2.5)));
}

TEST(CoreRequest, isRefusedByItsLine) {
  struct Case {
    std::string text;
    std::vector<std::string> said;
  };
  const std::vector<Case> cases{
      {"", {"line 1:", "the end of the input", "'end'"}},
      {"cpu znver3\n", {"line 2:", "the end of the input"}},
      {"end\n", {"line 1:", "'end'", "cpu NAME"}},
      {"cpu znver3\ncpu znver3\n", {"line 2:", "a second line 'cpu'"}},
      {"cpu\n", {"line 1:", "cpu NAME"}},
      {"cpu znver3\nblok 1 90\nend\n", {"line 2:", "'blok'", "allowed: cpu NAME, block"}},
      {"cpu znver3\nblock 1\nend\n", {"line 2:", "without its bytes"}},
      {"cpu znver3\nblock 1 909\nend\n", {"line 2:", "3 digits", "two a byte"}},
      {"cpu znver3\nblock 1 9z\nend\n", {"line 2:", "'9z'", "hexadecimal"}},
      {"cpu znver3\nblock -1 90\nend\n", {"line 2:", "'-1'", "decimal"}},
      {"cpu znver3\nblock 1 90 q\nend\n", {"line 2:", "'q'", "address"}},
      {"cpu znver3\nblock 1 90 0 0\nend\n", {"line 2:", "behind the last word"}},
      {"cpu znver3\nblock 1 90\nblock 1 90\nend\n", {"line 3:", "block 1 again"}},
      {"cpu znver3\nblock 1 90\nwrong 1\nend\n", {"line 3:", "'wrong' without a number"}},
      {"cpu znver3\nblock 1 90\nwrong 1 0.5\nend\n", {"line 3:", "'0.5'", "1 to 1e6"}},
      {"cpu znver3\nblock 1 90\nwrong 1 nan\nend\n", {"line 3:", "'nan'", "1 to 1e6"}},
      {"cpu znver3\nblock 1 90\nwrong 1 2\nwrong 1 2\nend\n", {"line 4:", "'wrong 1' again"}},
      {"cpu znver3\nblock 1 90\nsequence\nend\n", {"line 3:", "without blocks"}},
      {"cpu znver3\nblock 1 90\nsequence 1*0\nend\n", {"line 3:", "'1*0'", "1 and more"}},
      {"cpu znver3\nblock 1 90\nsequence 1*x\nend\n", {"line 3:", "'x'"}},
      {"cpu znver3\nblock 1 90\nsequence 1*999999 1*2\nend\n", {"line 3:", "more than 1000000 blocks"}},
      {"cpu znver3\nblock 1 90\n\nsequence 1 2\nend\n", {"line 4:", "block 2 in a sequence"}},
  };
  for (const Case& refused : cases) {
    try {
      read(refused.text);
      FAIL() << refused.text;
    } catch (const InputError& error) {
      for (const std::string& words : refused.said) EXPECT_THAT(error.what(), testing::HasSubstr(words)) << refused.text;
      EXPECT_THAT(error.what(), testing::HasSubstr("; allowed: "));
    }
  }
}

}  // namespace
}  // namespace homenode::test
