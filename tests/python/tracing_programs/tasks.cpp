// Tasks whose firstprivate variables have constructors, and which push to a container under a critical section.
#include <cstdio>
#include <numeric>
#include <vector>

struct Block {
  std::vector<double> values;
  explicit Block(int n) : values(n) { std::iota(values.begin(), values.end(), n); }
};

int main() {
  std::vector<double> sums;
#pragma omp parallel
#pragma omp single
  for (int n = 1; n <= 10; ++n) {
    const Block block{n * 8};
#pragma omp task firstprivate(block) shared(sums)
    {
      const double sum = std::accumulate(block.values.begin(), block.values.end(), 0.0);
#pragma omp critical
      sums.push_back(sum);
    }
  }
  std::printf("%zu %g\n", sums.size(), std::accumulate(sums.begin(), sums.end(), 0.0));
}
