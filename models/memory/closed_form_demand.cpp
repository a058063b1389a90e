// Where the lines of each thread come from, under a schedule.
#include <algorithm>
#include <cmath>

#include "models/memory/closed_form_model.hpp"
#include "models/memory/flow_sharing.hpp"

namespace homenode {

namespace {
Eigen::Index at(std::size_t index) { return static_cast<Eigen::Index>(index); }
}  // namespace

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
  for (const TrafficPart& part : traffic.parts) {
    homes.first.push_back(static_cast<std::uint32_t>(homes.shares.size()));
    const std::size_t begin = homes.shares.size();
    for (LineNumber line = part.lines.first; line < part.lines.last;) {
      const std::uint64_t page = table_.page_of(line);
      const LineNumber end = std::min(part.lines.last, table_.first_line(page + 1));
      const std::uint8_t home = home_of[page];
      const auto same = std::find_if(homes.shares.begin() + static_cast<std::ptrdiff_t>(begin), homes.shares.end(),
                                     [home](const Homes::Share& share) { return share.home == home; });
      if (same == homes.shares.end())
        homes.shares.push_back({home, static_cast<float>(end - line)});
      else
        same->lines += static_cast<float>(end - line);
      line = end;
    }
  }
  homes.first.push_back(static_cast<std::uint32_t>(homes.shares.size()));
  return homes;
}

// Pages that the execution writes first, each by the thread that comes to it earliest in its own share.
void ClosedForm::place_fresh_pages(const RegionTraffic& traffic, const Assignment& assignment, Demand& asked) const {
  preview_ = home_of_;
  const Owners& owners = assignment.owners;
  std::vector<std::vector<PageFault>> faults(team_.size());
  for (const FreshPage& fresh : traffic.fresh_pages) {
    if (preview_[fresh.page] != unplaced) continue;
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
    faults[first].push_back({fresh.page, object, {ThreadId{first}, team_[first], node_[first], Time{}}, true, offset, table_.page_bytes()});
  }
  std::vector<NodeId> homes;
  for (std::size_t t = 0; t < faults.size(); ++t) {
    if (faults[t].empty()) continue;
    homes.assign(faults[t].size(), NodeId{0});
    placement_.fault(faults[t], homes);
    asked.faults(at(t)) += static_cast<double>(homes.size());
    for (std::size_t i = 0; i < homes.size(); ++i) {
      preview_[faults[t][i].page] = static_cast<std::uint8_t>(homes[i].value());
      asked.bypassed(at(t), at(homes[i].index())) += system_.fault.zeroing * static_cast<double>(table_.lines_per_page());
    }
  }
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

ClosedForm::Demand ClosedForm::demand(const RegionTraffic& traffic, const Assignment& assignment) const {
  const Eigen::Index threads = at(team_.size()), nodes = at(machine_.nodes.size());
  Demand asked;
  asked.core = asked.walks = asked.transfers = asked.faults = asked.taken_in = Eigen::ArrayXd::Zero(threads);
  asked.hit_lines = asked.hit_weight = Matrix::Zero(threads, at(levels_));
  asked.read_lines = asked.read_weight = asked.writebacks = asked.bypassed = Matrix::Zero(threads, nodes);
  asked.link_bytes = Matrix::Zero(threads, at(topology_.directed_links()));
  asked.dirtied = Matrix::Zero(at(domain_count_), nodes);
  const bool fresh = !traffic.fresh_pages.empty();
  if (fresh) place_fresh_pages(traffic, assignment, asked);
  const Homes& homes = homes_of(traffic, fresh);
  const double reach = static_cast<double>(machine_.tlb.entries) * static_cast<double>(table_.lines_per_page());

  for (const Piece& piece : assignment.pieces) {
    const TrafficCell& cell = traffic.cells[piece.cell];
    const Eigen::Index t = piece.thread;
    asked.core(t) += piece.fraction * cell.core_seconds;
    for (std::size_t level = 1; level < private_levels_; ++level) {
      asked.hit_lines(t, at(level)) += piece.fraction * traffic.hit_lines[piece.cell * private_levels_ + level];
      asked.hit_weight(t, at(level)) += piece.fraction * traffic.hit_weight[piece.cell * private_levels_ + level];
    }
    for (std::size_t p = cell.first_part; p < cell.last_part; ++p) {
      const TrafficPart& part = traffic.parts[p];
      const double scale = piece.fraction * part.share, lines = scale * static_cast<double>(part.lines.size());
      const auto each_home = [&](auto add) {
        for (std::uint32_t s = homes.first[p]; s < homes.first[p + 1]; ++s) {
          const std::uint8_t home = homes.shares[s].home;
          add(home == unplaced ? at(node_[piece.thread].index()) : Eigen::Index{home}, scale * static_cast<double>(homes.shares[s].lines));
        }
      };
      if (part.bypass) {
        each_home([&](Eigen::Index home, double count) { asked.bypassed(t, home) += count; });
        continue;
      }
      const Found found = find(part, piece.cell, piece.thread, assignment.owners);
      const double parallelism = part.parallelism;
      for (std::size_t level = 1; level < levels_; ++level) {
        if (found.level[level] == 0) continue;
        asked.hit_lines(t, at(level)) += lines * found.level[level];
        asked.hit_weight(t, at(level)) += lines * found.level[level] / parallelism;
      }
      if (found.distance > reach && reach > 0) asked.walks(t) += lines / static_cast<double>(table_.lines_per_page()) / parallelism;
      if (found.memory > 0) {
        asked.taken_in(t) += lines * found.memory;
        each_home([&](Eigen::Index home, double count) {
          asked.read_lines(t, home) += count * found.memory;
          asked.read_weight(t, home) += count * found.memory / parallelism;
        });
      }
      if (found.near > 0) asked.transfers(t) += lines * found.near / parallelism * machine_.core_to_core_local.seconds();
      if (found.far > 0) {
        const SocketId here = socket_[piece.thread], owner = socket_[found.owner];
        const auto hops = static_cast<double>(std::max<std::size_t>(topology_.hops(here, owner), 1));
        const double latency = here == owner ? machine_.core_to_core_local.seconds() : hops * machine_.core_to_core_remote.seconds();
        asked.transfers(t) += lines * found.far / parallelism * latency;
        asked.taken_in(t) += lines * found.far;
        each_home([&](Eigen::Index home, double count) {
          if (!part.writes && !victims_) asked.writebacks(t, home) += count * found.far;
          for (const LinkBytes& cost : messages_.transfer(here, machine_.socket_of(NodeId{static_cast<std::size_t>(home)}), owner))
            asked.link_bytes(t, at(cost.link.index())) += cost.bytes * count * found.far;
        });
      }
      if (part.writes && found.modified < 1) {
        each_home(
            [&](Eigen::Index home, double count) { asked.dirtied(at(domain_of_[piece.thread]), home) += count * (1 - found.modified); });
      }
    }
  }
  return asked;
}

}  // namespace homenode
