#include "models/machines/machine_file.hpp"

#include <algorithm>
#include <set>

#include "models/machines/description_reader.hpp"
#include "models/machines/machine_fields.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

constexpr std::string_view schema = "homenode.machine/1";

// Builds one machine out of one document.
class MachineReader : DescriptionReader {
public:
  MachineReader(std::string_view text, const std::string& file_name) : DescriptionReader{text, file_name, file_.machine.clock} {}

  MachineFile read() {
    const toml::table root = document_.parse();
    if (root.contains("ring")) machine_.ring.emplace();
    if (const toml::node* system = root.get("system")) begin_system(*system);
    read_head(root);
    read_sections(root, sections_of(machine_), file_.parameters);
    read_nodes(root);
    read_caches(root);
    read_links(root);
    try {
      validate(machine_);
    } catch (const InputError& error) { document_.refuse(error.what()); }
    if (machine_.system) machine_.system->name = machine_.name + "'s own";
    machine_.hash = machine_hash(machine_);
    return std::move(file_);
  }

private:
  // ---- the parts of the schema

  void read_head(const toml::table& root) {
    check_schema(root, schema);
    std::vector<std::string> allowed{"schema", "name",   "description", "sources", "sockets", "hubs",
                                     "nodes",  "caches", "links",       "ring",    "system"};
    for (const MachineSection& section : sections_of(machine_)) {
      if (section.name.starts_with(system_prefix)) continue;
      if (!section.name.empty())
        allowed.push_back(section.name);
      else
        for (const MachineField& field : section.fields) allowed.push_back(field.name);
    }
    refuse_unknown(root, "the machine", allowed);
    machine_.name = as_text(root.get("name"), root, "name");
    if (const toml::node* description = root.get("description")) machine_.description = as_text(description, root, "description");
    file_.sources = read_sources(root);
    const toml::node* sockets = root.get("sockets");
    if (sockets == nullptr) document_.refuse("'sockets' is missing; allowed: { value = 2, source = \"...\" }");
    MachineParameter parameter = provenance(*sockets, "sockets");
    machine_.sockets = as_integer(*sockets->as_table()->get("value"), "sockets", 1, 254);
    parameter.value = std::to_string(machine_.sockets);
    file_.parameters.push_back(std::move(parameter));
    const toml::node* hubs = root.get("hubs");
    if (hubs == nullptr) return;
    MachineParameter count = provenance(*hubs, "hubs");
    machine_.hubs = as_integer(*hubs->as_table()->get("value"), "hubs", 0, 254 - machine_.sockets);
    count.value = std::to_string(machine_.hubs);
    file_.parameters.push_back(std::move(count));
  }

  void begin_system(const toml::node& node) {
    machine_.system.emplace();
    std::vector<std::string> names;
    for (const MachineSection& section : sections_of(*machine_.system)) names.push_back(section.name);
    refuse_unknown(as_table(node, "system", "[system.faults] and other parts of a system"), "[system]", names);
  }

  struct NodeEntry {
    const toml::table* table;
    std::vector<NodeId> nodes;                    // that it describes
    std::vector<const toml::table*> controllers;  // each of them has
    unsigned cores = 0;                           // each of them has
  };

  // [[nodes]]: sockets = [..] plain, per_socket = 2 plain; one entry describes alike nodes of several sockets.
  NodeEntry read_node_entry(const toml::table& table) {
    NodeDescription any;
    std::vector<std::string> allowed{"sockets", "per_socket", "cores"};
    for (const MachineField& field : fields_of(any)) allowed.push_back(field.name);
    allowed.emplace_back("controllers");
    refuse_unknown(table, "[[nodes]]", allowed);
    NodeEntry entry{&table, {}, {}, 0};
    for (const toml::table* controller : tables(table, "controllers", "nodes.controllers", true)) {
      refuse_unknown(*controller, "[[nodes.controllers]]", {"count", "read_only", "one_to_one", "loaded_latency"});
      const toml::node* count = controller->get("count");
      entry.controllers.insert(entry.controllers.end(), count ? as_integer(*count, "nodes.controllers.count", 1, 254) : 1, controller);
    }
    const toml::node* sockets = table.get("sockets");
    if (sockets == nullptr || !sockets->is_array())
      document_.refuse(sockets ? sockets->source() : table.source(),
                       "nodes.sockets is missing or no list; allowed: a list of sockets, [0, 1]");
    const toml::node* per_socket = table.get("per_socket");
    const unsigned count = per_socket ? as_integer(*per_socket, "nodes.per_socket", 1, 254) : 1;
    std::set<unsigned> named;
    for (const toml::node& socket : *sockets->as_array()) {
      const unsigned number = as_integer(socket, "nodes.sockets", 0, machine_.sockets - 1);
      if (!named.insert(number).second)
        document_.refuse(socket.source(), "nodes.sockets names socket " + std::to_string(number) +
                                              " again; allowed: each once, and per_socket = 2 for two nodes on each");
      if (machine_.nodes.size() + count > most_nodes)
        document_.refuse(socket.source(), "nodes.sockets makes more than " + std::to_string(most_nodes) + " nodes; allowed: 1 to 254");
      for (unsigned repeat = 0; repeat < count; ++repeat) {
        entry.nodes.push_back(NodeId{machine_.nodes.size()});
        machine_.nodes.push_back({SocketId{number}, {}, {}, {}});
      }
    }
    return entry;
  }

  void read_nodes(const toml::table& root) {
    std::vector<NodeEntry> entries;
    for (const toml::table* table : tables(root, "nodes", "nodes", true)) entries.push_back(read_node_entry(*table));
    std::vector<unsigned> cores_of_node(machine_.nodes.size());
    std::vector<std::vector<ControllerDescription>> controllers_of_node(machine_.nodes.size());
    std::vector<const NodeEntry*> entry_of_node(machine_.nodes.size());
    const bool alike = entries.size() == 1;

    for (NodeEntry& entry : entries) {
      const toml::node* cores = entry.table->get("cores");
      if (cores == nullptr)
        document_.refuse(entry.table->source(), "'nodes.cores' is missing; allowed: { value = 4, source = \"...\" }, 0 for none");
      MachineParameter cores_parameter = provenance(*cores, "nodes.cores");
      entry.cores = as_integer(*cores->as_table()->get("value"), "nodes.cores", 0, 4096);
      cores_parameter.value = std::to_string(entry.cores);
      NodeDescription described;
      const std::vector<MachineField> fields = fields_of(described);
      for (const NodeId node : entry.nodes) {
        cores_of_node[node.index()] = entry.cores;
        entry_of_node[node.index()] = &entry;
        if (alike && node != entry.nodes.front()) {
          described.socket = machine_.nodes[node.index()].socket;
          machine_.nodes[node.index()] = described;
          continue;
        }
        const std::string place = alike ? "nodes." : "nodes." + std::to_string(node.value()) + ".";
        cores_parameter.path = place + "cores";
        file_.parameters.push_back(cores_parameter);
        for (const MachineField& field : fields)
          if (field.required || entry.table->contains(field.name))
            file_.parameters.push_back(read_field(*entry.table, field, place + field.name));
        described.socket = machine_.nodes[node.index()].socket;
        machine_.nodes[node.index()] = described;
      }
    }
    for (unsigned socket = 0; socket < machine_.sockets; ++socket)
      for (std::size_t node = 0; node < machine_.nodes.size(); ++node)
        if (machine_.nodes[node].socket.value() == socket)
          machine_.core_node.insert(machine_.core_node.end(), cores_of_node[node], NodeId{node});
    read_controllers(entry_of_node, alike);
  }

  void read_controllers(const std::vector<const NodeEntry*>& entry_of_node, bool nodes_alike) {
    for (std::size_t node = 0; node < machine_.nodes.size(); ++node) {
      const NodeEntry& entry = *entry_of_node[node];
      const auto of_first =
          static_cast<std::size_t>(std::count(entry.controllers.begin(), entry.controllers.end(), entry.controllers.front()));
      const bool alike = nodes_alike && entry.controllers.size() == of_first;
      for (const toml::table* table : entry.controllers) {
        const std::size_t index = machine_.controllers.size();
        ControllerDescription controller;
        controller.node = NodeId{node};
        const std::string place = alike ? "controllers." : "controllers." + std::to_string(index) + ".";
        for (const MachineField& field : fields_of(controller)) {
          MachineParameter parameter = read_field(*table, field, place + field.name);
          if (!alike || index == 0) file_.parameters.push_back(std::move(parameter));
        }
        machine_.controllers.push_back(std::move(controller));
      }
    }
  }

  void read_caches(const toml::table& root) {
    for (const toml::table* table : tables(root, "caches", "caches", true)) {
      CacheDescription cache;
      std::vector<std::string> names{"level"};
      const std::vector<MachineField> fields = fields_of(cache);
      for (const MachineField& field : fields) names.push_back(field.name);
      refuse_unknown(*table, "[[caches]]", names);
      const toml::node* level = table->get("level");
      if (level == nullptr) document_.refuse(table->source(), "'caches.level' is missing; allowed: a whole number from 1");
      cache.level = as_integer(*level, "caches.level", 1, 8);
      for (const MachineField& field : fields)
        if (table->contains(field.name) || !is_left_out(field))
          file_.parameters.push_back(read_field(*table, field, "caches." + std::to_string(cache.level) + "." + field.name));
      machine_.caches.push_back(cache);
    }
  }

  // The pairs of sockets and hubs that alike links join: between = { value = [[0, 1], [0, 2]], source = "..." }.
  std::vector<std::pair<SocketId, SocketId>> read_pairs(const toml::node& list) const {
    static const std::string shape = "a list of pairs of sockets or hubs, [[0, 1]]";
    if (!list.is_array()) document_.refuse(list.source(), "links.between is " + kind_of(list) + "; allowed: " + shape);
    std::vector<std::pair<SocketId, SocketId>> pairs;
    for (const toml::node& element : *list.as_array()) {
      const toml::array* pair = element.as_array();
      if (pair == nullptr || pair->size() != 2)
        document_.refuse(element.source(), "links.between has a part that is no pair; allowed: " + shape);
      const auto end = [&](std::size_t place) {
        return SocketId{as_integer(*pair->get(place), "links.between", 0, machine_.link_ends() - 1)};
      };
      pairs.emplace_back(end(0), end(1));
    }
    return pairs;
  }

  void read_links(const toml::table& root) {
    const std::vector<const toml::table*> entries = tables(root, "links", "links", false);
    for (const toml::table* table : entries) {
      refuse_unknown(*table, "[[links]]", {"between", "bandwidth", "latency"});
      const toml::node* between = table->get("between");
      if (between == nullptr)
        document_.refuse(table->source(), "'links.between' is missing; allowed: { value = [[0, 1]], source = \"...\" }");
      MachineParameter between_parameter = provenance(*between, "links.between");
      bool first = true;
      for (const auto& [from, to] : read_pairs(*between->as_table()->get("value"))) {
        const bool alike = entries.size() == 1;
        const std::string place = alike ? "links." : "links." + std::to_string(machine_.links.size()) + ".";
        LinkDescription link;
        link.from = from;
        link.to = to;
        const std::string pair = std::to_string(from.value()) + "-" + std::to_string(to.value());
        if (first || !alike) {
          between_parameter.path = place + "between";
          between_parameter.value = pair;
          file_.parameters.push_back(between_parameter);
        } else {
          file_.parameters.at(between_index_).value += ", " + pair;
        }
        if (first) between_index_ = file_.parameters.size() - 1;
        for (const MachineField& field : fields_of(link)) {
          MachineParameter parameter = read_field(*table, field, place + field.name);
          if (first || !alike) file_.parameters.push_back(std::move(parameter));
        }
        machine_.links.push_back(link);
        first = false;
      }
    }
  }

  MachineFile file_;
  Machine& machine_ = file_.machine;
  std::size_t between_index_ = 0;
};

}  // namespace

MachineFile parse_machine(std::string_view text, const std::string& file_name) { return MachineReader{text, file_name}.read(); }

MachineFile read_machine_file(const std::filesystem::path& path) {
  return parse_machine(description_text(path, "a machine description"), path.string());
}

Machine load_machine(const std::filesystem::path& path) { return read_machine_file(path).machine; }

}  // namespace homenode
