// The caches by lines on several host threads. The bits of a line's address within its page are bits of its set's number in every level,
// whatever the page's frame (line_sample.hpp). So lines whose bits differ never share a set: they are dealt out to lanes by these
// bits, and what one lane does, no other one sees. Each host thread passes the lines of a lane in their order; what they did is noted by
// the caller in the order of all lines. The outcome is the one of a single thread, to the bit.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "models/caches/set_caches.hpp"
#include "models/caches/set_lookup.hpp"

namespace homenode {

namespace {

constexpr std::size_t most_lanes = 8;
constexpr unsigned neighbours_shift = 2;  // lines whose states share a line of the host stay together
constexpr std::size_t worth_lanes = 512;  // lines that take longer than another thread needs to begin
constexpr std::size_t at_once = 4096;     // touches
constexpr std::size_t line_window = 128;  // lines of a lane whose sets are known

}  // namespace

void SetCaches::use_host_threads(unsigned threads) {
  lanes_.host_threads = threads;
  lanes_.lanes.clear();
  const std::size_t parts = std::min<std::size_t>(most_lanes, sample_.kept() >> neighbours_shift);
  const auto is_dealt_out = [&](const Level& level) {
    return level.sets % (level.scaled ? sample_.kept() : std::size_t{1} << sample_.page_shift()) == 0;
  };
  if (threads < 2 || parts < 2 || !std::all_of(levels_.begin(), levels_.end(), is_dealt_out) || (filtered() && !is_dealt_out(filter_)))
    return;
  lanes_.lanes.resize(parts);
}

std::size_t SetCaches::touches_at_once() const { return lanes_.lanes.empty() ? CacheModel::touches_at_once() : at_once; }

// Powers of two apart, as rows of matrices are, lines are dealt out by their higher bits.
std::size_t SetCaches::lane_of(Id id) const {
  const std::uint32_t place = sample_.place(id - 1);
  return (place >> neighbours_shift ^ place >> (neighbours_shift + 3)) & (lanes_.lanes.size() - 1);
}

bool SetCaches::begin(CoreId core) {
  if (lanes_.lanes.empty()) return false;
  const auto now = std::chrono::steady_clock::now();
  lanes_.pace.took(std::chrono::duration<double>(now - lanes_.begun).count(), lanes_.lines);
  lanes_.begun = now;
  const bool many = ahead_.size() >= worth_lanes;
  lanes_.lines = many ? ahead_.size() : 0;
  if (!many || (lanes_.pace.choose() == 0 && !lanes_.insists)) {
    for (LaneOfSeveral& lane : lanes_.lanes) lane.asked.clear();
    find_sets_ahead(core);
    return false;
  }
  if (!lanes_.threads) lanes_.threads = std::make_unique<HostThreads>(lanes_.host_threads - 1);
  lanes_.beside = lanes_.pass = true;
  lanes_.threads->start(static_cast<std::uint32_t>(lanes_.lanes.size()),
                        [this, core](std::uint32_t lane) { pass_lane(core, lanes_.lanes[lane]); });
  return true;
}

void SetCaches::pass_lane(CoreId core, LaneOfSeveral& lane) {
  static_assert(std::has_single_bit(line_window) && line_window > lines_ahead);
  const std::vector<Asked>& asked = lane.asked;
  std::array<Line, line_window> lines;  // those that come next, in turn
  std::array<std::uint32_t, line_window> moved_to;
  lane.outcome = &lane.own;
  lane.passed.resize(asked.size());
  const auto line = [&](std::size_t at) -> Line& { return lines[at % line_window]; };
  const auto ask = [&](std::size_t at) {
    find_sets(line(at), asked[at].id, 0, levels_.size());
    prefetch(core, line(at));
  };
  const auto ask_for_victims = [&](std::size_t at) {
    moved_to[at % line_window] = own_holds(core, 0, line(at)) ? no_set : prefetch_victims(core, line(at), 0);
  };
  const auto keep = [](std::vector<LineRange>& from, std::vector<LineRange>& to) {
    const auto count = static_cast<std::uint16_t>(from.size());
    to.insert(to.end(), from.begin(), from.end());
    from.clear();
    return count;
  };
  for (std::size_t next = 0; next < std::min(lines_ahead, asked.size()); ++next) ask(next);
  for (std::size_t next = 0; next < std::min(victims_ahead, asked.size()); ++next) ask_for_victims(next);
  for (std::size_t at = 0; at < asked.size(); ++at) {
    if (at + lines_ahead < asked.size()) ask(at + lines_ahead);
    if (at + victims_ahead < asked.size()) ask_for_victims(at + victims_ahead);
    if (at + last_victims_ahead < asked.size() && moved_to[(at + last_victims_ahead) % line_window] != no_set)
      prefetch_last_victim(core, moved_to[(at + last_victims_ahead) % line_window]);
    Passed& passed = lane.passed[at];
    passed.fate = {};
    pass_line(lane, core, line(at), asked[at].use, passed.fate);
    passed.took = !lane.invalidated.empty();
    if (passed.took) lane.domains.push_back(domains_of(lane));
    passed.writebacks = keep(lane.own.writebacks, lane.writebacks);
    passed.non_temporal_writes = keep(lane.own.non_temporal_writes, lane.non_temporal_writes);
  }
  lane.asked.clear();
}

// Of lines that passed in lanes; waits for the last of them.
void SetCaches::note_next(CacheOutcome& outcome, std::size_t count) {
  if (std::exchange(lanes_.pass, false)) lanes_.threads->finish();
  const auto tell = [](const std::vector<LineRange>& from, std::size_t& told, unsigned number, std::vector<LineRange>& to) {
    for (; number > 0; --number) append(to, from[told++]);
  };
  for (const std::size_t end = passed_ + count; passed_ < end; ++passed_) {
    const Ahead& line = ahead_[passed_];
    LaneOfSeveral& lane = lanes_.lanes[lane_of(line.line.id)];
    const Passed& passed = lane.passed[lane.told++];
    tell(lane.writebacks, lane.told_writebacks, passed.writebacks, outcome.writebacks);
    tell(lane.non_temporal_writes, lane.told_non_temporal, passed.non_temporal_writes, outcome.non_temporal_writes);
    note(outcome, passed.fate, line, passed.took ? lane.domains[lane.told_domains++] : 0);
  }
  kept_touches_ += count;
  if (passed_ < ahead_.size()) return;
  for (LaneOfSeveral& lane : lanes_.lanes) {
    lane.writebacks.clear();
    lane.non_temporal_writes.clear();
    lane.domains.clear();
    lane.told = lane.told_writebacks = lane.told_non_temporal = lane.told_domains = 0;
  }
}

}  // namespace homenode
