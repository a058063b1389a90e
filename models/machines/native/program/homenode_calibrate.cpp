// homenode-calibrate: the host that it runs on as a machine, without Python; a kit (`homenode kit`) has it, linked statically.
//   homenode-calibrate detect|measure --name NAME -o MACHINE.toml --cores CORES [--largest MIB --array MIB --repeats N --passes N --seconds
//   N]
// MACHINE.toml: the description, with NAME in its sources. CORES: lines "compact CPU,CPU,...", "scatter CPU,CPU,..." (the system's CPU of
// each thread under homenode's mappings of these names), "nodes N N ..." (the system's numbers of the nodes), "first N" (cores of the
// first node that has any). --seconds: ended by SIGALRM after so many. Both are written whole or not at all. Exit code 2: the words are at
// fault.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "models/machines/machine_writer.hpp"
#include "models/machines/native/calibrate.hpp"
#include "models/machines/native/described_fields.hpp"
#include "models/machines/native/detect.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/registry.hpp"
#include "sim/policy/thread_mapping.hpp"

namespace homenode {

PolicyEntry<ThreadMapping> compact();  // models/mapping
PolicyEntry<ThreadMapping> scatter();

namespace {

struct Asked {
  bool measures = false;
  std::string name, machine, cores;
  CalibrationOptions options;
  unsigned seconds = 0;  // 0: no limit
};

unsigned long number(const std::string& word, const std::string& value, unsigned long most) {
  const bool digits =
      !value.empty() && value.size() <= 9 && std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
  const unsigned long found = digits ? std::stoul(value) : 0;
  if (found < 1 || found > most)
    throw UsageError("found '" + word + " " + value + "'; allowed: a number from 1 to " + std::to_string(most));
  return found;
}

bool is_name(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), plain);
}

Asked asked(int count, char** words) {
  Asked found;
  const std::string task = count > 1 ? words[1] : "";
  if (task != "detect" && task != "measure") throw UsageError("found '" + task + "'; allowed: detect, measure");
  found.measures = task == "measure";
  for (int at = 2; at < count; at += 2) {
    const std::string word = words[at];
    if (at + 1 == count) throw UsageError("no value behind '" + word + "'");
    const std::string value = words[at + 1];
    if (word == "--name") {
      if (!is_name(value)) throw UsageError("found '--name " + value + "'; allowed: letters, digits, '.', '-' and '_', at most 64");
      found.name = value;
    } else if (word == "-o") {
      found.machine = value;
    } else if (word == "--cores") {
      found.cores = value;
    } else if (word == "--largest") {
      found.options.largest_working_set = Bytes{static_cast<std::int64_t>(number(word, value, 1 << 20)) << 20};
    } else if (word == "--array") {
      found.options.array = Bytes{static_cast<std::int64_t>(number(word, value, 1 << 20)) << 20};
    } else if (word == "--repeats") {
      found.options.repeats = static_cast<unsigned>(number(word, value, 100));
    } else if (word == "--passes") {
      found.options.settling.most_passes = static_cast<unsigned>(number(word, value, 100));
    } else if (word == "--seconds") {
      found.seconds = static_cast<unsigned>(number(word, value, 1'000'000));
    } else {
      throw UsageError("found '" + word + "'; allowed: --name, -o, --cores, --largest, --array, --repeats, --passes, --seconds");
    }
  }
  if (found.name.empty() || found.machine.empty() || found.cores.empty()) throw UsageError("--name, -o and --cores are wanted");
  return found;
}

// To a new name, then renamed.
void write_whole(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  {
    std::ofstream file{part, std::ios::binary};
    file << text;
    file.flush();
    if (!file) throw Error("cannot write '" + part + "'");
  }
  if (std::rename(part.c_str(), path.c_str()) != 0) throw Error("cannot rename '" + part + "'");
}

std::string order(const PolicyEntry<ThreadMapping>& entry, const Machine& machine, const std::vector<unsigned>& cpus) {
  const auto mapping = entry.make(Parameters{});
  mapping->prepare(nullptr, machine, machine.cores());
  std::string text = entry.name;
  for (std::size_t thread = 0; thread < machine.cores(); ++thread) {
    const CoreId core = mapping->affinity(ThreadId{thread}, Time{}).front();
    text += thread == 0 ? ' ' : ',';
    text += std::to_string(cpus.at(core.index()));
  }
  return text += '\n';
}

std::string cores_text(const Machine& machine, const std::vector<unsigned>& cpus, const std::vector<unsigned>& nodes) {
  std::string text = order(compact(), machine, cpus) + order(scatter(), machine, cpus) + "nodes";
  for (const unsigned node : nodes) {
    text += ' ';
    text += std::to_string(node);
  }
  const auto first = std::count(machine.core_node.begin(), machine.core_node.end(), machine.core_node.front());
  return text + "\nfirst " + std::to_string(first) + "\n";
}

// Whoever reads the description elsewhere must know which host "this host" was, and who measured it.
std::string named(std::string text, const std::string& name) {
  static const std::map<std::string, std::string> words{{measured_source, "measured on " + name + " by homenode kit"},
                                                        {"measured by homenode calibrate", "measured by homenode kit"},
                                                        {"this host", name}};
  for (const auto& [old, put] : words)
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + put.size())) text.replace(at, old.size(), put);
  return text;
}

void run(const Asked& request) {
  alarm(request.seconds);
  HostCalibration host;
  if (request.measures) {
    CalibrationOptions options = request.options;
    options.progress = [](const std::string& step) { std::cerr << step << '\n'; };
    host = calibrate(options);
  } else {
    DetectedHost detected = detect_host();
    host.file = std::move(detected.file);
    host.cpus = detected.cpus;
    host.nodes = detected.nodes;
  }
  Machine& machine = host.file.machine;
  machine.name = request.name;
  machine.description = named(machine.description, request.name);
  for (MachineParameter& parameter : host.file.parameters) parameter.source = named(parameter.source, request.name);
  write_whole(request.cores, cores_text(machine, host.cpus, host.nodes));
  write_whole(request.machine, write_machine_toml(machine, host.file.parameters, host.file.sources));
}

}  // namespace
}  // namespace homenode

int main(int count, char** words) {
  try {
    homenode::run(homenode::asked(count, words));
    return 0;
  } catch (const homenode::UsageError& error) {
    std::cerr << "homenode-calibrate: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "homenode-calibrate: " << error.what() << '\n';
    return 1;
  }
}
