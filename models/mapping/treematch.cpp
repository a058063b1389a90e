// TreeMatch (E. Jeannot, G. Mercier, Euro-Par 2010, sections 3 and 4): from the leaves of the machine's tree to its root, what communicates
// most is grouped, and the groups' communication added up for the level above. More threads than cores: one more level below the
// cores, so that their numbers differ by one at most. A group is built greedily: it starts with what communicates most and takes in
// what communicates most with it. Above a level whose domains differ in size their order stays.
#include <algorithm>
#include <utility>

#include "models/mapping/graph_mapping.hpp"
#include "models/mapping/register.hpp"
#include "sim/machine/scheduling_domains.hpp"

namespace homenode {
namespace {

struct Matrix {
  explicit Matrix(std::size_t n) : size{n}, values(n * n, 0) {}
  double& at(std::size_t a, std::size_t b) { return values[a * size + b]; }
  double at(std::size_t a, std::size_t b) const { return values[a * size + b]; }
  std::size_t size;
  std::vector<double> values;
};
using Groups = std::vector<std::vector<std::size_t>>;

// Of 0 ... n - 1 groups of these sizes, which add up to n.
Groups grouped(const Matrix& exchanged, const std::vector<std::size_t>& sizes) {
  const std::size_t n = exchanged.size;
  std::vector<bool> taken(n, false);
  std::vector<double> outside(n, 0);  // with all that are not taken
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) outside[a] += exchanged.at(a, b);
  const auto best = [&](const std::vector<double>& by) {
    std::size_t found = n;
    for (std::size_t a = 0; a < n; ++a)
      if (!taken[a] && (found == n || by[a] > by[found])) found = a;
    return found;
  };
  Groups groups;
  for (const std::size_t size : sizes) {
    std::vector<double> with_group(n, 0);
    groups.emplace_back();
    while (groups.back().size() < size) {
      const std::size_t next = best(groups.back().empty() ? outside : with_group);
      taken[next] = true;
      groups.back().push_back(next);
      for (std::size_t a = 0; a < n; ++a) {
        with_group[a] += exchanged.at(next, a);
        outside[a] -= exchanged.at(next, a);
      }
    }
    std::sort(groups.back().begin(), groups.back().end());
  }
  return groups;
}

Matrix of_groups(const Matrix& exchanged, const Groups& groups) {
  std::vector<std::size_t> group_of(exchanged.size);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const std::size_t member : groups[g]) group_of[member] = g;
  Matrix sums{groups.size()};
  for (std::size_t a = 0; a < exchanged.size; ++a)
    for (std::size_t b = 0; b < exchanged.size; ++b)
      if (group_of[a] != group_of[b]) sums.at(group_of[a], group_of[b]) += exchanged.at(a, b);
  return sums;
}

class TreeMatch final : public GraphMapping {
public:
  using GraphMapping::GraphMapping;

private:
  void map(const ThreadGraph& graph, const Machine& machine) override {
    const std::size_t threads = graph.threads.size(), cores = machine.cores();
    Matrix exchanged_bytes{threads};
    for (std::size_t thread = 0; thread < threads; ++thread)
      for (const ThreadGraph::Partner& partner : graph.partners(ThreadId{thread}))
        exchanged_bytes.at(thread, partner.thread.index()) = static_cast<double>(partner.bytes.exchanged());

    std::vector<std::size_t> sizes;
    for (std::size_t core = 0; core < cores; ++core) sizes.push_back(threads / cores + (core < threads % cores ? 1 : 0));
    const Groups of_leaf = grouped(exchanged_bytes, sizes);
    Matrix matrix = of_groups(exchanged_bytes, of_leaf);
    Groups order;  // leaves, by units of the level in hand
    for (std::size_t core = 0; core < cores; ++core) order.push_back({core});

    const SchedulingDomains domains{machine};
    std::vector<std::size_t> cores_of_unit(cores, 1);
    for (std::size_t level = 0; level < domains.levels(); ++level) {
      if (std::adjacent_find(cores_of_unit.begin(), cores_of_unit.end(), std::not_equal_to<>{}) != cores_of_unit.end()) break;
      const std::size_t unit = cores_of_unit.front();
      std::vector<std::size_t> units, sizes_of_domains;
      for (std::size_t core = 0; core < cores;) {
        const std::size_t size = domains.domain(level, CoreId{core}).size();
        sizes_of_domains.push_back(size);
        units.push_back(size / unit);
        core += size;
      }
      const Groups groups = grouped(matrix, units);
      Groups joined;
      for (const auto& group : groups) {
        joined.emplace_back();
        for (const std::size_t member : group) joined.back().insert(joined.back().end(), order[member].begin(), order[member].end());
      }
      matrix = of_groups(matrix, groups);
      order = std::move(joined);
      cores_of_unit = std::move(sizes_of_domains);
    }
    std::size_t core = 0;
    for (const auto& unit : order) {
      for (const std::size_t leaf : unit) {
        for (const std::size_t thread : of_leaf[leaf]) affinity_[thread] = {CoreId{core}};
        ++core;
      }
    }
  }
};

}  // namespace

PolicyEntry<ThreadMapping> treematch() {
  return {.name = "treematch",
          .description = "TreeMatch: threads that exchange most data on neighbouring cores, level by level of the machine's tree",
          .parameters = {affinity_call_parameter()},
          .make = [](const Parameters& parameters) { return std::make_unique<TreeMatch>(parameters); }};
}

}  // namespace homenode
