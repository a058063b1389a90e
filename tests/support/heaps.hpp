// A heap manager with pages of its own to serve from, driven call by call without a simulation.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/heap/register.hpp"
#include "models/placement/register.hpp"
#include "sim/machine/machine.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/program/workload.hpp"

namespace homenode::test {

class HeapObjects final : public Workload {
public:
  std::shared_ptr<const ExecutionBody> body(ExecutionId) const override { return nullptr; }
};

// `nodes` nodes of two cores each, thread t on core t; objects are made as they are allocated, at most `room` of them. A heap that
// refuses this machine has all cores on the ring of one node.
class HeapBench {
public:
  explicit HeapBench(std::string_view heap, std::size_t nodes = 2, std::uint64_t page = 4096, std::size_t room = 4096,
                     std::uint64_t most_bytes = 4096)
      : placement_{page_placements().make("first-touch")} {
    workload.objects.assign(room, {ObjectKind::heap, false, most_bytes, 16, SiteId{}, "block", ObjectId::none(), -1});
    try {
      build(heap, nodes, page, false);
    } catch (const UsageError&) { build(heap, nodes, page, true); }
  }

  Place on(std::size_t thread) const { return {ThreadId{thread}, CoreId{thread}, machine.node_of(CoreId{thread}), Time{}}; }

  struct Block {
    ObjectId object;
    AddressRange range;
    HeapEffect effect;
  };
  Block allocate(std::size_t thread, std::uint64_t bytes, std::uint64_t alignment = 1, std::int32_t owner = -1) {
    Block block{ObjectId{next_++}, {}, {}};
    TracedObject& object = workload.objects.at(block.object.index());
    object.bytes = bytes;
    object.alignment = alignment;
    object.owner_hint = owner;
    const AllocationRequest request{block.object, bytes, alignment, SiteId{}, owner};
    lock = manager->lock_to_allocate(request, on(thread)).id;
    block.effect = manager->allocate(request, on(thread));
    block.range = block.effect.range;
    apply(block.effect);
    const std::size_t owning = owner >= 0 ? static_cast<std::size_t>(owner) : thread;
    addresses->bind_object(block.object, ThreadId{thread}, block.range, on(owning).node);
    return block;
  }
  HeapEffect release(std::size_t thread, const Block& block) {
    lock = manager->lock_to_release(block.range.first, on(thread)).id;
    HeapEffect effect = manager->release(block.object, block.range.first, on(thread));
    if (addresses->placed(block.object)) addresses->unbind_object(block.object, ThreadId{thread});
    apply(effect);
    return effect;
  }
  void write(std::size_t thread, const Block& block) { addresses->touch(block.range, true, on(thread)); }

  Machine machine;
  HeapObjects workload;
  std::unique_ptr<HeapManager> manager;
  std::unique_ptr<AddressSpace> addresses;
  LockId lock;  // of the last call

private:
  void build(std::string_view heap, std::size_t nodes, std::uint64_t page, bool on_ring) {
    machine = {};
    machine.name = "bench";
    machine.clock = Frequency::hertz(1e9);
    std::vector<CoreId> cores;
    for (std::size_t n = 0; n < nodes; ++n) {
      if (n == 0 || !on_ring) machine.nodes.push_back({SocketId{n}, Bytes{std::int64_t{1} << 30}, Time::nanoseconds(60), {}});
      for (int core = 0; core < 2; ++core) {
        machine.core_node.push_back(NodeId{on_ring ? 0 : n});
        cores.push_back(CoreId{cores.size()});
      }
    }
    if (on_ring) add_ring();
    placement_->prepare(nullptr, machine);
    addresses = std::make_unique<AddressSpace>(machine, workload, *placement_, Bytes{static_cast<std::int64_t>(page)});
    manager = heap_managers().make(heap);
    manager->prepare({workload, machine, *addresses, cores});
  }
  void add_ring() {
    for (unsigned level = 1; level <= 2; ++level) {
      machine.caches.emplace_back();
      machine.caches.back().level = level;
    }
    machine.controllers.assign(2, {NodeId{0}, Bandwidth::bytes_per_second(1e9), Bandwidth::bytes_per_second(1e9), {}});
    machine.core_to_core_local = Time::nanoseconds(50);
    machine.ring.emplace();
    machine.ring->directories = 8;
    machine.ring->hop = Time::nanoseconds(1);
  }
  void apply(const HeapEffect& effect) {
    for (const PageOperation& operation : effect.operations) {
      if (operation.kind == PageOperation::Kind::discard || operation.kind == PageOperation::Kind::shrink)
        addresses->discard(operation.range);
      if (operation.kind == PageOperation::Kind::unmap) addresses->unmap(operation.range);
    }
  }
  std::unique_ptr<PagePlacement> placement_;
  std::size_t next_ = 0;
};

}  // namespace homenode::test
