// Caches of a whole machine line by line: every set of every cache, LRU within the set. For programs whose accesses are no
// long runs (gathers, pointer chases, small blocks), and where the sets themselves matter.
//
// A line's set comes from its physical address: a page's frame is drawn at random by the page's number and a seed, the first
// level is indexed within the page, a level with slices spreads its lines over them by a hash (Hund, Willems, Holz, IEEE S&P
// 2013, section III: Intel's last levels do). Each set keeps its lines in order of use, most recent first. Random victims are drawn by a
// hash of the seed, the set and how many the set has drawn: nothing that other sets do moves them.
//
// Levels, coherence and `inclusion` are those of run_lru.hpp, line by line: the newest data are dirty in the path of exactly one
// core. A read of them is a coherence miss (transfer). A write invalidates all other copies; of a line held already it is an upgrade.
// Between domains an inclusive outermost level writes transferred lines back to memory, a victim cache keeps them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "models/caches/core_bits.hpp"
#include "models/caches/large_page_allocator.hpp"
#include "models/caches/line_numbers.hpp"
#include "models/caches/line_sample.hpp"
#include "models/caches/pace.hpp"
#include "sim/base/host_threads.hpp"
#include "sim/base/prefetch.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/machine/cache_domains.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

// How the request of a core for one line was served.
struct LineFate {
  enum class From : std::uint8_t { cache, transfer, memory, nowhere };  // nowhere: a non-temporal store needs no data
  From from = From::cache;
  std::uint8_t level = 0;   // cache: the level that hit
  std::uint16_t owner = 0;  // transfer: the core whose path had it
  bool dirty = false;       // transfer: a dirty remote hit
  bool upgrade = false;     // held, but shared: ownership without data
};

class SetCaches final : public CacheModel {
public:
  // `one_in`: only one line in so many is followed, and counts for all (line_sample.hpp). `forwards_clean`: a clean line comes from the
  // outermost cache that got it last, if that still holds it (state Forward of MESIF, Exclusive of MESI), and not from memory.
  explicit SetCaches(const Machine&, std::uint64_t seed = 0, bool forwards_clean = false, unsigned one_in = 1);
  // A directory knows of modified lines only.
  static bool forwards_clean(const Machine& machine) { return machine.snoop != SnoopMode::directory; }

  // Accesses one line, which must be a kept one of a sample. Only write-backs and non-temporal stores go to the outcome.
  LineFate access_line(CoreId, LineNumber, const LineTouch&, CacheOutcome&);
  // Prefetches the simulator's own tables for lines that are accessed soon: `far` some accesses ahead, `near` a few. Also for the victim
  // of `near`, if `before` lines are evicted from its set of the first level until then.
  void prefetch_tables(CoreId, LineNumber far, LineNumber near, std::size_t before) const;
  // Outermost caches below which the last access invalidated copies, the core's own included.
  std::span<const std::uint32_t> invalidated() const { return whole_.invalidated; }
  // Stable coherence state of a line, derived from the entries, as seen from one domain (M or O where dirty, else E, S or I).
  struct Held {
    bool here = false, dirty_here = false, elsewhere = false, dirty_elsewhere = false;
  };
  Held held(CoreId, LineNumber);

  void expect(CoreId, std::span<const LineTouch> group) override;
  void access(CoreId, std::span<const LineTouch> group, CacheOutcome&) override;
  void drop(LineRange, bool discard, CacheOutcome&) override;
  void flush(CacheOutcome&) override;
  KeptLines kept_lines() const override { return sample_.kept_lines(); }
  void use_host_threads(unsigned threads) override;
  // Also where it takes longer: for tests.
  void insist_on_host_threads() { lanes_.insists = true; }
  std::size_t touches_at_once() const override;
  bool begin(CoreId) override;
  void touched_besides(std::uint64_t left_out, std::uint64_t combined) override {
    all_touches_ += left_out + combined;
    kept_touches_ += combined;
  }
  std::unique_ptr<CacheModel> clone() const override { return std::make_unique<SetCaches>(*this); }

private:
  using Id = LineNumbers::Id;
  using Entry = std::uint32_t;  // 2 * id + dirty; 0 = empty
  static constexpr std::uint16_t nobody = 0xffff;
  // Lines between asking the host for what a line needs, for what its victims need, and for what their victims in an outermost level of
  // victims need, and its turn.
  static constexpr std::size_t lines_ahead = 80, victims_ahead = 28, last_victims_ahead = 8;

  struct Level {
    unsigned ways = 0, cores_per_cache = 1;
    Inclusion inclusion = Inclusion::inclusive;
    bool random_frames = true;
    bool by_id = false;                                // without them: the set's bits are the same in a line's id
    bool scaled = false;                               // of a sample: it has fewer sets instead of some that stay empty
    std::uint32_t sets = 1, slices = 1, set_mask = 0;  // sets of a slice; their mask if they are a power of two
    std::uint64_t first_entry = 0, cache_entries = 0;  // of its first cache; of one cache
    std::vector<std::uint32_t> drawn;                  // by set of all caches: random victims so far; empty where the oldest line leaves
  };
  // A clear bit of `holders` and `domains`, and `nobody`, are certain; a set bit may be stale. Of `clean_inside` it is the set one that is
  // certain.
  struct LineState {
    CoreMask holders = 0;                // cores whose inner levels may hold it
    std::uint32_t domains = 0;           // outermost caches that may hold it
    std::uint16_t writer = nobody;       // core in whose path it may be dirty
    std::uint16_t forwarder : 15 = 0;    // 1 + the outermost cache that got it last, for clean forwarding; 0 = nobody
    std::uint16_t clean_inside : 1 = 0;  // the writer's caches inside the outermost one were found clean since it last wrote
    void written_by(CoreId core) {
      writer = static_cast<std::uint16_t>(core.index());
      clean_inside = 0;
    }
  };
  static constexpr std::size_t most_levels = 4;
  // What is written beside the lines' own sets and states while they pass.
  struct Lane {
    CacheOutcome* outcome = nullptr;         // write-backs and non-temporal stores
    std::vector<std::uint32_t> invalidated;  // outermost caches below which the last access invalidated copies
    void removed_from(std::size_t domain) {
      if (std::find(invalidated.begin(), invalidated.end(), domain) == invalidated.end())
        invalidated.push_back(static_cast<std::uint32_t>(domain));
    }
  };
  // One line on its way through the hierarchy.
  struct Line {
    Id id = 0;
    std::array<std::uint32_t, most_levels> set{};  // where its set begins in a cache of each level
  };
  static constexpr std::uint32_t no_set = ~std::uint32_t{0};
  struct Ahead {
    Line line;
    std::uint32_t moved_to = no_set;  // set of an outermost level of victims that takes in what the line pushes out, as far as foreseen
    LineNumber number;
    const LineTouch* touch = nullptr;
  };
  // What a line is asked for, as bits of one byte: three of them would be written one by one and read together, for which the host waits.
  class Use {
  public:
    explicit Use(const LineTouch& touch)
        : bits_{static_cast<std::uint8_t>((touch.reads ? 1U : 0U) | (touch.writes ? 2U : 0U) | (touch.non_temporal ? 4U : 0U))} {}
    bool reads() const { return (bits_ & 1) != 0; }
    bool non_temporal() const { return (bits_ & 4) != 0; }
    bool writes_cached() const { return (bits_ & 6) == 2; }

  private:
    std::uint8_t bits_;
  };
  // Of lines that pass on several host threads: some of those ahead, which share no set with other lanes' (set_caches_lanes.cpp). What the
  // threads tell each other lies side by side, for they may be on chiplets far apart.
  struct Asked {
    Id id = 0;
    Use use;
  };
  struct Passed {
    LineFate fate;
    std::uint16_t writebacks = 0, non_temporal_writes = 0;
    bool took = false;  // others' copies
  };
  struct LaneOfSeveral : Lane {
    std::vector<Asked> asked;    // in order
    std::vector<Passed> passed;  // how they fared
    CacheOutcome own;
    std::vector<LineRange> writebacks, non_temporal_writes;  // in order
    std::vector<std::uint64_t> domains;                      // of those that took others' copies
    std::size_t told = 0, told_writebacks = 0, told_non_temporal = 0, told_domains = 0;
  };
  // Not copied: a copy passes its lines on one thread.
  struct SeveralLanes {
    SeveralLanes() = default;
    SeveralLanes(const SeveralLanes&) {}
    SeveralLanes& operator=(const SeveralLanes&) = delete;
    unsigned host_threads = 1;
    std::vector<LaneOfSeveral> lanes;  // none: one thread passes all lines
    bool insists = false;              // whatever they took so far
    bool beside = false;               // those ahead pass in lanes, or have passed
    bool pass = false;                 // they do now
    Pace pace;                         // 1: in lanes, 0: on one thread
    std::chrono::steady_clock::time_point begun{};
    std::size_t lines = 0;                 // since then
    std::unique_ptr<HostThreads> threads;  // it ends first
  };

  struct Stream {
    const LineTouch* touch = nullptr;
    LineNumber next;
    std::uint64_t part = 0;  // of the next line that its turns have come to, in units of 1 / the longest stream's lines
  };
  struct Turn {
    std::uint64_t number = 0;
    const LineTouch* touch = nullptr;
    LineNumber line;
  };

  void spread(Level&, std::uint64_t line, unsigned one_in) const;
  Line line_of(Id id) const { return line_of(id, 0, levels_.size()); }
  Line line_of(Id id, std::size_t first, std::size_t last) const {
    Line line;
    find_sets(line, id, first, last);
    return line;
  }
  void find_sets(Line&, Id, std::size_t first, std::size_t last) const;  // of levels [first, last) alone
  LineNumber line_number(Id id) const { return sample_.line(numbers_.line(id)); }
  std::uint32_t frame_of(Id id) const { return frames_[(id - 1) >> sample_.kept_shift()] | sample_.line_in_page(id - 1); }
  Id find_id(LineNumber line) const { return sample_.has(line) ? numbers_.find(sample_.number(line)) : 0; }
  std::uint32_t set_in(const Level&, Id, std::uint32_t frame) const;  // where it begins
  Id numbered(LineNumber);                                            // the tables know it from then on
  void know_new_lines();
  void prefetch_set(std::size_t level, CoreId core, std::uint32_t set) const {
    const Entry* entries = own_set(core, level, set);
    const unsigned ways = levels_[level].ways;
    prefetch_host(entries);
    if (ways > 16 || !std::has_single_bit(ways)) prefetch_host(entries + ways - 1);  // it may lie in two lines of the host
  }
  std::size_t cache_of(CoreId core, std::size_t level) const { return path_[core.index() * most_levels + level]; }
  bool by_evictions(std::size_t level) const { return level > 0 && levels_[level].inclusion != Inclusion::inclusive; }
  bool same_domain(CoreId a, CoreId b) const { return cache_of(a, levels_.size() - 1) == cache_of(b, levels_.size() - 1); }

  Entry* set_of(std::size_t level, std::size_t cache, const Line& line) {
    return entries_.data() + levels_[level].first_entry + cache * levels_[level].cache_entries + line.set[level];
  }
  // Of the core's own cache.
  const Entry* own_set(CoreId core, std::size_t level, std::uint32_t set) const {
    return entries_.data() + first_entry_[core.index() * most_levels + level] + set;
  }
  Entry* own_set(CoreId core, std::size_t level, const Line& line) {
    return entries_.data() + first_entry_[core.index() * most_levels + level] + line.set[level];
  }
  // The way whose line leaves a full set next.
  unsigned victim(std::size_t level, std::size_t cache, std::uint32_t set) const;
  static unsigned find(const Entry* set, unsigned ways, Id id);  // its way, or `ways` if absent
  bool remove(std::size_t level, std::size_t cache, const Line&, bool& dirty);
  bool holds(std::size_t level, std::size_t cache, const Line& line) {
    const unsigned ways = levels_[level].ways;
    return find(set_of(level, cache, line), ways, line.id) < ways;
  }
  bool own_holds(CoreId core, std::size_t level, const Line& line) {
    const unsigned ways = levels_[level].ways;
    return find(own_set(core, level, line), ways, line.id) < ways;
  }

  void line_up(std::span<const LineTouch> group);
  void line_up_kept(std::span<const LineTouch> group);
  void line_up(LineNumber, const LineTouch&);
  void find_sets_ahead(CoreId);
  void pass_next(CoreId, std::size_t count);
  // set_caches_lanes.cpp
  std::size_t lane_of(Id id) const;
  void pass_lane(CoreId, LaneOfSeveral&);
  void note_next(CacheOutcome&, std::size_t count);
  void prefetch(CoreId, const Line&) const;
  std::uint32_t prefetch_victims(CoreId, const Line&, std::size_t younger) const;
  void prefetch_last_victim(CoreId, std::uint32_t set) const;
  // `fate` must hold its default values.
  void pass_line(Lane& lane, CoreId core, const Line& line, Use use, LineFate& fate) {
    (this->*of_shape_.pass)(lane, core, line, use, fate);
  }
  // Outermost caches below which the lane's last access invalidated copies, as bits.
  std::uint64_t domains_of(const Lane&) const;
  void note(CacheOutcome&, const LineFate&, const Ahead&, std::uint64_t domains);
  void note_upgrade(CacheOutcome&, const LineFate&, const Ahead&, std::uint64_t domains);
  double sampling_error() const;
  // set_caches_lines.cpp
  template <unsigned code>
  struct Shape;
  struct OfShape {
    void (SetCaches::*pass)(Lane&, CoreId, const Line&, Use, LineFate&) = nullptr;
    void (SetCaches::*insert_outermost)(Lane&, CoreId, const Line&, bool dirty) = nullptr;
  };
  template <unsigned... code>
  static constexpr std::array<OfShape, sizeof...(code)> of_shapes(std::integer_sequence<unsigned, code...>);
  unsigned shape_code() const;
  OfShape of_shape() const;
  template <class S>
  void pass_line_of(Lane&, CoreId, const Line&, Use, LineFate&);
  template <class S, unsigned level>
  void look_in(Lane&, CoreId, const Line&, Use, LineFate&);
  template <class S, unsigned level>
  void served(Lane&, CoreId, const Line&, Use, unsigned way, LineFate&);
  void forwarded(CoreId, const Line&, LineFate&);
  template <class S, unsigned level>
  void fill(Lane&, CoreId, const Line&, LineState&, unsigned way, bool writes, bool transferred);
  template <class S>
  bool stays(CoreId, const Line&, LineState&, unsigned level, bool dirty);
  template <class S, unsigned level>
  void insert_from(Lane&, CoreId, const Line&, bool dirty);
  template <class S, unsigned level>
  void insert(Lane&, CoreId, const Line&, bool dirty);
  template <class S, unsigned level>
  void insert_absent(Lane&, CoreId, const Line&, bool dirty);
  template <class S, unsigned level>
  void evicted(Lane&, CoreId, Entry);
  template <class S, unsigned level>
  void put_dirty(Lane&, CoreId, const Line&);
  template <class S, unsigned level>
  void put_dirty_from(Lane&, CoreId, const Line&, unsigned from);
  void non_temporal(Lane&, const Line&);
  bool remove_everywhere(const Line&, LineState&);  // returns whether it was dirty
  // Invalidates the copies outside the core's path; returns whether there was one, and whether it was dirty.
  struct Copies {
    bool held = false, dirty = false;
  };
  template <class S>
  Copies take(Lane&, CoreId, const Line&, LineState&);
  // Cleans the newest copy if it lies outside the core's path (in its domain only, if `near`); true if there was one.
  template <class S>
  bool share(Lane&, CoreId, const Line&, LineState&, bool near);
  void write_back(Lane&, const Line&);

  // snoop_filter.cpp
  void describe_filter(const CacheDescription&, unsigned one_in);
  bool filtered() const { return filter_.ways > 0; }
  Entry* filter_set(std::size_t domain, Id);
  void prefetch_filter_set(CoreId, Id) const;
  void enter_filter(Lane&, CoreId, Id);
  void leave_filter(std::size_t domain, Id);
  void leave_filter_unless_held(CoreId, Id, const LineState&);
  void drive_out(Lane&, std::size_t domain, Id);

  std::size_t outermost() const { return levels_.size() - 1; }
  std::uint32_t domain_bit(CoreId core) const {
    const std::size_t domain = cache_of(core, outermost());
    return std::uint32_t{1} << (domains_a_bit_ == 1 ? domain : domain / domains_a_bit_);
  }
  // Of the outermost caches in the mask: each(cache).
  template <class Each>
  void for_each_domain(std::uint32_t mask, Each&&) const;

  LineNumbers numbers_;  // of the kept lines
  std::vector<LineState, LargePageAllocator<LineState>> states_;
  std::vector<Level> levels_;
  std::vector<Entry, LargePageAllocator<Entry>> entries_;  // of all levels
  std::vector<std::uint32_t> path_;                        // by core and level: which cache
  std::vector<std::uint64_t> first_entry_;                 // of that
  Level filter_;                                           // of lines that caches inside an outermost one may hold; no ways: none
  std::vector<Entry, LargePageAllocator<Entry>> filters_;  // by outermost cache, set, and age of the entry, youngest first; never dirty
  CoreBits cores_;
  OfShape of_shape_;
  CacheDomains domain_bits_;
  std::size_t domains_ = 1, domains_a_bit_ = 1;
  LineSample sample_;
  std::vector<std::uint64_t> missed_;                 // of a sample: by kept line of a page
  std::uint64_t all_touches_ = 0, kept_touches_ = 0;  // of a sample: touches, of all lines and of those kept
  std::vector<std::uint32_t> frames_;                 // first line of the frame of each numbered page
  std::uint64_t seed_;
  bool forwards_clean_ = false;
  Lane whole_;                        // where one thread passes all lines
  std::vector<Ahead> ahead_;          // lines of the groups that are expected
  std::size_t passed_ = 0;            // of them
  std::deque<std::size_t> expected_;  // lines of each of these groups
  std::vector<Stream> streams_;       // scratch: of a group
  std::vector<Turn> turns_;           // scratch: of a group of a sample
  SeveralLanes lanes_;                // what it refers to is above: it ends first
};

}  // namespace homenode
