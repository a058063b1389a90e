// S2's allocator (section 4): lines of a chunk go to the lists of the cores that reach them soon, by their *physical* addresses and the
// latency database (ring_geometry.hpp). S2 does not say what latency is low. Here a line is near a core if its latency is among the
// lowest `near` percent of what the core sees over all pairs of directory and controller; a line that is near several cores goes to the
// nearest, of equally near ones to the one with the fewest left; a line near nobody is not used.
#include <algorithm>

#include "models/heap/line_blocks.hpp"
#include "models/heap/register.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/physical_memory.hpp"
#include "sim/machine/ring_geometry.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {
namespace {

class LatencyAware final : public LineBlocks {
public:
  explicit LatencyAware(const Parameters& given) : LineBlocks{"latency-aware", given}, near_{given.get("near")} {}

private:
  void prepared(const HeapSetting& setting) override {
    const Machine& machine = setting.machine;
    if (!machine.ring)
      throw UsageError("heap 'latency-aware' needs to know how far memory blocks are from cores; machine '" + machine.name +
                       "' has no ring; allowed: machines with one, such as knc-5110p");
    ring_ = std::make_unique<RingGeometry>(machine);
    memory_ = std::make_unique<PhysicalMemory>(machine, Bytes{static_cast<std::int64_t>(setting.addresses.page_bytes())}, setting.seed);
    const std::size_t directories = ring_->directories(), controllers = ring_->controllers();
    nearest_.assign(directories * controllers, {});
    std::vector<std::size_t> tours(nearest_.size()), least(nearest_.size(), ~std::size_t{0});
    for (const CoreId core : cores()) {
      for (std::size_t pair = 0; pair < tours.size(); ++pair)
        tours[pair] = ring_->tour(ring_->stop_of_core(core), ring_->stop_of_directory(pair / controllers),
                                  ring_->stop_of_controller(pair % controllers));
      std::vector<std::size_t> sorted = tours;
      std::sort(sorted.begin(), sorted.end());
      const std::size_t farthest = sorted[std::max<std::size_t>(sorted.size() * static_cast<std::size_t>(near_) / 100, 1) - 1];
      for (std::size_t pair = 0; pair < tours.size(); ++pair) {
        if (tours[pair] > farthest || tours[pair] > least[pair]) continue;
        if (tours[pair] < least[pair]) nearest_[pair].clear();
        least[pair] = tours[pair];
        nearest_[pair].push_back(core);
      }
    }
  }

  void share_out(AddressRange chunk) override {
    for (Address block = chunk.last; block > chunk.first;) {
      block = block - line_bytes();
      const LineNumber line = memory_->line(line_of(block, line_bytes()));
      const auto& cores = nearest_[ring_->directory_of(line) * ring_->controllers() + ring_->controller_of(line)];
      if (cores.empty())
        give_to_nobody(block);
      else
        give(block, *std::min_element(cores.begin(), cores.end(), [&](CoreId a, CoreId b) { return blocks_left(a) < blocks_left(b); }));
    }
  }

  std::int64_t near_;
  std::unique_ptr<RingGeometry> ring_;
  std::unique_ptr<PhysicalMemory> memory_;
  std::vector<std::vector<CoreId>> nearest_;  // by directory and controller: cores that are as near as any, and near
};

}  // namespace

PolicyEntry<HeapManager> latency_aware_heap() {
  std::vector<ParameterSpec> parameters = LineBlocks::parameters();
  parameters.push_back(
      integer_parameter("near", "%", "share of memory that counts as low-latency for a core (assumed; the paper gives none)", 10, 1, 100));
  return {
      .name = "latency-aware",
      .description = "blocks up to a cache line come from per-core free lists of low-latency lines; larger blocks as glibc (Gerofi et al.)",
      .parameters = parameters,
      .make = [](const Parameters& given) { return std::make_unique<LatencyAware>(given); }};
}

}  // namespace homenode
