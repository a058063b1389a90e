#include "sim/program/expand_runs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace homenode {
namespace {

struct Single {
  std::uint64_t sequence = 0;
  SlotNumber slot = 0;
  std::int64_t offset = 0;
  std::uint32_t producer_distance = 0;
};

void append(const AccessRun& run, std::vector<Single>& out) {
  std::array<std::uint64_t, AccessRun::max_dimensions> index{};
  for (std::uint64_t left = run.accesses(); left > 0; --left) {
    Single single{run.sequence, run.slot, run.offset, run.producer_distance};
    for (unsigned d = 0; d < run.dimensions; ++d) {
      single.offset += static_cast<std::int64_t>(index[d]) * run.dimension[d].stride;
      single.sequence += index[d] * run.dimension[d].sequence_stride;
    }
    out.push_back(single);
    for (unsigned d = 0; d < run.dimensions && ++index[d] == run.dimension[d].count; ++d) index[d] = 0;
  }
}

ItemPattern singles_of(const ItemPattern& pattern) {
  ItemPattern result = pattern;
  std::map<std::pair<AccessKind, std::uint16_t>, std::vector<Single>> singles;  // one stream for each kind and width
  for (const AccessRun& run : pattern.runs) append(run, singles[{run.kind, run.width}]);
  result.runs.clear();
  for (auto& [kind_and_width, accesses] : singles) {
    std::sort(accesses.begin(), accesses.end(), [](const Single& a, const Single& b) { return a.sequence < b.sequence; });
    IrregularStream stream;
    stream.kind = kind_and_width.first;
    stream.width = kind_and_width.second;
    for (const Single& single : accesses) {
      stream.slot.push_back(single.slot);
      stream.offset.push_back(single.offset);
      stream.producer_distance.push_back(single.producer_distance);
      stream.sequence.push_back(single.sequence);
    }
    result.streams.push_back(std::move(stream));
  }
  return result;
}

class ExpandRuns final : public Workload {
public:
  explicit ExpandRuns(std::shared_ptr<const Workload> of) : Workload{*of}, of_{std::move(of)} {
    touch_lengths = {};
    traffic_table = {};
    for (ItemPattern& pattern : patterns) pattern = singles_of(pattern);
  }
  std::shared_ptr<const ExecutionBody> body(ExecutionId execution) const override { return of_->body(execution); }

private:
  std::shared_ptr<const Workload> of_;
};

}  // namespace

std::shared_ptr<Workload> expand_runs(std::shared_ptr<const Workload> workload) {
  return std::make_shared<ExpandRuns>(std::move(workload));
}

}  // namespace homenode
