// The engine `line`: event-driven at the grain of cache lines. Caches, coherence and timing in one: every line that a core asks for goes
// through the caches of the whole machine (set_caches.hpp) at the time at which the core asks, and every miss goes its way through links
// and controller (line_routes.hpp, memory_controller.hpp) in the order in which the misses get there.
//
// A core runs through the lines of its slice, streams of one inner loop side by side. It computes for its share of the slice's
// core time before each line; page walks come first, all together, page faults at equal distances. A line beyond the first level takes a
// place among those in flight, as many as the touch's `parallelism` says (dependences, miss buffers, prefetcher: line_touches.hpp); when
// all are taken the core waits for the first one to return. So independent misses overlap with computing and with each other, a chase runs
// at the pace of its latencies. A core that blocks (Overlap::none) waits for every line that no prefetcher or buffer runs ahead for. A
// slice ends when its last line is there.
//
// Events are processed in order of time; a core runs ahead of them by at most the way to another core, half a core-to-core round trip:
// sooner no other core can notice. States of lines change when a core asks, data arrive later: an access to a line under way to another
// core is served as if it had arrived. Stores wait for ownership in the same places in flight as reads.
//
// Bytes, hits and latencies are counted as in the staged model, one line at a time; latencies are what each line took.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/caches/set_caches.hpp"
#include "models/line/collected_slice.hpp"
#include "models/line/event_queue.hpp"
#include "models/line/line_routes.hpp"
#include "models/line/memory_controller.hpp"
#include "sim/address_space.hpp"
#include "sim/hardware/cache_stage.hpp"
#include "sim/hardware/core_times.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/hardware/staged_memory_model.hpp"

namespace homenode {

class LineEngine final : public MemoryModel {
public:
  // Workload, machine and topology must outlive the engine. Throws UsageError where several cores share an inner level.
  LineEngine(const Workload&, const Machine&, const Topology&, const StagedOptions&);

  Started start(const Work&, AddressSpace&) override;
  std::optional<Time> next_event() override;
  void advance(Time to, std::vector<Completion>& done) override;
  EventCounts counts() const override;
  std::vector<std::vector<BindingTime>> binding() const override;
  void drop(std::uint64_t first_address, std::uint64_t last_address, bool discard) override;
  void flush(AddressSpace&) override;

private:
  using Picoseconds = std::int64_t;
  static constexpr Picoseconds never = INT64_MAX;
  enum Source : std::uint8_t {
    from_l2,
    from_l3,
    from_local,
    from_socket,
    from_one_hop,
    from_two_hops,
    from_more_hops,
    from_clean_copy,
    from_dirty_copy,
    upgraded,
    bypassed,
    sources
  };
  static constexpr std::uint32_t is_transaction = std::uint32_t{1} << 31;

  // Pages that the kernel writes in front of the slice.
  struct KernelLines {
    NodeId home;
    std::uint64_t lines = 0;
  };
  struct Miss {
    const LinePath* path = nullptr;
    LineRoutes::Served served{};
    Source source = from_local;
    std::uint8_t level = 0;      // without a path: the cache that has it
    bool writes_memory = false;  // the controller's stage takes a line instead of giving one
  };
  struct Transaction {
    Miss miss;
    std::uint32_t core = 0;
    std::uint32_t stage = 0;
    Picoseconds issued = 0;
  };
  enum class Waits : std::uint8_t { no, for_place, for_all, at_end };
  // What a core runs.
  struct Running {
    bool active = false;
    Waits waits = Waits::no;
    Asker asker;
    ThreadId thread;
    RegionId region;
    WorkId work;
    AddressSpace* addresses = nullptr;
    SliceTouches slice;
    std::size_t group = 0, first_touch = 0, touch = 0;  // where it is
    std::uint64_t step = 0, steps = 0;
    LineNumber line = 0, line_end = 0;
    std::vector<KernelLines> kernel;
    Picoseconds begin = 0, clock = 0, wake = never, earliest_end = 0;
    double access_time = 0;               // picoseconds of computing an access
    double computing_left = 0;            // picoseconds
    double computed = 0;                  // picoseconds, not yet on the clock
    double places = 0;                    // in flight, the fraction that is owed
    std::uint32_t under_way = 0;          // transactions
    std::vector<Picoseconds> returns;     // of lines in flight that are known, not in order
    std::vector<Picoseconds> level_free;  // when a level can deliver the next line
    std::optional<Miss> put_off;          // it waits for a place
    float put_off_parallelism = 1;
    // For what bound the slice.
    Picoseconds overhead = 0, locked = 0, latency = 0;  // locked: by the lock that page faults take
    std::uint64_t accesses = 0, faults = 0;
    double faults_per_access = 0, faults_due = 0;
    std::vector<std::pair<std::uint32_t, Picoseconds>> queued;  // resource, waited
  };

  void start_kernel_work(Running&, const Work&, std::uint64_t faulted, Picoseconds& overhead);
  Picoseconds work_on_pages(const Place&, AddressSpace&);
  void run(Running&, Picoseconds until);
  void run_lines(Running&, Picoseconds until);
  bool next_line(Running&, const LineTouch*& touch, LineNumber& line);
  bool access(Running&, const LineTouch&, LineNumber);
  void write_back(const Running&, Picoseconds at);
  NodeId home_of(const Running&, LineNumber) const;
  Source source_of(const Asker&, NodeId home) const;
  // Takes a place in flight and begins; false if there is none, and the core waits.
  bool issue(Running&, const Miss&, float parallelism);
  void begin(Running&, const Miss&);
  void step(Transaction&, std::uint32_t index, Picoseconds now);
  void returned(Running&, Picoseconds at);
  void wake(Running&, Picoseconds now, std::vector<Completion>& done);
  void wait(Running&, Waits);
  void finish(Running&, Picoseconds at, std::vector<Completion>& done);
  Picoseconds hold(std::uint32_t link, Picoseconds from, Picoseconds held);
  void send_beside(const LinePath&, Picoseconds at);
  void count_memory(const Asker&, ThreadId, NodeId home, bool write, std::uint64_t lines);
  void count_line(const Running&, LineNumber, NodeId home, bool write);
  void count_latency(Source, Picoseconds latency);
  std::string resource_name(std::size_t) const;
  std::uint64_t line_bytes() const;

  const Workload& workload_;
  const Machine& machine_;
  const Topology& topology_;
  OperatingSystem system_;
  SliceTouches* collecting_ = nullptr;
  CacheStage stage_;
  SetCaches caches_;
  CoreTimes core_times_;
  std::unique_ptr<LineRoutes> routes_;
  std::vector<MemoryController> controllers_;
  std::vector<Picoseconds> link_free_;
  Picoseconds faults_free_ = 0;  // the lock of the address space
  SocketId faulted_last_;
  Picoseconds lookahead_ = 0;

  std::vector<Running> cores_;
  std::vector<std::uint32_t> active_;
  std::vector<Transaction> transactions_;
  std::vector<std::uint32_t> free_transactions_;
  EventQueue events_;
  Picoseconds now_ = 0;
  std::size_t works_ = 0;
  ExecutionId body_of_ = ExecutionId::none();
  std::shared_ptr<const ExecutionBody> body_;
  CacheOutcome victims_;

  EventCounts counts_;
  static constexpr std::size_t short_latencies = 4096;  // nanoseconds
  std::array<std::vector<std::uint64_t>, sources> latencies_;
  std::array<std::map<std::int64_t, std::uint64_t>, sources> long_latencies_;
  std::vector<std::map<std::size_t, double>> binding_;  // by region: resource -> seconds
};

}  // namespace homenode
