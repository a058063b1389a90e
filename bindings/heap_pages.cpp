#include "bindings/heap_pages.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>
#include <utility>

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

constexpr std::uint64_t least_alignment = 8, most_bytes = std::uint64_t{1} << 46;

std::string range_text(std::uint64_t first, std::uint64_t last) { return std::to_string(first) + " to " + std::to_string(last); }

}  // namespace

AddressSpace& HeapPages::space() const {
  if (addresses_ == nullptr) throw UsageError(who_ + " asks for pages after its run; allowed: in prepare, allocate and release");
  return *addresses_;
}

std::uint64_t HeapPages::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes == 0 || bytes > most_bytes || !std::has_single_bit(alignment) || alignment > most_bytes)
    throw PolicyError(who_ + " reserves " + std::to_string(bytes) + " bytes aligned to " + std::to_string(alignment) +
                      "; allowed: 1 byte to 64 TiB, aligned to a power of two");
  const AddressRange pages = space().reserve(bytes, alignment);
  pages_[pages.first.value()] = pages.last.value();
  reserved_bytes_ += pages.size();
  return pages.first.value();
}

std::map<std::uint64_t, std::uint64_t>::iterator HeapPages::pages_with(std::uint64_t first, std::uint64_t last) {
  auto found = pages_.upper_bound(first);
  if (found == pages_.begin()) return pages_.end();
  --found;
  return last <= found->second ? found : pages_.end();
}

void HeapPages::require_pages(std::uint64_t first, std::uint64_t bytes, const char* what) {
  const std::uint64_t page = page_bytes();
  if (bytes == 0 || first % page != 0 || bytes % page != 0 || pages_with(first, first + bytes) == pages_.end())
    throw PolicyError(who_ + " " + what + " addresses " + range_text(first, first + bytes) + "; allowed: whole pages of " +
                      std::to_string(page) + " bytes that one call of reserve gave it");
}

void HeapPages::unmap(std::uint64_t first, std::uint64_t bytes) {
  require_pages(first, bytes, "unmaps");
  const std::uint64_t last = first + bytes;
  const auto behind = blocks_.lower_bound(first);
  const bool ends_inside = behind != blocks_.begin() && std::prev(behind)->second > first;
  if (ends_inside || (behind != blocks_.end() && behind->first < last))
    throw PolicyError(who_ + " unmaps addresses " + range_text(first, last) + ", on which a block lies; allowed: pages without blocks");
  const auto pages = pages_with(first, last);
  const auto [begin, end] = *pages;
  pages_.erase(pages);
  if (begin < first) pages_[begin] = first;
  if (last < end) pages_[last] = end;
  reserved_bytes_ -= bytes;
  operations_.push_back({PageOperation::Kind::unmap, AddressRange::of(Address{first}, bytes)});
}

void HeapPages::bind(std::uint64_t first, std::uint64_t bytes, std::uint32_t node) {
  require_pages(first, bytes, "binds");
  if (node >= space().nodes())
    throw PolicyError(who_ + " binds pages to node " + std::to_string(node) + "; allowed: 0 to " + std::to_string(space().nodes() - 1));
  // Page by page, so that any part of them may be bound again or given back.
  for (std::uint64_t page = first; page < first + bytes; page += page_bytes())
    space().bind_pages(AddressRange::of(Address{page}, page_bytes()), NodeId{node});
}

AddressRange HeapPages::add_block(std::uint64_t first, const AllocationRequest& request) {
  const std::uint64_t last = first + request.bytes, alignment = std::max(request.alignment, least_alignment);
  if (first % alignment != 0)
    throw PolicyError(who_ + " put a block at address " + std::to_string(first) + "; allowed: multiples of " + std::to_string(alignment));
  if (last < first || pages_with(first, last) == pages_.end())
    throw PolicyError(who_ + " put a block at addresses " + range_text(first, last) + "; allowed: inside what one call of reserve gave it");
  const auto behind = blocks_.lower_bound(first);
  if ((behind != blocks_.end() && behind->first < last) || (behind != blocks_.begin() && std::prev(behind)->second > first))
    throw PolicyError(who_ + " put a block at addresses " + range_text(first, last) + ", where another one lives");
  blocks_.emplace_hint(behind, first, last);
  return AddressRange::of(Address{first}, request.bytes);
}

std::uint64_t HeapPages::remove_block(std::uint64_t first) {
  const std::uint64_t bytes = bytes_of_block(first);
  blocks_.erase(first);
  return bytes;
}

std::vector<PageOperation> HeapPages::take_operations() { return std::exchange(operations_, {}); }

void bind_heap_pages(py::module_& module) {
  py::class_<HeapPages, std::shared_ptr<HeapPages>>(module, "HeapPages")
      .def("reserve", &HeapPages::reserve, "bytes"_a, "alignment"_a = 1)
      .def("unmap", &HeapPages::unmap, "first"_a, "bytes"_a)
      .def("bind", &HeapPages::bind, "first"_a, "bytes"_a, "node"_a)
      .def_property_readonly("page_bytes", &HeapPages::page_bytes)
      .def_property_readonly("reserved_bytes", &HeapPages::reserved_bytes);
}

}  // namespace homenode::python
