// S0, sections 4 and 5: a page lives where the threads run that use it most; buffers that all threads use alike are interleaved.
// Who uses what comes from a pilot run (pilot.hpp), not from the names of kernels or arrays. Objects that are there when the first
// team starts are touched by a parallel pass in front of the program, whose time counts; later ones are placed as they are
// touched, which costs nothing beyond their page faults (as mbind would do).
#include <algorithm>
#include <map>
#include <set>

#include "models/placement/register.hpp"
#include "sim/program/access_summary.hpp"

namespace homenode {
namespace {

// Pages [first, last) of an object.
struct Decided {
  std::uint64_t first = 0, last = 0;
  NodeId home;       // none(): interleaved
  ThreadId toucher;  // none(): all threads in turn
};

class StencilAware final : public PagePlacement {
public:
  explicit StencilAware(std::int64_t evenness) : evenness_{1 + static_cast<double>(evenness) / 100} {}

  bool wants_summary() const override { return true; }

  void prepare(const AccessSummary* summary, const Machine& machine) override {
    nodes_ = machine.nodes.size();
    objects_.clear();
    if (summary == nullptr) return;
    page_bytes_ = summary->page_bytes;
    team_nodes_ = std::set<NodeId>(summary->node.begin(), summary->node.end()).size();
    for (const auto& [object, use] : summary->objects) {
      Object& decided = objects_[object];
      decided.phase = use.phase;
      decided.at_start = use.at_start;
      for (const UsedPages& pages : use.pages) decide(pages, *summary, decided.pages);
    }
  }

  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    for (std::size_t i = 0; i < faults.size(); ++i) {
      const Decided* decided = find(faults[i]);
      if (decided == nullptr)
        home[i] = faults[i].place.node;  // first touch: stacks, and what the pilot run did not use
      else
        home[i] = decided->home.is_none() ? NodeId{faults[i].number_of_its_size() % nodes_} : decided->home;
    }
  }

  std::vector<TouchedPages> touched_first() const override {
    std::vector<TouchedPages> touched;
    for (const auto& [object, decided] : objects_) {
      if (!decided.at_start) continue;
      for (const Decided& pages : decided.pages) touched.push_back({object, pages.first, pages.last, pages.toucher});
    }
    return touched;
  }

private:
  struct Object {
    std::uint64_t phase = 0;
    bool at_start = false;
    std::vector<Decided> pages;
  };

  void decide(const UsedPages& pages, const AccessSummary& summary, std::vector<Decided>& decided) const {
    std::vector<double> bytes(nodes_, 0.0);
    double total = 0;
    for (const PageUser& user : pages.users) {
      bytes[summary.node[user.thread.index()].index()] += user.read + user.written;
      total += user.read + user.written;
    }
    const auto most = std::max_element(bytes.begin(), bytes.end());
    Decided here{pages.first, pages.last, NodeId{static_cast<std::size_t>(most - bytes.begin())}, ThreadId::none()};
    if (team_nodes_ > 1 && *most * static_cast<double>(team_nodes_) <= evenness_ * total) {
      here.home = NodeId::none();
    } else {
      double greatest = -1;
      for (const PageUser& user : pages.users) {
        if (summary.node[user.thread.index()] != here.home || user.read + user.written <= greatest) continue;
        greatest = user.read + user.written;
        here.toucher = user.thread;
      }
    }
    if (!decided.empty() && decided.back().last == here.first && decided.back().home == here.home && decided.back().toucher == here.toucher)
      decided.back().last = here.last;
    else
      decided.push_back(here);
  }

  const Decided* find(const PageFault& fault) const {
    const auto object = objects_.find(fault.object);
    if (object == objects_.end()) return nullptr;
    const std::uint64_t page = AccessSummary::page_number(fault.offset, object->second.phase, page_bytes_);
    const std::vector<Decided>& pages = object->second.pages;
    const auto behind = std::upper_bound(pages.begin(), pages.end(), page, [](std::uint64_t p, const Decided& d) { return p < d.first; });
    if (behind == pages.begin() || std::prev(behind)->last <= page) return nullptr;
    return &*std::prev(behind);
  }

  double evenness_;
  std::size_t nodes_ = 1, team_nodes_ = 1;
  std::uint64_t page_bytes_ = 4096;
  std::map<ObjectId, Object> objects_;
};

}  // namespace

PolicyEntry<PagePlacement> stencil_aware() {
  return {.name = "stencil-aware",
          .description = "each page on the node whose threads use it most; pages that all nodes use equally are interleaved",
          .parameters = {integer_parameter(
              "evenness", "%", "interleave a page if no node uses it more than this above an equal share (assumed)", 25, 0, 1000)},
          .make = [](const Parameters& parameters) { return std::make_unique<StencilAware>(parameters.get("evenness")); },
          .examples = {"stencil-aware:0"}};
}

}  // namespace homenode
