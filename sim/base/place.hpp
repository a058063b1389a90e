// Who runs where, and when.
#pragma once

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"

namespace homenode {

struct Place {
  ThreadId thread;
  CoreId core;
  NodeId node;
  Time now;
};

}  // namespace homenode
