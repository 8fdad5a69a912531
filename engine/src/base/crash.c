/*
 * crash.c — numbers every store to shared memory and kills (or stops) the process before a chosen one.
 *
 * Only test builds have it (-DLARDER_CRASH_POINTS).
 */
#include "larder.h"
#include "base/shared.h"

#ifdef LARDER_CRASH_POINTS
#include <signal.h>
#include <unistd.h>

unsigned long lard_crash_at;    /* 0: never */
unsigned long lard_crash_count; /* stores so far */
unsigned long lard_crash_step;  /* stores between two signals after lard_crash_at; 0: one signal */
bool lard_crash_near_calls;     /* numbers system calls only, and the first store after each */
int lard_crash_signal = SIGKILL;
const void *lard_crash_store; /* target of the store that was numbered last; NULL: none yet, or a system call */

void lard_crash_point(const void *at) {
    bool is_near = !at || !lard_crash_store;
    lard_crash_store = at;
    if (lard_crash_near_calls && !is_near) {
        return;
    }
    if (++lard_crash_count == lard_crash_at) {
        lard_crash_at += lard_crash_step;
        kill(getpid(), lard_crash_signal);
    }
}
#else
typedef int lard_crash_is_not_built;
#endif
