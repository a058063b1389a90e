/* Each thread keeps to its slot, but in `reach` reads the next one's, too; main adds one up before it is joined in `look`. */
#include <pthread.h>

struct slot {
  long value, sum;
};
static struct slot kept[9], reached[9], looked[9];

static void* keep(void* argument) {
  struct slot* slot = argument;
  slot[0].sum = slot[0].value;
  return 0;
}

static void* reach(void* argument) {
  struct slot* slot = argument;
  slot[0].sum = slot[1].sum;
  return 0;
}

static void* look(void* argument) {
  struct slot* slot = argument;
  slot[0].sum = slot[0].value;
  return 0;
}

int main(void) {
  pthread_t keeper[8], reacher[8], looker[8];
  long total = 0;
  for (int i = 0; i < 8; ++i) pthread_create(&keeper[i], 0, keep, &kept[i]);
  for (int i = 0; i < 8; ++i) pthread_join(keeper[i], 0);
  for (int i = 0; i < 8; ++i) total += kept[i].sum;
  for (int i = 0; i < 8; ++i) pthread_create(&reacher[i], 0, reach, &reached[i]);
  for (int i = 0; i < 8; ++i) pthread_join(reacher[i], 0);
  for (int i = 0; i < 8; ++i) pthread_create(&looker[i], 0, look, &looked[i]);
  for (int i = 0; i < 8; ++i) total += looked[i].sum;
  for (int i = 0; i < 8; ++i) pthread_join(looker[i], 0);
  return total != 0;
}
