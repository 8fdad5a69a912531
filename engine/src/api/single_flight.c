/*
 * single_flight.c — larder_lease_take, larder_lease_end, larder_lease_wait and larder_count_deed.
 */
#include "api/request.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/key.h"
#include "handle/enter.h"
#include "handle/unattached.h"
#include "item/expiry.h"
#include "item/lease.h"
#include "usage/sampler.h"

larder_status larder_lease_take(larder *cache, const void *key, size_t key_bytes, int64_t lease_ms,
                                larder_lease *lease, const larder_call *call) {
    larder_status status = lard_request_check_key(cache, key, key_bytes, call);
    if (status != LARDER_OK) {
        return status;
    }
    if (!lease || lease->reserved || lease_ms < 1 || lease_ms > LARDER_MAX_TTL_MS) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_to_write(cache->core, lard_clock_of_call(call));
    if (!map) {
        return lard_enter_failure(cache->core);
    }
    lard_key wanted = lard_key_of(map, cache->belief, key, key_bytes);
    return lard_lease_take(cache->core, map, &wanted, lease_ms, lease, call);
}

/* To keep the old value would be a store. */
static larder_status end_unattached(larder *cache, const void *key, size_t key_bytes, const larder_lease *lease,
                                    int64_t fresh_ms, const larder_call *call) {
    const lard_removal removal = lard_pending_of_lease(key, key_bytes, lease->token);
    larder_status status;
    if (!lard_unattached_remove(cache->core, &removal, false, lard_clock_of_call(call), &status)) {
        return larder_lease_end(cache, key, key_bytes, lease, fresh_ms, call); /* another thread has attached it */
    }
    return lard_enter_failure(cache->core);
}

larder_status larder_lease_end(larder *cache, const void *key, size_t key_bytes, const larder_lease *lease,
                               int64_t fresh_ms, const larder_call *call) {
    larder_status status = lard_request_check_key(cache, key, key_bytes, call);
    if (status != LARDER_OK) {
        return status;
    }
    if (!lease || lease->reserved || fresh_ms < 0 || fresh_ms > LARDER_MAX_TTL_MS) {
        return LARDER_INVALID;
    }
    int64_t now_ms = lard_clock_of_call(call);
    lard_map *map = lard_enter_to_write(cache->core, now_ms);
    if (!map) {
        return end_unattached(cache, key, key_bytes, lease, fresh_ms, call);
    }
    lard_key wanted = lard_key_of(map, cache->belief, key, key_bytes);
    return lard_lease_end(cache->core, map, &wanted, lease->token, true, lard_expiry_after(now_ms, fresh_ms),
                          call);
}

larder_status larder_lease_wait(larder *cache, const void *key, size_t key_bytes, const larder_lease *lease,
                                uint32_t wait_ms, const larder_call *call) {
    larder_status status = lard_request_check_key(cache, key, key_bytes, call);
    if (status != LARDER_OK) {
        return status;
    }
    if (!lease || lease->reserved) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter(cache->core);
    if (!map) {
        return LARDER_OK;
    }
    lard_key wanted = lard_key_of(map, cache->belief, key, key_bytes);
    return lard_lease_wait(cache->core, map, &wanted, lease->token, wait_ms, call);
}

void larder_count_deed(larder *cache, larder_deed deed, const void *key, size_t key_bytes) {
    static const unsigned counts[] = {LARD_STAT_waits, LARD_STAT_refreshes, LARD_STAT_lone_computes};
    if (!cache || (unsigned)deed >= sizeof counts / sizeof *counts || !lard_enter(cache->core)) {
        return;
    }
    lard_count(cache->core, counts[deed], 1);
    if (key && deed == LARDER_WAITED) {
        lard_sampler_wait(cache->core, key, key_bytes);
    }
}
