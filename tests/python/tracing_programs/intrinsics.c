#include <immintrin.h>
#include <stdlib.h>
int main(void) {
  double* a = aligned_alloc(64, 4096);
  for (int i = 0; i < 512; i += 4) _mm256_store_pd(a + i, _mm256_set1_pd(i));
  const int result = a[9] != 8;
  free(a);
  return result;
}
