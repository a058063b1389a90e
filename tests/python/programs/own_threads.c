/* A thread and the first one make 100 sweeps over 1000 elements each; a child process writes too. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static long other[1000], mine[1000];
static void* body(void* nothing) {
  for (int k = 0; k < 100; k++)
    for (int i = 0; i < 1000; i++) other[i] += i;
  free(malloc(100));
  return nothing;
}
int main(void) {
  pthread_t id;
  pthread_create(&id, 0, body, 0);
  for (int k = 0; k < 100; k++)
    for (int i = 0; i < 1000; i++) mine[i] += i;
  pthread_join(id, 0);
  if (fork() == 0) {
    mine[0] = 1;
    exit(0);
  }
  wait(0);
  return 0;
}
