#include "traces/importers/folding.hpp"

#include <algorithm>
#include <utility>

namespace homenode {
namespace {

// A run of fewer accesses is kept as single ones: in random addresses short regularities occur by chance.
constexpr std::uint64_t least_run = 6;
// Of fewer single accesses of one site each is a run of its own.
constexpr std::size_t least_stream = 4;

std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace

std::size_t AccessFolder::ClassKeyHash::operator()(const ClassKey& key) const {
  std::uint64_t mixed = (std::uint64_t{key.site} << 32 | key.object) ^ std::uint64_t{key.kind_and_width} << 20;
  mixed *= 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

void AccessFolder::add(SiteId site, ObjectId object, std::int64_t offset, AccessKind kind, std::uint16_t width) {
  const ClassKey key{site.value(), object.value(), static_cast<std::uint32_t>(kind) << 16 | width};
  const auto [entry, fresh] = class_of_.emplace(key, classes_.size());
  if (fresh) {
    Class created;
    created.object = object;
    created.shape.site = site;
    created.shape.kind = kind;
    created.shape.width = width;
    classes_.push_back(std::move(created));
    objects_.emplace(object, true);
  }
  push(entry->second, {offset, sequence_++});
}

void AccessFolder::push(std::size_t number, const Element& element) {
  {
    // A run that awaited another element for now or earlier has ended.
    Class& of = classes_[number];
    bool joined = false;
    std::size_t kept = 0;
    ended_.clear();
    for (std::size_t i = 0; i < of.open.size(); ++i) {
      Open& run = of.open[i];
      const std::uint64_t due = run.last.sequence + run.sequence_stride;
      bool goes_on = due > element.sequence;
      if (!joined && due == element.sequence && difference(element.offset, run.last.offset) == run.stride && run.count < UINT32_MAX) {
        run.last = element;
        ++run.count;
        joined = goes_on = true;
      }
      if (goes_on) {
        if (kept != i) of.open[kept] = run;
        ++kept;
      } else {
        ended_.push_back(run);
      }
    }
    of.open.resize(kept);
    if (!joined && !begin_run(of, element)) of.recent.push_back(element);
  }
  if (!ended_.empty()) {
    std::vector<Open> ended = std::exchange(ended_, {});
    std::sort(ended.begin(), ended.end(), [](const Open& a, const Open& b) { return a.first.sequence < b.first.sequence; });
    for (const Open& run : ended) close(number, run);
    ended.clear();
    if (ended_.empty()) std::swap(ended_, ended);  // keeps its memory
  }
  if (classes_[number].recent.size() > window) {
    const Element oldest = classes_[number].recent.front();
    classes_[number].recent.erase(classes_[number].recent.begin());
    emit(number, oldest);
  }
}

// `recent` is in order of the sequence, so the third element lies further and further back as the second one does.
bool AccessFolder::begin_run(Class& of, const Element& element) {
  std::vector<Element>& recent = of.recent;
  if (recent.size() < 2 || of.open.size() >= most_open || recent.back().sequence >= element.sequence) return false;
  std::size_t third = recent.size() - 1;
  for (std::size_t second = recent.size() - 1; second > 0; --second) {
    const std::uint64_t distance = element.sequence - recent[second].sequence;
    if (distance > UINT32_MAX || distance > recent[second].sequence) return false;
    const std::uint64_t wanted = recent[second].sequence - distance;
    third = std::min(third, second - 1);
    while (third > 0 && recent[third].sequence > wanted) --third;
    if (recent[third].sequence != wanted) continue;
    const std::int64_t stride = difference(element.offset, recent[second].offset);
    if (difference(recent[second].offset, recent[third].offset) != stride) continue;
    of.open.push_back({recent[third], element, stride, distance, 3});
    recent.erase(recent.begin() + static_cast<std::ptrdiff_t>(second));
    recent.erase(recent.begin() + static_cast<std::ptrdiff_t>(third));
    return true;
  }
  return false;
}

void AccessFolder::close(std::size_t number, Open run) {
  const AccessRun& shape = classes_[number].shape;
  const NestedKey key{number, run.count, run.stride, run.sequence_stride};
  const auto [entry, fresh] = nested_.emplace(key, classes_.size());
  const std::size_t nested = entry->second;
  if (fresh) {
    Class created;
    created.object = classes_[number].object;
    created.shape = shape;
    created.shape.dimension[created.shape.dimensions++] = {run.count, run.stride, static_cast<std::uint32_t>(run.sequence_stride)};
    classes_.push_back(std::move(created));
  }
  if (classes_[nested].shape.dimensions == AccessRun::max_dimensions)
    emit(nested, run.first);
  else
    push(nested, run.first);
}

void AccessFolder::emit(std::size_t number, const Element& element) {
  const Class& of = classes_[number];
  AccessRun run = of.shape;
  run.offset = element.offset;
  run.sequence = element.sequence;
  const std::uint64_t accesses = run.accesses();
  if (accesses >= least_run) {
    runs_.push_back({of.object, run});
    return;
  }
  // So few accesses have at most one dimension: a run has three elements or more.
  std::vector<Single>& singles = singles_[{run.site, run.kind, run.width}];
  const RunDimension& dimension = run.dimension[0];
  for (std::uint64_t i = 0; i < accesses; ++i)
    singles.push_back(
        {of.object, run.offset + static_cast<std::int64_t>(i) * dimension.stride, run.sequence + i * dimension.sequence_stride});
  irregular_ += accesses;
}

void AccessFolder::add_streams(FoldedItem& item, std::map<ObjectId, SlotNumber>& slots) {
  for (auto& [key, singles] : singles_) {
    std::sort(singles.begin(), singles.end(), [](const Single& a, const Single& b) { return a.sequence < b.sequence; });
    if (singles.size() < least_stream) {
      for (const Single& single : singles) {
        AccessRun run;
        run.site = key.site;
        run.kind = key.kind;
        run.width = key.width;
        run.offset = single.offset;
        run.sequence = single.sequence;
        runs_.push_back({single.object, run});
      }
      continue;
    }
    IrregularStream stream;
    stream.site = key.site;
    stream.kind = key.kind;
    stream.width = key.width;
    for (const Single& single : singles) {
      const auto [entry, fresh] = slots.emplace(single.object, static_cast<SlotNumber>(item.positions.size()));
      if (fresh) item.positions.push_back({single.object, single.offset});
      stream.slot.push_back(entry->second);
      stream.offset.push_back(single.offset - item.positions[entry->second].offset);
      stream.producer_distance.push_back(0);
      stream.sequence.push_back(single.sequence);
    }
    item.pattern.streams.push_back(std::move(stream));
  }
}

void AccessFolder::add_runs(FoldedItem& item, std::map<ObjectId, SlotNumber>& slots) {
  std::sort(runs_.begin(), runs_.end(), [](const PlacedRun& a, const PlacedRun& b) { return a.run.sequence < b.run.sequence; });
  const bool room = item.positions.size() + runs_.size() <= most_objects;
  for (const PlacedRun& placed : runs_) {
    AccessRun run = placed.run;
    const auto next = static_cast<SlotNumber>(item.positions.size());
    run.slot = room ? next : slots.emplace(placed.object, next).first->second;
    if (run.slot == next) item.positions.push_back({placed.object, run.offset});
    run.offset -= item.positions[run.slot].offset;
    item.pattern.runs.push_back(run);
  }
}

FoldedItem AccessFolder::finish() {
  // Nested classes come after those they are nested in, and may still be added to.
  for (std::size_t number = 0; number < classes_.size(); ++number) {
    std::vector<Open> open = std::exchange(classes_[number].open, {});
    std::sort(open.begin(), open.end(), [](const Open& a, const Open& b) { return a.first.sequence < b.first.sequence; });
    for (const Open& run : open) close(number, run);
    for (const Element& element : std::exchange(classes_[number].recent, {})) emit(number, element);
  }
  FoldedItem item;
  std::map<ObjectId, SlotNumber> slots;
  add_streams(item, slots);
  add_runs(item, slots);
  ItemPattern& pattern = item.pattern;
  pattern.slots = static_cast<SlotNumber>(item.positions.size());
  pattern.work = work_;
  const auto count = [&pattern](AccessKind kind, std::uint64_t accesses) {
    pattern.accesses += accesses;
    if (kind != AccessKind::write) pattern.reads += accesses;
    if (kind != AccessKind::read) pattern.writes += accesses;
  };
  for (const AccessRun& run : pattern.runs) count(run.kind, run.accesses());
  for (const IrregularStream& stream : pattern.streams) count(stream.kind, stream.offset.size());
  *this = {};
  return item;
}

}  // namespace homenode
