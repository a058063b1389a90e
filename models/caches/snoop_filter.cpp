// The snoop filter of an outermost level that need not have what the caches inside it have (CacheDescription::snoop_filter): one entry for
// each line that these may hold. An entry is made when a core takes a line in, and goes when no cache inside has the line any more. A core
// that finds a line in its own caches asks nobody, so that an entry is as old as the last time that its line came in. Where a set is full,
// the oldest entry's line leaves all caches inside; the outermost one takes it in as it takes other victims.
#include <algorithm>

#include "models/caches/set_caches.hpp"
#include "models/caches/set_lookup.hpp"

namespace homenode {

void SetCaches::describe_filter(const CacheDescription& outer, unsigned one_in) {
  const auto line = static_cast<std::uint64_t>(outer.line.count());
  filter_ = levels_.back();
  filter_.ways = outer.snoop_filter_ways;
  filter_.sets = static_cast<std::uint32_t>(static_cast<std::uint64_t>(outer.snoop_filter->count()) / line / filter_.ways / filter_.slices);
  filter_.by_id = false;
  filter_.drawn.clear();
  spread(filter_, line, one_in);
  filters_.assign(filter_.cache_entries * domains_, 0);
}

void SetCaches::enter_filter(Lane& lane, CoreId core, Id id) {
  const std::size_t domain = cache_of(core, outermost());
  Entry* const set = filter_set(domain, id);
  const unsigned way = find(set, filter_.ways, id);
  if (way < filter_.ways) return make_first(set, way, 2 * id);
  const Entry driven_out = set[filter_.ways - 1];  // empty places come last
  make_first(set, filter_.ways - 1, 2 * id);
  if (driven_out != 0) drive_out(lane, domain, driven_out >> 1);
}

void SetCaches::leave_filter(std::size_t domain, Id id) {
  Entry* const set = filter_set(domain, id);
  const unsigned way = find(set, filter_.ways, id);
  if (way == filter_.ways) return;
  std::copy(set + way + 1, set + filter_.ways, set + way);
  set[filter_.ways - 1] = 0;
}

// The core's caches have pushed it out. Where a holder's bit stands for one core, it says that this may hold it; else it is looked up.
void SetCaches::leave_filter_unless_held(CoreId core, Id id, const LineState& known) {
  const Line line = line_of(id, 0, outermost());
  bool held = false;
  cores_.for_each_core(known.holders, [&](CoreId other) {
    if (held || !same_domain(core, other)) return;
    held = cores_.exact();
    for (std::size_t level = 0; level < outermost(); ++level) held = held || holds(level, cache_of(other, level), line);
  });
  if (!held) leave_filter(cache_of(core, outermost()), id);
}

void SetCaches::drive_out(Lane& lane, std::size_t domain, Id id) {
  LineState& known = states_[id];
  const Line line = line_of(id);
  bool dirty = false, held = false;
  CoreId holder;
  cores_.for_each_core(known.holders, [&](CoreId other) {
    if (cache_of(other, outermost()) != domain) return;
    for (std::size_t level = 0; level < outermost(); ++level) held |= remove(level, cache_of(other, level), line, dirty);
    if (cores_.exact()) known.holders &= ~cores_.bit(other);
    holder = other;
  });
  if (held) (this->*of_shape_.insert_outermost)(lane, holder, line, dirty);
}

}  // namespace homenode
