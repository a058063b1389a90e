#include "models/optimum/page_demand.hpp"

#include <algorithm>

#include "models/engines/parts/controller_costs.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {
namespace {

void grow(std::vector<double>& seconds, std::size_t index, double more) {
  if (seconds.size() <= index) seconds.resize(index + 1, 0.0);
  seconds[index] += more;
}

double greatest(const std::vector<double>& seconds) { return seconds.empty() ? 0 : *std::max_element(seconds.begin(), seconds.end()); }

// The rows of one problem: a phase has one for its least time, one for each thread, then the threads' mean; then one for each
// controller and each directed link that something may use, and the controllers' mean.
struct RowNumbers {
  std::map<std::uint32_t, std::uint32_t> thread;
  std::uint32_t threads_mean = 0, first_controller = 0, controllers_mean = 0, first_link = 0;
};

class Builder {
public:
  Builder(const Machine& machine, const Topology& topology) : machine_{machine}, topology_{topology}, messages_{machine, topology} {
    problem_.nodes = machine.nodes.size();
    controllers_of_.resize(problem_.nodes);
    for (std::size_t c = 0; c < machine.controllers.size(); ++c) {
      controllers_of_[machine.controllers[c].node.index()].push_back(c);
      costs_.push_back(line_costs(machine, c));
    }
  }

  void add_phase(double least, const std::map<std::uint32_t, double>& beside_reads) {
    const auto phase = static_cast<std::uint32_t>(problem_.phases++);
    RowNumbers& numbers = numbers_.emplace_back();
    const auto row = [&](double fixed, bool linear) {
      problem_.rows.push_back({phase, fixed, linear});
      return static_cast<std::uint32_t>(problem_.rows.size() - 1);
    };
    row(least, false);
    double sum = 0;
    for (const auto& [thread, seconds] : beside_reads) {
      numbers.thread[thread] = row(seconds, false);
      sum += seconds;
    }
    numbers.threads_mean = row(beside_reads.empty() ? 0 : sum / static_cast<double>(beside_reads.size()), true);
    numbers.first_controller = static_cast<std::uint32_t>(problem_.rows.size());
    for (std::size_t c = 0; c < machine_.controllers.size(); ++c) row(0, false);
    numbers.controllers_mean = row(0, false);
    numbers.first_link = static_cast<std::uint32_t>(problem_.rows.size());
    for (std::size_t link = 0; link < topology_.directed_links(); ++link) row(0, false);
  }

  void read(std::uint32_t phase, std::uint32_t thread, NodeId core, NodeId home, double weight, std::uint64_t lines) {
    const RowNumbers& numbers = numbers_[phase];
    const double seconds = weight * topology_.latency(core, home).seconds();
    add(numbers.thread.at(thread), seconds);
    add(numbers.threads_mean, seconds / static_cast<double>(numbers.thread.size()));
    control(numbers, home, lines, true);
    send(numbers, messages_.read(machine_.socket_of(core), home), lines);
  }
  void write(std::uint32_t phase, NodeId core, NodeId home, std::uint64_t writebacks, std::uint64_t non_temporal) {
    const RowNumbers& numbers = numbers_[phase];
    control(numbers, home, writebacks + non_temporal, false);
    const SocketId from = machine_.socket_of(core);
    send(numbers, messages_.writeback(from, home), writebacks);
    send(numbers, messages_.non_temporal_write(from, home), non_temporal);
  }
  // What was added since the last call, by row.
  std::vector<PlacementProblem::Seconds> take() {
    std::vector<PlacementProblem::Seconds> result;
    for (const auto& [row, seconds] : added_) result.push_back({row, seconds});
    added_.clear();
    return result;
  }
  PlacementProblem& problem() { return problem_; }

private:
  void add(std::uint32_t row, double seconds) {
    if (seconds > 0) added_[row] += seconds;
  }
  void control(const RowNumbers& numbers, NodeId home, std::uint64_t lines, bool reads) {
    const auto& controllers = controllers_of_[home.index()];
    for (const std::size_t c : controllers) {
      const double line = reads ? costs_[c].read : costs_[c].write;
      const double seconds = static_cast<double>(lines) * line / static_cast<double>(controllers.size());
      add(numbers.first_controller + static_cast<std::uint32_t>(c), seconds);
      add(numbers.controllers_mean, seconds / static_cast<double>(machine_.controllers.size()));
    }
  }
  void send(const RowNumbers& numbers, const std::vector<LinkBytes>& messages, std::uint64_t lines) {
    if (lines == 0) return;
    for (const LinkBytes& message : messages) {
      const double bandwidth = topology_.bandwidth(message.link).bytes_per_second();
      add(numbers.first_link + message.link.value(), message.bytes * static_cast<double>(lines) / bandwidth);
    }
  }

  const Machine& machine_;
  const Topology& topology_;
  MessageCosts messages_;
  PlacementProblem problem_;
  std::vector<RowNumbers> numbers_;  // by phase
  std::vector<std::vector<std::size_t>> controllers_of_;
  std::vector<LineCosts> costs_;  // by controller
  std::map<std::uint32_t, double> added_;
};

}  // namespace

PageDemand::Use& PageDemand::use(PageNumber page, std::uint32_t phase, const Place& place) {
  std::vector<Use>& uses = pages_[page];
  for (auto known = uses.rbegin(); known != uses.rend() && known->phase == phase; ++known)
    if (known->thread == place.thread.value() && known->node == place.node.value()) return *known;
  ++entries_;
  return uses.emplace_back(Use{.phase = phase, .thread = place.thread.value(), .node = place.node.value()});
}

template <typename Add>
void PageDemand::each_page(const LineRange& lines, std::uint32_t phase, const Place& place, const AddressSpace& addresses, Add add) {
  const std::uint64_t line_bytes = addresses.line_bytes(), in_page = addresses.page_bytes() / line_bytes;
  for (LineNumber line = lines.first; line < lines.last;) {
    const PageNumber page = addresses.page_of(first_byte(line, line_bytes));
    const LineNumber end = std::min(lines.last, line_of(addresses.first_byte(page), line_bytes) + in_page);
    if (!addresses.home_of_page(page).is_none()) add(use(page, phase, place), end - line);
    line = end;
  }
}

void PageDemand::add(std::uint32_t phase, const Place& place, const CacheOutcome& outcome, double least, double beside_reads,
                     const AddressSpace& addresses) {
  if (too_large_) return;
  if (phases_.size() <= phase) phases_.resize(phase + 1);
  Phase& now = phases_[phase];
  grow(now.least_of_thread, place.thread.index(), least);
  grow(now.least_of_core, place.core.index(), least);
  now.beside_reads[place.thread.value()] += beside_reads;
  for (const MissRange& miss : outcome.reads) {
    each_page(miss.lines, phase, place, addresses, [&](Use& use, std::uint64_t lines) {
      use.reads += lines;
      use.read_weight += static_cast<double>(lines) / miss.parallelism;
    });
  }
  for (const LineRange& range : outcome.writebacks)
    each_page(range, phase, place, addresses, [](Use& use, std::uint64_t lines) { use.writebacks += lines; });
  for (const LineRange& range : outcome.non_temporal_writes)
    each_page(range, phase, place, addresses, [](Use& use, std::uint64_t lines) { use.non_temporal += lines; });
  if (entries_ <= most_entries) return;
  too_large_ = true;
  pages_.clear();
}

std::optional<PlacementProblem> PageDemand::problem(const Machine& machine, const Topology& topology, std::uint64_t page_bytes) const {
  if (too_large_) return std::nullopt;
  Builder builder{machine, topology};
  for (const Phase& phase : phases_)
    builder.add_phase(std::max(greatest(phase.least_of_thread), greatest(phase.least_of_core)), phase.beside_reads);
  PlacementProblem& problem = builder.problem();
  for (const NodeDescription& node : machine.nodes) problem.room.push_back(static_cast<std::uint64_t>(node.memory.count()) / page_bytes);
  std::map<std::vector<Use>, std::size_t> class_of;
  std::size_t seconds = 0;
  for (const auto& [page, uses] : pages_) {
    std::vector<Use> key = uses;
    std::sort(key.begin(), key.end());
    const auto [found, is_new] = class_of.emplace(std::move(key), problem.classes.size());
    if (is_new) {
      PlacementProblem::PageClass& alike = problem.classes.emplace_back();
      for (std::size_t home = 0; home < problem.nodes; ++home) {
        for (const Use& use : found->first) {
          if (use.reads != 0) builder.read(use.phase, use.thread, NodeId{use.node}, NodeId{home}, use.read_weight, use.reads);
          builder.write(use.phase, NodeId{use.node}, NodeId{home}, use.writebacks, use.non_temporal);
        }
        seconds += alike.on.emplace_back(builder.take()).size();
      }
      if (seconds > most_seconds) return std::nullopt;
    }
    problem.classes[found->second].pages.push_back(page);
  }
  return std::move(problem);
}

}  // namespace homenode
