#include "traces/capture/assembler/work.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/base/errors.hpp"

namespace homenode {

void TwinWork::note(const std::string& kind, std::uint64_t ordinal, Shares shares) {
  if (!shares.empty()) stretches_.push_back({kind, ordinal, std::move(shares)});
}

TwinWork::Rates TwinWork::rates(const std::filesystem::path& path) const {
  Rates result;
  std::ifstream file{path};
  if (!file) throw InputError(path.string() + ": work counts cannot be read");
  std::map<std::pair<std::string, std::uint64_t>, WorkCounts> counts;
  bool whole = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || file.eof()) continue;  // a line without its end was cut
    const auto note = nlohmann::json::parse(line);
    const std::string kind = note.at("kind");
    if (kind == "end") {
      whole = true;
      continue;
    }
    WorkCounts work;
    work.instructions = note.at("instructions"), work.integer = note.at("integer"), work.fp_add = note.at("fp_add");
    work.fp_multiply = note.at("fp_multiply"), work.fp_fma = note.at("fp_fma"), work.divide = note.at("divide");
    work.load = note.at("load"), work.store = note.at("store"), work.branch = note.at("branch");
    counts[{kind, note.at("ordinal").get<std::uint64_t>()}] += work;  // more than once where the program tried to leave
  }
  if (counts.empty() && !whole) return result;
  if (!whole) result.losses.push_back({SiteId{0}, "the work counts of the twin end early: it was killed, or became another program", 1});

  struct Sum {
    WorkCounts work;
    std::uint64_t accesses = 0;
  };
  std::map<RegionId, Sum> sums;
  std::uint64_t without = 0;
  for (const Stretch& stretch : stretches_) {
    const auto work = counts.find({stretch.kind, stretch.ordinal});
    if (work == counts.end()) {
      ++without;
      continue;
    }
    std::uint64_t total = 0;
    for (const auto& [region, accesses] : stretch.shares) total += accesses;
    for (const auto& [region, accesses] : stretch.shares) {
      const double part =
          total == 0 ? 1.0 / static_cast<double>(stretch.shares.size()) : static_cast<double>(accesses) / static_cast<double>(total);
      sums[region].work += work->second.scaled(part);
      sums[region].accesses += accesses;
    }
  }
  for (const auto& [region, sum] : sums) {
    if (sum.work.instructions == 0 || sum.accesses == 0) continue;
    result.per_access[region] = sum.work.scaled(1 / static_cast<double>(sum.accesses));
  }
  if (without > 0) result.losses.push_back({SiteId{0}, "stretches of the program without work counts from its twin", without});
  return result;
}

}  // namespace homenode
