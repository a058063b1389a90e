#include "traces/format/touched_bytes.hpp"

#include <algorithm>

namespace homenode {

void TouchedBytes::add(const ExecutionBody& body) {
  for (const ItemBlock& block : body.blocks) {
    extents_.for_each(block, [this](ObjectId object, const ByteExtent& bytes) {
      if (object.index() >= of_object_.size()) return;
      OfObject& touched = of_object_[object.index()];
      if (!touched.extents.empty() && touched.extents.back().first <= bytes.first && bytes.last <= touched.extents.back().last) return;
      touched.extents.push_back(bytes);
      if (touched.extents.size() > 2 * touched.merged + 1024) merge(touched);
    });
  }
}

// Extents that overlap or adjoin become one.
void TouchedBytes::merge(OfObject& touched) {
  auto& extents = touched.extents;
  std::sort(extents.begin(), extents.end(), [](const ByteExtent& a, const ByteExtent& b) { return a.first < b.first; });
  std::vector<ByteExtent> whole;
  for (const ByteExtent& extent : extents) {
    if (!whole.empty() && extent.first <= whole.back().last)
      whole.back().add(extent);
    else
      whole.push_back(extent);
  }
  extents = std::move(whole);
  touched.merged = extents.size();
}

std::uint64_t TouchedBytes::total() {
  std::uint64_t bytes = 0;
  for (OfObject& touched : of_object_) {
    merge(touched);
    for (const ByteExtent& extent : touched.extents) bytes += static_cast<std::uint64_t>(extent.size());
  }
  return bytes;
}

}  // namespace homenode
