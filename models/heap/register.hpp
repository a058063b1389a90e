// Every heap by name.
#pragma once

#include "sim/base/registry.hpp"
#include "sim/policy/heap_manager.hpp"

namespace homenode {

Registry<HeapManager>& heap_managers();

}  // namespace homenode
