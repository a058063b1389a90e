/* Three threads: each fills its row, adds it up, and adds the sum to the total behind a mutex. */
#include <pthread.h>
#include <stdio.h>
static long rows[3][100], total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* add(void* argument) {
  long *row = argument, sum = 0;
  for (int i = 0; i < 100; ++i) row[i] = i;
  for (int i = 0; i < 100; ++i) sum += row[i];
  pthread_mutex_lock(&mutex);
  total += sum;
  pthread_mutex_unlock(&mutex);
  return 0;
}
int main(void) {
  pthread_t threads[3];
  for (int k = 0; k < 3; ++k) pthread_create(&threads[k], 0, add, rows[k]);
  for (int k = 0; k < 3; ++k) pthread_join(threads[k], 0);
  printf("%ld\n", total);
  return total != 3 * 4950;
}
