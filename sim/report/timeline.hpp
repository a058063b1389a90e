// Timeline of one run: what each thread did and waited for, and how much of each shared resource was in use. The simulation and its
// memory model record it, if there is one; it changes no result. Its size is bounded. Once there are too many spans, spans of one thread
// with the same activity in the same execution are joined across short interruptions, and spans that stay too short are left out;
// `least()` says how short. The overview has the same in few intervals, without threads: it is cheap, and every run has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/program/workload.hpp"
#include "sim/report/use_over_time.hpp"

namespace homenode {

// What a thread does; from `barrier` on, what it waits for.
enum class ThreadActivity : std::uint8_t {
  work,
  page_work,  // within work: pages that the placement moves or unmaps, and hinting faults
  heap_call,
  runtime,  // of chunks and tasks
  fork,
  barrier,
  lock,
  signal,
  join,
  turn,   // of an ordered region
  tasks,  // to be done
  items,  // from the distribution
  core,   // that another thread has
  count
};
const char* name_of(ThreadActivity);

// What was in use when, in equal intervals from the run's begin on. Of a row the intervals end with the last one that has something.
struct RunOverTime {
  struct Row {
    std::string name;
    std::vector<double> seconds;  // by interval
  };
  Time interval;
  std::vector<Row> resources{};  // seconds in use, of those that were used
  std::vector<Row> regions{};    // seconds of all threads' work, heap calls and runtime, of those that were executed
};

class Timeline {
public:
  struct Span {
    ThreadId thread;
    ThreadActivity doing{};
    std::uint32_t label = 0;  // in labels()
    std::uint32_t execution = 0;
    Time from, to;
    std::int64_t first = 0, last = 0;  // iterations that it worked on
    std::uint32_t joined = 1;          // spans in it
  };

  // `most`: spans; 0: it has the overview alone.
  explicit Timeline(std::size_t most);
  bool keeps_spans() const { return most_ != 0; }

  // Call before recording. `bandwidths`: bytes a second, 0 where a resource has none.
  void set_resources(std::vector<std::string> names, std::vector<double> bandwidths, std::size_t most_intervals);
  // Later records belong to this program, which begins at `begin` of the run.
  void begin_part(const Workload&, Time begin);

  void record(ThreadActivity, ThreadId, const Workload&, ItemRange, Time from, Time to);
  void used(std::size_t resource, Time from, Time to, double seconds) {
    overview_.add(resource, begin_ + from, begin_ + to, seconds);
    if (keeps_spans()) use_.add(resource, begin_ + from, begin_ + to, seconds);
  }

  // By thread, then time; of a thread they do not overlap, except that page work lies within work.
  const std::vector<Span>& spans();
  Time least() const { return least_; }                 // spans that are shorter were joined or left out; 0: none was
  std::uint64_t left_out() const { return left_out_; }  // spans
  const std::vector<std::string>& labels() const { return labels_; }
  const std::vector<std::string>& resources() const { return resources_; }
  const std::vector<double>& bandwidths() const { return bandwidths_; }
  const UseOverTime& use() const { return use_; }
  RunOverTime overview() const;

private:
  static constexpr std::size_t most_of_overview = 64;  // intervals: columns of a picture

  void sort();
  void thin();
  void join_neighbours();

  std::size_t most_;
  Time begin_, least_;
  std::uint64_t left_out_ = 0;
  std::uint32_t labels_before_ = 0, executions_before_ = 0, executions_ = 0;
  std::vector<std::string> labels_, resources_;
  std::vector<double> bandwidths_;
  std::vector<Span> spans_;
  UseOverTime use_;
  UseOverTime overview_{0, most_of_overview};  // resources, then labels
};

}  // namespace homenode
