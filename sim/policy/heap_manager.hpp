// Object -> virtual addresses, with what the call costs. Releases may come from a foreign thread.
#pragma once

#include "sim/address_space.hpp"

namespace homenode {

struct AllocationRequest {
  ObjectId object;
  std::uint64_t bytes = 0, alignment = 1;
  SiteId site;
  std::int32_t owner_hint = -1;
};

struct HeapEffect {
  AddressRange range;
  Time cost;                     // of the call itself
  LockId lock = LockId::none();  // held for `held` during it; none() = lock-free
  Time held;
};

class HeapManager {
public:
  virtual ~HeapManager() = default;
  virtual void prepare(const Machine&, AddressSpace&) {}
  virtual HeapEffect allocate(const AllocationRequest&, const Place&) = 0;
  virtual HeapEffect release(ObjectId, const Place&) = 0;
};

}  // namespace homenode
