#include "models/engines/parts/cache_record.hpp"

#include <utility>

#include "models/engines/parts/repeated_rounds.hpp"

namespace homenode {

void FilteredSlice::clear() {
  reached = Stretch::to_the_end;
  first = accesses = 0;
  walks = {};
  share = 1;
  outcome.clear();
  contention.clear();
  phases.clear();
  touches.clear();
  placed.clear();
}

std::uint64_t FilteredSlice::bytes() const {
  const auto of = [](const auto& values) { return values.capacity() * sizeof(values[0]); };
  return sizeof(*this) + of(outcome.hit_lines) + of(outcome.hit_weight) + of(outcome.reads) + of(outcome.writebacks) +
         of(outcome.non_temporal_writes) + of(outcome.written_earlier) + of(outcome.transfers) + of(outcome.upgraded) + of(phases) +
         of(touches) + of(placed) + of(contention.writers);
}

bool CacheRecord::claim(const std::string& what) {
  State expected = State::empty;
  if (!state_.compare_exchange_strong(expected, State::claimed)) return false;
  what_ = what;
  return true;
}

bool CacheRecord::ready(const std::string& what) const { return state_.load() == State::ready && what == what_; }

FilteredSlice& CacheRecord::append() {
  slices_.emplace_back();
  return slices_.back();
}

void CacheRecord::jump(std::shared_ptr<const RepeatedRounds> repeated, std::uint64_t periods) {
  bytes_ += repeated->bytes();
  jumps_.push_back({slices_.size(), std::move(repeated), periods});
}

void CacheRecord::finish(std::unique_ptr<CacheModel> caches, std::vector<TranslationBuffers> translations, const FreshPages& fresh) {
  caches_ = std::move(caches);
  translations_ = std::move(translations);
  fresh_ = fresh;
  let_read();
}

void CacheRecord::finish(CacheOutcome flushed) {
  flushed_ = std::move(flushed);
  let_read();
}

void CacheRecord::let_read() {
  for (FilteredSlice& slice : slices_) {
    slice.outcome.reads.shrink_to_fit();
    slice.phases.shrink_to_fit();
    slice.touches.shrink_to_fit();
  }
  state_.store(State::ready);
}

}  // namespace homenode
