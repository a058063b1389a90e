#include "models/optimum/lower_bound.hpp"

#include <algorithm>

#include "sim/machine/line_bytes.hpp"

namespace homenode {
namespace {

constexpr std::size_t most_sockets_for_all_sets = 8;

void grow(std::vector<Time>& times, std::size_t index, Time more) {
  if (times.size() <= index) times.resize(index + 1);
  times[index] += more;
}

Time greatest(const std::vector<Time>& times) { return times.empty() ? Time{} : *std::max_element(times.begin(), times.end()); }

}  // namespace

LowerBound::LowerBound(const Workload& workload, const Machine& machine) : workload_{workload}, machine_{machine} {
  bool creates_threads = false;
  for (const Execution& execution : workload.executions)
    creates_threads |= execution.parallel == 0 && workload.regions[execution.region.index()].kind == RegionKind::thread;
  std::uint32_t phase = 0;
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    const Execution& execution = workload.executions[e];
    phase_of_.push_back(phase);
    const bool goes_on = e + 1 < workload.executions.size() && execution.parallel != 0 && !execution.barrier_after &&
                         workload.executions[e + 1].parallel == execution.parallel;
    if (!goes_on && !creates_threads) ++phase;
  }
  std::vector<bool> inside(machine.sockets, true);
  add_cut(inside);
  if (machine.sockets <= most_sockets_for_all_sets) {
    for (std::size_t set = 1; set + 1 < std::size_t{1} << machine.sockets; ++set) {
      for (std::size_t socket = 0; socket < machine.sockets; ++socket) inside[socket] = (set >> socket & 1) != 0;
      add_cut(inside);
    }
  } else {
    for (std::size_t socket = 0; socket < machine.sockets; ++socket) {
      std::fill(inside.begin(), inside.end(), false);
      inside[socket] = true;
      add_cut(inside);
    }
  }
  phase_.reads.assign(machine.nodes.size(), 0);
  phase_.writes.assign(machine.nodes.size(), 0);
}

void LowerBound::add_cut(const std::vector<bool>& socket_inside) {
  Cut cut;
  for (const NodeDescription& node : machine_.nodes) cut.inside.push_back(socket_inside[node.socket.index()]);
  // Controllers of one set together: costs of a line add as parallel conductances do; the cheapest ratio of write to read holds for all.
  const double line = static_cast<double>(line_bytes(machine_));
  double lines_per_second = 0, ratio = 0;
  for (const ControllerDescription& controller : machine_.controllers) {
    if (!cut.inside[controller.node.index()]) continue;
    const double read = 1 / controller.read_only.bytes_per_second(), write = 2 / controller.one_to_one.bytes_per_second() - read;
    ratio = lines_per_second == 0 ? write / read : std::min(ratio, write / read);
    lines_per_second += 1 / (read * line);
  }
  if (lines_per_second == 0) return;
  cut.read = 1 / lines_per_second;
  cut.write = ratio * cut.read;
  const auto is_inside = [&](SocketId end) { return end.index() < socket_inside.size() && socket_inside[end.index()]; };
  double crossing = 0;  // bytes a second in each direction
  for (const LinkDescription& link : machine_.links)
    if (is_inside(link.from) != is_inside(link.to)) crossing += link.bandwidth.bytes_per_second();
  cut.crossing = crossing / static_cast<double>(machine_.data_message.count());
  cuts_.push_back(std::move(cut));
}

void LowerBound::add(const Slice& slice) {
  const std::uint32_t number = phase_of_[slice.execution.index()];
  if (number != phase_.number) {
    close(phase_, closed_);
    const std::size_t nodes = machine_.nodes.size();
    phase_ = {.number = number,
              .by_thread = {},
              .by_core = {},
              .by_region = {},
              .reads = std::vector<std::uint64_t>(nodes, 0),
              .writes = std::vector<std::uint64_t>(nodes, 0)};
  }
  grow(phase_.by_thread, slice.place.thread.index(), slice.least);
  grow(phase_.by_core, slice.place.core.index(), slice.least);
  grow(phase_.by_region, workload_.executions[slice.execution.index()].region.index(), slice.least);
  phase_.reads[slice.place.node.index()] += slice.reads;
  phase_.writes[slice.place.node.index()] += slice.writes;
  closed_.work += slice.least + slice.faults;
}

// The phase counts for the region of most of its work.
void LowerBound::close(const Phase& phase, LeastTime& least) const {
  Time time = std::max(greatest(phase.by_thread), greatest(phase.by_core));
  for (const Cut& cut : cuts_) {
    double reads = 0, writes = 0;
    for (std::size_t node = 0; node < cut.inside.size(); ++node) {
      if (!cut.inside[node]) continue;
      reads += static_cast<double>(phase.reads[node]);
      writes += static_cast<double>(phase.writes[node]);
    }
    constexpr double below_rounding = 1 - 1e-9;
    const double read = reads * cut.read, write = writes * cut.write;
    const double read_relief = cut.crossing * cut.read, write_relief = cut.crossing * cut.write;
    const double seconds =
        std::max({(read + write) / (1 + read_relief + write_relief), read / (1 + read_relief), write / (1 + write_relief)});
    time = std::max(time, Time::from_seconds(seconds * below_rounding));
  }
  least.phases += time;
  for (std::size_t t = 0; t < phase.by_thread.size(); ++t) grow(least.by_thread, t, phase.by_thread[t]);
  if (phase.by_region.empty()) return;
  const auto most = std::max_element(phase.by_region.begin(), phase.by_region.end());
  grow(least.by_region, static_cast<std::size_t>(most - phase.by_region.begin()), time);
}

LeastTime LowerBound::result() const {
  LeastTime least = closed_;
  close(phase_, least);
  return least;
}

}  // namespace homenode
