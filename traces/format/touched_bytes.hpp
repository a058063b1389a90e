// How much of its objects a program touches.
#pragma once

#include <cstdint>
#include <vector>

#include "traces/format/block_extents.hpp"

namespace homenode {

// Bytes between the first and the last byte that each block of iterations touches of each object, overlaps counted once.
// Objects private to threads count once.
class TouchedBytes {
public:
  explicit TouchedBytes(const Workload& workload) : extents_{workload}, of_object_(workload.objects.size()) {}
  void add(const ExecutionBody&);
  std::uint64_t total();

private:
  struct OfObject {
    std::vector<ByteExtent> extents;
    std::size_t merged = 0;  // how many were left when they were last merged
  };
  static void merge(OfObject&);

  BlockExtents extents_;
  std::vector<OfObject> of_object_;
};

}  // namespace homenode
