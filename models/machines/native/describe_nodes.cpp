#include "models/machines/native/describe_nodes.hpp"

#include <algorithm>
#include <optional>

namespace homenode {
namespace {

using native::Spread;

constexpr double least = 1e-3;  // ns: noise must not make what is beyond a link no farther

class NodeDescriber {
public:
  NodeDescriber(DescribedFields& fields, const Machine& machine, const HostFigures& host)
      : fields_{fields}, machine_{machine}, host_{host} {}

  void describe() {
    for (std::size_t node = 0; node < machine_.nodes.size(); ++node)
      if (const auto own = latency_of(node))
        fields_.set("nodes." + std::to_string(node) + ".latency", *own, DescribedFields::time_text,
                    "dependent loads of " + std::string{has_cores(node) ? "its own cores" : "the nearest cores of its socket"});
    if (const auto beyond = beyond_nodes([&](std::size_t from, std::size_t to) { return socket(from) == socket(to) && from != to; }))
      fields_.set("coherence.between_nodes_of_socket", *beyond, DescribedFields::time_text,
                  "dependent loads of the other nodes' cores less those of their own, mean of all pairs");
    for (std::size_t link = 0; link < machine_.links.size(); ++link) describe_link("links." + std::to_string(link), machine_.links[link]);
  }

private:
  std::size_t socket(std::size_t node) const { return machine_.socket_of(NodeId{node}).index(); }
  bool has_cores(std::size_t node) const {
    return std::find(machine_.core_node.begin(), machine_.core_node.end(), NodeId{node}) != machine_.core_node.end();
  }

  std::optional<Spread> measured(const std::string& name) const {
    if (!host_.figures.has(name)) return std::nullopt;
    return host_.of(name);
  }

  std::optional<Spread> latency_of(std::size_t node) const {
    if (has_cores(node)) return measured(figure::node_latency(node, node));
    std::optional<Spread> nearest;
    for (std::size_t from = 0; from < machine_.nodes.size(); ++from) {
      if (socket(from) != socket(node)) continue;
      const auto found = measured(figure::node_latency(from, node));
      if (found && (!nearest || found->value < nearest->value)) nearest = found;
    }
    return nearest;
  }

  // Mean over the pairs that `counts` of what memory takes longer there; its bounds are the least and the largest pair's.
  template <class Counts>
  std::optional<Spread> beyond_nodes(Counts counts) const {
    std::optional<Spread> all;
    double sum = 0, pairs = 0;
    for (std::size_t from = 0; from < machine_.nodes.size(); ++from) {
      for (std::size_t to = 0; to < machine_.nodes.size(); ++to) {
        const auto remote = measured(figure::node_latency(from, to));
        const auto own = latency_of(to);
        if (!counts(from, to) || !has_cores(to) || !remote || !own) continue;
        Spread beyond = resting_on(*remote, *own);
        beyond.value = std::max(least, remote->value - own->value);
        beyond.low = std::max(least, remote->low - own->high);
        beyond.high = std::max(beyond.value, remote->high - own->low);
        sum += beyond.value;
        pairs += 1;
        if (!all) {
          all = beyond;
          continue;
        }
        all = resting_on(*all, beyond);
        all->low = std::min(all->low, beyond.low);
        all->high = std::max(all->high, beyond.high);
      }
    }
    if (all) all->value = sum / pairs;
    return all;
  }

  void describe_link(const std::string& path, const LinkDescription& link) {
    const std::size_t one = link.from.index(), other = link.to.index();
    const auto joins = [&](std::size_t from, std::size_t to) {
      return (socket(from) == one && socket(to) == other) || (socket(from) == other && socket(to) == one);
    };
    if (const auto beyond = beyond_nodes(joins))
      fields_.set(path + ".latency", *beyond, DescribedFields::time_text,
                  "dependent loads of the other socket's cores less those of the memory's own, both ways");
    auto most = measured(figure::socket_bandwidth(one, other));
    const auto back = measured(figure::socket_bandwidth(other, one));
    if (back && (!most || back->value > most->value)) most = back;
    if (!most) return;
    const double message = static_cast<double>(machine_.data_message.count()) / static_cast<double>(machine_.caches.back().line.count());
    fields_.set(
        path + ".bandwidth", mapped(*most, [&](double read) { return read * message; }), DescribedFields::bandwidth_text,
        "all cores of one socket read the other's memory; x bytes of a message over those of a line. A lower bound where that memory "
        "is no faster");
  }

  DescribedFields& fields_;
  const Machine& machine_;
  const HostFigures& host_;
};

}  // namespace

void describe_nodes(DescribedFields& fields, const MachineFile& file, const HostFigures& host) {
  NodeDescriber{fields, file.machine, host}.describe();
}

}  // namespace homenode
