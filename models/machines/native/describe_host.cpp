#include "models/machines/native/describe_host.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "models/machines/machine_fields.hpp"
#include "models/machines/native/core_limits.hpp"
#include "models/machines/native/describe_nodes.hpp"
#include "models/machines/native/describe_system.hpp"
#include "models/machines/native/describe_translation.hpp"
#include "models/machines/native/described_fields.hpp"
#include "models/machines/native/estimators.hpp"

#include "sim/machine/team_costs.hpp"

namespace homenode {
namespace {

using native::Kernel;
using native::Spread;

class Describer {
public:
  Describer(MachineFile detected, const HostFigures& host) : file_{std::move(detected)}, host_{host}, fields_{file_} {}

  MachineFile describe() {
    machine_.description = "detected by hwloc and measured by homenode calibrate";
    core();
    latencies();
    cache_sizes();
    memory_latency();
    describe_translation(fields_, host_);
    bandwidths();
    describe_nodes(fields_, file_, host_);
    dram_within_latency();
    describe_core_limits(fields_, file_, host_);
    composition();
    lines_beside_loads();
    streams_read_again();
    synchronisation();
    describe_system(fields_, file_, host_);
    keep_order();
    validate(machine_);
    machine_.hash = machine_hash(machine_);
    fields_.refresh();
    return std::move(file_);
  }

private:
  using Fields = DescribedFields;

  static std::string level_place(const CacheDescription& cache) { return "caches." + std::to_string(cache.level) + "."; }

  void core() {
    // Instructions and mispredictions are counted for less than a millisecond.
    const Spread clock = host_.of(figure::clock), at_once = host_.of(figure::short_clock), beside = at_once.passes > 0 ? at_once : clock;
    fields_.set(
        "clock", clock, [](double hertz) { return to_string(Frequency::hertz(std::round(hertz / 1e6) * 1e6)); },
        "one dependent addition a cycle" +
            (at_once.passes == 0 ? "" : ", for 10 ms; for 0.7 ms " + rounded(at_once.value / 1e9, 3) + " GHz"));
    for (const std::string kind : {"issue", "integer", "fp_add", "fp_multiply", "divide", "load", "store"}) {
      const Spread per_second = host_.of(figure::throughput(kind));
      if (per_second.passes == 0) continue;
      const Spread per_cycle = resting_on(mapped(per_second, [&](double rate) { return rate / beside.value; }), beside);
      fields_.set("core." + kind, per_cycle, Fields::number_text);
      if (kind == "fp_multiply") fields_.set("core.fp_fma", per_cycle, Fields::number_text, "as multiplications");
    }
    if (const Spread wrong = host_.of(figure::misprediction); wrong.passes > 0) {
      const Spread cycles = mapped(wrong, [&](double nanoseconds) { return nanoseconds * 1e-9 * beside.value; });
      fields_.set("core.misprediction", resting_on(cycles, beside), Fields::number_text,
                  "a branch on a random bit against one that is always taken, both on numbers that wait for each other");
    }
  }

  // Where neighbours leave so little of the last level that it did not always serve its set, half of that tells its latency: still twice
  // the level inside it.
  std::size_t last_level_set() const {
    const std::size_t set = host_.plan.level_sets.back(), half = set / 2;
    const std::size_t levels = machine_.caches.size();
    const Spread found = host_.of(figure::latency(set));
    const bool always = found.high <= 1.5 * found.low;
    if (always || levels < 2 || !host_.figures.has(figure::latency(half))) return set;
    return half < 2 * static_cast<std::size_t>(machine_.caches[levels - 2].size.count()) ? set : half;
  }

  // Where lines and loads take turns in the first level (core.fill_serial), one load a line shows more.
  Spread delivery(std::size_t index) const {
    const Spread all = host_.of(figure::delivery(index)), lines = host_.of(figure::composed(index, 0));
    const double line = static_cast<double>(machine_.caches[index].line.count());
    if (lines.passes == 0 || !(lines.value > 0) || line / lines.value * 1e9 <= all.value) return all;
    return mapped(lines, [&](double nanoseconds) { return line / nanoseconds * 1e9; });
  }

  void latencies() {
    for (std::size_t index = 0; index < machine_.caches.size(); ++index) {
      const std::size_t set = index + 1 == machine_.caches.size() ? last_level_set() : host_.plan.level_sets[index];
      fields_.set(level_place(machine_.caches[index]) + "latency", host_.of(figure::latency(set)), Fields::time_text,
                  "dependent loads over " + Fields::bytes_text(static_cast<double>(set)));
      if (index == 0) continue;  // hits of the first level are work of the core
      fields_.set(level_place(machine_.caches[index]) + "bandwidth_per_core", delivery(index), Fields::bandwidth_text,
                  "one thread reads " + Fields::bytes_text(static_cast<double>(host_.plan.level_sets[index])) +
                      " again and again, by four loads a line or by one, whichever is faster");
      if (host_.plan.same_set_lines[index - 1] == 0) continue;
      fields_.set(level_place(machine_.caches[index]) + "same_set", host_.of(figure::same_set(index)), Fields::time_text,
                  "independent loads over " + std::to_string(host_.plan.same_set_lines[index - 1]) + " lines, " +
                      Fields::bytes_text(static_cast<double>(host_.plan.set_period)) + " from one to the next");
    }
    fields_.set("core.miss_buffers", host_.of(figure::misses_in_flight), Fields::count_text,
                "latency over the time of an independent load");
  }

  // The least set that was measured of which the last level serves a small part: in larger ones translations take longer and longer.
  void memory_latency() {
    constexpr double parts = 16;
    const double served = machine_.caches.empty() ? 0 : static_cast<double>(machine_.caches.back().size.count());
    const std::size_t set = least_set(parts * served);
    fields_.set("nodes.latency", host_.of(figure::latency(set)), Fields::time_text,
                "dependent loads over " + Fields::bytes_text(static_cast<double>(set)));
  }

  // The least working set of so many bytes and more; that of memory, if it is smaller.
  std::size_t least_set(double bytes) const {
    std::size_t least = host_.plan.memory_set;
    for (const std::size_t set : host_.plan.working_sets)
      if (static_cast<double>(set) >= bytes) least = std::min(least, set);
    return least;
  }

  // Beside which set's latency hits of the last level show: it holds half of it at most. Where it is told to be large, a guest's
  // translations of a larger set take so much longer that every set below would seem to be served in part.
  std::size_t missed_set() const {
    const double told = static_cast<double>(machine_.caches.back().size.count());
    return least_set(std::max(1.75 * told, static_cast<double>(host_.plan.memory_set) / 4));
  }

  // The DIMMs are not known, their timings are assumed. What a read takes in them is a part of the latency that was measured: at most half.
  void dram_within_latency() {
    Time least = Time::max();
    for (const NodeDescription& node : machine_.nodes) least = std::min(least, node.latency);
    DramDescription& dram = machine_.dram;
    const double share = 0.5 * least.seconds() / (dram.activate + dram.column).seconds();
    if (share >= 1) return;
    for (Time* timing : {&dram.activate, &dram.column}) *timing = Time::from_seconds(timing->seconds() * share);
    for (const std::string timing : {"dram.activate", "dram.column"})
      fields_.add_note(timing,
                       "shortened: both together are assumed to be at most half the latency that was measured, " + to_string(least));
  }

  // Latencies by working set, from the level's own set on up to `most` bytes: medians, and the slowest and fastest passes.
  struct Curves {
    std::vector<native::LatencyPoint> median, slow, fast;
    Spread rests_on;
  };
  template <class Figure>
  Curves curves_of(const std::vector<std::size_t>& sets, std::size_t most, Figure&& figure) const {
    Curves curves;
    for (const std::size_t set : sets) {
      if (set < last_level_set() || set > most || !host_.figures.has(figure(set))) continue;
      const Spread latency = host_.of(figure(set));
      curves.rests_on = resting_on(curves.rests_on, latency);
      curves.median.push_back({static_cast<double>(set), latency.value});
      curves.slow.push_back({static_cast<double>(set), latency.high});
      curves.fast.push_back({static_cast<double>(set), latency.low});
    }
    return curves;
  }

  // What the last level serves of the sets up to the size that it is said to have: beyond that, latencies tell of translations.
  template <class Figure>
  Spread served_as_by(const std::vector<std::size_t>& sets, Figure&& figure, const Spread& hit, const Spread& memory) const {
    const Curves curves = curves_of(sets, static_cast<std::size_t>(machine_.caches.back().size.count()), figure);
    Spread served = resting_on(resting_on(hit, memory), curves.rests_on);
    served.value = native::served_bytes(curves.median, hit.value, memory.value);
    served.low = native::served_bytes(curves.slow, hit.value, memory.value);
    served.high = std::max(served.value, native::served_bytes(curves.fast, hit.value, memory.value));
    return served;
  }

  // Of loads that do not wait for each other. Neighbours fill the last level while a program is away from a line: these come back sooner
  // than dependent loads and find more, as most programs do.
  Spread served_independent() const {
    const std::vector<std::size_t>& sets = host_.plan.independent_sets;
    if (sets.size() < 2) return {};
    const Spread hit = host_.of(figure::independent(sets.front())), memory = host_.of(figure::independent(host_.plan.gathered_set));
    if (hit.passes == 0 || memory.passes == 0) return {};
    return served_as_by(
        sets, [](std::size_t set) { return figure::independent(set); }, hit, memory);
  }

  // A virtual machine is told of the whole last level and gets a share that changes with its neighbours.
  void cache_sizes() {
    if (machine_.caches.size() < 2) return;
    const CacheDescription& cache = machine_.caches.back();
    const double told = static_cast<double>(cache.size.count());
    const Spread hit = host_.of(figure::latency(last_level_set())), memory = host_.of(figure::latency(missed_set()));
    const auto of_chase = [](std::size_t set) { return figure::latency(set); };
    const Curves curves = curves_of(host_.plan.working_sets, host_.plan.memory_set, of_chase);
    const Spread dependent = served_as_by(host_.plan.working_sets, of_chase, hit, memory);
    Spread served = dependent;
    std::string how;
    if (const Spread independent = served_independent(); independent.value > 0) {
      how = "independent loads are served as by " + Fields::bytes_text(independent.value) + ", dependent ones as by " +
            Fields::bytes_text(dependent.value) + "; ";
      served = resting_on(independent, dependent);
      served.value = std::max(independent.value, dependent.value);
      served.low = std::min(independent.low, dependent.low);
      served.high = std::max(independent.high, dependent.high);
    }
    const double inner = static_cast<double>(machine_.caches[machine_.caches.size() - 2].size.count());
    const bool random = victims(curves.median, hit, memory);
    if (random) {  // what it keeps of sets around its size falls smoothly: the law knows where it ends
      const auto bytes_of = [&](const std::vector<native::LatencyPoint>& curve) { return laws_of(curve, hit, memory).random.bytes; };
      served.value = bytes_of(curves.median);
      std::tie(served.low, served.high) = std::minmax({served.value, bytes_of(curves.slow), bytes_of(curves.fast)});
    }
    const std::string path = level_place(cache) + "size";
    const std::string there = how + "loads are served as by " + Fields::bytes_text(served.value) +
                              (random ? " with random victims (" : " (") + Fields::bytes_text(served.low) + " to " +
                              Fields::bytes_text(served.high) + " by pass)";
    if (served.value <= inner || served.value > 0.75 * told) {
      fields_.add_note(path, "the size that hwloc tells is used; " + there);
      return;
    }
    if (served.low < 0.75 * served.high && served.unsettled.empty())
      served.unsettled =
          "between passes and kinds of loads it differed by a factor of " + rounded(served.high / std::max(served.low, 1.0), 1);
    const double set_bytes = static_cast<double>(cache.line.count() * cache.ways * cache.slices);
    const auto whole_sets = [&](double bytes) { return std::max(inner + set_bytes, std::floor(bytes / set_bytes) * set_bytes); };
    fields_.set(path, mapped(served, whole_sets), Fields::bytes_text,
                "what is really there is used; hwloc tells " + Fields::bytes_text(told) + "; " + there);
  }

  native::VictimLaws laws_of(const std::vector<native::LatencyPoint>& curve, const Spread& hit, const Spread& memory) const {
    const CacheDescription &last = machine_.caches.back(), &inside = machine_.caches[machine_.caches.size() - 2];
    const double besides = last.inclusion == Inclusion::inclusive ? 0 : static_cast<double>(inside.size.count());
    return native::victim_laws(curve, hit.value, memory.value, {static_cast<double>(last.size.count()), last.ways, besides});
  }

  // Which lines the last level gives up; whether by chance. Where no law fits, what was detected stays, and the note says so.
  bool victims(const std::vector<native::LatencyPoint>& curve, const Spread& hit, const Spread& memory) {
    const native::VictimLaws laws = laws_of(curve, hit, memory);
    const auto of = [](const char* name, const native::LawOfVictims& law) {
      return std::string{name} + " " + rounded(law.error, 2) + " with " + Fields::bytes_text(law.bytes);
    };
    Spread found = resting_on(hit, memory);
    for (const std::size_t set : host_.plan.working_sets)
      if (set >= last_level_set() && set <= host_.plan.memory_set) found = resting_on(found, host_.of(figure::latency(set)));
    const std::string note = "shares of hits beyond its size are off the laws by " + of("oldest", laws.oldest) + ", " +
                             of("random", laws.random) + ", " + of("the best choice", laws.best);
    if (!laws.is_random() && !laws.is_oldest() && found.unsettled.empty())
      found.unsettled = laws.shown ? "neither law fits" : "no working set showed both hits and misses";
    found.value = found.low = found.high = laws.is_random() ? 1 : 0;
    const std::string path = level_place(machine_.caches.back()) + "victim";
    fields_.set(
        path, found, [](double random) { return std::string{random > 0 ? "random" : "oldest"}; }, laws.shown ? note : "");
    fields_.without_bounds(path);
    return laws.is_random();
  }

  void bandwidths() {
    const std::size_t all = host_.plan.threads.back();
    const Spread core = one_core_reads(host_);
    Spread read = bandwidth_of(host_, Kernel::read, all);
    const double nodes = static_cast<double>(machine_.controllers.size());
    const auto share = [&](double value) { return value / nodes; };
    const bool saturated = read.value < 0.8 * core.value * static_cast<double>(all);
    std::string note = saturated || all == 1 ? "all cores together" : "all cores together, which do not saturate it: a lower bound";
    if (read.value < core.value * nodes) {
      read = core;
      note = "one core's over several streams: more than all cores together read over one each";
    }
    fields_.set("controllers.read_only", mapped(read, share), Fields::bandwidth_text, note);
    fields_.set("controllers.one_to_one", mapped(bandwidth_of(host_, Kernel::copy_nontemporal, all), share), Fields::bandwidth_text,
                "all cores together; copy with non-temporal stores");
    std::string by_streams;
    const double latency = machine_.nodes.front().latency.seconds(), line = static_cast<double>(machine_.caches.back().line.count());
    for (const unsigned number : host_.plan.streams)
      by_streams += (by_streams.empty() ? "" : ", ") + std::to_string(number) + ": " +
                    rounded(host_.of(figure::streams(number)).value * latency / line, 0);
    // Little's law: bytes in flight = bandwidth x latency. One load a line: those of whole lines fill the window of a core, which then asks
    // for fewer.
    fields_.set("core.prefetched_lines", mapped(host_.of(figure::streams(1)), [&](double bandwidth) { return bandwidth * latency / line; }),
                Fields::count_text,
                "bandwidth of one stream, one load a line, x latency / line; by streams read side by side " + by_streams);
    fields_.set("core.read_bandwidth", core, Fields::bandwidth_text,
                "the most that one core reads, over " + std::to_string(host_.plan.streams.front()) + " to " +
                    std::to_string(host_.plan.streams.back()) + " streams");
    fields_.set("core.write_bandwidth", host_.of(figure::bandwidth(Kernel::write_regular, 1)), Fields::bandwidth_text,
                "one core's regular stores; lines read for ownership and written back, together");
    fields_.set("core.nontemporal_bandwidth", host_.of(figure::bandwidth(Kernel::write_nontemporal, 1)), Fields::bandwidth_text,
                "one core's non-temporal stores");
  }

  // A line of eight loads in the first level and in the second one; a line more of the latter takes its delivery.
  void lines_beside_loads() {
    const Spread first = host_.of(figure::loads(0)), second = host_.of(figure::loads(1));
    if (first.passes == 0 || second.passes == 0 || machine_.caches.size() < 2) return;
    const double bandwidth = machine_.caches[1].bandwidth_per_core.bytes_per_second();
    if (!(bandwidth > 0)) return;
    const double line = 1e9 * static_cast<double>(machine_.caches[1].line.count()) / bandwidth;
    constexpr double beside = 0.05;  // longer than the longer of the two: less is not told from nothing
    const auto share = [&](double loads, double both) {
      return both <= (1 + beside) * std::max(loads, line) ? 0 : std::clamp((both - loads) / line, 0.0, 1.0);
    };
    Spread serial = resting_on(second, first);
    serial.value = share(first.value, second.value);
    serial.low = std::min(serial.value, share(first.high, second.low));
    serial.high = std::max(serial.value, share(first.low, second.high));
    const auto text = [](double value) { return value > 0 ? Fields::number_text(value) : std::string{"0"}; };
    fields_.set("core.fill_serial", serial, text,
                "eight loads of a line take " + rounded(first.value, 2) + " ns in the first level, " + rounded(second.value, 2) +
                    " from the second; one load a line " + rounded(line, 2));
  }

  // Which law predicts a loop best that computes beside its loads, over all levels but the first.
  void composition() {
    std::vector<native::ComposedPoint> all;
    std::string by_level;
    Spread doubt = host_.of(figure::composed(0, 0));
    for (std::size_t level = 1; level <= machine_.caches.size(); ++level) {
      std::vector<native::ComposedPoint> points;
      const Spread transfers = host_.of(figure::composed(level, 0));
      for (const unsigned cycles : host_.plan.composed_cycles) {
        if (cycles == 0) continue;
        const Spread measured = host_.of(figure::composed(level, cycles));
        points.push_back({host_.of(figure::composed(0, cycles)).value, transfers.value, measured.value});
        doubt = resting_on(doubt, measured);
      }
      const double theta = native::composition(points);
      by_level += (by_level.empty() ? "" : ", ") +
                  (level < machine_.caches.size() ? "level " + std::to_string(level + 1) : std::string{"memory"}) + " " + rounded(theta, 2);
      all.insert(all.end(), points.begin(), points.end());
    }
    if (all.empty() || host_.of(figure::clock).passes == 0) return;
    const double theta = native::composition(all);
    const bool blocks = theta > 0.5 && machine_.miss_buffers <= 1;  // `none` is a core that waits for each miss
    const std::string note = "of the shorter of computing and transfers comes on top: " + by_level + "; mean error as full " +
                             rounded(100 * native::composition_error(all, 0), 1) + " %, as none " +
                             rounded(100 * native::composition_error(all, 1), 1) + " %";
    doubt.value = doubt.low = doubt.high = blocks ? 1 : 0;
    fields_.set(
        "core.overlap", doubt, [](double none) { return std::string{none > 0 ? "none" : "full"}; }, note);
    fields_.without_bounds("core.overlap");
  }

  // One loop over a stream from memory and rows behind it, with and without additions; the same in a cache is its computing.
  void streams_read_again() {
    const Spread alone = host_.of(figure::reread("memory", 0, 0));
    if (alone.passes == 0) return;
    std::vector<native::RereadPoint> points;
    Spread doubt = alone;
    std::string by_streams;
    for (const unsigned streams : host_.plan.reread_streams) {
      double on_top = 0;
      for (const unsigned additions : host_.plan.reread_additions) {
        const Spread cache = host_.of(figure::reread("cache", streams, additions));
        const Spread memory = host_.of(figure::reread("memory", streams, additions));
        on_top += (memory.value - cache.value) / static_cast<double>(host_.plan.reread_additions.size());
        if (streams < 2) continue;
        doubt = resting_on(doubt, memory);
        points.push_back({cache.value, memory.value});
      }
      by_streams += (by_streams.empty() ? "" : ", ") + std::to_string(streams) + ": " + rounded(on_top, 1);
    }
    const native::RereadLaw found = native::reread(points, alone.value);
    const auto set = [&](const std::string& path, double value, double most, const std::string& note) {
      doubt.value = value;
      doubt.low = value / 2;
      doubt.high = std::min(most, 1.5 * value);
      fields_.set(path, doubt, Fields::number_text, note);
    };
    set("core.reread_slowdown", found.slowdown, std::numeric_limits<double>::infinity(),
        "alone " + rounded(alone.value, 1) + " ns a line; on top of a loop in a cache, by streams read again beside it, " + by_streams);
    set("core.reread_serial", found.serial, 1, "of the shorter of computing and lines from memory, beside two and four streams read again");
  }

  void synchronisation() {
    const std::size_t all = host_.plan.threads.back();
    if (all < 2) return;
    const Spread near = host_.of(figure::core_to_core_near), far = host_.of(figure::core_to_core_far);
    fields_.set("coherence.core_to_core_local", near, Fields::time_text, "half a round trip between the first two cores");
    fields_.set("coherence.core_to_core_remote", far, Fields::time_text, "half a round trip between the first and the last core");
    // cost = base + factor x the slowest signals of a tree's levels (team_costs.hpp); the factor is the tree's two ways.
    std::vector<CoreId> team;
    for (std::size_t core = 0; core < std::min<std::size_t>(all, machine_.cores()); ++core) team.emplace_back(core);
    const auto signal = [&](CoreId a, CoreId b) { return machine_.socket_of(a) == machine_.socket_of(b) ? near.value : far.value; };
    const double tree = 2 * tree_of_signals(team, signal);
    const Spread widest = resting_on(host_.of(figure::barrier(all)), near);
    fields_.set("threads.barrier_log_factor", {2, 2, 2}, Fields::number_text, "a tree's way up and down");
    fields_.set("threads.barrier_base", mapped(widest, [&](double total) { return total - tree; }), Fields::time_text,
                "a spinning barrier of " + std::to_string(all) + " threads less 2 x the core-to-core latencies of a tree's levels");
  }

  // Noise must not make an outer level faster than an inner one, nor writes free.
  void keep_order() {
    Time previous;
    for (CacheDescription& cache : machine_.caches) {
      cache.latency = std::max(cache.latency, previous + Time::picoseconds(1));
      previous = cache.latency;
    }
    for (NodeDescription& node : machine_.nodes) node.latency = std::max(node.latency, previous);
    machine_.core_to_core_local = std::max(machine_.core_to_core_local, Time::picoseconds(1));
    machine_.core_to_core_remote = std::max(machine_.core_to_core_remote, machine_.core_to_core_local);
    for (ControllerDescription& controller : machine_.controllers)
      controller.one_to_one = std::min(controller.one_to_one, Bandwidth::bytes_per_second(1.9 * controller.read_only.bytes_per_second()));
  }

  MachineFile file_;
  Machine& machine_ = file_.machine;
  const HostFigures& host_;
  DescribedFields fields_;
};

}  // namespace

Spread bandwidth_of(const HostFigures& host, Kernel kernel, std::size_t threads) {
  Spread most = host.of(figure::bandwidth(kernel, threads));
  for (const std::size_t fewer : host.plan.threads) {
    if (fewer >= threads) break;
    const Spread spread = host.of(figure::bandwidth(kernel, fewer));
    if (spread.value <= most.value) continue;
    most = spread;
    if (most.unsettled.empty())
      most.unsettled = std::to_string(threads) + " threads moved less together than " + std::to_string(fewer) + " alone, which counts";
  }
  return most;
}

Spread one_core_reads(const HostFigures& host) {
  Spread most = host.of(figure::bandwidth(Kernel::read, 1));
  for (const unsigned number : host.plan.streams)
    if (const Spread spread = host.of(figure::streams(number)); spread.value > most.value) most = spread;
  return most;
}

MachineFile describe_host(MachineFile detected, const HostFigures& host) { return Describer{std::move(detected), host}.describe(); }

}  // namespace homenode
