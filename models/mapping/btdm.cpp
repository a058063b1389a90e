// I. Stirb's NUMA-BTDM (S3, section 3): the affinity of a thread follows from its type and its place in the communication tree.
//   autonomous    in preorder of the tree, the i-th of n on core floor(i k) modulo cores, k = cores / n
//   side-by-side  the root and those of the first level that share nothing with it: from core 0 on, in turn. Any other, in inorder:
//                 its cores and its parents' together
//   postponed     in postorder, the core with the fewest threads; one without a brother is taken as side-by-side instead
// Where the text leaves it open: a thread with several parents is met under each of them, its own sons only once; a side-by-side
// thread whose parents have no core yet when it is met is met again in another traversal; one that has none then, because it depends on
// postponed threads alone, gets the next core in turn, like those of the first level.
#include <algorithm>
#include <set>

#include "models/mapping/graph_mapping.hpp"
#include "models/mapping/register.hpp"
#include "sim/program/thread_types.hpp"

namespace homenode {
namespace {

class Traversals {
public:
  enum class Order : std::uint8_t { pre, in, post };
  explicit Traversals(const std::vector<ClassifiedThread>& threads, const std::vector<ThreadId>& as_added) : sons_(threads.size()) {
    for (const ThreadId thread : as_added)
      for (const ThreadId parent : threads[thread.index()].communication_parents) sons_[parent.index()].push_back(thread);
  }
  // Every thread under each of its parents, its sons with the first of them.
  template <class Visit>
  void run(ThreadId root, Order order, const Visit& visit) const {
    struct Step {
      ThreadId thread, parent;
      bool visit;
    };
    std::vector<bool> opened(sons_.size(), false);
    std::vector<Step> steps{{root, ThreadId::none(), false}};
    while (!steps.empty()) {
      const Step step = steps.back();
      steps.pop_back();
      if (step.visit || opened[step.thread.index()]) {
        visit(step.thread, step.parent);
        continue;
      }
      opened[step.thread.index()] = true;
      const auto& sons = sons_[step.thread.index()];
      const std::size_t before = order == Order::pre ? 0 : order == Order::in ? std::min<std::size_t>(1, sons.size()) : sons.size();
      for (std::size_t i = sons.size(); i-- > before;) steps.push_back({sons[i], step.thread, false});
      steps.push_back({step.thread, step.parent, true});
      for (std::size_t i = before; i-- > 0;) steps.push_back({sons[i], step.thread, false});
    }
  }

private:
  std::vector<std::vector<ThreadId>> sons_;
};

class Btdm final : public GraphMapping {
public:
  using GraphMapping::GraphMapping;

private:
  void map(const ThreadGraph& graph, const Machine& machine) override {
    cores_ = machine.cores();
    threads_ = classify_threads(graph, LoneSon::side_by_side);
    const std::vector<ThreadId> as_added = generation_preorder(graph);
    root_ = as_added.front();
    sets_.assign(threads_.size(), {});
    const Traversals tree{threads_, as_added};
    map_autonomous(tree);
    map_side_by_side(tree, as_added);
    map_postponed(tree);
    for (std::size_t t = 0; t < threads_.size(); ++t) affinity_[t].assign(sets_[t].begin(), sets_[t].end());
  }

  ClassifiedThread& of(ThreadId thread) { return threads_[thread.index()]; }
  std::set<CoreId>& cores_of(ThreadId thread) { return sets_[thread.index()]; }
  bool is(ThreadId thread, ThreadType type) { return thread != root_ && of(thread).type == type; }

  void map_autonomous(const Traversals& tree) {
    std::vector<ThreadId> list;
    tree.run(root_, Traversals::Order::pre, [&](ThreadId thread, ThreadId) {
      if (is(thread, ThreadType::autonomous)) list.push_back(thread);
    });
    for (std::size_t i = 0; i < list.size(); ++i) cores_of(list[i]) = {CoreId{i * cores_ / list.size() % cores_}};
  }

  bool is_relative(ThreadId thread, ThreadId to) {
    const auto& with = of(thread).side_by_side_with;
    return std::binary_search(with.begin(), with.end(), to);
  }
  bool starts_a_group(ThreadId thread) {
    const auto& parents = of(thread).communication_parents;
    return is(thread, ThreadType::side_by_side) && parents.size() == 1 && parents.front() == root_ && !is_relative(thread, root_);
  }

  void map_side_by_side(const Traversals& tree, const std::vector<ThreadId>& as_added) {
    std::size_t next = 0;
    cores_of(root_) = {CoreId{next++ % cores_}};
    for (const ThreadId thread : as_added)
      if (starts_a_group(thread)) cores_of(thread) = {CoreId{next++ % cores_}};
    std::vector<bool> open(threads_.size());
    for (std::size_t t = 0; t < threads_.size(); ++t) open[t] = is(ThreadId{t}, ThreadType::side_by_side) && sets_[t].empty();
    while (true) {
      tree.run(root_, Traversals::Order::in, [&](ThreadId thread, ThreadId parent) {
        if (!open[thread.index()] || parent.is_none()) return;
        const std::set<CoreId> parents_cores = cores_of(parent);
        cores_of(thread).insert(parents_cores.begin(), parents_cores.end());
      });
      bool progress = false, done = true;
      ThreadId first = ThreadId::none();
      for (const ThreadId thread : as_added) {
        if (!open[thread.index()]) continue;
        if (!cores_of(thread).empty()) {
          open[thread.index()] = false;
          progress = true;
        } else {
          done = false;
          if (first.is_none()) first = thread;
        }
      }
      if (done) return;
      if (progress) continue;
      cores_of(first) = {CoreId{next++ % cores_}};
      open[first.index()] = false;
    }
  }

  void map_postponed(const Traversals& tree) {
    std::vector<unsigned> load(cores_, 0);
    for (const auto& set : sets_)
      for (const CoreId core : set) ++load[core.index()];
    tree.run(root_, Traversals::Order::post, [&](ThreadId thread, ThreadId) {
      if (!is(thread, ThreadType::postponed)) return;
      const auto least = std::min_element(load.begin(), load.end());
      ++*least;
      cores_of(thread) = {CoreId{static_cast<std::size_t>(least - load.begin())}};
    });
  }

  std::size_t cores_ = 1;
  ThreadId root_;
  std::vector<ClassifiedThread> threads_;
  std::vector<std::set<CoreId>> sets_;  // by thread
};

}  // namespace

PolicyEntry<ThreadMapping> btdm() {
  return {
      .name = "btdm",
      .description =
          "NUMA-BTDM (Știrb): threads that exchange data with no other one (autonomous) spread evenly, those that do (side-by-side) on the "
          "cores of their partners, those that do with their creator alone (postponed) on the core with fewest threads",
      .parameters = {affinity_call_parameter()},
      .make = [](const Parameters& parameters) { return std::make_unique<Btdm>(parameters); }};
}

}  // namespace homenode
