// Each loop by its own schedule clause (OpenMP 5.2, 11.5.3), which `homenode cc` notes and the trace keeps.
#include "models/distribution/as_written.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

#include "models/distribution/register.hpp"

namespace homenode {
namespace {

class AsWritten final : public WorkDistribution {
public:
  void prepare(const RegionView& region, const Team& team, const CostOracle* oracle) override {
    schedule_ =
        work_distributions().make(region.region == nullptr ? "static" : written_schedule(region.region->schedule_clause).distribution);
    schedule_->prepare(region, team, oracle);
  }
  Decision next(ThreadId thread, Time now) override { return schedule_->next(thread, now); }
  void complete(ItemRange items, ThreadId thread, Time now) override { schedule_->complete(items, thread, now); }
  std::unique_ptr<WorkDistribution> fixed_schedule() const override { return schedule_->fixed_schedule(); }

private:
  std::unique_ptr<WorkDistribution> schedule_;
};

}  // namespace

WrittenSchedule written_schedule(std::string_view clause) {
  if (const std::size_t modifier = clause.rfind(':', clause.find(',')); modifier != std::string_view::npos)
    clause.remove_prefix(modifier + 1);  // monotonic, nonmonotonic, simd
  const std::size_t comma = clause.find(',');
  std::string kind{clause.substr(0, comma)};
  std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (kind == "runtime") return {.distribution = "dynamic:1", .unknown_chunk = {}};
  if (kind != "static" && kind != "dynamic" && kind != "guided") return {.distribution = "static", .unknown_chunk = {}};
  if (comma == std::string_view::npos) return {.distribution = kind == "dynamic" ? "dynamic:1" : kind, .unknown_chunk = {}};
  const std::string chunk{clause.substr(comma + 1)};
  std::int64_t number = 0;
  const char* const end = chunk.data() + chunk.size();
  const auto read = std::from_chars(chunk.data(), end, number);
  if (read.ec == std::errc{} && read.ptr == end && number > 0)
    return {.distribution = kind + ":" + std::to_string(number), .unknown_chunk = {}};
  return {.distribution = kind + ":1", .unknown_chunk = chunk};
}

bool has_own_schedules(const Workload& workload) {
  return std::any_of(workload.regions.begin(), workload.regions.end(), [](const Region& region) {
    const std::string& clause = region.schedule_clause;
    return region.kind == RegionKind::loop && !clause.ends_with("runtime") && written_schedule(clause).distribution != "static";
  });
}

PolicyEntry<WorkDistribution> as_written() {
  return {.name = "program",
          .description = "as the source says: each loop by its own schedule clause, static where it has none",
          .parameters = {},
          .make = [](const Parameters&) { return std::make_unique<AsWritten>(); },
          .examples = {}};
}

}  // namespace homenode
