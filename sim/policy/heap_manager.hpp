// Object -> virtual addresses, with the cost of the call and the lock it takes. A block may be released by another thread.
// Lifecycle: prepare once. Then for each call, in the order of simulated time: lock_to_... when the thread calls, allocate or release
// when it has that lock; it holds the lock for `held`. The simulation binds the object to the range and applies the operations.
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
  // True: first come, first served. False: a spin lock, which who is near or comes just then gets before others that wait (call_lock.hpp).
  bool fair = true;
  Time spins = Time::max();  // of a spin lock: for so long a thread looks for it before it sleeps
};

// What a call does to pages, one call of the system each. `discard` gives frames back and keeps the addresses (madvise, which leaves the
// memory map alone), `shrink` does so by changing the map (brk), `unmap` gives both back; `forget` is no call: caches lose the lines,
// the address space has done the rest.
struct PageOperation {
  enum class Kind { discard, shrink, unmap, forget } kind{};
  AddressRange range;
};

struct HeapEffect {
  AddressRange range;  // of the block
  Time held;           // with the lock, without calls of the system: the simulation adds those (MappingCost)
  Time cost;           // of the rest of the call
  std::vector<PageOperation> operations{};
  unsigned map_changes = 0;             // further calls that change the memory map: mmap, brk, mprotect, mbind
  std::vector<AddressRange> written{};  // that the heap itself writes, such as headers: the calling thread touches them first
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
  virtual HeapLock lock_to_release(Address, const Place&) { return {}; }
  virtual HeapEffect allocate(const AllocationRequest&, const Place&) = 0;
  virtual HeapEffect release(ObjectId, Address, const Place&) = 0;
  // Bytes of the pages that the heap has from the system and has not given back by `unmap` or `discard`.
  virtual std::uint64_t reserved_bytes() const = 0;
};

}  // namespace homenode
