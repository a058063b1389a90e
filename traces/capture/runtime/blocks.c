/* Open addressing without tombstones. A spin lock: threads of the program's own may free what the team allocated. */
#include "blocks.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "runtime.h"

static struct block* slots;
static size_t capacity, used;
static unsigned char held;

static void take_lock(void) {
  while (__atomic_test_and_set(&held, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
}
static void drop_lock(void) { __atomic_clear(&held, __ATOMIC_RELEASE); }
static size_t home_of(uintptr_t address) { return (address >> 4) * 0x9E3779B97F4A7C15ul >> 20 & (capacity - 1); }
static struct block* find(uintptr_t address) {
  if (!capacity) return 0;
  for (size_t slot = home_of(address); slots[slot].address; slot = (slot + 1) & (capacity - 1))
    if (slots[slot].address == address) return &slots[slot];
  return 0;
}
static struct block* insert(uintptr_t address) {
  size_t slot = home_of(address);
  while (slots[slot].address) slot = (slot + 1) & (capacity - 1);
  slots[slot].address = address;
  return &slots[slot];
}
static void grow(void) {
  struct block* const old = slots;
  const size_t before = capacity;
  capacity = before ? before * 2 : 4096;
  slots = hn_pages(capacity * sizeof *slots);
  if (!slots) abort();
  for (size_t slot = 0; slot < before; ++slot)
    if (old[slot].address) *insert(old[slot].address) = old[slot];
  if (old) munmap(old, before * sizeof *old);
}
/* Entries behind the hole move up where their probe sequence passes it. */
static void erase(struct block* gone) {
  const size_t mask = capacity - 1;
  size_t hole = (size_t)(gone - slots);
  slots[hole] = (struct block){0};
  for (size_t slot = (hole + 1) & mask; slots[slot].address; slot = (slot + 1) & mask) {
    if (((slot - home_of(slots[slot].address)) & mask) < ((slot - hole) & mask)) continue;
    slots[hole] = slots[slot];
    slots[slot] = (struct block){0};
    hole = slot;
  }
  --used;
}

void hn_blocks_add(uintptr_t address, size_t bytes, size_t mapped) {
  take_lock();
  struct block* b = find(address);
  if (!b) {
    if (++used * 2 > capacity) grow();
    b = insert(address);
  }
  b->bytes = bytes, b->mapped = mapped;
  drop_lock();
}
bool hn_blocks_find(uintptr_t address, struct block* found) {
  take_lock();
  const struct block* b = find(address);
  if (b) *found = *b;
  drop_lock();
  return b != 0;
}
bool hn_blocks_take(uintptr_t address, struct block* taken) {
  take_lock();
  struct block* b = find(address);
  if (b) *taken = *b, erase(b);
  drop_lock();
  return b != 0;
}
