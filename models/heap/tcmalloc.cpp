// TCMalloc of gperftools 2.x: a cache a thread, a central list a size class, one page heap. It knows nothing of nodes: a block freed
// goes to the cache of who frees it, a span to whoever asks next, and its frames stay where they were first written (S1 section 5.1).
#include <unordered_map>

#include "models/heap/node_heap.hpp"
#include "models/heap/register.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {
namespace {

class TcMalloc final : public HeapManager {
public:
  explicit TcMalloc(const Parameters& parameters) : given_{parameters} {}

  void prepare(const HeapSetting& setting) override {
    addresses_ = &setting.addresses;
    costs_ = SpanCosts::of(given_, setting.machine);
    const auto obtain = [this](std::uint64_t bytes) { return addresses_->reserve(bytes, SpanHeap::page); };
    heap_ = std::make_unique<NodeHeap>(0, sizes_, obtain, std::max(addresses_->page_bytes(), SpanHeap::page), given_.get("release") != 0,
                                       costs_.spins);
  }

  HeapLock lock_to_allocate(const AllocationRequest& request, const Place& place) override {
    const std::size_t size_class = class_for(sizes_, request);
    if (size_class == ServedBlock::large) return heap_->page_lock();
    const BlockCache& cache = cache_of(place.thread);
    return cache.has(size_class) ? HeapLock{} : heap_->fetch_lock(cache, size_class);
  }
  HeapLock lock_to_release(Address address, const Place& place) override {
    const ServedBlock& block = blocks_.at(address);
    if (block.size_class == ServedBlock::large) return heap_->page_lock();
    return cache_of(place.thread).would_overflow(block.size_class) ? heap_->central_lock(block.size_class) : HeapLock{};
  }

  HeapEffect allocate(const AllocationRequest& request, const Place& place) override {
    HeapEffect effect;
    BlockCache::Traffic traffic;
    const std::size_t size_class = class_for(sizes_, request);
    Address address;
    ServedBlock block{0, size_class, 0};
    if (size_class == ServedBlock::large) {
      block.pages = pages_for(request.bytes);
      const SpanHeap::Span span = heap_->pages().take_aligned(block.pages, request.alignment / SpanHeap::page, effect.operations);
      address = SpanHeap::first_byte(span.first);
      traffic = {0, true, span.grown};
    } else {
      address = cache_of(place.thread).take(size_class, traffic, effect.operations);
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
    if (block.size_class == ServedBlock::large) {
      heap_->pages().give(SpanHeap::page_at(address), block.pages, effect.operations);
      traffic.used_page_heap = true;
    } else {
      cache_of(place.thread).give(block.size_class, address, traffic, effect.operations);
    }
    return priced(std::move(effect), traffic);
  }

  std::uint64_t reserved_bytes() const override { return heap_->pages().system_bytes() - heap_->pages().returned_bytes(); }

private:
  BlockCache& cache_of(ThreadId thread) {
    if (caches_.size() <= thread.index()) caches_.resize(thread.index() + 1);
    auto& cache = caches_[thread.index()];
    if (!cache) cache = std::make_unique<BlockCache>(sizes_, heap_->central(), budget_);
    return *cache;
  }
  HeapEffect priced(HeapEffect effect, const BlockCache::Traffic& traffic) const {
    costs_.price(effect, traffic, 1, addresses_->page_bytes());  // sbrk
    effect.cost = costs_.base.call;
    return effect;
  }

  const Parameters given_;
  const SizeClasses sizes_;
  SpanCosts costs_;
  AddressSpace* addresses_ = nullptr;
  std::unique_ptr<NodeHeap> heap_;
  CacheBudget budget_;
  std::vector<std::unique_ptr<BlockCache>> caches_;  // by thread
  std::unordered_map<Address, ServedBlock> blocks_;  // by address
};

}  // namespace

PolicyEntry<HeapManager> tcmalloc_heap() {
  return {.name = "tcmalloc",
          .description = "gperftools' TCMalloc: a cache for each thread, one page heap for all nodes",
          .parameters = SpanCosts::parameters(),
          .make = [](const Parameters& given) { return std::make_unique<TcMalloc>(given); },
          .examples = {"tcmalloc:release=0"}};
}

}  // namespace homenode
