#include "models/run/used_policies.hpp"

#include "models/distribution/register.hpp"
#include "models/heap/register.hpp"
#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"
#include "models/run/distribution_plan.hpp"

namespace homenode {
namespace {

template <class Interface>
UsedPolicy used(const Registry<Interface>& registry, const std::string& text) {
  const std::string name = parse_policy_specs(text).front().name;
  return {registry.kind(), name, registry.is_built_in(name)};
}

}  // namespace

std::vector<UsedPolicy> used_policies(const RunSpec& spec) {
  std::vector<UsedPolicy> found{used(page_placements(), spec.placement), used(thread_mappings(), spec.mapping)};
  for (const std::string& text : DistributionPlan{spec.distribution}.texts()) found.push_back(used(work_distributions(), text));
  if (spec.heap != RunSpec{}.heap) found.push_back(used(heap_managers(), spec.heap));
  return found;
}

}  // namespace homenode
