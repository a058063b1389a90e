/* threads_postponed: workers, and a logger to which only its creator speaks.
 * Source: the postponed threads of I. Stirb's NUMA-BTLP (S3, section 3), written anew: "postponed" is a thread with data
 * dependencies only on the thread that created it, which first runs its other children. Here the main thread creates the logger,
 * then in each round a few autonomous workers; when they have ended, it passes their results to the logger through a short queue
 * (mutex, two condition variables). The logger writes them as text into one block of memory.
 * Self-check: the log, read back, holds every worker's number and result once, in order; a result has a closed form.
 */
#include "thread_work.h"

enum { QUEUE = 4, LINE = 32 }; /* records that wait; bytes of a line of the log */

static const struct affine map = {6364136223846793005u, 1442695040888963407u};

struct record {
  uint64_t worker, result;
};

struct log_queue {
  pthread_mutex_t mutex;
  pthread_cond_t filled, emptied;
  struct record waiting[QUEUE];
  int64_t put, taken; /* records so far */
  int64_t expected;   /* records in all */
  char* text;
};

struct worker {
  int64_t elements;
  uint64_t number, result;
  char unused[40];
};
_Static_assert(sizeof(struct worker) == 64, "workers share no line");

/* A line: the worker's number in 10 digits, a blank, the result in 20 digits, a newline. */
static void write_digits(char* text, int digits, uint64_t value) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) text[i] = (char)('0' + value % 10);
}

static void write_line(char* text, struct record record) {
  write_digits(text, 10, record.worker);
  text[10] = ' ';
  write_digits(text + 11, 20, record.result);
  text[31] = '\n';
}

static void* keep_log(void* argument) {
  struct log_queue* queue = argument;
  HOMENODE_THREAD_TYPE("postponed");
  for (int64_t line = 0; line < queue->expected; ++line) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->put == queue->taken) pthread_cond_wait(&queue->filled, &queue->mutex);
    const struct record record = queue->waiting[queue->taken % QUEUE];
    ++queue->taken;
    pthread_cond_signal(&queue->emptied);
    pthread_mutex_unlock(&queue->mutex);
    write_line(queue->text + line * LINE, record);
  }
  return NULL;
}

static void pass_to_logger(struct log_queue* queue, struct record record) {
  pthread_mutex_lock(&queue->mutex);
  while (queue->put - queue->taken == QUEUE) pthread_cond_wait(&queue->emptied, &queue->mutex);
  queue->waiting[queue->put % QUEUE] = record;
  ++queue->put;
  pthread_cond_signal(&queue->filled);
  pthread_mutex_unlock(&queue->mutex);
}

/* The sum of what the map makes of number, number + 1, ... */
static void* work(void* argument) {
  struct worker* worker = argument;
  HOMENODE_THREAD_TYPE("autonomous");
  const int64_t elements = worker->elements;
  uint64_t* x = kernel_allocate("threads_postponed", (size_t)elements, sizeof *x);
  for (int64_t i = 0; i < elements; ++i) x[i] = affine_value(map, worker->number + (uint64_t)i);
  uint64_t sum = 0;
  for (int64_t i = 0; i < elements; ++i) sum += x[i];
  free(x);
  worker->result = sum;
  return NULL;
}

/* factor * (n number + 0 + 1 + .. + n - 1) + n offset, modulo 2^64; of n and n - 1 one is even. */
KERNEL_UNTRACED static uint64_t expected_result(uint64_t number, uint64_t n) {
  const uint64_t triangle = n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1);
  return map.factor * (n * number + triangle) + map.offset * n;
}

KERNEL_UNTRACED static int64_t wrong_lines(const char* text, int64_t lines, uint64_t elements) {
  int64_t wrong = 0;
  for (int64_t line = 0; line < lines; ++line) {
    char expected[64];
    const int length = snprintf(expected, sizeof expected, "%010lld %020llu\n", (long long)line,
                                (unsigned long long)expected_result((uint64_t)line, elements));
    wrong += length != LINE || memcmp(text + line * LINE, expected, LINE) != 0;
  }
  return wrong;
}

int main(int argc, char** argv) {
  enum { WORKERS, ROUNDS, ELEMENTS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"workers", 3, 1, 4096, NULL},
                                      {"rounds", 2, 1, 1 << 20, NULL},
                                      {"elements", 1000, 1, (int64_t)1 << 40, NULL},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "threads_postponed", p, COUNT);
  const int64_t workers = p[WORKERS].value, rounds = p[ROUNDS].value;
  struct log_queue queue = {.expected = workers * rounds};
  queue.text = kernel_allocate("threads_postponed", (size_t)queue.expected, LINE);
  must_work("threads_postponed", "no mutex", pthread_mutex_init(&queue.mutex, NULL));
  must_work("threads_postponed", "no condition", pthread_cond_init(&queue.filled, NULL));
  must_work("threads_postponed", "no condition", pthread_cond_init(&queue.emptied, NULL));
  struct worker* worker = kernel_allocate("threads_postponed", (size_t)workers, sizeof *worker);
  pthread_t logger, *thread = kernel_allocate("threads_postponed", (size_t)workers, sizeof *thread);

  const double begin = KERNEL_REGION("threads");
  start_thread("threads_postponed", &logger, keep_log, &queue);
  for (int64_t round = 0; round < rounds; ++round) {
    for (int64_t i = 0; i < workers; ++i) {
      worker[i] = (struct worker){.elements = p[ELEMENTS].value, .number = (uint64_t)(round * workers + i)};
      start_thread("threads_postponed", &thread[i], work, &worker[i]);
    }
    for (int64_t i = 0; i < workers; ++i) {
      join_thread("threads_postponed", thread[i]);
      pass_to_logger(&queue, (struct record){worker[i].number, worker[i].result});
    }
  }
  join_thread("threads_postponed", logger);
  kernel_time("threads", begin);

  const int code = p[CHECK].value
                       ? kernel_verdict("threads_postponed", wrong_lines(queue.text, queue.expected, (uint64_t)p[ELEMENTS].value),
                                        "lines of the log are wrong")
                       : 0;
  pthread_cond_destroy(&queue.filled);
  pthread_cond_destroy(&queue.emptied);
  pthread_mutex_destroy(&queue.mutex);
  free(queue.text);
  free(worker);
  free(thread);
  return code;
}
