// What an importer reads: accesses one after the other, in the order of the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/program/recorded.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

struct ImportedAccess {
  static constexpr std::uint64_t widest = 512;  // bytes: what one x86 instruction accesses at most (fxsave, valgrind's MAX_DSIZE)

  std::uint64_t owner = 0;         // thread or item
  std::uint64_t address = 0;       // of its first byte; the last one has an address, too
  std::uint64_t site = 0;          // address of the instruction
  std::uint64_t instructions = 0;  // executed since the access before, this one's included
  std::uint16_t width = 0;
  AccessKind kind = AccessKind::read;
};

class ImportSource {
public:
  // What `owner` of an access means. one: nothing, the program is serial. threads: the thread that makes it. items: the item it
  // belongs to; any thread may run an item, and the input lists items in the order of their numbers.
  enum class Owners : std::uint8_t { one, threads, items };

  virtual ~ImportSource() = default;
  // False at the end; then `instructions` counts those after the last access. Throws InputError with file and line.
  virtual bool next(ImportedAccess&) = 0;
  virtual Owners owners() const = 0;
  virtual bool has_sites() const = 0;
  virtual std::vector<Recorded> lacks() const = 0;
  virtual std::string tool() const = 0;
  virtual std::uint64_t bytes_read() const = 0;
  [[noreturn]] virtual void fail(const std::string& message) const = 0;  // at the last access

  // After the last access:
  virtual bool complete() const { return true; }
  virtual std::string program() const { return {}; }  // empty: the file does not tell
  virtual std::string arguments() const { return {}; }
};

}  // namespace homenode
