/*
 * crash.c — test builds only (-DLARDER_CRASH_POINTS): numbers every store to shared
 * memory and kills (or stops) the process before a chosen one.
 */
#include "shared.h"

#ifdef LARDER_CRASH_POINTS
#include <signal.h>
#include <unistd.h>

unsigned long lard_crash_at;    /* 0: never */
unsigned long lard_crash_count; /* stores so far */
unsigned long lard_crash_step;  /* then again each so many stores; 0: not again */
int lard_crash_signal = SIGKILL;

void lard_crash_point(void) {
    if (++lard_crash_count == lard_crash_at) {
        lard_crash_at += lard_crash_step;
        kill(getpid(), lard_crash_signal);
    }
}
#else
typedef int lard_crash_is_not_built;
#endif
