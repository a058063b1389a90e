// Machines: loading, what-if changes, what the model computes from them.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>

#include "bindings/bindings.hpp"
#include "bindings/machine_handle.hpp"
#include "models/machines/machine_changes.hpp"
#include "models/machines/machine_fields.hpp"
#include "models/machines/machine_intervals.hpp"
#include "models/machines/machine_writer.hpp"
#include "models/machines/topology_tables.hpp"
#include "models/microbenchmarks/latency_map.hpp"
#include "models/microbenchmarks/loaded_latency.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/topology.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

py::dict topology_of(const MachineHandle& handle) {
  const TopologyTables tables = topology_tables(handle.file.machine, Topology{handle.file.machine});
  py::dict result;
  result["latency_ns"] = tables.latency_ns;
  result["bandwidth_bytes_per_s"] = tables.bandwidth_bytes_per_s;
  result["hops"] = tables.hops;
  result["socket_of_node"] = tables.socket_of_node;
  result["cores_of_node"] = tables.cores_of_node;
  result["links"] = list_of(tables.links, [](const auto& link) {
    return py::dict(py::arg("from") = link.from, py::arg("to") = link.to, py::arg("bandwidth") = link.bandwidth,
                    py::arg("latency") = link.latency);
  });
  return result;
}

py::list parameters_of(const MachineHandle& handle) { return list_of(handle.file.parameters, &parameter_of); }

py::list uncertainties_of(const MachineHandle& handle) {
  return list_of(uncertain_values(handle.file), [](const UncertainValue& uncertain) {
    return py::dict(py::arg("name") = uncertain.name, py::arg("paths") = uncertain.paths, py::arg("value") = uncertain.value,
                    py::arg("low") = uncertain.low, py::arg("high") = uncertain.high, py::arg("low_factor") = uncertain.low_factor,
                    py::arg("high_factor") = uncertain.high_factor, py::arg("basis") = uncertain.basis);
  });
}

py::list loaded_latency_of(const MachineHandle& handle, std::size_t node) {
  const Machine& machine = handle.file.machine;
  if (node >= machine.nodes.size())
    throw UsageError("machine '" + machine.name + "' has no node " + std::to_string(node) + "; allowed: 0 to " +
                     std::to_string(machine.nodes.size() - 1));
  const std::vector<LatencyAtLoad> points = [&] {
    const py::gil_scoped_release others_run;
    return loaded_latency(machine, NodeId{node});
  }();
  return list_of(points, [](const LatencyAtLoad& point) {
    return py::dict(py::arg("pause_ns") = point.pause.nanoseconds(), py::arg("bandwidth_bytes_per_s") = point.bandwidth.bytes_per_second(),
                    py::arg("utilisation") = point.utilisation, py::arg("latency_ns") = point.latency.nanoseconds(),
                    py::arg("described_ns") = point.described.nanoseconds());
  });
}

py::dict latency_map_of(const MachineHandle& handle, std::uint64_t first, std::uint64_t blocks) {
  const std::vector<BlockLatencies> map = [&] {
    const py::gil_scoped_release others_run;
    return latency_map(handle.file.machine, first, blocks);
  }();
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
  return py::dict(py::arg("address") = addresses, py::arg("directory") = directories, py::arg("controller") = controllers,
                  py::arg("latency_ns") = latencies);
}

// "32 KiB" etc. of one field of a part, as the description language writes it.
py::list caches_of(const MachineHandle& handle) {
  return list_of(handle.file.machine.caches, [](const CacheDescription& cache) {
    return py::dict(py::arg("level") = cache.level, py::arg("size") = to_string(cache.size), py::arg("ways") = cache.ways,
                    py::arg("cores_per_cache") = cache.cores_per_cache, py::arg("latency") = to_string(cache.latency));
  });
}

MachineHandle changed(const MachineHandle& handle, const std::map<std::string, std::string>& changes) {
  MachineHandle result = handle;
  result.file.machine = with_changes(handle.file.machine, changes);
  const std::vector<MachineField> fields = fields_of(result.file.machine);
  for (const auto& [name, text] : changes) {
    const std::vector<std::string> paths = name == "core_time" ? core_time_names() : std::vector{full_parameter_name(name)};
    for (const std::string& path : paths) {
      const auto is_of = [&](const std::string& described) { return described == path || name_without_number(described) == path; };
      std::erase_if(result.file.parameters, [&](const MachineParameter& parameter) { return is_of(parameter.path); });
      const auto field = std::find_if(fields.begin(), fields.end(), [&](const MachineField& one) { return is_of(one.name); });
      MachineParameter parameter;
      parameter.path = path;
      parameter.value = text_of(*field);
      parameter.source = what_if_source;
      parameter.assumed = true;
      result.file.parameters.push_back(std::move(parameter));
    }
  }
  return result;
}

}  // namespace

py::dict parameter_of(const MachineParameter& parameter) {
  return py::dict(py::arg("path") = parameter.path, py::arg("value") = parameter.value, py::arg("source") = parameter.source,
                  py::arg("confidence") = parameter.confidence, py::arg("assumed") = parameter.assumed, py::arg("low") = parameter.low,
                  py::arg("high") = parameter.high, py::arg("note") = parameter.note);
}

void bind_machine(py::module_& module) {
  py::class_<MachineHandle, std::shared_ptr<MachineHandle>>(module, "Machine")
      .def_property_readonly("name", [](const MachineHandle& handle) { return handle.file.machine.name; })
      .def_property_readonly("description", [](const MachineHandle& handle) { return handle.file.machine.description; })
      .def_property_readonly("hash", [](const MachineHandle& handle) { return handle.file.machine.hash; })
      .def_property_readonly("sockets", [](const MachineHandle& handle) { return handle.file.machine.sockets; })
      .def_property_readonly("nodes", [](const MachineHandle& handle) { return handle.file.machine.nodes.size(); })
      .def_property_readonly("cores", [](const MachineHandle& handle) { return handle.file.machine.cores(); })
      .def_property_readonly("clock", [](const MachineHandle& handle) { return to_string(handle.file.machine.clock); })
      .def_property_readonly("sources", [](const MachineHandle& handle) { return handle.file.sources; })
      .def("topology", &topology_of)
      .def("parameters", &parameters_of)
      .def("uncertainties", &uncertainties_of)
      .def("caches", &caches_of)
      .def("loaded_latency", &loaded_latency_of, py::arg("node"))
      .def("latency_map", &latency_map_of, py::arg("first"), py::arg("blocks"))
      .def("changeable_names", [](const MachineHandle& handle) { return changeable_names(handle.file.machine); })
      .def("with_changes", &changed, py::arg("changes"))
      .def("to_toml", [](const MachineHandle& handle) {
        return write_machine_toml(handle.file.machine, handle.file.parameters, handle.file.sources);
      });
  module.def(
      "read_machine", [](const std::filesystem::path& path) { return MachineHandle{read_machine_file(path)}; }, py::arg("path"));
  module.def(
      "parse_machine", [](const std::string& text, const std::string& file) { return MachineHandle{parse_machine(text, file)}; },
      py::arg("text"), py::arg("file_name"));
}

}  // namespace homenode::python
