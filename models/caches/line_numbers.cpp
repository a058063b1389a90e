#include "models/caches/line_numbers.hpp"

#include <string>

#include "sim/base/errors.hpp"

namespace homenode {

LineNumbers::Id LineNumbers::add(LineNumber line) {
  constexpr std::uint64_t most = std::uint64_t{1} << 31;  // a tag keeps one bit for `dirty`
  if (size() + chunk_lines >= most)
    throw UsageError("the trace touches more than " + std::to_string(most) + " cache lines; the caches by lines (`--caches lines`) " +
                     "cannot number them; allowed: `--caches runs`");
  if (2 * (chunks_.size() + 1) > table_.size()) {
    std::vector<Slot> old(table_.size() * 2);
    old.swap(table_);
    for (const Slot& entry : old) {
      if (entry.id == 0) continue;
      std::size_t slot = slot_of(entry.chunk);
      while (table_[slot].id != 0) slot = (slot + 1) & (table_.size() - 1);
      table_[slot] = entry;
    }
  }
  const std::uint64_t chunk = line.value() >> chunk_shift;
  std::size_t slot = slot_of(chunk);
  while (table_[slot].id != 0) slot = (slot + 1) & (table_.size() - 1);
  table_[slot] = {chunk, static_cast<Id>(size()) + 1};
  chunks_.push_back(chunk);
  return table_[slot].id + static_cast<Id>(line.value() & (chunk_lines - 1));
}

}  // namespace homenode
