/*
 * fork.h — numbers this process, so that a child is told from its parent, and has the fork lock.
 */
#ifndef LARD_FORK_H
#define LARD_FORK_H

#include "base/types.h"

#include <stdbool.h>

extern unsigned *lard_fork_word;
static inline unsigned lard_fork_number(void) {
    return __atomic_load_n(lard_fork_word, __ATOMIC_RELAXED); /* 0: a child that has not made a call yet */
}
/* The fork lock: one per process. It guards the list of handles and the fields of a handle that attaches. No fork
 * happens while it is held. */
void lard_fork_lock(void);
void lard_fork_unlock(void);
/* Installs the fork handlers. The fork lock is held. False: no memory. */
bool lard_fork_watch(void);

#endif
