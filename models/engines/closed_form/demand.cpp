// Where the lines of each thread come from, under a schedule.
#include <algorithm>

#include "models/engines/closed_form/model.hpp"
#include "models/engines/parts/fresh_pages.hpp"
#include "models/engines/parts/page_work.hpp"
#include "models/engines/staged/flow_sharing.hpp"
#include "sim/machine/transfer_latency.hpp"

namespace homenode {

std::vector<double> fair_times(const Eigen::ArrayXd& minimum, const Eigen::ArrayXXd& uses) {
  FlowSharing sharing{static_cast<std::size_t>(uses.cols())};
  std::vector<double> ends(static_cast<std::size_t>(minimum.size()), 0.0);
  std::vector<std::size_t> thread_of;
  for (Eigen::Index t = 0; t < minimum.size(); ++t) {
    Activity activity;
    activity.minimum = Time::from_seconds(minimum(t));
    for (Eigen::Index r = 0; r < uses.cols(); ++r)
      if (uses(t, r) > 0) activity.uses.push_back({ResourceId{static_cast<std::size_t>(r)}, uses(t, r)});
    if (activity.minimum == Time{} && activity.uses.empty()) continue;
    sharing.start(activity);
    thread_of.push_back(static_cast<std::size_t>(t));
  }
  std::vector<ActivityEnd> ended;
  while (const auto next = sharing.next_event()) sharing.advance(*next, ended);
  for (const ActivityEnd& end : ended) ends[thread_of[end.activity.index()]] = end.time.seconds();
  return ends;
}

const ClosedForm::Homes& ClosedForm::homes_of(const RegionTraffic& traffic, bool fresh) const {
  std::unique_ptr<Homes>& known = homes_[&traffic];
  if (known && !fresh && known->placements == placements_) return *known;
  if (!known) known = std::make_unique<Homes>();
  Homes& homes = *known;
  homes.placements = fresh ? ~std::uint64_t{0} : placements_;
  homes.first.clear();
  homes.shares.clear();
  const std::vector<std::uint8_t>& home_of = fresh ? preview_ : home_of_;
  const auto each = static_cast<float>(table_.one_in());
  for (const TrafficPart& part : traffic.parts) {
    homes.first.push_back(static_cast<std::uint32_t>(homes.shares.size()));
    const std::size_t begin = homes.shares.size();
    for (const LineRange& lines : part.ranges)
      for (LineNumber line = lines.first; line < lines.last;) {
        const PageNumber page = table_.page_of(line);
        const LineNumber end = std::min(lines.last, table_.first_line(page + 1));
        const std::uint8_t home = home_of[page.value()];
        const auto same = std::find_if(homes.shares.begin() + static_cast<std::ptrdiff_t>(begin), homes.shares.end(),
                                       [home](const Homes::Share& share) { return share.home == home; });
        if (same == homes.shares.end())
          homes.shares.push_back({home, each * static_cast<float>(end - line)});
        else
          same->lines += each * static_cast<float>(end - line);
        line = end;
      }
  }
  homes.first.push_back(static_cast<std::uint32_t>(homes.shares.size()));
  return homes;
}

// Of a page's lines that are in no cache: seconds.
double ClosedForm::zeroing_time(std::size_t thread, NodeId home) const {
  const double lines = system_.fault.zeroing * static_cast<double>(table_.lines_per_page());
  return zeroing_seconds(machine_, lines, latency_(at(thread), at(home.index())));
}

// Pages that the execution writes first, each by the thread that comes to it earliest in its own share.
void ClosedForm::place_fresh_pages(const RegionTraffic& traffic, const Assignment& assignment, Demand& asked) const {
  preview_ = home_of_;
  preview_warm_ = warm_;
  const Owners& owners = assignment.owners;
  std::vector<std::vector<PageFault>> faults(team_.size());
  for (const FreshPage& fresh : traffic.fresh_pages) {
    if (preview_[fresh.page.value()] != unplaced) continue;
    std::uint16_t first = nobody;
    double earliest = 2;
    for (std::uint32_t c = fresh.first_cell; c <= fresh.last_cell; ++c) {
      const std::uint16_t thread = owners.of_cell[c];
      if (thread == nobody) continue;
      const double when = static_cast<double>(owners.turn[c]) / owners.cells[thread];
      if (when < earliest) first = thread, earliest = when;
    }
    if (first == nobody) continue;
    const auto [object, offset] = table_.object_at(fresh.page);
    faults[first].push_back({.page = fresh.page,
                             .object = object,
                             .place = {ThreadId{first}, team_[first], node_[first], Time{}},
                             .write = true,
                             .offset = offset,
                             .bytes = table_.page_bytes()});
  }
  std::vector<NodeId> homes;
  for (std::size_t t = 0; t < faults.size(); ++t) {
    if (faults[t].empty()) continue;
    homes.assign(faults[t].size(), NodeId{0});
    placement_.fault(faults[t], homes);
    asked.faults(at(t)) += static_cast<double>(homes.size());
    for (std::size_t i = 0; i < homes.size(); ++i) {
      preview_[faults[t][i].page.value()] = static_cast<std::uint8_t>(homes[i].value());
      asked.cold_faults(at(t)) += static_cast<double>(preview_warm_.take(homes[i], 1));
      if (zeroes_in_caches_)
        asked.zeroing(at(t)) += zeroing_time(t, homes[i]);
      else
        asked.non_temporal(at(t), at(homes[i].index())) += system_.fault.zeroing * static_cast<double>(table_.lines_per_page());
    }
  }
}

std::vector<double> ClosedForm::touch_first(std::span<const TouchedPages> touched) {
  std::vector<double> seconds;
  const FaultCost& cost = system_.fault;
  for (const TouchedPages& pages : touched) {
    const std::optional<PageNumber> begin = table_.first_page(pages.object);
    if (!begin) continue;
    seconds.resize(team_.size(), 0.0);
    for (std::uint64_t index = pages.first; index < pages.last; ++index) {
      const PageNumber page = *begin + index;
      if (page.value() >= home_of_.size() || home_of_[page.value()] != unplaced) continue;
      const std::size_t thread = pages.thread.is_none() ? index % team_.size() : pages.thread.index();
      const auto [object, offset] = table_.object_at(page);
      const PageFault one{.page = page,
                          .object = object,
                          .place = {ThreadId{thread}, team_[thread], node_[thread], Time{}},
                          .write = true,
                          .offset = offset,
                          .bytes = table_.page_bytes()};
      NodeId home;
      placement_.fault({&one, 1}, {&home, 1});
      home_of_[page.value()] = static_cast<std::uint8_t>(home.value());
      // One line of each page, further apart than prefetchers follow; those of small pages are in the caches.
      const Time fault = (warm_.take(home, 1) == 0 ? cost.parallel : cost.cold.value_or(cost.parallel)) + cost.serial;
      seconds[thread] += fault.seconds() + zeroing_time(thread, home) +
                         (zeroes_in_caches_ ? 0 : latency_(at(thread), at(home.index())) / machine_.miss_buffers);
    }
  }
  ++placements_;
  return seconds;
}

// Of a latency, what comes on top of a hit in the first level.
double ClosedForm::beyond_first(double latency) const {
  return std::max(0.0, latency - (machine_.caches.empty() ? 0 : machine_.caches.front().latency.seconds()));
}

// How much of lines at this distance each level still has; own: of the thread itself, else only levels that it shares.
void ClosedForm::hold(double distance, std::uint16_t thread, bool own, Found& found) const {
  double left = 1 - found.near - found.far, before = found.near + found.far;
  for (std::size_t level = own ? 0 : private_levels_; level < levels_ && left > 0; ++level) {
    double held = 0;
    if (level < private_levels_) {
      held = chance_to_hold(bounds_[0], level, distance);
    } else {
      const double lines = victims_ ? std::max(0.0, distance - private_lines_) : distance;
      held = chance_to_hold(bounds_[1 + level - private_levels_], 0, lines * sharers_[thread][level]);
    }
    if (held <= before) continue;
    found.level[level] = held - before;
    left -= held - before;
    before = held;
  }
  found.memory = std::max(0.0, left);
}

void ClosedForm::on_fresh_page(const TrafficPart& part, Found& found) const {
  const bool in_use = home_of_[table_.page_of(part.ranges.front().first).value()] != unplaced;
  const auto level = zeroes_in_caches_ && !in_use ? level_that_holds(machine_.caches, table_.page_bytes()) : std::nullopt;
  found.fresh = level.has_value();
  (level ? found.level[*level] : found.memory) = 1;
}

ClosedForm::Found ClosedForm::find(const TrafficPart& part, std::uint32_t cell, std::uint16_t thread, const Owners& owners) const {
  Found found;
  if (part.cell_before != no_cell) {
    const std::uint16_t before = owners.of_cell[part.cell_before];
    const bool earlier = owners.turn[part.cell_before] <= owners.turn[cell];
    if (part.cell_before == cell || before == thread) {
      found.distance = part.distance;
      if (!owners.contiguous && cell > part.cell_before)
        found.distance *= static_cast<double>(owners.turn[cell] - std::min(owners.turn[cell], owners.turn[part.cell_before])) /
                          static_cast<double>(cell - part.cell_before);
      hold(found.distance, thread, true, found);
      found.modified = part.written_before ? 1 - found.memory : 0;
      return found;
    }
    if (before != nobody && earlier) {
      const bool same_domain = domain_of_[before] == domain_of_[thread];
      if (part.written_before || same_domain) {
        if (part.written_before) (same_domain ? found.near : found.far) = 1;
        found.owner = before;
        hold(part.distance / owners.threads, thread, false, found);
        return found;
      }
    }
  }
  const LinePast& past = part.past;
  if (past.loop == no_loop && part.cell_before == no_cell) {
    on_fresh_page(part, found);
    return found;
  }
  const Owners* touched = owners_of(past.loop);
  if (touched == nullptr) {
    found.memory = 1;
    return found;
  }
  const double distance = past.tail / touched->threads + past.since / owners.threads;
  const std::uint16_t first = touched->of_cell[past.first_cell], last = touched->of_cell[past.last_cell];
  const Owners* writers = owners_of(past.writer);
  const std::uint16_t writer = writers == nullptr ? nobody : writers->of_cell[past.writer_cell];
  const bool just_written = past.writer == past.loop, only_by_writer = first == writer && last == writer;
  const bool modified = writer != nobody && (just_written || only_by_writer);
  if ((first == thread || last == thread) && !(just_written && writer != thread)) {
    found.distance = distance;
    hold(distance, thread, true, found);
    found.modified = modified && writer == thread ? 1 - found.memory : 0;
    return found;
  }
  if (modified && writer != thread) {
    found.owner = writer;
    const double by_core = private_levels_ == 0 ? 0 : chance_to_hold(bounds_[0], private_levels_ - 1, distance);
    if (domain_of_[writer] == domain_of_[thread]) {
      found.near = by_core;
      hold(distance, thread, false, found);
      return found;
    }
    Found there;
    hold(distance, writer, true, there);
    found.far = 1 - there.memory;
    found.memory = there.memory;
    return found;
  }
  const auto in_domain = [&](std::uint16_t other) { return other != nobody && domain_of_[other] == domain_of_[thread]; };
  if (in_domain(first) || in_domain(last))
    hold(distance, thread, false, found);
  else
    found.memory = 1;
  return found;
}

// What a piece adds to its thread's demand, but for what other threads' caches send it.
struct ClosedForm::Rows {
  std::size_t levels, homes;
  std::size_t width() const { return 5 + 3 * levels + 5 * homes; }
  // Places in a row.
  static constexpr std::size_t core = 0, walks = 1, taken_in = 2, stream_walks = 3, loads = 4;
  std::size_t hit_lines(std::size_t level) const { return 5 + level; }
  std::size_t hit_weight(std::size_t level) const { return 5 + levels + level; }
  std::size_t waited_hits(std::size_t level) const { return 5 + 2 * levels + level; }
  std::size_t read_lines(std::size_t home) const { return 5 + 3 * levels + home; }
  std::size_t read_weight(std::size_t home) const { return 5 + 3 * levels + homes + home; }
  std::size_t non_temporal(std::size_t home) const { return 5 + 3 * levels + 2 * homes + home; }
  std::size_t dirtied(std::size_t home) const { return 5 + 3 * levels + 3 * homes + home; }
  std::size_t waited_reads(std::size_t home) const { return 5 + 3 * levels + 4 * homes + home; }
};

ClosedForm::Known& ClosedForm::known_of(const RegionTraffic& traffic, const Owners& owners) const {
  std::unique_ptr<Known>& found = known_[&traffic];
  if (!found) {
    found = std::make_unique<Known>();
    for (const TrafficCell& cell : traffic.cells) {
      found->first.push_back(static_cast<std::uint32_t>(found->others.size()));
      const auto begin = static_cast<std::ptrdiff_t>(found->others.size());
      const auto note = [&](LoopNumber loop, std::uint32_t other) {
        const std::pair<LoopNumber, std::uint32_t> one{loop, other};
        if (std::find(found->others.begin() + begin, found->others.end(), one) == found->others.end()) found->others.push_back(one);
      };
      for (std::size_t p = cell.first_part; p < cell.last_part; ++p) {
        const TrafficPart& part = traffic.parts[p];
        if (part.cell_before != no_cell) note(no_loop, part.cell_before);
        if (part.past.loop != no_loop) note(part.past.loop, part.past.first_cell), note(part.past.loop, part.past.last_cell);
        if (part.past.writer != no_loop) note(part.past.writer, part.past.writer_cell);
      }
    }
    found->first.push_back(static_cast<std::uint32_t>(found->others.size()));
  }
  if (found->placements != placements_ || found->teams != teams_ || found->threads != owners.threads) {
    found->placements = placements_;
    found->teams = teams_;
    found->threads = owners.threads;
    found->rows.assign(classes_ * traffic.cells.size() * Rows{levels_, machine_.nodes.size()}.width(), 0);
    found->state.assign(classes_ * traffic.cells.size(), Known::unknown);
  }
  return *found;
}

// All that the cell's lines went through was the same thread's doing.
bool ClosedForm::of_one_thread(const Known& known, std::uint32_t cell, std::uint16_t thread, const Owners& owners) const {
  for (std::uint32_t i = known.first[cell]; i < known.first[cell + 1]; ++i) {
    const auto [loop, other] = known.others[i];
    const Owners* who = loop == no_loop ? &owners : owners_of(loop);
    if (who != nullptr && who->of_cell[other] != thread) return false;
  }
  return true;
}

ClosedForm::Demand ClosedForm::demand(const RegionTraffic& traffic, const Assignment& assignment) const {
  const Eigen::Index threads = at(team_.size()), nodes = at(machine_.nodes.size());
  Demand asked;
  asked.core = asked.walks = asked.stream_walks = asked.transfers = asked.faults = asked.zeroing = asked.cold_faults = asked.taken_in =
      asked.streaming = asked.waited_transfers = asked.loads = asked.transferred = Eigen::ArrayXd::Zero(threads);
  asked.hit_lines = asked.hit_weight = asked.waited_hits = Matrix::Zero(threads, at(levels_));
  asked.read_lines = asked.read_weight = asked.waited_reads = asked.writebacks = asked.non_temporal = Matrix::Zero(threads, nodes);
  asked.link_bytes = Matrix::Zero(threads, at(topology_.directed_links()));
  asked.dirtied = asked.dropped = Matrix::Zero(at(domain_count_), nodes);
  const bool fresh = !traffic.fresh_pages.empty();
  if (fresh) place_fresh_pages(traffic, assignment, asked);
  if (machine_.has_side_caches()) asked.side_hits = side_cache_shares(fresh ? preview_ : home_of_);
  const Homes& homes = homes_of(traffic, fresh);
  const Rows rows{levels_, machine_.nodes.size()};
  const std::size_t width = rows.width();
  Known* const known = fresh || !assignment.owners.contiguous ? nullptr : &known_of(traffic, assignment.owners);
  std::vector<double> sums(team_.size() * width, 0), row(width);

  for (const Piece& piece : assignment.pieces) {
    double* const sum = sums.data() + piece.thread * width;
    std::uint8_t* state = nullptr;
    double* kept = nullptr;
    if (known != nullptr && piece.fraction == 1) {
      const std::size_t place = class_of_[piece.thread] * traffic.cells.size() + piece.cell;
      state = &known->state[place];
      kept = known->rows.data() + place * width;
      if (*state != Known::never && !of_one_thread(*known, piece.cell, piece.thread, assignment.owners)) state = nullptr;
      if (state != nullptr && *state == Known::kept) {
        for (std::size_t i = 0; i < width; ++i) sum[i] += kept[i];
        continue;
      }
    }
    std::fill(row.begin(), row.end(), 0.0);
    const bool by_place = add_piece(traffic, homes, piece, assignment.owners, rows, row.data(), asked);
    for (std::size_t i = 0; i < width; ++i) sum[i] += row[i];
    if (state == nullptr || *state != Known::unknown) continue;
    *state = by_place ? Known::never : Known::kept;
    std::copy(row.begin(), row.end(), kept);
  }
  for (std::size_t t = 0; t < team_.size(); ++t) {
    const double* const sum = sums.data() + t * width;
    asked.core(at(t)) += sum[Rows::core];
    asked.walks(at(t)) += sum[Rows::walks];
    asked.stream_walks(at(t)) += sum[Rows::stream_walks];
    asked.taken_in(at(t)) += sum[Rows::taken_in];
    asked.loads(at(t)) += sum[Rows::loads];
    for (std::size_t level = 0; level < levels_; ++level) {
      asked.hit_lines(at(t), at(level)) += sum[rows.hit_lines(level)];
      asked.hit_weight(at(t), at(level)) += sum[rows.hit_weight(level)];
      asked.waited_hits(at(t), at(level)) += sum[rows.waited_hits(level)];
    }
    for (std::size_t home = 0; home < machine_.nodes.size(); ++home) {
      asked.read_lines(at(t), at(home)) += sum[rows.read_lines(home)];
      asked.read_weight(at(t), at(home)) += sum[rows.read_weight(home)];
      asked.waited_reads(at(t), at(home)) += sum[rows.waited_reads(home)];
      const double non_temporal = sum[rows.non_temporal(home)];
      asked.non_temporal(at(t), at(home)) += non_temporal;
      asked.streaming(at(t)) += non_temporal * streaming_latency(machine_, topology_, node_[t], NodeId{home}).seconds();
      asked.dirtied(at(domain_of_[t]), at(home)) += sum[rows.dirtied(home)];
    }
  }
  return asked;
}

// What the cell takes whoever runs it: computing, and hits on lines that it touched before in caches of the core alone.
void ClosedForm::add_own_work(const RegionTraffic& traffic, const Piece& piece, const Rows& rows, double* row) const {
  row[Rows::core] += piece.fraction * traffic.cells[piece.cell].core_seconds;
  row[Rows::loads] += piece.fraction * traffic.cells[piece.cell].loads;
  for (std::size_t level = 1; level < private_levels_; ++level) {
    row[rows.hit_lines(level)] += piece.fraction * traffic.hit_lines[piece.cell * private_levels_ + level];
    row[rows.hit_weight(level)] += piece.fraction * traffic.hit_weight[piece.cell * private_levels_ + level];
    row[rows.waited_hits(level)] += piece.fraction * traffic.hit_waited[piece.cell * private_levels_ + level];
  }
}

// True if what was added depends on the thread's own place.
bool ClosedForm::add_piece(const RegionTraffic& traffic, const Homes& homes, const Piece& piece, const Owners& owners, const Rows& rows,
                           double* row, Demand& asked) const {
  const TrafficCell& cell = traffic.cells[piece.cell];
  const Eigen::Index t = piece.thread;
  const double reach = static_cast<double>(machine_.tlb.entries) * static_cast<double>(table_.lines_per_page());
  // A stream loses stream_walk at a page; the parts of a cell advance together (page_walks.hpp).
  const bool streams_walk = machine_.tlb.stream_walk.has_value();
  double stream_pages = 0;
  bool by_place = false;
  add_own_work(traffic, piece, rows, row);
  for (std::size_t p = cell.first_part; p < cell.last_part; ++p) {
    const TrafficPart& part = traffic.parts[p];
    const double scale = piece.fraction * part.share, lines = scale * part.count;
    const auto each_home = [&](auto add) {
      for (std::uint32_t s = homes.first[p]; s < homes.first[p + 1]; ++s) {
        const std::uint8_t home = homes.shares[s].home;
        by_place |= home == unplaced;
        add(home == unplaced ? node_[piece.thread].index() : std::size_t{home}, scale * static_cast<double>(homes.shares[s].lines));
      }
    };
    const Found found = find(part, piece.cell, piece.thread, owners);
    if (part.non_temporal) {
      by_place |= found.memory < 1;
      each_home([&](std::size_t home, double count) {
        row[rows.non_temporal(home)] += count;
        if (!found.fresh) asked.dropped(at(domain_of_[piece.thread]), at(home)) += count * (1 - found.memory);
      });
      continue;
    }
    const double parallelism = part.parallelism, waited = part.waited / 255.0;
    for (std::size_t level = 1; level < levels_; ++level) {
      if (found.level[level] == 0) continue;
      row[rows.hit_lines(level)] += lines * found.level[level];
      row[rows.hit_weight(level)] += lines * found.level[level] / parallelism;
      row[rows.waited_hits(level)] += lines * waited * found.level[level];
    }
    if (found.distance > reach && reach > 0) {
      const double pages = lines / static_cast<double>(table_.lines_per_page());
      const bool followed = part.parallelism > static_cast<float>(machine_.miss_buffers), stream = streams_walk && part.reads && followed;
      const double at_once = followed || machine_.tlb.walks == 0 ? parallelism : std::min(parallelism, machine_.tlb.walks);
      if (stream) stream_pages = std::max(stream_pages, pages * found.memory);
      row[Rows::walks] += pages / at_once * (stream ? 1 - found.memory : 1);
    }
    if (found.fresh) row[Rows::taken_in] += lines;
    if (found.memory > 0) {
      row[Rows::taken_in] += lines * found.memory;
      each_home([&](std::size_t home, double count) {
        row[rows.read_lines(home)] += count * found.memory;
        row[rows.read_weight(home)] += count * found.memory / parallelism;
        row[rows.waited_reads(home)] += count * waited * found.memory;
      });
    }
    asked.transferred(t) += lines * (found.near + found.far);
    if (found.near > 0) {
      asked.transfers(t) += lines * found.near / parallelism * machine_.core_to_core_nearest().seconds();
      asked.waited_transfers(t) += lines * waited * found.near * beyond_first(machine_.core_to_core_nearest().seconds());
    }
    if (found.far > 0) {
      const SocketId here = socket_[piece.thread], owner = socket_[found.owner];
      const auto hops = static_cast<double>(std::max<std::size_t>(topology_.hops(here, owner), 1));
      const double latency = here == owner ? machine_.core_to_core_local.seconds() : hops * machine_.core_to_core_remote.seconds();
      asked.transfers(t) += lines * found.far / parallelism * latency;
      asked.waited_transfers(t) += lines * waited * found.far * beyond_first(latency);
      row[Rows::taken_in] += lines * found.far;
      each_home([&](std::size_t home, double count) {
        if (!part.writes && !victims_) asked.writebacks(t, at(home)) += count * found.far;
        for (const LinkBytes& cost : messages_.transfer(here, machine_.socket_of(NodeId{home}), owner))
          asked.link_bytes(t, at(cost.link.index())) += cost.bytes * count * found.far;
      });
    }
    if (part.writes && found.modified < 1)
      each_home([&](std::size_t home, double count) { row[rows.dirtied(home)] += count * (1 - found.modified); });
  }
  row[Rows::stream_walks] += stream_pages;
  return by_place;
}

}  // namespace homenode
