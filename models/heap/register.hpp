// One declaration a heap manager; its line in register.cpp makes it known by name.
#pragma once

#include "sim/policy/heap_manager.hpp"
#include "sim/registry.hpp"

namespace homenode {

PolicyEntry<HeapManager> plain_heap();
PolicyEntry<HeapManager> glibc_heap();
PolicyEntry<HeapManager> tcmalloc_heap();
PolicyEntry<HeapManager> jarena_heap();
PolicyEntry<HeapManager> regular_heap();
PolicyEntry<HeapManager> latency_aware_heap();

}  // namespace homenode
