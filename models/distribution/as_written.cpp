// Each loop by its own schedule clause (OpenMP 5.2, 11.5.3), which `homenode cc` notes and the trace keeps.
#include "models/distribution/as_written.hpp"

#include <algorithm>
#include <array>
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

char lower(unsigned char letter) { return static_cast<char>(std::tolower(letter)); }

// OpenMP 5.2, 11.5.3: monotonic, nonmonotonic and simd, with commas between them and a colon behind them.
std::string_view without_modifiers(std::string_view clause) {
  constexpr std::array<std::string_view, 3> modifiers{"nonmonotonic", "monotonic", "simd"};
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view modifier : modifiers) {
      const std::string_view begin = clause.substr(0, modifier.size());
      if (begin.size() == clause.size() ||
          !std::equal(begin.begin(), begin.end(), modifier.begin(), modifier.end(),
                      [](char one, char other) { return lower(static_cast<unsigned char>(one)) == other; }))
        continue;
      if (clause[modifier.size()] != ',' && clause[modifier.size()] != ':') continue;
      clause.remove_prefix(modifier.size() + 1);
      found = true;
    }
  }
  return clause;
}

// "64", "(64)" as a macro leaves it, "64L", "0x40"; 0 if it is another expression.
std::int64_t number_in(std::string_view text) {
  while (text.size() > 2 && text.front() == '(' && text.back() == ')') text = text.substr(1, text.size() - 2);
  while (text.size() > 1 && std::string_view{"uUlL"}.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (is_hexadecimal) text.remove_prefix(2);
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, is_hexadecimal ? 16 : 10);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size() && number > 0 ? number : 0;
}

}  // namespace

WrittenSchedule written_schedule(std::string_view written) {
  std::string clause{without_modifiers(written)};
  const std::size_t comma = clause.find(',');
  std::transform(clause.begin(), clause.begin() + static_cast<std::ptrdiff_t>(std::min(comma, clause.size())), clause.begin(), lower);
  const std::string kind = clause.substr(0, comma);
  if (kind.empty()) return {.clause = "static", .distribution = "static", .unknown_chunk = {}};
  if (kind == "runtime") return {.clause = clause, .distribution = "dynamic:1", .unknown_chunk = {}};
  if (kind != "static" && kind != "dynamic" && kind != "guided") return {.clause = clause, .distribution = "static", .unknown_chunk = {}};
  if (comma == std::string::npos) return {.clause = clause, .distribution = kind == "dynamic" ? "dynamic:1" : kind, .unknown_chunk = {}};
  const std::string chunk = clause.substr(comma + 1);
  const std::int64_t number = number_in(chunk);
  if (number > 0) return {.clause = clause, .distribution = kind + ":" + std::to_string(number), .unknown_chunk = {}};
  return {.clause = clause, .distribution = kind + ":1", .unknown_chunk = chunk};
}

bool is_scheduled_by_itself(std::string_view clause) {
  const WrittenSchedule schedule = written_schedule(clause);
  return schedule.clause != "runtime" && schedule.distribution != "static";
}

PolicyEntry<WorkDistribution> as_written() {
  return {.name = "program",
          .description = "as the source says: each loop by its own schedule clause, static where it has none",
          .parameters = {},
          .make = [](const Parameters&) { return std::make_unique<AsWritten>(); },
          .examples = {}};
}

}  // namespace homenode
