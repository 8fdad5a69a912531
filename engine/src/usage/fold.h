/*
 * fold.h — adds the counts of this process to the sidecar file.
 */
#ifndef LARD_FOLD_H
#define LARD_FOLD_H

#include "base/types.h"

/* True if calls were counted, and a second and `late_ms` have passed since the last fold, or a minute since one
 * that failed. */
bool lard_fold_is_due(const lard_core *cache, int64_t late_ms);
/* OK; LOCKED: another thread or process is folding, and did not end within `wait_ms`; or why the sidecar cannot be
 * used. May wait for the disk, so it is called by calls that may wait, outside locks. */
larder_status lard_fold_now(lard_core *cache, int64_t wait_ms, larder_error *error);
/* As lard_fold_now with no wait, for a call that cannot report why the sidecar cannot be used. */
void lard_fold_unreported(lard_core *cache);
/* True if a failure of lard_fold_unreported was not found again by lard_fold_now. */
bool lard_fold_has_failed(const lard_core *cache);

#endif
