// A heap manager whose blocks Python code places, one call for each call of the program.
#pragma once

#include <memory>

#include "bindings/heap_pages.hpp"
#include "bindings/python_policy.hpp"
#include "sim/policy/heap_manager.hpp"

namespace homenode::python {

// What the code is: `prepare(pages, cores, seed)`, `allocate(object, bytes, alignment, site, owner, place)` and
// `release(object, address, bytes, place)`; `lock_to_allocate`, called as `allocate`, and `lock_to_release(address, bytes, place)` may be
// None. A place is (thread, core, node, time_ps). `allocate` returns (address, cost_ns, held_ns), `release` (cost_ns, held_ns), a lock is
// a number or None.
class PythonHeap final : public HeapManager {
public:
  explicit PythonHeap(PythonPolicy policy) : policy_{std::move(policy)} {}
  ~PythonHeap() override { end_run(); }
  void prepare(const HeapSetting&) override;
  HeapLock lock_to_allocate(const AllocationRequest&, const Place&) override;
  HeapLock lock_to_release(Address, const Place&) override;
  HeapEffect allocate(const AllocationRequest&, const Place&) override;
  HeapEffect release(ObjectId, Address, const Place&) override;
  std::uint64_t reserved_bytes() const override { return pages_->reserved_bytes(); }

private:
  struct Methods {
    KeptObject allocate, release, lock_to_allocate, lock_to_release;  // the locks may be none
  };
  void end_run();
  HeapLock lock_from(const pybind11::object& answer) const;

  PythonPolicy policy_;
  std::shared_ptr<HeapPages> pages_;
  Methods methods_;
};

}  // namespace homenode::python
