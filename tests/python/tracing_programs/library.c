#include "library.h"
double twice(const double* values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return 2 * sum;
}
