// Machines: loading, what-if changes, what the model computes from them.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/machine_handle.hpp"
#include "models/caches/line_sample.hpp"
#include "models/machines/machine_changes.hpp"
#include "models/machines/machine_fields.hpp"
#include "models/machines/machine_intervals.hpp"
#include "models/machines/machine_shape.hpp"
#include "models/machines/machine_writer.hpp"
#include "models/machines/topology_tables.hpp"
#include "models/microbenchmarks/latency_map.hpp"
#include "models/microbenchmarks/loaded_latency.hpp"
#include "models/run/run_spec.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/machine/topology.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

py::dict topology_of(const MachineHandle& handle) {
  const TopologyTables tables = topology_tables(handle.file.machine, Topology{handle.file.machine});
  py::dict result("latency_ns"_a = tables.latency_ns, "bandwidth_bytes_per_s"_a = tables.bandwidth_bytes_per_s, "hops"_a = tables.hops,
                  "socket_of_node"_a = tables.socket_of_node, "cores_of_node"_a = tables.cores_of_node);
  result["links"] = list_of(tables.links, [](const auto& link) {
    return py::dict("from"_a = link.from, "to"_a = link.to, "bandwidth"_a = link.bandwidth, "latency"_a = link.latency);
  });
  return result;
}

py::list parameters_of(const MachineHandle& handle) { return list_of(handle.file.parameters, &parameter_of); }

py::list uncertainties_of(const MachineHandle& handle) {
  return list_of(uncertain_values(handle.file), [](const UncertainValue& uncertain) {
    return py::dict("name"_a = uncertain.name, "paths"_a = uncertain.paths, "value"_a = uncertain.value, "low"_a = uncertain.low,
                    "high"_a = uncertain.high, "low_factor"_a = uncertain.low_factor, "high_factor"_a = uncertain.high_factor,
                    "basis"_a = uncertain.basis);
  });
}

py::list loaded_latency_of(const MachineHandle& handle, std::size_t node) {
  const Machine& machine = handle.file.machine;
  if (node >= machine.nodes.size())
    throw UsageError("machine '" + machine.name + "' has no node " + std::to_string(node) + "; allowed: 0 to " +
                     std::to_string(machine.nodes.size() - 1));
  const std::vector<LatencyAtLoad> points = without_gil([&] { return loaded_latency(machine, NodeId{node}); });
  return list_of(points, [](const LatencyAtLoad& point) {
    return py::dict("pause_ns"_a = point.pause.nanoseconds(), "bandwidth_bytes_per_s"_a = point.bandwidth.bytes_per_second(),
                    "utilisation"_a = point.utilisation, "latency_ns"_a = point.latency.nanoseconds(),
                    "described_ns"_a = point.described.nanoseconds());
  });
}

py::dict latency_map_of(const MachineHandle& handle, std::uint64_t first, std::uint64_t blocks) {
  const std::vector<BlockLatencies> map = without_gil([&] { return latency_map(handle.file.machine, first, blocks); });
  std::vector<std::uint64_t> addresses;
  std::vector<std::size_t> directories, controllers;
  std::vector<std::vector<double>> latencies;
  for (const BlockLatencies& block : map) {
    addresses.push_back(block.address);
    directories.push_back(block.directory);
    controllers.push_back(block.controller);
    std::vector<double>& of_cores = latencies.emplace_back();
    for (const Time latency : block.latency) of_cores.push_back(latency.nanoseconds());
  }
  return py::dict("address"_a = addresses, "directory"_a = directories, "controller"_a = controllers, "latency_ns"_a = latencies);
}

// "32 KiB" etc. of one field of a part, as the description language writes it.
py::list caches_of(const MachineHandle& handle) {
  return list_of(handle.file.machine.caches, [](const CacheDescription& cache) {
    return py::dict("level"_a = cache.level, "size"_a = to_string(cache.size), "ways"_a = cache.ways,
                    "cores_per_cache"_a = cache.cores_per_cache, "latency"_a = to_string(cache.latency));
  });
}

// Tables of clocks that a change took along, beside those that it named.
std::vector<std::string> changed_clocks(Machine before, Machine after) {
  std::vector<std::string> paths;
  const std::vector<MachineField> old = fields_of(before), now = fields_of(after);
  for (const MachineField& field : now) {
    if (!field.name.starts_with("clock_by_cores")) continue;
    const auto same = std::find_if(old.begin(), old.end(), [&](const MachineField& one) { return one.name == field.name; });
    if (same != old.end() && text_of(*same) != text_of(field)) paths.push_back(field.name);
  }
  return paths;
}

MachineHandle changed(const MachineHandle& handle, const std::map<std::string, std::string>& changes) {
  MachineHandle result = handle;
  result.file.machine = with_changes(handle.file.machine, changes);
  const auto reshapes = [](const std::string& name) { return name == sockets_name || name == topology_name; };
  if (std::any_of(changes.begin(), changes.end(), [&](const auto& change) { return reshapes(change.first); }))
    reshape_parameters(result.file.parameters, result.file.machine);
  const std::vector<MachineField> fields = fields_of(result.file.machine);
  std::vector<std::string> paths;
  for (const auto& [name, text] : changes) {
    if (reshapes(name)) continue;
    if (name == "core_time")
      for (std::string& path : core_time_names()) paths.push_back(std::move(path));
    else if (name == "memory_time")
      for (std::string& path : memory_time_names(result.file.machine)) paths.push_back(std::move(path));
    else
      paths.push_back(full_parameter_name(name));
  }
  for (std::string& path : changed_clocks(handle.file.machine, result.file.machine)) paths.push_back(std::move(path));
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  const auto asked_for = [&](const std::string& described) {
    return std::binary_search(paths.begin(), paths.end(), described) ||
           std::binary_search(paths.begin(), paths.end(), name_without_number(described));
  };
  std::erase_if(result.file.parameters, [&](const MachineParameter& parameter) { return asked_for(parameter.path); });
  for (const std::string& path : paths) {
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const MachineField& one) {
      return one.name == path || (one.name.ends_with(path.substr(path.find('.') + 1)) && name_without_number(one.name) == path);
    });
    result.file.parameters.push_back({.path = path, .value = text_of(*field), .source = what_if_source, .assumed = true});
  }
  return result;
}

// A change's value as one number in SI units, so that values can be ordered: "25 GB/s" -> 25e9, "x1.2" -> 1.2, "8" -> 8; None for the
// others.
std::optional<double> number_in(const std::string& text) {
  static const std::array<double (*)(const std::string&), 4> readers{
      [](const std::string& quantity) { return parse_bandwidth(quantity).bytes_per_second(); },
      [](const std::string& quantity) { return parse_time(quantity).seconds(); },
      [](const std::string& quantity) { return static_cast<double>(parse_bytes(quantity).count()); },
      [](const std::string& quantity) { return parse_frequency(quantity).hertz(); }};
  const std::size_t begin = text.starts_with('x') ? 1 : 0;
  double number = 0;
  const auto [end, status] = std::from_chars(text.data() + begin, text.data() + text.size(), number);
  if (status == std::errc{} && end == text.data() + text.size()) return number;
  for (const auto read : readers) {
    try {
      return read(text);
    } catch (const UnitError&) { continue; }
  }
  return std::nullopt;
}

// The handle with one value that somebody vouches for.
MachineHandle described(const MachineHandle& handle, const std::string& path, const std::string& value, const std::string& source,
                        const std::string& confidence) {
  MachineHandle result = handle;
  result.file.machine = with_changes(handle.file.machine, {{path, value}});
  std::erase_if(result.file.parameters, [&](const MachineParameter& parameter) { return parameter.path == path; });
  result.file.parameters.push_back({.path = path, .value = value, .source = source, .confidence = confidence});
  return result;
}

}  // namespace

py::dict parameter_of(const MachineParameter& parameter) {
  return py::dict("path"_a = parameter.path, "value"_a = parameter.value, "source"_a = parameter.source,
                  "confidence"_a = parameter.confidence, "assumed"_a = parameter.assumed, "low"_a = parameter.low,
                  "high"_a = parameter.high, "note"_a = parameter.note);
}

void bind_machine(py::module_& module) {
  py::class_<MachineHandle, std::shared_ptr<MachineHandle>>(module, "Machine")
      .def_property_readonly("name", [](const MachineHandle& handle) { return handle.file.machine.name; })
      .def_property_readonly("description", [](const MachineHandle& handle) { return handle.file.machine.description; })
      .def_property_readonly("hash", [](const MachineHandle& handle) { return handle.file.machine.hash; })
      .def_property_readonly("system_name", [](const MachineHandle& handle) { return system_of(handle.file.machine, {}).name; })
      .def_property_readonly("sockets", [](const MachineHandle& handle) { return handle.file.machine.sockets; })
      .def_property_readonly("nodes", [](const MachineHandle& handle) { return handle.file.machine.nodes.size(); })
      .def_property_readonly("cores", [](const MachineHandle& handle) { return handle.file.machine.cores(); })
      .def("node_of_core",
           [](const MachineHandle& handle) { return list_of(handle.file.machine.core_node, [](NodeId node) { return node.value(); }); })
      .def_property_readonly("clock", [](const MachineHandle& handle) { return to_string(handle.file.machine.clock); })
      .def_property_readonly("sources", [](const MachineHandle& handle) { return handle.file.sources; })
      .def("topology", &topology_of)
      .def("parameters", &parameters_of)
      .def("uncertainties", &uncertainties_of)
      .def("caches", &caches_of)
      .def("loaded_latency", &loaded_latency_of, "node"_a)
      .def("latency_map", &latency_map_of, "first"_a, "blocks"_a)
      .def("changeable_names", [](const MachineHandle& handle) { return changeable_names(handle.file.machine); })
      .def("with_changes", &changed, "changes"_a)
      .def("allows_sample", [](const MachineHandle& handle, unsigned one_in) { return LineSample::allows(handle.file.machine, one_in); })
      .def("described", &described, "path"_a, "value"_a, "source"_a, "confidence"_a)
      .def("to_toml", [](const MachineHandle& handle) {
        return write_machine_toml(handle.file.machine, handle.file.parameters, handle.file.sources);
      });
  module.def("quantity", &number_in, "text"_a);
  module.def(
      "read_machine", [](const std::filesystem::path& path) { return MachineHandle{read_machine_file(path)}; }, "path"_a);
  module.def(
      "parse_machine", [](const std::string& text, const std::string& file) { return MachineHandle{parse_machine(text, file)}; }, "text"_a,
      "file_name"_a);
}

}  // namespace homenode::python
