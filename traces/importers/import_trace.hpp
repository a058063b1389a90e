// Traces made by other tools, as .hnt files. The input is read twice: first to check it and to find which addresses form an object,
// then to fold it and write the trace. An output that cannot be finished is removed.
//
//   lackey                one serial region
//   csv without owner     one serial region
//   csv with `thread`     one region bound to the ranks of a team; thread numbers in ascending order are the ranks
//   csv with `item`       one loop, whose iterations are the items and may go to any thread
//
// Memory is bounded by ImportOptions::most_held. When so many accesses and runs are held, the serial region, or the thread's part of a
// bound region, is written as one execution, and another one begins. An item is one iteration and has to be held whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "traces/importers/objects.hpp"

namespace homenode {

struct ImportOptions {
  std::filesystem::path input, output;
  std::function<void(std::uint64_t bytes, std::uint64_t of)> progress;  // now and then; may throw to end the import
  std::size_t most_held = std::size_t{1} << 18;                         // accesses and runs that do not fold, of all threads
};

struct ImportResult {
  std::string content_hash;
  bool complete = true;
  std::uint64_t accesses = 0;
  std::vector<AddressRanges::Range> objects;  // by object
  std::vector<std::uint64_t> threads;         // their numbers in the input, by rank; empty without a thread column
  std::vector<std::string> lacks;             // names of sim/program/recorded.hpp
};

ImportResult import_lackey(const ImportOptions&);
ImportResult import_csv(const ImportOptions&);

}  // namespace homenode
