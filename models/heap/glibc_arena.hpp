// An arena of ptmalloc (malloc.c, arena.c of glibc 2.10 to 2.36): chunks with a header of 16 bytes, free ones coalesced with their
// neighbours, the newest end of its memory (the top chunk) last. The main arena grows by brk, the others in heaps of at most 64 MiB.
// Simplified: the unsorted list and the last remainder are left out; a request gets the smallest chunk that fits, of equal ones the
// oldest, which is where the sorted bins lead. The arena's own tables take room (assumed 2256 bytes) but are not touched.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sim/memory/address_space.hpp"
#include "sim/policy/heap_manager.hpp"

namespace homenode {

class GlibcArena {
public:
  static constexpr std::uint64_t header = 16, least_chunk = 32, most_fast = 128, least_large = 1024;
  static constexpr std::uint64_t heap_most = std::uint64_t{64} << 20;  // HEAP_MAX_SIZE = 2 * DEFAULT_MMAP_THRESHOLD_MAX
  static constexpr std::uint64_t heap_least = 32 * 1024;               // HEAP_MIN_SIZE
  static constexpr std::uint64_t consolidate_from = 64 * 1024;         // FASTBIN_CONSOLIDATION_THRESHOLD
  static constexpr std::uint64_t morecore_least = 1 << 20;             // MMAP_AS_MORECORE_SIZE

  // Room for the main arena's brk; 0: an arena of heaps.
  GlibcArena(AddressSpace&, std::uint64_t brk_room);

  // Size of the chunk that holds so many bytes.
  static std::uint64_t chunk_size(std::uint64_t bytes) { return bytes + 8 <= least_chunk ? least_chunk : (bytes + 8 + 15) / 16 * 16; }
  bool can_serve(std::uint64_t size) const;
  // Address of a chunk of this size from what the arena has; none: it has to grow.
  std::optional<Address> take(std::uint64_t size);
  // More memory for a chunk of this size. False: no heap is large enough.
  bool grow(std::uint64_t size, std::uint64_t top_pad);
  // Splits what is in front of `begin` and behind `begin + size` off a chunk in use.
  void carve(Address chunk, Address begin, std::uint64_t size);
  // Gives memory beyond the trim threshold back, as far as its top is free.
  void release(Address chunk, std::uint64_t trim_threshold, std::uint64_t top_pad, std::vector<PageOperation>&);

  bool owns(Address address) const;
  std::uint64_t size_of(Address chunk) const { return chunks_.at(chunk).size; }
  std::uint64_t committed_bytes() const { return committed_; }
  std::uint64_t free_bytes() const;  // that a later call can get, the top included

private:
  enum class State : std::uint8_t { used, fast, free, top };
  struct Chunk {
    std::uint64_t size = 0;
    State state = State::used;
    std::uint64_t since = 0;  // it is free: number of the release
  };
  struct Segment {             // a heap, the brk area, or what mmap gave in its place
    Address base, end, limit;  // pages [base, end) are committed, up to limit they can be
    Address first_chunk;
  };
  using Chunks = std::map<Address, Chunk>;

  void start_segment(AddressRange room, std::uint64_t committed, std::uint64_t tables);
  void extend_top(std::uint64_t bytes);
  void retire_top();
  void insert_free(Address at, std::uint64_t size);
  void remove_free(Chunks::iterator);
  std::uint64_t coalesce(Chunks::iterator);  // size of what it became
  void consolidate();
  void trim(std::uint64_t threshold, std::uint64_t top_pad, std::vector<PageOperation>&);
  void drop_empty_heaps(std::uint64_t top_pad, std::vector<PageOperation>&);

  AddressSpace& addresses_;
  bool main_;
  std::uint64_t page_;
  Chunks chunks_;                                                     // by address; fenceposts and tables are gaps
  std::set<std::tuple<std::uint64_t, std::uint64_t, Address>> free_;  // size, since, address
  std::map<std::uint64_t, std::vector<Address>> fast_;                // by size; the newest last
  std::vector<Segment> segments_;                                     // the top chunk is in the last
  Address top_;                                                       // 0: none
  std::uint64_t releases_ = 0, committed_ = 0;
};

}  // namespace homenode
