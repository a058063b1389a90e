#include "models/engines/closed_form/traffic_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/program/core_time.hpp"

namespace homenode {
namespace {

constexpr LineNumber private_lines{std::uint64_t{1} << 56};  // from here on: objects of single threads
constexpr std::size_t counted_groups = 16;                   // one in so many tells how good a sample is
constexpr std::size_t neighbours = 48;                       // parts of a cell that a new one may continue

class AnyNode final : public PagePlacement {
public:
  void fault(std::span<const PageFault>, std::span<NodeId> home) override { std::fill(home.begin(), home.end(), NodeId{0}); }
};

struct Hash {
  std::uint64_t value = 0xCBF29CE484222325;
  void add(std::uint64_t number) {
    value = (value ^ number) * 0x9E3779B97F4A7C15;  // Knuth, The Art of Computer Programming 3, section 6.4
    value ^= value >> 29;
  }
};

std::uint64_t what_it_does(const Execution& execution, const ExecutionBody& body) {
  Hash hash;
  hash.add(execution.region.value());
  hash.add(static_cast<std::uint64_t>(execution.iterations));
  hash.add(execution.parallel == 0);
  for (const ItemBlock& block : body.blocks) {
    hash.add(static_cast<std::uint64_t>(block.first));
    hash.add(static_cast<std::uint64_t>(block.last));
    hash.add(block.pattern.value());
    for (const SlotBinding& slot : block.slots) {
      hash.add(slot.object.value());
      hash.add(static_cast<std::uint64_t>(slot.base));
      hash.add(static_cast<std::uint64_t>(slot.shift));
    }
  }
  return hash.value;
}

bool alike(float a, float b) { return std::abs(a - b) <= 0.125F * std::max(a, b) + 16; }

bool continues(const TrafficPart& part, const TrafficPart& next) {
  return part.cell_before == next.cell_before && part.written_before == next.written_before && part.reads == next.reads &&
         part.writes == next.writes && part.non_temporal == next.non_temporal && part.parallelism == next.parallelism &&
         part.waited == next.waited && part.past.loop == next.past.loop && part.past.first_cell == next.past.first_cell &&
         part.past.last_cell == next.past.last_cell && part.past.writer == next.past.writer &&
         part.past.writer_cell == next.past.writer_cell && std::abs(part.share - next.share) < 0.05F &&
         alike(part.distance, next.distance) && alike(part.past.tail, next.past.tail) && alike(part.past.since, next.past.since);
}

}  // namespace

std::size_t private_levels(const Machine& machine) {
  std::size_t levels = 0;
  while (levels < machine.caches.size() && machine.caches[levels].cores_per_cache == 1) ++levels;
  return levels;
}

std::vector<StackLevel> stack_levels(const Machine& machine, std::size_t first, std::size_t last) {
  std::vector<StackLevel> levels;
  for (std::size_t level = first; level < last; ++level) {
    const CacheDescription& cache = machine.caches[level];
    const auto lines = static_cast<std::uint64_t>(cache.size.count() / cache.line.count());
    const std::uint64_t inner = levels.empty() ? 0 : levels.back().lines;
    levels.push_back(
        {cache.inclusion == Inclusion::exclusive ? inner + lines : std::max(inner, lines), level == 0 ? 0 : cache.ways, cache.victim});
  }
  return levels;
}

double chance_to_hold(const StackBounds& bounds, std::size_t level, double distance) {
  const StackBounds::Level& known = bounds.levels[level];
  const auto near = static_cast<double>(bounds.distances[known.near]), far = static_cast<double>(bounds.distances[known.far]);
  if (distance < near) return 1;
  if (distance >= far || known.chance.size() < 2) return 0;
  const double step = (distance - near) / (far - near) * static_cast<double>(known.chance.size() - 1);
  const auto before = static_cast<std::size_t>(step);
  return known.chance[before] +
         (known.chance[std::min(before + 1, known.chance.size() - 1)] - known.chance[before]) * (step - std::floor(step));
}

TrafficTable::TrafficTable(const Workload& workload, const Machine& machine, StoreTreatment stores, Bytes page,
                           std::shared_ptr<const CodeCycles> code, unsigned one_in)
    : workload_{workload},
      machine_{machine},
      page_bytes_{static_cast<std::uint64_t>(page.count())},
      lines_per_page_{page_bytes_ / LineTouchOptions::of(machine, stores).line_bytes},
      touches_{LineTouchOptions::of(machine, stores, code.get())},
      sample_{machine, one_in, 0},
      code_{std::move(code)},
      anywhere_{std::make_unique<AnyNode>()},
      addresses_{std::make_unique<AddressSpace>(machine, workload, *anywhere_, page)},
      known_(workload.objects.size(), 0),
      first_line_{line_of(addresses_->first_byte(PageNumber{}), LineTouchOptions::of(machine, stores).line_bytes)},
      first_kept_{sample_.first_number_from(first_line_)},
      kept_per_page_{lines_per_page_ / sample_.one_in()},
      levels_of_core_{private_levels(machine)},
      miss_buffers_{static_cast<float>(machine.miss_buffers)},
      private_bounds_{stack_levels(machine, 0, levels_of_core_)} {
  touches_.keep(sample_.kept_lines());
  touched_.resize(workload.regions.size(), 0);
  kept_.resize(workload.regions.size(), 0);
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    const Execution& execution = workload.executions[e];
    const Region& region = workload.regions[execution.region.index()];
    if (region.kind == RegionKind::task)
      throw UsageError("region '" + region.label + "' consists of tasks; the closed form estimates loops and serial code only");
    if (region.kind == RegionKind::thread && execution.parallel == 0)
      throw UsageError("the program creates threads itself; the closed form estimates loops and serial code only");
    const auto body = workload.body(ExecutionId{e});
    const auto [found, is_new] = loop_of_.try_emplace(what_it_does(execution, *body));
    Loop& loop = found->second;
    if (is_new) loop.number = static_cast<LoopNumber>(loops_++);
    if (loop.analysed < analysed_executions) {
      ++loop.analysed;
      loop.traffic = traffic_.size();
      traffic_.push_back(analyse(execution, *body, loop.number));
    }
    traffic_of_.push_back(loop.traffic);
    if (history_.size() > most_ranges)
      throw UsageError("region '" + region.label + "' touches more than " + std::to_string(most_ranges) +
                       " separate ranges of lines; the closed form estimates programs with fewer");
  }
  for (const RegionTraffic& traffic : traffic_) {
    for (const TrafficPart& part : traffic.parts)
      for (const LineRange& lines : part.ranges) pages_ = std::max(pages_, page_of(lines.last).value() + 1);
    if (!traffic.fresh_pages.empty()) pages_ = std::max(pages_, traffic.fresh_pages.back().page.value() + 1);
  }
  // A table is kept for the next estimate; what it was made with is not.
  history_ = {};
  written_pages_ = {};
  fresh_ = {};
  loop_of_ = {};
  touches_ = LineTouches{LineTouchOptions::of(machine, stores)};
}

Address TrafficTable::address_of(ObjectId object) {
  if (workload_.objects[object.index()].thread_private)
    return Address{(private_lines.value() << 7) + (std::uint64_t{object.index()} << 40)};
  const Address address = addresses_->address(object, ThreadId{0});
  if (std::exchange(known_[object.index()], std::uint8_t{1}) == 0) object_from_[address] = object;
  return address;
}

std::pair<ObjectId, std::int64_t> TrafficTable::object_at(PageNumber page) const {
  const Address begin = addresses_->first_byte(page);
  const auto behind = object_from_.upper_bound(begin + page_bytes_ - 1);
  if (behind == object_from_.begin()) return {ObjectId::none(), 0};
  const auto& [address, object] = *std::prev(behind);
  return {object, static_cast<std::int64_t>(begin - address)};
}

std::optional<PageNumber> TrafficTable::first_page(ObjectId object) const {
  for (const auto& [address, other] : object_from_)
    if (other == object) return PageNumber{(address - addresses_->first_byte(PageNumber{})) / page_bytes_};
  return std::nullopt;
}

RegionTraffic TrafficTable::analyse(const Execution& execution, const ExecutionBody& body, LoopNumber loop) {
  RegionTraffic traffic;
  region_ = execution.region.index();
  traffic.loop = loop;
  traffic.iterations = execution.iterations;
  traffic.cells.resize(static_cast<std::size_t>(std::min(execution.iterations, most_cells)));
  traffic.hit_lines.resize(traffic.cells.size() * levels_of_core_, 0);
  traffic.hit_weight.resize(traffic.cells.size() * levels_of_core_, 0);
  traffic.hit_waited.resize(traffic.cells.size() * levels_of_core_, 0);
  history_.begin_execution(loop);
  fresh_.clear();
  const RegionCycles* code = code_ ? code_->of(execution.region) : nullptr;
  auto block = body.blocks.begin();
  for (std::uint32_t c = 0; c < traffic.cells.size(); ++c) {
    const std::int64_t first = traffic.first_of(c), last = traffic.first_of(c + 1);
    TrafficCell& cell = traffic.cells[c];
    cell.first_part = traffic.parts.size();
    for (auto b = block; b != body.blocks.end() && b->first < last; ++b) {
      const WorkCounts& work = workload_.patterns[b->pattern.index()].work;
      const auto iterations = static_cast<double>(std::min(last, b->last) - std::max(first, b->first));
      cell.core_seconds += core_seconds(work, code, machine_) * iterations;
      cell.loads += loading_instructions(work, code) * iterations;
      if (b->last <= last) block = std::next(b);
    }
    touches_.start(workload_.patterns, body, first, last, [this](ObjectId object) { return address_of(object); });
    while (touches_.next(group_)) follow_group(traffic, c);
    cell.last_part = traffic.parts.size();
  }
  std::sort(traffic.fresh_pages.begin(), traffic.fresh_pages.end(), [](const FreshPage& a, const FreshPage& b) { return a.page < b.page; });
  return traffic;
}

void TrafficTable::follow_group(RegionTraffic& traffic, std::uint32_t cell) {
  found_.clear();
  touch_of_.clear();
  for (const LineTouch& touch : touches_.left_out()) note_writes(traffic, cell, touch);
  if (!sample_.all() && groups_++ % counted_groups == 0) count_lines();
  for (std::size_t i = 0; i < group_.size(); ++i) {
    if (group_[i].lines.first >= private_lines) continue;
    note_writes(traffic, cell, group_[i]);
    const LineRange kept = sample_.numbers(group_[i].lines);
    if (kept.size() > 0) history_.look_up(kept, found_);
    touch_of_.resize(found_.size(), i);
  }
  if (found_.empty()) return;
  history_.begin_group();
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const LineTouch& touch = group_[touch_of_[i]];
    add(traffic, cell, touch, found_[i]);
    if (touch.non_temporal && !touch.reads)
      history_.forget(found_[i].lines);
    else
      history_.touch(found_[i], cell, touch.writes);
  }
}

// Of the group in hand, each line once.
void TrafficTable::count_lines() {
  left_out_.clear();
  for (const LineTouch& touch : touches_.left_out())
    if (touch.lines.first < private_lines) left_out_.push_back(touch.lines.first);
  std::sort(left_out_.begin(), left_out_.end());
  touched_[region_] += static_cast<std::uint64_t>(std::unique(left_out_.begin(), left_out_.end()) - left_out_.begin());
  for (const LineTouch& touch : group_) {
    if (touch.lines.first >= private_lines) continue;
    touched_[region_] += touch.lines.size();
    kept_[region_] += sample_.numbers(touch.lines).size();
  }
}

double TrafficTable::sampling_error() const {
  double all = 0, missing = 0;
  for (std::size_t region = 0; region < touched_.size(); ++region) {
    const auto touched = static_cast<double>(touched_[region]);
    all += touched;
    missing += std::abs(static_cast<double>(kept_[region]) * sample_.one_in() - touched);
  }
  return all > 0 ? missing / all : 0;
}

// `kept`: distances in kept lines.
void TrafficTable::add(RegionTraffic& traffic, std::uint32_t cell, const LineTouch& touch, const LineReuse& kept) {
  const auto each = static_cast<float>(sample_.one_in());
  LineReuse reuse = kept;
  reuse.distance *= each;
  reuse.past.tail *= each;
  reuse.past.since *= each;
  const double lines = each * static_cast<double>(reuse.lines.size());
  TrafficPart part;
  static_cast<LineReuse&>(part) = reuse;
  part.parallelism = touch.parallelism;
  part.waited = touch.parallelism > miss_buffers_ ? std::uint8_t{0} : touch.waited;
  part.reads = touch.reads;
  part.writes = touch.writes;
  part.non_temporal = touch.non_temporal && !touch.reads;
  if (reuse.cell_before == cell && !part.non_temporal && levels_of_core_ > 0) {
    // The same thread whatever the schedule: what its own caches hold surely is served there.
    double before = 0;
    for (std::size_t level = 0; level < levels_of_core_; ++level) {
      const double held = chance_to_hold(private_bounds_, level, reuse.distance);
      traffic.hit_lines[cell * levels_of_core_ + level] += lines * (held - before);
      traffic.hit_weight[cell * levels_of_core_ + level] += lines * (held - before) / part.parallelism;
      traffic.hit_waited[cell * levels_of_core_ + level] += lines * (held - before) * part.waited / 255;
      before = std::max(before, held);
    }
    if (before >= 1) return;
    part.share = static_cast<float>(1 - before);
  }
  const std::size_t from = traffic.parts.size() - std::min(traffic.parts.size() - traffic.cells[cell].first_part, neighbours);
  for (std::size_t i = traffic.parts.size(); i > from; --i) {
    TrafficPart& earlier = traffic.parts[i - 1];
    if (!continues(earlier, part)) continue;
    earlier.count += lines;
    LineRange& last = earlier.ranges.back();
    if (last.last == part.lines.first)
      last.last = part.lines.last;
    else
      earlier.ranges.push_back(part.lines);
    return;
  }
  part.ranges.push_back(part.lines);
  part.count = lines;
  traffic.parts.push_back(std::move(part));
}

// Pages that it is the first to write.
void TrafficTable::note_writes(RegionTraffic& traffic, std::uint32_t cell, const LineTouch& touch) {
  if (!touch.writes || touch.lines.first >= private_lines) return;
  const auto page_at = [this](LineNumber line) { return PageNumber{(line - first_line_) / lines_per_page_}; };
  const PageNumber last = page_at(touch.lines.last - 1);
  for (PageNumber page = page_at(touch.lines.first); page <= last; ++page) {
    const std::size_t at = page.value();
    if (written_pages_.size() <= at) written_pages_.resize(std::max(at + 1, 2 * written_pages_.size()), 0);
    if (written_pages_[at] == 0) {
      written_pages_[at] = 1;
      fresh_[page] = traffic.fresh_pages.size();
      traffic.fresh_pages.push_back({page, cell, cell});
    } else if (const auto known = fresh_.find(page); known != fresh_.end()) {
      FreshPage& fresh = traffic.fresh_pages[known->second];
      fresh.first_cell = std::min(fresh.first_cell, cell);
      fresh.last_cell = std::max(fresh.last_cell, cell);
    }
  }
}

}  // namespace homenode
