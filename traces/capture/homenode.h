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
/* The same by their first names. */
#define homenode_step(n) HOMENODE_STEP(n)
#define homenode_streamable(p, n) HOMENODE_STREAMABLE(p, n)
#define homenode_owner(p, rank) HOMENODE_OWNER(p, rank)
#endif
