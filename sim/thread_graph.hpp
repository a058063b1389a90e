// Who created whom, who joined whom, and how many bytes one thread writes that another reads: what mappings of threads to
// cores look at (S3, NUMA-BTLP: generation tree; thread_types.hpp makes types and the communication tree of it).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/ids.hpp"
#include "sim/workload.hpp"

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

  explicit ThreadGraph(std::size_t count) : threads(count), shared_(count * count, 0), dependent_(count * count, 0) {}
  // Distinct bytes that `writer` writes and `reader` reads at some time; both are other threads.
  std::uint64_t shared_bytes(ThreadId writer, ThreadId reader) const { return shared_[writer.index() * threads.size() + reader.index()]; }
  void add_shared(ThreadId writer, ThreadId reader, std::uint64_t bytes) {
    shared_[writer.index() * threads.size() + reader.index()] += bytes;
  }

  // Those of them that a dependence between the two threads is about: written and read at times that creation and joining do not
  // put in order. What a creator writes before it creates, or reads after it has joined, is handed over and no dependence:
  // otherwise every thread with an argument would depend on its creator.
  std::uint64_t dependent_bytes(ThreadId writer, ThreadId reader) const {
    return dependent_[writer.index() * threads.size() + reader.index()];
  }
  void add_dependent(ThreadId writer, ThreadId reader, std::uint64_t bytes) {
    dependent_[writer.index() * threads.size() + reader.index()] += bytes;
  }

private:
  std::vector<std::uint64_t> shared_, dependent_;  // [writer * threads + reader]
};

// Of a team of `team` threads: free iterations in contiguous equal blocks (OpenMP static), singles and sections in turn; threads
// that the program creates itself run their own routines, whatever `team` is. Objects on a thread's own stack are shared by
// nobody. Between the threads of a team everything is a dependence but what serial code wrote before or reads after. Memory grows with the
// pieces that the threads' footprints consist of, not with the number of accesses.
ThreadGraph thread_graph(const Workload&, unsigned team);

}  // namespace homenode
