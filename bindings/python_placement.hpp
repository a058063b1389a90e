// A page placement whose decisions a Python function makes, one call for a batch of faults.
#pragma once

#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "sim/policy/page_placement.hpp"

namespace homenode::python {

// The function gets one structured NumPy array (fields page, object, thread, core, node, time_ps, write) and returns one
// node for each fault. Wrong type, length or node, and every exception, become a PolicyError.
class PythonPlacement final : public PagePlacement {
public:
  PythonPlacement(std::string name, pybind11::object place) : name_{std::move(name)}, place_{std::move(place)} {}
  void prepare(const AccessSummary*, const Machine& machine) override;
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override;

private:
  std::string name_;
  pybind11::object place_;
  std::vector<bool> has_memory_;  // by node
};

}  // namespace homenode::python
