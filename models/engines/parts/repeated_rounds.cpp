#include "models/engines/parts/repeated_rounds.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "sim/machine/mixed_bits.hpp"

namespace homenode {
namespace {

constexpr std::uint64_t longest_period = 16;  // rounds
constexpr std::uint64_t most_waiting = 64;    // rounds between two attempts

const ItemBlock* block_around(const ExecutionBody& body, const ItemRange& items) {
  const auto behind = [](std::int64_t iteration, const ItemBlock& block) { return iteration < block.last; };
  const auto block = std::upper_bound(body.blocks.begin(), body.blocks.end(), items.first, behind);
  return block != body.blocks.end() && block->first <= items.first && items.last <= block->last ? &*block : nullptr;
}

std::uint64_t counts_of(const FilteredSlice& slice) {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t number) { hash = mixed_bits(hash ^ number) + 1; };
  const auto lines = [&](const auto& ranges, const auto& of) {
    std::uint64_t sum = 0;
    for (const auto& range : ranges) sum += of(range).size();
    add(ranges.size());
    add(sum);
  };
  const auto within = [](const auto& range) { return range.lines; };
  const auto itself = [](const LineRange& range) { return range; };
  add(slice.accesses);
  add(slice.walks.pages);
  add(slice.touches.size());
  add(slice.phases.size());
  add(slice.contention.lines);
  add(std::bit_cast<std::uint64_t>(slice.contention.late.all()));
  for (const std::uint64_t hits : slice.outcome.hit_lines) add(hits);
  lines(slice.outcome.reads, within);
  lines(slice.outcome.transfers, within);
  lines(slice.outcome.upgraded, within);
  lines(slice.outcome.writebacks, itself);
  lines(slice.outcome.written_earlier, itself);
  lines(slice.outcome.non_temporal_writes, itself);
  return hash;
}

}  // namespace

void RepeatedRounds::make(std::size_t thread, std::uint64_t round, FilteredSlice& slice) const {
  slice = slices[round % period * threads.size() + thread];
  const std::uint64_t times = round / period + 1;
  const std::int64_t further = iterations * static_cast<std::int64_t>(period * times);
  slice.items.first += further;
  slice.items.last += further;
  const auto move = [&](LineRange& lines) { lines = moves.moved(lines, times); };
  for (MissRange& miss : slice.outcome.reads) move(miss.lines);
  for (TransferRange& transfer : slice.outcome.transfers) move(transfer.lines);
  for (UpgradeRange& upgrade : slice.outcome.upgraded) move(upgrade.lines);
  for (LineRange& lines : slice.outcome.writebacks) move(lines);
  for (LineRange& lines : slice.outcome.written_earlier) move(lines);
  for (LineRange& lines : slice.outcome.non_temporal_writes) move(lines);
  for (FilteredSlice::Touch& touch : slice.touches)
    touch.range = bytes_of(moves.moved(lines_of(touch.range, line_bytes), times), line_bytes);
}

std::uint64_t RepeatedRounds::bytes() const {
  std::uint64_t sum = sizeof(*this);
  for (const FilteredSlice& slice : slices) sum += slice.bytes();
  return sum;
}

RepeatedRoundsFinder::RepeatedRoundsFinder(const Workload& workload, std::uint64_t line_bytes, std::uint64_t page_bytes)
    : workload_{workload}, line_bytes_{line_bytes}, page_bytes_{page_bytes}, body_{workload} {}

void RepeatedRoundsFinder::forget() {
  last_.clear();
  counts_.clear();
  wait_ = 0;
  next_wait_ = 1;
  give_up();
}

void RepeatedRoundsFinder::give_up() {
  before_ = nullptr;
  repeated_ = nullptr;
}

void RepeatedRoundsFinder::touched(LineRange lines) {
  const std::size_t object = moves_->object_of(lines.first);
  if (object == moves_->objects().size()) {
    outside_ = true;
    return;
  }
  const auto before = std::find(touched_objects_.begin() + static_cast<std::ptrdiff_t>(slice_begin_), touched_objects_.end(), object);
  if (before == touched_objects_.end()) {
    touched_objects_.push_back(object);
    touched_.push_back({lines, moves_->objects()[object].by});
    return;
  }
  LineRange& of_slice = touched_[static_cast<std::size_t>(before - touched_objects_.begin())].lines;
  of_slice.first = std::min(of_slice.first, lines.first);
  of_slice.last = std::max(of_slice.last, lines.last);
}

// The same threads go on in the same blocks by as many iterations.
bool RepeatedRoundsFinder::goes_on(std::span<const Work> round) {
  if (round.size() != last_.size()) return false;
  for (std::size_t i = 0; i < round.size(); ++i) {
    const ItemRange &before = last_[i].items, &items = round[i].items;
    if (round[i].place.thread != last_[i].place.thread || items.execution != before.execution || items.first != before.last ||
        items.last - items.first != before.last - before.first || blocks_[i]->last < items.last)
      return false;
  }
  return true;
}

// Rounds until all that moves has moved by a multiple of so many bytes; none if they are too many.
std::optional<std::uint64_t> RepeatedRoundsFinder::period_of(std::uint64_t unit) const {
  std::uint64_t period = 1;
  for (const LineMoves::Object& object : moving_) {
    period = std::lcm(period, unit / std::gcd(unit, static_cast<std::uint64_t>(std::abs(object.by))));
    if (period > longest_period) return std::nullopt;
  }
  return period;
}

// Of a round that follows no other. `buffer`: a core's translations, or null. False if nothing can repeat.
bool RepeatedRoundsFinder::find_moves(std::span<const Work> round, const TranslationBuffer* buffer, AddressSpace& addresses) {
  moves_.reset();
  blocks_.clear();
  moving_.clear();
  held_body_ = body_.of(round.front().items.execution);
  const std::int64_t iterations = round.front().items.last - round.front().items.first;
  for (const Work& work : round) {
    const ItemBlock* const block = block_around(*held_body_, work.items);
    if (block == nullptr || work.stretch || work.items.last - work.items.first != iterations) return false;
    blocks_.push_back(block);
    for (const SlotBinding& slot : block->slots) {
      const Address base = addresses.address(slot.object, work.place.thread);
      const AddressRange bytes = AddressRange::of(base, std::max<std::uint64_t>(workload_.objects[slot.object.index()].bytes, 1));
      moving_.push_back({lines_of(bytes, line_bytes_), slot.shift * iterations});
    }
  }
  const std::uint64_t unit = page_bytes_ * (buffer == nullptr ? 1 : buffer->unit());
  std::optional<std::uint64_t> period = period_of(unit);
  if (!period) return false;
  // What moves by different numbers of sets must come back to the sets where it began.
  const auto sets_of = [&](const LineMoves::Object& object) {
    return buffer->sets_moved(object.by * static_cast<std::int64_t>(*period) / static_cast<std::int64_t>(page_bytes_));
  };
  const auto differs = [&](const LineMoves::Object& object) { return sets_of(object) != sets_of(moving_.front()); };
  if (buffer != nullptr && std::any_of(moving_.begin(), moving_.end(), differs)) period = period_of(unit * buffer->sets());
  if (!period) return false;
  period_ = *period;
  std::vector<LineMoves::Object> objects = moving_;
  for (LineMoves::Object& object : objects)
    object.by = object.by * static_cast<std::int64_t>(period_) / static_cast<std::int64_t>(line_bytes_);
  moves_ = LineMoves::of(std::move(objects));
  return moves_.has_value();
}

bool RepeatedRoundsFinder::has_equal_counts(std::span<const FilteredSlice* const> slices) {
  std::uint64_t hash = slices.size();
  for (const FilteredSlice* slice : slices) hash = mixed_bits(hash ^ counts_of(*slice)) + 1;
  counts_.push_back(hash);
  if (counts_.size() > 2 * period_) counts_.erase(counts_.begin());
  if (counts_.size() < 2 * period_) return false;
  return std::equal(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(period_),
                    counts_.begin() + static_cast<std::ptrdiff_t>(period_));
}

std::optional<std::int64_t> RepeatedRoundsFinder::page_moves(std::uint64_t page, const AddressSpace& addresses) const {
  const std::optional<std::int64_t> lines = moves_->of(lines_of(addresses.bytes_of(PageNumber{page}), line_bytes_));
  if (!lines) return std::nullopt;
  return *lines * static_cast<std::int64_t>(line_bytes_) / static_cast<std::int64_t>(page_bytes_);
}

// All that can be touched and all that is held move by the same number of sets.
bool RepeatedRoundsFinder::moves_sets_alike(const std::vector<TranslationBuffers>& translations, const AddressSpace& addresses) {
  if (translations.empty() || addresses.pages_per_huge() != 0) return true;  // with huge pages they are asked when a slice starts
  const TranslationBuffer& first = translations.front().pages;
  const auto sets_of = [&](std::int64_t lines) {
    return first.sets_moved(lines * static_cast<std::int64_t>(line_bytes_) / static_cast<std::int64_t>(page_bytes_));
  };
  const std::optional<std::uint64_t> rotation = moves_->objects().empty() ? 0 : sets_of(moves_->objects().front().by);
  if (!rotation) return false;
  set_rotation_ = *rotation;
  bool alike = true;
  for (const LineMoves::Object& object : moves_->objects()) alike = alike && sets_of(object.by) == rotation;
  for (const TranslationBuffers& buffers : translations) {
    buffers.pages.for_each([&](std::uint64_t page) {
      const std::optional<std::int64_t> by = page_moves(page, addresses);
      alike = alike && by && first.sets_moved(*by) == rotation;
    });
    if (buffers.first) buffers.first->for_each([&](std::uint64_t page) { alike = alike && page_moves(page, addresses); });
  }
  return alike;
}

bool RepeatedRoundsFinder::translations_repeat(const std::vector<TranslationBuffers>& now, const AddressSpace& addresses) const {
  if (now.empty() || addresses.pages_per_huge() != 0) return true;
  const auto to = [&](std::uint64_t page) { return page + static_cast<std::uint64_t>(*page_moves(page, addresses)); };
  for (std::size_t core = 0; core < now.size(); ++core) {
    TranslationBuffers moved = translations_before_[core];
    moved.pages.move(set_rotation_, to);
    if (moved.first) moved.first->move(0, to);
    if (!(moved.pages == now[core].pages && moved.first == now[core].first)) return false;
  }
  return true;
}

// How many periods follow that stay a page off the ends of what moves.
std::uint64_t RepeatedRoundsFinder::periods_with_room(std::uint64_t most) const {
  std::uint64_t periods = outside_ ? 0 : most;
  const auto margin = static_cast<std::int64_t>(page_bytes_ / line_bytes_);
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const auto& [lines, by] = touched_[i];
    if (by == 0) continue;
    const LineRange& object = moves_->objects()[touched_objects_[i]].lines;
    const std::int64_t before = static_cast<std::int64_t>(lines.first - object.first) - margin,
                       behind = static_cast<std::int64_t>(object.last - lines.last) - margin;
    if (before < 0 || behind < 0) return 0;
    periods = std::min(periods, static_cast<std::uint64_t>(by > 0 ? behind / by : before / -by));
  }
  return periods;
}

std::optional<RepeatedRoundsFinder::Jump> RepeatedRoundsFinder::end_round(std::span<const Work> round,
                                                                          std::span<const FilteredSlice* const> slices, std::uint64_t most,
                                                                          CacheModel& caches, std::vector<TranslationBuffers>& translations,
                                                                          AddressSpace& addresses, FreshPages& fresh) {
  const std::optional<Jump> jump = jump_behind(round, slices, most, caches, translations, addresses, fresh);
  if (!follows()) FreshPeriods{fresh}.end();
  return jump;
}

std::optional<RepeatedRoundsFinder::Jump> RepeatedRoundsFinder::jump_behind(std::span<const Work> round,
                                                                            std::span<const FilteredSlice* const> slices,
                                                                            std::uint64_t most, CacheModel& caches,
                                                                            std::vector<TranslationBuffers>& translations,
                                                                            AddressSpace& addresses, FreshPages& fresh) {
  if (round.empty()) {
    forget();
    return std::nullopt;
  }
  if (!goes_on(round)) {
    forget();
    const bool asked_ahead = !translations.empty() && addresses.pages_per_huge() == 0;
    if (most == 0 || !find_moves(round, asked_ahead ? &translations.front().pages : nullptr, addresses)) return std::nullopt;
  }
  last_.assign(round.begin(), round.end());
  const bool equal = has_equal_counts(slices);
  if (!before_) {
    if (wait_ > 0) --wait_;
    // Less to jump over than the attempt takes is not worth it.
    if (!equal || wait_ > 0 || most <= period_ || !moves_sets_alike(translations, addresses)) return std::nullopt;
    before_ = caches.contents();
    if (!before_) {
      wait_ = most;  // they never can tell
      return std::nullopt;
    }
    translations_before_ = translations;
    repeated_ = std::make_shared<RepeatedRounds>();
    touched_.clear();
    touched_objects_.clear();
    outside_ = false;
    FreshPeriods{fresh}.begin();
    return std::nullopt;
  }
  if (!equal) {
    give_up();
    return std::nullopt;
  }
  for (const FilteredSlice* slice : slices) repeated_->slices.push_back(*slice);
  if (repeated_->slices.size() < period_ * slices.size()) return std::nullopt;
  const bool repeats =
      moves_sets_alike(translations, addresses) && translations_repeat(translations, addresses) && caches.repeats(*before_, *moves_);
  FreshPeriods periods{fresh};
  Jump jump{.repeated = repeated_, .periods = repeats ? periods.alike(touched_, periods_with_room(most / period_)) : 0};
  before_ = nullptr;
  const std::shared_ptr<RepeatedRounds> found = std::exchange(repeated_, nullptr);
  if (jump.periods == 0) {
    wait_ = next_wait_;
    next_wait_ = std::min(2 * next_wait_, most_waiting);
    return std::nullopt;
  }
  for (const Work& work : round) found->threads.push_back(work.place.thread);
  found->period = period_;
  found->iterations = round.front().items.last - round.front().items.first;
  found->line_bytes = line_bytes_;
  found->moves = *moves_;
  caches.move(*moves_, jump.periods);
  periods.pass(jump.periods);
  if (addresses.pages_per_huge() == 0) {
    const std::uint64_t rotation = set_rotation_ * jump.periods;
    const auto to = [&](std::uint64_t page) { return page + static_cast<std::uint64_t>(*page_moves(page, addresses)) * jump.periods; };
    for (TranslationBuffers& buffers : translations) {
      buffers.pages.move(rotation, to);
      if (buffers.first) buffers.first->move(0, to);
    }
  }
  forget();
  return jump;
}

}  // namespace homenode
