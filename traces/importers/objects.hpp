// Divides the touched addresses into objects: a trace made by another tool does not say which bytes form one.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace homenode {

// Touched pages of 4096 bytes are one object if at most 1 MiB of untouched bytes lies between them. An object begins and ends at
// page borders: so the pages of a replay are the program's. Objects are numbered by their first access, which does not depend on
// their addresses.
class AddressRanges {
public:
  static constexpr std::uint64_t page = 4096, largest_gap = std::uint64_t{1} << 20;

  struct Range {
    std::uint64_t first = 0, last = 0;  // addresses of its first byte and of its last one
    std::uint64_t bytes() const { return last - first + 1; }
    bool contains(std::uint64_t address) const { return address >= first && address <= last; }
  };

  // Before seal(): `bytes` from `address` on were accessed. They do not wrap around the end of the address space.
  void touch(std::uint64_t address, std::uint64_t bytes);
  void seal();
  // After seal().
  const std::vector<Range>& objects() const { return objects_; }
  // Number of the object that an address lies in; objects().size() if it was not touched.
  std::size_t object_of(std::uint64_t address);

private:
  struct Found {
    std::uint64_t last = 0;
    std::uint64_t order = 0;  // of its first access
  };
  using Ranges = std::map<std::uint64_t, Found>;  // by first address
  Ranges ranges_;
  Ranges::iterator recent_ = ranges_.end();
  std::uint64_t touches_ = 0;
  std::vector<Range> objects_;
  std::map<std::uint64_t, std::size_t> by_last_;  // last address -> object
  std::size_t recent_object_ = 0;
};

}  // namespace homenode
