/* 6400 chains of arithmetic on values of their own, which fit a few pages: nothing of NUMA makes them faster. */
enum { N = 6400 };
static double value[N];

int main(void) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < N; ++i) {
    double x = i;
    for (int step = 0; step < 2000; ++step) x = x * 0.999 + 1;
    value[i] = x;
  }
  return value[7] < 0;
}
