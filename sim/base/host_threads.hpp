// Threads of the host that share the parts of one job at a time with the caller. Which of them takes a part is chance: a result must not
// depend on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace homenode {

class HostThreads {
public:
  // So many besides the caller; fewer where the host gives no more.
  explicit HostThreads(unsigned helpers);
  ~HostThreads();
  HostThreads(const HostThreads&) = delete;
  HostThreads& operator=(const HostThreads&) = delete;

  // Helpers begin with parts 0, 1, ... The caller may do something else until `finish`, and must call it before the next `start`.
  void start(std::uint32_t parts, std::function<void(std::uint32_t part)> job);
  // The caller takes what nobody has begun, from the last part on. All are done when it returns; throws what one of them threw.
  void finish();

private:
  struct Range {
    std::uint32_t first = 0, last = 0;
  };
  bool take(bool from_the_end, std::uint32_t& part);
  void run(std::uint32_t part);
  void help();

  std::function<void(std::uint32_t)> job_;
  std::uint32_t parts_ = 0;
  std::atomic<Range> waiting_{};  // parts that nobody has begun
  std::atomic<std::uint32_t> done_{0}, jobs_{0};
  std::atomic<bool> ends_{false};
  std::mutex failing_;
  std::exception_ptr failed_;
  std::vector<std::thread> helpers_;
};

}  // namespace homenode
