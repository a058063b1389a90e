// How many lines in a row a program touches: what models/caches/choose_caches makes of a sample of its iterations.
#pragma once

#include <string>

namespace homenode {

struct TouchLengths {
  double lines_per_touch = 0;            // of the whole program; 0: it touches nothing
  std::string region{};                  // with the most touches
  double lines_per_touch_of_region = 0;  // of that one
  double lines = 0;                      // of all touches
};

}  // namespace homenode
