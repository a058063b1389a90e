#include "models/core/load_waits.hpp"

#include <vector>

#include "models/core/data_flow.hpp"
#include "models/core/window_stream.hpp"

namespace homenode {
namespace {

// Cycles that each such load is taken to be late, about what an outer cache takes (assumed). With a quarter of it and with four times as
// much the shares of public programs are much the same: validation/DEVIATIONS.md, "Loads that a core waits for".
constexpr std::uint64_t late = 40;

}  // namespace

std::map<std::uint64_t, LoadWaits> load_waits(const CoreTarget& target, const WindowOfBlocks& window, const ForwardingLatency& latency,
                                              std::size_t from) {
  std::map<std::uint64_t, LoadWaits> result;
  const WindowStream stream = window_stream(target, window, latency);
  if (stream.code.empty()) return result;
  const DataFlow flow{target, stream, window, late};
  std::vector<std::uint32_t> waited(stream.code.size(), 0);
  flow.follow_back([&](std::size_t load) { waited[load] = 1; });
  for (std::size_t execution = from; execution < window.blocks.size(); ++execution) {
    LoadWaits& sum = result[window.blocks[execution]->id];
    for (std::uint32_t i = stream.first[execution]; i < stream.first[execution + 1]; ++i) {
      sum.loads += flow.may_be_late(i);
      sum.waited += waited[i];
    }
  }
  return result;
}

}  // namespace homenode
