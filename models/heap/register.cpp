#include "models/heap/register.hpp"

namespace homenode {

#define POLICY(name) PolicyEntry<HeapManager> name();
#include "models/heap/policies.def"
#undef POLICY

Registry<HeapManager>& heap_managers() {
  static Registry<HeapManager> registry{"heap",
                                        {
#define POLICY(name) name(),
#include "models/heap/policies.def"
#undef POLICY
                                        }};
  return registry;
}

}  // namespace homenode
