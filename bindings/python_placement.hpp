// A page placement whose decisions a Python function makes, one call for a batch of faults.
#pragma once

#include "bindings/python_policy.hpp"
#include "sim/policy/page_placement.hpp"

namespace homenode::python {

// The function gets one structured NumPy array (fields page, object, thread, core, node, time_ps, write, pages) and returns one
// node for each fault. Wrong type, length or node, and every exception, become a PolicyError.
class PythonPlacement final : public PagePlacement {
public:
  explicit PythonPlacement(PythonPolicy policy) : policy_{std::move(policy)} {}
  void prepare(const AccessSummary*, const Machine& machine) override;
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override;

private:
  PythonPolicy policy_;
  Machine machine_;
  KeptObject place_;  // made at the first fault
};

}  // namespace homenode::python
