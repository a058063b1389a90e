#include "models/engines/staged/slice_demand.hpp"

namespace homenode {

void SliceDemand::add_remembered(const CacheOutcome& outcome, NodeId reader, const AddressSpace& addresses, MemorySide& side) {
  const auto meet = [&](const MemorySide::Met& met) -> HomeDemand& {
    HomeDemand& demand = of(met.home);
    demand.fills += met.fills;
    demand.victims += met.victims;
    demand.noted += met.directory;
    return demand;
  };
  for (const MissRange& miss : outcome.reads)
    side.read(miss.lines, reader, addresses, [&](const MemorySide::Met& met) {
      HomeDemand& demand = meet(met);
      demand.reads += met.lines;
      demand.hits += met.hits;
      demand.read_weight += static_cast<double>(met.lines) / miss.parallelism;
      demand.hit_weight += static_cast<double>(met.hits) / miss.parallelism;
    });
  for (const LineRange& lines : outcome.writebacks)
    side.write(lines, reader, addresses, [&](const MemorySide::Met& met) { meet(met).writebacks += met.lines; });
  for (const LineRange& lines : outcome.non_temporal_writes)
    side.write(lines, reader, addresses, [&](const MemorySide::Met& met) { meet(met).non_temporal += met.lines; });
  side.victims().clear();
}

void SliceDemand::add(const CacheOutcome& outcome, NodeId reader, const AddressSpace& addresses, MemorySide& side) {
  if (side.remembers()) return add_remembered(outcome, reader, addresses, side);
  const auto by_home = [&](const LineRange& lines, auto add) {
    if (lines.size() == 0) return;
    if (const NodeId home = addresses.home_of_all(lines, reader); !home.is_none()) return add(of(home), lines.size());
    shares_.clear();
    addresses.homes(lines, reader, shares_);
    for (const HomeShare& share : shares_) add(of(share.home), share.lines);
  };
  for (const MissRange& miss : outcome.reads) {
    by_home(miss.lines, [&](HomeDemand& demand, std::uint64_t lines) {
      demand.reads += lines;
      demand.read_weight += static_cast<double>(lines) / miss.parallelism;
    });
  }
  for (const LineRange& lines : outcome.writebacks) {
    by_home(lines, [](HomeDemand& demand, std::uint64_t count) { demand.writebacks += count; });
  }
  for (const LineRange& lines : outcome.non_temporal_writes) {
    by_home(lines, [](HomeDemand& demand, std::uint64_t count) { demand.non_temporal += count; });
  }
}

}  // namespace homenode
