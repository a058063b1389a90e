// What the event loop knows a thread to be doing, and which change follows which:
//   unused       -> ready         it is the first thread, joins a team or is created
//   ready        -> deciding      its time has come, and it has its core
//   ready        -> needs_core    its time has come, and another thread has its core
//   ready        -> ready         at another time: the barrier ended before the thread looked for the task that it was woken for
//   ready        -> waiting       likewise, and the construct ended with the barrier
//   needs_core   -> deciding      the scheduler gave it its core
//   needs_core   -> ready         the barrier ended meanwhile
//   deciding     -> computing     a slice of work started
//   deciding     -> ready         it goes on at a known time: after a fork, a barrier, work of the runtime, a step of a heap call
//   deciding     -> in_heap_call  another thread holds the heap's lock
//   deciding     -> waiting       there is nothing for it to do: it looks for work, awake
//   deciding     -> asleep        synchronisation holds it
//   deciding     -> ended         the program created it, and its routine is over
//   computing    -> deciding      the slice ended
//   in_heap_call -> ready         the lock is its own
//   waiting      -> ready         another thread has something for it
//   asleep       -> ready         another thread released it, or it joins a team
//   ended        -> ready         it joins a team
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace homenode {

enum class ThreadState : std::uint8_t { unused, ready, needs_core, deciding, computing, in_heap_call, waiting, asleep, ended };
const char* name_of(ThreadState);

constexpr bool may_follow(ThreadState from, ThreadState to) {
  using enum ThreadState;
  const auto bit = [](ThreadState state) { return 1U << static_cast<unsigned>(state); };
  const std::array<unsigned, 9> followers = {
      bit(ready),
      bit(deciding) | bit(needs_core) | bit(ready) | bit(waiting),
      bit(deciding) | bit(ready),
      bit(computing) | bit(ready) | bit(in_heap_call) | bit(waiting) | bit(asleep) | bit(ended),
      bit(deciding),
      bit(ready),
      bit(ready),
      bit(ready),
      bit(ready),
  };
  return (followers[static_cast<std::size_t>(from)] & bit(to)) != 0;
}

class ThreadStateMachine {
public:
  bool is(ThreadState state) const { return state_ == state; }
  // Throws std::logic_error for a change that is not in the list above.
  void become(ThreadState to) {
    if (!may_follow(state_, to)) refuse(to);
    state_ = to;
  }

private:
  [[noreturn]] void refuse(ThreadState to) const;

  ThreadState state_ = ThreadState::unused;
};

}  // namespace homenode
