// Sizes of pages by name, as `--pages` takes them: one size for all; or 4 KiB with transparent huge pages of 2 MiB (thp), or of a smaller
// size (mthp-SIZE: multi-size THP, Linux since 6.8, off unless hugepages-<size>kB/enabled says otherwise).
#pragma once

#include <string>
#include <vector>

#include "sim/base/units.hpp"

namespace homenode {

struct PageSizes {
  Bytes page{4096};
  Bytes huge{0};  // of transparent huge pages; 0 B = none
};

std::vector<std::string> page_size_names();  // 4KiB, 64KiB, 2MiB, thp, mthp-16KiB, mthp-64KiB
// Throws UsageError for an unknown name.
PageSizes page_sizes(const std::string& name);

}  // namespace homenode
