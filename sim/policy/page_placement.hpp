// Page -> home node. A placement is asked in batches: once for the pages that one slice of work faults in, in address order.
// Lifecycle: prepare once, then fault (and observe, wakeup for those that migrate) in simulated-time order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sim/hardware/memory_model.hpp"
#include "sim/machine.hpp"

namespace homenode {

class AccessSummary;  // bytes by thread and page from a stated pilot schedule; two-pass policies only

struct PageFault {
  std::uint64_t page = 0;  // virtual page number
  ObjectId object;
  Place place;  // who touched it, where, when
  bool write = false;
};

struct PageUse {
  std::uint64_t page = 0;
  NodeId from;
  std::uint64_t bytes = 0;
};

class PageActions {  // what a placement may do to pages that exist
public:
  virtual ~PageActions() = default;
  virtual void migrate(std::uint64_t page, NodeId to) = 0;
  virtual void unmap(std::uint64_t page) = 0;
};

class PagePlacement {
public:
  virtual ~PagePlacement() = default;
  virtual bool wants_summary() const { return false; }
  virtual void prepare(const AccessSummary* /*null for online policies*/, const Machine&) {}
  // Writes one home for each fault. Homes must be nodes with memory; anything else is a PolicyError of the caller.
  virtual void fault(std::span<const PageFault>, std::span<NodeId> home) = 0;
  virtual void observe(std::span<const PageUse>, PageActions&) {}
  virtual std::optional<Time> wakeup() const { return std::nullopt; }
};

}  // namespace homenode
