// What homenode-mca reads: a CPU, blocks of code, and sequences in which they were executed. README.md has the lines.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace homenode {

struct CoreRequest {
  struct Block {
    std::vector<std::uint8_t> bytes;
    std::optional<std::uint64_t> address;
    // Each instruction begins a piece of `stepped_bytes`, of which what is behind it means nothing: code that was stepped.
    bool stepped = false;
  };
  static constexpr std::size_t stepped_bytes = 15;
  struct Run {
    std::uint64_t block = 0, count = 1;
    auto operator<=>(const Run&) const = default;
  };
  std::string cpu;
  std::map<std::uint64_t, Block> blocks;
  std::map<std::vector<Run>, std::uint64_t> sequences;  // and how often each was given
  // By block: of so many executions of its last instruction, a branch, one is predicted wrong. The others have none.
  std::map<std::uint64_t, double> executions_a_misprediction;

  static constexpr std::uint64_t most_executions = 1'000'000;  // of blocks in one sequence
};

// Throws InputError with the line's number.
CoreRequest read_core_request(std::istream&);

}  // namespace homenode
