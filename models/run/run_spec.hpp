// A run as one value: what the user chooses (RunSpec), and beside it what is no choice (RunExtras). run_fields.hpp says of each choice
// what it means, which values it takes and who sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/system.hpp"
#include "sim/policy/page_placement.hpp"
#include "sim/report/report.hpp"

namespace homenode {

class CacheRecord;

struct RunSpec {
  unsigned threads = 1;
  std::string placement = "first-touch";  // models/placement
  std::string mapping = "compact";        // models/mapping
  std::string distribution = "static";    // models/distribution, by region if asked: "init@static:1 sweep@dynamic:4"
  std::string heap = "auto";              // models/heap, or heap_of() (run_plan.hpp)
  std::string engine = "flow";            // models/engines
  std::string stores = "machine";         // treatment of stores marked streamable
  std::string core = "auto";              // models/code
  std::string core_factors;               // models/code/core_factors.hpp
  std::string caches = "auto";            // models/caches/choose_caches.hpp
  std::string system = "auto";            // a name or a file; RunExtras::system is what it says; auto: nothing
  std::string pages = "4KiB";             // models/systems/page_sizes.hpp
  std::string energy = "default";         // a name or a file; the run itself does not depend on it
  std::uint64_t seed = 0;                 // of all that chance decides
  bool oversubscribe = false;             // more threads than cores
  bool warp = true;                       // jump over rounds that repeat: no result depends on it
  bool operator==(const RunSpec&) const = default;
};

struct RunExtras {
  std::optional<OperatingSystem> system{};       // none: the machine's own, or OperatingSystem{} (system_of)
  bool keep_log = false;                         // fill RunReport::log and RunReport::pages
  std::vector<HandOut> follow;                   // when not empty: hand out exactly this instead of `distribution`
  std::shared_ptr<PagePlacement> own_placement;  // a placement object instead of a name
  Bytes quantum{0};                              // 0: default_quantum(machine)
  // Runs of the same workload may share one: the first leaves in it what its slices did to the caches, and those of which the caches see
  // the same (what_caches_see) need not work it out again. It changes no report.
  std::shared_ptr<CacheRecord> record;
  // Run without the balancing of pages that `placement` has, and tell what it costs when the program goes on until it has taken so long.
  std::optional<Time> balanced_for{};
  unsigned host_threads = 1;        // of the run: no result depends on it
  std::size_t timeline_events = 0;  // 0: none; else RunReport::timeline, of at most so many events
};

// The operating system of a run: the one that was asked for, else the machine's own, else the default one.
OperatingSystem system_of(const Machine&, const RunExtras&);

// Throws UsageError for a name that RunSpec::stores does not take.
StoreTreatment store_treatment(const std::string& stores, const Machine&);

}  // namespace homenode
