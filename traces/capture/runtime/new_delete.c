/* C++'s operator new and delete, so that a block's site is the place that asked for it, not libstdc++. Weak in the program: its own
 * replacements come first. The names are those of the Itanium C++ ABI.
 */
#include <stdlib.h>

#include "blocks.h"

void _ZSt17__throw_bad_allocv(void) __attribute__((weak, noreturn)); /* std::__throw_bad_alloc */
void (*_ZSt15get_new_handlerv(void))(void) __attribute__((weak));    /* std::get_new_handler */

static void* made(size_t bytes, size_t alignment, const void* site, bool throws) {
  for (;;) {
    void* p = hn_obtain(bytes ? bytes : 1, alignment, site);
    if (p) return p;
    void (*handler)(void) = _ZSt15get_new_handlerv ? _ZSt15get_new_handlerv() : 0;
    if (handler) {
      handler();
      continue;
    }
    if (!throws) return 0;
    if (_ZSt17__throw_bad_allocv) _ZSt17__throw_bad_allocv();
    abort();
  }
}
#define SITE __builtin_return_address(0)
/* m: size_t; St11align_val_t: std::align_val_t; RKSt9nothrow_t: const std::nothrow_t& */
#define NEW(name)                                                                                                \
  void* name##m(size_t n) { return made(n, 16, SITE, true); }                                                    \
  void* name##mSt11align_val_t(size_t n, size_t alignment) { return made(n, alignment, SITE, true); }            \
  void* name##mRKSt9nothrow_t(size_t n, const void* nothrow) { return (void)nothrow, made(n, 16, SITE, false); } \
  void* name##mSt11align_val_tRKSt9nothrow_t(size_t n, size_t alignment, const void* nothrow) {                  \
    return (void)nothrow, made(n, alignment, SITE, false);                                                       \
  }
#define DELETE(name)                                                                                                      \
  void name##Pv(void* p) { hn_give_back(p, SITE); }                                                                       \
  void name##Pvm(void* p, size_t n) { (void)n, hn_give_back(p, SITE); }                                                   \
  void name##PvSt11align_val_t(void* p, size_t alignment) { (void)alignment, hn_give_back(p, SITE); }                     \
  void name##PvmSt11align_val_t(void* p, size_t n, size_t alignment) { (void)n, (void)alignment, hn_give_back(p, SITE); } \
  void name##PvRKSt9nothrow_t(void* p, const void* nothrow) { (void)nothrow, hn_give_back(p, SITE); }                     \
  void name##PvSt11align_val_tRKSt9nothrow_t(void* p, size_t alignment, const void* nothrow) {                            \
    (void)alignment, (void)nothrow, hn_give_back(p, SITE);                                                                \
  }
NEW(_Znw)
NEW(_Zna)
DELETE(_Zdl)
DELETE(_Zda)
