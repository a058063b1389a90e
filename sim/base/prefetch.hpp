// Asks the host for memory that is read or written soon.
#pragma once

namespace homenode {

// The empty statement has gcc keep the request: a function that only prefetches is to gcc one without an effect, and calls of it that are
// not inlined are left out (decision 0075).
[[gnu::always_inline]] inline void prefetch_host(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

}  // namespace homenode
