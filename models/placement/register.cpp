#include "models/placement/register.hpp"

namespace homenode {

#define POLICY(name) PolicyEntry<PagePlacement> name();
#include "models/placement/policies.def"
#undef POLICY

Registry<PagePlacement>& page_placements() {
  static Registry<PagePlacement> registry{"placement",
                                          {
#define POLICY(name) name(),
#include "models/placement/policies.def"
#undef POLICY
                                          }};
  return registry;
}

}  // namespace homenode
