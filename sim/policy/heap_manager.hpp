// Object -> virtual addresses, with what the call costs and which lock it takes. Releases may come from a foreign thread.
// Lifecycle: prepare once; then, for each call in simulated-time order, lock_to_... when the thread comes, and allocate or release
// when it has that lock, which it gives up after `held`. The simulation binds the object to the range and applies the operations.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/addresses.hpp"
#include "sim/base/place.hpp"
#include "sim/machine/machine.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

class AddressSpace;

struct AllocationRequest {
  ObjectId object;
  std::uint64_t bytes = 0, alignment = 1;  // at least 1 byte, a power of two
  SiteId site;
  std::int32_t owner_hint = -1;  // thread marked as owner, -1 = none
};

struct HeapLock {
  LockId id = LockId::none();  // none() = lock-free
  // First come, first served; else any thread that waits (a spin lock), drawn from the run's seed.
  bool fair = true;
};

// What a call does to pages. `discard` gives frames back and keeps the addresses (madvise, a shrunk heap), `unmap` both; `forget`
// means only that caches lose the lines, where the address space has done the rest.
struct PageOperation {
  enum class Kind { discard, unmap, forget } kind{};
  AddressRange range;
};

struct HeapEffect {
  AddressRange range;  // of the block
  Time held;           // with the lock
  Time cost;           // of the rest of the call
  std::vector<PageOperation> operations{};
};

struct HeapSetting {
  const Workload& workload;
  const Machine& machine;
  AddressSpace& addresses;
  std::vector<CoreId> core;  // of each thread, as it starts
  std::uint64_t seed = 0;    // of the run: of its frames (physical_memory.hpp)
};

class HeapManager {
public:
  virtual ~HeapManager() = default;
  virtual void prepare(const HeapSetting&) = 0;
  virtual HeapLock lock_to_allocate(const AllocationRequest&, const Place&) { return {}; }
  virtual HeapLock lock_to_release(std::uint64_t /*address*/, const Place&) { return {}; }
  virtual HeapEffect allocate(const AllocationRequest&, const Place&) = 0;
  virtual HeapEffect release(ObjectId, std::uint64_t address, const Place&) = 0;
  // Bytes of the pages that it has from the system and did not give back with `unmap` or `discard`.
  virtual std::uint64_t reserved_bytes() const = 0;
};

}  // namespace homenode
