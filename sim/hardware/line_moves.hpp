// How far lines move where work repeats: the next round of slices touches what this one did, each object's lines moved by the same number.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/addresses.hpp"

namespace homenode {

class LineMoves {
public:
  struct Object {
    LineRange lines;  // all that it lies on
    std::int64_t by = 0;
  };

  // False where objects that share a line move differently: then nothing can be said of the line. In any order; objects may come twice.
  static std::optional<LineMoves> of(std::vector<Object> objects);

  // Lines of no object do not move. None where one part of the lines moves and another does not, or otherwise.
  std::optional<std::int64_t> of(LineRange) const;
  // The lines, all of one object or none, moved so many times.
  LineRange moved(LineRange lines, std::uint64_t times) const { return shifted(lines, of(lines).value_or(0), times); }
  static LineRange shifted(LineRange lines, std::int64_t by, std::uint64_t times) {
    const std::uint64_t all = static_cast<std::uint64_t>(by) * times;  // modulo 2^64
    return {lines.first + all, lines.last + all};
  }
  // By address, none shares a line with another.
  const std::vector<Object>& objects() const { return objects_; }
  // Whose lines contain the line; objects().size(): none.
  std::size_t object_of(LineNumber) const;

private:
  std::vector<Object> objects_;
};

}  // namespace homenode
