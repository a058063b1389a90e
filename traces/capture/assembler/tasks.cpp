// Explicit tasks become iterations of executions of kind task: one for each place of a construct that creates them, in the order of
// their creation (sim/loop/tasks.hpp). They stand before the construct's other executions.
#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"
#include "traces/capture/assembler/state.hpp"

namespace homenode {

// The iteration of the item that creates a task now: of the innermost task, else of what the rank runs.
std::int64_t Assembler::creators_iteration() const {
  const TaskStack& stack = task_stacks_[rank_];
  if (stack.open > 0) return stack.tasks[stack.open - 1]->iteration;
  const Rank& rank = ranks_[rank_];
  return phases_[rank.phase].kind == RegionKind::thread ? std::int64_t{rank_} : rank.iteration;
}

std::size_t Assembler::task_phase(const CallSite& site) {
  const auto known = std::find_if(task_phases_.begin(), task_phases_.end(), [&](const Phase& phase) { return phase.site == site; });
  if (known != task_phases_.end()) return static_cast<std::size_t>(known - task_phases_.begin());
  Phase phase;
  phase.kind = RegionKind::task;
  phase.site = site;
  phase.step_mark = step_;
  // Places are numbered by their first task in constructs of this name, so that a label means one place.
  const std::string construct = parallel_label_ ? *parallel_label_ : program_.numbered(parallel_site_);
  auto& places = task_places_[construct];
  const std::size_t number = places.try_emplace(site, places.size()).first->second;
  phase.label = construct + ":task" + (number == 0 ? "" : std::to_string(number));
  phase.region = region_of(phase, phase.label);
  task_phases_.push_back(std::move(phase));
  return task_phases_.size() - 1;
}

void Assembler::begin_task(const CallSite& site, std::uint64_t stack_of_creator) {
  if (!in_parallel_ || thread_ != 0) throw InputError("the capture stream begins a task outside of a parallel construct");
  Rank& creator = current();
  const std::int64_t creators = creators_iteration();
  TaskStack& stack = task_stacks_[rank_];
  // Each rank creates tasks in its code, as many as there are ranks at capture: another team would create others.
  if (stack.open == 0 && phases_[ranks_[rank_].phase].kind == RegionKind::thread) phases_[ranks_[rank_].phase].bound = true;
  if (!creator.in_item) throw InputError("the capture stream begins a task outside of any item");
  const std::size_t place = task_phase(site);
  const std::int64_t iteration = task_phases_[place].iterations++;
  SyncEvent event;
  event.sequence = creator.accesses;
  event.operation = SyncOperation::task_submit;
  event.object = place, event.match = static_cast<std::uint64_t>(iteration) - static_cast<std::uint64_t>(creators);
  creator.folder.add_sync_event(event);
  if (stack.open == stack.tasks.size()) stack.tasks.push_back(std::make_unique<OpenTask>());
  OpenTask& task = *stack.tasks[stack.open++];
  task.place = place;
  task.iteration = iteration;
  task.rank.in_item = true;
  task.rank.accesses = 0;
  objects_.begin_task_frames(rank_, stack_of_creator, ++tasks_begun_);
}

void Assembler::take_task_end() {
  if (!in_parallel_ || thread_ != 0 || task_stacks_[rank_].open == 0) throw InputError("the capture stream ends a task where none is open");
  TaskStack& stack = task_stacks_[rank_];
  OpenTask& task = *stack.tasks[stack.open - 1];
  // Tasks of one rank and depth come one after the other, so that iterations of a share grow.
  const auto share = static_cast<std::uint32_t>((stack.open - 1) * ranks_.size() + rank_);
  Phase& phase = task_phases_[task.place];
  add_item(phase, phase.by_rank[share], task.iteration, task.rank);
  --stack.open;
  objects_.end_task_frames(rank_);
}

// Where the stream was cut, tasks are as far as they came.
void Assembler::end_open_tasks() {
  for (rank_ = 0; rank_ < task_stacks_.size(); ++rank_)
    while (task_stacks_[rank_].open > 0) take_task_end();
  rank_ = 0;
}

void Assembler::write_tasks(TwinWork::Shares& shares) {
  for (std::size_t place = 0; place < task_phases_.size(); ++place) {
    Phase& phase = task_phases_[place];
    Execution execution;
    execution.team = parallel_team_;
    execution.parallel = static_cast<std::uint32_t>(parallel_serial_ + 1);
    execution.iterations = phase.iterations;
    const std::uint64_t accesses = phase.accesses();
    write(phase, execution, task_place(place));
    shares.push_back({phase.region, accesses, static_cast<std::uint64_t>(phase.iterations)});
  }
  task_phases_.clear();
  tasks_begun_ = 0;
}

}  // namespace homenode
