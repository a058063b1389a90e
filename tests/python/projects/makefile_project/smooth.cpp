#include "heat.h"
void smooth(const double* from, double* to, int n) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++) to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
}
