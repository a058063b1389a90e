/* One thread, which depends on nobody but main, while it runs: without a brother it is no postponed one. */
#include <pthread.h>

static int asked, answered;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* help(void* argument) {
  (void)argument;
  for (int done = 0; !done;) {
    pthread_mutex_lock(&mutex);
    done = asked;
    answered = asked;
    pthread_mutex_unlock(&mutex);
  }
  return 0;
}

int main(void) {
  pthread_t helper;
  pthread_create(&helper, 0, help, 0);
  pthread_mutex_lock(&mutex);
  asked = 1;
  pthread_mutex_unlock(&mutex);
  pthread_join(helper, 0);
  return !answered;
}
