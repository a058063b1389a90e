// What was measured between nodes into the description of a host of several: local and remote latencies, what links carry. Measures
// nothing.
#pragma once

#include "models/machines/native/describe_host.hpp"
#include "models/machines/native/described_fields.hpp"

namespace homenode {

// Every pair of sockets has a link of its own (detect.hpp), so each number is of one pair:
//   node's latency = what its own cores see; of a node without cores: the nearest cores of its socket
//   link's latency = mean over both ways and all pairs of nodes of (remote latency - the memory's own)
//   between nodes of a socket = the same mean over the pairs within sockets
//   link's bandwidth = the better way's bytes read a second x (bytes of a data message / line)
// Figures that are not there leave what was detected.
void describe_nodes(DescribedFields&, const MachineFile&, const HostFigures&);

}  // namespace homenode
