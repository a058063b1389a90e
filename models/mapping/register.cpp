#include "models/mapping/register.hpp"

namespace homenode {

#define POLICY(name) PolicyEntry<ThreadMapping> name();
#include "models/mapping/policies.def"
#undef POLICY

Registry<ThreadMapping>& thread_mappings() {
  static Registry<ThreadMapping> registry{"mapping",
                                          {
#define POLICY(name) name(),
#include "models/mapping/policies.def"
#undef POLICY
                                          }};
  return registry;
}

}  // namespace homenode
