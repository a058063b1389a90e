#include "sim/base/host_threads.hpp"

#include <system_error>
#include <utility>

namespace homenode {

namespace {

// Times that a thread looks before it sleeps: the next job mostly comes within some ten microseconds, and to be woken takes as long.
constexpr int looks = 2000;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Waits until the value is no longer this one.
void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  for (int look = 0; look < looks; ++look) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

HostThreads::HostThreads(unsigned helpers) {
  try {
    for (unsigned helper = 0; helper < helpers; ++helper) helpers_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {  // as many as there are
  }
}

HostThreads::~HostThreads() {
  waiting_.store({}, std::memory_order_release);
  ends_.store(true, std::memory_order_release);
  jobs_.fetch_add(1, std::memory_order_release);
  jobs_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void HostThreads::start(std::uint32_t parts, std::function<void(std::uint32_t)> job) {
  job_ = std::move(job);
  parts_ = parts;
  failed_ = nullptr;
  done_.store(0, std::memory_order_relaxed);
  waiting_.store({0, parts}, std::memory_order_release);
  jobs_.fetch_add(1, std::memory_order_release);
  jobs_.notify_all();
}

void HostThreads::finish() {
  for (std::uint32_t part = 0; take(true, part);) run(part);
  for (std::uint32_t done = done_.load(std::memory_order_acquire); done < parts_; done = done_.load(std::memory_order_acquire))
    wait_while(done_, done);
  if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
}

bool HostThreads::take(bool from_the_end, std::uint32_t& part) {
  Range range = waiting_.load(std::memory_order_acquire);
  while (range.first < range.last) {
    const Range rest = from_the_end ? Range{range.first, range.last - 1} : Range{range.first + 1, range.last};
    part = from_the_end ? rest.last : range.first;
    if (waiting_.compare_exchange_weak(range, rest, std::memory_order_acq_rel, std::memory_order_acquire)) return true;
  }
  return false;
}

void HostThreads::run(std::uint32_t part) {
  try {
    job_(part);
  } catch (...) {
    const std::lock_guard lock{failing_};
    failed_ = std::current_exception();
  }
  const std::uint32_t parts = parts_;  // behind the last part the caller may begin another job
  if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == parts) done_.notify_one();
}

void HostThreads::help() {
  std::uint32_t seen = 0;
  while (!ends_.load(std::memory_order_acquire)) {
    wait_while(jobs_, seen);
    seen = jobs_.load(std::memory_order_acquire);
    for (std::uint32_t part = 0; take(false, part);) run(part);
  }
}

}  // namespace homenode
