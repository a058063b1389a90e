// Threads of a team that make a task of each iteration of a loop, one after the other, while the others run them:
// `#pragma omp single` around a loop of `#pragma omp task` (Wittmann and Hager 2010, section 2.1), or a worksharing loop around it
// when there are several producers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/parameters.hpp"
#include "sim/base/units.hpp"

namespace homenode {

class TaskProduction {
public:
  // `producers` and `stride` as production_parameters() says; `create`: time that one task takes its producer.
  explicit TaskProduction(const Parameters&);

  void prepare(std::int64_t iterations, std::size_t threads);
  // The iteration whose task the thread has been creating; none if it was not.
  std::optional<std::int64_t> take_created(ThreadId);
  // The thread begins with the task of its next iteration. False: it has created all of its own.
  bool begin_next(ThreadId);
  // Every task is created.
  bool over() const { return left_ == 0; }
  Time create_time() const { return create_; }

private:
  struct Producer {
    std::int64_t next = 0, last = 0;  // places in the order of creation
    bool creating = false;
  };
  std::int64_t iteration_at(std::int64_t place) const;

  std::int64_t producers_option_, stride_;
  Time create_;
  std::int64_t iterations_ = 0, left_ = 0;
  std::vector<Producer> producers_;
};

std::vector<ParameterSpec> production_parameters();

// One thread at a time: a lock or an atomic word, held for `hold`. Returns how long a thread that comes at `now` takes.
class SerialPart {
public:
  Time use(Time now, Time hold) {
    const Time begin = now < free_ ? free_ : now;
    free_ = begin + hold;
    return free_ - now;
  }

private:
  Time free_;
};

}  // namespace homenode
