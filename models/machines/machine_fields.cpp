#include "models/machines/machine_fields.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"

namespace homenode {
namespace {

template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

constexpr std::array<Named<Inclusion>, 3> names_of(Inclusion) {
  return {{{"inclusive", Inclusion::inclusive}, {"exclusive", Inclusion::exclusive}, {"non_inclusive", Inclusion::non_inclusive}}};
}
constexpr std::array<Named<Victim>, 2> names_of(Victim) { return {{{"oldest", Victim::oldest}, {"random", Victim::random}}}; }
constexpr std::array<Named<TlbIndex>, 2> names_of(TlbIndex) { return {{{"low", TlbIndex::low}, {"folded", TlbIndex::folded}}}; }
constexpr std::array<Named<CacheClock>, 2> names_of(CacheClock) { return {{{"own", CacheClock::own}, {"core", CacheClock::core}}}; }
constexpr std::array<Named<SnoopMode>, 3> names_of(SnoopMode) {
  return {{{"source", SnoopMode::source}, {"home", SnoopMode::home}, {"directory", SnoopMode::directory}}};
}
constexpr std::array<Named<DirectoryPlace>, 2> names_of(DirectoryPlace) {
  return {{{"cache", DirectoryPlace::cache}, {"memory", DirectoryPlace::memory}}};
}
constexpr std::array<Named<Overlap>, 2> names_of(Overlap) { return {{{"full", Overlap::full}, {"none", Overlap::none}}}; }
constexpr std::array<Named<StoreTreatment>, 2> names_of(StoreTreatment) {
  return {{{"regular", StoreTreatment::regular}, {"nontemporal", StoreTreatment::nontemporal}}};
}

constexpr std::array<Named<AddressHash>, 3> names_of(AddressHash) {
  return {{{"modulo", AddressHash::modulo}, {"parity", AddressHash::parity}, {"scattered", AddressHash::scattered}}};
}

constexpr std::size_t most_characters = 64;
constexpr double most_seconds = 9.2e6;  // as many as Time holds

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <class Number>
Number plain_number(std::string_view text, std::string_view kind) {
  const std::string_view body = trimmed(text);
  Number number{};
  const auto [end, status] = std::from_chars(body.data(), body.data() + body.size(), number);
  bool good = status == std::errc{} && end == body.data() + body.size();
  if constexpr (std::is_floating_point_v<Number>) good = good && std::isfinite(number) && !std::signbit(number);
  if (!good) throw UnitError("'" + brief(text) + "' is not " + std::string{kind} + "; allowed: 0 or more, without a unit");
  return number;
}

// "4 cycles" -> 4; nothing if the text is in another unit.
std::optional<double> number_before(std::string_view text, std::string_view unit) {
  const std::string_view body = trimmed(text);
  if (!body.ends_with(unit)) return std::nullopt;
  return plain_number<double>(body.substr(0, body.size() - unit.size()), "a number of " + std::string{unit});
}

void assign(Time& target, std::string_view text, Frequency clock) {
  const auto cycles = number_before(text, "cycles");
  if (cycles && !(clock.hertz() > 0)) throw UnitError("'" + brief(text) + "' is in cycles of no clock; allowed: ps, ns, us, ms, s");
  if (cycles && !(*cycles / clock.hertz() < most_seconds))
    throw UnitError("'" + brief(text) + "' is no time: it is too large; allowed: up to 106 days");
  target = cycles ? cycles_to_time(*cycles, clock) : parse_time(text);
}
void assign(Bytes& target, std::string_view text, Frequency) { target = parse_bytes(text); }
void assign(Bandwidth& target, std::string_view text, Frequency clock) {
  const auto per_cycle = number_before(text, "B/cycle");
  target = per_cycle ? Bandwidth::bytes_per_second(*per_cycle * clock.hertz()) : parse_bandwidth(text);
}
void assign(Frequency& target, std::string_view text, Frequency) { target = parse_frequency(text); }
void assign(Energy& target, std::string_view text, Frequency) { target = parse_energy(text); }
void assign(Power& target, std::string_view text, Frequency) { target = parse_power(text); }
void assign(StopOrder& target, std::string_view text, Frequency) { target.text = trimmed(text); }
// A name that another program gives to something.
void assign(std::string& target, std::string_view text, Frequency) {
  const std::string_view name = trimmed(text);
  const bool good = name.size() <= most_characters && std::all_of(name.begin(), name.end(), [](char character) {
                      return ('a' <= character && character <= 'z') || ('A' <= character && character <= 'Z') ||
                             ('0' <= character && character <= '9') || character == '-' || character == '_';
                    });
  if (!good) throw UnitError("'" + brief(text) + "' is no name; allowed: at most 64 letters, digits, - and _");
  target = name;
}
void assign(unsigned& target, std::string_view text, Frequency) { target = plain_number<unsigned>(text, "a whole number"); }
void assign(double& target, std::string_view text, Frequency) { target = plain_number<double>(text, "a number"); }

template <class Value>
void assign(std::optional<Value>& target, std::string_view text, Frequency clock) {
  Value value{};
  assign(value, text, clock);
  target = value;
}

template <class Choice>
requires std::is_enum_v<Choice>
void assign(Choice& target, std::string_view text, Frequency) {
  std::string allowed;
  for (const auto& [name, value] : names_of(Choice{})) {
    if (name == text) {
      target = value;
      return;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string{name};
  }
  throw UnitError("'" + brief(text) + "' is unknown; allowed: " + allowed);
}

// "0.5: 12 ns, 0.9: 60 ns": `read` makes a point of what stands before and behind a colon.
template <class Point, class Read>
std::vector<Point> points_of(std::string_view text, const char* allowed, const Read& read) {
  std::vector<Point> points;
  for (std::string_view rest = trimmed(text); !rest.empty();) {
    const std::string_view point = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), point.size() + 1));
    const auto colon = point.find(':');
    if (colon == std::string_view::npos) throw UnitError("'" + brief(point) + "' is no point; allowed: " + allowed);
    read(points.emplace_back(), trimmed(point.substr(0, colon)), trimmed(point.substr(colon + 1)));
  }
  return points;
}

// An empty text is a flat curve.
void assign(std::vector<LoadedLatencyPoint>& target, std::string_view text, Frequency clock) {
  target = points_of<LoadedLatencyPoint>(text, "utilisation: time", [&](auto& point, std::string_view utilisation, std::string_view extra) {
    point.utilisation = plain_number<double>(utilisation, "a utilisation");
    assign(point.extra, extra, clock);
  });
}

// An empty text is one clock for any number of cores.
void assign(std::vector<ClockStep>& target, std::string_view text, Frequency clock) {
  target = points_of<ClockStep>(text, "cores: clock", [&](auto& step, std::string_view cores, std::string_view frequency) {
    step.cores = plain_number<unsigned>(cores, "a number of cores");
    assign(step.clock, frequency, clock);
  });
}

std::string shortest(double value) {
  std::array<char, 64> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

std::string text(Time value) { return to_string(value); }
std::string text(Bytes value) { return to_string(value); }
std::string text(Bandwidth value) { return to_string(value); }
std::string text(Frequency value) { return to_string(value); }
std::string text(Energy value) { return to_string(value); }
std::string text(Power value) { return to_string(value); }
std::string text(const StopOrder& value) { return value.text; }
template <class Value>
std::string text(const std::optional<Value>& value) {
  return value ? to_string(*value) : "";
}
std::string text(const std::string& value) { return value; }
std::string text(unsigned value) { return std::to_string(value); }
std::string text(double value) { return shortest(value); }
template <class Choice>
requires std::is_enum_v<Choice> std::string text(Choice choice) {
  for (const auto& [name, value] : names_of(Choice{}))
    if (value == choice) return std::string{name};
  return "";
}
std::string text(const std::vector<LoadedLatencyPoint>& curve) {
  std::string points;
  for (const LoadedLatencyPoint& point : curve)
    points += (points.empty() ? "" : ", ") + shortest(point.utilisation) + ": " + to_string(point.extra);
  return points;
}

std::string text(const std::vector<ClockStep>& steps) {
  std::string all;
  for (const ClockStep& step : steps) all += (all.empty() ? "" : ", ") + std::to_string(step.cores) + ": " + to_string(step.clock);
  return all;
}

std::optional<double> magnitude(Time value) { return static_cast<double>(value.count()); }
std::optional<double> magnitude(Bytes value) { return static_cast<double>(value.count()); }
std::optional<double> magnitude(Bandwidth value) { return value.bytes_per_second(); }
template <class Value>
std::optional<double> magnitude(const std::optional<Value>& value) {
  return value ? magnitude(*value) : std::nullopt;
}
std::optional<double> magnitude(Frequency value) { return value.hertz(); }
std::optional<double> magnitude(Energy value) { return value.joules(); }
std::optional<double> magnitude(Power value) { return value.watts(); }
std::optional<double> magnitude(const StopOrder&) { return std::nullopt; }
std::optional<double> magnitude(const std::string&) { return std::nullopt; }
std::optional<double> magnitude(unsigned value) { return value; }
std::optional<double> magnitude(double value) { return value; }
template <class Other>
requires std::is_enum_v<Other> std::optional<double> magnitude(Other) { return std::nullopt; }
std::optional<double> magnitude(const std::vector<LoadedLatencyPoint>&) { return std::nullopt; }
std::optional<double> magnitude(const std::vector<ClockStep>& steps) {
  return steps.empty() ? std::nullopt : std::optional{steps.back().clock.hertz()};
}

std::int64_t product(std::int64_t value, double factor) {
  const double scaled = static_cast<double>(value) * factor;
  if (!(scaled < 9.2e18)) throw UnitError("a factor that makes it too large");
  return std::llround(scaled);
}
void multiply(Time& value, double factor) { value = Time::picoseconds(product(value.count(), factor)); }
void multiply(Bytes& value, double factor) { value = Bytes{product(value.count(), factor)}; }
void multiply(Bandwidth& value, double factor) { value = Bandwidth::bytes_per_second(value.bytes_per_second() * factor); }
template <class Value>
void multiply(std::optional<Value>& value, double factor) {
  if (value) multiply(*value, factor);
}
void multiply(Frequency& value, double factor) { value = Frequency::hertz(value.hertz() * factor); }
void multiply(Energy& value, double factor) { value = value * factor; }
void multiply(Power& value, double factor) { value = value * factor; }
void multiply(unsigned& value, double factor) {
  const std::int64_t scaled = product(value, factor);
  if (scaled > std::numeric_limits<unsigned>::max()) throw UnitError("a factor that makes it too large");
  if (value > 0) value = std::max(1u, static_cast<unsigned>(scaled));
}
void multiply(double& value, double factor) { value *= factor; }
void multiply(StopOrder& order, double) { throw UnitError("'" + order.text + "' is no number that a factor could change"); }
void multiply(std::string& name, double) { throw UnitError("'" + name + "' is no number that a factor could change"); }
void multiply(std::vector<LoadedLatencyPoint>& curve, double factor) {
  for (LoadedLatencyPoint& point : curve) multiply(point.extra, factor);
}
void multiply(std::vector<ClockStep>& steps, double factor) {
  for (ClockStep& step : steps) multiply(step.clock, factor);
}
template <class Choice>
requires std::is_enum_v<Choice>
void multiply(Choice& choice, double) { throw UnitError("'" + text(choice) + "' is no number that a factor could change"); }

void append(std::vector<MachineField>& all, const std::string& place, std::vector<MachineField> fields) {
  for (MachineField& field : fields) {
    if (!place.empty()) field.name = place + "." + field.name;
    all.push_back(std::move(field));
  }
}

}  // namespace

std::vector<MachineField> fields_of(NodeDescription& node) {
  return {{"memory", &node.memory, true},
          {"latency", &node.latency, true},
          {"memory_side_cache", &node.memory_side_cache},
          {"memory_side_latency", &node.memory_side_latency},
          {"memory_side_read_only", &node.memory_side_read_only},
          {"memory_side_one_to_one", &node.memory_side_one_to_one},
          {"memory_side_loaded_latency", &node.memory_side_loaded_latency},
          {"link_read", &node.link_read},
          {"link_write", &node.link_write}};
}

std::vector<MachineField> fields_of(ControllerDescription& controller) {
  return {{"read_only", &controller.read_only, true},
          {"one_to_one", &controller.one_to_one, true},
          {"loaded_latency", &controller.loaded_latency}};
}

std::vector<MachineField> fields_of(CacheDescription& cache) {
  return {{"size", &cache.size, true},
          {"ways", &cache.ways, true},
          {"line", &cache.line},
          {"cores_per_cache", &cache.cores_per_cache, true},
          {"inclusion", &cache.inclusion, true},
          {"latency", &cache.latency, true},
          {"bandwidth_per_core", &cache.bandwidth_per_core},
          {"slices", &cache.slices},
          {"victim", &cache.victim},
          {"clock", &cache.clock},
          {"same_set", &cache.same_set},
          {"snoop_filter", &cache.snoop_filter},
          {"snoop_filter_ways", &cache.snoop_filter_ways},
          {"port_read", &cache.port_read},
          {"port_write", &cache.port_write}};
}

std::vector<MachineField> fields_of(DramDescription& dram) {
  return {{"channels", &dram.channels},
          {"banks", &dram.banks},
          {"activate", &dram.activate},
          {"precharge", &dram.precharge},
          {"column", &dram.column},
          {"row_cycle", &dram.row_cycle},
          {"row_closes_after", &dram.row_closes_after},
          {"write_batch", &dram.write_batch},
          {"ranks", &dram.ranks},
          {"burst", &dram.burst},
          {"refresh_interval", &dram.refresh_interval},
          {"refresh_time", &dram.refresh_time},
          {"four_activates", &dram.four_activates},
          {"turn_around", &dram.turn_around}};
}

std::vector<MachineField> fields_of(TlbDescription& tlb) {
  return {{"entries", &tlb.entries},
          {"large_entries", &tlb.large_entries},
          {"ways", &tlb.ways},
          {"index", &tlb.index},
          {"page", &tlb.page},
          {"miss_penalty", &tlb.miss_penalty},
          {"walks", &tlb.walks},
          {"stream_walk", &tlb.stream_walk},
          {"first_entries", &tlb.first_entries},
          {"first_miss_penalty", &tlb.first_miss_penalty},
          {"first_misses", &tlb.first_misses}};
}

std::vector<MachineField> fields_of(LinkDescription& link) {
  return {{"bandwidth", &link.bandwidth, true}, {"latency", &link.latency, true}};
}

std::vector<MachineSection> sections_of(Machine& machine) {
  CoreThroughput& core = machine.core;
  std::vector<MachineSection> sections{{"",
                                        {{"clock", &machine.clock, true},
                                         {"clock_by_cores", &machine.clock_by_cores},
                                         {"clock_by_cores_256", &machine.clock_by_cores_256},
                                         {"clock_by_cores_512", &machine.clock_by_cores_512}}},
                                       {"core",
                                        {{"issue", &core.issue},
                                         {"integer", &core.integer},
                                         {"fp_add", &core.fp_add},
                                         {"fp_multiply", &core.fp_multiply},
                                         {"fp_fma", &core.fp_fma},
                                         {"divide", &core.divide},
                                         {"load", &core.load},
                                         {"store", &core.store},
                                         {"branch", &core.branch},
                                         {"llvm_cpu", &core.llvm_cpu},
                                         {"block_time", &core.block_time},
                                         {"misprediction", &core.misprediction},
                                         {"smt_slowdown", &core.smt_slowdown},
                                         {"smt_fetch_slowdown", &core.smt_fetch_slowdown},
                                         {"overlap", &machine.overlap},
                                         {"streamable_stores", &machine.streamable_stores},
                                         {"miss_buffers", &machine.miss_buffers, true},
                                         {"prefetched_lines", &machine.prefetched_lines, true},
                                         {"prefetch_stride_limit", &machine.prefetch_stride_limit},
                                         {"prefetch_trigger", &machine.prefetch_trigger},
                                         {"prefetch_streams", &machine.prefetch_streams},
                                         {"write_combining_buffers", &machine.write_combining_buffers},
                                         {"reread_slowdown", &machine.reread_slowdown},
                                         {"reread_serial", &machine.reread_serial},
                                         {"overlap_accesses", &machine.overlap_accesses},
                                         {"load_waits", &machine.load_waits},
                                         {"fill_serial", &machine.fill_serial},
                                         {"read_bandwidth", &machine.read_bandwidth},
                                         {"write_bandwidth", &machine.write_bandwidth},
                                         {"nontemporal_bandwidth", &machine.nontemporal_bandwidth}}},
                                       {"coherence",
                                        {{"snoop", &machine.snoop, true},
                                         {"directory_in", &machine.directory_in},
                                         {"core_to_core_local", &machine.core_to_core_local, true},
                                         {"core_to_core_remote", &machine.core_to_core_remote, true},
                                         {"core_to_core_shared_cache", &machine.core_to_core_shared_cache},
                                         {"between_nodes_of_socket", &machine.between_nodes_of_socket}}},
                                       {"messages",
                                        {{"data", &machine.data_message},
                                         {"request", &machine.request_message},
                                         {"snoop", &machine.snoop_message},
                                         {"response", &machine.response_message}}},
                                       {"threads",
                                        {{"fork_base", &machine.fork_base},
                                         {"fork_log_factor", &machine.fork_log_factor},
                                         {"barrier_base", &machine.barrier_base},
                                         {"barrier_log_factor", &machine.barrier_log_factor},
                                         {"reduction_log_factor", &machine.reduction_log_factor}}},
                                       {"dram", fields_of(machine.dram)},
                                       {"tlb", fields_of(machine.tlb)}};
  if (machine.ring) {
    RingDescription& ring = *machine.ring;
    sections.push_back({"ring",
                        {{"hop", &ring.hop, true},
                         {"directories", &ring.directories, true},
                         {"other_stops", &ring.other_stops},
                         {"order", &ring.order},
                         {"directory_hash", &ring.directory_hash},
                         {"controller_hash", &ring.controller_hash},
                         {"data_rings", &ring.data_rings},
                         {"address_rings", &ring.address_rings},
                         {"acknowledge_rings", &ring.acknowledge_rings}}});
  }
  if (machine.system) {
    for (MachineSection& section : sections_of(*machine.system))
      sections.push_back({std::string{system_prefix} + section.name, std::move(section.fields)});
  }
  return sections;
}

std::vector<MachineField> fields_of(Machine& machine) {
  std::vector<MachineField> all;
  for (MachineSection& section : sections_of(machine)) append(all, section.name, std::move(section.fields));
  for (std::size_t index = 0; index < machine.nodes.size(); ++index)
    append(all, "nodes." + std::to_string(index), fields_of(machine.nodes[index]));
  for (std::size_t index = 0; index < machine.controllers.size(); ++index)
    append(all, "controllers." + std::to_string(index), fields_of(machine.controllers[index]));
  for (CacheDescription& cache : machine.caches) append(all, "caches." + std::to_string(cache.level), fields_of(cache));
  for (std::size_t index = 0; index < machine.links.size(); ++index)
    append(all, "links." + std::to_string(index), fields_of(machine.links[index]));
  return all;
}

bool is_left_out(const MachineField& field) {
  if (field.name.ends_with("memory_side_loaded_latency")) return is_zero(field);
  if (field.name.ends_with("snoop_filter") || field.name.ends_with("snoop_filter_ways")) return is_zero(field);
  if (field.name.ends_with("smt_slowdown") || field.name.ends_with("smt_fetch_slowdown")) return magnitude_of(field) == 1;
  if (field.name == "ways" || field.name == "tlb.ways" || field.name.ends_with("walks")) return is_zero(field);
  if (field.name.ends_with("first_entries") || field.name.ends_with("first_miss_penalty") || field.name.ends_with("first_misses"))
    return is_zero(field);
  if (const auto* time = std::get_if<std::optional<Time>*>(&field.target)) return !(*time)->has_value();
  if (const auto* bandwidth = std::get_if<std::optional<Bandwidth>*>(&field.target)) return !(*bandwidth)->has_value();
  if (const auto* name = std::get_if<std::string*>(&field.target)) return (*name)->empty();
  if (const auto* victim = std::get_if<Victim*>(&field.target)) return **victim == Victim::oldest;  // what silence means
  if (const auto* index = std::get_if<TlbIndex*>(&field.target)) return **index == TlbIndex::low;
  if (const auto* clock = std::get_if<CacheClock*>(&field.target)) return **clock == CacheClock::own;
  if (const auto* place = std::get_if<DirectoryPlace*>(&field.target)) return **place == DirectoryPlace::cache;
  if (const auto* steps = std::get_if<std::vector<ClockStep>*>(&field.target)) return (*steps)->empty();
  return false;
}

void set_from_text(const MachineField& field, std::string_view text, Frequency clock) {
  std::visit([&](auto* target) { assign(*target, text, clock); }, field.target);
}

std::string text_of(const MachineField& field) {
  return std::visit([](const auto* target) { return text(*target); }, field.target);
}

std::optional<double> magnitude_of(const MachineField& field) {
  return std::visit([](const auto* target) { return magnitude(*target); }, field.target);
}

bool is_zero(const MachineField& field) {
  if (const auto* curve = std::get_if<std::vector<LoadedLatencyPoint>*>(&field.target)) return (*curve)->empty();
  return magnitude_of(field).value_or(0) == 0;
}

void scale(const MachineField& field, double factor) {
  std::visit([&](auto* target) { multiply(*target, factor); }, field.target);
}

std::string canonical_description(const Machine& described) {
  Machine machine = described;  // fields point into something that could be changed
  std::string lines = "homenode.machine/1\nsockets = " + std::to_string(machine.sockets) + "\n";
  if (machine.hubs > 0) lines += "hubs = " + std::to_string(machine.hubs) + "\n";
  for (std::size_t core = 0; core < machine.core_node.size(); ++core)
    lines += "cores." + std::to_string(core) + ".node = " + std::to_string(machine.core_node[core].value()) + "\n";
  for (std::size_t node = 0; node < machine.nodes.size(); ++node)
    lines += "nodes." + std::to_string(node) + ".socket = " + std::to_string(machine.nodes[node].socket.value()) + "\n";
  for (std::size_t index = 0; index < machine.controllers.size(); ++index)
    lines += "controllers." + std::to_string(index) + ".node = " + std::to_string(machine.controllers[index].node.value()) + "\n";
  for (std::size_t index = 0; index < machine.links.size(); ++index)
    lines += "links." + std::to_string(index) + ".between = " + std::to_string(machine.links[index].from.value()) + " " +
             std::to_string(machine.links[index].to.value()) + "\n";
  for (const MachineField& field : fields_of(machine))
    if (!is_left_out(field)) lines += field.name + " = " + text_of(field) + "\n";
  return lines;
}

std::string machine_hash(const Machine& machine) {
  const std::string description = canonical_description(machine);
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string hexadecimal(16, '0');
  XXH64_hash_t value = XXH3_64bits(description.data(), description.size());
  for (auto digit = hexadecimal.rbegin(); digit != hexadecimal.rend(); ++digit, value >>= 4) *digit = digits[value & 15];
  return hexadecimal;
}

}  // namespace homenode
