#include "models/heap/block_cache.hpp"

#include <algorithm>

namespace homenode {

BlockCache::BlockCache(const SizeClasses& sizes, std::vector<CentralList>& central, CacheBudget& budget)
    : sizes_{sizes}, central_{central}, budget_{budget}, lists_(sizes.size()) {
  claim();
  if (most_bytes_ == 0) {
    most_bytes_ = CacheBudget::least;
    budget_.unclaimed -= CacheBudget::least;
  }
  budget_.caches.push_back(this);
}

// IncreaseCacheLimitLocked: from what nobody claimed, else from one of the next ten caches that has more than the least.
void BlockCache::claim() {
  if (budget_.unclaimed > 0) {
    budget_.unclaimed -= CacheBudget::step;
    most_bytes_ += CacheBudget::step;
    return;
  }
  for (int tries = 0; tries < 10 && !budget_.caches.empty(); ++tries) {
    BlockCache* other = budget_.caches[budget_.next++ % budget_.caches.size()];
    if (other == this || other->most_bytes_ <= CacheBudget::least) continue;
    other->most_bytes_ -= CacheBudget::step;
    most_bytes_ += CacheBudget::step;
    return;
  }
}

Address BlockCache::take(std::size_t size_class, Traffic& traffic, std::vector<PageOperation>& operations) {
  List& list = lists_[size_class];
  const SizeClasses::Class& size = sizes_[size_class];
  if (list.blocks.empty()) {
    CentralList::Moved moved = central_[size_class].remove(next_fetch(size_class), operations);
    ++traffic.central_calls;
    traffic.used_page_heap |= moved.used_page_heap;
    traffic.grown |= moved.grown;
    // The first block is served, the others are kept; the next one last.
    list.blocks.assign(moved.blocks.rbegin(), moved.blocks.rend());
    bytes_ += static_cast<std::int64_t>(moved.blocks.size() * size.bytes);
    list.most = list.most < size.batch ? list.most + 1 : std::min(list.most + size.batch, most_length) / size.batch * size.batch;
  }
  const Address block = list.blocks.back();
  list.blocks.pop_back();
  list.lowest = std::min(list.lowest, list.blocks.size());
  bytes_ -= static_cast<std::int64_t>(size.bytes);
  return block;
}

void BlockCache::give(std::size_t size_class, Address block, Traffic& traffic, std::vector<PageOperation>& operations) {
  List& list = lists_[size_class];
  const SizeClasses::Class& size = sizes_[size_class];
  list.blocks.push_back(block);
  bytes_ += static_cast<std::int64_t>(size.bytes);
  if (list.blocks.size() > list.most) {  // ListTooLong
    give_back(size_class, size.batch, traffic, operations);
    if (list.most < size.batch) {
      ++list.most;
    } else if (list.most > size.batch && ++list.overages > most_overages) {
      list.most -= size.batch;
      list.overages = 0;
    }
  }
  if (bytes_ > most_bytes_) scavenge(traffic, operations);
}

void BlockCache::give_back(std::size_t size_class, std::size_t count, Traffic& traffic, std::vector<PageOperation>& operations) {
  List& list = lists_[size_class];
  count = std::min(count, list.blocks.size());
  bytes_ -= static_cast<std::int64_t>(count * sizes_[size_class].bytes);
  while (count > 0) {
    const std::size_t part = std::min(count, sizes_[size_class].batch);
    const auto newest = list.blocks.rbegin();
    const std::vector<Address> blocks(newest, newest + static_cast<std::ptrdiff_t>(part));
    list.blocks.erase(list.blocks.end() - static_cast<std::ptrdiff_t>(part), list.blocks.end());
    traffic.used_page_heap |= central_[size_class].insert(blocks, operations);
    ++traffic.central_calls;
    count -= part;
  }
  list.lowest = std::min(list.lowest, list.blocks.size());
}

void BlockCache::scavenge(Traffic& traffic, std::vector<PageOperation>& operations) {
  for (std::size_t size_class = 0; size_class < lists_.size(); ++size_class) {
    List& list = lists_[size_class];
    const std::size_t batch = sizes_[size_class].batch;
    if (list.lowest > 0) {
      give_back(size_class, std::max<std::size_t>(list.lowest / 2, 1), traffic, operations);
      if (list.most > batch) list.most = std::max(list.most - batch, batch);
    }
    list.lowest = list.blocks.size();
  }
  claim();
}

}  // namespace homenode
