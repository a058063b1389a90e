/* Partitioned shared memory: blocks that live on the NUMA node of the thread that owns them, whoever allocates, writes or frees them.
 *
 * The algorithm is JArena's: Z. Yang, A. Zhang, Z. Mo, "JArena: Partitioned Shared Memory for NUMA-awareness in Multi-threaded
 * Scientific Applications" (S1), sections 3 and 4. Each node has a heap of its own in the manner of tcmalloc; no page is ever shared
 * by two nodes, and a block freed on another node goes back to the node it came from.
 *
 * All functions may be called by any thread at any time, except in a child between fork and exec.
 *
 *   #pragma omp parallel                          // once, after the threads are pinned
 *   psm_register_thread(omp_get_thread_num());
 *   double* patch = psm_alloc(bytes, 3);          // on the node of thread 3
 *   psm_free(patch);
 */
#ifndef HOMENODE_PSM_H
#define HOMENODE_PSM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owners are numbered from 0 to PSM_MAX_OWNERS - 1, as the program likes; OpenMP's thread numbers suit. */
enum { PSM_MAX_OWNERS = 4096 };

/* How pages come to their node. */
enum psm_binding {
  PSM_ONE_NODE,    /* the machine has one node: nothing to bind */
  PSM_BOUND,       /* by mbind(MPOL_BIND), before the first touch */
  PSM_FIRST_TOUCH, /* the kernel refuses mbind (built without NUMA, or a sandbox forbids it): heaps are still kept apart by node, but a
                      page lies where it is first written, by the program or by the library's own list of free blocks */
};

/* The calling thread is `owner` and stays on the node where it runs now: pin it first. Blocks of this node that it frees are kept for
 * the next psm_alloc for this owner. Several threads may be one owner, if they share a node.
 * Returns 0; or -1 with errno EINVAL for an owner out of range, ENOMEM for want of memory on the node (some have none at all). */
int psm_register_thread(int owner);

/* Owner `owner` resides on `node`, said by another thread, or before the thread exists. The calling thread stays what it was.
 * Replaces what was said before: blocks already allocated stay where they are.
 * Returns 0; or -1 with errno EINVAL for an owner or a node out of range, ENOMEM for want of memory. */
int psm_place_owner(int owner, int node);

/* A block of at least `bytes` bytes, aligned to 16, on the node of `owner`. Its content is undefined. 0 bytes give a block of 16.
 * Returns null with errno EINVAL for an owner of whom no node is known, ENOMEM for want of memory. Where PSM_BOUND holds and the node
 * is full, the kernel ends the program rather than to put a page elsewhere (MPOL_BIND). */
void* psm_alloc(size_t bytes, int owner);

/* Gives a block back, from any thread; null does nothing. A pointer that is not the start of a block in use is a fault of the program;
 * one outside of every heap of this library aborts it. */
void psm_free(void* block);

/* Bytes that the program may use of the block; 0 for null and for pointers outside of every heap of this library. */
size_t psm_usable_size(const void* block);

/* The node whose heap an address belongs to, or -1 if none; the address is a block in use. */
int psm_node_of(const void* block);

/* The node of an owner, or -1 if none is known. */
int psm_node_of_owner(int owner);

/* Number of nodes, as the kernel tells: the highest number of a node that can be there, plus one. */
int psm_nodes(void);

/* How pages come to their node. */
enum psm_binding psm_binding(void);

#ifdef __cplusplus
}
#endif
#endif
