// The content hash of a trace. Two captures of one program have equal hashes, whatever the host addresses are and wherever the blocks
// are cut. It is taken over a canonical form:
// - regions by their first execution, and their executions in program order;
// - iterations in order, as the fewest blocks that repeat with a constant shift, found greedily from the first iteration;
// - the runs of an iteration with object, absolute offset, shape, and site; sites are numbered by first use in the pattern;
// - an object as (kind, bytes, alignment, its symbol if it is not from the heap, the function that allocated it, its ordinal among
//   objects that agree in these).
// Not part of it: stamps, file names, code and data addresses, work counts, CALIBRATION, OUTSIDE.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode::format {

class ObjectIdentities {
public:
  std::uint64_t add(const TracedObject&, const std::string& allocating_function);

private:
  std::map<std::uint64_t, std::uint64_t> seen_;
};

// A pattern without its slot numbers: the shape of all it does, and the slot and offset of each part.
struct CanonicalPattern {
  struct Position {
    SlotNumber slot;
    std::int64_t offset;
  };
  std::uint64_t shape = 0;
  std::vector<Position> positions;
};
CanonicalPattern canonical(const ItemPattern&);

// Digest of one execution's body, fed block by block in constant memory.
class BodyDigest {
public:
  BodyDigest();
  ~BodyDigest();
  BodyDigest(BodyDigest&&) noexcept;
  BodyDigest& operator=(BodyDigest&&) noexcept;
  void append(const ItemBlock&, const CanonicalPattern&, const std::vector<std::uint64_t>& object_identities);
  std::string finish();

private:
  void emit();
  struct State;
  std::unique_ptr<State> state_;
};

// Of a whole trace from the digests of its executions.
std::string content_hash(const std::vector<Region>&, const std::vector<Execution>&, const std::vector<std::string>& body_digests);

}  // namespace homenode::format

namespace homenode {
// Of any workload, read body by body.
std::string content_hash(const Workload&);
}  // namespace homenode
