// Threads that the program creates: what each of them does is the one iteration of an execution of its own.
#include <utility>

#include "sim/errors.hpp"
#include "traces/capture/assembler_state.hpp"

extern "C" {
#include "traces/capture/stream.h"
}

namespace homenode {

namespace {
// "worker(int)" of std::thread's "std::thread::_State_impl<std::thread::_Invoker<std::tuple<TYPES> > >::_M_run()": its first type.
std::string first_type(const std::string& name) {
  const std::string tuple = "std::tuple<";
  const std::size_t begin = name.find(tuple);
  if (begin == std::string::npos) return "";
  std::size_t depth = 0;
  for (std::size_t at = begin + tuple.size(); at < name.size(); ++at) {
    const char c = name[at];
    if (depth == 0 && (c == ',' || c == '>')) return name.substr(begin + tuple.size(), at - begin - tuple.size());
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == ']' || c == '}') --depth;
  }
  return "";
}
}  // namespace

// The creator's event names the thread and its execution. Executions of created threads come first in a trace, in the order of
// creation: that of thread t has number t - 1, whatever else the program does.
void Assembler::create_thread() {
  const std::uint64_t number = in_.u64(), low = in_.u64(), high = in_.u64();
  const CallSite routine = call_site();
  if (number != bodies_.size() + 1)
    throw InputError("the capture stream creates thread " + std::to_string(number) + " after " + std::to_string(bodies_.size()) +
                     " others");
  SyncEvent event;
  event.sequence = current().accesses;
  event.operation = SyncOperation::create;
  event.object = number, event.match = number - 1;
  current().folder.sync_event(event);
  objects_.add_stack(low, high, static_cast<std::uint32_t>(number));
  Body body;
  body.creator = thread_;
  body.phase.kind = RegionKind::thread;
  body.phase.site = routine;
  body.phase.step_mark = step_;
  body.rank.in_item = true;
  bodies_.push_back(std::move(body));
}

void Assembler::run_thread(std::uint64_t number) {
  if (number > bodies_.size() || (number != 0 && bodies_[number - 1].ended))
    throw InputError("the capture stream goes on with thread " + std::to_string(number) + ", which does not run");
  thread_ = static_cast<std::uint32_t>(number);
  objects_.runs(thread_);
}

// The routine's name; std::thread's routine is the library's, so there it is the program's own function that it calls.
std::string Assembler::label_of_body(const Body& body) const {
  std::string name = program_.function_of(body.phase.site);
  if (name.find("std::thread::_State_impl<") != std::string::npos) {
    const std::string& first = program_.sites[body.rank.first_site.index()].function;
    const std::string type = first_type(name);
    name = first.empty() || first.find("std::") == 0 || type.find("::{lambda") != std::string::npos ? type : first;
  }
  return name.empty() ? "thread" : name;
}

void Assembler::end_thread(std::uint64_t number) {
  if (number == 0 || number > bodies_.size() || bodies_[number - 1].ended)
    throw InputError("the capture stream ends thread " + std::to_string(number) + ", which does not run");
  Body& body = bodies_[number - 1];
  body.ended = true;
  Phase& phase = body.phase;
  phase.label = label_of_body(body);
  phase.region = region_of(phase, phase.label);
  Share& share = phase.by_rank[0];
  add_item(phase, share, 0, body.rank);
  Execution execution;
  execution.iterations = 1;
  // Marks of the serial code that is open are not this execution's.
  std::vector<Mark> of_serial_code = std::exchange(marks_, {});
  write(phase, execution, number - 1);
  marks_ = std::move(of_serial_code);
  // Of a thread that was cut, or that spun in the twin for a while of its own, the twin would tell too much.
  if (!cut_ && !body.spun) work_.note("thread", number, {{phase.region, share.accesses}});
  if (body.spun) add_loss({SiteId{0}, "threads that spin have no work counts", 1});
  phase.by_rank.clear();
  body.rank = {};
}

void Assembler::end_threads() {
  for (std::size_t number = 1; number <= bodies_.size(); ++number)
    if (!bodies_[number - 1].ended) end_thread(number);
  if (bodies_.empty()) return;
  threads_ = {{ThreadId::none(), "main", 0}};
  for (const Body& body : bodies_) threads_.push_back({ThreadId{body.creator}, body.phase.label, 0});
}

}  // namespace homenode
