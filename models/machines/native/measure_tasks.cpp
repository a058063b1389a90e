#include "models/machines/native/measure_tasks.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <limits>

#include "models/machines/native/measuring.hpp"

namespace homenode::native {
namespace {

// As compiled code calls them (GCC, libgomp/libgomp_g.h). Their last arguments are younger than libgomp 4.5, which does not look at them.
struct Libgomp {
  using Body = void (*)(void*);
  void (*parallel)(Body, void* data, unsigned threads, unsigned flags);
  void (*task)(Body, void* data, void (*copy)(void*, void*), long size, long align, bool deferred, unsigned flags, void** depend,
               int priority, void* detach);
  void (*wait)();
};

std::optional<Libgomp> libgomp() {
  void* library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);  // stays loaded, as its threads would need it
  if (library == nullptr) return std::nullopt;
  Libgomp found{};
  found.parallel = reinterpret_cast<decltype(found.parallel)>(dlsym(library, "GOMP_parallel"));
  found.task = reinterpret_cast<decltype(found.task)>(dlsym(library, "GOMP_task"));
  found.wait = reinterpret_cast<decltype(found.wait)>(dlsym(library, "GOMP_taskwait"));
  if (found.parallel == nullptr || found.task == nullptr || found.wait == nullptr) return std::nullopt;
  return found;
}

struct Sample {
  const Libgomp& runtime;
  TaskNanoseconds least;
};

long work;  // of the tasks, so that they are none without effect

void add(void* number) { work += *static_cast<long*>(number); }

// In a team of one. libgomp queues up to 64 tasks a thread.
void time_tasks(void* data) {
  constexpr int tasks = 50;
  Sample& sample = *static_cast<Sample*>(data);
  const auto create = [&](bool deferred) {
    for (long task = 0; task < tasks; ++task)
      sample.runtime.task(add, &task, nullptr, sizeof task, alignof(long), deferred, 0, nullptr, 0, nullptr);
  };
  const auto nanoseconds = [&](auto&& part) { return seconds_of(part) / tasks * 1e9; };
  sample.least.call = std::min(sample.least.call, nanoseconds([&] { create(false); }));
  sample.least.create = std::min(sample.least.create, nanoseconds([&] { create(true); }));
  sample.least.take = std::min(sample.least.take, nanoseconds([&] { sample.runtime.wait(); }));
}

}  // namespace

std::optional<TaskNanoseconds> task_nanoseconds(unsigned repeats) {
  const std::optional<Libgomp> runtime = libgomp();
  if (!runtime) return std::nullopt;
  constexpr double never = std::numeric_limits<double>::infinity();
  Sample sample{*runtime, {}};
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    if (repeat <= 1) sample.least = {never, never, never};
    runtime->parallel(time_tasks, &sample, 1, 0);
  }
  keep(work);
  return sample.least;
}

}  // namespace homenode::native
