#include "models/systems/page_sizes.hpp"

#include <array>
#include <utility>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

const std::array<std::pair<const char*, PageSizes>, 6> known{{{"4KiB", {Bytes{4 << 10}}},
                                                              {"64KiB", {Bytes{64 << 10}}},
                                                              {"2MiB", {Bytes{2 << 20}}},
                                                              {"thp", {Bytes{4 << 10}, Bytes{2 << 20}}},
                                                              {"mthp-16KiB", {Bytes{4 << 10}, Bytes{16 << 10}}},
                                                              {"mthp-64KiB", {Bytes{4 << 10}, Bytes{64 << 10}}}}};

}  // namespace

std::vector<std::string> page_size_names() {
  std::vector<std::string> names;
  for (const auto& [name, sizes] : known) names.emplace_back(name);
  return names;
}

PageSizes page_sizes(const std::string& wanted) {
  for (const auto& [name, sizes] : known) {
    if (wanted == name) return sizes;
  }
  throw UsageError(unknown_name("page size", wanted, page_size_names()));
}

}  // namespace homenode
