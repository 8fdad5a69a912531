/*
 * enter.h — the map that a call works on.
 */
#ifndef LARD_ENTER_H
#define LARD_ENTER_H

#include "file/sigbus.h"
#include "handle/current.h"

lard_map *lard_enter_slow(larder *cache);
/* The map to work on, or NULL where this process can only serve misses. */
static inline lard_map *lard_enter(larder *cache) {
    lard_sigbus_enter();
    lard_map *map = lard_current_map(cache);
    return LARD_LIKELY(map != NULL) ? map : lard_enter_slow(cache);
}

/* From time to time: is the file still at its path? Else it is marked superseded. */
void lard_enter_look(larder *cache, lard_map *map);
/* The map to change, or NULL, after such a look. */
static inline lard_map *lard_enter_after_look(larder *cache) {
    lard_map *map = lard_enter(cache);
    if (LARD_LIKELY(map != NULL)) {
        lard_enter_look(cache, map);
        return lard_enter(cache);
    }
    return NULL;
}
/* The same, but looks seldom again while `now_ms`, of any clock, stays the same; 0: it is not known. */
lard_map *lard_enter_to_write(larder *cache, int64_t now_ms);
/* The file of this handle, also for a child that could not claim a slot: enough to empty slots of the index, which
 * needs none. */
lard_map *lard_enter_unattached(larder *cache);
larder_status lard_enter_failure(const larder *cache); /* why this process could not attach */

#endif
