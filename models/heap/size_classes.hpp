// The sizes that TCMalloc rounds small blocks up to, how many pages a span of them has and how many blocks move between caches at once:
// gperftools 2.x, common.cc (SizeMap::Init), with pages of 8 KiB and at most 32 blocks a transfer (its default from 2.6 on).
#pragma once

#include <cstdint>
#include <vector>

namespace homenode {

class SizeClasses {
public:
  static constexpr std::uint64_t page = 8192, most_small = 256 * 1024;
  struct Class {
    std::uint64_t bytes = 0, pages = 0;
    std::size_t batch = 0;  // blocks of one transfer
  };

  SizeClasses();
  // The class of a block of so many bytes, at most most_small, whose addresses are multiples of `alignment`, at most a page.
  std::size_t of(std::uint64_t bytes, std::uint64_t alignment) const;
  const Class& operator[](std::size_t index) const { return classes_[index]; }
  std::size_t size() const { return classes_.size(); }

private:
  std::vector<Class> classes_;  // by size
};

}  // namespace homenode
