#include "models/engines/parts/cache_stage.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "sim/machine/line_bytes.hpp"

namespace homenode {
namespace {

constexpr Bytes large_page{2 << 20};  // that the translations of large pages hold
constexpr std::size_t touches_of_a_group =
    4;  // of what is collected before the caches see the first group: no more groups than that many have

}  // namespace

CacheStage::CacheStage(const Workload& workload, const Machine& machine, std::unique_ptr<CacheModel> caches, LineTouchOptions options,
                       Bytes page, SharedRecord shared, bool warp, FreshPages fresh)
    : workload_{workload},
      machine_{machine},
      line_bytes_{line_bytes(machine)},
      touch_options_{options},
      page_shift_{static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(page.count())))},
      page_lines_shift_{page_shift_ - static_cast<unsigned>(std::countr_zero(line_bytes_))},
      touches_{options},
      body_{workload},
      record_{std::move(shared.record)},
      warp_{warp},
      repetition_{workload, line_bytes_, static_cast<std::uint64_t>(page.count())},
      phases_{machine},
      fresh_{std::move(fresh)} {
  const auto is_created = [&](const Execution& execution) {
    return execution.parallel == 0 && workload.regions[execution.region.index()].kind == RegionKind::thread;
  };
  creates_threads_ = std::any_of(workload.executions.begin(), workload.executions.end(), is_created);
  if (machine.tlb.entries > 0) {
    const unsigned large = machine.tlb.large_entries > 0 ? machine.tlb.large_entries : machine.tlb.entries;
    const TranslationBuffer pages{page < large_page ? machine.tlb.entries : large, machine.tlb}, huge{large, machine.tlb};
    TranslationBuffers buffers{pages, huge};
    if (machine.tlb.first_entries > 0)
      buffers.first.emplace(machine.tlb.first_entries, TlbDescription{.miss_penalty = Time{}, .ways = machine.tlb.first_entries});
    translations_.assign(machine.cores(), buffers);
  }
  if (caches) take_caches(std::move(caches));
  if (record_) {
    reading_ = record_->ready(shared.what);
    recording_ = !reading_ && record_->claim(shared.what);
  }
}

void CacheStage::take_caches(std::unique_ptr<CacheModel> caches) {
  caches_ = std::move(caches);
  phases_.follow_sample(caches_->kept_lines());
}

CacheStage::Passed CacheStage::pass(const Work& work, AddressSpace& addresses, const std::function<void()>& faulted) {
  if (passed_ != nullptr) free_.push_back(std::exchange(passed_, nullptr));
  const std::size_t thread = work.place.thread.index();
  Kept kept;
  if (thread < foreseen_.size() && !foreseen_[thread].empty()) {
    kept = next_foreseen(thread);
  } else {
    kept = next_slice(work, addresses, false, faulted);
  }
  passed_ = kept.own;
  Passed passed{*kept.slice, kept.slice->walks};
  if (passed.slice.items != work.items || passed.slice.first != (work.stretch ? work.stretch->first : 0))
    throw std::logic_error("a thread starts another slice than was prefiltered or recorded");
  PageWalks walked;
  note_touches(passed.slice, work.place, addresses, walked);
  passed.walks += walked;
  return passed;
}

void CacheStage::note_touches(const FilteredSlice& slice, const Place& place, AddressSpace& addresses, PageWalks& walked) {
  GroupWalks walks{walked, machine_};
  for (const FilteredSlice::Touch& touch : slice.touches) {
    addresses.note_touch(touch.range, touch.writes, place);
    if (addresses.pages_per_huge() == 0 || translations_.empty()) continue;
    if (touch.begins_group) walks.next_group();
    add_walks(place.core, touch, addresses, walks);
  }
}

std::uint64_t CacheStage::filter_ahead(const Work& work, AddressSpace& addresses) {
  const std::size_t thread = work.place.thread.index();
  if (foreseen_.size() <= thread) foreseen_.resize(thread + 1);
  foreseen_[thread].push_back(next_slice(work, addresses, true));
  return foreseen_[thread].back().slice->reached;
}

CacheStage::Kept CacheStage::next_foreseen(std::size_t thread) {
  Kept& front = foreseen_[thread].front();
  if (!front.repeated) {
    const Kept kept = front;
    foreseen_[thread].pop_front();
    return kept;
  }
  FilteredSlice& slice = free_slice();
  const std::vector<ThreadId>& threads = front.repeated->threads;
  const auto number = std::find(threads.begin(), threads.end(), ThreadId{thread}) - threads.begin();
  front.repeated->make(static_cast<std::size_t>(number), front.next, slice);
  if (++front.next == front.last) foreseen_[thread].pop_front();
  return {.slice = &slice, .own = &slice};
}

std::uint64_t CacheStage::end_round(std::span<const Work> round, std::uint64_t most, AddressSpace& addresses) {
  contended_.end_round();
  if (!warp_) return 0;
  if (reading_) {
    const std::vector<RecordedJump>& jumps = record_->jumps();
    if (jumped_ == jumps.size() || jumps[jumped_].behind != read_) return 0;
    const RecordedJump& recorded = jumps[jumped_++];
    return jump(recorded.repeated, recorded.periods);
  }
  round_.clear();
  for (const Work& work : round) round_.push_back(foreseen_[work.place.thread.index()].back().slice);
  const auto found = repetition_.end_round(round, round_, most, *caches_, translations_, addresses, fresh_);
  if (!found) return 0;
  if (recording_) record_->jump(found->repeated, found->periods);
  return jump(found->repeated, found->periods);
}

std::uint64_t CacheStage::jump(const std::shared_ptr<const RepeatedRounds>& repeated, std::uint64_t periods) {
  const std::uint64_t rounds = periods * repeated->period;
  for (const ThreadId thread : repeated->threads)
    foreseen_[thread.index()].push_back({.slice = nullptr, .own = nullptr, .repeated = repeated, .next = 0, .last = rounds});
  return rounds;
}

CacheStage::Kept CacheStage::next_slice(const Work& work, AddressSpace& addresses, bool ahead, const std::function<void()>& faulted) {
  if (reads_record()) {
    if (read_ == record_->slices().size()) throw std::logic_error("a run goes on behind the end of the recorded one");
    const FilteredSlice& slice = record_->slices()[read_++];
    for (const FilteredSlice::Placed& placed : slice.placed) {
      if (addresses.address(placed.object, placed.thread) != placed.address)
        throw std::logic_error("an object lies elsewhere than in the recorded run");
    }
    return {.slice = &slice};
  }
  if (recording_ && record_->full() && open_ == 0) end_recording();
  FilteredSlice& slice = recording_ ? record_->append() : free_slice();
  filter(work, addresses, slice, ahead, faulted);
  if (recording_) record_->grew(slice);
  return {.slice = &slice, .own = recording_ ? nullptr : &slice};
}

FilteredSlice& CacheStage::free_slice() {
  if (free_.empty()) {
    own_.push_back(std::make_unique<FilteredSlice>());
    return *own_.back();
  }
  FilteredSlice& slice = *free_.back();
  free_.pop_back();
  return slice;
}

// Which other slices may run meanwhile, by a number that they share; none may beside serial code. Created threads run beside each other and
// beside the first one's code.
std::optional<std::uint64_t> CacheStage::time_of(const Work& work) const {
  const Execution& execution = workload_.executions[work.items.execution.index()];
  if (execution.parallel != 0) return work.items.execution.index() + 2;
  if (creates_threads_) return 1;
  return std::nullopt;
}

void CacheStage::filter(const Work& work, AddressSpace& addresses, FilteredSlice& slice, bool ahead, const std::function<void()>& faulted) {
  const std::optional<std::uint64_t> time = time_of(work);
  others_write_ = time.has_value();
  if (time) contended_.begin(work.place.core, *time);
  slice.clear();
  slice.items = work.items;
  slice.outcome.hit_lines.resize(machine_.caches.size(), 0);
  slice.outcome.hit_weight.resize(machine_.caches.size(), 0.0);
  slice.outcome.wants_short_hits = phases_.follows_sets();
  pages_.clear();
  if (repetition_.follows()) repetition_.begin_slice();
  if (!work.stretch) {
    touches_.start(workload_.patterns, *body_.of(work.items.execution), work.items.first, work.items.last,
                   addresses_for(addresses, work.place.thread, slice));
    access(work, touches_, addresses, slice, faulted);
  } else {
    pass_stretch(work, addresses, slice, faulted);
  }
  if (time) contended_.end(slice.contention, slice.accesses, ahead);
}

void CacheStage::pass_stretch(const Work& work, AddressSpace& addresses, FilteredSlice& slice, const std::function<void()>& faulted) {
  slice.first = work.stretch->first;
  touched_.clear();
  Opened& item = opened(work, addresses, slice);
  access(work, item.touches, addresses, slice, faulted);
  slice.reached = item.reached = item.touches.position();
  slice.share = share(item, slice.accesses);
  if (item.reached == Stretch::to_the_end) --open_;
}

// The iteration's core time is spread evenly over its accesses; its end takes what is left.
double CacheStage::share(Opened& opened, std::uint64_t accesses) const {
  const auto block = std::upper_bound(opened.body->blocks.begin(), opened.body->blocks.end(), opened.item.first,
                                      [](std::int64_t iteration, const ItemBlock& b) { return iteration < b.last; });
  double share = 1 - opened.done;
  if (opened.reached != Stretch::to_the_end) {
    const std::uint64_t all = std::max<std::uint64_t>(workload_.patterns[block->pattern.index()].accesses, 1);
    share = std::min(share, static_cast<double>(accesses) / static_cast<double>(all));
  }
  opened.done += share;
  return share;
}

void CacheStage::access(const Work& work, LineTouches& touches, AddressSpace& addresses, FilteredSlice& slice,
                        const std::function<void()>& faulted) {
  const std::uint64_t quantum = work.stretch ? static_cast<std::uint64_t>(work.stretch->quantum.count()) / line_bytes_ : 0;
  std::uint64_t touched = 0, traversed = 0;  // lines of a stretch
  // A stretch ends by the lines that it touches, and pages that are watched have to be touched in order.
  const bool one_by_one = work.stretch || faulted;
  const KeptLines kept = one_by_one ? KeptLines{} : caches_->kept_lines();
  touches.keep(kept);
  phases_.start(slice.outcome, kept.one_in);
  first_byte_ = addresses.first_byte(PageNumber{0});
  first_line_ = line_of(first_byte_, line_bytes_);
  by_huge_pages_ = addresses.pages_per_huge() != 0;
  fresh_.number_from(first_line_);
  collected_.count = 0;
  const std::size_t at_once = caches_->touches_at_once();
  std::size_t collected = 0;  // touches of the groups
  while (next_group(work, touches, addresses, slice, faulted)) {
    const Group& group = collected_.groups[collected_.count - 1];
    collected += group.touches.size();
    if (work.stretch) {
      for (const LineTouch& touch : group.touches) {
        touched += touched_.add(touch.lines.first.value(), touch.lines.last.value());
        traversed += touch.lines.size();
      }
    }
    if (!one_by_one && collected < at_once && collected_.count < at_once / touches_of_a_group) continue;
    pass_groups(work, slice);
    collected = 0;
    if (work.stretch && (touched >= quantum || traversed >= Stretch::passes * quantum)) break;
  }
  pass_groups(work, slice);
  finish_groups(work, slice);
  phases_.finish(slice.phases);
}

// False behind the last one.
bool CacheStage::next_group(const Work& work, LineTouches& touches, AddressSpace& addresses, FilteredSlice& slice,
                            const std::function<void()>& faulted) {
  const bool walks_now = !translations_.empty() && (faulted || addresses.pages_per_huge() == 0);
  if (collected_.groups.size() <= collected_.count) collected_.groups.emplace_back();
  Group& group = collected_.groups[collected_.count];
  if (!touches.next(group.touches)) return false;
  GroupWalks walks{slice.walks, machine_};
  const GroupPages pages{work.place.core,
                         addresses,
                         slice,
                         faulted != nullptr,
                         walks_now ? &walks : nullptr,
                         translations_.empty() ? nullptr : &translations_[work.place.core.index()]};
  group_begins_ = true;
  for (const LineTouch& touch : group.touches) {
    if (faulted) addresses.note_touch(bytes_of(touch.lines, line_bytes_), touch.writes, work.place);
    note_pages(touch, pages);
    if (touch.writes && others_write_) contended_.wrote(touch, slice.accesses);
    if (repetition_.follows()) repetition_.touched(touch.lines);
  }
  if (faulted && addresses.watch().faulted()) faulted();
  const std::uint64_t followed = slice.accesses;
  for (const LineTouch& touch : touches.left_out()) {
    note_pages(touch, pages);
    if (touch.writes && others_write_) contended_.wrote(touch, slice.accesses);
  }
  group.accesses_left_out = slice.accesses - followed;
  group.left_out = touches.left_out().size();
  group.combined = touches.combined();
  ++collected_.count;
  return true;
}

void CacheStage::pass_groups(const Work& work, FilteredSlice& slice) {
  finish_groups(work, slice);
  std::swap(collected_, passing_);
  if (passing_.count > 1) {
    for (const Group& group : passing_.all()) caches_->expect(work.place.core, group.touches);
    if (caches_->begin(work.place.core)) return;
  }
  finish_groups(work, slice);
}

void CacheStage::finish_groups(const Work& work, FilteredSlice& slice) {
  for (const Group& group : passing_.all()) {
    const FreshPages::End before = FreshPages::end_of(slice.outcome);
    caches_->access(work.place.core, group.touches, slice.outcome);
    fresh_.serve(work.place.core, before, slice.outcome);
    phases_.add(group.touches, slice.outcome);
    slice.outcome.short_hits.clear();
    phases_.pass_over(group.accesses_left_out);
    slice.outcome.accesses += group.accesses_left_out;
    caches_->touched_besides(group.left_out, group.combined);
  }
  passing_.count = 0;
}

namespace {

// Whether no page table is walked for the page, which the first level may have under another number.
template <class Touch>
inline bool is_translated(TranslationBuffers& buffers, TranslationBuffer& second, std::uint64_t page, std::uint64_t in_first,
                          const Touch& touch, GroupWalks& walks) {
  if (!buffers.first) return second.find(page);
  if (buffers.first->find(in_first)) return true;  // the second level is not asked
  if (!second.find(page)) return false;
  walks.add_first(touch.parallelism, touch.waited);
  return true;
}

}  // namespace

// Which pages the touch needs, and what finding them costs. Of pages that the slice has touched in the same way already nothing is to be
// learned, but which translations are used. Most touches lie in one page.
inline void CacheStage::note_pages(const LineTouch& touch, const GroupPages& of) {
  of.slice.accesses += touch.accesses;
  const std::uint64_t first = (touch.lines.first - first_line_) >> page_lines_shift_;
  const bool one = touch.lines.last > touch.lines.first && first == (touch.lines.last - 1 - first_line_) >> page_lines_shift_;
  if (!one || by_huge_pages_) return note_many_pages(touch, of);
  if (!of.noted && pages_.add(first, touch.writes)) note_touch(touch, of.slice);
  if (of.walks == nullptr) return;
  const bool held = is_translated(*of.translations, of.translations->pages, first, first, touch, *of.walks);
  of.walks->add(held ? 0 : 1, touch.parallelism, is_followed(touch));
}

void CacheStage::note_many_pages(const LineTouch& touch, const GroupPages& of) {
  const AddressRange range = bytes_of(touch.lines, line_bytes_);
  if (by_huge_pages_ || range.last <= range.first) {
    if (!of.noted && range.last > range.first) note_touch(touch, of.slice);
    if (of.walks != nullptr) add_walks(of.core, as_noted(touch), of.addresses, *of.walks);
    return;
  }
  const std::uint64_t first = (range.first - first_byte_) >> page_shift_, last = ((range.last - 1 - first_byte_) >> page_shift_) + 1;
  if (!of.noted && pages_.add(first, last, touch.writes)) note_touch(touch, of.slice);
  if (of.walks == nullptr) return;
  std::uint64_t missed = 0;
  for (std::uint64_t page = first; page < last; ++page) {
    missed += !is_translated(*of.translations, of.translations->pages, page, page, touch, *of.walks);
  }
  of.walks->add(missed, touch.parallelism, is_followed(touch));
}

void CacheStage::note_touch(const LineTouch& touch, FilteredSlice& slice) {
  slice.touches.push_back(as_noted(touch));
  slice.touches.back().begins_group = std::exchange(group_begins_, false);
}

LineTouches::AddressOf CacheStage::addresses_for(AddressSpace& addresses, ThreadId thread, FilteredSlice& slice) const {
  return [&addresses, thread, placed = recording_ ? &slice.placed : nullptr](ObjectId object) {
    const bool first_use = placed != nullptr && !addresses.placed(object, thread);
    const Address address = addresses.address(object, thread);
    if (first_use) placed->push_back({object, thread, address});
    return address;
  };
}

// The iteration that the work goes on with, or a free place for a new one: a thread that waits for tasks has several.
CacheStage::Opened& CacheStage::open_item(std::vector<std::unique_ptr<Opened>>& of_thread, const Work* goes_on) {
  for (const auto& opened : of_thread) {
    if (goes_on == nullptr ? opened->reached == Stretch::to_the_end
                           : opened->item == goes_on->items && opened->reached == goes_on->stretch->first)
      return *opened;
  }
  if (goes_on != nullptr) throw std::logic_error("a stretch that follows none of the thread's");
  of_thread.push_back(std::make_unique<Opened>(touch_options_));
  return *of_thread.back();
}

CacheStage::Opened& CacheStage::opened(const Work& work, AddressSpace& addresses, FilteredSlice& slice) {
  const std::size_t thread = work.place.thread.index();
  if (opened_.size() <= thread) opened_.resize(thread + 1);
  const bool begins = work.stretch->first == 0;
  Opened& opened = open_item(opened_[thread], begins ? nullptr : &work);
  if (begins) {
    ++open_;
    opened.body = body_.of(work.items.execution);
    opened.item = work.items;
    opened.done = 0;
    opened.touches.start(workload_.patterns, *opened.body, work.items.first, work.items.last,
                         addresses_for(addresses, work.place.thread, slice));
  }
  opened.touches.go_on_until(work.stretch->last);
  return opened;
}

void CacheStage::add_walks(CoreId core, const FilteredSlice::Touch& touch, const AddressSpace& addresses, GroupWalks& walks) {
  constexpr std::uint64_t of_huge_pages = std::uint64_t{1} << 63;  // of their numbers, in the first level
  TranslationBuffers& buffers = translations_[core.index()];
  std::uint64_t missed = 0;
  // One translation is of a whole page of 2 MiB; smaller huge pages keep those of their small pages.
  const std::uint64_t in_huge =
      addresses.pages_per_huge() * addresses.page_bytes() < static_cast<std::uint64_t>(large_page.count()) ? 0 : addresses.pages_per_huge();
  for (PageNumber page = addresses.page_of(touch.range.first), last = addresses.page_of(touch.range.last - 1); page <= last;) {
    if (in_huge != 0 && addresses.in_huge_page(page)) {
      const std::uint64_t huge = page.value() / in_huge;
      missed += !is_translated(buffers, buffers.huge, huge, huge | of_huge_pages, touch, walks);
      page = PageNumber{(huge + 1) * in_huge};
    } else {
      missed += !is_translated(buffers, buffers.pages, page.value(), page.value(), touch, walks);
      ++page;
    }
  }
  walks.add(missed, touch.parallelism, touch.followed);
}

// Behind its last slice the caches go on from where the recorded run's were.
bool CacheStage::reads_record() {
  if (!reading_ || read_ < record_->slices().size() || record_->whole()) return reading_;
  take_caches(record_->caches().clone());
  translations_ = record_->translations();
  fresh_ = record_->fresh();
  reading_ = false;
  return false;
}

void CacheStage::end_recording() {
  if (!std::exchange(recording_, false)) return;
  record_->finish(caches_->clone(), translations_, fresh_);
}

void CacheStage::drop(LineRange lines, bool discard, CacheOutcome& outcome) {
  if (!reads_record()) caches_->drop(lines, discard, outcome);
}

void CacheStage::flush(CacheOutcome& outcome) {
  if (reads_record()) {
    outcome = record_->flushed();
    return;
  }
  caches_->flush(outcome);
  if (std::exchange(recording_, false)) record_->finish(outcome);
}

}  // namespace homenode
