#include "affinity.h"

void homenode_mapping_begin(struct homenode_mapping* mapping, unsigned cores) {
  mapping->cores = cores;
  CPU_SET(0, &mapping->cores_of_kind[0]);
  mapping->load[0] = 1;
  mapping->next_core = 1 % cores;
}

static unsigned least_loaded(const struct homenode_mapping* mapping) {
  unsigned best = 0;
  for (unsigned core = 1; core < mapping->cores; ++core)
    if (mapping->load[core] < mapping->load[best]) best = core;
  return best;
}

static cpu_set_t side_by_side(struct homenode_mapping* mapping, uint32_t kind) {
  cpu_set_t result = mapping->cores_of_kind[kind];
  for (uint32_t i = mapping->kinds[kind].fathers_begin; i < mapping->kinds[kind].fathers_end; ++i)
    CPU_OR(&result, &result, &mapping->cores_of_kind[mapping->fathers[i]]);
  if (CPU_COUNT(&result) == 0) {
    CPU_SET(mapping->next_core, &result);
    mapping->next_core = (mapping->next_core + 1) % mapping->cores;
  }
  return result;
}

cpu_set_t homenode_mapping_next(struct homenode_mapping* mapping, uint32_t kind) {
  cpu_set_t result;
  CPU_ZERO(&result);
  if (mapping->kinds[kind].type == HOMENODE_AUTONOMOUS) {
    const uint64_t i = mapping->autonomous++;
    const uint64_t threads = i < mapping->expected ? mapping->expected : mapping->cores;
    CPU_SET(homenode_autonomous_core(i, threads, mapping->cores), &result);
  } else if (mapping->kinds[kind].type == HOMENODE_POSTPONED) {
    CPU_SET(least_loaded(mapping), &result);
  } else {
    result = side_by_side(mapping, kind);
  }
  CPU_OR(&mapping->cores_of_kind[kind], &mapping->cores_of_kind[kind], &result);
  for (unsigned core = 0; core < mapping->cores; ++core) mapping->load[core] += CPU_ISSET(core, &result) != 0;
  return result;
}
