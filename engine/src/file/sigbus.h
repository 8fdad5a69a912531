/*
 * sigbus.h — turns a SIGBUS in a map into zero pages and a poisoned map.
 */
#ifndef LARD_SIGBUS_H
#define LARD_SIGBUS_H

#include "base/types.h"

/* Guards the bytes of a map, or of its hints. The fork lock is held. */
larder_status lard_sigbus_guard(lard_map *map, const uint8_t *base, size_t bytes, const char *path,
                                larder_error *error);
void lard_sigbus_release(lard_map *map);
bool lard_sigbus_blank(
    lard_map *map); /* a map that was left gets zeros, and no guard; false: it had none before */
/* If a thread has blocked SIGBUS, a fault in it kills the process without calling the handler. So the first call
 * of each thread unblocks it. */
extern _Thread_local bool lard_sigbus_unblocked __attribute__((visibility("hidden")));
void lard_sigbus_unblock(void);
static inline void lard_sigbus_enter(void) {
    if (LARD_UNLIKELY(!lard_sigbus_unblocked)) {
        lard_sigbus_unblock();
    }
}

#endif
