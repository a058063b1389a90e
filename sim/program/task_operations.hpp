// Which operations of an iteration concern tasks: they create them, wait for them or group them.
#pragma once

#include "sim/program/workload.hpp"

namespace homenode {

inline bool is_of_tasks(const SyncEvent& event) {
  switch (event.operation) {
    case SyncOperation::depend:
    case SyncOperation::task_submit:
    case SyncOperation::task_wait:
    case SyncOperation::task_group_begin:
    case SyncOperation::task_group_end: return true;
    default: return false;
  }
}

}  // namespace homenode
