// The body of the execution whose slices run: slices follow each other within an execution, and a body may have to be decoded.
#pragma once

#include <memory>

#include "sim/program/workload.hpp"

namespace homenode {

class CurrentBody {
public:
  // The workload must outlive it.
  explicit CurrentBody(const Workload& workload) : workload_{workload} {}

  const std::shared_ptr<const ExecutionBody>& of(ExecutionId execution) {
    if (execution_ != execution) {
      body_ = workload_.body(execution);
      execution_ = execution;
    }
    return body_;
  }

private:
  const Workload& workload_;
  ExecutionId execution_ = ExecutionId::none();
  std::shared_ptr<const ExecutionBody> body_;
};

}  // namespace homenode
