#include "models/heap/register.hpp"

namespace homenode {

#define POLICY(name) PolicyEntry<HeapManager> name();
#include "models/heap/policies.def"
#undef POLICY

const Registry<HeapManager>& heap_managers() {
  static const Registry<HeapManager> registry = [] {
    Registry<HeapManager> r{"heap"};
#define POLICY(name) r.add(name());
#include "models/heap/policies.def"
#undef POLICY
    return r;
  }();
  return registry;
}

}  // namespace homenode
