// JArena (S1 section 4): a heap a NUMA node over TCMalloc's design. A request is served by the cache of the owner's core, behind it the
// lists and pages of that core's node; pages are bound to their node, so none holds blocks for two. A free goes to the freeing core's
// cache if the block is of its node, else to the central list of the node that owns it. Every lock is a node's or a core's, except that
// of the page allocator. Frames go back as in TCMalloc, whose page heap it has (S1 section 4 names no change of that); pages stay bound.
#include <unordered_map>

#include "models/heap/node_heap.hpp"
#include "models/heap/owners.hpp"
#include "models/heap/register.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/program/workload.hpp"

namespace homenode {
namespace {

class JArena final : public HeapManager {
public:
  explicit JArena(const Parameters& parameters) : given_{parameters}, rule_{static_cast<OwnerRule>(parameters.get("owner"))} {}

  void prepare(const HeapSetting& setting) override {
    addresses_ = &setting.addresses;
    costs_ = SpanCosts::of(given_, setting.machine);
    objects_ = &setting.workload.objects;
    for (const CoreId core : setting.core) node_of_thread_.push_back(setting.machine.node_of(core));
    if (rule_ == OwnerRule::inferred) inferred_ = owners_by_use(setting.workload, setting.core.size());
    const std::uint64_t unit = std::max(addresses_->page_bytes(), SpanHeap::page);
    for (std::size_t node = 0; node < setting.machine.nodes.size(); ++node) {
      const auto obtain = [this, node, unit](std::uint64_t bytes) {
        const AddressRange pages = addresses_->reserve(bytes, unit);
        addresses_->bind_pages(pages, NodeId{node});
        return pages;
      };
      heaps_.push_back(std::make_unique<NodeHeap>(node, sizes_, obtain, unit, given_.get("release") != 0, costs_.spins));
    }
    caches_.resize(setting.core.size());
  }

  HeapLock lock_to_allocate(const AllocationRequest& request, const Place& place) override {
    const ThreadId owner = owner_of(request, place.thread);
    const std::size_t size_class = class_for(sizes_, request);
    NodeHeap& heap = *heaps_[node_of(owner).index()];
    if (size_class == ServedBlock::large) return heap.page_lock();
    const BlockCache& cache = cache_of(owner);
    return cache.has(size_class) ? cache_lock(owner) : heap.fetch_lock(cache, size_class);
  }
  HeapLock lock_to_release(Address address, const Place& place) override {
    const ServedBlock& block = blocks_.at(address);
    NodeHeap& heap = *heaps_[block.heap];
    if (block.size_class == ServedBlock::large) return heap.page_lock();
    const bool home = node_of(place.thread).index() == block.heap;
    return home && !cache_of(place.thread).would_overflow(block.size_class) ? cache_lock(place.thread)
                                                                            : heap.central_lock(block.size_class);
  }

  HeapEffect allocate(const AllocationRequest& request, const Place& place) override {
    HeapEffect effect;
    BlockCache::Traffic traffic;
    const ThreadId owner = owner_of(request, place.thread);
    const std::size_t size_class = class_for(sizes_, request);
    ServedBlock block{node_of(owner).index(), size_class, 0};
    Address address;
    if (size_class == ServedBlock::large) {
      block.pages = pages_for(request.bytes);
      const SpanHeap::Span span =
          heaps_[block.heap]->pages().take_aligned(block.pages, request.alignment / SpanHeap::page, effect.operations);
      address = SpanHeap::first_byte(span.first);
      traffic = {0, true, span.grown};
    } else {
      address = cache_of(owner).take(size_class, traffic, effect.operations);
    }
    blocks_[address] = block;
    effect.range = AddressRange::of(address, request.bytes);
    return priced(std::move(effect), traffic);
  }

  HeapEffect release(ObjectId, Address address, const Place& place) override {
    HeapEffect effect;
    BlockCache::Traffic traffic;
    const ServedBlock block = blocks_.at(address);
    blocks_.erase(address);
    NodeHeap& heap = *heaps_[block.heap];
    if (block.size_class == ServedBlock::large) {
      heap.pages().give(SpanHeap::page_at(address), block.pages, effect.operations);
      traffic.used_page_heap = true;
    } else if (node_of(place.thread).index() == block.heap) {
      cache_of(place.thread).give(block.size_class, address, traffic, effect.operations);
    } else {
      traffic.used_page_heap = heap.central()[block.size_class].insert({address}, effect.operations);
      traffic.central_calls = 1;
    }
    return priced(std::move(effect), traffic);
  }

  std::uint64_t reserved_bytes() const override {
    std::uint64_t bytes = 0;
    for (const auto& heap : heaps_) bytes += heap->pages().system_bytes() - heap->pages().returned_bytes();
    return bytes;
  }

private:
  NodeId node_of(ThreadId thread) const { return node_of_thread_.at(thread.index()); }
  HeapLock cache_lock(ThreadId thread) const { return {LockId{(std::size_t{1} << 41) + thread.index()}, false, costs_.spins}; }

  ThreadId owner_of(const AllocationRequest& request, ThreadId caller) const {
    std::int32_t owner = -1;
    if (rule_ == OwnerRule::marked) owner = request.owner_hint;
    if (rule_ == OwnerRule::inferred && request.object.index() < inferred_.size()) owner = inferred_[request.object.index()];
    if (owner < 0) return caller;
    if (static_cast<std::size_t>(owner) >= node_of_thread_.size()) {
      throw UsageError("block '" + (*objects_)[request.object.index()].symbol + "' is marked as thread " + std::to_string(owner) +
                       "'s, of " + std::to_string(node_of_thread_.size()) + " threads; allowed: 0 to " +
                       std::to_string(node_of_thread_.size() - 1) + ", or --heap jarena:owner=caller");
    }
    return ThreadId{static_cast<std::size_t>(owner)};
  }
  BlockCache& cache_of(ThreadId thread) {
    auto& cache = caches_.at(thread.index());
    if (!cache) cache = std::make_unique<BlockCache>(sizes_, heaps_[node_of(thread).index()]->central(), budget_);
    return *cache;
  }
  HeapEffect priced(HeapEffect effect, const BlockCache::Traffic& traffic) const {
    costs_.price(effect, traffic, 2, addresses_->page_bytes());  // mmap and mbind
    // The cache's own lock is held for its instructions, too: other threads allocate from it.
    effect.held += costs_.base.call;
    return effect;
  }

  const Parameters given_;
  const OwnerRule rule_;
  const SizeClasses sizes_;
  SpanCosts costs_;
  AddressSpace* addresses_ = nullptr;
  const std::vector<TracedObject>* objects_ = nullptr;
  std::vector<NodeId> node_of_thread_;
  std::vector<std::int32_t> inferred_;  // by object
  std::vector<std::unique_ptr<NodeHeap>> heaps_;
  CacheBudget budget_;
  std::vector<std::unique_ptr<BlockCache>> caches_;  // by thread, which stands for its core
  std::unordered_map<Address, ServedBlock> blocks_;  // by address
};

}  // namespace

PolicyEntry<HeapManager> jarena_heap() {
  std::vector<ParameterSpec> parameters{
      word_parameter("owner", "owner of a block: as the program marks it (else the caller), the thread that uses it most, or the caller",
                     {"marked", "inferred", "caller"})};
  for (ParameterSpec& cost : SpanCosts::parameters()) parameters.push_back(std::move(cost));
  return {.name = "jarena",
          .description = "JArena (Yang et al.): one heap for each node, whose pages are bound to it",
          .parameters = parameters,
          .make = [](const Parameters& given) { return std::make_unique<JArena>(given); },
          .examples = {"jarena:owner=caller", "jarena:release=0"}};
}

}  // namespace homenode
