#include "models/distribution/task_production.hpp"

#include <algorithm>

namespace homenode {

TaskProduction::TaskProduction(const Parameters& parameters)
    : producers_option_{parameters.get("producers")}, stride_{parameters.get("stride")}, create_{parameters.time("create")} {}

void TaskProduction::prepare(std::int64_t iterations, std::size_t threads) {
  iterations_ = left_ = iterations;
  producers_.assign(threads, {});
  const auto team = static_cast<std::int64_t>(threads);
  const std::int64_t producers = producers_option_ == 0 ? team : std::min(producers_option_, team);
  for (std::int64_t p = 0; p < producers; ++p) {
    producers_[static_cast<std::size_t>(p)].next = iterations * p / producers;
    producers_[static_cast<std::size_t>(p)].last = iterations * (p + 1) / producers;
  }
}

std::optional<std::int64_t> TaskProduction::take_created(ThreadId thread) {
  Producer& producer = producers_[thread.index()];
  if (!producer.creating) return std::nullopt;
  producer.creating = false;
  --left_;
  return iteration_at(producer.next++);
}

bool TaskProduction::begin_next(ThreadId thread) {
  Producer& producer = producers_[thread.index()];
  if (producer.next == producer.last) return false;
  return producer.creating = true;
}

// i, i + stride, i + 2 stride, ... for i = 0, 1, ...: the iterations are rows of `stride`, walked column by column.
std::int64_t TaskProduction::iteration_at(std::int64_t place) const {
  const std::int64_t stride = std::min(stride_, std::max<std::int64_t>(iterations_, 1));
  const std::int64_t rows = iterations_ / stride, longer = iterations_ % stride;  // the first `longer` columns have one more
  if (place < longer * (rows + 1)) return place % (rows + 1) * stride + place / (rows + 1);
  const std::int64_t rest = place - longer * (rows + 1);
  return rest % rows * stride + longer + rest / rows;
}

std::vector<ParameterSpec> production_parameters() {
  return {integer_parameter("producers", "threads", "for loops: threads that create the tasks, each a contiguous share; 0 = all", 1, 0),
          integer_parameter("stride", "iterations",
                            "for loops: create the tasks in the order i, i + stride, i + 2 stride, ... for each i < stride", 1, 1),
          time_parameter("create", "for loops: time to create one task, allocation and copy of its arguments (assumed)",
                         Time::picoseconds(300'000), Time{})};
}

}  // namespace homenode
