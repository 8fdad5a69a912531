/*
 * enter.h — chooses the map that a call works on.
 */
#ifndef LARD_ENTER_H
#define LARD_ENTER_H

#include "file/sigbus.h"
#include "handle/current.h"

lard_map *lard_enter_slow(lard_core *cache);
/* The map to work on, or NULL: this process can only serve misses. */
static inline lard_map *lard_enter(lard_core *cache) {
    lard_sigbus_enter();
    lard_map *map = lard_current_map(cache);
    return LARD_LIKELY(map != NULL) ? map : lard_enter_slow(cache);
}

/* Checks from time to time that the file is still at its path; if not, marks it superseded. */
void lard_enter_look(lard_core *cache, lard_map *map);
/* The map to change, or NULL, after such a check. */
static inline lard_map *lard_enter_after_look(lard_core *cache) {
    lard_map *map = lard_enter(cache);
    if (LARD_LIKELY(map != NULL)) {
        lard_enter_look(cache, map);
        return lard_enter(cache);
    }
    return NULL;
}
/* The same, but checks rarely while `now_ms` stays the same, whatever clock it is from; 0: not known. */
lard_map *lard_enter_to_write(lard_core *cache, int64_t now_ms);
larder_status lard_enter_failure(const lard_core *cache); /* why this process could not attach */

#endif
