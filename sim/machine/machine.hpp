// A machine as the models see it: sockets, NUMA nodes, cores, caches, memory controllers, links. Plain data, validated
// by `validate`, read from TOML in models/machines (each number there has a source). Routes and path latencies: topology.hpp.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/machine/system.hpp"
#include "sim/machine/vector_width.hpp"

namespace homenode {

enum class Inclusion { inclusive, exclusive, non_inclusive };
// Which line of a full set leaves: the one whose last use is longest ago (LRU), or any of them with the same chance.
enum class Victim { oldest, random };
// How coherence finds a copy: the source asks every other socket, the home asks every other socket, or the home knows (directory,
// probe filter). Decides which messages the links carry.
enum class SnoopMode { source, home, directory };
// full: a slice takes max(core, memory); none: their sum (an in-order core that blocks).
enum class Overlap { full, none };
// Which set of a translation buffer of S sets holds page p: p mod S, or (p + p / S) mod S.
enum class TlbIndex { low, folded };
enum class StoreTreatment { regular, nontemporal };  // of stores that the trace marks streamable
// Whose clock a cache has: one of its own, which does not change; or that of its cores, which is faster while few of them are at work.
enum class CacheClock { own, core };
// Where a directory of lines that other sockets may have is kept: beside the caches, or in memory with each line, where a change of what it
// says is a write.
enum class DirectoryPlace { cache, memory };

struct CacheDescription {
  unsigned level = 1;
  Bytes size;
  unsigned ways = 8;
  Bytes line{64};
  unsigned cores_per_cache = 1;  // 1 = private; more = shared by that many consecutive cores of a socket
  Inclusion inclusion = Inclusion::inclusive;
  Time latency;                  // load-to-use of a hit, unloaded
  Bandwidth bandwidth_per_core;  // of lines delivered to one core; 0 = unlimited, only the latency counts
  unsigned slices = 1;           // hashed banks (exact cache model)
  Victim victim = Victim::oldest;
  CacheClock clock = CacheClock::own;  // core: latency and bandwidth are given at the base clock
  // Of a level behind the first: what a line from there takes a core where all of them go into one set of the first level, whose lines come
  // in one after the other. None: not known; no limit.
  std::optional<Time> same_set{};
  // Of the outermost level, if it need not have what the caches inside it have: a directory of the lines that these may hold, so many bytes
  // of lines to one outermost cache, in sets of so many ways, as many slices as the level has. A line that finds its set full drives the
  // one whose entry is oldest out of the caches inside. None: it never binds. The caches by lines follow it.
  std::optional<Bytes> snoop_filter{};
  unsigned snoop_filter_ways = 0;
  // Of one outermost cache with all of its cores (a chiplet): lines that come in from memory and from other caches, and lines that leave
  // for memory. Both or none.
  std::optional<Bandwidth> port_read{}, port_write{};
};

// With up to so many cores of a socket at work, these run at `clock`.
struct ClockStep {
  unsigned cores = 1;
  Frequency clock;
};

// Extra latency at a share of the controller's bandwidth in use (piecewise linear, from (0, 0)).
struct LoadedLatencyPoint {
  double utilisation = 0;
  Time extra;
};

struct ControllerDescription {
  NodeId node;
  Bandwidth read_only;   // real bytes moved, reads only
  Bandwidth one_to_one;  // real bytes moved, half reads, half writes
  std::vector<LoadedLatencyPoint> loaded_latency;
};

// DRAM behind each memory controller, for the engine `line`. Without a description: DDR3-1333, 9-9-9 (JESD79-3, assumed), three
// channels of two ranks of eight banks, read from common knowledge; batch and closing of rows are assumed.
struct DramDescription {
  unsigned channels = 3;  // of one controller
  unsigned banks = 16;    // of one channel, all ranks
  Time activate = Time::picoseconds(13500), precharge = Time::picoseconds(13500), column = Time::picoseconds(13500);
  Time row_cycle = Time::picoseconds(49500);          // between two activations of a bank
  Time row_closes_after = Time::picoseconds(200000);  // without use
  unsigned write_batch = 16;                          // lines of a channel
  // What the DIMMs' standard says beside these. Zero: not told, and what it takes is in the controller's measured bandwidths.
  unsigned ranks = 1;                       // of one channel, which have its banks in equal parts
  Time burst{};                             // of a line on a channel's data bus: line / (transfer rate x width)
  Time refresh_interval{}, refresh_time{};  // of a rank: tREFI, tRFC; none of its rows can be activated meanwhile
  Time four_activates{};                    // of a rank: tFAW, in which at most four rows are activated
  Time turn_around{};                       // of a channel's bus, from reads to a batch of writes and back
};

// Which directory or controller a line belongs to, by its physical address: in turn; by the parity of chosen bits; or scattered by a
// multiplicative hash. All spread lines evenly.
enum class AddressHash { modulo, parity, scattered };

// In which order devices sit on a ring: "interleaved" (controllers one by one between the cores), "paired" (two by two), "grouped" (all
// together), "shuffled" (a fixed permutation of all), or every stop by name, "c0+d0 c1+d1 m0": cores c, directories d, controllers m.
struct StopOrder {
  std::string text = "interleaved";
};

// A bidirectional ring that joins the cores, tag directories and controllers of one socket (Xeon Phi Knights Corner). Per direction a
// ring for lines, and rings for addresses and acknowledgements; each has one place a stop and moves them on by one stop in `hop`.
struct RingDescription {
  unsigned directories = 64;
  unsigned other_stops = 0;  // of other devices, spread evenly
  StopOrder order;
  AddressHash directory_hash = AddressHash::scattered, controller_hash = AddressHash::scattered;
  Time hop;
  unsigned data_rings = 1, address_rings = 2, acknowledge_rings = 2;  // of each direction
};

struct NodeDescription {
  SocketId socket;
  Bytes memory;
  Time latency;  // idle load-to-use from a core of this node; from the socket's first node for nodes without cores
  // In front of the node's memory, whoever asks (HBM in cache mode): direct-mapped, written back. Engines follow it where the rest is
  // described, too: what a hit takes (idle load-to-use from a core of this node) and what it delivers, real bytes. Then `latency` is that
  // of a line that it does not have.
  std::optional<Bytes> memory_side_cache{};
  std::optional<Time> memory_side_latency{};
  std::optional<Bandwidth> memory_side_read_only{}, memory_side_one_to_one{};
  std::vector<LoadedLatencyPoint> memory_side_loaded_latency{};  // of hits, as of a controller
  bool has_side_cache() const { return memory_side_latency.has_value(); }
  // Of a node without cores that a link of its own joins to its socket (CXL): raw, towards the cores and towards the memory. What the
  // link takes is a part of `latency`.
  std::optional<Bandwidth> link_read{}, link_write{};
};

// One physical link; both directions have this bandwidth each. An end is a socket or a hub: ids from `sockets` on are hubs.
struct LinkDescription {
  SocketId from, to;
  Bandwidth bandwidth;  // raw, per direction
  Time latency;         // what one hop adds to a round trip
};

// For core time: sustained instructions per cycle by class.
struct CoreThroughput {
  double issue = 4, integer = 3, fp_add = 1, fp_multiply = 1, fp_fma = 1, divide = 0.05, load = 1, store = 1, branch = 1;
  std::string llvm_cpu{};     // whose scheduling model times code on this core ("znver3"); "" = none, the classes above alone
  double block_time = 1;      // of code, over what that model says
  double misprediction = 15;  // cycles that a branch costs which was predicted wrong
  // By how much longer a unit of the core takes for the same work, on average, because others run on the core's second hardware thread, and
  // the front end for the same lines of code; 1: nobody does. Properties of a host and of an hour, for code that is timed by blocks.
  double smt_slowdown = 1, smt_fetch_slowdown = 1;
};

struct TlbDescription {
  unsigned entries = 0;
  unsigned large_entries = 0;  // of pages of 2 MiB; 0 = as many as of small ones
  Bytes page{4096};
  Time miss_penalty;
  // What a load's stream that a prefetcher follows loses at each page of `page` bytes that is not translated: the prefetcher does not walk,
  // and lines of page tables that are read once come from outer levels. None: not known; miss_penalty over the stream's outstanding lines.
  std::optional<Time> stream_walk{};
  unsigned ways = 0;  // of a set; 0 = not known, 4
  TlbIndex index = TlbIndex::low;
  double walks = 0;  // that a core has under way at a time for accesses that no prefetcher follows; 0 = not known, as many as misses
  // The first level, of small and large pages: what an access waits that finds its page in `entries` only, and for how many pages at a time
  // a core does; 0 entries: not described, 0 at a time: as many as misses.
  unsigned first_entries = 0;
  Time first_miss_penalty{};
  double first_misses = 0;
};

struct Machine {
  std::string name, description, hash;    // hash: of the canonical description, for provenance
  Frequency clock;                        // base: what is given in cycles is converted by it
  std::vector<ClockStep> clock_by_cores;  // ascending in cores; with more of them at work, and without a table: `clock`
  // The same for code of wide vectors, where that runs at a lower clock; perhaps below `clock`. With more cores at work: the clock of
  // narrower code, at most the last one here. Empty: the clock of narrower code.
  std::vector<ClockStep> clock_by_cores_256{}, clock_by_cores_512{};
  unsigned sockets = 1;
  unsigned hubs = 0;  // switches without cores and memory, numbered after the sockets as ends of links
  std::vector<NodeDescription> nodes;
  std::vector<NodeId> core_node;         // by core; cores are numbered node by node within a socket, socket by socket
  std::vector<CacheDescription> caches;  // by level, from 1
  std::vector<ControllerDescription> controllers;
  DramDescription dram;
  std::vector<LinkDescription> links;
  std::optional<RingDescription> ring;
  CoreThroughput core;
  Overlap overlap = Overlap::full;
  StoreTreatment streamable_stores = StoreTreatment::nontemporal;
  unsigned miss_buffers = 10;         // outstanding demand misses of one core (line-fill buffers)
  unsigned prefetched_lines = 16;     // outstanding lines of one core when a hardware prefetcher follows its streams
  Bytes prefetch_stride_limit{2048};  // largest stride a prefetcher follows
  unsigned prefetch_trigger = 2;      // lines of a stream that the core asks for before a prefetcher runs ahead
  // Streams of one core that its prefetchers follow at a time: of n more streams each is followed prefetch_streams / n of the time, and the
  // core asks for its lines otherwise. 0: not known; all are followed.
  unsigned prefetch_streams = 0;
  // Lines of non-temporal stores that a core has under way until memory has taken them, beside its outstanding misses. 0: as many as miss
  // buffers, which hold them on Intel's cores.
  unsigned write_combining_buffers = 0;
  // A loop may read streams again from a cache, as a stencil its earlier rows. Prefetchers follow these, too, and gain nothing. Beside two
  // or more of them, a line that a load gets from memory takes 1 + reread_slowdown times as long, and reread_serial of the shorter of
  // computing and the streams' lines from memory (0 to 1) comes on top.
  double reread_slowdown = 0, reread_serial = 0;
  unsigned overlap_accesses = 256;  // that a core has in hand: so far computing and transfers overlap
  double load_waits = 1;  // of the latency of loads that a core waits for (code_cycles.hpp), the share that adds to computing: 0 to 1
  // Of the time in which the first level takes in a line, at the pace of the level behind it (bandwidth_per_core), the share in which it
  // serves no load. 0: loads go on beside it. 1: lines and loads take turns, the part of the ECM model that does not overlap.
  double fill_serial = 0;
  // Of real bytes between one core and memory, whatever the others do: loads; a loop of regular stores (each line is read first, then
  // written back: both count); non-temporal stores. Where a description is silent, only latency and outstanding lines bound a core.
  std::optional<Bandwidth> read_bandwidth, write_bandwidth, nontemporal_bandwidth;
  SnoopMode snoop = SnoopMode::directory;
  DirectoryPlace directory_in = DirectoryPlace::cache;
  Bytes data_message{72}, request_message{8}, snoop_message{8}, response_message{8};
  Time between_nodes_of_socket;                  // added when a core reaches another node of its own socket (sub-NUMA clusters)
  Time core_to_core_local, core_to_core_remote;  // coherence miss (dirty remote hit): same socket, one hop away
  // The same between cores that share an outermost cache, where a socket has several of them. Without: as for the whole socket.
  std::optional<Time> core_to_core_shared_cache;
  Time fork_base, barrier_base;  // fork = base + b x signals of a tree (team_costs.hpp); barrier likewise
  double fork_log_factor = 1, barrier_log_factor = 1, reduction_log_factor = 1;
  TlbDescription tlb;
  std::optional<OperatingSystem> system;  // what the one that runs on it costs, where that was measured

  // Of cores of which so many of one socket are at work, on code of such vectors.
  Frequency clock_of(unsigned active, VectorWidth = VectorWidth::narrow) const;
  const std::vector<ClockStep>& clocks(VectorWidth width) const {
    return width == VectorWidth::narrow ? clock_by_cores : width == VectorWidth::bits_256 ? clock_by_cores_256 : clock_by_cores_512;
  }
  // Whatever code runs, and however many cores are at work.
  bool has_one_clock() const { return clock_by_cores.empty() && clock_by_cores_256.empty() && clock_by_cores_512.empty(); }
  bool has_side_caches() const {
    return std::any_of(nodes.begin(), nodes.end(), [](const NodeDescription& node) { return node.has_side_cache(); });
  }
  bool has_ports() const { return !caches.empty() && caches.back().port_read.value_or(Bandwidth{}).bytes_per_second() > 0; }
  unsigned streaming_lines() const { return write_combining_buffers > 0 ? write_combining_buffers : miss_buffers; }
  unsigned link_ends() const { return sockets + hubs; }
  std::string link_end_name(SocketId end) const;  // "2", or "hub 0" for the first hub
  unsigned cores() const { return static_cast<unsigned>(core_node.size()); }
  NodeId node_of(CoreId core) const { return core_node.at(core.index()); }
  SocketId socket_of(CoreId core) const { return nodes.at(node_of(core).index()).socket; }
  SocketId socket_of(NodeId node) const { return nodes.at(node.index()).socket; }
  // Which physical cache of `level` (index in `caches`) a core uses.
  CacheId cache_of(CoreId core, std::size_t level_index) const { return CacheId{core.index() / caches[level_index].cores_per_cache}; }
  bool share_outermost_cache(CoreId a, CoreId b) const {
    return !caches.empty() && cache_of(a, caches.size() - 1) == cache_of(b, caches.size() - 1);
  }
  Time core_to_core_nearest() const { return core_to_core_shared_cache.value_or(core_to_core_local); }
  // Of two cores; of two sockets, however many hops lie between (transfer_latency.hpp counts them).
  Time core_to_core(CoreId a, CoreId b) const {
    if (socket_of(a) != socket_of(b)) return core_to_core_remote;
    return share_outermost_cache(a, b) ? core_to_core_nearest() : core_to_core_local;
  }
};

// Throws InputError: sizes and latencies positive, every node reachable, ids in range, caches growing outwards.
void validate(const Machine&);

}  // namespace homenode
