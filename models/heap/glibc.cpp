// ptmalloc of glibc 2.10 to 2.36: an arena a thread, the first thread's by brk; large requests by mmap, from a threshold that rises to
// the largest such block freed (mallopt(3): M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_TOP_PAD, M_ARENA_MAX, M_MMAP_MAX), and a cache of each
// thread for small blocks (since 2.26). malloc writes the header of the chunk and of the one behind it, so that the caller may be the first
// on a page of another thread's block. A foreign free goes to the arena of the block. realloc allocates anew and frees.
#include <algorithm>
#include <memory>
#include <unordered_map>

#include "models/heap/glibc_arena.hpp"
#include "models/heap/heap_costs.hpp"
#include "models/heap/register.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/program/workload.hpp"

namespace homenode {
namespace {

constexpr std::uint64_t threshold_most = std::uint64_t{32} << 20;  // DEFAULT_MMAP_THRESHOLD_MAX on 64 bits: mallopt(3)
constexpr std::uint64_t maps_most = 65536;                         // M_MMAP_MAX
constexpr std::uint64_t cached_most = 1040;                        // chunk of tcache_max_bytes = 1032
constexpr std::uint64_t brk_most = std::uint64_t{64} << 30;        // assumed room below the first mapping

class Glibc final : public HeapManager {
public:
  explicit Glibc(const Parameters& parameters)
      : given_{parameters},
        threshold_{static_cast<std::uint64_t>(parameters.bytes("mmap_threshold").count())},
        trim_threshold_{static_cast<std::uint64_t>(parameters.bytes("trim_threshold").count())},
        top_pad_{static_cast<std::uint64_t>(parameters.bytes("top_pad").count())},
        cached_blocks_{static_cast<std::size_t>(parameters.get("tcache"))} {}

  void prepare(const HeapSetting& setting) override {
    addresses_ = &setting.addresses;
    costs_ = HeapCosts::of(given_, setting.machine);
    cached_call_ = cycles_to_time(static_cast<double>(HeapCosts::ptmalloc_cached_cycles), setting.machine.clock);
    const auto arenas = static_cast<std::size_t>(given_.get("arenas"));
    arenas_most_ = arenas > 0 ? arenas : std::size_t{8} * setting.machine.cores();
    // Every block at once, twice over for what lies between them; beyond it the arena goes on by mmap, as glibc does.
    std::uint64_t bytes = 0;
    for (const TracedObject& object : setting.workload.objects)
      if (object.kind == ObjectKind::heap) bytes += GlibcArena::chunk_size(object.bytes);
    const std::uint64_t room = std::min(2 * bytes + 4 * top_pad_ + (std::uint64_t{1} << 20), brk_most);
    arenas_.push_back(std::make_unique<GlibcArena>(*addresses_, round_up(room, addresses_->page_bytes())));
  }

  HeapLock lock_to_allocate(const AllocationRequest& request, const Place& place) override {
    const std::uint64_t size = size_for(request);
    if (cache_hit(request, place)) return {};
    const std::size_t arena = arena_of(place.thread);
    return by_map(*arenas_[arena], size) ? HeapLock{} : HeapLock{LockId{arena}};
  }
  HeapLock lock_to_release(Address address, const Place& place) override {
    const Block& block = blocks_.at(address);
    if (block.arena == mapped) return {};
    return cacheable(arenas_[block.arena]->size_of(block.chunk), place.thread) ? HeapLock{} : HeapLock{LockId{block.arena}};
  }

  HeapEffect allocate(const AllocationRequest& request, const Place& place) override {
    if (cache_hit(request, place)) {
      std::vector<Cached>& bin = bins(place.thread)[size_for(request)];
      const Cached cached = bin.back();
      bin.pop_back();
      HeapEffect effect = served(request, cached.chunk + GlibcArena::header, {cached.arena, cached.chunk});
      effect.cost = cached_call_;
      return effect;
    }
    const std::size_t index = arena_of(place.thread);
    GlibcArena& arena = *arenas_[index];
    const std::uint64_t size = size_for(request);
    unsigned map_changes = 0;
    std::optional<Address> chunk;
    if (!by_map(arena, size)) {
      chunk = arena.take(size);
      if (!chunk) {
        ++map_changes;  // brk, mprotect or mmap
        if (arena.grow(size, top_pad_)) chunk = arena.take(size);
      }
    }
    if (!chunk) return map(request, size, map_changes);
    Address begin = *chunk;
    if (request.alignment > GlibcArena::header) {
      begin = round_up(*chunk + GlibcArena::header, request.alignment) - GlibcArena::header;
      if (begin != *chunk && begin - *chunk < GlibcArena::least_chunk) begin += request.alignment;
      arena.carve(*chunk, begin, GlibcArena::chunk_size(request.bytes));
    }
    HeapEffect effect = served(request, begin + GlibcArena::header, {index, begin});
    effect.held = costs_.call;
    effect.map_changes = map_changes;
    // Its own header, and the next one's: that of what was cut off, or that its neighbour is in use.
    effect.written = {size_field(begin), size_field(begin + arena.size_of(begin))};
    return effect;
  }

  HeapEffect release(ObjectId, Address address, const Place& place) override {
    const Block block = blocks_.at(address);
    blocks_.erase(address);
    HeapEffect effect;
    if (block.arena == mapped) {
      const AddressRange pages = AddressRange::of(block.chunk, block.pages);
      if (given_.get("dynamic") != 0 && block.size > threshold_ && block.size <= threshold_most) {
        threshold_ = block.size;
        trim_threshold_ = 2 * threshold_;
      }
      mapped_bytes_ -= block.pages;
      --maps_;
      effect.operations.push_back({PageOperation::Kind::unmap, pages});
      effect.cost = costs_.call;
    } else if (const std::uint64_t size = arenas_[block.arena]->size_of(block.chunk); cacheable(size, place.thread)) {
      bins(place.thread)[size].push_back({block.arena, block.chunk});
      effect.cost = cached_call_;
    } else {
      arenas_[block.arena]->release(block.chunk, trim_threshold_, top_pad_, effect.operations);
      effect.held = costs_.call;
    }
    return effect;
  }

  std::uint64_t reserved_bytes() const override {
    std::uint64_t bytes = mapped_bytes_;
    for (const auto& arena : arenas_) bytes += arena->committed_bytes();
    return bytes;
  }

private:
  static constexpr std::size_t mapped = ~std::size_t{0};
  struct Block {
    std::size_t arena = 0;              // or `mapped`
    Address chunk;                      // address of the header; of the first page
    std::uint64_t size = 0, pages = 0;  // mapped only: of the chunk as glibc counts it, and in bytes of pages
  };
  struct Cached {
    std::size_t arena;
    Address chunk;
  };
  using Bins = std::unordered_map<std::uint64_t, std::vector<Cached>>;  // by chunk size

  static std::uint64_t size_for(const AllocationRequest& request) {
    return request.alignment <= GlibcArena::header
               ? GlibcArena::chunk_size(request.bytes)
               : GlibcArena::chunk_size(GlibcArena::chunk_size(request.bytes) + request.alignment + GlibcArena::least_chunk);
  }
  bool by_map(const GlibcArena& arena, std::uint64_t size) const {
    return size >= threshold_ && maps_ < maps_most && !arena.can_serve(size);
  }
  Bins& bins(ThreadId thread) {
    if (bins_.size() <= thread.index()) bins_.resize(thread.index() + 1);
    return bins_[thread.index()];
  }
  bool cache_hit(const AllocationRequest& request, const Place& place) {
    if (request.alignment > GlibcArena::header || cached_blocks_ == 0) return false;
    const Bins& own = bins(place.thread);
    const auto bin = own.find(size_for(request));
    return bin != own.end() && !bin->second.empty();
  }
  bool cacheable(std::uint64_t size, ThreadId thread) { return size <= cached_most && bins(thread)[size].size() < cached_blocks_; }

  // arena_get2: the first thread has the main arena, others one of their own while there are fewer than the limit, then they share.
  std::size_t arena_of(ThreadId thread) {
    if (arena_of_thread_.size() <= thread.index()) arena_of_thread_.resize(thread.index() + 1, mapped);
    std::size_t& arena = arena_of_thread_[thread.index()];
    if (arena != mapped) return arena;
    if (thread.index() == 0) return arena = 0;
    if (arenas_.size() < arenas_most_) {
      arenas_.push_back(std::make_unique<GlibcArena>(*addresses_, 0));
      return arena = arenas_.size() - 1;
    }
    return arena = next_shared_++ % arenas_.size();
  }

  // Of a chunk: the word that its header writes.
  static AddressRange size_field(Address chunk) { return AddressRange::of(chunk + 8, 8); }

  HeapEffect map(const AllocationRequest& request, std::uint64_t size, unsigned map_changes) {
    const std::uint64_t chunk = round_up(size + 8, addresses_->page_bytes());
    const AddressRange pages = addresses_->reserve(chunk);
    ++maps_;
    mapped_bytes_ += chunk;
    const Address user = round_up(pages.first + GlibcArena::header, std::max(request.alignment, GlibcArena::header));
    const std::uint64_t counted =
        chunk - (user - GlibcArena::header - pages.first);  // what lies before an aligned block is not in its size
    HeapEffect effect = served(request, user, {mapped, pages.first, counted, chunk});
    effect.cost = costs_.call;
    effect.map_changes = map_changes + 1;
    effect.written = {size_field(user - GlibcArena::header)};
    return effect;
  }

  HeapEffect served(const AllocationRequest& request, Address user, const Block& block) {
    blocks_[user] = block;
    HeapEffect effect;
    effect.range = AddressRange::of(user, request.bytes);
    return effect;
  }

  const Parameters given_;
  std::uint64_t threshold_, trim_threshold_, top_pad_;
  std::size_t cached_blocks_, arenas_most_ = 1, next_shared_ = 0;
  AddressSpace* addresses_ = nullptr;
  HeapCosts costs_;
  Time cached_call_;
  std::vector<std::unique_ptr<GlibcArena>> arenas_;  // [0] the main arena
  std::vector<std::size_t> arena_of_thread_;
  std::vector<Bins> bins_;                     // by thread
  std::unordered_map<Address, Block> blocks_;  // by address
  std::uint64_t maps_ = 0, mapped_bytes_ = 0;
};

}  // namespace

PolicyEntry<HeapManager> glibc_heap() {
  std::vector<ParameterSpec> parameters{
      integer_parameter("arenas", "arenas", "largest number of arenas (M_ARENA_MAX); 0 = 8 a core", 0, 0, 1 << 20),
      bytes_parameter("mmap_threshold", "blocks above this size are mapped singly, initially (M_MMAP_THRESHOLD)", Bytes{128 * 1024}),
      bytes_parameter("trim_threshold", "return memory to the system when the free top of the heap exceeds this (M_TRIM_THRESHOLD)",
                      Bytes{128 * 1024}),
      bytes_parameter("top_pad", "extra memory to request and to keep (M_TOP_PAD)", Bytes{128 * 1024}, Bytes{0}),
      integer_parameter("dynamic", "0 or 1", "1 = mmap_threshold rises to the largest mapped block that was freed", 1, 0, 1),
      integer_parameter("tcache", "blocks", "blocks of each size in a thread's own cache (7 since glibc 2.26, 0 before)", 7, 0, 65535)};
  for (ParameterSpec& cost : HeapCosts::parameters(HeapCosts::ptmalloc_cycles)) parameters.push_back(std::move(cost));
  return {.name = "glibc",
          .description = "glibc malloc (ptmalloc): an arena for each thread, large blocks by mmap",
          .parameters = parameters,
          .make = [](const Parameters& given) { return std::make_unique<Glibc>(given); },
          .examples = {"glibc:tcache=0", "glibc:arenas=1"}};
}

}  // namespace homenode
