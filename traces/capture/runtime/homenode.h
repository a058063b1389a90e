/* What a program may tell a trace. Without the recording runtime every call does nothing. */
#ifndef HOMENODE_H
#define HOMENODE_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
void homenode_mark_label(const char* text) __attribute__((weak));
void homenode_mark_step(int64_t step) __attribute__((weak));
void homenode_mark_streamable(const void* address, size_t bytes) __attribute__((weak));
void homenode_mark_owner(const void* address, int rank) __attribute__((weak));
void homenode_mark_thread_type(const char* text) __attribute__((weak));
void homenode_loop_begin(int64_t iterations) __attribute__((weak));
void homenode_item_begin(int64_t iteration) __attribute__((weak));
void homenode_item_end(void) __attribute__((weak));
void homenode_loop_end(void) __attribute__((weak));
#ifdef __cplusplus
}
#endif
/* Names the next parallel construct, or the serial code up to the next mark. */
#define HOMENODE_LABEL(text) ((void)(homenode_mark_label ? (homenode_mark_label(text), 0) : 0))
/* A time step begins here; a negative number: the last one is over. */
#define HOMENODE_STEP(n) ((void)(homenode_mark_step ? (homenode_mark_step(n), 0) : 0))
/* Stores to the block may bypass the caches. */
#define HOMENODE_STREAMABLE(p, n) ((void)(homenode_mark_streamable ? (homenode_mark_streamable(p, n), 0) : 0))
/* The block belongs to this rank. */
#define HOMENODE_OWNER(p, rank) ((void)(homenode_mark_owner ? (homenode_mark_owner(p, rank), 0) : 0))
/* What kind of work the calling thread does from here on, in the program's own words. */
#define HOMENODE_THREAD_TYPE(text) ((void)(homenode_mark_thread_type ? (homenode_mark_thread_type(text), 0) : 0))
/* A parallel loop whose iterations a library hands out that homenode does not know (Threading Building Blocks, a pool of one's own):
 * begun and ended by the program's first thread, which also runs every iteration while it is traced, in any order. A replay may give
 * each item to any thread. What runs between the items is the library's, and not recorded. */
#define HOMENODE_LOOP_BEGIN(n) ((void)(homenode_loop_begin ? (homenode_loop_begin(n), 0) : 0))
#define HOMENODE_ITEM_BEGIN(i) ((void)(homenode_item_begin ? (homenode_item_begin(i), 0) : 0))
#define HOMENODE_ITEM_END() ((void)(homenode_item_end ? (homenode_item_end(), 0) : 0))
#define HOMENODE_LOOP_END() ((void)(homenode_loop_end ? (homenode_loop_end(), 0) : 0))
/* The same by their first names. */
#define homenode_step(n) HOMENODE_STEP(n)
#define homenode_streamable(p, n) HOMENODE_STREAMABLE(p, n)
#define homenode_owner(p, rank) HOMENODE_OWNER(p, rank)
#endif
