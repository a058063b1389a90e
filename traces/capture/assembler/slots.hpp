// Objects numbered in the order of their first use: one multiplication and mostly one look, where a tree would take its depth.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/ids.hpp"

namespace homenode {

class SlotsOfObjects {
public:
  // The number of `object`, which is `next` if it has none yet.
  std::uint32_t find_or_add(ObjectId object, std::uint32_t next) {
    if (2 * (used_.size() + 1) > table_.size()) grow();
    Entry& entry = table_[place(object)];
    if (entry.object.is_none()) {
      entry = {object, next};
      used_.push_back(object);
    }
    return entry.number;
  }
  // Costs what was used.
  void clear() {
    if (used_.size() > largest_kept) {
      table_ = {};
    } else {
      // From the last to the first: each is found before what stood in its way is gone.
      for (std::size_t i = used_.size(); i-- > 0;) table_[place(used_[i])] = {};
    }
    used_.clear();
  }

private:
  struct Entry {
    ObjectId object = ObjectId::none();
    std::uint32_t number = 0;
  };
  static constexpr std::size_t largest_kept = 1 << 12;
  std::size_t place(ObjectId object) const {
    std::size_t at = (object.value() * std::uint64_t{0x9E3779B97F4A7C15}) >> 32;
    while (at &= table_.size() - 1, !table_[at].object.is_none() && table_[at].object != object) ++at;
    return at;
  }
  void grow() {
    std::vector<Entry> old(table_.empty() ? 64 : 2 * table_.size());
    old.swap(table_);
    for (const Entry& entry : old) {
      if (!entry.object.is_none()) table_[place(entry.object)] = entry;
    }
  }

  std::vector<Entry> table_;  // open addressing, at most half full
  std::vector<ObjectId> used_;
};

}  // namespace homenode
