#include "models/core/load_waits.hpp"

#include <algorithm>

#include "models/core/data_flow.hpp"
#include "models/core/window_stream.hpp"

namespace homenode {
namespace {

// Cycles that each such load is taken to be late, about what an outer cache takes (assumed). With a quarter of it and with four times as
// much the shares of public programs are much the same: validation/DEVIATIONS.md, "Loads that a core waits for".
constexpr std::uint64_t late = 40;

}  // namespace

std::map<std::uint64_t, std::vector<LoadWaits>> load_waits(const CoreTarget& target, const WindowOfBlocks& window,
                                                           const ForwardingLatency& latency, std::size_t from) {
  std::map<std::uint64_t, std::vector<LoadWaits>> result;
  const WindowStream stream = window_stream(target, window, latency);
  if (stream.code.empty()) return result;
  const DataFlow flow{target, stream, window, late};
  std::vector<std::uint32_t> waited(stream.code.size(), 0);
  flow.follow_back([&](std::size_t load) { waited[load] = 1; });
  for (std::size_t execution = from; execution < window.blocks.size(); ++execution) {
    std::vector<LoadWaits>& sums = result[window.blocks[execution]->id];
    const std::uint32_t first = stream.first[execution], last = stream.first[execution + 1];
    sums.resize(std::max<std::size_t>(sums.size(), last - first));
    for (std::uint32_t i = first; i < last; ++i) {
      sums[i - first].loads += flow.may_be_late(i);
      sums[i - first].waited += waited[i];
    }
  }
  return result;
}

}  // namespace homenode
