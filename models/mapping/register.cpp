#include "models/mapping/register.hpp"

namespace homenode {

#define POLICY(name) PolicyEntry<ThreadMapping> name();
#include "models/mapping/policies.def"
#undef POLICY

const Registry<ThreadMapping>& thread_mappings() {
  static const Registry<ThreadMapping> registry = [] {
    Registry<ThreadMapping> r{"mapping"};
#define POLICY(name) r.add(name());
#include "models/mapping/policies.def"
#undef POLICY
    return r;
  }();
  return registry;
}

}  // namespace homenode
