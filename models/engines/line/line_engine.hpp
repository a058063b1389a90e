// The engine `line`: event-driven at the grain of cache lines. Caches, coherence and timing in one: every line that a core asks for goes
// through the caches of the whole machine (set_caches.hpp) at the time at which the core asks, and every miss goes its way through links
// and controller (line_routes.hpp, memory_controller.hpp) in the order in which the misses get there.
//
// A core runs through the lines of its slice, streams of one inner loop side by side. It computes for its share of the slice's
// core time before each line; page walks come first, all together, page faults at equal distances. Non-temporal stores have places of their
// own (Machine::streaming_lines), until memory has taken them. Any other line beyond the first level takes a
// place among those in flight, as many as the touch's `parallelism` says (dependences, miss buffers, prefetcher: line_touches.hpp); when
// all are taken the core waits for the first one to return. So independent misses overlap with computing and with each other, a chase runs
// at the pace of its latencies. A core that blocks (Overlap::none) waits for every line that no prefetcher or buffer runs ahead for. A
// slice ends when its last line is there. Where lines and loads take turns in the first level (Machine::fill_serial), a core runs ahead of
// its first level by no more accesses than it has in hand.
//
// Events are processed in order of time; a core runs ahead of them by at most the way to another core, half a core-to-core round trip:
// sooner no other core can notice. States of lines change when a core asks, data arrive later: an access to a line under way to another
// core is served as if it had arrived. Stores wait for ownership in the same places in flight as reads.
//
// Bytes, hits and latencies are counted as in the staged model, one line at a time; latencies are what each line took.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "models/caches/set_caches.hpp"
#include "models/engines/line/collected_slice.hpp"
#include "models/engines/line/event_queue.hpp"
#include "models/engines/line/line_counts.hpp"
#include "models/engines/line/line_routes.hpp"
#include "models/engines/line/memory_controller.hpp"
#include "models/engines/line/running_slice.hpp"
#include "models/engines/line/time_slots.hpp"
#include "models/engines/parts/bottlenecks.hpp"
#include "models/engines/parts/cache_stage.hpp"
#include "models/engines/parts/core_clocks.hpp"
#include "models/engines/parts/core_times.hpp"
#include "models/engines/parts/engine_options.hpp"
#include "models/engines/parts/fresh_pages.hpp"
#include "models/engines/parts/memory_side.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {

class LineEngine final : public MemoryModel {
public:
  // Workload, machine and topology must outlive the engine. Throws UsageError where several cores share an inner level.
  LineEngine(const Workload&, const Machine&, const Topology&, const EngineOptions&);

  Started start(const Work&, AddressSpace&) override;
  void run_ahead(Time until) override;
  std::optional<Time> next_event() override;
  void advance(Time to, std::vector<Completion>& done) override;
  EventCounts counts() const override;
  std::vector<std::vector<BottleneckTime>> bottlenecks() const override { return causes_.ranked(); }
  void drop(AddressRange, bool discard) override;
  void give_back(AddressRange pages) override { fresh_.give_back(lines_of(pages, line_bytes_)); }
  std::optional<Time> signal(const Place& writer, const Place& reader) override;
  Time hold_back_faults(Time now, Time held) override;
  Time faults_in_call(const Place&, std::uint64_t faults, const AddressSpace&) override;
  void flush(AddressSpace&) override;

private:
  static constexpr std::uint32_t is_transaction = std::uint32_t{1} << 31;

  bool ends_slice(const EventQueue::Event&) const;
  void process(const EventQueue::Event&, std::vector<Completion>& done);
  // Sooner than this nothing that another core does from now on reaches a core.
  Picoseconds horizon() const { return std::min(events_.first().time, limit_) + lookahead_; }
  // slices.cpp
  Picoseconds wait_to_fault(RunningSlice&, Picoseconds at) const;
  Picoseconds line_time(Bandwidth) const;
  void take_levels(RunningSlice&, double cycle, const FilteredSlice&);
  void start_kernel_work(RunningSlice&, const Work&, std::uint64_t faulted, Picoseconds& overhead);
  // `computing`: picoseconds.
  void wait_for_contended_lines(RunningSlice&, const Contention&, const Place&, double computing);
  Picoseconds work_on_pages(const Place&, AddressSpace&);
  void finish(RunningSlice&, Picoseconds at, std::vector<Completion>& done);
  // lines_of_core.cpp
  void run(RunningSlice&);
  void later(RunningSlice&);
  bool write_for_kernel(RunningSlice&);
  void compute(RunningSlice&, const LineTouch&);
  bool access(RunningSlice&, const LineTouch&, LineNumber);
  bool is_awaited(RunningSlice&, const LineTouch&, LineFate::From) const;
  void write_back(RunningSlice&, Picoseconds at);
  // memory_side.cpp
  void describe_memory_side();
  void remember_read(const RunningSlice&, LineNumber, NodeId home, Miss&);
  AtSideCache remember_write(const RunningSlice&, LineNumber, NodeId home);
  void write_victims(Picoseconds at, NodeId home, std::uint64_t noted, LineNumber);
  Picoseconds at_memory(Miss&, Picoseconds now, Picoseconds& idle, std::size_t& resource);
  void write_memory(AtSideCache, NodeId home, const LineRoutes::Served&, Picoseconds at);
  Picoseconds write_side_cache(AtSideCache, NodeId home, const LineRoutes::Served&, Picoseconds at);
  Picoseconds use_side_cache(NodeId home, Picoseconds from, Picoseconds width);
  Picoseconds come_in(RunningSlice&, Picoseconds ready, Picoseconds now);
  Picoseconds go_out(const RunningSlice&, Picoseconds at);
  Picoseconds held_up_by_port(const RunningSlice&) const;
  static Picoseconds exchange(Picoseconds& free, Picoseconds pace, Picoseconds at);
  NodeId home_of(const RunningSlice&, LineNumber) const;
  void count_line(RunningSlice&, LineNumber, NodeId home, bool write);
  void tell_traffic(AddressSpace&, Time now);
  // outstanding_misses.cpp
  // Takes a place in flight and begins; false if there is none, and the core waits.
  bool issue(RunningSlice&, const Miss&, float parallelism);
  void begin(RunningSlice&, const Miss&);
  void step(Transaction&, std::uint32_t index, Picoseconds now);
  void returned(RunningSlice&, const LinesInFlight& others, Picoseconds at);
  void wake(RunningSlice&, Picoseconds now, std::vector<Completion>& done);
  void wait(RunningSlice&, RunningSlice::Waits);
  void wake_for_line(RunningSlice&);
  Picoseconds hold(std::uint32_t link, Picoseconds from, Picoseconds held);
  void send_beside(const LinePath&, Picoseconds at);

  const Workload& workload_;
  const Machine& machine_;
  const Topology& topology_;
  std::uint64_t line_bytes_;
  OperatingSystem system_;
  SliceTouches* collecting_ = nullptr;
  CacheStage stage_;
  SetCaches caches_;
  FreshPages fresh_;
  CoreTimes core_times_;
  CoreClocks core_clocks_;
  struct ExchangePace {
    Picoseconds read = 0, write = 0, non_temporal = 0;
  };
  ExchangePace exchange_;  // a line between a core and memory (machine.hpp, read_bandwidth and its neighbours); 0: no limit
  std::unique_ptr<LineRoutes> routes_;
  std::vector<MemoryController> controllers_;
  std::vector<Picoseconds> link_free_;
  MemorySide side_;
  struct SideCache {
    Picoseconds read = 0, write = 0;  // of a line
    Picoseconds free = 0;
  };
  std::vector<SideCache> side_caches_;  // by node; empty without
  struct Port {
    TimeSlots in;  // a line each
    Picoseconds out_free = 0;
  };
  std::vector<Port> ports_;   // by outermost cache; empty without
  Picoseconds port_out_ = 0;  // a line
  std::size_t first_side_cache_ = 0, first_port_ = 0;
  Picoseconds faults_free_ = 0;        // the lock of the address space
  Picoseconds contended_free_ = 0;     // the line that is handed over most
  Picoseconds faults_held_until_ = 0;  // by a writer of it
  std::uint64_t watched_faults_ = 0;   // of the slice that starts: hinting faults, and writes to replicated pages
  SocketId faulted_last_;
  Picoseconds lookahead_ = 0, ring_hop_ = 0;

  std::vector<RunningSlice> cores_;
  std::vector<std::uint32_t> active_;
  std::vector<Transaction> transactions_;
  std::vector<std::uint32_t> free_transactions_;
  EventQueue events_;
  Picoseconds limit_ = 0;  // nothing starts before it
  std::size_t works_ = 0;
  CacheOutcome victims_;

  LineCounts counts_;
  Bottlenecks causes_;
  Timeline* timeline_;
};

}  // namespace homenode
