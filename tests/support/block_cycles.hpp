// Cycles of a block of code that is executed again and again, by the model of a core.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "models/core/core_request.hpp"
#include "models/core/core_times.hpp"

namespace homenode::test {

// `bytes`: of the block, in hexadecimal digits; two hundred times in a row.
inline double block_cycles(const std::string& bytes, const std::string& cpu) {
  std::istringstream input{"cpu " + cpu + "\nblock 1 " + bytes + "\nsequence 1*200\nend\n"};
  return core_times(read_core_request(input)).blocks.at(1).cycles;
}

inline std::string times(int count, const std::string& bytes) {
  std::string all;
  for (int i = 0; i < count; ++i) all += bytes;
  return all;
}

// `loops`: bytes, and the cycles that they take.
inline void expect_cycles(const std::vector<std::pair<std::string, double>>& loops, const std::string& cpu) {
  for (const auto& [bytes, measured] : loops) EXPECT_NEAR(block_cycles(bytes, cpu), measured, 0.05) << bytes;
}

}  // namespace homenode::test
