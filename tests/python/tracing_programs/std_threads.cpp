// std::thread with a function, a lambda and a member, std::condition_variable, std::async, a static that is made in one of the threads.
#include <condition_variable>
#include <future>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

namespace {
std::mutex mutex;
std::condition_variable filled;
std::vector<long> queue;
long total = 0;

struct Table {
  std::vector<long> squares;
  Table() {
    for (long i = 0; i < 50; ++i) squares.push_back(i * i), std::this_thread::yield();
  }
};
const Table& table() {
  static const Table made;
  return made;
}

void produce(long count) {
  for (long i = 0; i < count; ++i) {
    const std::lock_guard<std::mutex> lock{mutex};
    queue.push_back(table().squares[static_cast<std::size_t>(i)]);
    filled.notify_one();
  }
}

struct Consumer {
  long wanted = 0;
  void consume() {
    for (long taken = 0; taken < wanted; ++taken) {
      std::unique_lock<std::mutex> lock{mutex};
      filled.wait(lock, [] { return !queue.empty(); });
      total += queue.back();
      queue.pop_back();
    }
  }
};
}  // namespace

int main() {
  Consumer consumer{100};
  std::thread takes{&Consumer::consume, &consumer};
  std::thread first{produce, 50L};
  std::thread second{[] { produce(50); }};
  auto sum = std::async(std::launch::async, [] {
    long result = 0;
    for (const long square : table().squares) result += square;
    return result;
  });
  first.join();
  second.join();
  takes.join();
  std::cout << total << " " << 2 * sum.get() << "\n";
}
