// Joins consecutive iterations into one block if they differ only by a constant shift of each slot.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "traces/importers/folding.hpp"

namespace homenode {

class BlockJoiner {
public:
  using Intern = std::function<PatternId(const ItemPattern&)>;
  using Emit = std::function<void(const ItemBlock&)>;
  BlockJoiner(Intern intern, Emit emit) : intern_{std::move(intern)}, emit_{std::move(emit)} {}

  // The next iteration.
  void add(FoldedItem);
  // `iterations` that do nothing.
  void add_empty(std::int64_t iterations);
  void finish();

private:
  bool can_join(const FoldedItem&) const;

  Intern intern_;
  Emit emit_;
  FoldedItem first_item_;              // of the open block
  std::vector<std::int64_t> shifts_;   // by slot, known from the second iteration on
  std::int64_t first_ = 0, last_ = 0;  // iterations of the open block
};

}  // namespace homenode
