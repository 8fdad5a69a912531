/*
 * attach.h — attaches a handle to its file, also after a fork, a replacement or a fault.
 */
#ifndef LARD_ATTACH_H
#define LARD_ATTACH_H

#include "base/types.h"

/* Attaches, or waits up to `wait_ms` for another opener or for the thread that attaches. OK, LOCKED or another
 * error; `error` may be NULL. */
larder_status lard_attach(lard_core *cache, int64_t wait_ms, larder_error *error);
/* Takes a row for a handle that was opened after its core had attached. Waits so long for another opener if it has
 * to clear the file. */
void lard_attach_adopt(larder *handle, int64_t wait_ms);
/* One thread of a process at a time attaches a handle, or changes its file while it is not attached. False: it is
 * attached (*attached), or another thread does that. */
bool lard_attach_begin(lard_core *cache, bool *attached);
/* Ends that without an attempt to attach. *failure (may be NULL) counts as one. */
void lard_attach_end(lard_core *cache, const larder_error *failure);
/* Is it time for the next attempt? After a failure there is a wait. The fork lock is held. */
bool lard_attach_is_due(const lard_core *cache);

#endif
