#include "models/code/core_factors.hpp"

#include <charconv>
#include <sstream>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

constexpr double least = 0.01, most = 100;

template <class Number>
bool is_all(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::map<std::size_t, double> core_factors(const std::string& text) {
  std::map<std::size_t, double> factors;
  std::istringstream parts{text};
  for (std::string part; parts >> part;) {
    const std::size_t at = std::min(part.find('@'), part.size());
    std::size_t region = 0;
    double factor = 0;
    if (!is_all(std::string_view{part}.substr(0, at), region) || at == part.size() ||
        !is_all(std::string_view{part}.substr(at + 1), factor) || !(factor >= least && factor <= most))
      throw UsageError("core factor '" + part + "'; allowed: REGION@FACTOR, the region's number and a factor from 0.01 to 100");
    if (!factors.emplace(region, factor).second)
      throw UsageError("region " + std::to_string(region) + " has two core factors in '" + text + "'; allowed: one");
  }
  return factors;
}

std::shared_ptr<const CodeCycles> with_core_factors(std::shared_ptr<const CodeCycles> code, const std::string& text) {
  const std::map<std::size_t, double> factors = core_factors(text);
  if (factors.empty()) return code;
  if (!code)
    throw UsageError("core factors '" + text + "' of code that is timed by classes; allowed: a machine whose core has a model " +
                     "(core.llvm_cpu), and a trace that has code");
  auto changed = std::make_shared<CodeCycles>(*code);
  for (const auto& [region, factor] : factors) {
    if (region >= changed->regions.size())
      throw UsageError("core factor of region " + std::to_string(region) + "; allowed: 0 to " +
                       std::to_string(changed->regions.size() - 1));
    RegionCycles& cycles = changed->regions[region];
    cycles.cycles *= factor, cycles.mispredictions *= factor, cycles.resolution *= factor;
    cycles.units.scale(factor);
  }
  return changed;
}

}  // namespace homenode
