// What lies behind TCMalloc's caches: a page heap and a central list for each size class. TCMalloc has one, JArena one a NUMA node.
#pragma once

#include "models/heap/block_cache.hpp"
#include "models/heap/heap_costs.hpp"

namespace homenode {

// Where a served block belongs.
struct ServedBlock {
  static constexpr std::size_t large = ~std::size_t{0};
  std::size_t heap = 0, size_class = large;
  std::uint64_t pages = 0;  // of a large one
};

class NodeHeap {
public:
  NodeHeap(std::size_t number, const SizeClasses& sizes, std::function<AddressRange(std::uint64_t)> obtain, std::uint64_t obtain_unit,
           bool releases)
      : number_{number}, pages_{std::move(obtain), obtain_unit, releases} {
    for (std::size_t one = 0; one < sizes.size(); ++one) central_.emplace_back(sizes[one], pages_);
  }
  NodeHeap(const NodeHeap&) = delete;
  NodeHeap& operator=(const NodeHeap&) = delete;

  SpanHeap& pages() { return pages_; }
  const SpanHeap& pages() const { return pages_; }
  std::vector<CentralList>& central() { return central_; }
  std::size_t number() const { return number_; }

  // TCMalloc's spin locks are not fair.
  HeapLock page_lock() const { return {LockId{(number_ + 1) << 16}, false}; }
  HeapLock central_lock(std::size_t size_class) const { return {LockId{((number_ + 1) << 16) + 1 + size_class}, false}; }
  // Lock for refilling an empty cache: that of the list, or of the page heap if a new span is needed.
  HeapLock fetch_lock(const BlockCache& cache, std::size_t size_class) const {
    return central_[size_class].has_blocks(cache.next_fetch(size_class)) ? central_lock(size_class) : page_lock();
  }

private:
  std::size_t number_;
  SpanHeap pages_;
  std::vector<CentralList> central_;
};

// Costs of TCMalloc's parts. What the fast path costs is documented (heap_costs.hpp), the rest assumed.
struct SpanCosts {
  HeapCosts base;
  Time central;  // of one call to a central list or a page heap

  static std::vector<ParameterSpec> parameters() {
    std::vector<ParameterSpec> all = HeapCosts::parameters(HeapCosts::tcmalloc_cycles);
    all.push_back(
        integer_parameter("central_cycles", "cycles", "cycles of one call to a central list or page heap (assumed)", 400, 0, 1 << 20));
    return all;
  }
  static SpanCosts of(const Parameters& given, const Machine& machine) {
    return {HeapCosts::of(given, machine), cycles_to_time(static_cast<double>(given.get("central_cycles")), machine.clock)};
  }
  // What the lock is held for.
  Time held(const BlockCache::Traffic& traffic, unsigned system_calls, const std::vector<PageOperation>& operations,
            std::uint64_t page_bytes) const {
    Time time = central * (traffic.central_calls + (traffic.used_page_heap ? 1 : 0));
    time += base.system_call * (system_calls * (traffic.grown ? 1 : 0));
    for (const PageOperation& operation : operations)
      time += base.system_call + base.page * static_cast<std::int64_t>(operation.range.size() / page_bytes);
    return time;
  }
};

inline std::size_t class_for(const SizeClasses& sizes, const AllocationRequest& request) {
  const bool small = request.bytes <= SizeClasses::most_small && request.alignment <= SizeClasses::page;
  return small ? sizes.of(request.bytes, request.alignment) : ServedBlock::large;
}

// Of a large block.
inline std::uint64_t pages_for(std::uint64_t bytes) { return (bytes + SizeClasses::page - 1) / SizeClasses::page; }

}  // namespace homenode
