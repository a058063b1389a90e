#include "models/machines/native/calibrate.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <thread>

#include "models/machines/machine_fields.hpp"
#include "models/machines/native/detect.hpp"
#include "models/machines/native/host_load.hpp"

namespace homenode {
namespace {

using native::Kernel;
using native::Spread;

constexpr const char* measured_source = "measured on this host by homenode calibrate";

double of_memory(double share) { return share * static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)); }

std::size_t at_most(Bytes wish, double limit) { return static_cast<std::size_t>(std::min(static_cast<double>(wish.count()), limit)); }

// Through a function that rises or falls all the way.
Spread mapped(const Spread& spread, const std::function<double(double)>& function) {
  const auto [low, high] = std::minmax({function(spread.low), function(spread.high)});
  return {function(spread.value), low, high, function(spread.median), spread.disturbance};
}

// A figure that also rests on another one is no better than that.
Spread resting_on(Spread spread, const Spread& other) {
  if (spread.disturbance.empty()) spread.disturbance = other.disturbance;
  return spread;
}

class Calibrator {
public:
  explicit Calibrator(const CalibrationOptions& options) : options_{options}, cpus_{native::usable_cpus()} {
    result_.file = detect();
    options_.repeats = std::max(1u, options_.repeats);
  }

  HostCalibration run() {
    machine_.description = "detected by hwloc and measured by homenode calibrate";
    // On a thread of its own, so that the caller's affinity stays as it is.
    std::jthread{[this] {
      try {
        native::pin_this_thread(cpus_.front());
        core();
        latencies();
        translation();
      } catch (...) { failure_ = std::current_exception(); }
    }}.join();
    if (failure_) std::rethrow_exception(failure_);
    cache_bandwidths();
    bandwidths();
    synchronisation();
    keep_order();
    validate(machine_);
    machine_.hash = machine_hash(machine_);
    refresh_values();
    return std::move(result_);
  }

private:
  void step(const std::string& name) {
    if (options_.progress) options_.progress(name);
    step_ = name;
    at_step_ = native::usage_now();
  }

  // A figure of the step in hand, with what disturbed it.
  Spread judged(Spread spread) {
    spread.disturbance = native::disturbance(spread, native::usage_now() - at_step_);
    if (!spread.disturbance.empty()) result_.disturbances.push_back({step_, spread.disturbance});
    return spread;
  }

  // All fields of that name, "nodes.latency" for those of every node, become the measured value with its bounds.
  void set(const std::string& name, const Spread& spread, const std::function<std::string(double)>& text, const std::string& note = "") {
    for (const MachineField& field : fields_of(machine_)) {
      const auto first = field.name.find('.');
      const auto second = first == std::string::npos ? first : field.name.find('.', first + 1);
      const auto general = second == std::string::npos ? field.name : field.name.substr(0, first) + field.name.substr(second);
      if (field.name != name && general != name) continue;
      set_from_text(field, text(spread.low), machine_.clock);
      const std::string low = text_of(field);
      set_from_text(field, text(spread.high), machine_.clock);
      const std::string high = text_of(field);
      set_from_text(field, text(spread.value), machine_.clock);
      for (MachineParameter& parameter : result_.file.parameters)
        if (parameter.path == field.name)
          parameter = {.path = field.name,
                       .value = text_of(field),
                       .source = source_of(spread),
                       .confidence = spread.disturbance.empty() ? "A" : "C",
                       .assumed = false,
                       .low = low,
                       .high = high,
                       .note = note};
    }
  }

  static std::string source_of(const Spread& spread) {
    return spread.disturbance.empty() ? measured_source : std::string{measured_source} + " while " + spread.disturbance;
  }
  static std::string time_text(double nanoseconds) { return to_string(Time::nanoseconds(std::max(0.0, nanoseconds))); }
  static std::string bandwidth_text(double bytes_per_second) {
    return to_string(Bandwidth::bytes_per_second(std::round(std::max(1e6, bytes_per_second) / 1e6) * 1e6));
  }
  static std::string number_text(double value) { return std::to_string(std::max(1e-3, value)); }
  static std::string count_text(double value) { return std::to_string(static_cast<unsigned>(std::max(1.0, std::round(value)))); }

  void core() {
    step("clock");
    const Spread clock = judged(native::core_hertz(4 * options_.repeats));
    set(
        "clock", clock, [](double hertz) { return to_string(Frequency::hertz(std::round(hertz / 1e6) * 1e6)); },
        "one dependent addition a cycle");
    step("instructions a cycle");
    for (const native::Throughput& throughput : native::core_throughput(clock.value, 2 * options_.repeats)) {
      const Spread per_cycle = resting_on(judged(throughput.per_cycle), clock);
      set("core." + throughput.name, per_cycle, number_text);
      if (throughput.name == "fp_multiply") set("core.fp_fma", per_cycle, number_text, "as multiplications");
    }
  }

  Spread latency_at(std::size_t working_set) const {
    const auto found = std::find_if(result_.latency.begin(), result_.latency.end(), [&](const LatencyByWorkingSet& point) {
      return static_cast<std::size_t>(point.working_set.count()) >= working_set;
    });
    return found == result_.latency.end() ? result_.latency.back().nanoseconds : found->nanoseconds;
  }

  void latencies() {
    const std::size_t largest = std::bit_floor(at_most(options_.largest_working_set, of_memory(1.0 / 8)));
    const native::Buffer buffer{largest};
    for (std::size_t working_set = std::min<std::size_t>(8 << 10, largest); working_set <= largest; working_set *= 2) {
      const Bytes size{static_cast<std::int64_t>(working_set)};
      step("latency of " + to_string(size));
      result_.latency.push_back({size, judged(native::chase_nanoseconds(buffer, working_set, options_.repeats))});
    }
    for (std::size_t index = 0; index < machine_.caches.size(); ++index) {
      const CacheDescription& cache = machine_.caches[index];
      const std::size_t working_set = working_set_of_level(index);
      const std::string place = "caches." + std::to_string(cache.level) + ".";
      set(place + "latency", latency_at(working_set), time_text, "dependent loads over " + size_text(working_set));
    }
    const std::size_t memory_set = working_set_of_memory(largest);
    const Spread memory = latency_at(memory_set);
    set("nodes.latency", memory, time_text, "dependent loads over " + size_text(memory_set));

    step("independent loads");
    const Spread gather = resting_on(judged(native::gather_nanoseconds(buffer, memory_set, options_.repeats)), memory);
    set("core.miss_buffers", mapped(gather, [&](double nanoseconds) { return memory.value / nanoseconds; }), count_text,
        "latency over the time of an independent load");
  }

  static std::string size_text(std::size_t bytes) { return to_string(Bytes{static_cast<std::int64_t>(bytes)}); }

  // The largest that fills no more than half of the level. The last level may be a share of a large one: it is measured
  // where the level inside it is surely exceeded.
  std::size_t working_set_of_level(std::size_t index) const {
    const std::size_t half = std::bit_floor(static_cast<std::size_t>(machine_.caches[index].size.count()) / 2);
    if (index == 0 || index + 1 < machine_.caches.size()) return half;
    return std::min(half, std::bit_ceil(4 * static_cast<std::size_t>(machine_.caches[index - 1].size.count())));
  }

  // A virtual machine is told of the whole last level and gets a share that changes with its neighbours: what counts is how
  // far loads take less than twice a hit. Where that is less than half of what is told, it becomes the size, and the memory's
  // latency is taken at 16 times of it; else at the largest working set measured.
  std::size_t working_set_of_memory(std::size_t largest) {
    const std::size_t levels = machine_.caches.size();
    if (levels < 2) return largest;
    const CacheDescription& cache = machine_.caches.back();
    const std::int64_t told = cache.size.count(), inner = machine_.caches[levels - 2].size.count();
    const double hit = latency_at(working_set_of_level(levels - 1)).value;
    const double limit = std::min(2 * hit, (hit + result_.latency.back().nanoseconds.value) / 2);
    std::int64_t effective = 0;
    for (const LatencyByWorkingSet& point : result_.latency)
      if (point.nanoseconds.value < limit) effective = std::max(effective, point.working_set.count());
    const std::int64_t set_bytes = cache.line.count() * cache.ways * cache.slices;
    effective = effective / set_bytes * set_bytes;
    if (effective <= inner || 2 * effective > told) return largest;
    const std::string note = "hwloc reports " + to_string(cache.size) + "; beyond this working set loads take more than twice a hit";
    set(
        "caches." + std::to_string(cache.level) + ".size",
        {static_cast<double>(effective), static_cast<double>(effective), static_cast<double>(told)},
        [](double bytes) { return to_string(Bytes{static_cast<std::int64_t>(bytes)}); }, note);
    return std::min(largest, std::bit_ceil(16 * static_cast<std::size_t>(effective)));
  }

  void translation() {
    step("translation buffer");
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const native::TranslationBuffer buffer = native::translation_buffer(page, options_.repeats);
    if (buffer.entries == 0) return;
    const Spread penalty = judged(buffer.miss_nanoseconds);
    const double entries = buffer.entries;
    const double bytes = static_cast<double>(page);
    set("tlb.page", {bytes, bytes, bytes}, [](double size) { return to_string(Bytes{static_cast<std::int64_t>(size)}); });
    set("tlb.entries", {entries, entries, 2 * entries, entries, penalty.disturbance}, count_text, "to a power of two: the next one misses");
    set("tlb.miss_penalty", penalty, time_text, "one line a page against lines side by side");
  }

  // Of lines that one core streams out of each level but the first, whose hits are work of the core.
  void cache_bandwidths() {
    for (std::size_t index = 1; index < machine_.caches.size(); ++index) {
      const std::string place = "caches." + std::to_string(machine_.caches[index].level) + ".";
      const std::size_t working_set = working_set_of_level(index);
      step("bandwidth of cache level " + std::to_string(index + 1));
      set(place + "bandwidth_per_core", judged(native::bandwidth(Kernel::read, {cpus_.front()}, working_set, 4 * options_.repeats)),
          bandwidth_text, "one thread reads " + size_text(working_set) + " again and again");
    }
  }

  void bandwidths() {
    const std::size_t array = at_most(options_.array, of_memory(0.5) / 3 / static_cast<double>(cpus_.size()));
    Spread one_thread_read, read, one_to_one;
    for (const Kernel kernel : {Kernel::read, Kernel::copy_regular, Kernel::copy_nontemporal, Kernel::triad}) {
      for (std::size_t threads = 1; threads <= cpus_.size();
           threads = threads < cpus_.size() ? std::min(2 * threads, cpus_.size()) : threads + 1) {
        step("bandwidth: " + native::name_of(kernel) + ", " + std::to_string(threads) + " threads");
        const std::vector<unsigned> cpus(cpus_.begin(), cpus_.begin() + static_cast<std::ptrdiff_t>(threads));
        const Spread spread = judged(native::bandwidth(kernel, cpus, array, options_.repeats));
        result_.bandwidth.push_back({kernel, static_cast<unsigned>(threads), spread});
        if (kernel == Kernel::read && threads == 1) one_thread_read = spread;
        if (kernel == Kernel::read) read = spread;
        if (kernel == Kernel::copy_nontemporal) one_to_one = spread;
      }
    }
    const double nodes = static_cast<double>(machine_.controllers.size());
    const bool saturated = read.value < 0.8 * one_thread_read.value * static_cast<double>(cpus_.size());
    const std::string note = saturated || cpus_.size() == 1
                                 ? "all cores together"
                                 : "all cores together, which do not saturate it: a lower bound of what it could do";
    const auto share = [&](double value) { return value / nodes; };
    set("controllers.read_only", mapped(read, share), bandwidth_text, note);
    set("controllers.one_to_one", mapped(one_to_one, share), bandwidth_text, note + "; copy with non-temporal stores");
    // Little's law: bytes in flight = bandwidth x latency.
    const double latency = machine_.nodes.front().latency.seconds();
    const double line = static_cast<double>(machine_.caches.back().line.count());
    set("core.prefetched_lines", mapped(one_thread_read, [&](double bandwidth) { return bandwidth * latency / line; }), count_text,
        "one thread's read bandwidth x latency / line");
  }

  void synchronisation() {
    if (cpus_.size() < 2) return;
    step("core to core");
    const Spread pair = judged(native::core_to_core_nanoseconds(cpus_[0], cpus_[1], options_.repeats));
    set("coherence.core_to_core_local", pair, time_text, "half a round trip between the first two cores");
    const Spread far = cpus_.size() == 2 ? pair : judged(native::core_to_core_nanoseconds(cpus_.front(), cpus_.back(), options_.repeats));
    set("coherence.core_to_core_remote", far, time_text, "half a round trip between the first and the last core");
    for (std::size_t threads = 2; threads <= cpus_.size();
         threads = threads < cpus_.size() ? std::min(2 * threads, cpus_.size()) : threads + 1) {
      step("barrier, " + std::to_string(threads) + " threads");
      const std::vector<unsigned> cpus(cpus_.begin(), cpus_.begin() + static_cast<std::ptrdiff_t>(threads));
      result_.barriers.push_back({static_cast<unsigned>(threads), judged(native::barrier_nanoseconds(cpus, options_.repeats))});
    }
    // cost = base + factor x ceil(log2 threads) x core-to-core latency; the factor is the tree's two ways.
    const BarrierByThreads& widest = result_.barriers.back();
    const double levels = std::ceil(std::log2(static_cast<double>(widest.threads)));
    set("threads.barrier_log_factor", {2, 2, 2}, number_text, "a tree's way up and down");
    set("threads.barrier_base", mapped(resting_on(widest.nanoseconds, pair), [&](double total) { return total - 2 * levels * pair.value; }),
        time_text, "a spinning barrier of " + std::to_string(widest.threads) + " threads less 2 x levels x core-to-core latency");
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

  void refresh_values() {
    for (const MachineField& field : fields_of(machine_)) {
      for (MachineParameter& parameter : result_.file.parameters) {
        if (parameter.path != field.name || parameter.value == text_of(field)) continue;
        parameter.value = text_of(field);
        parameter.low.reset();  // put in order after the measurement: the bounds no longer hold it
        parameter.high.reset();
      }
    }
  }

  CalibrationOptions options_;
  std::vector<unsigned> cpus_;
  HostCalibration result_;
  Machine& machine_ = result_.file.machine;
  std::exception_ptr failure_;
  std::string step_;  // in hand
  native::Usage at_step_;
};

}  // namespace

HostCalibration calibrate(const CalibrationOptions& options) { return Calibrator{options}.run(); }

}  // namespace homenode
