// Memory for the simulator's tables that are read at random: requests huge pages of the host, to avoid its TLB misses.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace homenode {

template <class Value>
struct LargePageAllocator {
  using value_type = Value;
  static constexpr std::size_t page = std::size_t{2} << 20, line = 64;  // of the host

  LargePageAllocator() = default;
  template <class Other>
  LargePageAllocator(const LargePageAllocator<Other>&) {}

  Value* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(Value);
    if (bytes < page) return static_cast<Value*>(::operator new (bytes, std::align_val_t{line}));
    void* memory = ::operator new (bytes, std::align_val_t{page});
    // Advice only: where it is refused, small pages do.
    static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
    return static_cast<Value*>(memory);
  }
  void deallocate(Value* memory, std::size_t count) {
    ::operator delete (memory, std::align_val_t{count * sizeof(Value) < page ? line : page});
  }
  template <class Other>
  bool operator==(const LargePageAllocator<Other>&) const {
    return true;
  }
};

}  // namespace homenode
