#include "models/placement/register.hpp"

namespace homenode {

#define POLICY(name) PolicyEntry<PagePlacement> name();
#include "models/placement/policies.def"
#undef POLICY

const Registry<PagePlacement>& page_placements() {
  static const Registry<PagePlacement> registry = [] {
    Registry<PagePlacement> r{"placement"};
#define POLICY(name) r.add(name());
#include "models/placement/policies.def"
#undef POLICY
    return r;
  }();
  return registry;
}

}  // namespace homenode
