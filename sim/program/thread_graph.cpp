#include "sim/program/thread_graph.hpp"

#include <algorithm>

namespace homenode {

const ThreadGraph::Exchange* ThreadGraph::between(ThreadId a, ThreadId b) const {
  for (const auto edge : boost::make_iterator_range(boost::out_edges(a.index(), edges_)))
    if (boost::target(edge, edges_) == b.index()) return &edges_[edge];
  return nullptr;
}
ThreadGraph::Exchange& ThreadGraph::to_change(ThreadId a, ThreadId b) {
  for (const auto edge : boost::make_iterator_range(boost::out_edges(a.index(), edges_)))
    if (boost::target(edge, edges_) == b.index()) return edges_[edge];
  return edges_[boost::add_edge(a.index(), b.index(), edges_).first];
}
std::uint64_t ThreadGraph::shared_bytes(ThreadId writer, ThreadId reader) const {
  const Exchange* const found = between(writer, reader);
  return found ? found->shared.at(writer > reader) : 0;
}
std::uint64_t ThreadGraph::dependent_bytes(ThreadId writer, ThreadId reader) const {
  const Exchange* const found = between(writer, reader);
  return found ? found->dependent.at(writer > reader) : 0;
}
void ThreadGraph::add_shared(ThreadId writer, ThreadId reader, std::uint64_t bytes) {
  to_change(writer, reader).shared.at(writer > reader) += bytes;
}
void ThreadGraph::add_dependent(ThreadId writer, ThreadId reader, std::uint64_t bytes) {
  to_change(writer, reader).dependent.at(writer > reader) += bytes;
}
std::vector<ThreadGraph::Partner> ThreadGraph::partners(ThreadId thread) const {
  std::vector<Partner> found;
  for (const auto edge : boost::make_iterator_range(boost::out_edges(thread.index(), edges_)))
    found.push_back({ThreadId{boost::target(edge, edges_)}, edges_[edge]});
  std::sort(found.begin(), found.end(), [](const Partner& a, const Partner& b) { return a.thread < b.thread; });
  return found;
}

}  // namespace homenode
