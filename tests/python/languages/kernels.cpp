// A five-point stencil and a matrix-vector product: templates, classes, exceptions and standard containers around them.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

namespace grid {
// b = 0.2 * (a and its four neighbours) on the inner points of n x n: five reads and a write for each.
template <class Number>
__attribute__((noinline)) void sweep(const std::vector<Number>& from, std::vector<Number>& to, int n) {
  const Number* a = from.data();
  Number* b = to.data();
#pragma omp parallel for schedule(dynamic, 3) default(none) shared(a, b, n)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      b[i * n + j] = 0.2 * (a[i * n + j] + a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
}

// y = A x: two reads for each element of A, a write a row.
class Matrix {
public:
  explicit Matrix(int n) : n_{n}, elements_(new double[n * n]) {
    if (n < 1) throw std::invalid_argument("no matrix");
    for (int i = 0; i < n * n; i++) elements_[i] = 1;
  }
  __attribute__((noinline)) void multiply(const double* x, double* y) const {
    const double* a = elements_.get();
    const int n = n_;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += a[i * n + j] * x[j];
      y[i] = sum;
    }
  }

private:
  int n_;
  std::unique_ptr<double[]> elements_;
};
}  // namespace grid

int main(int, char** words) {
  const int n = std::atoi(words[1]);
  std::vector<double> a(n * n, 1.0), b(n * n), x(n, 1.0), y(n);
  grid::sweep(a, b, n);
  grid::Matrix{n}.multiply(x.data(), y.data());
  std::atomic<int> refused{0};
  try {
    grid::Matrix{0};
  } catch (const std::invalid_argument&) { ++refused; }
  std::printf("%g %g %d\n", b[n + 1], y[0], refused.load());
  return 0;
}
