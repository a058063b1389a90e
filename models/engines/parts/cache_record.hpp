// What the slices of a run did to the caches, in the order in which they passed them, up to where that order depends on time. Runs that
// differ only in where pages lie take it from here instead of working it out again.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/engines/parts/contended_lines.hpp"
#include "models/engines/parts/fresh_pages.hpp"
#include "models/engines/parts/page_walks.hpp"
#include "models/engines/parts/phases.hpp"
#include "models/engines/parts/translation_buffer.hpp"
#include "sim/base/units.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

struct RepeatedRounds;

struct TranslationBuffers {                  // of one core
  TranslationBuffer pages, huge;             // huge: of transparent huge pages
  std::optional<TranslationBuffer> first{};  // of both; none: not described
};

// One slice behind the caches, before anything is known of its pages.
struct FilteredSlice {
  // In the order of the accesses, without what tells its pages nothing new.
  struct Touch {
    AddressRange range;
    bool writes = false;
    bool followed = false;      // loads of a stream that a prefetcher follows
    bool begins_group = false;  // of touches that advance together
    std::uint8_t waited = 0;    // as of LineTouch
    float parallelism = 1;
  };
  struct Placed {  // an object that got its addresses on first use
    ObjectId object;
    ThreadId thread;
    Address address;
  };
  ItemRange items;
  std::uint64_t first = 0, reached = Stretch::to_the_end;  // accesses, of a stretch
  double share = 1;                                        // of its iteration, if it is a stretch
  std::uint64_t accesses = 0;
  PageWalks walks;  // without transparent huge pages
  CacheOutcome outcome;
  Contention contention;
  std::vector<SlicePhase> phases;
  std::vector<Touch> touches;
  std::vector<Placed> placed;

  void clear();
  std::uint64_t bytes() const;  // of memory
};

// Behind so many slices come `periods` periods that are no slices of the record (repeated_rounds.hpp).
struct RecordedJump {
  std::size_t behind = 0;
  std::shared_ptr<const RepeatedRounds> repeated;
  std::uint64_t periods = 0;
};

class CacheRecord {
public:
  // Recording ends once it takes more memory than `limit`.
  explicit CacheRecord(Bytes limit) : limit_{static_cast<std::uint64_t>(limit.count())} {}

  // For whoever is first. `what`: all that the caches' part of a run depends on.
  bool claim(const std::string& what);
  // Whether it can be read.
  bool ready(const std::string& what) const;

  // Of the one that claimed it. The slice keeps its address.
  FilteredSlice& append();
  void grew(const FilteredSlice& slice) { bytes_ += slice.bytes(); }
  void jump(std::shared_ptr<const RepeatedRounds> repeated, std::uint64_t periods);
  bool full() const { return bytes_ > limit_; }
  void finish(std::unique_ptr<CacheModel> caches, std::vector<TranslationBuffers> translations, const FreshPages&);
  // Instead, if it reaches to the run's end. `flushed`: what the caches wrote back there.
  void finish(CacheOutcome flushed);

  const std::deque<FilteredSlice>& slices() const { return slices_; }
  const std::vector<RecordedJump>& jumps() const { return jumps_; }
  // Of the whole run, nothing comes behind the last slice but what `flushed` tells.
  bool whole() const { return caches_ == nullptr; }
  const CacheOutcome& flushed() const { return flushed_; }
  // Behind the last slice, if it is not of the whole run.
  const CacheModel& caches() const { return *caches_; }
  const std::vector<TranslationBuffers>& translations() const { return translations_; }
  const FreshPages& fresh() const { return *fresh_; }

private:
  enum class State : std::uint8_t { empty, claimed, ready };
  std::atomic<State> state_ = State::empty;
  std::string what_;
  std::uint64_t limit_, bytes_ = 0;
  std::deque<FilteredSlice> slices_;
  std::vector<RecordedJump> jumps_;
  std::unique_ptr<CacheModel> caches_;
  std::vector<TranslationBuffers> translations_;
  std::optional<FreshPages> fresh_;
  CacheOutcome flushed_;
  void let_read();
};

}  // namespace homenode
