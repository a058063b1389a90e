// Room for long columns: asked for in large pages where the system offers them, as most of the cost of a fresh buffer is a fault
// for each of its pages.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <vector>

namespace homenode::format {

inline constexpr std::size_t large_page = std::size_t{2} << 20;

// Advice only: nothing depends on whether it is followed.
inline void advise_large_pages(const void* data, std::size_t bytes) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + large_page - 1) / large_page * large_page;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / large_page * large_page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // NOLINT(performance-no-int-to-ptr)
}

template <class Element>
void reserve_large(std::vector<Element>& column, std::size_t count) {
  if (count <= column.capacity()) return;
  column.reserve(count);
  if (count * sizeof(Element) >= 2 * large_page) advise_large_pages(column.data(), count * sizeof(Element));
}

}  // namespace homenode::format
