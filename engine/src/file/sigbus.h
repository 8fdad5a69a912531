/*
 * sigbus.h — a SIGBUS in a map becomes zeros and a poisoned map.
 */
#ifndef LARD_SIGBUS_H
#define LARD_SIGBUS_H

#include "base/types.h"

larder_status lard_sigbus_guard(lard_map *map, const char *path, larder_error *error);
void lard_sigbus_release(lard_map *map);
bool lard_sigbus_blank(lard_map *map); /* of a file that was left: zeros, without a guard; false: it had none */
/* A SIGBUS that its thread has blocked kills the process whatever the handler would do: each thread has it
 * unblocked from its first call on. */
extern _Thread_local bool lard_sigbus_unblocked __attribute__((visibility("hidden")));
void lard_sigbus_unblock(void);
static inline void lard_sigbus_enter(void) {
    if (LARD_UNLIKELY(!lard_sigbus_unblocked)) {
        lard_sigbus_unblock();
    }
}

#endif
