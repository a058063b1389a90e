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
 */
#ifndef HOMENODE_STREAM_H
#define HOMENODE_STREAM_H

enum { HN_STREAM_VERSION = 1 };

enum hn_opcode {
  HN_HELLO = 1,        /* version, page_size, team, main_stack_low, main_stack_high; first message */
  HN_MODULE,           /* module id, load_bias, s path; the main program is module 0 */
  HN_PC,               /* pc id (dense, from 0), kind (hn_kind), width, flags (hn_flag), site */
  HN_RUN,              /* pc id, count, z base - previous base of this pc, sequence0, [count > 1: z stride, dsequence], producer distance */
  HN_RUN_SAME,         /* pc id, z base - previous base of this pc, sequence0; count, stride, dsequence, distance as this pc's last HN_RUN */
  HN_COLUMN,           /* pc id, n, then n times: z address - previous address of this pc, sequence - previous sequence (first: absolute), distance:
                          irregular accesses that formed no runs */
  HN_ALLOCATE,         /* address, bytes, operation (hn_heap), zeroed, old address (reallocate, else 0), alignment, site */
  HN_RELEASE,          /* address, operation, site */
  HN_FRAME,            /* rank, low address, high address, site of the function; replaces every frame it overlaps */
  HN_TLS,              /* rank, low address, high address of the thread's static TLS block */
  HN_STACK,            /* rank, low address, high address of a thread's stack */
  HN_PARALLEL_BEGIN,   /* serial number, team size, site of the call (new item) */
  HN_PARALLEL_END,     /* serial number (new item: serial code) */
  HN_RANK,             /* rank: what follows is done by this rank of the current team; each rank goes on with its own item */
  HN_LOOP_BEGIN,       /* site, z low, z high, z step, flags (hn_loop), iterations (new item: none until HN_ITEM) */
  HN_ITEM,             /* logical iteration, 0 .. iterations-1 (new item) */
  HN_LOOP_END,         /* nowait (new item: the rank's code after the loop) */
  HN_BARRIER,          /* epoch (new item) */
  HN_SECTIONS_BEGIN,   /* site, sections; then HN_ITEM for each section, HN_LOOP_END */
  HN_SINGLE,           /* site, taken (new item) */
  HN_SINGLE_END,       /* (new item) */
  HN_SYNC,             /* operation (SyncOperation of sim/workload.hpp by number), object, match */
  HN_USER_RANK,        /* the program itself asked for its thread number: the code of this parallel region is bound to ranks */
  HN_MARK,             /* hn_mark, value, address, bytes, s text */
  HN_LOSS,             /* count, site, s reason */
  HN_END               /* exit status (~0 when unknown), accesses recorded in all */
};

enum hn_kind { HN_READ, HN_WRITE, HN_READ_MODIFY_WRITE, HN_ATOMIC };
enum hn_flag { HN_FLAG_BULK = 1 };
enum hn_heap { HN_HEAP_ALLOCATE, HN_HEAP_RELEASE, HN_HEAP_REALLOCATE, HN_HEAP_MAP, HN_HEAP_UNMAP };
enum hn_loop { HN_LOOP_ORDERED = 1, HN_LOOP_UNSIGNED = 2, HN_LOOP_COMBINED = 4 };
enum hn_mark { HN_MARK_LABEL, HN_MARK_STEP, HN_MARK_STREAMABLE, HN_MARK_OWNER, HN_MARK_THREAD_TYPE };

#endif
