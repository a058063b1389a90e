// The content hash of a trace: equal for two captures of the same program, whatever the host addresses were and however the
// blocks were cut.
// Canonical form: regions by their first execution; their executions in program order; iterations in order, as the fewest
// blocks that repeat with a constant shift (found greedily from the first iteration); within an iteration the runs with object,
// absolute offset, shape, and their site numbered by first use in the pattern. An object is known by (kind, bytes, alignment,
// its symbol if it is not from the heap, the function that allocated it, its ordinal among objects that agree in these).
// Stamps, file names, code and data addresses, work counts and CALIBRATION are not part of it.
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

// What stays of a pattern when its slots are taken away: the shape of all it does, and where each part of it lies.
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
