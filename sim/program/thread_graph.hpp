// Who created whom, who joined whom, and how many bytes one thread writes that another reads: input of
// thread mappings (Știrb, NUMA-BTLP: generation tree; thread_types.hpp makes types and the communication tree of it).
#pragma once

#include <array>
#include <boost/graph/adjacency_list.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

class ThreadGraph {
public:
  struct Thread {
    ThreadId parent = ThreadId::none();  // none for the first
    ThreadId joined_by = ThreadId::none();
    std::string routine;
    std::uint64_t read_bytes = 0, written_bytes = 0;  // distinct bytes
    std::uint64_t accesses = 0;
  };
  std::vector<Thread> threads;

  // Of two threads, in distinct bytes; [0] what the one of the lower number writes and the other reads, [1] the reverse.
  struct Exchange {
    std::array<std::uint64_t, 2> shared{};
    // The part of them that makes a dependence: creation and joining do not order the write and the read. Data that a creator writes
    // before the creation or reads after the join make none: otherwise every thread with an argument would depend on its
    // creator.
    std::array<std::uint64_t, 2> dependent{};
    std::uint64_t exchanged() const { return shared[0] + shared[1]; }
    bool is_dependence() const { return dependent[0] + dependent[1] > 0; }
  };
  // Another thread, and what the two exchange.
  struct Partner {
    ThreadId thread;
    Exchange bytes;
  };

  explicit ThreadGraph(std::size_t count) : threads(count), edges_{count} {}
  // Two threads that are not partners yet; `a` has the lower number.
  void add(ThreadId a, ThreadId b, const Exchange& bytes) { boost::add_edge(a.index(), b.index(), bytes, edges_); }
  void add_shared(ThreadId writer, ThreadId reader, std::uint64_t bytes);
  void add_dependent(ThreadId writer, ThreadId reader, std::uint64_t bytes);

  std::uint64_t shared_bytes(ThreadId writer, ThreadId reader) const;
  std::uint64_t dependent_bytes(ThreadId writer, ThreadId reader) const;
  // Ascending.
  std::vector<Partner> partners(ThreadId) const;

private:
  using Edges =
      boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, Exchange, boost::no_property, boost::vecS>;
  const Exchange* between(ThreadId, ThreadId) const;
  Exchange& to_change(ThreadId, ThreadId);

  Edges edges_;
};

// Of a team of `team` threads: free iterations in contiguous equal blocks (OpenMP static), singles and sections in turn; threads
// that the program creates itself run their own routines, whatever `team` is. Objects on a thread's own stack are shared by
// nobody. Between the threads of a team everything is a dependence but what serial code wrote before or reads after. Memory grows with the
// pieces that the threads' footprints consist of, not with the number of accesses.
ThreadGraph thread_graph(const Workload&, unsigned team);
// The same. The program keeps those of up to 256 threads for whoever asks next: mappings, reports and advice ask for the same few teams.
std::shared_ptr<const ThreadGraph> known_thread_graph(const Workload&, unsigned team);

}  // namespace homenode
