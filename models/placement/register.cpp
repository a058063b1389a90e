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
    r.add(carrefour());
    r.add(preferred());
    r.add(weighted_interleave());
    r.add(stencil_aware());
    r.add(optimal());
    return r;
  }();
  return registry;
}

}  // namespace homenode
