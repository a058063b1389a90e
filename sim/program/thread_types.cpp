#include "sim/program/thread_types.hpp"

namespace homenode {

std::vector<ThreadId> generation_preorder(const ThreadGraph& graph) {
  std::vector<std::vector<ThreadId>> sons(graph.threads.size());
  std::vector<ThreadId> order, open;
  // From the last to the first: the first lies on top.
  for (std::size_t t = graph.threads.size(); t-- > 0;) {
    const ThreadId parent = graph.threads[t].parent;
    (parent.is_none() ? open : sons.at(parent.index())).push_back(ThreadId{t});
  }
  while (!open.empty()) {
    const ThreadId thread = open.back();
    open.pop_back();
    order.push_back(thread);
    open.insert(open.end(), sons[thread.index()].begin(), sons[thread.index()].end());
  }
  return order;
}

std::vector<ClassifiedThread> classify_threads(const ThreadGraph& graph, LoneSon lone_son) {
  std::vector<ClassifiedThread> result(graph.threads.size());
  std::vector<bool> added(graph.threads.size(), false);
  std::vector<unsigned> sons(graph.threads.size(), 0);
  for (const ThreadGraph::Thread& thread : graph.threads)
    if (!thread.parent.is_none()) ++sons[thread.parent.index()];
  for (const ThreadId thread : generation_preorder(graph)) {
    ClassifiedThread& row = result[thread.index()];
    const ThreadId creator = graph.threads[thread.index()].parent;
    if (!creator.is_none()) row.level = result[creator.index()].level + 1;
    std::vector<ThreadId> with;
    for (const ThreadGraph::Partner& partner : graph.partners(thread))
      if (partner.bytes.is_dependence()) with.push_back(partner.thread);
    const bool has_brother = !creator.is_none() && sons[creator.index()] > 1;
    row.type = thread_type({!with.empty(), with.size() == 1 && with.front() == creator, has_brother}, lone_son);
    if (row.type == ThreadType::side_by_side) {
      for (const ThreadId other : with)
        if (added[other.index()]) row.communication_parents.push_back(other);
      row.side_by_side_with = std::move(with);
    }
    if (row.communication_parents.empty() && !creator.is_none()) row.communication_parents.push_back(creator);
    added[thread.index()] = true;
  }
  return result;
}

}  // namespace homenode
