/* Lossless detection of runs behind gcc's ThreadSanitizer entry points: consecutive accesses of one instruction with constant
 * steps in address and in sequence are one run. And for an access that breaks its stride, the load its address came from:
 * a pointer loaded a moment ago points at its line, or its address is linear in a value that one load delivers (an index), or it moved on
 * from the place before by a multiple of that value (a difference). Indices of 16 bits are taken for unsigned.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "blocks.h"
#include "runtime.h"

enum { ENTRIES = 8192, POINTERS = 1024 };

struct entry {
  uintptr_t pc;
  uint32_t id, info; /* info = width << 4 | kind << 1 | bulk */
  uint64_t base, last, sequence0, last_sequence, count, dsequence, distance;
  int64_t stride;
  uint64_t sent_base; /* of the last message of this site */
  uint64_t sent_count, sent_dsequence, sent_distance;
  int64_t sent_stride;
  bool open;
  /* dependence */
  int64_t value, x0, v0, scale, step;
  uint64_t origin; /* the address of the value 0, by what has held */
  uint64_t value_sequence, last_address, sequence_step;
  struct entry* producer;
  uint32_t confidence, tries, candidate;
  bool differs;       /* by the value itself, not by what it changed */
  uint32_t irregular; /* so many accesses of it, one after the other, were irregular */
};
enum { MOST_SCALE = 512 };                    /* bytes of an element that indices count */
enum { STEP_OF_A_CHAIN = 256 };               /* accesses from one index of a chain to the next, at most */
enum { FIRST_TRIES = 64, LATER_TRIES = 257 }; /* irregular accesses of an instruction whose producer is looked for: the first, one in */
/* An access is irregular if its distance from its instruction's previous access, in bytes or in accesses, is not that access's own
 * distance. The first two of a row are, and count half: a row counts as much as one access that is in no row. Unlike messages, such
 * accesses do not depend on where things lie in memory. After so many of an item the other end may cut it. */
enum { MAY_CUT_AFTER = 1 << 22, FIRST_OF_A_ROW = 2 };
uint32_t hn_irregular;

uint64_t hn_sequence;
uintptr_t hn_closure_low, hn_closure_high, hn_bound_low, hn_bound_high;
static struct entry entries[ENTRIES];
static uint32_t active[ENTRIES], active_count, next_id;
struct site {
  uintptr_t pc;
  uint32_t info, id;
  uint64_t sent_base;
};
static struct site* sites; /* open addressing by pc and info, at most half full */
static uint64_t site_slots;
static struct {
  uint64_t line, sequence;
  int64_t value;
} pointers[POINTERS + 1];
static uint64_t clock_now = 1; /* accesses in all: sequence numbers that survive items, for dependence */

/* Held: what is written at once is whole whenever a signal looks. */
static void send(struct entry* e) {
  if (e->count == 0) return;
  if (e->count > 2) e->irregular = 0; /* the third was regular */
  const int64_t moved = (int64_t)(e->base - e->sent_base);
  const uint64_t z = ((uint64_t)moved << 1) ^ (uint64_t)(moved >> 63);
  const bool fits = (e->id >> 16 | e->sequence0 >> 32 | z >> 48) == 0;
  if (e->count == 1 && fits && e->distance >> 16 == 0) {
    uint8_t* const m = hn_room();
    if ((e->id | z | e->sequence0 | e->distance) < 128) {
      hn_put_little(m, HN_RUN | e->id << 8 | 1u << 16 | z << 24 | e->sequence0 << 32 | e->distance << 40);
      hn_sent(6);
      e->sent_count = 1; /* as the other end has it */
    } else {
      hn_put_little(m, HN_ACCESS | e->id << 8 | e->sequence0 << 24 | (uint64_t)moved << 56);
      hn_put_little(m + 7, ((uint64_t)moved & 0xffffffffffff) | e->distance << 48);
      hn_sent(HN_ACCESS_BYTES);
    }
    e->sent_base = e->base;
    e->count = 0;
    return;
  }
  const bool same = e->count == e->sent_count && e->count > 1 && e->stride == e->sent_stride && e->dsequence == e->sent_dsequence &&
                    e->distance == e->sent_distance;
  if (!same && e->count == 2 && fits && e->distance == 0 && e->dsequence >> 16 == 0 && e->stride == (int32_t)e->stride) {
    uint8_t* const m = hn_room();
    hn_put_little(m, HN_PAIR | e->id << 8 | e->sequence0 << 24);
    hn_put_little(m + 7, (uint64_t)moved);
    hn_put_little(m + 13, (uint32_t)e->stride | e->dsequence << 32);
    hn_sent(HN_PAIR_BYTES);
    e->sent_count = 2, e->sent_stride = e->stride, e->sent_dsequence = e->dsequence, e->sent_distance = 0;
    e->sent_base = e->base;
    e->count = 0;
    return;
  }
  if (same)
    hn_begin(HN_RUN_SAME);
  else
    hn_begin_of(HN_RUN, e->count > 1 ? 6 : 4);
  hn_u(e->id);
  if (!same) hn_u(e->count);
  hn_z((int64_t)(e->base - e->sent_base));
  hn_u(e->sequence0);
  if (!same) {
    if (e->count > 1) {
      hn_z(e->stride);
      hn_u(e->dsequence);
    }
    hn_u(e->distance);
    e->sent_count = e->count, e->sent_stride = e->stride, e->sent_dsequence = e->dsequence, e->sent_distance = e->distance;
  }
  e->sent_base = e->base;
  e->count = 0;
}

void hn_close_runs(void) {
  hn_hold();
  for (uint32_t i = 0; i < active_count; ++i) {
    struct entry* e = &entries[active[i]];
    send(e);
    e->open = false;
  }
  active_count = 0;
  hn_let_go();
}
void hn_control(int opcode) {
  hn_close_runs();
  hn_begin(opcode);
}
void hn_new_item(void) { hn_sequence = 0, hn_irregular = 0; }
uint64_t hn_accesses(void) { return clock_now - 1; }

static struct site* slot_of(uintptr_t pc, uint32_t info) {
  uint64_t slot = ((pc ^ info) * 0x9E3779B97F4A7C15ul) >> 32;
  while (sites[slot &= site_slots - 1].pc && (sites[slot].pc != pc || sites[slot].info != info)) ++slot;
  return &sites[slot];
}
static struct site* site_of(uintptr_t pc, uint32_t info) {
  if (next_id * 2ul >= site_slots) {
    struct site* const old = sites;
    const uint64_t before = site_slots;
    site_slots = before ? before * 2 : 1024;
    sites = hn_pages(site_slots * sizeof *sites);
    if (!sites) abort();
    for (uint64_t i = 0; i < before; ++i)
      if (old[i].pc) *slot_of(old[i].pc, old[i].info) = old[i];
    if (old) munmap(old, before * sizeof *old);
  }
  struct site* found = slot_of(pc, info);
  if (found->pc) return found;
  *found = (struct site){pc, info, next_id++, 0};
  hn_begin(HN_PC);
  hn_u(found->id);
  hn_u(info >> 1 & 7);
  hn_u(info >> 4);
  hn_u(info & 1);
  hn_site((const void*)pc);
  return found;
}

/* Another instruction takes the slot: what was sent of the old one is kept, it may come back. */
static __attribute__((noinline)) void take(struct entry* e, uintptr_t pc, uint32_t info) {
  send(e);
  const bool open = e->open;
  if (e->pc) slot_of(e->pc, e->info)->sent_base = e->sent_base;
  *e = (struct entry){0};
  e->open = open;
  e->pc = pc;
  e->info = info;
  const struct site* site = site_of(pc, info);
  e->id = site->id;
  e->sent_base = site->sent_base;
}

/* Slots of tables must not depend on where the kernel put the program: equal programs collide alike. */
static inline unsigned pointer_slot(uint64_t line) {
  return (unsigned)((line - (hn_origin_of(line << 6) >> 6)) * 0x9E3779B97F4A7C15ul >> 54);
}

/* `dx` is a multiple of `v`, the same one as the times before, `least` at the least. */
static inline bool same_multiple(struct entry* e, int64_t dx, int64_t v, int64_t least) {
  if (v == 0 || dx == 0 || dx % v != 0) return false;
  const int64_t scale = dx / v;
  if (scale > MOST_SCALE || scale < least || (e->confidence && scale != e->scale)) return false;
  e->scale = scale;
  return true;
}
/* Whether the address moved by what the producer's value changed, or by that value, times the same number as before. Or the address is
 * where that value led before: a chain of indices begins at a place that another load delivers, and then goes on by the old law. */
static inline bool goes_on(struct entry* e, uint64_t address, int64_t dx, int64_t dv) {
  const int64_t value = e->producer->value;
  if (e->confidence == 0) e->differs = !same_multiple(e, dx, dv, 1);
  if (e->differs) return same_multiple(e, dx, value, -MOST_SCALE);
  const uint64_t origin_by_old_scale = address - (uint64_t)e->scale * (uint64_t)value;
  const bool as_before = e->confidence && dv && origin_by_old_scale == e->origin;
  if (!as_before && !same_multiple(e, dx, dv, 1)) return false;
  e->origin = address - (uint64_t)e->scale * (uint64_t)value;
  return true;
}

static bool delivers_addresses(const struct entry* e) {
  const unsigned width = e->info >> 4;
  return (e->info >> 1 & 7) == HN_READ && (width == 2 || width == 4 || width == 8);
}
/* The next load that may deliver the address: in turn those of a moment ago, and now and then the instruction itself, which is a chain of
 * indices. Never every n-th time: chains have lengths. */
static void look_for_producer(struct entry* e) {
  const uint32_t turn = e->tries < FIRST_TRIES ? e->tries : e->tries / LATER_TRIES;
  const bool itself = delivers_addresses(e) && turn % 4 == turn / 4 % 4;
  if (active_count && (e->tries < FIRST_TRIES || e->tries % LATER_TRIES == 0)) {
    if (!itself) e->candidate = (e->candidate + 1) % active_count;
    struct entry* c = itself ? e : &entries[active[e->candidate]];
    const bool lately = c->value_sequence + (itself ? STEP_OF_A_CHAIN : 16) > clock_now;
    if (delivers_addresses(c) && lately) e->producer = c, e->confidence = 0;
  }
  ++e->tries;
}

static uint64_t producer_of(struct entry* e, uint64_t address) {
  const int64_t step = (int64_t)(address - e->last_address);
  const bool regular = step == e->step;
  e->step = step;
  e->last_address = address;
  if (regular) return 0;
  for (uint64_t line = address >> 6, k = 0; k < 2; ++k, --line) {
    const unsigned h = pointer_slot(line);
    if (pointers[h].line == line && pointers[h].sequence && clock_now - pointers[h].sequence < 60000)
      return clock_now - pointers[h].sequence;
  }
  uint64_t found = 0;
  if (e->producer) {
    const int64_t dv = e->producer->value - e->v0, dx = (int64_t)address - e->x0;
    if (goes_on(e, address, dx, dv)) {
      if (e->confidence < 8) ++e->confidence;
      if (e->confidence >= 3) found = e->producer->value_sequence;
    } else if (!dv && !dx) {
      if (e->confidence >= 3) found = e->producer->value_sequence;
    } else if (e->confidence >= 4) {
      e->confidence -= 2;
    } else if (e->confidence >= 2) {
      e->confidence -= 1;
    } else {
      e->producer = 0, e->confidence = 0;
    }
  }
  if (!e->producer) look_for_producer(e);
  if (e->producer) e->x0 = (int64_t)address, e->v0 = e->producer->value;
  return found ? clock_now - found : 0;
}

/* A pointer goes into the table; one that was loaded a moment ago keeps the time of that. `h`: its place there. */
static inline void note_pointer(int64_t value, uint64_t h) {
  const bool lately = (pointers[h].value == value) & (clock_now - pointers[h].sequence < 256);
  pointers[h].line = (uint64_t)value >> 6;
  pointers[h].value = value;
  pointers[h].sequence = hn_select(lately, pointers[h].sequence, clock_now);
}
/* In a run the value is there before it is asked for, and what kind it is hardly changes. Else it may still be on its way from
 * memory: nothing branches on it, and a word that is no pointer goes to a place that nobody looks at. */
static inline void note_value(struct entry* e, uintptr_t address, unsigned width, bool in_run) {
  e->value = width == 8 ? *(const int64_t*)address : width == 4 ? *(const int32_t*)address : *(const uint16_t*)address;
  e->value_sequence = clock_now;
  if (width != 8) return;
  const uint64_t value = (uint64_t)e->value;
  const bool pointer = (value >> 47 == 0) & (value >= 65536);
  if (!in_run)
    note_pointer(e->value, hn_select(pointer, pointer_slot(value >> 6), POINTERS));
  else if (pointer)
    note_pointer(e->value, pointer_slot(value >> 6));
}

/* What the access counts; before the entry takes it. */
static inline unsigned irregular_halves(struct entry* e, uintptr_t address, uint64_t sequence) {
  const uint64_t step = sequence - e->last_sequence;
  const bool differs = ((int64_t)(address - e->last_address) != e->step) | (step != e->sequence_step);
  e->sequence_step = step;
  e->irregular = differs ? e->irregular + 1 : 0;
  return !differs ? 0 : e->irregular > FIRST_OF_A_ROW ? 2 : 1;
}
/* What the threads of a team do is not cut. */
static __attribute__((noinline)) void may_cut(void) {
  hn_irregular = 0;
  if (!hn_in_team()) hn_control(HN_MAY_CUT);
}

/* An access that does not go on with the open run of its instruction. */
static __attribute__((noinline)) void break_run(struct entry* e, uintptr_t address, uintptr_t pc, uint32_t info, uint64_t sequence) {
  hn_hold();
  if (e->pc != pc || e->info != info) take(e, pc, info);
  if (!e->open) {
    e->open = true;
    active[active_count++] = (uint32_t)(e - entries);
  }
  if (e->count > 1) send(e);
  if (__builtin_expect(address - hn_stacks_low < hn_stacks_high - hn_stacks_low, 0)) {
    hn_announce_frame(address);
    if (!e->open) { /* the announcement closed all runs */
      e->open = true;
      active[active_count++] = (uint32_t)(e - entries);
    }
  }
  const unsigned halves = irregular_halves(e, address, sequence);
  const uint64_t distance = producer_of(e, address);
  const int64_t stride = (int64_t)(address - e->base);
  if (e->count == 1 && stride < 65536 && stride > -65536 && distance == 0 && e->distance == 0) {
    e->stride = stride, e->dsequence = sequence - e->sequence0, e->count = 2, e->last = address, e->last_sequence = sequence;
  } else {
    send(e);
    e->base = e->last = address;
    e->sequence0 = e->last_sequence = sequence;
    e->count = 1, e->stride = 0, e->dsequence = 0, e->distance = distance;
  }
  if (halves && (hn_irregular += halves) >= 2u * MAY_CUT_AFTER) may_cut();
  hn_let_go();
}

/* The same word thousands of times: a flag that another thread is to set? In a team, with nothing in between: others get the token, but
 * for the 3rd, 5th to 7th ... time that nothing new was found: the word may be a number that nobody changes. Else a million times. */
static __attribute__((noinline)) void read_again(const struct entry* e, uintptr_t pc) {
  static uintptr_t word;
  static uint64_t value;
  static unsigned times;
  const bool in_team = hn_in_team();
  if (!in_team || e->dsequence != 1) {
    if ((e->count & 0xfffff) == 0) hn_spun_plainly((const void*)pc);
    return;
  }
  const uint64_t now = *(const volatile uint8_t*)e->last;
  if (word != e->last || value != now) word = e->last, value = now, times = 0;
  ++times;
  if ((times & (times - 1)) == 0) hn_spun_in_team((const volatile uint8_t*)word, (const void*)pc);
}

__attribute__((always_inline)) static inline void record(uintptr_t address, uintptr_t pc, unsigned kind, unsigned width, unsigned flags) {
  if (__builtin_expect(!hn_on, 0)) return;
  if (kind == HN_READ &&
      __builtin_expect(
          (address - hn_closure_low < hn_closure_high - hn_closure_low) | (address == hn_bound_low) | (address == hn_bound_high), 0))
    return;
  const uint64_t sequence = hn_sequence++;
  ++clock_now;
  const uint32_t info = width << 4 | kind << 1 | flags;
  const uintptr_t place = pc - hn_program;
  struct entry* e = &entries[(place ^ place >> 13 ^ kind) & (ENTRIES - 1)];
  /* Reads the program's memory, which may not be there: nothing is held. */
  const bool note = kind == HN_READ && (width == 8 || width == 4 || width == 2) && !flags;
  if (__builtin_expect(e->pc == pc && e->info == info && e->count > 1 && address - e->last == (uint64_t)e->stride &&
                           sequence - e->last_sequence == e->dsequence,
                       1)) {
    ++e->count;
    e->last = e->last_address = address;
    e->last_sequence = sequence;
    if (__builtin_expect((e->count & 0xfff) == 0, 0) && e->stride == 0 && kind == HN_READ) read_again(e, pc);
    if (note) note_value(e, address, width, true);
  } else {
    __builtin_prefetch((const void*)address); /* what the program is about to wait for, and note_value before it */
    break_run(e, address, pc, info, sequence);
    if (note) note_value(e, address, width, false);
  }
}

void hn_access(uintptr_t address, uintptr_t pc, unsigned kind, unsigned width, unsigned flags) { record(address, pc, kind, width, flags); }
void hn_range(uintptr_t address, size_t bytes, uintptr_t pc, unsigned kind, unsigned flags) {
  const uintptr_t end = address + bytes;
  while (address < end) {
    uintptr_t next = (address | 63) + 1;
    if (next > end) next = end;
    record(address, pc, kind, (unsigned)(next - address), flags);
    address = next;
  }
}

#define PC ((uintptr_t)__builtin_return_address(0))
/* Structures copied or cleared at once are bulk operations; up to 64 bytes it may be one vector. */
#define COPY(n) ((n) > 64 ? HN_FLAG_BULK : 0)
#define ACCESS(n)                                                                      \
  void __tsan_read##n(void* a) { record((uintptr_t)a, PC, HN_READ, n, 0); }            \
  void __tsan_write##n(void* a) { record((uintptr_t)a, PC, HN_WRITE, n, 0); }          \
  void __tsan_volatile_read##n(void* a) { record((uintptr_t)a, PC, HN_READ, n, 0); }   \
  void __tsan_volatile_write##n(void* a) { record((uintptr_t)a, PC, HN_WRITE, n, 0); } \
  void __tsan_unaligned_read##n(void* a) { record((uintptr_t)a, PC, HN_READ, n, 0); }  \
  void __tsan_unaligned_write##n(void* a) { record((uintptr_t)a, PC, HN_WRITE, n, 0); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16) void __tsan_read_range(void* a, size_t n) {
  hn_range((uintptr_t)a, n, PC, HN_READ, COPY(n));
}
void __tsan_write_range(void* a, size_t n) { hn_range((uintptr_t)a, n, PC, HN_WRITE, COPY(n)); }
void __tsan_vptr_update(void** a, void* v) { (void)v, record((uintptr_t)a, PC, HN_WRITE, 8, 0); }
void __tsan_vptr_read(void** a) { record((uintptr_t)a, PC, HN_READ, 8, 0); }
void __tsan_init(void) {
  hn_open(), hn_started = true;
  if (hn_recording) hn_note_traced_code((const void*)PC);
}

/* Loads of one word, exchanges and comparisons that changed nothing: after some of them others get the token. */
static const volatile void* spun;
static unsigned spins;
static inline void spin(const volatile void* word, const void* site) {
  if (spun != word) spun = word, spins = 0;
  if (++spins >= 16) spins = 0, hn_spun_on(word, site);
}
static inline void stored(const volatile void* word) {
  if (__builtin_expect(hn_words_waited_for != 0, 0)) hn_stored(word);
}
/* `omp flush` over and over, with next to nothing in between: a thread of a team waits for a flag. */
static __attribute__((noinline)) void fenced(const void* site) {
  static const void* last;
  static uint64_t sequence;
  static unsigned times;
  if (last != site || hn_sequence - sequence > 4) last = site, times = 0;
  sequence = hn_sequence;
  if (++times % 64 == 0 && hn_in_team()) hn_spun_in_team(0, site);
}
/* A load is a load. But of `omp atomic` on a floating-point number gcc makes a relaxed one and a compare and exchange that it does not
 * instrument: such a load stands for the update. A store is an exchange where it is sequentially consistent. */
#define ATOMIC(bits, type)                                                                   \
  type __tsan_atomic##bits##_load(const volatile type* a, int order) {                       \
    spin(a, (const void*)PC);                                                                \
    record((uintptr_t)a, PC, order == __ATOMIC_RELAXED ? HN_ATOMIC : HN_READ, bits / 8, 0);  \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                             \
  }                                                                                          \
  void __tsan_atomic##bits##_store(volatile type* a, type v, int order) {                    \
    record((uintptr_t)a, PC, order == __ATOMIC_SEQ_CST ? HN_ATOMIC : HN_WRITE, bits / 8, 0); \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST), stored(a);                                     \
  }                                                                                          \
  type __tsan_atomic##bits##_exchange(volatile type* a, type v, int order) {                 \
    (void)order, record((uintptr_t)a, PC, HN_ATOMIC, bits / 8, 0);                           \
    const type before = __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                         \
    if (before != v)                                                                         \
      stored(a);                                                                             \
    else                                                                                     \
      spin(a, (const void*)PC);                                                              \
    return before;                                                                           \
  }
#define COMPARE(bits, type, strength)                                                                      \
  int __tsan_atomic##bits##_compare_exchange_##strength(volatile type* a, type* c, type v, int s, int f) { \
    (void)s, (void)f, record((uintptr_t)a, PC, HN_ATOMIC, bits / 8, 0);                                    \
    const bool changed = __atomic_compare_exchange_n(a, c, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
    if (changed)                                                                                           \
      stored(a);                                                                                           \
    else                                                                                                   \
      spin(a, (const void*)PC);                                                                            \
    return changed;                                                                                        \
  }
#define FETCH(bits, type, op)                                                  \
  type __tsan_atomic##bits##_fetch_##op(volatile type* a, type v, int order) { \
    (void)order, record((uintptr_t)a, PC, HN_ATOMIC, bits / 8, 0);             \
    const type before = __atomic_fetch_##op(a, v, __ATOMIC_SEQ_CST);           \
    stored(a);                                                                 \
    return before;                                                             \
  }
#define ATOMICS(bits, type)   \
  ATOMIC(bits, type)          \
  COMPARE(bits, type, strong) \
  COMPARE(bits, type, weak)   \
  FETCH(bits, type, add) FETCH(bits, type, sub) FETCH(bits, type, and) FETCH(bits, type, or) FETCH(bits, type, xor) FETCH(bits, type, nand)
ATOMICS(8, uint8_t) ATOMICS(16, uint16_t) ATOMICS(32, uint32_t) ATOMICS(64, uint64_t) void __tsan_atomic_thread_fence(int order) {
  (void)order, __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (hn_on) fenced((const void*)PC);
}
void __tsan_atomic_signal_fence(int order) { (void)order; }
