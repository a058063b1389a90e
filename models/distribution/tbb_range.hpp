// What TBB's partitioners divide: a range of blocks in rows and columns, and their rules for how far (TBB 3.0, blocked_range3d.h,
// partitioner.h; the range's third dimension is one block long in Wittmann and Hager 2010, section 3.1).
#pragma once

#include <cstdint>

namespace homenode {

struct TbbRange {
  std::int64_t first_row = 0, last_row = 0, first_column = 0, last_column = 0;
  // Of auto_partitioner: into how many chunks to divide it still. Stolen ranges are divided into four at least, again and again, because
  // the part that the thief keeps counts as stolen.
  std::uint64_t chunks = 1;
  bool stolen = false;
  // Of affinity_partitioner: its entries of the map from parts of the loop to threads; 16 a thread.
  std::uint64_t first_part = 0, last_part = 0;

  bool divisible() const { return last_row - first_row > 1 || last_column - first_column > 1; }

  bool whole() {
    constexpr std::uint64_t of_a_victim = 4;
    if (stolen && chunks < of_a_victim) chunks = of_a_victim;
    return chunks == 1 || !divisible();
  }

  // Halves the longer side; keeps the first half and returns the second.
  TbbRange split() {
    TbbRange second = *this;
    if (last_row - first_row >= last_column - first_column) {
      last_row = second.first_row = first_row + (last_row - first_row) / 2;
    } else {
      last_column = second.first_column = first_column + (last_column - first_column) / 2;
    }
    second.stolen = false;
    second.chunks = chunks /= 2;
    std::uint64_t half = (last_part - first_part) / 2;
    if (half > parts_a_thread) half -= half % parts_a_thread;
    last_part = second.first_part = second.last_part - half;
    return second;
  }

  // The second halves of a range that is just one thread's entries stay out of others' reach until its first part is done.
  bool delays() const { return first_part % parts_a_thread == 0 && last_part - first_part - 1 < parts_a_thread; }

  static constexpr std::uint64_t parts_a_thread = 16;
};

}  // namespace homenode
