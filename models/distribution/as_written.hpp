// A loop's schedule clause, as a distribution.
#pragma once

#include <string>
#include <string_view>

namespace homenode {

struct WrittenSchedule {
  std::string clause;  // without modifiers
  std::string distribution;
  std::string unknown_chunk;  // as it is written, if it is no number; 1 is taken
};

// "nonmonotonic:dynamic,64", as a trace has it without spaces, is "dynamic:64". No clause and `auto` are static, and `runtime` is
// "dynamic:1": what libgomp takes by itself.
WrittenSchedule written_schedule(std::string_view clause);

// Whether a loop with this clause is not static. One of `runtime` leaves that open.
bool is_scheduled_by_itself(std::string_view clause);

}  // namespace homenode
