#include <algorithm>
#include <numeric>
#include <utility>

#include "models/engines/closed_form/model.hpp"
#include "models/engines/parts/controller_costs.hpp"
#include "models/engines/parts/controller_load.hpp"
#include "models/engines/parts/slice_cost.hpp"
#include "sim/loop/simulation.hpp"
#include "sim/machine/line_bytes.hpp"
#include "sim/machine/team_costs.hpp"

namespace homenode {

ClosedForm::ClosedForm(const Workload& workload, const Machine& machine, const Topology& topology, const TrafficTable& table,
                       PagePlacement& placement, std::vector<CoreId> team, const OperatingSystem& system, bool zeroes_in_caches)
    : workload_{workload},
      machine_{machine},
      topology_{topology},
      table_{table},
      placement_{placement},
      team_{std::move(team)},
      system_{system},
      zeroes_in_caches_{zeroes_in_caches},
      messages_{machine, topology},
      core_clocks_{workload, machine, team_, table.code()},
      levels_{machine.caches.size()},
      private_levels_{private_levels(machine)},
      home_of_(table.pages(), unplaced),
      owners_(table.loops()),
      warm_{machine, table.page_bytes()},
      preview_warm_{warm_} {
  const TeamCosts costs = team_costs(machine, team_);
  fork_ = costs.fork.seconds();
  barrier_ = costs.barrier.seconds();
  reduction_ = costs.reduction.seconds();
  bounds_.emplace_back(stack_levels(machine, 0, private_levels_));
  for (std::size_t level = private_levels_; level < levels_; ++level) bounds_.emplace_back(stack_levels(machine, level, level + 1));
  if (private_levels_ > 0) private_lines_ = static_cast<double>(stack_levels(machine, 0, private_levels_).back().lines);
  victims_ = private_levels_ < levels_ && machine.caches.back().inclusion != Inclusion::inclusive;
  const unsigned cores_of_domain = levels_ == 0 ? 1 : machine.caches.back().cores_per_cache;
  if (private_levels_ < levels_) {
    domain_lines_ = static_cast<double>(stack_levels(machine, levels_ - 1, levels_).back().lines);
    if (victims_) domain_lines_ += private_lines_ * cores_of_domain;
  } else {
    domain_lines_ = private_lines_;
  }
  domain_count_ = machine.cores() / cores_of_domain + 1;
  domains_.assign(domain_count_, {0, Eigen::ArrayXd::Zero(at(machine.nodes.size()))});
  latency_.resize(at(team_.size()), at(machine.nodes.size()));
  for (std::size_t t = 0; t < team_.size(); ++t) {
    node_.push_back(machine.node_of(team_[t]));
    socket_.push_back(machine.socket_of(team_[t]));
    domain_of_.push_back(team_[t].index() / cores_of_domain);
    std::vector<double>& sharers = sharers_.emplace_back(levels_, 1.0);
    for (std::size_t level = private_levels_; level < levels_; ++level)
      sharers[level] = static_cast<double>(std::count_if(
          team_.begin(), team_.end(), [&](CoreId other) { return machine.cache_of(other, level) == machine.cache_of(team_[t], level); }));
    for (std::size_t home = 0; home < machine.nodes.size(); ++home)
      latency_(at(t), at(home)) = topology.latency(node_[t], NodeId{home}).seconds();
  }
  std::vector<std::vector<double>> classes;
  for (const std::vector<double>& sharers : sharers_) {
    const auto found = std::find(classes.begin(), classes.end(), sharers);
    class_of_.push_back(static_cast<std::size_t>(found - classes.begin()));
    if (found == classes.end()) classes.push_back(sharers);
  }
  classes_ = classes.size();
  read_cost_ = write_cost_ = Matrix::Zero(at(machine.nodes.size()), at(machine.controllers.size()));
  std::vector<double> of_node(machine.nodes.size(), 0);
  for (const ControllerDescription& controller : machine.controllers) of_node[controller.node.index()] += 1;
  for (std::size_t c = 0; c < machine.controllers.size(); ++c) {
    const std::size_t node = machine.controllers[c].node.index();
    const LineCosts line = line_costs(machine, c);
    read_cost_(at(node), at(c)) = line.read / of_node[node];
    write_cost_(at(node), at(c)) = line.write / of_node[node];
  }
}

double ClosedForm::barrier_seconds(ExecutionId id) const {
  const Execution& execution = workload_.executions[id.index()];
  if (execution.parallel == 0) return 0;
  const bool last = id.index() + 1 == workload_.executions.size() || workload_.executions[id.index() + 1].parallel != execution.parallel;
  if (!execution.barrier_after && !last) return 0;
  return barrier_ + (workload_.regions[execution.region.index()].reduction ? reduction_ : 0);
}

// Of chunks far smaller than a cell: what each thread runs of a cell is one piece.
void ClosedForm::join_pieces(std::vector<Piece>& pieces) {
  const auto place = [](const Piece& piece) { return std::pair{piece.cell, piece.thread}; };
  std::stable_sort(pieces.begin(), pieces.end(), [&](const Piece& a, const Piece& b) { return place(a) < place(b); });
  std::size_t last = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i)
    if (place(pieces[i]) == place(pieces[last]))
      pieces[last].fraction += pieces[i].fraction;
    else
      pieces[++last] = pieces[i];
  pieces.resize(last + 1);
}

// Of joined pieces. Threads with as much of a cell get cells in turn.
void ClosedForm::own_most(std::span<const Piece> pieces, Owners& owners) {
  constexpr double alike = 1e-9;
  std::fill(owners.cells.begin(), owners.cells.end(), 0);
  for (auto piece = pieces.begin(); piece != pieces.end();) {
    auto most = piece;
    const std::uint32_t cell = piece->cell;
    for (; piece != pieces.end() && piece->cell == cell; ++piece) {
      const double more = piece->fraction - most->fraction;
      if (more > alike || (more > -alike && owners.cells[piece->thread] < owners.cells[most->thread])) most = piece;
    }
    owners.of_cell[cell] = most->thread;
    owners.turn[cell] = owners.cells[most->thread]++;
  }
}

ClosedForm::Assignment ClosedForm::assign(const RegionTraffic& traffic, std::span<const ScheduledRange> schedule) const {
  Assignment result;
  Owners& owners = result.owners;
  const auto cells = static_cast<std::int64_t>(traffic.cells.size());
  owners.of_cell.assign(traffic.cells.size(), nobody);
  owners.turn.assign(traffic.cells.size(), 0);
  owners.cells.assign(team_.size(), 0);
  result.overhead.assign(team_.size(), 0);
  std::vector<double> most(traffic.cells.size(), 0);
  std::vector<std::uint32_t> first(team_.size(), no_cell), last(team_.size(), 0);
  for (const ScheduledRange& range : schedule) {
    const auto thread = static_cast<std::uint16_t>(range.thread.index());
    result.overhead[thread] += range.overhead;
    if (range.first >= range.last) continue;
    const auto begin = static_cast<std::uint32_t>(((range.first + 1) * cells - 1) / traffic.iterations);
    for (std::uint32_t c = begin; c < traffic.cells.size() && traffic.first_of(c) < range.last; ++c) {
      const std::int64_t from = traffic.first_of(c), to = traffic.first_of(c + 1);
      const double fraction = static_cast<double>(std::min(to, range.last) - std::max(from, range.first)) / static_cast<double>(to - from);
      if (!result.pieces.empty() && result.pieces.back().cell == c && result.pieces.back().thread == thread) {
        result.pieces.back().fraction += fraction;
      } else {
        result.pieces.push_back({c, thread, fraction});
      }
      if (fraction <= most[c]) continue;
      most[c] = fraction;
      owners.of_cell[c] = thread;
      owners.turn[c] = owners.cells[thread]++;
      first[thread] = std::min(first[thread], c);
      last[thread] = std::max(last[thread], c);
    }
  }
  if (result.pieces.size() > 2 * traffic.cells.size()) {
    join_pieces(result.pieces);
    own_most(result.pieces, owners);
    std::fill(first.begin(), first.end(), no_cell);
    std::fill(last.begin(), last.end(), 0);
    for (std::uint32_t c = 0; c < traffic.cells.size(); ++c) {
      if (owners.of_cell[c] == nobody) continue;
      first[owners.of_cell[c]] = std::min(first[owners.of_cell[c]], c);
      last[owners.of_cell[c]] = c;
    }
  }
  double threads = 0;
  for (std::size_t t = 0; t < team_.size(); ++t) {
    threads += owners.cells[t] > 0;
    if (owners.cells[t] > 0) owners.contiguous &= last[t] - first[t] < owners.cells[t];
  }
  owners.threads = std::max(threads, 1.0);
  return result;
}

ClosedForm::Worked& ClosedForm::work_out(ExecutionId id, std::span<const ScheduledRange> schedule) const {
  const RegionTraffic& traffic = table_.traffic(id);
  Assignment assignment = assign(traffic, schedule);
  Demand asked = demand(traffic, assignment);
  worked_ = {id, {schedule.begin(), schedule.end()}, std::move(assignment), std::move(asked)};
  return *worked_;
}

RegionEstimate ClosedForm::estimate(ExecutionId id, std::span<const ScheduledRange> schedule) const {
  const Worked& worked = work_out(id, schedule);
  Demand asked = worked.asked;
  std::vector<Domain> domains = domains_;
  evict(asked, domains);
  Eigen::ArrayXd cycles(at(team_.size()));
  for (std::size_t t = 0; t < team_.size(); ++t) cycles(at(t)) = core_clocks_.cycle(id, team_[t]);
  RegionEstimate result = time(asked, worked.assignment, cycles);
  result.seconds = barrier_seconds(id);
  if (!result.thread_seconds.empty()) result.seconds += *std::max_element(result.thread_seconds.begin(), result.thread_seconds.end());
  return result;
}

void ClosedForm::record_execution(ExecutionId id, std::span<const ScheduledRange> schedule) {
  const bool known_already = worked_ && worked_->id == id && std::ranges::equal(worked_->schedule, schedule);
  Worked& worked = known_already ? *worked_ : work_out(id, schedule);
  evict(worked.asked, domains_);
  const RegionTraffic& traffic = table_.traffic(id);
  if (!traffic.fresh_pages.empty()) {
    home_of_ = preview_;
    warm_ = preview_warm_;
    ++placements_;
  }
  std::optional<Owners>& known = owners_[traffic.loop];
  if (!known || known->threads != worked.assignment.owners.threads) ++teams_;
  known = std::move(worked.assignment.owners);
  worked_.reset();
}

// Lines that come in push out as many once the caches are full: first those that were there before.
void ClosedForm::evict(Demand& asked, std::vector<Domain>& domains) const {
  const Eigen::Index nodes = at(machine_.nodes.size());
  for (std::size_t d = 0; d < domains.size(); ++d) {
    double taken_in = 0;
    for (std::size_t t = 0; t < team_.size(); ++t)
      if (domain_of_[t] == d) taken_in += asked.taken_in(at(t));
    Domain& domain = domains[d];
    const Eigen::ArrayXd dropped = asked.dropped.row(at(d)).transpose();
    domain.modified = (domain.modified - dropped).max(0.0);
    domain.held = std::max(0.0, domain.held - dropped.sum());
    const double out = std::max(0.0, domain.held + taken_in - domain_lines_);
    const double old_out = std::min(out, domain.held);
    const double old_share = domain.held > 0 ? old_out / domain.held : 0;
    const double new_share = taken_in > 0 ? std::min(1.0, (out - old_out) / taken_in) : 0;
    const Eigen::ArrayXd dirtied = asked.dirtied.row(at(d)).transpose();
    const Eigen::ArrayXd written = domain.modified * old_share + dirtied * new_share;
    domain.modified = domain.modified * (1 - old_share) + dirtied * (1 - new_share);
    const double room = domain_lines_;
    domain.held = std::min(room, domain.held + taken_in);
    if (const double modified = domain.modified.sum(); modified > room) domain.modified *= room / modified;
    if (taken_in <= 0) continue;
    for (std::size_t t = 0; t < team_.size(); ++t) {
      if (domain_of_[t] != d) continue;
      for (Eigen::Index home = 0; home < nodes; ++home) asked.writebacks(at(t), home) += written(home) * asked.taken_in(at(t)) / taken_in;
    }
  }
}

// By thread and shared resource.
ClosedForm::Matrix ClosedForm::resource_seconds(const Demand& asked) const {
  const std::size_t threads = team_.size(), controllers = machine_.controllers.size(), resources = shared_resources(machine_, topology_);
  Matrix uses = Matrix::Zero(at(threads), at(resources));
  use_controllers(asked, uses);
  use_ports(asked, uses);
  Matrix bytes = asked.link_bytes;
  for (std::size_t t = 0; t < threads; ++t) {
    for (std::size_t home = 0; home < machine_.nodes.size(); ++home) {
      const NodeId there{home};
      const auto send = [&](const std::vector<LinkBytes>& costs, double lines) {
        if (lines > 0)
          for (const LinkBytes& cost : costs) bytes(at(t), at(cost.link.index())) += cost.bytes * lines;
      };
      send(messages_.read(socket_[t], there), asked.read_lines(at(t), at(home)));
      send(messages_.non_temporal_write(socket_[t], there), asked.non_temporal(at(t), at(home)));
      send(messages_.writeback(socket_[t], there), asked.writebacks(at(t), at(home)));
    }
  }
  for (std::size_t link = 0; link < topology_.directed_links(); ++link)
    uses.col(at(controllers + link)) = bytes.col(at(link)) / topology_.bandwidth(LinkId{link}).bytes_per_second();
  uses.col(at(resources - 1)) = asked.faults * system_.fault.serial.seconds();
  return uses;
}

Eigen::ArrayXd ClosedForm::hit_time(const Demand& asked, const Eigen::ArrayXd& cycles) const {
  const auto line = static_cast<double>(line_bytes(machine_));
  Eigen::ArrayXd hits = Eigen::ArrayXd::Zero(at(team_.size())), delivery = hits;
  for (std::size_t level = 1; level < levels_; ++level) {
    const CacheDescription& cache = machine_.caches[level];
    const double bandwidth = cache.bandwidth_per_core.bytes_per_second();
    delivery = asked.hit_lines.col(at(level)) * (bandwidth > 0 ? line / bandwidth : 0);
    const Eigen::ArrayXd found = hit_seconds<Eigen::ArrayXd>(asked.hit_weight.col(at(level)), cache.latency, delivery);
    hits += cache.clock == CacheClock::core ? Eigen::ArrayXd{found * cycles} : found;
  }
  return hits;
}

// Of loads that the core waits for, beyond a hit in its first level (phases.hpp). `latency`: thread x home.
Eigen::ArrayXd ClosedForm::waited_time(const Demand& asked, const Matrix& latency, const Eigen::ArrayXd& cycles) const {
  Eigen::ArrayXd seconds = Eigen::ArrayXd::Zero(at(team_.size()));
  if (machine_.overlap == Overlap::none || levels_ == 0) return seconds;
  const auto of_level = [&](std::size_t level) {
    const CacheDescription& cache = machine_.caches[level];
    return Eigen::ArrayXd{cache.clock == CacheClock::core ? Eigen::ArrayXd{cache.latency.seconds() * cycles}
                                                          : Eigen::ArrayXd::Constant(cycles.size(), cache.latency.seconds())};
  };
  const Eigen::ArrayXd first = of_level(0);
  for (std::size_t level = 1; level < levels_; ++level) seconds += asked.waited_hits.col(at(level)) * (of_level(level) - first).max(0.0);
  for (Eigen::Index home = 0; home < latency.cols(); ++home) seconds += asked.waited_reads.col(home) * (latency.col(home) - first).max(0.0);
  return machine_.load_waits * (seconds + asked.waited_transfers);
}

// The engine starts threads one after the other, and the first slice of each sees what those before it offer: on average over the
// threads, as none is to be preferred for its number. Later slices see what all offer. `undisturbed`: seconds of a thread at idle latency,
// overheads included; `alone`: without.
ClosedForm::Matrix ClosedForm::loaded_latency(const Demand& asked, const Matrix& uses, const Eigen::ArrayXd& alone,
                                              const Eigen::ArrayXd& undisturbed) const {
  const Matrix idle = idle_latency(asked);
  Matrix latency = idle;
  const double quantum = static_cast<double>(default_quantum(machine_).count()) / static_cast<double>(line_bytes(machine_));
  const Eigen::ArrayXd first_slice =
      quantum / (asked.taken_in + asked.hit_lines.rowwise().sum() + asked.non_temporal.rowwise().sum()).max(quantum);
  // What the resource adds for each thread; nothing where none uses it.
  const auto added = [&](std::size_t resource, const auto& extra) {
    double offered = 0, first = 0, working = 0;
    for (Eigen::Index t = 0; t < alone.size(); ++t) {
      const double use = uses(t, at(resource));
      if (!(use > 0) || !(undisturbed(t) > 0)) continue;
      first += extra(offered + offered_share(use, alone(t))).seconds();
      offered += offered_share(use, undisturbed(t));
      working += 1;
    }
    if (working == 0) return Eigen::ArrayXd{Eigen::ArrayXd::Zero(alone.size())};
    return Eigen::ArrayXd{first_slice * (first / working) + (1 - first_slice) * extra(offered).seconds()};
  };
  for (std::size_t c = 0; c < machine_.controllers.size(); ++c) {
    const Eigen::Index home = at(machine_.controllers[c].node.index());
    const double from_memory = asked.side_hits.size() > 0 ? 1 - asked.side_hits(home) : 1;
    const Eigen::ArrayXd more = added(c, [&](double offered) { return extra_latency(machine_, topology_, c, offered); });
    latency.col(home) = latency.col(home).max(idle.col(home) + from_memory * more);
  }
  for (Eigen::Index home = 0; home < asked.side_hits.size(); ++home) {
    const NodeId node{static_cast<std::size_t>(home)};
    const std::size_t resource = first_side_cache(machine_, topology_) + node.index();
    latency.col(home) +=
        asked.side_hits(home) * added(resource, [&](double offered) { return extra_latency_of_side_cache(machine_, node, offered); });
  }
  return latency;
}

// Into the first level, by thread.
Eigen::ArrayXd ClosedForm::lines_that_come_in(const Demand& asked) const {
  Eigen::ArrayXd lines = asked.transferred + asked.read_lines.rowwise().sum();
  for (std::size_t level = 1; level < levels_; ++level) lines += asked.hit_lines.col(at(level));
  return lines;
}

// `cycles`: of each thread's core (CoreClocks).
RegionEstimate ClosedForm::time(const Demand& asked, const Assignment& assignment, const Eigen::ArrayXd& cycles) const {
  const Matrix uses = resource_seconds(asked);
  CoreSeconds<Eigen::ArrayXd> spent{asked.core * cycles, hit_time(asked, cycles), asked.transfers,
                                    (asked.read_weight * idle_latency(asked)).rowwise().sum(), Eigen::ArrayXd{}};
  spent.waited = waited_time(asked, idle_latency(asked), cycles);
  spent.same_set = Eigen::ArrayXd::Zero(cycles.size());  // it does not know where lines lie
  spent.loading = asked.loads * cycles * load_pace(machine_);
  spent.fills = lines_that_come_in(asked) * fill_cycle(machine_, cycles) * fill_pace(machine_);
  const ExchangedLines<Eigen::ArrayXd> lines{asked.read_lines.rowwise().sum(), asked.writebacks.rowwise().sum(),
                                             asked.non_temporal.rowwise().sum()};
  const Eigen::ArrayXd pairs = lines.reads.min(lines.writebacks);
  const Eigen::ArrayXd beside = streaming_seconds<Eigen::ArrayXd>(machine_, asked.streaming) - spent.hits - spent.transfers;
  const Eigen::ArrayXd exchange = exchange_seconds(machine_, static_cast<double>(line_bytes(machine_)), lines, pairs).max(beside);
  spent.reads = spent.reads.max(exchange);
  const Eigen::ArrayXd alone = spent.busy(machine_.overlap);
  const FaultCost& cost = system_.fault;
  const Eigen::ArrayXd faults = asked.faults * (cost.parallel + cost.serial).seconds() +
                                asked.cold_faults * (cost.cold.value_or(cost.parallel) - cost.parallel).seconds() + asked.zeroing;
  const Eigen::ArrayXd around = asked.walks * machine_.tlb.miss_penalty.seconds() +
                                asked.stream_walks * machine_.tlb.stream_walk.value_or(Time{}).seconds() + faults +
                                Eigen::Map<const Eigen::ArrayXd>(assignment.overhead.data(), at(team_.size()));
  // A thread offers what it would draw at idle latency, over all its time.
  const Matrix loaded = loaded_latency(asked, uses, alone, alone + around);
  spent.reads = (asked.read_weight * loaded).rowwise().sum().max(exchange);
  spent.waited = waited_time(asked, loaded, cycles);
  const Eigen::ArrayXd minimum = spent.busy(machine_.overlap) + around;

  RegionEstimate result;
  result.thread_seconds = fair_times(minimum, uses);
  const double work = std::accumulate(result.thread_seconds.begin(), result.thread_seconds.end(), 0.0);
  result.fault_share = work > 0 ? faults.sum() / work : 0;
  const Bottlenecks bottlenecks{machine_, topology_, 0};
  std::vector<double> bound_by(bottlenecks.causes(), 0.0);
  for (std::size_t t = 0; t < team_.size(); ++t) {
    const Eigen::Index row = at(t);
    Eigen::Index most = 0;
    CoreSeconds<double> of_thread{spent.core(row), spent.hits(row), spent.transfers(row), spent.reads(row), spent.waited(row)};
    of_thread.loading = spent.loading(row), of_thread.fills = spent.fills(row);
    std::size_t cause = bottlenecks.number(private_cause(of_thread, machine_.overlap, around(row)));
    if (result.thread_seconds[t] > 1.001 * minimum(row) && uses.colwise().sum().maxCoeff(&most) > 0) cause = static_cast<std::size_t>(most);
    bound_by[cause] += result.thread_seconds[t];
  }
  result.bottleneck = bottlenecks.name(static_cast<std::size_t>(std::max_element(bound_by.begin(), bound_by.end()) - bound_by.begin()));
  return result;
}

std::unique_ptr<ProgramOracle> make_closed_form(const Workload& workload, const Machine& machine, const Topology& topology,
                                                const TrafficTable& table, PagePlacement& placement, std::vector<CoreId> team,
                                                const OperatingSystem& system, bool zeroes_in_caches) {
  return std::make_unique<ClosedForm>(workload, machine, topology, table, placement, std::move(team), system, zeroes_in_caches);
}

}  // namespace homenode
