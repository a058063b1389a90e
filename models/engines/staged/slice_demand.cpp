#include "models/engines/staged/slice_demand.hpp"

namespace homenode {

void SliceDemand::add(const CacheOutcome& outcome, NodeId reader, const AddressSpace& addresses) {
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
