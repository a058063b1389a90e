// std::thread: two that count in one variable, one that keeps to a vector of its own; each says that it is bound to one core.
#include <sched.h>

#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex, begin;
static long counter = 0;

static void wait_until_bound() { const std::lock_guard<std::mutex> hold(begin); }

static void say(const char* who) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  std::printf("%s %d\n", who, CPU_COUNT(&cores));
}

static void count(int times) {
  wait_until_bound();
  for (int i = 0; i < times; ++i) {
    const std::lock_guard<std::mutex> hold(mutex);
    ++counter;
  }
  say("counter");
}

static void own() {
  wait_until_bound();
  std::vector<long> numbers(100);
  for (long i = 0; i < 100; ++i) numbers[static_cast<std::size_t>(i)] = i * i;
  say("own");
}

int main() {
  begin.lock();
  std::thread first(count, 1000), second(count, 1000), third(own);
  begin.unlock();
  first.join();
  second.join();
  third.join();
  return counter == 2000 ? 0 : 1;
}
