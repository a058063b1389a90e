// What a slice waits for translations of pages that its core does not have.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/machine/machine.hpp"

namespace homenode {

// Walks overlap as the misses of their touch do, as far as the core can walk for several pages at a time: each counts 1 / parallelism, or
// 1 / TlbDescription::walks where that is more. That does not hold for a stream that a prefetcher follows: the prefetcher does not walk,
// and the core sees one page ahead. Streams of a group, which advance together, walk beside one another.
//
// What the first level of translations does not have, and the second one has, is there a few cycles later. A load that the core waits for
// waits longer by that; others are as many at a time as the core serves, while it computes and waits for lines.
struct PageWalks {
  std::uint64_t pages = 0;
  double weight = 0;         // of all: sum of 1 / walks at a time
  double stream_weight = 0;  // of it, that of loads of followed streams
  double stream_pages = 0;   // sum over groups of the most pages that one such stream walks for
  // Accesses whose page the first level of translations does not have and the second one has: loads that the core waits for
  // (LineTouch::waited); of the others, as `weight`.
  double first_waited = 0, first_weight = 0;

  PageWalks& operator+=(const PageWalks& other) {
    pages += other.pages;
    weight += other.weight;
    stream_weight += other.stream_weight;
    stream_pages += other.stream_pages;
    first_waited += other.first_waited;
    first_weight += other.first_weight;
    return *this;
  }

  // `from_memory`: of the lines that the outermost cache is asked for, the share that it does not have. Lines that it has have their page
  // tables there, too: their streams wait as all others do. So does every stream of a machine that does not say what a stream loses.
  double seconds(const TlbDescription& tlb, double from_memory) const {
    const double all = weight * tlb.miss_penalty.seconds() + first_waited * tlb.first_miss_penalty.seconds();
    if (!tlb.stream_walk) return all;
    const double further = stream_pages * tlb.stream_walk->seconds() - stream_weight * tlb.miss_penalty.seconds();
    return all + from_memory * further;
  }
  // The least that the core takes for the accesses whose translations come from the second level, beside all else that it does.
  double least_core_seconds(const TlbDescription& tlb) const { return first_weight * tlb.first_miss_penalty.seconds(); }
};

// Adds up the walks of one group's touches.
class GroupWalks {
public:
  GroupWalks(PageWalks& sum, const Machine& machine)
      : sum_{sum},
        least_weight_{machine.tlb.walks > 0 ? 1 / machine.tlb.walks : 0},
        least_first_weight_{machine.tlb.first_misses > 0 ? 1 / machine.tlb.first_misses : 0},
        misses_{static_cast<float>(machine.miss_buffers)} {}
  GroupWalks(const GroupWalks&) = delete;
  GroupWalks& operator=(const GroupWalks&) = delete;
  ~GroupWalks() { next_group(); }

  // `pages` may be 0, and is at random places as often as not: no branch tells it from others. `parallelism`: above 0.
  void add(std::uint64_t pages, float parallelism, bool followed) {
    // More lines outstanding than a core asks for by itself: a prefetcher follows, loads (`followed`) or stores.
    const double of_one = parallelism > misses_ ? 1.0 / parallelism : std::max(1.0 / parallelism, least_weight_);
    const double weight = static_cast<double>(pages) * of_one;
    sum_.pages += pages;
    sum_.weight += weight;
    if (!followed) return;
    sum_.stream_weight += weight;
    most_ = std::max(most_, pages);
  }
  // A page that is in the second level of translations only. `waited`: of 255.
  void add_first(float parallelism, std::uint8_t waited) {
    const double share = waited / 255.0;
    sum_.first_waited += share;
    sum_.first_weight += (1 - share) * (parallelism > misses_ ? 1.0 / parallelism : std::max(1.0 / parallelism, least_first_weight_));
  }
  void next_group() {
    sum_.stream_pages += static_cast<double>(most_);
    most_ = 0;
  }

private:
  PageWalks& sum_;
  double least_weight_, least_first_weight_;
  float misses_;
  std::uint64_t most_ = 0;
};

}  // namespace homenode
