/*
 * attachment.c — larder_attach, larder_attached, larder_last_failure and larder_pending.
 *
 * They are for callers that say when a handle attaches; attach.c does it.
 */
#include "base/fail.h"
#include "file/sigbus.h"
#include "handle/attach.h"
#include "handle/current.h"
#include "handle/pending.h"
#include "proc/fork.h"

#include <string.h>

int larder_attached(larder *cache) {
    if (LARD_UNLIKELY(!cache)) {
        return -1;
    }
    lard_sigbus_enter();
    if (LARD_LIKELY(lard_current_map(cache->core) != NULL)) {
        return 1;
    }
    lard_fork_lock();
    int due = lard_attach_is_due(cache->core) ? 0 : -1;
    lard_fork_unlock();
    return due;
}

larder_status larder_attach(larder *cache, uint32_t wait_ms, larder_error *error) {
    if (!cache) {
        if (error) {
            memset(error, 0, sizeof *error);
        }
        return lard_fail(error, LARDER_INVALID, 0, "larder_attach needs a handle");
    }
    return lard_attach(cache->core, wait_ms, error);
}

larder_status larder_last_failure(larder *cache, larder_error *error) {
    memset(error, 0, sizeof *error);
    if (cache) {
        lard_fork_lock();
        *error = cache->core->failure;
        lard_fork_unlock();
    }
    return error->status;
}

uint32_t larder_pending(larder *cache) {
    if (!cache) {
        return 0;
    }
    lard_fork_lock();
    uint32_t count = lard_pending_count(cache->core);
    lard_fork_unlock();
    return count;
}
