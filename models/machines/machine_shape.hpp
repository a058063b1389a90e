// What-if machines of another shape: how many sockets there are, and which of them links join. `with_changes` takes both by name,
// {{"sockets", "8"}, {"topology", "ring"}}: every socket has the nodes, cores and controllers of the first one, every link the bandwidth
// and the latency of the first one.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/machines/machine_file.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

inline constexpr std::string_view sockets_name = "sockets", topology_name = "topology";

// full, ring, line, mesh and torus (two dimensions, as square as the number allows), hypercube (a power of two)
std::vector<std::string> topology_names();

// The pairs of sockets that links join, each once. Throws UsageError: unknown name, or a number of sockets that the shape does not take.
std::vector<std::pair<SocketId, SocketId>> joined_sockets(const std::string& topology, unsigned sockets);

// Only machines whose nodes are alike, whose links are alike, and which have neither hubs nor a ring of cores have another shape.
bool can_be_reshaped(const Machine&);

// Applies the two names, as far as they are there. Without "topology" all sockets are joined to all, as they must have been before.
// Throws UsageError.
void reshape(Machine&, const std::map<std::string, std::string>& changes);

// What is known of the values of a machine that was reshaped so: the nodes, controllers and links are those of one entry each.
void reshape_parameters(std::vector<MachineParameter>&, const Machine& reshaped);

}  // namespace homenode
