// What was measured of translation buffers into the description of a host: their entries and sets, what misses cost, how many overlap.
#pragma once

#include "models/machines/native/describe_host.hpp"
#include "models/machines/native/described_fields.hpp"

namespace homenode {

// Sets `tlb.`; nothing where no buffer shows.
void describe_translation(DescribedFields&, const HostFigures&);

}  // namespace homenode
