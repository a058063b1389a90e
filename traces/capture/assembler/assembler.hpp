// The recording runtime's stream (stream.h) in, a .hnt file out.
//
// Addresses become (object, offset) through a map of what is alive: heap blocks, globals by the modules' symbol tables, frames,
// thread-local blocks. Work items are folded as they come (folding.hpp), so that memory does not grow with the length of loops.
// Regions: a worksharing loop is free; serial code between parallel constructs is a serial region; code of a parallel construct
// outside its loops is bound to ranks if the program asked for its rank there, else replicated.
// Labels: HOMENODE_LABEL names the next parallel construct, or the serial code up to the next mark when no construct comes
// first; without a mark function#ordinal, ordinals by first appearance; serial code function:serial#ordinal, the function being that
// of its first access.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace homenode {

struct AssembleOptions {
  std::filesystem::path output;  // written to output.part first; an output that ends in .part keeps that name
  std::string program, label;
  std::vector<std::string> arguments;
  std::filesystem::path work;  // the twin's counts (traces/capture/README.md), read when the stream has ended; empty = none
  // Asked when the stream has ended: whether somebody had the program end before its own time. Then the trace is truncated, even if the
  // program caught the request and left in its own way. Empty: nobody did.
  std::function<bool()> was_asked_to_end = {};
};

struct AssembleResult {
  std::string content_hash;
  bool complete = false;  // HN_END came, and nobody had asked for it
  std::uint64_t accesses = 0;
  std::int64_t exit_status = -1;
};

// Reads until end of file. Throws InputError on a stream that breaks the protocol.
AssembleResult assemble(int descriptor, const AssembleOptions&);

}  // namespace homenode
