// Memtis on top of any placement (Lee et al., MEMTIS: Efficient Memory Tiering with Dynamic Page Classification and Page Size
// Determination, SOSP 2023), its classification and migration of pages; huge pages are not split. Numbers and rules as in the authors'
// kernel (mm/htmm_core.c, htmm_migrater.c, htmm_sampler.c): a page counts 512 for each sampled read that missed the caches; its bin is log2
// of the count, 0 to 15; each 100 000 samples the hot threshold becomes the lowest bin from which on all pages fit into fast memory, and
// the bin below is warm if they leave more than a quarter of it; each 2 000 000 samples counts are halved. Each 500 ms pages of slow memory
// from the threshold on are promoted. For them, and for a share of free memory, pages below the warm bin are demoted first, then warm ones.
//
// Assumed: samples are what they are on average, one in 199 lines read, at no cost. Writes are not counted, which Memtis samples 500 times
// as rarely.
#include <algorithm>
#include <array>
#include <cmath>

#include "models/placement/memory_tiers.hpp"
#include "models/placement/modifier.hpp"
#include "models/placement/register.hpp"

namespace homenode {
namespace {

constexpr double bytes_of_a_read = 64, count_of_a_sample = 512;
constexpr std::size_t bins = 16, least_hot = 1;  // htmm_thres_hot
// Shares of fast memory that are free before pages are promoted, and below which pages are demoted; at most as many bytes.
constexpr double free_to_promote = 0.03, free_at_least = 0.02;
constexpr double most_free_to_promote = 1500.0 * (1 << 20), most_free_at_least = 1000.0 * (1 << 20);

struct MemtisSettings {
  double lines_of_a_sample = 0, adaptation = 0, cooling = 0;  // the latter in samples
  Time period;
};

class Memtis final : public PlacementModifier {
public:
  Memtis(const MemtisSettings& settings, std::shared_ptr<PagePlacement> placement)
      : PlacementModifier{std::move(placement)}, settings_{settings}, next_{settings.period} {
    if (modified().watches() != Watch::nothing)
      throw UsageError("a modifier that migrates pages on a placement that migrates pages; allowed: one of them");
  }
  void prepare(const AccessSummary* summary, const Machine& machine) override {
    modified().prepare(summary, machine);
    tiers_.emplace(machine);
    bytes_.clear();
    for (const NodeDescription& node : machine.nodes) bytes_.push_back(static_cast<double>(node.memory.count()));
    counts_.clear();
    samples_ = 0;
    adapt_at_ = settings_.adaptation;
    cool_at_ = settings_.cooling;
    hot_ = warm_ = least_hot;
    next_ = settings_.period;
  }
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    modified().fault(faults, home);
    for (const PageFault& fault : faults)
      for (PageNumber page = fault.page; page < fault.page + fault.pages && page.value() < counts_.size(); ++page)
        counts_[page.value()] = 0;
  }
  Watch watches() const override { return Watch::traffic; }
  void observe(const Place&, std::span<const PageUse> uses, PageActions& actions) override {
    if (counts_.size() < actions.pages()) counts_.resize(actions.pages(), 0);
    for (const PageUse& use : uses) {
      const double samples = static_cast<double>(use.read_bytes) / bytes_of_a_read / settings_.lines_of_a_sample;
      counts_[use.page.value()] += samples * count_of_a_sample;
      samples_ += samples;
    }
    if (samples_ >= cool_at_) {
      for (double& count : counts_) count /= 2;
      cool_at_ = samples_ + settings_.cooling;
    }
    if (samples_ >= adapt_at_) {
      adapt(actions);
      adapt_at_ = samples_ + settings_.adaptation;
    }
  }
  std::optional<Time> wakeup() const override { return tiers_ && tiers_->has_slow_nodes() ? std::optional{next_} : std::nullopt; }
  void wake(const Place& place, PageActions& actions) override {
    counts_.resize(std::max<std::size_t>(counts_.size(), actions.pages()), 0);
    for (std::size_t node = 0; node < bytes_.size(); ++node)
      if (tiers_->is_top(NodeId{node})) move_pages(NodeId{node}, actions);
    next_ = place.now + settings_.period;
  }

private:
  // get_idx
  std::size_t bin(PageNumber page) const {
    return std::min(static_cast<std::size_t>(std::log2(std::floor(counts_[page.value()]) + 1)), bins - 1);
  }
  std::uint64_t kept_free(NodeId node, double share, double most, const PageActions& actions) const {
    return static_cast<std::uint64_t>(std::min(bytes_[node.index()] * share, most) / static_cast<double>(actions.page_bytes()));
  }

  // __adjust_active_threshold
  void adapt(const PageActions& actions) {
    std::array<std::uint64_t, bins> pages{};
    for (PageNumber page; page.value() < actions.pages(); ++page)
      if (!actions.home(page).is_none()) ++pages[bin(page)];
    std::uint64_t room = 0;
    for (std::size_t node = 0; node < bytes_.size(); ++node) {
      if (!tiers_->is_top(NodeId{node})) continue;
      const auto all = static_cast<std::uint64_t>(bytes_[node] / static_cast<double>(actions.page_bytes()));
      room += all - std::min(all, kept_free(NodeId{node}, free_to_promote, most_free_to_promote, actions));
    }
    std::uint64_t hot_pages = 0;
    std::size_t hot = bins;
    while (hot > 0 && hot_pages + pages[hot - 1] <= room) hot_pages += pages[--hot];
    hot_ = std::max(std::min(hot, bins - 1), least_hot);
    warm_ = hot_pages < room / 4 * 3 ? hot_ - 1 : hot_;
  }

  // Of the slow nodes whose nearest cores are those of `node`.
  bool promotes(PageNumber page, NodeId node, const PageActions& actions) const {
    const NodeId home = actions.home(page);
    return !home.is_none() && !tiers_->is_top(home) && tiers_->with_cores_near(home) == node && bin(page) >= hot_;
  }

  void move_pages(NodeId node, PageActions& actions) {
    const std::uint64_t to_promote = kept_free(node, free_to_promote, most_free_to_promote, actions),
                        at_least = kept_free(node, free_at_least, most_free_at_least, actions);
    std::uint64_t wanted = 0;
    for (PageNumber page; page.value() < actions.pages(); ++page) wanted += promotes(page, node, actions);
    const std::uint64_t free = actions.free_pages(node);
    if (free < at_least || (wanted > 0 && free < to_promote + wanted)) demote(node, to_promote + wanted, actions);
    for (PageNumber page; page.value() < actions.pages() && actions.free_pages(node) > to_promote; ++page)
      if (promotes(page, node, actions)) actions.migrate(page, node);
  }

  void demote(NodeId node, std::uint64_t free, PageActions& actions) {
    const NodeId below = tiers_->below(node);
    if (below.is_none()) return;
    for (const std::size_t limit : {warm_, hot_}) {
      for (PageNumber page; page.value() < actions.pages() && actions.free_pages(node) < free; ++page)
        if (actions.home(page) == node && bin(page) < limit && actions.free_pages(below) > 0) actions.migrate(page, below);
    }
  }

  MemtisSettings settings_;
  std::optional<MemoryTiers> tiers_;
  std::vector<double> bytes_;   // by node
  std::vector<double> counts_;  // by page: total_accesses
  double samples_ = 0, adapt_at_ = 0, cool_at_ = 0;
  std::size_t hot_ = least_hot, warm_ = least_hot;  // bins
  Time next_;
};

}  // namespace

PolicyEntry<PagePlacement> memtis() {
  PolicyEntry<PagePlacement> entry{
      .name = "memtis",
      .description = "modifier, P+memtis: as many of the most read pages as fit are kept in fast memory (Lee et al. 2023)",
      .parameters = {time_parameter("period", "time between two rounds of migrations", Time::from_seconds(0.5)),
                     integer_parameter("sample", "lines read", "one sample in so many", 199, 1),
                     integer_parameter("adaptation", "samples", "until the hot threshold is set again", 100000, 1),
                     integer_parameter("cooling", "samples", "until counts are halved", 2000000, 1)},
      .make = nullptr};
  entry.modify = [](const Parameters& parameters, std::shared_ptr<PagePlacement> placement) {
    const MemtisSettings settings{static_cast<double>(parameters.get("sample")), static_cast<double>(parameters.get("adaptation")),
                                  static_cast<double>(parameters.get("cooling")), parameters.time("period")};
    return std::make_unique<Memtis>(settings, std::move(placement));
  };
  entry.examples = {"memtis:period=10ms,sample=1,adaptation=1000"};
  return entry;
}

}  // namespace homenode
