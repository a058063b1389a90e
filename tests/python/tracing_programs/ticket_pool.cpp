// Workers add to a counter and work: with `tasks`, they draw the numbers of 64 of them; with `references`, it goes up and down again.
// It prints how often each one came, how often another one came next, and what its registers held.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

static double values[64][512];
static std::atomic<long> counter;
static int came[4], others, last = -1;

static void work(int worker, double scale) {
  for (double& value : values[came[worker] % 64]) value = value * scale + worker;
  others += last != worker;
  last = worker;
  ++came[worker];
}
static void draw(int worker, double scale) {
  while (counter++ < 64) work(worker, scale);
}
static void refer(int worker, double scale) {
  for (int i = 0; i < 16; ++i) {
    counter.fetch_add(1, std::memory_order_relaxed);
    work(worker, scale);
    if (counter.fetch_sub(1) == 0) break;
  }
}
int main(int, char** words) {
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) workers.emplace_back(std::strcmp(words[1], "tasks") ? refer : draw, w, 0.5 + w);
  for (std::thread& worker : workers) worker.join();
  double sum = 0;
  for (const auto& row : values)
    for (const double value : row) sum += value;
  std::printf("%d %d %d %d, %d, %.17g\n", came[0], came[1], came[2], came[3], others, sum);
}
