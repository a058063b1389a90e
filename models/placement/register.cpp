#include "models/placement/register.hpp"

#include "models/policies.hpp"

namespace homenode {

const Registry<PagePlacement>& page_placements() {
  static const Registry<PagePlacement> registry = [] {
    Registry<PagePlacement> r{"placement"};
    r.add(first_touch());
    r.add(interleave());
    r.add(bind());
    r.add(autonuma());
    return r;
  }();
  return registry;
}

}  // namespace homenode
