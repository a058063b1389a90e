// Which load reads what which earlier store wrote: no addresses are known, but value numbers are. Each general register holds a root
// (a value that is not known) plus a constant; what adds constants and registers keeps that. Any other operation makes a root, which is
// the same again where it has the same operands. A load whose bytes overlap those of an earlier store at the same root depends on it; at
// different roots they are taken to be independent.
//  - A load of what an earlier instruction stored or loaded at the very address has the same value: pointers that are spilled, or
//    loaded again, stay known.
//  - Numbers of 32 bits are taken for those of 64 bits: indices of arrays, which neither overflow nor are cut.
//  - An address relative to the instruction pointer is known within a block; across blocks if the blocks tell theirs.
//  - call and ret leave the stack pointer alone together, since what is called is often not in the sequence; arguments that are passed on
//    the stack are not followed. After a call of what is not in the sequence, its result is a new root. A callee that is changes registers
//    by its own instructions: compilers keep values in those that it leaves alone (-fipa-ra of gcc, part of -O2).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "models/core/instruction_effects.hpp"

namespace homenode {

class ValueWalk {
public:
  explicit ValueWalk(std::uint32_t stores_in_flight) : stores_in_flight_{stores_in_flight} { forget(); }

  // Where an instruction stands, for addresses relative to it: `code` says which addresses of code can be compared.
  struct Place {
    std::uint64_t code = 0;
    std::int64_t next = 0;  // address of the instruction after it
    bool is_exact = false;  // else only the same address matches, not one that overlaps
    bool enters = false;    // a call whose callee's instructions come next
  };
  struct Step {
    bool is_merged = false;  // it reads from stores, and none of them has all of its bytes
    std::uint64_t line = 0;  // a number of the cache line that it stores to, where places whose values are not known begin a line; 0: none
  };
  // Goes on by one instruction, the `number`-th; the stores that it reads from are appended, if they can still be in flight.
  Step step(const InstructionEffects&, const Place&, std::uint32_t number, std::vector<std::uint32_t>& stores);
  // All registers and all of memory become unknown.
  void forget();

private:
  struct Value {
    std::uint32_t root = 0;  // 0: a constant
    std::int64_t offset = 0;
    bool operator==(const Value&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Value& value) const {
      return (static_cast<std::size_t>(value.root) * 0x9e3779b97f4a7c15U) ^ static_cast<std::size_t>(value.offset) * 0xff51afd7ed558ccdU;
    }
  };
  struct Cell {  // what was last stored or loaded
    Value address, content;
    unsigned width = 0;
    std::uint32_t store = 0, store_count = 0;  // the instruction's number, and which store of the window it was
    bool is_stored = false;
  };

  // What an instruction's operation is done with, and which of its results it is.
  struct Made {
    std::uint64_t what = 0;
    std::array<Value, 6> operands{};
    unsigned result = 0;
    bool operator==(const Made&) const = default;
  };
  struct MadeHash {
    std::size_t operator()(const Made& made) const {
      std::size_t sum = static_cast<std::size_t>(made.what) + made.result;
      for (const Value& operand : made.operands) sum = sum * 0x9e3779b97f4a7c15U + Hash{}(operand);
      return sum;
    }
  };

  Value fresh() { return {++roots_, 0}; }
  Made operands_of(const InstructionEffects&, const Value& from_memory);
  Value made(Made, unsigned result);  // fresh where `what` is 0
  Value combined(const Value& base, const Value& index, std::int64_t scale);
  Value address_of(const MemoryOperand&, const Place&);
  static std::uint64_t line_of(const Value& address);
  struct Loaded {
    Value content;
    bool is_merged = false;
  };
  Loaded loaded(const Value& address, unsigned width, std::vector<std::uint32_t>& stores);
  void store(const Value& address, unsigned width, const Value& content, std::uint32_t number);
  void remember(const Cell&);
  void set(int target, const Value& value) {
    if (target >= 0) registers_[static_cast<std::size_t>(target)] = value;
  }
  Value get(int source) { return source >= 0 ? registers_[static_cast<std::size_t>(source)] : fresh(); }
  void assign(const InstructionEffects&, const Value& address, const Value& from_memory, const Made&, bool enters);
  Value stored(const InstructionEffects&, const Value& from_memory, const Made&);

  std::uint32_t stores_in_flight_;
  std::uint32_t roots_ = 0, store_count_ = 0;
  std::array<Value, Operation::flags + 1> registers_{};
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::uint32_t> combinations_;
  std::unordered_map<Made, std::uint32_t, MadeHash> made_;
  std::unordered_map<std::uint64_t, std::uint32_t> code_roots_;
  std::vector<Cell> cells_;
  std::unordered_map<Value, std::uint32_t, Hash> memory_;  // each byte's cell
};

}  // namespace homenode
