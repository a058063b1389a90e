// What a parameter allows.
#include "sim/base/parameters.hpp"

#include <gtest/gtest.h>

namespace homenode {
namespace {

TEST(Parameters, ofWordsAreTheNumbersOfTheirWords) {
  const ParameterSpec spec = word_parameter("take", "which", {"oldest", "any", "youngest"});
  EXPECT_EQ(spec.default_value, 0);
  EXPECT_EQ(spec.minimum, 0);
  EXPECT_EQ(spec.maximum, 2);
  EXPECT_EQ(parameter_text(spec, spec.maximum), "youngest");
}

}  // namespace
}  // namespace homenode
