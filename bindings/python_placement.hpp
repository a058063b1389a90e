// A page placement whose decisions Python code makes, one call for a batch of faults, and for a batch of uses.
#pragma once

#include <optional>

#include "bindings/python_policy.hpp"
#include "sim/policy/page_placement.hpp"

namespace homenode::python {

// What else than faults a placement is told.
struct Watching {
  Watch watch = Watch::nothing;
  bool wakes = false;
};

// The code gets one structured NumPy array (fields page, object, thread, core, node, time_ps, write, pages) and returns one
// node for each fault. If it watches, `observe(uses, place, pages)` gets another one (page, home, read_bytes, written_bytes), the place
// (thread, core, node, time_ps) and MappedPages. If it wakes, `wakeup_ps()` is asked behind each call for the time of the next
// `wake(place, pages)`, or None. Wrong type, length or node, and every exception, become a PolicyError.
class PythonPlacement final : public PagePlacement {
public:
  PythonPlacement(PythonPolicy policy, Watching watching) : policy_{std::move(policy)}, watching_{watching} {}
  void prepare(const AccessSummary*, const Machine& machine) override;
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override;
  Watch watches() const override { return watching_.watch; }
  void observe(const Place&, std::span<const PageUse>, PageActions&) override;
  std::optional<Time> wakeup() const override { return wakeup_; }
  void wake(const Place&, PageActions&) override;

private:
  template <class Work>
  void with_pages(PageActions&, const Work&);
  void note_wakeup();

  PythonPolicy policy_;
  Watching watching_;
  Machine machine_;
  KeptObject place_;            // made at the first fault
  std::optional<Time> wakeup_;  // none before that
};

}  // namespace homenode::python
