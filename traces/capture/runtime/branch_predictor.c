/* TAGE (A. Seznec and P. Michaud, "A case for (partially) TAgged GEometric history length branch prediction", JILP 8, 2006), with three
 * tagged tables behind a bimodal one; targets of indirect jumps likewise (ITTAGE; A. Seznec, "A 64-Kbytes ITTAGE indirect branch
 * predictor", JWAC-2, 2011), so that an interpreter's jump to the next operation goes by what it did before. About 32 KiB of tables and
 * 2500 targets, as cores of the last decade have. Jumps go by their number, not their address: addresses differ from run to run.
 */
#include "branch_predictor.h"

#pragma GCC target("general-regs-only")

enum { TABLES = 3, ENTRIES = 2048, BASE_ENTRIES = 8192, LAST_TARGETS = 1024, TARGETS = 512, LONGEST = 64 };
static const unsigned history_bits[TABLES] = {8, 24, LONGEST};
struct entry {
  uint16_t tag;
  int8_t counter; /* taken from 0 on; -4 to 3 */
  uint8_t useful;
};
static struct entry tables[TABLES][ENTRIES];
static int8_t base[BASE_ENTRIES];           /* -2 to 1 */
static uint32_t last_targets[LAST_TARGETS]; /* by jump alone */
struct target_entry {
  uint32_t target;
  uint16_t tag;
  uint8_t confidence; /* 0 to 3 */
};
static struct target_entry targets[TABLES][TARGETS];
static const unsigned target_history_bits[TABLES] = {12, 32, LONGEST};
static uint64_t history; /* outcomes, the last one lowest */

static inline uint64_t of_jump(uint32_t jump) { return (uint64_t)(jump + 1) * 0xc2b2ae3d27d4eb4fu; }
static inline uint64_t hashed(uint64_t jump, unsigned bits) {
  const uint64_t part = bits < 64 ? history & ((1ull << bits) - 1) : history;
  uint64_t x = (part + 1) * 0x9e3779b97f4a7c15u ^ jump;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}
static inline uint16_t tag_of(uint64_t x) { return (uint16_t)(x >> 32 | 1); }
static inline int8_t trained(int8_t counter, bool taken, int least, int most) {
  const int next = counter + (taken ? 1 : -1);
  return (int8_t)(next < least ? least : next > most ? most : next);
}
static void learn(struct entry* const found[TABLES], const uint16_t tag[TABLES], int from, bool taken) {
  for (int t = from; t < TABLES; ++t) {
    if (found[t]->useful == 0) {
      *found[t] = (struct entry){tag[t], taken ? 0 : -1, 0};
      break;
    }
    --found[t]->useful;
  }
}
/* Written out table by table and nearly without branches: a twin asks for each branch that its program takes or not. The longest history
 * that is known predicts, the next one is the alternative. */
static inline bool is_predicted_right(uint64_t jump, int8_t* simple, bool taken) {
  const uint64_t x0 = hashed(jump, history_bits[0]), x1 = hashed(jump, history_bits[1]), x2 = hashed(jump, history_bits[2]);
  struct entry *const e0 = &tables[0][x0 % ENTRIES], *const e1 = &tables[1][x1 % ENTRIES], *const e2 = &tables[2][x2 % ENTRIES];
  const bool known0 = e0->tag == tag_of(x0), known1 = e1->tag == tag_of(x1), known2 = e2->tag == tag_of(x2);
  const bool by_base = *simple >= 0;
  const bool by0 = known0 ? e0->counter >= 0 : by_base;
  const bool by1 = known1 ? e1->counter >= 0 : by0;
  const bool predicted = known2 ? e2->counter >= 0 : by1;
  const bool alternative = known2 ? by1 : known1 ? by0 : by_base;
  struct entry* const provider = known2 ? e2 : known1 ? e1 : known0 ? e0 : 0;
  if (provider) {
    provider->counter = trained(provider->counter, taken, -4, 3);
    if (predicted != alternative) {
      if (predicted == taken && provider->useful < 3) ++provider->useful;
      if (predicted != taken && provider->useful > 0) --provider->useful;
    }
  } else {
    *simple = trained(*simple, taken, -2, 1);
  }
  if (predicted != taken)
    learn((struct entry*[]){e0, e1, e2}, (uint16_t[]){tag_of(x0), tag_of(x1), tag_of(x2)}, known2 ? 3 : known1 ? 2 : known0, taken);
  return predicted == taken;
}
uint32_t hn_mispredictions(uint32_t jump, bool taken, uint64_t times) {
  uint32_t wrong = 0;
  const uint64_t hash = of_jump(jump);
  int8_t* const simple = &base[jump % BASE_ENTRIES];
  /* Once the whole history is of one outcome, and the counters full, nothing changes. */
  for (uint64_t n = times < LONGEST + 8 ? times : LONGEST + 8; n > 0; --n) {
    wrong += !is_predicted_right(hash, simple, taken);
    history = history << 1 | taken;
  }
  return wrong;
}
static bool is_target_predicted(uint32_t jump, uint32_t target) {
  struct target_entry* found[TABLES];
  uint16_t tag[TABLES];
  int provider = -1;
  for (int t = 0; t < TABLES; ++t) {
    const uint64_t x = hashed(of_jump(jump), target_history_bits[t]);
    tag[t] = tag_of(x);
    found[t] = &targets[t][x % TARGETS];
    if (found[t]->tag == tag[t]) provider = t;
  }
  uint32_t* last = &last_targets[jump % LAST_TARGETS];
  const bool right = (provider >= 0 ? found[provider]->target : *last) == target;
  if (provider >= 0) {
    struct target_entry* entry = found[provider];
    if (right && entry->confidence < 3) ++entry->confidence;
    if (!right && entry->confidence == 0) entry->target = target;
    if (!right && entry->confidence > 0) --entry->confidence;
  }
  *last = target;
  for (int t = provider + 1; !right && t < TABLES; ++t) {
    if (found[t]->confidence == 0) {
      *found[t] = (struct target_entry){target, tag[t], 0};
      break;
    }
    --found[t]->confidence;
  }
  return right;
}
uint32_t hn_mispredicted_targets(uint32_t jump, uint32_t target, uint64_t times) {
  uint32_t wrong = 0;
  /* As above. */
  for (uint64_t n = times < LONGEST + 8 ? times : LONGEST + 8; n > 0; --n) {
    wrong += !is_target_predicted(jump, target);
    history = history << 2 | (target & 3);
  }
  return wrong;
}
