#include "models/distribution/register.hpp"

namespace homenode {

#define POLICY(name) PolicyEntry<WorkDistribution> name();
#include "models/distribution/policies.def"
#undef POLICY

const Registry<WorkDistribution>& work_distributions() {
  static const Registry<WorkDistribution> registry = [] {
    Registry<WorkDistribution> r{"distribution"};
#define POLICY(name) r.add(name());
#include "models/distribution/policies.def"
#undef POLICY
    return r;
  }();
  return registry;
}

}  // namespace homenode
