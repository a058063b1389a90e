// What the program says about itself.
#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"
#include "traces/capture/assembler/names.hpp"
#include "traces/capture/assembler/state.hpp"

extern "C" {
#include "traces/capture/runtime/stream.h"
}

namespace homenode {

// Labels and steps cut the first thread's serial code: what comes after is another execution. What a created thread does is one execution.
void Assembler::take_mark() {
  const std::uint64_t kind = in_.u64(), value = in_.u64(), address = in_.u64(), bytes = in_.u64();
  const std::string text = as_utf8(in_.text());
  Mark mark;
  mark.text = text;
  switch (kind) {
    case HN_MARK_LABEL:
      mark.operation = MarkOperation::label;
      if (thread_ != 0) break;
      if (!in_parallel_) {
        if (pending_label_) serial_label_ = *pending_label_;  // no construct came: the mark was for this serial code
        cut_serial();
      }
      pending_label_ = text;
      break;
    case HN_MARK_STEP:
      mark.operation = MarkOperation::step;
      mark.value = static_cast<std::int64_t>(value);
      if (thread_ != 0) break;
      if (!in_parallel_) {
        if (pending_label_ && !serial_.folder.is_empty()) serial_label_ = std::exchange(pending_label_, std::nullopt);
        cut_serial();
      }
      step_ = std::max<std::int64_t>(mark.value, -1);
      break;
    case HN_MARK_STREAMABLE:
      mark.operation = MarkOperation::streamable;
      mark.value = static_cast<std::int64_t>(bytes);
      mark.object = objects_.object_at(address);
      streamable_.insert(mark.object.value());
      break;
    case HN_MARK_OWNER:
      mark.operation = MarkOperation::owner;
      mark.value = static_cast<std::int32_t>(value);
      mark.object = objects_.object_at(address);
      objects_.objects[mark.object.index()].owner_hint = static_cast<std::int32_t>(value);
      break;
    case HN_MARK_THREAD_TYPE: mark.operation = MarkOperation::thread_type; break;
    default: throw InputError("the capture stream has a mark of unknown kind " + std::to_string(kind));
  }
  Rank& rank = current();
  mark.sequence = rank.accesses;
  if (thread_ != 0) {
    mark.item.iteration = bodies_[thread_ - 1].iteration;
    bodies_[thread_ - 1].phase.marks.push_back(std::move(mark));
  } else if (in_parallel_ && task_stacks_[rank_].open > 0) {
    const OpenTask& task = *task_stacks_[rank_].tasks[task_stacks_[rank_].open - 1];
    mark.item.iteration = task.iteration;
    task_phases_[task.place].marks.push_back(std::move(mark));
  } else if (in_parallel_) {
    Phase& phase = phases_[rank.phase];
    mark.item.iteration = phase.kind == RegionKind::thread ? rank_ : rank.iteration;
    phase.marks.push_back(std::move(mark));
  } else {
    mark.item.iteration = serial_iteration_;
    marks_.push_back(std::move(mark));
  }
}

}  // namespace homenode
