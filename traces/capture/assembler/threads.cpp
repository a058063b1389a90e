// Threads that the program creates: what each of them does is the one iteration of an execution of its own, or several if it is long.
#include <utility>

#include "sim/base/errors.hpp"
#include "traces/capture/assembler/state.hpp"

extern "C" {
#include "traces/capture/runtime/stream.h"
}

namespace homenode {

namespace {
// "main::{lambda()#1}" of a longer name that has it as an argument of a template; "" if there is none.
std::string lambda_in(const std::string& name) {
  const std::size_t lambda = name.find("{lambda");
  const std::size_t end = name.find('}', lambda);
  if (lambda == std::string::npos || end == std::string::npos) return "";
  // Back to where the argument of the template begins, over the parameters of the function that has the lambda.
  std::size_t begin = lambda;
  for (int depth = 0; begin > 0; --begin) {
    const char before = name[begin - 1];
    depth += (before == ')' || before == '>') - (before == '(' || before == '<');
    if (depth < 0 || (depth == 0 && (before == ',' || before == ' '))) break;
  }
  return name.substr(begin, end + 1 - begin);
}
}  // namespace

// The creator's event names the thread and its execution. Executions of created threads come first in a trace, in the order of
// creation: that of thread t has number t - 1, whatever else the program does.
void Assembler::take_thread_create() {
  const std::uint64_t number = in_.u64(), low = in_.u64(), high = in_.u64();
  const CallSite routine = read_site();
  if (number != bodies_.size() + 1)
    throw InputError("the capture stream creates thread " + std::to_string(number) + " after " + std::to_string(bodies_.size()) +
                     " others");
  SyncEvent event;
  event.sequence = current().accesses;
  event.operation = SyncOperation::create;
  event.object = number, event.match = number - 1;
  current().folder.add_sync_event(event);
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
  objects_.set_running(thread_);
}

void Assembler::note_own_site(SiteId site) {
  const std::string& function = program_.sites[site.index()].function;
  if (function.find("std::") == std::string::npos) bodies_[thread_ - 1].own_site = site;
}

// The routine's name; std::thread's and std::async's routines are the library's, so there it is the lambda that they run, else the
// program's own function that they come to first.
std::string Assembler::label_of_body(const Body& body) const {
  const std::string name = program_.function_of(body.phase.site);
  if (name.find("std::thread::") == std::string::npos) return name.empty() ? "thread" : name;
  if (const std::string lambda = lambda_in(name); !lambda.empty()) return lambda;
  const std::string& own = program_.sites[body.own_site.index()].function;
  return own.empty() ? "std::thread" : own;
}

void Assembler::cut_thread() {
  Body& body = bodies_[thread_ - 1];
  if (body.own_site == SiteId{0}) return;  // it may name the thread
  if (body.phase.label.empty()) body.phase.label = label_of_body(body);
  add_item(body.phase, body.phase.by_rank[0], body.iteration++, body.rank);
  cut_item(body.rank);
}

void Assembler::end_thread(std::uint64_t number) {
  if (number == 0 || number > bodies_.size() || bodies_[number - 1].ended)
    throw InputError("the capture stream ends thread " + std::to_string(number) + ", which does not run");
  Body& body = bodies_[number - 1];
  body.ended = true;
  Phase& phase = body.phase;
  if (phase.label.empty()) phase.label = label_of_body(body);
  phase.region = region_of(phase, phase.label);
  Share& share = phase.by_rank[0];
  add_item(phase, share, body.iteration, body.rank);
  Execution execution;
  execution.iterations = body.iteration + 1;
  // Marks of the serial code that is open are not this execution's.
  std::vector<Mark> of_serial_code = std::exchange(marks_, {});
  write(phase, execution, number - 1);
  marks_ = std::move(of_serial_code);
  // Of a thread that was cut, or that spun in the twin for a while of its own, the twin would tell too much.
  if (cut_ || body.spun)
    work_.leave_out();
  else
    work_.note("thread", number, {{.region = phase.region, .accesses = share.accesses}});
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
