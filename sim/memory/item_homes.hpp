// Homes of what iterations write, as the pages lie at the moment of the question.
#pragma once

#include <memory>

#include "sim/memory/address_space.hpp"
#include "sim/policy/work_distribution.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

// Of each run of stores, a few evenly spaced ones stand for the rest. Objects private to threads have no home, and what the trace
// keeps as irregular accesses is not asked.
class WrittenHomes final : public ItemHomes {
public:
  WrittenHomes(const Workload& workload, std::shared_ptr<const ExecutionBody> body, const AddressSpace& addresses)
      : workload_{workload}, body_{std::move(body)}, addresses_{addresses} {}

  NodeId home(std::int64_t iteration) const override;

private:
  const Workload& workload_;
  std::shared_ptr<const ExecutionBody> body_;
  const AddressSpace& addresses_;
};

}  // namespace homenode
