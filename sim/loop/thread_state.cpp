#include "sim/loop/thread_state.hpp"

#include <stdexcept>
#include <string>

namespace homenode {

const char* name_of(ThreadState state) {
  constexpr std::array<const char*, 9> names = {"unused",       "ready",   "needs_core", "deciding", "computing",
                                                "in_heap_call", "waiting", "asleep",     "ended"};
  return names[static_cast<std::size_t>(state)];
}

void ThreadStateMachine::refuse(ThreadState to) const {
  throw std::logic_error(std::string("a thread that is ") + name_of(state_) + " cannot become " + name_of(to));
}

}  // namespace homenode
