// Home nodes of the data that iterations write, at the time of the call.
#pragma once

#include <memory>

#include "sim/memory/address_space.hpp"
#include "sim/policy/work_distribution.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

// A few evenly spaced stores stand for each run of stores. Thread-private objects have no home. Irregular accesses are ignored.
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
