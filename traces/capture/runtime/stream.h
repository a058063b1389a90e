/* The stream from the recording runtime (in the traced process, C) to the assembler (in `homenode capture`, C++).
 *
 * One pipe, one writer at a time (a team runs under a token, so the order is deterministic), messages back to back:
 * an opcode byte, then its fields. Fields are unsigned LEB128 varints unless marked: z = zigzag varint, s = string
 * (varint length, bytes), site = two varints: module id, offset in the module. Addresses are absolute.
 * The stream ends with HN_END; end of file without it means that the program was killed: all that arrived is kept.
 * A run is sent when it closes, always before the next control message, so each run belongs to the item that is
 * current, of the rank that is current. `sequence` counts the accesses of the current item from 0; HN_ITEM and every
 * message marked (new item) start again at 0.
 * The runtime finds the descriptor in HOMENODE_STREAM_FD; without it, it records nothing.
 *
 * Details that a consumer relies on:
 * - Each pc has one `previous` address, 0 at first: HN_RUN, HN_RUN_SAME, HN_ACCESS and HN_PAIR set it to their base, HN_COLUMN to each of
 * its addresses in turn. Sequence numbers of one item have no holes: when all runs are closed, the item's next access is number (accesses
 * received for it so far). So an HN_ALLOCATE, HN_RELEASE, HN_SYNC or HN_MARK stands at that number.
 * - HN_MAY_CUT comes after every so many irregular accesses of an item (recorder.c), in any code but that of a team. The item and its
 *   sequence go on; a consumer may ignore it.
 * - HN_MODULE and HN_PC close no runs; HN_FRAME closes only the runs on stacks; every other message closes all.
 * - HN_RANK alone starts no item: after it, the rank goes on with the item it left, and with that item's sequence.
 * - A marked loop (homenode.h) is a HN_PARALLEL_BEGIN with a team of one, HN_LOOP_BEGIN, HN_ITEMs in any order, HN_LOOP_END,
 *   HN_PARALLEL_END.
 * - Each rank of a team sends its own HN_LOOP_BEGIN, HN_ITEM for its contiguous share (as static does), and HN_LOOP_END;
 *   HN_LOOP_END with nowait = 0 is followed by that rank's HN_BARRIER. Each rank sends HN_BARRIER once as it arrives.
 *   gcc compiles `parallel for` as a parallel region whose loop ends with nowait = 1: the join follows, which is
 *   HN_PARALLEL_END. There is no HN_BARRIER for the join.
 * - HN_SINGLE with taken = 1 is followed by HN_SINGLE_END when the rank reaches its next barrier, construct or join (gcc
 *   marks no end); with taken = 0 there is no HN_SINGLE_END.
 * - Constructs outside a parallel region, and those nested in a second level of parallelism, send no construct messages: they
 *   are part of the item around them (a nested parallel region has a team of one, an HN_LOSS at its first execution and one for the others
 * before HN_END).
 * - Tasks run at their creation, on the rank that creates them: HN_SYNC depend (object, match = 1 in, 2 all that excludes others) for each
 *   address, HN_TASK_BEGIN, what the task does, HN_TASK_END. Tasks nest. HN_SYNC task_wait (0, match = 0 for all children, 1 for those that
 * the depend events before it name), task_group_begin and task_group_end (0, 0) where the program waits, if there is anything to wait for.
 *   Nothing else of constructs comes while a task runs. Tasks that are not deferred are part of the item that creates them.
 * - HN_SYNC objects are dense numbers in order of first use: 0 the unnamed critical section, 1 libgomp's atomic fallback,
 *   2 and up named critical sections, locks and dependence addresses. `match` of lock, unlock, critical_enter, critical_leave,
 *   ordered_enter and ordered_leave is the ordinal of that acquisition of the object, from 0. doacross: signal and wait with
 *   object = linear iteration.
 * - HN_USER_RANK is sent once for each rank and parallel region, for a query outside loops. Iterations of loops that ask are an HN_LOSS.
 *   Code outside parallel regions sends none.
 * - Threads that the program creates: 0 is the first one, the others are numbered from 1 by creation. What each does is one item to the
 * runtime; thread 0's constructs and items are as if there were no others. Other threads send no constructs. HN_SYNC join has the thread as
 * its object; wait, signal, broadcast and atomic_wait have numbers of signals as their match, barrier the number of participants, try_lock
 * 1 where it succeeded.
 * - A thread's HN_STACK range contains its HN_TLS range (glibc puts TLS at the top of the stack): look up TLS first.
 * - HN_FRAME with site (0, 0): the argument vector and strings of the program. Bulk operations (memcpy, memset ...) are runs of at
 *   most 64 bytes an access, cut at line boundaries, reads and writes of a copy interleaved.
 * - Heap: only blocks whose HN_ALLOCATE was sent get an HN_RELEASE. A reallocation is one HN_ALLOCATE with the old address
 *   (also when the block stayed where it was).
 */
#ifndef HOMENODE_STREAM_H
#define HOMENODE_STREAM_H

enum { HN_STREAM_VERSION = 4 };

enum hn_opcode {
  HN_HELLO = 1, /* version, page_size, team, main_stack_low, main_stack_high; first message */
  HN_MODULE,    /* module id, load_bias, s path; the main program is module 0 */
  HN_PC,        /* pc id (dense, from 0), kind (hn_kind), width, flags (hn_flag), site */
  HN_RUN,       /* pc id, count, z base - previous base of this pc, sequence0, [count > 1: z stride, dsequence], producer distance */
  HN_RUN_SAME,  /* pc id, z base - previous base of this pc, sequence0; count, stride, dsequence, distance as this pc's last HN_RUN */
  HN_COLUMN,   /* pc id, n, then n times: z address - previous address of this pc, sequence - previous sequence (first: absolute), distance:
                  irregular accesses that formed no runs */
  HN_ALLOCATE, /* address, bytes, operation (hn_heap), zeroed, old address (reallocate, else 0), alignment, site */
  HN_RELEASE,  /* address, operation, site */
  HN_FRAME, /* rank, low address, high address, site of the function; replaces every frame it overlaps; sent when a run first touches it */
  HN_TLS,   /* rank, low address, high address of the thread's static TLS block */
  HN_STACK, /* rank, low address, high address of a thread's stack */
  HN_PARALLEL_BEGIN, /* serial number, team size, site of the call, site of the body (new item) */
  HN_PARALLEL_END,   /* serial number (new item: serial code) */
  HN_RANK,           /* rank: what follows is done by this rank of the current team; each rank goes on with its own item */
  HN_LOOP_BEGIN,     /* site, z low, z high, z step, flags (hn_loop), iterations (new item: none until HN_ITEM) */
  HN_ITEM,           /* logical iteration, 0 .. iterations-1 (new item) */
  HN_LOOP_END,       /* nowait (new item: the rank's code after the loop) */
  HN_BARRIER,        /* site of the call (new item) */
  HN_SECTIONS_BEGIN, /* site, sections; then HN_ITEM for each section, HN_LOOP_END */
  HN_SINGLE,         /* site, taken (new item) */
  HN_SINGLE_END,     /* (new item) */
  HN_SYNC,           /* operation (SyncOperation of sim/program/workload.hpp by number), object, match */
  HN_USER_RANK,      /* the program itself asked for its thread number: the code of this parallel region from here on may differ by rank */
  HN_MARK,           /* hn_mark, value, address, bytes, s text */
  HN_LOSS,           /* count, site, s reason */
  HN_END,            /* exit status (~0 when unknown), accesses recorded in all */
  HN_THREAD_CREATE,  /* thread, low address, high address of its stack, site of its routine: the thread that runs creates it */
  HN_THREAD,         /* thread: what follows is done by this one; each goes on with its own item */
  HN_THREAD_END,     /* thread; the next message but HN_LOSS is an HN_THREAD */
  HN_TASK_BEGIN,     /* site that creates it, address from which on the stack is its creator's (new item) */
  HN_TASK_END,       /* the creator goes on with its item, and that item's sequence */
  HN_LEAVING,        /* s what the program is about to do: if no other message follows, that is why the stream ends */
  HN_MAY_CUT         /* the item may be cut here */
};

/* The two messages of which programs without regularity send most, fixed in length and little-endian: written and read without a
 * branch for each number. What does not fit goes as an HN_RUN, and so does what is shorter as one. */
enum {
  HN_ACCESS = 64, /* u16 pc id, u32 sequence, i48 address - previous address of this pc, u16 producer distance */
  HN_PAIR = 65 /* u16 pc id, u32 sequence, i48 base - previous base of this pc, i32 stride, u16 dsequence: an HN_RUN of two, independent */
};
enum { HN_ACCESS_BYTES = 15, HN_PAIR_BYTES = 19 }; /* with the opcode */

/* In HN_FRAME and HN_TLS the threads that the program creates follow the ranks of the first one's teams: thread k has this number + k. */
enum { HN_FIRST_CREATED = 1024 };

/* glibc maps blocks from this size on: its calloc does not clear them, its realloc moves them without a copy. */
enum { HN_MAPPED_FROM = 128 * 1024 };
/* Bulk operations are accesses of this many bytes, but the first and the last one. */
enum { HN_BULK_BYTES = 64 };

enum hn_kind { HN_READ, HN_WRITE, HN_READ_MODIFY_WRITE, HN_ATOMIC };
enum hn_flag { HN_FLAG_BULK = 1 };
enum hn_heap { HN_HEAP_ALLOCATE, HN_HEAP_RELEASE, HN_HEAP_REALLOCATE, HN_HEAP_MAP, HN_HEAP_UNMAP };
enum hn_loop { HN_LOOP_ORDERED = 1, HN_LOOP_UNSIGNED = 2, HN_LOOP_COMBINED = 4 };
enum hn_mark { HN_MARK_LABEL, HN_MARK_STEP, HN_MARK_STREAMABLE, HN_MARK_OWNER, HN_MARK_THREAD_TYPE };

#endif
