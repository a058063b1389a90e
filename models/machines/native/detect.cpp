#include "models/machines/native/detect.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>

#include "models/machines/machine_fields.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

// Guesses for a present-day server; every one of them is marked as assumed.
constexpr double guessed_local_nanoseconds = 90;
constexpr double guessed_hop_nanoseconds = 60;
constexpr double guessed_link_bytes_per_second = 20e9;
constexpr double guessed_read_bytes_per_second = 20e9;
constexpr double guessed_one_to_one_bytes_per_second = 16e9;
constexpr double guessed_clock_hertz = 2e9;
constexpr double slit_local = 10;  // the ACPI table gives 10 to a node's own memory

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<hwloc_topology, DestroyTopology>;

TopologyHandle load(const char* synthetic) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw Error("hwloc cannot be initialised on this host");
  TopologyHandle topology{raw};
  if (synthetic != nullptr && hwloc_topology_set_synthetic(raw, synthetic) != 0)
    throw UsageError("hwloc does not understand the topology '" + std::string{synthetic} + "'; allowed: its synthetic descriptions");
  if (hwloc_topology_load(raw) != 0) throw Error("hwloc cannot read the topology of this host");
  return topology;
}

class Detector {
public:
  explicit Detector(hwloc_topology_t topology, std::vector<unsigned> left_out = {}) : topology_{topology}, left_out_{std::move(left_out)} {}

  // After `describe`, the system's numbers: of each core's first CPU, of each node.
  const std::vector<unsigned>& cpus() const { return cpus_; }
  std::vector<unsigned> nodes() const {
    std::vector<unsigned> numbers;
    for (const hwloc_obj_t node : nodes_) numbers.push_back(node->os_index);
    return numbers;
  }

  // `memory`: of the whole host, where the kernel knows better than its table of nodes (virtual machines that grew).
  MachineFile describe(const std::string& name, std::optional<Frequency> clock, Bytes memory) {
    machine_.name = name;
    machine_.clock = clock.value_or(Frequency::hertz(guessed_clock_hertz));
    know("clock", clock ? "the kernel of this host" : guess, !clock);
    sockets_and_nodes();
    if (machine_.nodes.size() == 1) machine_.nodes[0].memory = std::max(machine_.nodes[0].memory, memory);
    cores();
    controllers();
    caches();
    links();
    coherence();
    validate(machine_);
    machine_.hash = machine_hash(machine_);
    return {machine_, parameters(), {}};
  }

private:
  static constexpr const char* guess = "a guess of homenode, not measured";
  static constexpr const char* seen = "hwloc on this host";

  struct Knowledge {
    std::string source;
    bool assumed = false;
  };
  void know(const std::string& path, const std::string& source, bool assumed) { knowledge_[path] = {source, assumed}; }

  void sockets_and_nodes() {
    machine_.sockets = static_cast<unsigned>(std::max(1, hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_PACKAGE)));
    for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
      // hwloc hangs memory beside the object whose cores it is local to.
      hwloc_obj_t package = node->parent;
      while (package != nullptr && package->type != HWLOC_OBJ_PACKAGE) package = package->parent;
      NodeDescription described;
      described.socket = SocketId{package != nullptr ? package->logical_index : 0u};
      described.memory = Bytes{std::max<std::int64_t>(1, static_cast<std::int64_t>(node->attr->numanode.local_memory))};
      described.latency = Time::nanoseconds(guessed_local_nanoseconds);
      machine_.nodes.push_back(described);
      nodes_.push_back(node);
    }
    know("nodes.memory", seen, false);
    know("nodes.latency", guess, true);
  }

  void cores() {
    std::map<std::size_t, std::vector<std::pair<std::size_t, unsigned>>> by_socket;  // node and CPU of each core
    for (hwloc_obj_t core = nullptr; (core = next_core(core)) != nullptr;) {
      const auto local =
          std::find_if(nodes_.begin(), nodes_.end(), [&](hwloc_obj_t node) { return hwloc_bitmap_intersects(node->cpuset, core->cpuset); });
      const std::size_t node = local == nodes_.end() ? 0 : static_cast<std::size_t>(local - nodes_.begin());
      by_socket[machine_.nodes[node].socket.index()].emplace_back(node, static_cast<unsigned>(hwloc_bitmap_first(core->cpuset)));
    }
    for (auto& [socket, cores] : by_socket) {
      std::stable_sort(cores.begin(), cores.end(), [](const auto& one, const auto& other) { return one.first < other.first; });
      for (const auto& [node, cpu] : cores) {
        machine_.core_node.emplace_back(node);
        cpus_.push_back(cpu);
      }
    }
    know("nodes.cores", seen, false);
    know("sockets", seen, false);
  }

  // Some virtual machines show hardware threads only; then each is a core.
  hwloc_obj_t next_core(hwloc_obj_t previous) const {
    const bool has_cores = hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_CORE) > 0;
    const auto is_left_out = [&](hwloc_obj_t core) {
      const auto cpu = static_cast<unsigned>(hwloc_bitmap_first(core->cpuset));
      return std::find(left_out_.begin(), left_out_.end(), cpu) != left_out_.end();
    };
    hwloc_obj_t core = previous;
    do {
      core = hwloc_get_next_obj_by_type(topology_, has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU, core);
    } while (core != nullptr && is_left_out(core));
    return core;
  }

  void controllers() {
    for (std::size_t node = 0; node < machine_.nodes.size(); ++node)
      machine_.controllers.push_back({NodeId{node},
                                      Bandwidth::bytes_per_second(guessed_read_bytes_per_second),
                                      Bandwidth::bytes_per_second(guessed_one_to_one_bytes_per_second),
                                      {}});
    know("controllers.read_only", guess, true);
    know("controllers.one_to_one", guess, true);
  }

  unsigned cores_of_each_socket() const {
    unsigned divisor = 0;
    for (unsigned socket = 0; socket < machine_.sockets; ++socket)
      divisor =
          std::gcd(divisor, static_cast<unsigned>(std::count_if(machine_.core_node.begin(), machine_.core_node.end(),
                                                                [&](NodeId node) { return machine_.socket_of(node).value() == socket; })));
    return std::max(1u, divisor);
  }

  void caches() {
    static constexpr hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE};
    static constexpr double guessed_cycles[] = {5, 15, 70, 150};
    for (std::size_t index = 0; index < std::size(types); ++index) {
      const hwloc_obj_t object = hwloc_get_obj_by_type(topology_, types[index], 0);
      if (object == nullptr) break;
      CacheDescription cache;
      cache.level = static_cast<unsigned>(index + 1);
      cache.line = Bytes{object->attr->cache.linesize > 0 ? object->attr->cache.linesize : 64};
      const std::int64_t lines = static_cast<std::int64_t>(object->attr->cache.size) / cache.line.count();
      if (lines == 0) break;
      cache.size = cache.line * lines;
      const int ways = object->attr->cache.associativity;
      cache.ways = ways > 0 ? static_cast<unsigned>(ways) : 16;
      while (lines % cache.ways != 0) --cache.ways;  // a share of a cache need not have whole sets
      const bool ways_seen = ways > 0 && cache.ways == static_cast<unsigned>(ways);
      cache.cores_per_cache = sharing_of(object);
      const char* inclusive = hwloc_obj_get_info_by_name(object, "Inclusive");
      cache.inclusion = inclusive != nullptr && *inclusive == '1' ? Inclusion::inclusive : Inclusion::non_inclusive;
      cache.latency = cycles_to_time(guessed_cycles[index], machine_.clock);
      if (!machine_.caches.empty()) {
        const CacheDescription& inner = machine_.caches.back();
        if (cache.size <= inner.size || cache.line != inner.line) break;
        cache.cores_per_cache = std::max(cache.cores_per_cache, inner.cores_per_cache);
      }
      machine_.caches.push_back(cache);
      const std::string place = "caches." + std::to_string(cache.level) + ".";
      know(place + "size", seen, false);
      know(place + "ways", ways_seen ? seen : guess, !ways_seen);
      know(place + "line", seen, false);
      know(place + "cores_per_cache", seen, false);
      know(place + "inclusion", inclusive ? seen : guess, inclusive == nullptr);
      know(place + "latency", guess, true);
    }
    if (machine_.caches.empty()) {
      CacheDescription cache;
      cache.size = Bytes{32 * 1024};
      cache.latency = cycles_to_time(guessed_cycles[0], machine_.clock);
      machine_.caches.push_back(cache);  // every field of it is a guess
    }
  }

  // Cores below a cache; the model wants a divisor of the cores of each socket.
  unsigned sharing_of(hwloc_obj_t cache) const {
    unsigned sharing = 0;
    for (hwloc_obj_t core = nullptr; (core = next_core(core)) != nullptr;)
      if (hwloc_bitmap_intersects(core->cpuset, cache->cpuset)) ++sharing;
    return std::gcd(std::max(1u, sharing), cores_of_each_socket());
  }

  // SLIT's entry for two nodes, if the host has the table.
  std::optional<double> slit(std::size_t from, std::size_t to) const {
    hwloc_distances_s* distances = nullptr;
    unsigned count = 1;
    if (hwloc_distances_get_by_type(topology_, HWLOC_OBJ_NUMANODE, &count, &distances, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
        count == 0)
      return std::nullopt;
    std::optional<double> value;
    const int row = hwloc_distances_obj_index(distances, nodes_[from]), column = hwloc_distances_obj_index(distances, nodes_[to]);
    if (row >= 0 && column >= 0)
      value = static_cast<double>(distances->values[static_cast<unsigned>(row) * distances->nbobjs + static_cast<unsigned>(column)]);
    hwloc_distances_release(topology_, distances);
    return value;
  }

  std::optional<std::size_t> first_node_of(unsigned socket) const {
    for (std::size_t node = 0; node < nodes_.size(); ++node)
      if (machine_.nodes[node].socket.value() == socket) return node;
    return std::nullopt;
  }

  // Which sockets are joined, hwloc cannot tell: all of them, each pair as far apart as SLIT says.
  void links() {
    bool from_slit = false;
    for (unsigned from = 0; from < machine_.sockets; ++from) {
      for (unsigned to = from + 1; to < machine_.sockets; ++to) {
        double hop = guessed_hop_nanoseconds;
        const auto first = first_node_of(from), second = first_node_of(to);
        if (first && second) {
          if (const auto distance = slit(*first, *second); distance && *distance > slit_local) {
            hop = guessed_local_nanoseconds * (*distance / slit_local - 1);
            from_slit = true;
          }
        }
        machine_.links.push_back(
            {SocketId{from}, SocketId{to}, Bandwidth::bytes_per_second(guessed_link_bytes_per_second), Time::nanoseconds(hop)});
      }
    }
    know("links.bandwidth", guess, true);
    know("links.latency", from_slit ? "guessed from SLIT: local latency x (distance / 10 - 1)" : guess, true);
    know("links.between", guess, true);
  }

  void coherence() {
    machine_.core_to_core_local = Time::nanoseconds(50);
    machine_.core_to_core_remote = Time::nanoseconds(120);
    machine_.fork_base = Time::nanoseconds(1000);
    machine_.barrier_base = Time::nanoseconds(200);
    for (std::size_t node = 1; node < nodes_.size(); ++node) {
      if (machine_.nodes[node].socket != machine_.nodes[0].socket) continue;
      const auto distance = slit(0, node);
      if (distance && *distance > slit_local) {
        machine_.between_nodes_of_socket = Time::nanoseconds(guessed_local_nanoseconds * (*distance / slit_local - 1));
        know("coherence.between_nodes_of_socket", "guessed from SLIT: local latency x (distance / 10 - 1)", true);
      }
      break;
    }
  }

  // "nodes.0.latency" is known as "nodes.latency"; what nothing is known about is a guess.
  std::vector<MachineParameter> parameters() {
    std::vector<MachineParameter> all;
    const auto add = [&](const std::string& path, const std::string& value) {
      const auto first = path.find('.');
      const auto second = first == std::string::npos ? first : path.find('.', first + 1);
      const auto general = second == std::string::npos ? path : path.substr(0, first) + path.substr(second);
      const auto exact = knowledge_.find(path);
      const auto found = exact != knowledge_.end() ? exact : knowledge_.find(general);
      const Knowledge known = found != knowledge_.end() ? found->second : Knowledge{guess, true};
      all.push_back(
          {.path = path, .value = value, .source = known.source, .confidence = known.assumed ? "C" : "A", .assumed = known.assumed});
    };
    add("sockets", std::to_string(machine_.sockets));
    for (std::size_t node = 0; node < machine_.nodes.size(); ++node)
      add("nodes." + std::to_string(node) + ".cores",
          std::to_string(std::count(machine_.core_node.begin(), machine_.core_node.end(), NodeId{node})));
    for (std::size_t index = 0; index < machine_.links.size(); ++index)
      add("links." + std::to_string(index) + ".between",
          std::to_string(machine_.links[index].from.value()) + "-" + std::to_string(machine_.links[index].to.value()));
    for (const MachineField& field : fields_of(machine_))
      if (!std::holds_alternative<std::string*>(field.target)) add(field.name, text_of(field));
    return all;
  }

  hwloc_topology_t topology_;
  std::vector<unsigned> left_out_;
  Machine machine_;
  std::vector<hwloc_obj_t> nodes_;
  std::vector<unsigned> cpus_;
  std::map<std::string, Knowledge> knowledge_;
};

// The first "cpu MHz" of /proc/cpuinfo.
std::optional<Frequency> clock_of_this_host() {
  std::ifstream info{"/proc/cpuinfo"};
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("cpu MHz")) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) break;
    try {
      return parse_frequency(line.substr(colon + 1) + " MHz");
    } catch (const UnitError&) { break; }
  }
  return std::nullopt;
}

Bytes memory_of_this_host() { return Bytes{static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE)}; }

}  // namespace

DetectedHost detect_host(const std::vector<unsigned>& left_out) {
  const TopologyHandle topology = load(nullptr);
  Detector detector{topology.get(), left_out};
  MachineFile file = detector.describe("this-host", clock_of_this_host(), memory_of_this_host());
  file.machine.description = "detected by hwloc; latencies and bandwidths are guesses until calibrated";
  return {std::move(file), detector.cpus(), detector.nodes()};
}

MachineFile detect(const std::vector<unsigned>& left_out) { return detect_host(left_out).file; }

MachineFile detect_synthetic(const std::string& description) {
  const TopologyHandle topology = load(description.c_str());
  return Detector{topology.get()}.describe("synthetic", std::nullopt, Bytes{});
}

}  // namespace homenode
