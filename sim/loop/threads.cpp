#include "sim/loop/threads.hpp"

#include <string>
#include <utility>

#include "sim/base/errors.hpp"

namespace homenode {

Threads::Threads(const SimulationInput& input, const CreatedThreads& created_by_program)
    : in{input},
      created{created_by_program},
      all(input.threads),
      ready{input.threads},
      scheduler{input.machine, input.scheduler, {input.mapping.spin(), input.mapping.disturbances()}, input.seed} {
  const bool by_place = in.graph == nullptr && created.any();
  in.mapping.prepare(in.graph, in.machine, by_place ? created.at_once : in.threads);
  for (std::size_t t = 0; t < all.size(); ++t) {
    std::vector<CoreId> allowed = in.mapping.affinity(ThreadId{by_place ? created.place[t] : t}, Time{});
    if (allowed.empty()) throw PolicyError("the mapping allows thread " + std::to_string(t) + " no core");
    for (const CoreId core : allowed) {
      if (core.index() >= in.machine.cores())
        throw PolicyError("the mapping put thread " + std::to_string(t) + " on core " + std::to_string(core.value()) +
                          ", which is not there");
    }
    are_pinned &= allowed.size() == 1;
    scheduler.add(std::move(allowed));
  }
}

std::vector<CoreId> Threads::cores() const {
  std::vector<CoreId> cores;
  for (std::size_t t = 0; t < all.size(); ++t) cores.push_back(core_of(t));
  return cores;
}

}  // namespace homenode
