#include "sim/machine/ring_geometry.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <random>
#include <sstream>
#include <string>

#include "sim/base/errors.hpp"
#include "sim/machine/mixed_bits.hpp"

namespace homenode {
namespace {

constexpr const char* allowed_orders =
    "interleaved, paired, grouped, shuffled, or all stops by name such as 'c0+d0 m0 c1+d1' (cores c, directories d, controllers m)";
constexpr std::uint64_t seed_of_shuffle = 1;

struct Device {
  char kind = ' ';  // c, d, m, or o for what is neither
  std::size_t number = 0;
};
using Stop = std::vector<Device>;

std::string name_of(char kind, std::size_t number) {
  std::string name(1, kind);
  return name.append(std::to_string(number));
}

[[noreturn]] void refuse(const Machine& machine, const std::string& message) {
  throw InputError("machine '" + machine.name + "': ring." + message);
}

// Puts `count` stops of one kind evenly into a circle that has others; `together` of them side by side.
std::vector<Stop> with_spread(const std::vector<Stop>& circle, char kind, std::size_t count, std::size_t together) {
  const std::size_t groups = (count + together - 1) / std::max<std::size_t>(together, 1);
  std::vector<Stop> result;
  std::size_t placed = 0;
  for (std::size_t at = 0; at < circle.size(); ++at) {
    // Group g comes behind the share (g + 1/2) / groups of the circle.
    while (placed < count && (2 * (placed / together) + 1) * circle.size() <= 2 * at * groups) {
      result.push_back({{kind, placed}});
      ++placed;
    }
    result.push_back(circle[at]);
  }
  for (; placed < count; ++placed) result.push_back({{kind, placed}});
  return result;
}

// Directories have no stop of their own: they share those of the others, evenly.
void add_directories(std::vector<Stop>& circle, std::size_t directories) {
  for (std::size_t directory = 0; directory < directories; ++directory)
    circle[directory * circle.size() / directories].push_back({'d', directory});
}

std::vector<Stop> named_stops(const Machine& machine) {
  std::vector<Stop> circle;
  std::istringstream words{machine.ring->order.text};
  for (std::string word; words >> word;) {
    Stop& stop = circle.emplace_back();
    std::istringstream names{word};
    for (std::string name; std::getline(names, name, '+');) {
      Device device;
      const char* end = name.data() + name.size();
      const bool kind_known = !name.empty() && std::string_view{"cdmo"}.find(name.front()) != std::string_view::npos;
      const auto [rest, status] =
          kind_known && name.size() > 1 ? std::from_chars(name.data() + 1, end, device.number) : std::from_chars_result{end, std::errc{}};
      if (!kind_known || status != std::errc{} || rest != end || (name.size() == 1 && name != "o"))
        refuse(machine, "order has '" + name + "'; allowed: " + allowed_orders);
      device.kind = name.front();
      stop.push_back(device);
    }
  }
  return circle;
}

std::vector<Stop> stops_of(const Machine& machine) {
  const RingDescription& ring = *machine.ring;
  const std::string& order = ring.order.text;
  const bool shuffled = order == "shuffled";
  const std::size_t together = order == "interleaved" || shuffled ? 1
                               : order == "paired"                ? 2
                               : order == "grouped"               ? machine.controllers.size()
                                                                  : 0;
  if (together == 0) return named_stops(machine);
  std::vector<Stop> circle;
  for (std::size_t core = 0; core < machine.cores(); ++core) circle.push_back({{'c', core}});
  circle = with_spread(circle, 'o', ring.other_stops, 1);
  circle = with_spread(circle, 'm', machine.controllers.size(), together);
  if (shuffled) {
    std::mt19937_64 random{seed_of_shuffle};
    for (std::size_t last = circle.size(); last > 1; --last) std::swap(circle[last - 1], circle[random() % last]);
  }
  add_directories(circle, ring.directories);
  return circle;
}

// Bit b of a directory or controller is the parity of the address bits in mask b, as in the published hashes of Intel's last levels. These
// masks are ours: all are linearly independent, so that each directory has lines of every controller.
constexpr std::array<std::uint64_t, 12> masks{0x1b5f575441, 0x2eb5faa882, 0x3cccc93104, 0x36d8a21208, 0x0f9d4c6410, 0x2a63b0e820,
                                              0x15a9d1b040, 0x39c6724080, 0x07e3ad8100, 0x31748b6200, 0x1cdb264400, 0x2b4e99c800};
constexpr std::size_t masks_of_directories = 8;

// `which`: 0 of directories, 1 of controllers.
std::size_t hashed(AddressHash hash, LineNumber line, std::size_t count, std::size_t which, std::size_t directories) {
  switch (hash) {
    case AddressHash::modulo:  // controllers in turn for each round of directories, or a directory would have lines of few controllers
      return (which == 0 ? line.value() : line.value() / directories + line.value()) % count;
    case AddressHash::parity: {
      std::size_t result = 0;
      const std::size_t first = which == 0 ? 0 : masks_of_directories;
      for (std::size_t bit = 0; (std::size_t{1} << bit) < count; ++bit)
        result |= static_cast<std::size_t>(std::popcount(line.value() & masks[first + bit]) & 1) << bit;
      return result;
    }
    case AddressHash::scattered: break;
  }
  return mixed_bits(line.value() ^ (which == 0 ? 0x9e3779b97f4a7c15ULL : 0xc2b2ae3d27d4eb4fULL)) % count;
}

void check_hash(const Machine& machine, AddressHash hash, std::size_t count, std::size_t most_bits, const std::string& name) {
  if (hash != AddressHash::parity || (std::has_single_bit(count) && count <= std::size_t{1} << most_bits)) return;
  refuse(machine, name + "_hash is parity for " + std::to_string(count) + "; allowed: a power of two up to " +
                      std::to_string(std::size_t{1} << most_bits));
}

}  // namespace

RingGeometry::RingGeometry(const Machine& machine)
    : directory_hash_{machine.ring->directory_hash}, controller_hash_{machine.ring->controller_hash}, hop_{machine.ring->hop} {
  const RingDescription& ring = *machine.ring;
  if (!(ring.hop > Time{})) refuse(machine, "hop is " + to_string(ring.hop) + "; allowed: more than 0 ns");
  for (const auto& [count, name] : {std::pair{ring.directories, "directories"}, std::pair{ring.data_rings, "data_rings"},
                                    std::pair{ring.address_rings, "address_rings"}, std::pair{ring.acknowledge_rings, "acknowledge_rings"}})
    if (count == 0) refuse(machine, std::string{name} + " is 0; allowed: at least 1");
  if (machine.sockets != 1 || machine.nodes.size() != 1)
    refuse(machine,
           "hop is of a machine with " + std::to_string(machine.nodes.size()) + " nodes; allowed: a ring joins one socket of one node");
  if (machine.caches.size() < 2 || machine.caches.back().cores_per_cache != 1)
    refuse(machine, "hop is of a machine whose cores share a cache; allowed: two levels or more of each core's own");
  check_hash(machine, directory_hash_, ring.directories, masks_of_directories, "directory");
  check_hash(machine, controller_hash_, machine.controllers.size(), masks.size() - masks_of_directories, "controller");

  const std::vector<Stop> circle = stops_of(machine);
  stops_ = circle.size();
  constexpr std::size_t nowhere = ~std::size_t{0};
  stop_of_core_.assign(machine.cores(), nowhere);
  stop_of_directory_.assign(ring.directories, nowhere);
  stop_of_controller_.assign(machine.controllers.size(), nowhere);
  for (std::size_t stop = 0; stop < circle.size(); ++stop) {
    for (const Device& device : circle[stop]) {
      if (device.kind == 'o') continue;
      auto& places = device.kind == 'c' ? stop_of_core_ : device.kind == 'd' ? stop_of_directory_ : stop_of_controller_;
      const std::string name = name_of(device.kind, device.number);
      if (device.number >= places.size())
        refuse(machine, "order has '" + name + "'; allowed: numbers up to " + std::to_string(places.size() - 1));
      if (places[device.number] != nowhere) refuse(machine, "order has '" + name + "' twice; allowed: every device once");
      places[device.number] = stop;
    }
  }
  for (const auto& [places, kind] :
       {std::pair{&stop_of_core_, 'c'}, std::pair{&stop_of_directory_, 'd'}, std::pair{&stop_of_controller_, 'm'}}) {
    const auto missing = std::find(places->begin(), places->end(), nowhere);
    if (missing != places->end())
      refuse(machine,
             "order lacks '" + name_of(kind, static_cast<std::size_t>(missing - places->begin())) + "'; allowed: " + allowed_orders);
  }

  double memory = 0, cores = 0;
  for (const std::size_t core : stop_of_core_) {
    for (const std::size_t directory : stop_of_directory_) {
      for (const std::size_t controller : stop_of_controller_) memory += static_cast<double>(tour(core, directory, controller));
      for (const std::size_t owner : stop_of_core_)
        if (owner != core) cores += static_cast<double>(tour(core, directory, owner));
    }
  }
  const auto asked = static_cast<double>(stop_of_core_.size() * stop_of_directory_.size());
  mean_memory_tour_ = memory / (asked * static_cast<double>(stop_of_controller_.size()));
  mean_core_tour_ = stop_of_core_.size() < 2 ? 0 : cores / (asked * static_cast<double>(stop_of_core_.size() - 1));
  const auto fixed = [&](Time mean, double hops, const std::string& name) {
    const Time way = Time::picoseconds(std::llround(hops * static_cast<double>(ring.hop.count())));
    if (mean <= way)
      refuse(machine, "hop is " + to_string(ring.hop) + ", the mean way round takes " + to_string(way) + " of " + name + " " +
                          to_string(mean) + "; allowed: less than it");
    return mean - way;
  };
  fixed_memory_ = fixed(machine.nodes.front().latency, mean_memory_tour_, "nodes.latency");
  fixed_transfer_ = fixed(machine.core_to_core_local, mean_core_tour_, "coherence.core_to_core_local");
}

std::size_t RingGeometry::directory_of(LineNumber line) const { return hashed(directory_hash_, line, directories(), 0, directories()); }

std::size_t RingGeometry::controller_of(LineNumber line) const { return hashed(controller_hash_, line, controllers(), 1, directories()); }

}  // namespace homenode
