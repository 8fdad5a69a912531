/*
 * victim.h — chooses the segment to empty next. Under the lock.
 */
#ifndef LARD_VICTIM_H
#define LARD_VICTIM_H

#include "base/types.h"

/* Its number + 1, or 0: there is none. */
uint32_t lard_victim_choose(lard_view *view, int64_t now_ms);

#endif
