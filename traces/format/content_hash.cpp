#include "traces/format/content_hash.hpp"

#include <xxhash.h>

#include <array>
#include <bit>

namespace homenode::format {
namespace {

// Values one after the other into XXH3; each as 8 little-endian bytes, so that the digest is the same on every host. They are
// handed over in blocks: a digest does not depend on how its input is cut.
class Feed {
public:
  Feed() : state_{XXH3_createState()} { XXH3_128bits_reset(state_); }
  ~Feed() { XXH3_freeState(state_); }
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  void value(std::uint64_t number) {
    if (used_ == block_.size()) hand_over();
    if constexpr (std::endian::native == std::endian::big) number = __builtin_bswap64(number);
    block_[used_++] = number;
  }
  void signed_value(std::int64_t number) { value(static_cast<std::uint64_t>(number)); }
  void text(const std::string& text) {
    value(text.size());
    hand_over();
    XXH3_128bits_update(state_, text.data(), text.size());
  }
  std::uint64_t short_digest() { return whole().low64; }
  std::string digest() {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, whole());
    std::string text;
    for (const unsigned char byte : canonical.digest) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  }

private:
  void hand_over() {
    if (used_ > 0) XXH3_128bits_update(state_, block_.data(), used_ * sizeof block_[0]);
    used_ = 0;
  }
  XXH128_hash_t whole() {
    hand_over();
    return XXH3_128bits_digest(state_);
  }

  XXH3_state_t* state_;
  std::array<std::uint64_t, 64> block_;
  std::size_t used_ = 0;
};

// In `result`, by slot, the position of the first access through it in the stream being read.
class FirstOfSlot {
public:
  explicit FirstOfSlot(SlotNumber slots) : at_(slots, none) {}
  void next_stream() {
    for (const SlotNumber slot : used_) at_[slot] = none;
    used_.clear();
  }
  std::size_t position(SlotNumber slot, std::int64_t offset, std::vector<CanonicalPattern::Position>& positions) {
    if (slot >= at_.size()) at_.resize(slot + std::size_t{1}, none);
    if (at_[slot] == none) {
      at_[slot] = static_cast<std::uint32_t>(positions.size());
      used_.push_back(slot);
      positions.push_back({slot, offset});
    }
    return at_[slot];
  }

private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> at_;
  std::vector<SlotNumber> used_;
};

}  // namespace

std::uint64_t ObjectIdentities::add(const TracedObject& object, const std::string& allocating_function) {
  Feed feed;
  feed.value(static_cast<std::uint64_t>(object.kind));
  feed.value(object.bytes);
  feed.value(object.alignment);
  feed.text(object.kind == ObjectKind::heap ? std::string{} : object.symbol);
  feed.text(allocating_function);
  const std::uint64_t key = feed.short_digest();
  feed.value(seen_[key]++);
  return feed.short_digest();
}

CanonicalPattern canonical(const ItemPattern& pattern) {
  CanonicalPattern result;
  Feed feed;
  std::map<SiteId, std::uint64_t> sites;
  const auto site = [&](SiteId id) { feed.value(sites.emplace(id, sites.size()).first->second); };
  feed.value(pattern.runs.size());
  for (const AccessRun& run : pattern.runs) {
    result.positions.push_back({run.slot, run.offset});
    feed.value(run.width);
    feed.value(static_cast<std::uint64_t>(run.kind) | (run.streamable ? 16u : 0u) | (run.bulk ? 32u : 0u));
    feed.value(run.producer_distance);
    feed.value(run.sequence);
    site(run.site);
    feed.value(run.dimensions);
    for (unsigned d = 0; d < run.dimensions; ++d) {
      feed.value(run.dimension[d].count);
      feed.signed_value(run.dimension[d].stride);
      feed.value(run.dimension[d].sequence_stride);
    }
  }
  feed.value(pattern.streams.size());
  FirstOfSlot first{pattern.streams.empty() ? 0 : pattern.slots};
  for (const IrregularStream& stream : pattern.streams) {
    feed.value(stream.width);
    feed.value(static_cast<std::uint64_t>(stream.kind));
    site(stream.site);
    feed.value(stream.offset.size());
    first.next_stream();
    for (std::size_t i = 0; i < stream.offset.size(); ++i) {
      const std::size_t at = first.position(stream.slot[i], stream.offset[i], result.positions);
      feed.value(at);
      feed.signed_value(stream.offset[i] - result.positions[at].offset);
      feed.value(stream.producer_distance[i]);
      feed.value(stream.sequence[i]);
    }
  }
  feed.value(pattern.heap_events.size());
  for (const HeapEvent& event : pattern.heap_events) {
    result.positions.push_back({event.slot, 0});
    feed.value(event.sequence);
    feed.value(static_cast<std::uint64_t>(event.operation));
    feed.value(event.zeroed ? 1 : 0);
  }
  feed.value(pattern.sync_events.size());
  for (const SyncEvent& event : pattern.sync_events) {
    feed.value(event.sequence);
    feed.value(static_cast<std::uint64_t>(event.operation));
    feed.value(event.object);
    feed.value(event.match);
  }
  result.shape = feed.short_digest();
  return result;
}

struct BodyDigest::State {
  struct Place {
    std::uint64_t object;
    std::int64_t offset, shift;
  };
  Feed feed;
  std::uint64_t shape = 0;
  std::vector<Place> places, next;
  std::int64_t iterations = 0;
};

BodyDigest::BodyDigest() : state_{std::make_unique<State>()} {}
BodyDigest::~BodyDigest() = default;
BodyDigest::BodyDigest(BodyDigest&&) noexcept = default;
BodyDigest& BodyDigest::operator=(BodyDigest&&) noexcept = default;

void BodyDigest::append(const ItemBlock& block, const CanonicalPattern& pattern, const std::vector<std::uint64_t>& identities) {
  State& state = *state_;
  std::int64_t iterations = block.last - block.first;
  if (iterations <= 0) return;
  state.next.clear();
  for (const CanonicalPattern::Position& position : pattern.positions) {
    const SlotBinding& binding = block.slots[position.slot];
    state.next.push_back({identities[binding.object.index()], binding.base + position.offset, binding.shift});
  }
  bool joins = state.iterations > 0 && state.shape == pattern.shape && state.places.size() == state.next.size();
  for (std::size_t i = 0; joins && i < state.next.size(); ++i) {
    const State::Place &old = state.places[i], &fresh = state.next[i];
    joins = old.object == fresh.object && (state.iterations == 1 || fresh.offset == old.offset + state.iterations * old.shift);
  }
  if (joins) {
    if (state.iterations == 1) {
      for (std::size_t i = 0; i < state.next.size(); ++i) state.places[i].shift = state.next[i].offset - state.places[i].offset;
    }
    ++state.iterations;
    if (--iterations == 0) return;
    bool same_shift = true;
    for (std::size_t i = 0; same_shift && i < state.next.size(); ++i) same_shift = state.places[i].shift == state.next[i].shift;
    if (same_shift) {
      state.iterations += iterations;
      return;
    }
    for (State::Place& place : state.next) place.offset += place.shift;
  }
  emit();
  state.shape = pattern.shape;
  state.places = state.next;
  state.iterations = iterations;
}

void BodyDigest::emit() {
  State& state = *state_;
  if (state.iterations == 0) return;
  state.feed.value(static_cast<std::uint64_t>(state.iterations));
  state.feed.value(state.shape);
  for (const State::Place& place : state.places) {
    state.feed.value(place.object);
    state.feed.signed_value(place.offset);
    if (state.iterations > 1) state.feed.signed_value(place.shift);
  }
  state.iterations = 0;
}

std::string BodyDigest::finish() {
  emit();
  return state_->feed.digest();
}

std::string content_hash(const std::vector<Region>& regions, const std::vector<Execution>& executions,
                         const std::vector<std::string>& body_digests) {
  std::vector<std::vector<std::size_t>> of_region(regions.size());
  std::vector<std::size_t> order;
  for (std::size_t e = 0; e < executions.size(); ++e) {
    std::vector<std::size_t>& list = of_region[executions[e].region.index()];
    if (list.empty()) order.push_back(executions[e].region.index());
    list.push_back(e);
  }
  Feed feed;
  for (const std::size_t r : order) {
    const Region& region = regions[r];
    feed.value(static_cast<std::uint64_t>(region.kind));
    feed.text(region.label);
    feed.value(region.dimensions.size());
    for (const LoopDimension& dimension : region.dimensions) {
      feed.signed_value(dimension.low);
      feed.signed_value(dimension.high);
      feed.signed_value(dimension.step);
    }
    feed.value((region.nowait ? 1u : 0u) | (region.ordered ? 2u : 0u) | (region.reduction ? 4u : 0u));
    feed.text(region.schedule_clause);
    feed.value(of_region[r].size());
    for (const std::size_t e : of_region[r]) {
      const Execution& execution = executions[e];
      feed.value(e);  // its place in the program: order across regions counts
      feed.signed_value(execution.iterations);
      feed.value(static_cast<std::uint64_t>(execution.binding));
      feed.value(execution.team);
      feed.value(execution.barrier_after ? 1 : 0);
      feed.signed_value(execution.step);
      feed.text(body_digests[e]);
    }
  }
  return feed.digest();
}

}  // namespace homenode::format

namespace homenode {

std::string content_hash(const Workload& workload) {
  format::ObjectIdentities identities;
  std::vector<std::uint64_t> objects;
  for (const TracedObject& object : workload.objects) {
    const bool known = object.site.index() < workload.sites.size();
    objects.push_back(identities.add(object, known ? workload.sites[object.site.index()].function : std::string{}));
  }
  std::vector<format::CanonicalPattern> patterns;
  for (const ItemPattern& pattern : workload.patterns) patterns.push_back(format::canonical(pattern));
  std::vector<std::string> digests;
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    format::BodyDigest digest;
    for (const ItemBlock& block : workload.body(ExecutionId{e})->blocks) digest.append(block, patterns[block.pattern.index()], objects);
    digests.push_back(digest.finish());
  }
  return format::content_hash(workload.regions, workload.executions, digests);
}

}  // namespace homenode
