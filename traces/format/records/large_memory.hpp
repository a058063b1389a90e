// Room for long columns: asked for in large pages where the system offers them, as most of the cost of a fresh buffer is a fault
// for each of its pages.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <iterator>
#include <utility>
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
  std::vector<Element> larger;
  larger.reserve(count);
  if (count * sizeof(Element) >= 2 * large_page) advise_large_pages(larger.data(), count * sizeof(Element));
  larger.insert(larger.end(), std::make_move_iterator(column.begin()), std::make_move_iterator(column.end()));
  column.swap(larger);
}

// push_back of a column whose length is not known: it doubles, as a vector does, in large pages.
template <class Element>
void push_back_large(std::vector<Element>& column, Element element) {
  if (column.size() == column.capacity() && column.size() * sizeof(Element) >= 2 * large_page) reserve_large(column, 2 * column.size());
  column.push_back(std::move(element));
}

}  // namespace homenode::format
