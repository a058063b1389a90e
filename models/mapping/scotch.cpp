// Scotch (F. Pellegrini, J. Roman, HPCN 1996; named in S3, section 2): dual recursive bipartitioning of the graph of threads, whose
// edges are the bytes exchanged, and of the machine's tree, as Debian's library does it. A machine whose domains differ in size is a
// set of equally distant cores.
#include <cstdint>
#include <cstdio>
// scotch.h uses FILE and declares nothing of it.
#include <scotch.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "models/mapping/graph_mapping.hpp"
#include "models/mapping/register.hpp"
#include "sim/machine/scheduling_domains.hpp"

namespace homenode {
namespace {

// Scotch clones a generator that the whole process has.
std::mutex one_at_a_time;

void must_work(int error, const char* what) {
  if (error != 0) throw PolicyError(std::string{"Scotch could not "} + what);
}

class Architecture {
public:
  explicit Architecture(const Machine& machine) {
    must_work(SCOTCH_archInit(&architecture_), "begin an architecture");
    const SchedulingDomains domains{machine};
    std::vector<SCOTCH_Num> children, costs;  // from the root down
    std::size_t below = 1;
    bool uniform = true;
    for (std::size_t level = 0; level < domains.levels(); ++level) {
      const std::size_t size = domains.domain(level, CoreId{0u}).size();
      for (std::size_t core = 0; core < machine.cores(); ++core) uniform &= domains.domain(level, CoreId{core}).size() == size;
      children.insert(children.begin(), static_cast<SCOTCH_Num>(size / below));
      const Time cost = machine.core_to_core(CoreId{0u}, domains.domain(level, CoreId{0u}).back());
      costs.insert(costs.begin(), std::max<SCOTCH_Num>(1, static_cast<SCOTCH_Num>(std::lround(cost.seconds() * 1e9))));
      below = size;
    }
    if (uniform && !children.empty() && below == machine.cores()) {
      must_work(SCOTCH_archTleaf(&architecture_, static_cast<SCOTCH_Num>(children.size()), children.data(), costs.data()),
                "describe the machine's tree");
    } else {
      must_work(SCOTCH_archCmplt(&architecture_, static_cast<SCOTCH_Num>(machine.cores())), "describe the machine's cores");
    }
  }
  ~Architecture() { SCOTCH_archExit(&architecture_); }
  Architecture(const Architecture&) = delete;
  Architecture& operator=(const Architecture&) = delete;
  SCOTCH_Arch* get() { return &architecture_; }

private:
  SCOTCH_Arch architecture_{};
};

class Graph {
public:
  // Weights such that their sum stays far from what a SCOTCH_Num holds.
  explicit Graph(const ThreadGraph& graph) {
    const std::size_t threads = graph.threads.size();
    std::vector<std::uint64_t> exchanged;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      first_.push_back(static_cast<SCOTCH_Num>(neighbour_.size()));
      for (const ThreadGraph::Partner& partner : graph.partners(ThreadId{thread})) {
        if (partner.bytes.exchanged() == 0) continue;
        neighbour_.push_back(static_cast<SCOTCH_Num>(partner.thread.index()));
        exchanged.push_back(partner.bytes.exchanged());
      }
    }
    first_.push_back(static_cast<SCOTCH_Num>(neighbour_.size()));
    const double heaviest = std::clamp(1e9 / static_cast<double>(std::max<std::size_t>(exchanged.size(), 1)), 1.0, 10000.0);
    const std::uint64_t most = exchanged.empty() ? 1 : *std::max_element(exchanged.begin(), exchanged.end());
    for (const std::uint64_t bytes : exchanged) {
      const double share = static_cast<double>(bytes) / static_cast<double>(most);
      weight_.push_back(std::max<SCOTCH_Num>(1, static_cast<SCOTCH_Num>(std::lround(heaviest * share))));
    }
    must_work(SCOTCH_graphInit(&graph_), "begin a graph");
    must_work(SCOTCH_graphBuild(&graph_, 0, static_cast<SCOTCH_Num>(threads), first_.data(), nullptr, nullptr, nullptr,
                                static_cast<SCOTCH_Num>(neighbour_.size()), neighbour_.data(), weight_.data()),
              "build the graph of threads");
  }
  ~Graph() { SCOTCH_graphExit(&graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  SCOTCH_Graph* get() { return &graph_; }

private:
  std::vector<SCOTCH_Num> first_, neighbour_, weight_;
  SCOTCH_Graph graph_{};
};

// One thread and a generator of its own, begun anew: with more of either the same graph is mapped otherwise the next time.
class Context {
public:
  explicit Context(Graph& graph) {
    must_work(SCOTCH_contextInit(&context_), "begin a context");
    must_work(SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1), "be deterministic");
    must_work(SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1), "fix its seed");
    must_work(SCOTCH_contextRandomClone(&context_), "have a generator");
    SCOTCH_contextRandomSeed(&context_, 1);
    SCOTCH_contextRandomReset(&context_);
    must_work(SCOTCH_contextThreadSpawn(&context_, 1, nullptr), "run on one thread");
    must_work(SCOTCH_graphInit(&graph_), "begin a graph");
    must_work(SCOTCH_contextBindGraph(&context_, graph.get(), &graph_), "bind the graph of threads");
  }
  ~Context() {
    SCOTCH_graphExit(&graph_);
    SCOTCH_contextExit(&context_);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  SCOTCH_Graph* graph() { return &graph_; }

private:
  SCOTCH_Context context_{};
  SCOTCH_Graph graph_{};
};

class Scotch final : public GraphMapping {
public:
  using GraphMapping::GraphMapping;

private:
  void map(const ThreadGraph& graph, const Machine& machine) override {
    const std::size_t threads = graph.threads.size();
    std::vector<SCOTCH_Num> core(threads, 0);
    if (threads > 1 && machine.cores() > 1) {
      const std::scoped_lock alone{one_at_a_time};
      Architecture architecture{machine};
      Graph edges{graph};
      Context context{edges};
      SCOTCH_Strat strategy{};
      must_work(SCOTCH_stratInit(&strategy), "begin a strategy");
      const int error = SCOTCH_graphMap(context.graph(), architecture.get(), &strategy, core.data());
      SCOTCH_stratExit(&strategy);
      must_work(error, "map the threads");
    }
    for (std::size_t t = 0; t < threads; ++t) affinity_[t] = {CoreId{static_cast<std::size_t>(core[t])}};
  }
};

}  // namespace

PolicyEntry<ThreadMapping> scotch() {
  return {.name = "scotch",
          .description = "Scotch: dual recursive bipartitioning of the communication graph onto the machine's tree",
          .parameters = {affinity_call_parameter()},
          .make = [](const Parameters& parameters) { return std::make_unique<Scotch>(parameters); },
          .examples = {},
          .deviations = {{"cores are loaded evenly", "Scotch's default imbalance of a hundredth"}}};
}

}  // namespace homenode
