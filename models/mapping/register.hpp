// One declaration a mapping; its line in register.cpp makes it known by name.
#pragma once

#include "sim/policy/thread_mapping.hpp"
#include "sim/registry.hpp"

namespace homenode {

PolicyEntry<ThreadMapping> btdm();
PolicyEntry<ThreadMapping> compact();
PolicyEntry<ThreadMapping> cores();
PolicyEntry<ThreadMapping> greedy();
PolicyEntry<ThreadMapping> scatter();
PolicyEntry<ThreadMapping> scotch();
PolicyEntry<ThreadMapping> treematch();
PolicyEntry<ThreadMapping> unpinned();

}  // namespace homenode
