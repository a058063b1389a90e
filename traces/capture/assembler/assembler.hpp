// The recording runtime's stream (stream.h) in, a .hnt file out.
//
// An address becomes (object, offset) by a map of live objects: heap blocks, globals of the modules' symbol tables, frames,
// thread-local blocks. Work items are folded as they arrive (folding.hpp): memory does not grow with the length of loops.
//
// Regions:
// - the iterations of a worksharing loop may be run by any thread;
// - serial code between parallel constructs is a serial region;
// - code of a parallel construct outside its loops is bound to ranks if the program has asked for its rank before its end and its ranks do
//   not do the same, or if they create tasks; else it is replicated.
//
// Labels:
// - HOMENODE_LABEL names the next parallel construct. If another mark comes first, it names the serial code up to that mark.
// - A construct without a label is function#ordinal, by first appearance.
// - A construct in a parallel region has its name and a number: the k-th place in its source is .k (place 0 has none), the code that
//   follows a construct or a barrier :code. One place is one region, however often the parallel region comes to it.
// - Serial code without a label is function:serial:line, by its first access or, without any, its first heap call; function:serial#ordinal
//   where the line is unknown. If it is the whole program, it is main:serial.
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
  std::filesystem::path work;  // the twin's counts (traces/capture/runtime/README.md), read when the stream has ended; empty = none
  // How the program ended. Called when the stream and the counts have ended. Empty: nobody knows.
  struct Ending {
    bool asked = false;  // by somebody: the trace is marked truncated, even if the program caught the request and ended in its own way
    std::string why;     // "ended by signal 9 (SIGKILL)"; kept if the trace is truncated and the program said nothing itself
  };
  std::function<Ending()> ending = {};
  // Runs, and accesses in no run, from which serial code and the code of a created thread are cut into iterations: what one does is held
  // in memory.
  std::size_t long_item = std::size_t{1} << 21;
};

struct AssembleResult {
  std::string content_hash;
  bool has_begun = false;  // the runtime has said a word: a program that was compiled for tracing ran
  bool complete = false;   // HN_END came, and nobody had asked for it
  std::uint64_t accesses = 0;
  std::int64_t exit_status = -1;
};

// Reads until end of file. Throws InputError on a stream that breaks the protocol.
AssembleResult assemble(int descriptor, const AssembleOptions&);

}  // namespace homenode
