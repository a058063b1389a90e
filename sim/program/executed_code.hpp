// The machine code that a program executed: its basic blocks, how often each ran in each region, and stretches of their sequence. A core
// model (models/core) makes cycles of it. It says nothing of what is accessed, and stands outside the content hash.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/ids.hpp"

namespace homenode {

// A basic block of instrumented code; or what a call of a library's function executes, of one call that was stepped.
struct CodeBlock {
  // Longest encoding of an x86-64 instruction, which is what a stepped instruction has in `bytes`, whatever its own length.
  static constexpr std::size_t stepped_bytes = 15;
  std::string bytes{};  // machine code in order of execution
  bool stepped = false;
  std::uint64_t address = 0;  // of the first byte, from the program's begin: tells data that code addresses by distance apart
  std::uint32_t instructions = 0;
  std::string file{};  // of the source; empty: not known
  std::uint32_t line = 0;
  std::string function{}, library{};  // of a library's code; else empty
  double nanoseconds = 0;             // of a call of it on the host of the capture; 0: not timed
  std::uint32_t calls = 0;            // the library's code that runs at the end of this block: 1 + its place among the blocks; 0: none
};

// From this instruction of a block on, its code is of this line of the source: where that is not the line of the instruction before.
struct CodePlace {
  std::uint32_t block = 0, instruction = 0;
  std::string file{};
  std::uint32_t line = 0;
};

// Blocks as they ran one after the other; each so many times in a row.
struct CodeWindow {
  std::vector<std::uint32_t> blocks{}, times{};
};

struct CodeCount {
  RegionId region;
  std::uint32_t block = 0;
  // Fractions occur, for totals are spread over regions.
  double executions = 0, mispredictions = 0;
};

// Processor time of the program as it is, one thread at a time, on the host of the capture.
struct MeasuredTime {
  std::vector<RegionId> regions;  // those that it is the time of, together: clocks are read where parallel regions begin and end
  double seconds = 0;
};

struct ExecutedCode {
  std::vector<CodeBlock> blocks;
  std::vector<CodePlace> places;  // in order; none: of its blocks' instructions only the first one's line is known
  std::vector<CodeWindow> windows;
  std::vector<CodeCount> counts;
  // Which line of which file an instruction is of; its block's where the trace does not tell. Line 0: not known.
  std::pair<std::string_view, std::uint32_t> line_of(std::uint32_t block, std::uint32_t instruction) const {
    const auto behind =
        std::upper_bound(places.begin(), places.end(), std::pair{block, instruction}, [](const auto& sought, const CodePlace& place) {
          return sought < std::pair{place.block, place.instruction};
        });
    if (behind != places.begin() && std::prev(behind)->block == block) return {std::prev(behind)->file, std::prev(behind)->line};
    return {blocks[block].file, blocks[block].line};
  }
  double host_hertz = 0;            // clock of the capture's host, to which nanoseconds belong; 0: not known
  std::vector<MeasuredTime> times;  // no region is in two
};

}  // namespace homenode
