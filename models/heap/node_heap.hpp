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
           bool releases, Time spins)
      : number_{number}, spins_{spins}, pages_{std::move(obtain), obtain_unit, releases} {
    for (std::size_t one = 0; one < sizes.size(); ++one) central_.emplace_back(sizes[one], pages_);
  }
  NodeHeap(const NodeHeap&) = delete;
  NodeHeap& operator=(const NodeHeap&) = delete;

  SpanHeap& pages() { return pages_; }
  const SpanHeap& pages() const { return pages_; }
  std::vector<CentralList>& central() { return central_; }
  std::size_t number() const { return number_; }

  // TCMalloc's spin locks are not fair.
  HeapLock page_lock() const { return {LockId{(number_ + 1) << 16}, false, spins_}; }
  HeapLock central_lock(std::size_t size_class) const { return {LockId{((number_ + 1) << 16) + 1 + size_class}, false, spins_}; }
  // Lock for refilling an empty cache: that of the list, or of the page heap if a new span is needed.
  HeapLock fetch_lock(const BlockCache& cache, std::size_t size_class) const {
    return central_[size_class].has_blocks(cache.next_fetch(size_class)) ? central_lock(size_class) : page_lock();
  }

private:
  std::size_t number_;
  Time spins_;
  SpanHeap pages_;
  std::vector<CentralList> central_;
};

// Costs of TCMalloc's parts. What the fast path costs is documented (heap_costs.hpp), the rest assumed.
struct SpanCosts {
  HeapCosts base;
  Time central;  // of one call to a central list or a page heap
  Time spins;    // at a lock, before the thread sleeps

  static std::vector<ParameterSpec> parameters() {
    std::vector<ParameterSpec> all = HeapCosts::parameters(HeapCosts::tcmalloc_cycles);
    all.push_back(
        integer_parameter("central_cycles", "cycles", "cycles of one call to a central list or page heap (assumed)", 400, 0, 1 << 20));
    all.push_back(integer_parameter(
        "spin_cycles", "cycles",
        "cycles that a thread looks for a lock before it sleeps: 1000 looks, each with a pause (assumed 10 cycles)", 10'000, 0, 1 << 24));
    all.push_back(integer_parameter("release", "0 or 1", "1 = return free pages to the system (TCMALLOC_RELEASE_RATE 1)", 1, 0, 1));
    return all;
  }
  static SpanCosts of(const Parameters& given, const Machine& machine) {
    const auto time = [&](const char* cycles) { return cycles_to_time(static_cast<double>(given.get(cycles)), machine.clock); };
    return {HeapCosts::of(given, machine), time("central_cycles"), time("spin_cycles")};
  }
  // Prices a call. Of the system's pages only whole ones can be given back (TCMalloc_SystemRelease); `calls`: to get memory.
  void price(HeapEffect& effect, const BlockCache::Traffic& traffic, unsigned calls, std::uint64_t page) const {
    for (PageOperation& operation : effect.operations)
      operation.range = {round_up(operation.range.first, page), round_down(operation.range.last, page)};
    std::erase_if(effect.operations, [](const PageOperation& operation) { return operation.range.first >= operation.range.last; });
    effect.held = central * (traffic.central_calls + (traffic.used_page_heap ? 1 : 0));
    effect.map_changes = traffic.grown ? calls : 0;
  }
};

inline std::size_t class_for(const SizeClasses& sizes, const AllocationRequest& request) {
  const bool small = request.bytes <= SizeClasses::most_small && request.alignment <= SizeClasses::page;
  return small ? sizes.of(request.bytes, request.alignment) : ServedBlock::large;
}

// Of a large block.
inline std::uint64_t pages_for(std::uint64_t bytes) { return (bytes + SizeClasses::page - 1) / SizeClasses::page; }

}  // namespace homenode
