/* Routines from a table, one of which makes a thread itself; and one that hands its data to a function nobody knows. */
#include <pthread.h>

long unknown(long* data);

static long shared;

static void* leaf(void* argument) {
  *(long*)argument = 1;
  return 0;
}

static void* branch(void* argument) {
  pthread_t thread;
  long here;
  (void)argument;
  pthread_create(&thread, 0, leaf, &here);
  pthread_join(thread, 0);
  return 0;
}

static void* ask(void* argument) {
  (void)argument;
  unknown(&shared);
  return 0;
}

static void* (*const routines[])(void*) = {branch, ask};

int main(int argc, char** argv) {
  pthread_t thread[2];
  (void)argv;
  for (int i = 0; i < 2; ++i) pthread_create(&thread[i], 0, routines[(i + argc) % 2], 0);
  for (int i = 0; i < 2; ++i) pthread_join(thread[i], 0);
  return 0;
}
