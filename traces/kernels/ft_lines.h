/* How many lines ft transforms at a time, and how far their elements lie apart in the private arrays: NPB 3.3's 32 and 33, unless a
 * program that includes ft.c says otherwise before it does so.
 */
#ifndef HOMENODE_FT_LINES_H
#define HOMENODE_FT_LINES_H

#include "kernel.h"

#ifndef FT_LINES
#define FT_LINES 32
#define FT_LINE_STRIDE 33
#endif

enum { LINES = FT_LINES, LINE_STRIDE = FT_LINE_STRIDE };

#endif
