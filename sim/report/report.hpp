// What a run yields. Equal inputs and seed give equal reports, bit for bit; what the simulator itself cost is not in it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/program/workload.hpp"
#include "sim/report/timeline.hpp"

namespace homenode {

struct RegionReport {
  std::string label;
  Time time;  // in which an execution of it went on, each from its first thread's entry to its last one's exit
  std::uint64_t executions = 0;
  Time exclusive{};                         // its part of the run's time (Overheads)
  Time team{};                              // of the forks and barriers in the run's overheads, those in front of it and behind it
  std::size_t ranks{};                      // of the team whose ranks its code is bound to; 0: it is not
  Time least{};                             // of it, whatever the placement
  std::vector<BottleneckTime> bottlenecks;  // of its work, heap calls and runtime, largest first; together what its threads were busy
  std::vector<Time> busy{};                 // by thread; over all regions together a thread's busy time
};

struct ThreadReport {
  ThreadId thread;
  CoreId core;
  NodeId node;
  Time busy, idle;  // busy + idle = the run's time
  Time least{};     // of its busy time, whatever the placement
  std::uint64_t local_bytes = 0, remote_bytes = 0;
};

// What a run's time goes to beside the exclusive times of its regions: together they are its time. In a moment that counts here as fork,
// barrier or waiting no thread works; threads that work share the moment.
struct Overheads {
  Time fork{};       // threads are started
  Time barrier{};    // from the last arrival at a barrier on, reductions included
  Time runtime{};    // of the runtime system and the scheduler: chunks, tasks, switches of cores
  Time page_work{};  // of the placement: migrations, hinting faults, scans
  Time waiting{};    // for signals, locks, cores
};

// What a core did; the rest of the run's time it was idle.
struct CoreUse {
  Time busy;                   // of the threads that ran on it
  Time spinning;               // a thread waited on it for its team, awake
  std::uint64_t switches = 0;  // to another thread than it ran last
  std::uint64_t wakeups = 0;   // from idle to active
};

// Which thread ran which iterations, in the order in which they were handed out.
struct HandOut {
  ItemRange items;
  ThreadId thread;
  Time overhead;
};

// A page of an object came to a node: by its first write, or later by migration.
struct PlacedPage {
  ObjectId object;         // that was touched in it; none() where no object is
  std::uint64_t page = 0;  // of the object, counted from the page of its first byte
  NodeId home;
};

// Pages of the objects of one kind and symbol, by node.
struct SymbolPages {
  ObjectKind kind = ObjectKind::unknown;
  std::string symbol;                                        // of the objects; "" where a page was placed for none
  std::size_t objects = 0;                                   // that placed pages
  std::vector<std::uint64_t> placed_by_node, pages_by_node;  // where pages came to; where they are at the end, or were when given back
};

// What the heap did. Fragmentation = requested_peak_bytes / reserved_bytes, both at their largest.
struct HeapReport {
  std::uint64_t reserved_bytes = 0, requested_peak_bytes = 0;
  std::uint64_t mixed_owner_pages = 0;   // pages that blocks for different nodes shared at some time: false page sharing (S1 section 2)
  std::uint64_t remote_block_pages = 0;  // of freed blocks, on another node than that of the thread that they were for (S1, Table 3)
  Time lock_wait;                        // of all threads
};

// What is known of the best placement of a run's pages; with placement `optimal` only.
struct BestPlacement {
  Time bound;             // no placement is faster: the time of the run
  Time found;             // the least replayed time that was found, with first touch or with the placement that the search yields
  Time objective;         // of that placement, without what the model of the search leaves out (page_demand.hpp)
  bool exact = false;     // no placement that moves no page has a smaller objective
  bool searched = false;  // false: too many pages, `found` is first touch's time
  std::uint64_t pages = 0;
};

// What became of the pages that a placement replicated.
struct Replication {
  std::uint64_t replicated = 0;    // pages that were copied to every node with cores, each time anew
  std::uint64_t collapsed = 0;     // of these, back to a single copy by a write
  std::uint64_t without_room = 0;  // times that a page stayed single because a node had no room for its copy
};

// A program that goes on for longer than it was replayed, with automatic balancing (models/run/balanced_time.hpp).
struct BalancedTime {
  Time seconds, seconds_alone;           // with balancing, without
  std::uint64_t group = 0, repeats = 0;  // executions that repeat, and how often they were repeated
  std::uint64_t scans = 0, hinting_faults = 0, moved_pages = 0;
};

struct RunReport {
  Time time;
  Overheads overheads{};
  Time team_overhead{};             // forks, barriers and reductions, as if each held up the run
  std::size_t threads_at_once = 0;  // of those that the program creates, with its first one; 0: it creates none
  std::optional<BestPlacement> best;
  std::optional<Time> lower_bound;    // that no placement can beat, for the items that each thread ran (lower_bound.hpp)
  std::vector<RegionReport> regions;  // in the trace's order, regions that were executed
  std::vector<ThreadReport> threads;
  std::vector<CoreUse> cores;  // by core
  EventCounts counts;
  std::vector<std::uint64_t> pages_by_node;
  std::vector<SymbolPages> pages_by_symbol;  // most pages first; together pages_by_node
  std::uint64_t page_faults = 0;             // that placed a page
  std::uint64_t migrated_pages = 0;
  std::optional<Replication> replication;  // where the placement replicates
  std::uint64_t thread_moves = 0;          // of threads that had run, to another core
  std::uint64_t hinting_faults = 0;        // touches of pages that the placement unmapped to see them
  std::uint64_t huge_pages = 0;            // transparent ones that were placed, each a single fault
  std::uint64_t overflowed_pages = 0;      // that went to another node because the wanted one was full
  std::uint64_t remote_pages = 0;          // placed on another node than that of the thread that first wrote them
  std::vector<HandOut> log;                // only when asked for
  std::vector<PlacedPage> pages;           // in the order of placing, with the log only
  HeapReport heap;
  std::optional<BalancedTime> balanced;  // only when asked for
  // How the caches were modelled: "runs" (ranges of lines, LRU by stack distance) or "lines" (every set); the region that
  // decided it, empty if it was asked for, and how many lines its touches cover on average.
  std::string caches, caches_region;
  double caches_lines_per_touch = 0;
  std::string core = "classes";        // what core time came from: "blocks" of code, or "classes" of instructions
  RunOverTime over_time{};             // nothing with placement `optimal`, which is a bound
  std::shared_ptr<Timeline> timeline;  // only when asked for
};

}  // namespace homenode
