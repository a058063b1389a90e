// One run, everything chosen by name: what `homenode replay` and hn.replay call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/engines/engines.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/system.hpp"
#include "sim/policy/page_placement.hpp"
#include "sim/program/workload.hpp"
#include "sim/report/report.hpp"

namespace homenode {

struct RunOptions {
  unsigned threads = 1;
  std::string engine = "flow";            // flow | simgrid | line
  std::string placement = "first-touch";  // models/placement
  std::string mapping = "compact";        // models/mapping
  std::string distribution = "static";    // models/distribution, by region if asked: "init@static:1 sweep@dynamic:4"
  std::string heap = "plain";             // models/heap
  std::string stores = "machine";         // machine | regular | nt: treatment of stores marked streamable
  std::string caches = "auto";            // auto | runs | lines: models/caches/choose_caches.hpp
  std::uint64_t seed = 0;                 // page frames of the caches by lines
  bool oversubscribe = false;
  bool keep_log = false;                         // fill RunReport::log
  std::vector<HandOut> follow;                   // when not empty: hand out exactly this instead of `distribution`
  std::shared_ptr<PagePlacement> own_placement;  // a placement object instead of a name (Python policies)
  OperatingSystem system{};                      // models/systems
  std::string pages = "4KiB";                    // models/systems/page_sizes.hpp
  Bytes quantum{0};                              // 0: default_quantum(machine)
  // Runs of the same workload may share one: the first leaves in it what its slices did to the caches, and those that differ from it only
  // where the caches do not notice (placement, system, engine, latencies and bandwidths of the machine) need not work it out again. It
  // changes no report.
  std::shared_ptr<CacheRecord> record;
  std::size_t timeline_events = 0;  // 0: none; else RunReport::timeline, of at most so many events
};

// Throws UsageError before anything runs when a name, a parameter or a region label is unknown, or threads do not fit.
RunReport run(const Workload&, const Machine&, const RunOptions&);

}  // namespace homenode
