// The first stage of a memory model: the accesses of slices -> what leaves the caches and which pages they touch (FilteredSlice).
// A slice passes when it starts, or before if it is foreseen, or comes from the record of another run.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/engines/parts/cache_record.hpp"
#include "models/engines/parts/contended_lines.hpp"
#include "models/engines/parts/fresh_pages.hpp"
#include "models/engines/parts/page_marks.hpp"
#include "models/engines/parts/repeated_rounds.hpp"
#include "models/engines/parts/touched_lines.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/program/current_body.hpp"
#include "sim/program/line_touches.hpp"

namespace homenode {

// What several runs share, and what it is of. A record that somebody else claimed is not used.
struct SharedRecord {
  std::shared_ptr<CacheRecord> record{};
  std::string what{};
};

class CacheStage {
public:
  // Workload and machine must outlive it. `page`: as of the address space. The caches may be null where the record is ready to be read.
  // `warp`: whether it jumps over rounds that repeat; no result depends on that.
  CacheStage(const Workload&, const Machine&, std::unique_ptr<CacheModel>, LineTouchOptions, Bytes page, SharedRecord = {},
             bool warp = true, FreshPages = {});

  struct Passed {
    const FilteredSlice& slice;  // good until the next slice passes
    PageWalks walks;
  };
  // The slice that starts, its touches noted in the address space. With `faulted` they are noted group by group, before the caches see the
  // group, and it is called whenever a page of one was watched for; such slices must not be foreseen.
  Passed pass(const Work&, AddressSpace&, const std::function<void()>& faulted = {});
  // MemoryModel::foresee.
  std::uint64_t filter_ahead(const Work&, AddressSpace&);
  // MemoryModel::end_round.
  std::uint64_t end_round(std::span<const Work> round, std::uint64_t most, AddressSpace&);
  void order_by_time() { end_recording(); }
  // ContendedLines::know_touches.
  void know_touches() { contended_.know_touches(); }

  // As of CacheModel.
  void drop(LineRange, bool discard, CacheOutcome&);
  // As of FreshPages.
  void give_back(LineRange lines) {
    if (!reads_record()) fresh_.give_back(lines);
  }
  void moved(LineRange lines) { fresh_.move(lines); }
  void flush(CacheOutcome&);

private:
  // An iteration that its thread has run in part.
  struct Opened {
    explicit Opened(const LineTouchOptions& options) : touches{options} {}
    LineTouches touches;
    std::shared_ptr<const ExecutionBody> body;  // which `touches` refers to
    ItemRange item;
    std::uint64_t reached = Stretch::to_the_end;
    double done = 0;  // share of its accesses
  };
  struct Kept {
    const FilteredSlice* slice = nullptr;
    FilteredSlice* own = nullptr;  // the same, if it is not of a record
    // Or the slices of a thread in rounds that repeat, the next one and those behind the last.
    std::shared_ptr<const RepeatedRounds> repeated{};
    std::uint64_t next = 0, last = 0;
  };
  // `ahead`: it belongs to a round, which end_round ends.
  Kept next_slice(const Work&, AddressSpace&, bool ahead, const std::function<void()>& faulted = {});
  FilteredSlice& free_slice();
  Kept next_foreseen(std::size_t thread);
  std::uint64_t jump(const std::shared_ptr<const RepeatedRounds>&, std::uint64_t periods);
  double share(Opened&, std::uint64_t accesses) const;
  void filter(const Work&, AddressSpace&, FilteredSlice&, bool ahead, const std::function<void()>& faulted);
  void pass_stretch(const Work&, AddressSpace&, FilteredSlice&, const std::function<void()>& faulted);
  std::optional<std::uint64_t> time_of(const Work&) const;
  void access(const Work&, LineTouches&, AddressSpace&, FilteredSlice&, const std::function<void()>& faulted);
  bool next_group(const Work&, LineTouches&, AddressSpace&, FilteredSlice&, const std::function<void()>& faulted);
  // Hands the groups that are collected to the caches, and adds what they did, or that later.
  void pass_groups(const Work&, FilteredSlice&);
  // Adds what the caches did with the groups that they have.
  void finish_groups(const Work&, FilteredSlice&);
  // Who touches pages, and what is to be told. `noted`: the address space knows already. Without `walks` no translation is looked for.
  struct GroupPages {
    CoreId core;
    const AddressSpace& addresses;
    FilteredSlice& slice;
    bool noted;
    GroupWalks* walks;
    TranslationBuffers* translations;
  };
  void note_pages(const LineTouch&, const GroupPages&);
  void note_many_pages(const LineTouch&, const GroupPages&);
  void note_touch(const LineTouch&, FilteredSlice&);
  // A prefetcher follows its loads.
  bool is_followed(const LineTouch& touch) const {
    return touch.reads && touch.parallelism > static_cast<float>(touch_options_.miss_buffers);
  }
  FilteredSlice::Touch as_noted(const LineTouch& touch) const {
    return {bytes_of(touch.lines, line_bytes_), touch.writes, is_followed(touch), false, touch.waited, touch.parallelism};
  }
  // With transparent huge pages: what a translation covers is known only now.
  void note_touches(const FilteredSlice&, const Place&, AddressSpace&, PageWalks&);
  Opened& opened(const Work&, AddressSpace&, FilteredSlice&);
  Opened& open_item(std::vector<std::unique_ptr<Opened>>& of_thread, const Work* goes_on);
  LineTouches::AddressOf addresses_for(AddressSpace&, ThreadId, FilteredSlice&) const;
  void add_walks(CoreId, const FilteredSlice::Touch&, const AddressSpace&, GroupWalks&);
  void take_caches(std::unique_ptr<CacheModel>);
  bool reads_record();
  void end_recording();

  const Workload& workload_;
  const Machine& machine_;
  std::uint64_t line_bytes_;
  std::unique_ptr<CacheModel> caches_;
  LineTouchOptions touch_options_;
  unsigned page_shift_, page_lines_shift_;                    // pages are powers of two
  LineTouches touches_;                                       // of whole iterations
  std::vector<std::vector<std::unique_ptr<Opened>>> opened_;  // by thread
  std::size_t open_ = 0;                                      // of them, now
  std::vector<TranslationBuffers> translations_;              // by core; none if the machine describes none
  CurrentBody body_;

  std::shared_ptr<CacheRecord> record_;
  bool recording_ = false, reading_ = false;
  std::size_t read_ = 0, jumped_ = 0;  // slices and jumps of the record

  bool group_begins_ = false;  // no touch of the group is noted yet
  bool warp_;
  RepeatedRoundsFinder repetition_;
  std::vector<const FilteredSlice*> round_;          // scratch
  std::vector<std::deque<Kept>> foreseen_;           // by thread
  std::vector<std::unique_ptr<FilteredSlice>> own_;  // not of a record
  std::vector<FilteredSlice*> free_;                 // of them
  FilteredSlice* passed_ = nullptr;                  // the last one, if it is our own

  // Scratch of one slice.
  // Groups on their way to the caches.
  struct Group {
    std::vector<LineTouch> touches;
    std::uint64_t accesses_left_out = 0, left_out = 0, combined = 0;  // LineTouches::left_out, ::combined
  };
  struct Groups {
    std::vector<Group> groups;
    std::size_t count = 0;  // of them
    std::span<const Group> all() const { return {groups.data(), count}; }
  };
  Groups collected_, passing_;
  PhaseRecorder phases_;
  TouchedLines touched_;  // lines of a stretch
  ContendedLines contended_;
  bool creates_threads_ = false;  // the program
  bool others_write_ = false;     // whether other cores may, while the slice runs
  PageMarks pages_;
  FreshPages fresh_;
  Address first_byte_;  // of page 0
  LineNumber first_line_;
  bool by_huge_pages_ = false;  // transparent ones
};

}  // namespace homenode
