/*
 * crash.c — test builds only (-DLARDER_CRASH_POINTS): numbers every store to shared
 * memory and kills (or stops) the process before a chosen one.
 */
#include "larder.h"
#include "base/shared.h"

#ifdef LARDER_CRASH_POINTS
#include <signal.h>
#include <unistd.h>

unsigned long lard_crash_at;    /* 0: never */
unsigned long lard_crash_count; /* stores so far */
unsigned long lard_crash_step;  /* then again each so many stores; 0: not again */
int lard_crash_signal = SIGKILL;
const void *lard_crash_store; /* the word that the store numbered last goes to; NULL: none, or a system call */

void lard_crash_point(const void *at) {
    lard_crash_store = at;
    if (++lard_crash_count == lard_crash_at) {
        lard_crash_at += lard_crash_step;
        kill(getpid(), lard_crash_signal);
    }
}
#else
typedef int lard_crash_is_not_built;
#endif
