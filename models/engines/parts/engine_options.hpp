// What a run asks of its timing engine, whichever it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/engines/parts/cache_record.hpp"
#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/machine/physical_memory.hpp"
#include "sim/machine/system.hpp"
#include "sim/program/code_cycles.hpp"
#include "sim/program/line_touches.hpp"

namespace homenode {

class PageDemand;
class Timeline;

struct EngineOptions {
  StoreTreatment stores = StoreTreatment::regular;  // of streamable stores
  OperatingSystem system{};
  Bytes page{4096};                   // as of the address space
  PageDemand* page_demand = nullptr;  // if there, it is told what each slice asks of its pages
  // To be filled, or read if it is: of the caches' part of `recorded` (cache_record.hpp). Not for transparent huge pages, nor where
  // pages move: there the caches' part depends on the placement.
  std::shared_ptr<CacheRecord> record;
  std::string recorded;
  bool fresh_pages = false;                       // as of FreshPages; else all of the program's memory was in use before
  std::vector<PageNumber> pages_in_use{};         // with fresh pages: of these there are none among them
  bool warp = true;                               // jump over rounds that repeat (repeated_rounds.hpp)
  std::size_t threads = 1;                        // of the team
  std::vector<CoreId> team{};                     // where each of them begins (core_clocks.hpp); empty: not told
  std::uint64_t seed = 0;                         // of frames: of caches that the engine makes itself, and of a ring's memory
  std::optional<PhysicalMemory> physical_memory;  // of a ring; else its frames are drawn by the seed
  std::shared_ptr<const CodeCycles> code;         // of the program's regions; null: its instructions count by classes
  Timeline* timeline = nullptr;                   // told what is used when
};

}  // namespace homenode
