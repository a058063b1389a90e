#include "sim/hardware/line_moves.hpp"

#include <algorithm>
#include <utility>

namespace homenode {

std::optional<LineMoves> LineMoves::of(std::vector<Object> objects) {
  std::sort(objects.begin(), objects.end(), [](const Object& a, const Object& b) { return a.lines.first < b.lines.first; });
  LineMoves moves;
  for (const Object& object : objects) {
    if (moves.objects_.empty() || moves.objects_.back().lines.last <= object.lines.first) {
      moves.objects_.push_back(object);
      continue;
    }
    Object& before = moves.objects_.back();
    if (before.by != object.by) return std::nullopt;
    before.lines.last = std::max(before.lines.last, object.lines.last);
  }
  return moves;
}

std::size_t LineMoves::object_of(LineNumber line) const {
  const auto behind =
      std::upper_bound(objects_.begin(), objects_.end(), line, [](LineNumber at, const Object& object) { return at < object.lines.first; });
  if (behind == objects_.begin() || std::prev(behind)->lines.last <= line) return objects_.size();
  return static_cast<std::size_t>(std::prev(behind) - objects_.begin());
}

std::optional<std::int64_t> LineMoves::of(LineRange lines) const {
  const auto ends_before = [](const Object& object, LineNumber first) { return object.lines.last <= first; };
  const auto first = std::lower_bound(objects_.begin(), objects_.end(), lines.first, ends_before);
  if (first == objects_.end() || first->lines.first >= lines.last) return 0;
  if (first->lines.first <= lines.first && lines.last <= first->lines.last) return first->by;
  for (auto object = first; object != objects_.end() && object->lines.first < lines.last; ++object)
    if (object->by != 0) return std::nullopt;
  return 0;
}

}  // namespace homenode
