/* threads_pingpong: two threads that take turns on one word, through a mutex and a condition variable.
 * Source: the Context Switch benchmark of I. Stirb's measurements (S3, section 4), written anew. Each turn one thread applies
 * its own map to the word and wakes the other.
 * Self-check: the maps x -> 3 x + 1 and x -> 5 x + 4 (modulo 2^64) do not commute, so the word is what strict alternation makes of
 * it only then: the power, by squaring, of both maps in turn.
 */
#include "thread_work.h"

static const struct affine map_of_player[2] = {{3, 1}, {5, 4}};

struct table {
  pthread_mutex_t mutex;
  pthread_cond_t turned;
  int64_t turns, next; /* of each player; whose turn it is */
  uint64_t word;
};

struct player {
  struct table* table;
  int64_t number;
};

static void* play(void* argument) {
  const struct player* player = argument;
  struct table* table = player->table;
  HOMENODE_THREAD_TYPE("side-by-side");
  const struct affine map = map_of_player[player->number];
  for (int64_t turn = 0; turn < table->turns; ++turn) {
    pthread_mutex_lock(&table->mutex);
    while (table->next != player->number) pthread_cond_wait(&table->turned, &table->mutex);
    table->word = affine_value(map, table->word);
    table->next = 1 - player->number;
    pthread_cond_signal(&table->turned);
    pthread_mutex_unlock(&table->mutex);
  }
  return NULL;
}

int main(int argc, char** argv) {
  enum { TURNS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"turns", 100, 1, 1 << 30, NULL}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "threads_pingpong", p, COUNT);
  struct table table = {.turns = p[TURNS].value, .word = 1};
  must_work("threads_pingpong", "no mutex", pthread_mutex_init(&table.mutex, NULL));
  must_work("threads_pingpong", "no condition", pthread_cond_init(&table.turned, NULL));
  struct player player[2] = {{&table, 0}, {&table, 1}};
  pthread_t thread[2];

  const double begin = KERNEL_REGION("threads");
  for (int i = 0; i < 2; ++i) start_thread("threads_pingpong", &thread[i], play, &player[i]);
  for (int i = 0; i < 2; ++i) join_thread("threads_pingpong", thread[i]);
  kernel_time("threads", begin);

  const struct affine both = affine_after(map_of_player[0], map_of_player[1]);
  const uint64_t expected = affine_value(affine_power(both, (uint64_t)table.turns), 1);
  const int code = p[CHECK].value ? kernel_verdict("threads_pingpong", table.word != expected, "words differ from strict alternation") : 0;
  pthread_cond_destroy(&table.turned);
  pthread_mutex_destroy(&table.mutex);
  return code;
}
