#include "models/run/run_fields.hpp"

#include <algorithm>
#include <sstream>
#include <type_traits>

#include "models/caches/choose_caches.hpp"
#include "models/code/core_factors.hpp"
#include "models/code/core_model.hpp"
#include "models/engines/engines.hpp"
#include "models/heap/register.hpp"
#include "models/mapping/register.hpp"
#include "models/placement/optimal.hpp"
#include "models/placement/register.hpp"
#include "models/run/distribution_plan.hpp"
#include "models/systems/page_sizes.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

constexpr unsigned most_threads = 65'536;  // of one run: each has a state of its own, however many share a core

void check_placement(const std::string& text) {
  page_placements().make(text);
  if (is_optimal(text) && text.find('+') != std::string::npos)
    throw UsageError("placement '" + text + "': 'optimal' is a bound over placements whose pages stay where they are, and '" +
                     text.substr(text.find('+') + 1) + "' moves pages; allowed: optimal alone, or a modifier of another placement");
}

std::vector<std::string> store_treatments() { return {"machine", "regular", "nt"}; }

// clang-format off
std::vector<RunField> make_fields() {
  using enum SeenByCaches;
  return {
      {.name = "threads", .member = &RunSpec::threads, .sign = "N", .meaning = "Number of threads",
       .what = "{} threads", .range = "at least 1, at most 65536", .required = true, .axis = true, .report = 3, .seen_by_caches = yes, .closed_form = true},
      {.name = "placement", .member = &RunSpec::placement, .sign = "P", .meaning = "Page placement ('homenode policies placement')",
       .check = &check_placement, .axis = true, .report = 4, .closed_form = true},
      {.name = "mapping", .member = &RunSpec::mapping, .sign = "A", .meaning = "Thread mapping ('homenode policies mapping')",
       .check = [](const std::string& text) { thread_mappings().make(text); },
       .axis = true, .report = 5, .seen_by_caches = yes, .closed_form = true},
      {.name = "distribution", .member = &RunSpec::distribution, .sign = "D",
       .meaning = "Work distribution of all regions, or by region: 'init@static:1 sweep@guided'; program: as the source says",
       .check = [](const std::string& text) { DistributionPlan{text}; },
       .axis = true, .report = 6, .seen_by_caches = yes, .closed_form = true},
      {.name = "heap", .member = &RunSpec::heap, .sign = "H", .meaning = "Heap manager ('homenode policies heap'), or auto: glibc where the trace has heap calls",
       .check = [](const std::string& text) { if (text != RunSpec{}.heap) heap_managers().make(text); }, .axis = true, .report = 7, .seen_by_caches = yes},
      {.name = "engine", .member = &RunSpec::engine, .sign = "E", .meaning = "flow (fast), simgrid (reference for flow), line (every cache line, slow)",
       .names = &engine_names, .what = "engine", .report = 2},
      {.name = "stores", .member = &RunSpec::stores, .meaning = "Streamable stores: nt (non-temporal), regular, or as the machine does",
       .names = &store_treatments, .what = "treatment of stores", .report = 9, .seen_by_caches = yes, .closed_form = true},
      {.name = "core", .member = &RunSpec::core, .meaning = "Core time: blocks (LLVM-MCA on the code that ran), classes (the busiest class of instructions), auto (blocks where they are known)",
       .names = &core_model_names, .what = "core model", .closed_form = true},
      {.name = "core_factors", .member = &RunSpec::core_factors, .sign = "F", .meaning = "Factors on core time where the program was timed: what 'homenode anchor' prints",
       .check = [](const std::string& text) { core_factors(text); }, .closed_form = true},
      {.name = "caches", .member = &RunSpec::caches, .sign = "auto|runs|lines[:sample=N]",
       .meaning = "Cache model: runs (ranges of lines), lines (set by set; sample: one line in N), auto (by the trace)",
       .check = &check_caches, .seen_by_caches = yes},
      {.name = "system", .member = &RunSpec::system, .sign = "S", .meaning = "Operating system, a name or TOML file: 'homenode systems'; auto: the machine's own if it has one, else default",
       .report = 8, .closed_form = true},
      {.name = "pages", .member = &RunSpec::pages, .meaning = "Page size; thp: transparent huge pages; mthp-SIZE: of that size",
       .names = &page_size_names, .what = "page size", .report = 10, .seen_by_caches = yes, .closed_form = true},
      {.name = "energy", .member = &RunSpec::energy, .sign = "E", .meaning = "Energy model: a name or TOML file"},
      {.name = "seed", .member = &RunSpec::seed, .sign = "N", .meaning = "Seed of all random choices",
       .what = "seed {}", .range = "0 to 2^64-1", .report = 1, .seen_by_caches = by_lines, .closed_form = true},
      {.name = "oversubscribe", .member = &RunSpec::oversubscribe, .meaning = "Allow more threads than cores"},
      {.name = "warp", .member = &RunSpec::warp, .meaning = "Jump over rounds of static loops that repeat in the caches, which changes no result; --no-warp: follow each of them",
       .seen_by_caches = yes},
  };
}
// clang-format on

// What a placement or a mapping refuses of a machine, as far as it needs nothing of the program for that. Modifiers need the system.
void check_on(const RunSpec& spec, const Machine& machine) {
  const auto placement = page_placements().make(spec.placement.substr(0, spec.placement.find('+')));
  if (!placement->wants_summary()) placement->prepare(nullptr, machine);
  const auto mapping = thread_mappings().make(spec.mapping);
  if (!mapping->wants_graph()) mapping->prepare(nullptr, machine, spec.threads);
}

std::string text_of(const RunSpec& spec, const RunField& field) {
  return std::visit(
      [&](auto member) -> std::string {
        if constexpr (std::is_same_v<decltype(member), std::string RunSpec::*>)
          return spec.*member;
        else
          return std::to_string(spec.*member);
      },
      field.member);
}

}  // namespace

const std::vector<RunField>& run_fields() {
  static const std::vector<RunField> fields = make_fields();
  return fields;
}

std::string number_refused(const RunField& field, const std::string& value) {
  std::string text = field.what;
  return text.replace(text.find("{}"), 2, value) + "; allowed: " + field.range;
}

void check_values(const RunSpec& spec) {
  for (const RunField& field : run_fields()) {
    const std::string value = text_of(spec, field);
    if (field.member == RunField::Member{&RunSpec::threads} && (spec.threads < 1 || spec.threads > most_threads))
      throw UsageError(number_refused(field, value));
    if (field.names != nullptr) {
      const std::vector<std::string> names = field.names();
      if (std::find(names.begin(), names.end(), value) == names.end()) throw UsageError(unknown_name(field.what, value, names));
    }
    if (field.check != nullptr) field.check(value);
  }
}

void check(const RunSpec& spec, const Machine& machine, const std::vector<std::string>& labels, std::size_t threads_at_once,
           bool has_tasks) {
  check_values(spec);
  const std::size_t alive = threads_at_once == 0 ? spec.threads : threads_at_once;
  if (alive > machine.cores() && !spec.oversubscribe)
    throw UsageError(std::to_string(alive) + " threads " + (threads_at_once == 0 ? "" : "at once ") + "on the " +
                     std::to_string(machine.cores()) + " cores of '" + machine.name + "'; allowed: 1 to " +
                     std::to_string(machine.cores()) + ", or more with --oversubscribe (oversubscribe=True)");
  check_on(spec, machine);
  const DistributionPlan distributions{spec.distribution};
  distributions.check_labels(labels);
  if (!has_tasks) distributions.check_without_tasks();
}

std::string what_caches_see(const RunSpec& spec, bool by_lines) {
  std::string text;
  for (const RunField& field : run_fields()) {
    if (field.seen_by_caches == SeenByCaches::yes || (field.seen_by_caches == SeenByCaches::by_lines && by_lines))
      text += field.name + ' ' + text_of(spec, field) + "; ";
  }
  return text;
}

std::string what_caches_see(const Machine& machine) {
  std::ostringstream text;
  text << "streamable stores " << static_cast<int>(machine.streamable_stores) << "; " << machine.sockets << " sockets, nodes of cores";
  for (const NodeId node : machine.core_node) text << ' ' << node.value() << '/' << machine.socket_of(node).value();
  for (const CacheDescription& cache : machine.caches) {
    text << "; cache " << cache.level << ' ' << cache.size.count() << ' ' << cache.ways << ' ' << cache.line.count() << ' '
         << cache.cores_per_cache << ' ' << static_cast<int>(cache.inclusion) << ' ' << cache.slices << ' '
         << static_cast<int>(cache.victim) << ' ' << (cache.same_set.value_or(Time{}) > Time{}) << ' '
         << cache.snoop_filter.value_or(Bytes{}).count() << ' ' << cache.snoop_filter_ways;
  }
  text << "; misses " << machine.miss_buffers << ' ' << machine.prefetched_lines << ' ' << machine.prefetch_stride_limit.count() << ' '
       << machine.prefetch_trigger << ' ' << machine.prefetch_streams << ' ' << machine.overlap_accesses << "; translations "
       << machine.tlb.entries << ' ' << machine.tlb.large_entries << ' ' << machine.tlb.ways << ' ' << static_cast<int>(machine.tlb.index)
       << ' ' << machine.tlb.walks << ' ' << machine.tlb.first_entries << ' ' << machine.tlb.first_misses << "; snoop "
       << static_cast<int>(machine.snoop) << " overlap " << static_cast<int>(machine.overlap);
  return text.str();
}

OperatingSystem system_of(const Machine& machine, const RunExtras& extras) {
  if (extras.system) return *extras.system;
  return machine.system.value_or(OperatingSystem{});
}

StoreTreatment store_treatment(const std::string& stores, const Machine& machine) {
  if (stores == "machine") return machine.streamable_stores;
  if (stores == "regular") return StoreTreatment::regular;
  if (stores == "nt") return StoreTreatment::nontemporal;
  throw UsageError(unknown_name("treatment of stores", stores, store_treatments()));
}

}  // namespace homenode
