// The library's own headers, on nodes that are not there: nothing is bound, all else is as on a machine of so many.
#pragma once

extern "C" {
#include "traces/psm/page_allocator.h"
#include "traces/psm/size_classes.h"
}
#include "traces/psm/psm.h"

inline constexpr int pretended_nodes = 5;
