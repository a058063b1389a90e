// A cache of free blocks in front of the central lists (gperftools 2.x, thread_cache.cc): a list a size class whose permitted length
// starts at one and grows with use (slow start), and a bound on its bytes beyond which unused halves go back (scavenging).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/heap/central_list.hpp"

namespace homenode {

// Bytes that caches may still claim, and the caches that one may steal from.
class BlockCache;
struct CacheBudget {
  static constexpr std::int64_t all = std::int64_t{32} << 20;  // kDefaultOverallThreadCacheSize
  static constexpr std::int64_t step = 64 * 1024;              // kStealAmount
  static constexpr std::int64_t least = 512 * 1024;            // kMinThreadCacheSize
  std::int64_t unclaimed = all;
  std::vector<BlockCache*> caches;
  std::size_t next = 0;  // to be stolen from
};

class BlockCache {
public:
  BlockCache(const SizeClasses&, std::vector<CentralList>&, CacheBudget&);
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  struct Traffic {  // with the lists behind it
    unsigned central_calls = 0;
    bool used_page_heap = false, grown = false;
  };
  bool has(std::size_t size_class) const { return !lists_[size_class].blocks.empty(); }
  bool would_overflow(std::size_t size_class) const { return lists_[size_class].blocks.size() + 1 > lists_[size_class].most; }
  // How many blocks the next fetch of this class asks for.
  std::size_t next_fetch(std::size_t size_class) const { return std::min(lists_[size_class].most, sizes_[size_class].batch); }
  Address take(std::size_t size_class, Traffic&, std::vector<PageOperation>&);
  void give(std::size_t size_class, Address block, Traffic&, std::vector<PageOperation>&);
  std::int64_t bytes() const { return bytes_; }
  std::int64_t most_bytes() const { return most_bytes_; }

private:
  static constexpr std::size_t most_length = 8192, most_overages = 3;  // kMaxDynamicFreeListLength, kMaxOverages
  struct List {
    std::vector<Address> blocks;  // the newest last
    std::size_t most = 1, lowest = 0, overages = 0;
  };
  void give_back(std::size_t size_class, std::size_t count, Traffic&, std::vector<PageOperation>&);
  void scavenge(Traffic&, std::vector<PageOperation>&);
  void claim();

  const SizeClasses& sizes_;
  std::vector<CentralList>& central_;
  CacheBudget& budget_;
  std::vector<List> lists_;  // by class
  std::int64_t bytes_ = 0, most_bytes_ = 0;
};

}  // namespace homenode
