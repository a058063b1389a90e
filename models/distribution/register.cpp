#include "models/distribution/register.hpp"

namespace homenode {

#define POLICY(name) PolicyEntry<WorkDistribution> name();
#include "models/distribution/policies.def"
#undef POLICY

Registry<WorkDistribution>& work_distributions() {
  static Registry<WorkDistribution> registry{"distribution",
                                             {
#define POLICY(name) name(),
#include "models/distribution/policies.def"
#undef POLICY
                                             }};
  return registry;
}

}  // namespace homenode
