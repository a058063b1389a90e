// Frames and tasks: whose stack frame an access of a task goes to.
#include <algorithm>
#include <iterator>

#include "traces/capture/assembler/objects.hpp"

namespace homenode {

void ObjectMap::set_rank(std::uint32_t rank) {
  if (!tasks_.empty()) ++epoch_;
  rank_ = rank;
}

void ObjectMap::begin_task_frames(std::uint32_t rank, std::uint64_t stack, std::uint32_t number) {
  ++epoch_;
  const auto behind = stacks_.upper_bound(stack);
  tasks_[rank].push_back({behind == stacks_.begin() ? 0 : std::prev(behind)->first, stack, number});
}

void ObjectMap::end_task_frames(std::uint32_t rank) {
  ++epoch_;
  tasks_[rank].pop_back();
}

// The task that a frame of this rank belongs to; 0: none, it is older.
std::uint32_t ObjectMap::task_of(std::uint32_t rank, std::uint64_t low) const {
  const auto known = tasks_.find(rank);
  if (known == tasks_.end()) return 0;
  const std::vector<Task>& tasks = known->second;
  const auto task = std::find_if(tasks.rbegin(), tasks.rend(), [&](const Task& t) { return t.low <= low && low < t.high; });
  return task == tasks.rend() ? 0 : task->number;
}

// Of the running rank's innermost task all that lies outside of its own part of the stack is somebody else's.
void ObjectMap::share_with_task(ObjectId id, std::uint64_t address, const Live* frame, std::uint64_t low) {
  if (tasks_.empty() || running_ != 0) return;
  const auto running = tasks_.find(rank_);
  if (running == tasks_.end() || running->second.empty()) return;
  const Task& task = running->second.back();
  TracedObject& object = objects[id.index()];
  if (object.kind != ObjectKind::stack || !object.thread_private || (task.low <= address && address < task.high)) return;
  object.thread_private = false;
  if (frame == nullptr) return;
  shared_with_tasks_.emplace(object.symbol, object.bytes);
  const Frame key{.function = object.symbol,
                  .bytes = object.bytes,
                  .is_private = false,
                  .rank = frame->rank,
                  .low = low,
                  .task = task_of(frame->rank, low)};
  frames_.try_emplace(key, id);
}

}  // namespace homenode
