// Addresses become objects: a trace made elsewhere does not say which bytes belong together.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace homenode {

// The rule: touched pages of 4096 bytes with less than or exactly 1 MiB of untouched bytes between them are one object. An
// object begins and ends at pages, so that the pages of a replay are those of the program. Objects are numbered in the order of
// their first access, which does not depend on where the system put them.
class AddressRanges {
public:
  static constexpr std::uint64_t page = 4096, largest_gap = std::uint64_t{1} << 20;

  struct Range {
    std::uint64_t first = 0, last = 0;  // addresses of its first byte and of its last one
    std::uint64_t bytes() const { return last - first + 1; }
    bool contains(std::uint64_t address) const { return address >= first && address <= last; }
  };

  // Before seal(): `bytes` from `address` on were accessed; the last of them has an address, too.
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
