#include "sim/machine/machine.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/machine/ring_geometry.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {
namespace {

// Names the machine and the part in every refusal.
class Checker {
public:
  explicit Checker(const Machine& machine) : machine_{machine} {}

  void require(bool holds, const std::string& part, const std::string& found, const std::string& allowed) const {
    if (!holds) throw InputError("machine '" + machine_.name + "': " + part + " is " + found + "; allowed: " + allowed);
  }
  void positive(const std::string& part, Time value) const {
    require(value > Time{} && value <= longest, part, to_string(value), "more than 0 ns, at most " + to_string(longest));
  }
  void positive(const std::string& part, Bytes value) const {
    require(value > Bytes{} && value <= largest, part, to_string(value), "at least 1 B, at most " + to_string(largest));
  }
  void positive(const std::string& part, Bandwidth value) const {
    require(value >= narrowest && value <= widest, part, to_string(value),
            "more than 0: from " + to_string(narrowest) + " to " + to_string(widest));
  }
  // What is kept for each of them takes memory.
  void positive(const std::string& part, unsigned value, unsigned most = 1u << 20) const {
    require(value > 0 && value <= most, part, std::to_string(value), "at least 1, at most " + std::to_string(most));
  }
  void rate(const std::string& part, double value) const {
    require(value >= 1e-6 && value <= 1e6, part, short_text(value), "more than 0: from 0.000001 to 1000000 a cycle");
  }
  void not_negative(const std::string& part, Time value) const {
    require(value >= Time{} && value <= longest, part, to_string(value), "0 ns or more, at most " + to_string(longest));
  }
  void not_negative(const std::string& part, double value) const {
    require(value >= 0 && value <= 1e6, part, short_text(value), "0 or more, at most 1000000");
  }
  void below(const std::string& part, std::size_t value, std::size_t limit) const {
    require(value < limit, part, std::to_string(value), limit == 0 ? "nothing: there are none" : "0 to " + std::to_string(limit - 1));
  }

private:
  // Beyond every machine, and so far from the ends of their types that sums and products of a whole run stay inside.
  static constexpr Time longest = Time::picoseconds(1'000'000'000'000);
  static constexpr Bytes largest{std::int64_t{1} << 50};
  static constexpr Bandwidth narrowest = Bandwidth::bytes_per_second(1e3), widest = Bandwidth::bytes_per_second(1e18);
  static std::string short_text(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
  }
  const Machine& machine_;
};

void check_nodes(const Machine& machine, const Checker& check) {
  // AddressSpace keeps a home in one byte and uses two values for pages without one.
  constexpr std::size_t most_nodes = 254;
  check.positive("the number of sockets", machine.sockets);
  check.require(!machine.nodes.empty() && machine.nodes.size() <= most_nodes, "the number of nodes", std::to_string(machine.nodes.size()),
                "1 to " + std::to_string(most_nodes));
  for (std::size_t index = 0; index < machine.nodes.size(); ++index) {
    const NodeDescription& node = machine.nodes[index];
    const std::string name = "node " + std::to_string(index);
    check.below("the socket of " + name, node.socket.index(), machine.sockets);
    check.positive("the memory of " + name, node.memory);
    check.positive("the latency of " + name, node.latency);
    if (node.memory_side_cache) check.positive("the memory-side cache of " + name, *node.memory_side_cache);
  }
}

void check_ports(const CacheDescription& cache, bool outermost, const std::string& name, const Checker& check) {
  if (!(cache.port_read.value_or(Bandwidth{}).bytes_per_second() > 0) && !(cache.port_write.value_or(Bandwidth{}).bytes_per_second() > 0))
    return;
  check.require(outermost, "the port of " + name, "described", "a port of the outermost level only");
  check.require(cache.port_read && cache.port_write, "the port of " + name, cache.port_read ? "without port_write" : "without port_read",
                "both port_read and port_write, or none");
  check.positive("the port_read of " + name, *cache.port_read);
  check.positive("the port_write of " + name, *cache.port_write);
}

void check_own_links(const Machine& machine, const Checker& check) {
  for (std::size_t index = 0; index < machine.nodes.size(); ++index) {
    const NodeDescription& node = machine.nodes[index];
    if (!node.link_read && !node.link_write) continue;
    const std::string name = "node " + std::to_string(index);
    check.require(node.link_read && node.link_write, "the link of " + name, node.link_read ? "without link_write" : "without link_read",
                  "both link_read and link_write, or none");
    check.positive("the link_read of " + name, *node.link_read);
    check.positive("the link_write of " + name, *node.link_write);
    const auto cores = std::count(machine.core_node.begin(), machine.core_node.end(), NodeId{index});
    check.require(cores == 0, "the number of cores of " + name + ", which has a link of its own,", std::to_string(cores), "0");
  }
}

// Those described hold half as much again as the caches inside. One that held less would bind whatever its sets, which the caches by ranges
// could not follow.
void check_snoop_filter(const Machine& machine, std::size_t index, const std::string& name, const Checker& check) {
  const CacheDescription& cache = machine.caches[index];
  if (cache.snoop_filter.value_or(Bytes{1}) == Bytes{} || (!cache.snoop_filter && cache.snoop_filter_ways == 0)) return;
  const std::string filter = "the snoop filter of " + name;
  check.require(index > 0 && index + 1 == machine.caches.size() && cache.inclusion != Inclusion::inclusive, filter, "described",
                "a snoop filter of the outermost level only, where that is not inclusive");
  check.require(cache.snoop_filter && cache.snoop_filter_ways > 0, filter, "described in part",
                "both snoop_filter and snoop_filter_ways, or none");
  const std::int64_t set = cache.line.count() * cache.snoop_filter_ways * cache.slices, size = cache.snoop_filter->count();
  check.require(size > 0 && size % set == 0, "the size of " + filter, to_string(*cache.snoop_filter),
                "a multiple of line x ways x slices = " + std::to_string(set) + " B");
  std::int64_t together = 0;
  for (std::size_t level = 0; level < index; ++level) {
    const CacheDescription& inside = machine.caches[level];
    const bool has_its_own = level + 1 == index || machine.caches[level + 1].inclusion != Inclusion::inclusive;
    if (has_its_own) together += inside.size.count() * (cache.cores_per_cache / inside.cores_per_cache);
  }
  check.require(cache.snoop_filter->count() >= together, "the size of " + filter, to_string(*cache.snoop_filter),
                "at least the " + to_string(Bytes{together}) + " of the caches inside; 0 B: none");
}

std::vector<std::size_t> check_cores(const Machine& machine, const Checker& check) {
  constexpr std::size_t most_cores = 4096;  // of the largest machines with one memory (SGI UV 3000: 256 sockets)
  check.require(!machine.core_node.empty() && machine.core_node.size() <= most_cores, "the number of cores",
                std::to_string(machine.core_node.size()), "at least 1, at most " + std::to_string(most_cores));
  std::vector<std::size_t> cores(machine.sockets);
  std::size_t previous_socket = 0;
  for (std::size_t core = 0; core < machine.core_node.size(); ++core) {
    const std::string name = "core " + std::to_string(core);
    check.below("the node of " + name, machine.core_node[core].index(), machine.nodes.size());
    const std::size_t socket = machine.socket_of(CoreId{core}).index();
    check.require(socket >= previous_socket, "the socket of " + name, std::to_string(socket),
                  "at least " + std::to_string(previous_socket) + ": cores are numbered socket by socket");
    previous_socket = socket;
    ++cores[socket];
  }
  return cores;
}

void check_caches(const Machine& machine, const std::vector<std::size_t>& cores_of_socket, const Checker& check) {
  check.require(!machine.caches.empty(), "the number of cache levels", "0", "at least 1");
  for (std::size_t index = 0; index < machine.caches.size(); ++index) {
    const CacheDescription& cache = machine.caches[index];
    const std::string name = "cache level " + std::to_string(index + 1);
    check.require(cache.level == index + 1, "the level of the cache in place " + std::to_string(index + 1), std::to_string(cache.level),
                  std::to_string(index + 1) + ": levels are listed from 1 outwards");
    check.positive("the size of " + name, cache.size);
    check.positive("the ways of " + name, cache.ways, 1u << 24);
    const auto line = static_cast<std::uint64_t>(cache.line.count());
    check.require(line >= 8 && line <= 4096 && std::has_single_bit(line), "the line of " + name, to_string(cache.line),
                  "a power of two from 8 B to 4096 B");
    check.positive("the slices of " + name, cache.slices, 4096);
    check.positive("the latency of " + name, cache.latency);
    if (cache.same_set)
      check.require(index > 0 && *cache.same_set >= Time{}, "same_set of " + name, to_string(*cache.same_set),
                    index > 0 ? "0 or more" : "none: it is of the levels behind the first");
    check.positive("the cores per cache of " + name, cache.cores_per_cache);
    check_ports(cache, index + 1 == machine.caches.size(), name, check);
    check_snoop_filter(machine, index, name, check);
    const std::int64_t set = cache.line.count() * cache.ways * cache.slices;
    check.require(cache.size.count() % set == 0, "the size of " + name, to_string(cache.size),
                  "a multiple of line x ways x slices = " + std::to_string(set) + " B");
    for (std::size_t socket = 0; socket < cores_of_socket.size(); ++socket)
      check.require(cores_of_socket[socket] % cache.cores_per_cache == 0, "the cores per cache of " + name,
                    std::to_string(cache.cores_per_cache),
                    "a divisor of the " + std::to_string(cores_of_socket[socket]) + " cores of socket " + std::to_string(socket));
    if (index == 0) continue;
    check.require(cache.clock == CacheClock::own || machine.caches[index - 1].clock == CacheClock::core, "the clock of " + name,
                  "the cores'", "own: that of the level inside it is its own, too");
    const CacheDescription& inner = machine.caches[index - 1];
    check.require(cache.line == inner.line, "the line of " + name, to_string(cache.line),
                  to_string(inner.line) + ", as of the level inside it");
    check.require(cache.size > inner.size, "the size of " + name, to_string(cache.size),
                  "more than the " + to_string(inner.size) + " of the level inside it");
    check.require(cache.latency > inner.latency, "the latency of " + name, to_string(cache.latency),
                  "more than the " + to_string(inner.latency) + " of the level inside it");
    check.require(cache.cores_per_cache % inner.cores_per_cache == 0, "the cores per cache of " + name,
                  std::to_string(cache.cores_per_cache),
                  "a multiple of the " + std::to_string(inner.cores_per_cache) + " of the level inside it");
  }
}

void check_loaded_latency(const std::vector<LoadedLatencyPoint>& curve, const std::string& name, const Checker& check) {
  LoadedLatencyPoint previous;
  for (const LoadedLatencyPoint& point : curve) {
    check.require(point.utilisation > previous.utilisation && point.utilisation <= 1, "a utilisation in the loaded latency of " + name,
                  std::to_string(point.utilisation), "above " + std::to_string(previous.utilisation) + ", at most 1, ascending");
    check.require(point.extra >= previous.extra, "an extra time in the loaded latency of " + name, to_string(point.extra),
                  to_string(previous.extra) + " or more: it never falls with load");
    previous = point;
  }
}

void check_side_caches(const Machine& machine, const Checker& check) {
  const std::int64_t page = 4096;
  for (std::size_t index = 0; index < machine.nodes.size(); ++index) {
    const NodeDescription& node = machine.nodes[index];
    if (!node.memory_side_latency && !node.memory_side_read_only && !node.memory_side_one_to_one && node.memory_side_loaded_latency.empty())
      continue;
    const std::string name = "the memory-side cache of node " + std::to_string(index);
    check.require(node.memory_side_cache && node.memory_side_latency && node.memory_side_read_only && node.memory_side_one_to_one, name,
                  "described in part",
                  "memory_side_latency, memory_side_read_only and memory_side_one_to_one beside memory_side_cache, or none of the three");
    check.positive("the latency of " + name, *node.memory_side_latency);
    check.require(*node.memory_side_latency <= node.latency, "the latency of " + name, to_string(*node.memory_side_latency),
                  "at most the " + to_string(node.latency) + " that a line takes which it does not have");
    check.positive("the read-only bandwidth of " + name, *node.memory_side_read_only);
    check.positive("the one-to-one bandwidth of " + name, *node.memory_side_one_to_one);
    check.require(node.memory_side_one_to_one->bytes_per_second() < 2 * node.memory_side_read_only->bytes_per_second(),
                  "the one-to-one bandwidth of " + name, to_string(*node.memory_side_one_to_one),
                  "less than twice the read-only " + to_string(*node.memory_side_read_only) + ", or writes would cost nothing");
    check.require(node.memory_side_cache->count() % page == 0, "the size of " + name, to_string(*node.memory_side_cache),
                  "a multiple of 4 KiB");
    check_loaded_latency(node.memory_side_loaded_latency, name, check);
    check.require(!machine.ring, name, "on a machine with a ring", "none there");
  }
}

void check_controllers(const Machine& machine, const Checker& check) {
  std::vector<bool> served(machine.nodes.size());
  for (std::size_t index = 0; index < machine.controllers.size(); ++index) {
    const ControllerDescription& controller = machine.controllers[index];
    const std::string name = "controller " + std::to_string(index);
    check.below("the node of " + name, controller.node.index(), machine.nodes.size());
    check.positive("the read-only bandwidth of " + name, controller.read_only);
    check.positive("the one-to-one bandwidth of " + name, controller.one_to_one);
    // seconds = reads / B_r + writes / B_w with 1 / B_11 = 0.5 / B_r + 0.5 / B_w: B_w is positive only below 2 B_r.
    check.require(controller.one_to_one.bytes_per_second() < 2 * controller.read_only.bytes_per_second(),
                  "the one-to-one bandwidth of " + name, to_string(controller.one_to_one),
                  "less than twice the read-only " + to_string(controller.read_only) + ", or writes would cost nothing");
    check_loaded_latency(controller.loaded_latency, name, check);
    served[controller.node.index()] = true;
  }
  for (std::size_t node = 0; node < served.size(); ++node)
    check.require(served[node], "the number of controllers of node " + std::to_string(node), "0", "at least 1");
}

void check_links(const Machine& machine, const Checker& check) {
  constexpr std::size_t most_links = 2048;
  check.require(machine.links.size() <= most_links, "the number of links", std::to_string(machine.links.size()),
                "at most " + std::to_string(most_links));
  std::set<std::pair<SocketId, SocketId>> joined;
  for (std::size_t index = 0; index < machine.links.size(); ++index) {
    const LinkDescription& link = machine.links[index];
    const std::string name = "link " + std::to_string(index);
    check.below("the first end of " + name, link.from.index(), machine.link_ends());
    check.below("the second end of " + name, link.to.index(), machine.link_ends());
    check.require(link.from != link.to, "the second end of " + name, std::to_string(link.to.value()), "another than the first");
    check.require(joined.insert(std::minmax(link.from, link.to)).second, name,
                  "another between " + std::to_string(link.from.value()) + " and " + std::to_string(link.to.value()),
                  "one for each pair; parallel links are one with their bandwidth together");
    check.positive("the bandwidth of " + name, link.bandwidth);
    check.positive("the latency of " + name, link.latency);
  }
}

constexpr double slowest = 1e6, fastest = 1e12;  // clocks

void check_cores_of(const ClockStep& step, const ClockStep& previous, const std::string& table, std::size_t most, const Checker& check) {
  check.require(step.cores > previous.cores && step.cores <= most, "a number of cores in " + table, std::to_string(step.cores),
                "above " + std::to_string(previous.cores) + ", ascending, at most the " + std::to_string(most) + " cores of a socket");
}

// The table of code of wide vectors.
void check_clocks_of(const Machine& machine, VectorWidth width, std::size_t cores_of_socket, const Checker& check) {
  const std::string table = width == VectorWidth::bits_256 ? "clock_by_cores_256" : "clock_by_cores_512";
  const VectorWidth narrower = width == VectorWidth::bits_256 ? VectorWidth::narrow : VectorWidth::bits_256;
  ClockStep previous{0, Frequency::hertz(fastest)};
  for (const ClockStep& step : machine.clocks(width)) {
    check_cores_of(step, previous, table, cores_of_socket, check);
    // Clocks of narrower code do not rise either: what holds for the step's most cores holds for fewer.
    const double most = std::min(machine.clock_of(step.cores, narrower).hertz(), previous.clock.hertz());
    check.require(step.clock.hertz() >= slowest && step.clock.hertz() <= most,
                  "the clock of " + table + " with up to " + std::to_string(step.cores) + " cores at work", to_string(step.clock),
                  "from 1 MHz to " + to_string(Frequency::hertz(most)) +
                      ": it never rises with more cores at work, and is never above that of narrower code");
    previous = step;
  }
}

void check_clocks(const Machine& machine, std::size_t cores_of_socket, const Checker& check) {
  check.require(machine.clock.hertz() >= slowest && machine.clock.hertz() <= fastest, "the clock", to_string(machine.clock),
                "more than 0: from 1 MHz to 1000 GHz");
  ClockStep previous{0, Frequency::hertz(fastest)};
  for (const ClockStep& step : machine.clock_by_cores) {
    check_cores_of(step, previous, "clock_by_cores", cores_of_socket, check);
    check.require(step.clock.hertz() >= machine.clock.hertz() && step.clock.hertz() <= previous.clock.hertz(),
                  "the clock with up to " + std::to_string(step.cores) + " cores at work", to_string(step.clock),
                  "from " + to_string(machine.clock) + ", the base clock, to " + to_string(previous.clock) +
                      ": it never rises with more cores at work");
    previous = step;
  }
  check_clocks_of(machine, VectorWidth::bits_256, cores_of_socket, check);
  check_clocks_of(machine, VectorWidth::bits_512, cores_of_socket, check);
}

void check_core(const Machine& machine, const Checker& check) {
  const CoreThroughput& core = machine.core;
  check.rate("core.issue", core.issue);
  check.rate("core.integer", core.integer);
  check.rate("core.fp_add", core.fp_add);
  check.rate("core.fp_multiply", core.fp_multiply);
  check.rate("core.fp_fma", core.fp_fma);
  check.rate("core.divide", core.divide);
  check.rate("core.load", core.load);
  check.rate("core.store", core.store);
  check.rate("core.branch", core.branch);
  check.require(machine.load_waits >= 0 && machine.load_waits <= 1, "core.load_waits", std::to_string(machine.load_waits), "from 0 to 1");
  check.require(machine.fill_serial >= 0 && machine.fill_serial <= 1, "core.fill_serial", std::to_string(machine.fill_serial),
                "from 0 to 1");
  for (const auto& [name, slowdown] :
       {std::pair{"core.smt_slowdown", core.smt_slowdown}, std::pair{"core.smt_fetch_slowdown", core.smt_fetch_slowdown}})
    check.require(slowdown >= 1 && slowdown <= 4, name, std::to_string(slowdown), "from 1 to 4");
  check.require(core.block_time >= 0.01 && core.block_time <= 100, "core.block_time", std::to_string(core.block_time), "from 0.01 to 100");
  check.positive("the channels of a controller", machine.dram.channels, 1024);
  check.positive("the banks of a channel", machine.dram.banks, 65536);
  check.positive("the lines of a write batch", machine.dram.write_batch, 65536);
  check.positive("the ranks of a channel", machine.dram.ranks, 64);
  check.require(machine.dram.banks % machine.dram.ranks == 0, "the banks of a channel", std::to_string(machine.dram.banks),
                "equal parts for its " + std::to_string(machine.dram.ranks) + " ranks");
  check.not_negative("the burst of a line", machine.dram.burst);
  check.not_negative("the time of a refresh", machine.dram.refresh_time);
  check.not_negative("the time of four activations", machine.dram.four_activates);
  check.not_negative("the turn-around of a channel", machine.dram.turn_around);
  check.require(2 * machine.dram.refresh_time <= machine.dram.refresh_interval, "the time of a refresh",
                to_string(machine.dram.refresh_time), "at most half its interval, " + to_string(machine.dram.refresh_interval));
  for (const auto& [name, bandwidth] : {std::pair{"the read bandwidth of a core", machine.read_bandwidth},
                                        std::pair{"the write bandwidth of a core", machine.write_bandwidth},
                                        std::pair{"the non-temporal bandwidth of a core", machine.nontemporal_bandwidth}})
    if (bandwidth) check.positive(name, *bandwidth);
  if (machine.system) {
    check.require(machine.system->fault.zeroing <= 1, "the zeroing of its own system", std::to_string(machine.system->fault.zeroing),
                  "a share of a page's lines, 0 to 1");
    check.require(machine.system->balancing.available <= 1, "the balancing of its own system",
                  std::to_string(machine.system->balancing.available), "0 or 1");
  }
  check.positive("the miss buffers", machine.miss_buffers);
  check.positive("the prefetched lines", machine.prefetched_lines);
}

void check_messages_and_costs(const Machine& machine, const Checker& check) {
  check.require(machine.data_message >= machine.caches.back().line, "the data message", to_string(machine.data_message),
                "at least the line it carries, " + to_string(machine.caches.back().line));
  check.require(machine.directory_in == DirectoryPlace::cache || machine.snoop == SnoopMode::directory, "coherence.directory_in", "memory",
                "cache, or coherence.snoop = directory beside it");
  check.positive("the request message", machine.request_message);
  check.positive("the snoop message", machine.snoop_message);
  check.positive("the response message", machine.response_message);
  check.not_negative("the time between nodes of a socket", machine.between_nodes_of_socket);
  check.positive("core-to-core local", machine.core_to_core_local);
  if (machine.core_to_core_shared_cache) {
    check.positive("core-to-core in a shared cache", *machine.core_to_core_shared_cache);
    check.require(*machine.core_to_core_shared_cache <= machine.core_to_core_local, "core-to-core in a shared cache",
                  to_string(*machine.core_to_core_shared_cache),
                  "at most the " + to_string(machine.core_to_core_local) + " between caches of a socket");
  }
  // With one socket nothing is remote.
  check.require(machine.sockets == 1 || machine.core_to_core_remote >= machine.core_to_core_local, "core-to-core remote",
                to_string(machine.core_to_core_remote), "at least the local " + to_string(machine.core_to_core_local));
  check.not_negative("the fork base", machine.fork_base);
  check.not_negative("the barrier base", machine.barrier_base);
  check.not_negative("the fork log factor", machine.fork_log_factor);
  check.not_negative("the barrier log factor", machine.barrier_log_factor);
  check.not_negative("the reduction log factor", machine.reduction_log_factor);
  check.positive("the TLB page", machine.tlb.page);
  check.require(machine.tlb.entries == 0 || machine.tlb.ways <= machine.tlb.entries, "tlb.ways", std::to_string(machine.tlb.ways),
                "at most the " + std::to_string(machine.tlb.entries) + " entries");
  check.require(machine.tlb.walks == 0 || (machine.tlb.walks >= 1 && machine.tlb.walks <= 64), "tlb.walks",
                std::to_string(machine.tlb.walks), "0 (not known), or from 1 to 64");
  check.require(machine.tlb.entries == 0 || machine.tlb.first_entries <= machine.tlb.entries, "tlb.first_entries",
                std::to_string(machine.tlb.first_entries), "at most the " + std::to_string(machine.tlb.entries) + " entries");
  check.not_negative("what a miss of the first level of translations costs", machine.tlb.first_miss_penalty);
  check.require(machine.tlb.first_misses == 0 || (machine.tlb.first_misses >= 1 && machine.tlb.first_misses <= 64), "tlb.first_misses",
                std::to_string(machine.tlb.first_misses), "0 (not known), or from 1 to 64");
  check.not_negative("the TLB miss penalty", machine.tlb.miss_penalty);
  if (machine.tlb.stream_walk) check.not_negative("what a stream loses at a page", *machine.tlb.stream_walk);
}

}  // namespace

Frequency Machine::clock_of(unsigned active, VectorWidth width) const {
  const std::vector<ClockStep>& table = clocks(width);
  for (const ClockStep& step : table)
    if (active <= step.cores) return step.clock;
  if (width == VectorWidth::narrow) return clock;
  const Frequency narrower = clock_of(active, width == VectorWidth::bits_512 ? VectorWidth::bits_256 : VectorWidth::narrow);
  return table.empty() || narrower.hertz() <= table.back().clock.hertz() ? narrower : table.back().clock;
}

std::string Machine::link_end_name(SocketId end) const {
  return end.index() < sockets ? std::to_string(end.value()) : "hub " + std::to_string(end.index() - sockets);
}

void validate(const Machine& machine) {
  const Checker check{machine};
  check_nodes(machine, check);
  const std::vector<std::size_t> cores_of_socket = check_cores(machine, check);
  check_own_links(machine, check);
  check_side_caches(machine, check);
  check_caches(machine, cores_of_socket, check);
  check_controllers(machine, check);
  check_links(machine, check);
  check_clocks(machine, *std::max_element(cores_of_socket.begin(), cores_of_socket.end()), check);
  check_core(machine, check);
  check_messages_and_costs(machine, check);
  if (machine.ring) RingGeometry{machine};  // refuses orders and hashes
  Topology{machine};                        // refuses sockets that no route reaches
}

}  // namespace homenode
