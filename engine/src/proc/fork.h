/*
 * fork.h — which process this is, and the lock that no fork interrupts.
 */
#ifndef LARD_FORK_H
#define LARD_FORK_H

#include "base/types.h"

#include <stdbool.h>

extern unsigned *lard_fork_word;
static inline unsigned lard_fork_epoch(void) {
    return __atomic_load_n(lard_fork_word, __ATOMIC_RELAXED); /* 0: a child that has not made a call yet */
}
/* One lock of the whole process. It guards the list of handles and the fields of a handle that attaches. */
void lard_fork_lock(void);
void lard_fork_unlock(void);
/* The fork lock is held; false where memory is short. */
bool lard_fork_watch(void);

#endif
