#include "models/heap/register.hpp"

#include "models/policies.hpp"

namespace homenode {

const Registry<HeapManager>& heap_managers() {
  static const Registry<HeapManager> registry = [] {
    Registry<HeapManager> r{"heap"};
    r.add(plain_heap());
    r.add(glibc_heap());
    r.add(tcmalloc_heap());
    r.add(jarena_heap());
    r.add(regular_heap());
    r.add(latency_aware_heap());
    return r;
  }();
  return registry;
}

}  // namespace homenode
