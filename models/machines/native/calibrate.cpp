#include "models/machines/native/calibrate.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "models/machines/native/describe_host.hpp"
#include "models/machines/native/detect.hpp"
#include "models/machines/native/estimators.hpp"
#include "models/machines/native/measure_system.hpp"
#include "models/machines/native/measure_tasks.hpp"
#include "models/machines/native/other_thread.hpp"

namespace homenode {
namespace {

using native::Kernel;
using Found = native::MeasuringStep::Found;
using native::Kind;

double memory_of_host() { return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)); }

std::string size_text(std::size_t bytes) { return to_string(Bytes{static_cast<std::int64_t>(bytes)}); }

class Steps {
public:
  Steps(const CalibrationPlan& plan, std::vector<unsigned> cpus, unsigned repeats, const DetectedHost& host)
      : plan_{plan}, cpus_{std::move(cpus)}, repeats_{repeats}, levels_{host.file.machine.caches.size()}, host_{host} {}

  std::vector<native::MeasuringStep> all() {
    core();
    other_thread();
    latencies();
    translation();
    bandwidths();
    nodes();
    composition();
    lines_of_one_set();
    streams_read_again();
    synchronisation();
    system();
    return std::move(steps_);
  }

private:
  // On the first CPU; or wherever `measure` puts its threads.
  void pinned(const std::string& name, std::function<void(const Found&)> measure) {
    steps_.push_back(
        {name,
         [cpu = cpus_.front(), measure = std::move(measure)](const Found& found) { native::on_cpu(cpu, [&] { measure(found); }); },
         false,
         {cpus_.front()}});
  }
  void spread_out(const std::string& name, std::function<void(const Found&)> measure, bool switches = false,
                  std::vector<unsigned> cpus = {}) {
    steps_.push_back({name, std::move(measure), switches, std::move(cpus)});
  }
  std::vector<unsigned> first_cpus(std::size_t number) const {
    return {cpus_.begin(), cpus_.begin() + static_cast<std::ptrdiff_t>(number)};
  }

  void core() {
    pinned("clock and instructions a cycle", [r = repeats_](const Found& found) {
      found(figure::clock, native::core_hertz(native::additions_of_long_samples, 10 * r).value, Kind::rate);
      found(figure::short_clock, native::core_hertz(native::additions_of_short_samples, 10 * r).value, Kind::rate);
      for (const native::Throughput& kind : native::core_throughput(10 * r))
        found(figure::throughput(kind.name), kind.per_second.value, Kind::rate);
      if (const double wrong = native::misprediction_nanoseconds(10 * r); wrong > 0) found(figure::misprediction, wrong, Kind::time);
    });
  }

  void other_thread() {
    pinned("what others leave of a core", [r = repeats_](const Found& found) {
      for (const native::UnitTime& time : native::unit_times(20 * r)) {
        found(figure::unit_mean(time.kind), time.mean, Kind::other);
        found(figure::unit_least(time.kind), time.least, Kind::time);
      }
    });
    steps_.back().of_others = true;
  }

  void latencies() {
    pinned("latency of " + size_text(plan_.working_sets.front()) + " to " + size_text(plan_.working_sets.back()),
           [this_plan = plan_, r = repeats_](const Found& found) {
             const native::Buffer buffer{this_plan.working_sets.back()};
             for (const std::size_t set : this_plan.working_sets)
               found(figure::latency(set), native::chase_nanoseconds(buffer, set, r).value, Kind::time);
             // Right after each other: what slows both down drops out of the ratio.
             const double waiting = native::chase_nanoseconds(buffer, this_plan.gathered_set, r).value;
             const double independent = native::gather_nanoseconds(buffer, this_plan.gathered_set, r).value;
             found(figure::misses_in_flight, waiting / independent, Kind::other);
             if (this_plan.independent_sets.empty()) return;
             found(figure::independent(this_plan.gathered_set), independent, Kind::time);
             for (const std::size_t set : this_plan.independent_sets)
               if (set < this_plan.gathered_set)
                 found(figure::independent(set), native::gather_nanoseconds(buffer, set, r).value, Kind::time);
           });
  }

  void translation() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto known = std::make_shared<native::TranslationBuffer>();  // by the last pass
    pinned("translation buffer", [page, known, r = repeats_, sets = plan_.walked_sets, array = plan_.array](const Found& found) {
      const native::TranslationBuffer buffer = native::translation_buffer(page, r);
      *known = buffer;
      found("tlb/page", static_cast<double>(page), Kind::other);
      found(figure::tlb_entries, buffer.entries, Kind::other);
      if (buffer.entries > 0) {
        found(figure::tlb_miss, buffer.miss_nanoseconds.value, Kind::time);
        if (buffer.independent_nanoseconds > 0) found(figure::tlb_independent, buffer.independent_nanoseconds, Kind::time);
        if (buffer.first_entries > 0) {
          found(figure::tlb_first, buffer.first_entries, Kind::other);
          found(figure::tlb_first_miss, buffer.first_nanoseconds, Kind::time);
          found(figure::tlb_first_independent, buffer.first_independent_nanoseconds, Kind::time);
        }
        // Whoever shares the core takes places from a set, and gives none.
        const native::TranslationSets divided = native::translation_sets(page, buffer.entries, 2 * r);
        if (divided.ways > 0) {
          found(figure::tlb_ways, divided.ways, Kind::rate);
          found(figure::tlb_sets, divided.sets, Kind::other);
          found(figure::tlb_folded, divided.folded ? 1 : 0, Kind::other);
        }
      }
      found(figure::stream_walk, native::stream_walk_nanoseconds(array, page, r), Kind::other);
      for (const std::size_t set : sets) found(figure::walk(set), native::page_walk_nanoseconds(set, r), Kind::other);
    });
    pinned("what others leave of translations", [page, known, r = repeats_](const Found& found) {
      if (known->entries > 0) found(figure::tlb_reach, native::reached_pages(page, *known, 2 * r), Kind::other);
    });
    steps_.back().of_others = true;
  }

  void bandwidths() {
    for (std::size_t level = 1; level < levels_; ++level) {
      spread_out("bandwidth of cache level " + std::to_string(level + 1),
                 [level, cpu = cpus_.front(), set = plan_.level_sets[level], r = repeats_](const Found& found) {
                   found(figure::delivery(level), native::bandwidth(Kernel::read, {cpu}, set, 4 * r).value, Kind::rate);
                 },
                 false, {cpus_.front()});
    }
    for (const Kernel kernel : {Kernel::read, Kernel::copy_regular, Kernel::copy_nontemporal, Kernel::triad, Kernel::write_regular,
                                Kernel::write_nontemporal, Kernel::update}) {
      for (const std::size_t threads : plan_.threads) {
        const bool of_one = kernel == Kernel::write_regular || kernel == Kernel::write_nontemporal || kernel == Kernel::update;
        if (of_one && threads > 1) continue;
        spread_out(
            "bandwidth: " + native::name_of(kernel) + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
            [kernel, threads, cpus = first_cpus(threads), array = plan_.array, r = repeats_](const Found& found) {
              found(figure::bandwidth(kernel, threads), native::bandwidth(kernel, cpus, array, r).value, Kind::rate);
            },
            false, first_cpus(threads));
      }
    }
    pinned("streams of one core", [this_plan = plan_, r = repeats_](const Found& found) {
      constexpr std::size_t loads = std::size_t{1} << 20;  // some milliseconds
      const native::Buffer buffer{this_plan.array};
      for (const unsigned number : this_plan.streams)
        found(figure::streams(number), native::stream_bandwidth(number, buffer, r), Kind::rate);
      for (const std::size_t stride : this_plan.strides)
        found(figure::strided(stride), native::strided_nanoseconds(buffer, stride, loads, r), Kind::time);
      found(figure::run, native::run_nanoseconds(buffer, this_plan.run_lines, loads, r), Kind::time);
    });
  }

  // What each node's memory takes for cores of each node, and what each socket reads of another one's.
  void nodes() {
    const Machine& machine = host_.file.machine;
    if (machine.nodes.size() < 2) return;
    std::map<std::size_t, std::vector<unsigned>> cpus_of_node, cpus_of_socket;
    std::map<std::size_t, std::vector<unsigned>> nodes_of_socket;
    for (std::size_t core = 0; core < host_.cpus.size(); ++core) {
      cpus_of_node[machine.core_node[core].index()].push_back(host_.cpus[core]);
      cpus_of_socket[machine.socket_of(machine.core_node[core]).index()].push_back(host_.cpus[core]);
    }
    for (std::size_t node = 0; node < machine.nodes.size(); ++node)
      if (cpus_of_node.contains(node)) nodes_of_socket[machine.socket_of(NodeId{node}).index()].push_back(host_.nodes[node]);
    for (std::size_t to = 0; to < machine.nodes.size(); ++to) {
      spread_out("latency of node " + std::to_string(to) + " from each node",
                 [to, cpus_of_node, node = host_.nodes[to], set = plan_.memory_set, r = repeats_](const Found& found) {
                   const native::Buffer buffer{set, native::Buffer::Pages::huge, node};
                   for (const auto& [from, cpus] : cpus_of_node)
                     native::on_cpu(cpus.front(), [&, this_from = from] {
                       found(figure::node_latency(this_from, to), native::chase_nanoseconds(buffer, set, r).value, Kind::time);
                     });
                 });
    }
    for (const auto& [from, cpus] : cpus_of_socket) {
      for (const auto& [to, numbers] : nodes_of_socket) {
        if (from == to) continue;
        spread_out(
            "bandwidth of socket " + std::to_string(to) + " from socket " + std::to_string(from),
            [this_from = from, this_to = to, this_cpus = cpus, this_numbers = numbers, array = plan_.array,
             r = repeats_](const Found& found) {
              found(figure::socket_bandwidth(this_from, this_to), native::bandwidth_from_nodes(this_cpus, this_numbers, array, r).value,
                    Kind::rate);
            },
            false, cpus);
      }
    }
  }

  void composition() {
    pinned("computing beside transfers", [this_plan = plan_, levels = levels_, r = repeats_](const Found& found) {
      const native::Buffer buffer{std::min(this_plan.memory_set, this_plan.array)};
      std::size_t at = 0;
      for (std::size_t level = 0; level <= levels; ++level) {
        const std::size_t set = level < levels ? this_plan.level_sets[level] : buffer.size();
        for (const unsigned cycles : this_plan.composed_cycles)
          found(figure::composed(level, cycles), native::composed_nanoseconds(buffer, set, cycles, 2 * r, at), Kind::time);
      }
      if (levels < 2) return;
      for (const std::size_t level : {0, 1})
        found(figure::loads(level), native::loads_nanoseconds(buffer, this_plan.level_sets[level], 2 * r), Kind::time);
    });
  }

  void lines_of_one_set() {
    if (levels_ < 2) return;
    pinned("lines of one set of the first level", [this_plan = plan_, r = repeats_](const Found& found) {
      for (std::size_t level = 1; level <= this_plan.same_set_lines.size(); ++level) {
        const std::size_t lines = this_plan.same_set_lines[level - 1];
        if (lines == 0) continue;
        const native::Buffer buffer{lines * this_plan.set_period};
        found(figure::same_set(level), native::same_set_nanoseconds(buffer, lines, this_plan.set_period, 4 * r), Kind::time);
      }
    });
  }

  void streams_read_again() {
    if (levels_ < 2) return;
    pinned("streams read again", [this_plan = plan_, r = repeats_](const Found& found) {
      const native::Buffer buffer{std::min(this_plan.memory_set, this_plan.array)};
      std::size_t at = 0;
      for (const unsigned streams : this_plan.reread_streams) {
        for (const unsigned additions : this_plan.reread_additions) {
          const native::Reread loop{streams, additions};
          found(figure::reread("cache", streams, additions), native::reread_nanoseconds(buffer, this_plan.level_sets[1], loop, 2 * r, at),
                Kind::time);
          found(figure::reread("memory", streams, additions), native::reread_nanoseconds(buffer, buffer.size(), loop, 2 * r, at),
                Kind::time);
        }
      }
    });
  }

  void synchronisation() {
    if (cpus_.size() < 2) return;
    spread_out("core to core", [cpus = cpus_, r = repeats_](const Found& found) {
      const double near = native::core_to_core_nanoseconds(cpus[0], cpus[1], 20 * r).value;
      found(figure::core_to_core_near, near, Kind::time);
      found(figure::core_to_core_far, cpus.size() == 2 ? near : native::core_to_core_nanoseconds(cpus.front(), cpus.back(), 20 * r).value,
            Kind::time);
    });
    for (const std::size_t threads : plan_.threads) {
      if (threads < 2) continue;
      spread_out(
          "barrier, " + std::to_string(threads) + " threads",
          [threads, cpus = first_cpus(threads), r = repeats_](const Found& found) {
            found(figure::barrier(threads), native::barrier_nanoseconds(cpus, 20 * r).value, Kind::time);
          },
          false, first_cpus(threads));
    }
  }

  void system() {
    pinned("page faults, mappings, system calls", [warm = plan_.warm_memory, cold = plan_.cold_memory](const Found& found) {
      found(figure::fault, native::fault_nanoseconds(native::FirstAccess::write, warm), Kind::time);
      found(figure::read_fault, native::fault_nanoseconds(native::FirstAccess::read, warm), Kind::time);
      found(figure::rewrite_fault, native::fault_nanoseconds(native::FirstAccess::rewrite, warm), Kind::time);
      if (cold.many > cold.few) found(figure::cold_fault, native::fault_nanoseconds(native::FirstAccess::write, cold), Kind::time);
      found(figure::fresh_line, native::fresh_line_nanoseconds(warm.many), Kind::time);
      if (const auto huge = native::huge_fault_nanoseconds()) found(figure::huge_fault, *huge, Kind::time);
      found(figure::map, native::map_nanoseconds(), Kind::time);
      found(figure::unmap_page, native::unmap_page_nanoseconds(), Kind::time);
      found(figure::system_call, native::system_call_nanoseconds(), Kind::time);
    });
    pinned("tasks of OpenMP", [r = repeats_](const Found& found) {
      const auto task = native::task_nanoseconds(100 * r);
      if (!task) return;
      found(figure::task_call, task->call, Kind::time);
      found(figure::task_create, task->create, Kind::time);
      found(figure::task_take, task->take, Kind::time);
    });
    // These switch threads themselves: it is no sign of others.
    spread_out("context switch, threads",
               [cpu = cpus_.front()](const Found& found) {
                 found(figure::context_switch, native::context_switch_nanoseconds(cpu), Kind::time);
                 found(figure::thread, native::thread_nanoseconds(), Kind::time);
               },
               true, {cpus_.front()});
    if (cpus_.size() < 2) return;
    // Twice the level inside the last for each of many: frames that its CPU does not hold, as for the fault alone.
    const std::size_t bytes = plan_.warm_memory.many * std::max<std::size_t>(1, cpus_.size() / 4);
    spread_out("page faults on all CPUs at once", [cpus = cpus_, bytes](const Found& found) {
      found(figure::contended_fault, native::contended_fault_nanoseconds(cpus, bytes), Kind::other);
    });
    spread_out(
        "wake-up",
        [first = cpus_[0], second = cpus_[1], idle = plan_.idle_microseconds](const Found& found) {
          for (const double microseconds : idle)
            found(figure::wakeup(microseconds), native::wakeup_nanoseconds(first, second, microseconds), Kind::time);
        },
        true);
  }

  const CalibrationPlan& plan_;
  std::vector<unsigned> cpus_;
  unsigned repeats_;
  std::size_t levels_;
  const DetectedHost& host_;
  std::vector<native::MeasuringStep> steps_;
};

// Which of the CPUs add nothing of their own, by throughput.
native::Figures measure_sharing(const std::vector<unsigned>& cpus, const CalibrationOptions& options,
                                const native::MeasuringEnvironment& environment) {
  std::vector<native::MeasuringStep> steps;
  for (std::size_t second = 1; second < cpus.size(); ++second) {
    steps.push_back({"whether two CPUs share a core",
                     [&cpus, second, r = options.repeats](const Found& found) {
                       found(figure::sharing(second), native::sharing_slowdown(cpus[second - 1], cpus[second], r), Kind::other);
                     },
                     false,
                     {cpus[second - 1], cpus[second]}});
  }
  return native::measure_in_passes(steps, options.settling, environment);
}

void list_figures(const native::Figures& figures, const native::SettlingLimits& limits, HostCalibration& result) {
  for (const std::string& name : figures.names()) {
    const native::Spread spread = figures.of(name, limits);
    result.figures.push_back({name, spread});
    if (!spread.disturbance.empty())
      result.disturbances.push_back({name, spread.disturbance});
    else if (!spread.unsettled.empty())
      result.unsettled.push_back({name, spread.unsettled});
  }
}

void list_tables(const HostFigures& host, HostCalibration& result) {
  for (const std::size_t set : host.plan.working_sets)
    result.latency.push_back({Bytes{static_cast<std::int64_t>(set)}, host.of(figure::latency(set))});
  for (const Kernel kernel : {Kernel::read, Kernel::copy_regular, Kernel::copy_nontemporal, Kernel::triad, Kernel::write_regular,
                              Kernel::write_nontemporal, Kernel::update})
    for (const std::size_t threads : host.plan.threads)
      if (host.figures.has(figure::bandwidth(kernel, threads)))
        result.bandwidth.push_back({kernel, static_cast<unsigned>(threads), bandwidth_of(host, kernel, threads)});
  for (const std::size_t threads : host.plan.threads)
    if (host.figures.has(figure::barrier(threads)))
      result.barriers.push_back({static_cast<unsigned>(threads), host.of(figure::barrier(threads))});
}

}  // namespace

HostCalibration calibrate(const CalibrationOptions& given) {
  CalibrationOptions options = given;
  options.repeats = std::max(1u, options.repeats);
  HostCalibration result;
  std::vector<unsigned> cpus = native::usable_cpus();
  native::MeasuringEnvironment environment{options.progress};
  environment.others = [&cpus](const native::MeasuringStep& step) {
    const std::vector<unsigned>& used = step.cpus.empty() ? cpus : step.cpus;
    return native::other_thread_share(used, std::max(50u, 1000 / static_cast<unsigned>(used.size())));
  };
  environment.pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds{20}); };
  const native::Figures sharing = measure_sharing(cpus, options, environment);
  for (std::size_t second = 1; second < cpus.size(); ++second) {
    // On a busy host each CPU does half of its work: that says nothing against what the system says.
    const bool trusted = sharing.settled(figure::sharing(second), options.settling);
    if (trusted && native::sharing(sharing.of(figure::sharing(second), options.settling).value) == native::Sharing::one_core)
      result.cpus_sharing_cores.push_back(cpus[second]);
  }
  std::erase_if(cpus, [&](unsigned cpu) {
    return std::find(result.cpus_sharing_cores.begin(), result.cpus_sharing_cores.end(), cpu) != result.cpus_sharing_cores.end();
  });
  DetectedHost detected = detect_host(result.cpus_sharing_cores);
  const CalibrationPlan plan = calibration_plan(detected.file.machine, options, memory_of_host(), cpus.size());
  const native::Figures figures =
      native::measure_in_passes(Steps{plan, cpus, options.repeats, detected}.all(), options.settling, environment);
  const HostFigures host{figures, plan, options.settling};
  result.cpus = detected.cpus;
  result.nodes = detected.nodes;
  result.file = describe_host(std::move(detected.file), host);
  list_figures(sharing, options.settling, result);
  list_figures(figures, options.settling, result);
  list_tables(host, result);
  return result;
}

}  // namespace homenode
