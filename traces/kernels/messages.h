/* Messages between patches: borders that travel through buffers, which are allocated in every step and freed in it.
 * Frameworks for patches, as that of JArena's authors, exchange borders so: the owner of a patch packs what its neighbours need, behind
 * a barrier each owner unpacks what was sent to its patches, and behind another one the sender frees the buffers. S1 prints neither
 * how many buffers there are nor how large they are: one for each thread with all that it sends (buffers=thread), or one for each
 * message (buffers=message).
 */
#ifndef HOMENODE_MESSAGES_H
#define HOMENODE_MESSAGES_H

#include "patches.h"

enum buffers { OF_THREAD, OF_MESSAGE };

/* Buffers of a thread for `count` messages of `elements` numbers each; their addresses go to `message`. */
KERNEL_INLINE static void allocate_messages(const char* kernel, double** message, int64_t count, int64_t elements, int64_t owner,
                                            enum buffers buffers) {
  double* block = buffers == OF_THREAD ? patch_block(kernel, count * elements, owner) : NULL;
  for (int64_t i = 0; i < count; ++i) message[i] = block ? block + i * elements : patch_block(kernel, elements, owner);
}

KERNEL_INLINE static void free_messages(double** message, int64_t count, enum buffers buffers) {
  for (int64_t i = 0; i < (buffers == OF_THREAD ? 1 : count); ++i) free(message[i]);
}

/* A border of rows x columns elements, strides apart, to a message and from it. */
KERNEL_INLINE static void pack(double* restrict message, const double* border, int64_t rows, int64_t columns, int64_t outer,
                               int64_t inner) {
  for (int64_t a = 0; a < rows; ++a)
    for (int64_t b = 0; b < columns; ++b) message[a * columns + b] = border[a * outer + b * inner];
}

KERNEL_INLINE static void unpack(double* restrict border, const double* message, int64_t rows, int64_t columns, int64_t outer,
                                 int64_t inner) {
  for (int64_t a = 0; a < rows; ++a)
    for (int64_t b = 0; b < columns; ++b) border[a * outer + b * inner] = message[a * columns + b];
}

#endif
