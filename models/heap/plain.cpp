// What a run has without a heap manager: small blocks packed by thread, pages of their own for large ones, no cost. What is freed serves
// blocks of the same size, with its pages.
#include "models/heap/register.hpp"
#include "sim/memory/packed_heap.hpp"

namespace homenode {

PolicyEntry<HeapManager> plain_heap() {
  return {.name = "plain",
          .description = "no heap manager: small blocks packed by thread, large ones on pages of their own; calls cost nothing",
          .parameters = {},
          .make = [](const Parameters&) { return std::make_unique<PackedHeap>(); },
          .examples = {},
          .deviations = {{"any alignment", "a page at most"}}};
}

}  // namespace homenode
