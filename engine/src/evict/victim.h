/*
 * victim.h — chooses the segment to empty next. Under the lock.
 */
#ifndef LARD_VICTIM_H
#define LARD_VICTIM_H

#include "base/reads.h"
#include "base/types.h"

/* Its number + 1, or 0: there is none. */
uint32_t lard_victim_choose(lard_view *view, int64_t now_ms);

/* True if it was chosen for its dead bytes. Then its items stay. */
static inline bool lard_victim_is_cleaned(const lard_view *view, uint32_t victim) {
    return lard_reads_hints(&view->map->dircache[view->number])->cleaned == victim;
}

#endif
