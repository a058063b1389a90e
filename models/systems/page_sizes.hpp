// Sizes of pages by name, as `--pages` takes them.
#pragma once

#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace homenode {

struct PageSizes {
  Bytes page{4096};
  Bytes huge{0};  // of transparent huge pages; 0 B = none
};

std::vector<std::string> page_size_names();  // 4KiB, 64KiB, 2MiB, thp
// Throws UsageError for an unknown name.
PageSizes page_sizes(const std::string& name);

}  // namespace homenode
