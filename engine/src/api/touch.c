/*
 * touch.c — larder_touch: changes the expiry of a plain value, a counter or a large value.
 */
#include "api/request.h"
#include "base/clock.h"
#include "base/key.h"
#include "handle/enter.h"
#include "item/expiry.h"
#include "item/extended.h"
#include "item/large.h"
#include "item/read.h"

#define TOUCH_ATTEMPTS 8

/* If a chunk is missing, the value was evicted, or another one has replaced it, which the next attempt touches. */
larder_status larder_touch(larder *cache, const void *key, size_t key_bytes, int64_t ttl_ms,
                           const larder_call *call) {
    uint64_t expiry_ms;
    larder_status status = lard_request_check_key(cache, key, key_bytes, call);
    if (status != LARDER_OK) {
        return status;
    }
    if (ttl_ms < 0) {
        return larder_delete(cache, key, key_bytes, call);
    }
    if (!lard_expiry_from_ttl(ttl_ms, lard_clock_of_call(call), &expiry_ms)) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter_after_look(cache->core);
    if (!map) {
        return lard_enter_failure(cache->core);
    }
    lard_key wanted = lard_key_of(map, cache->belief, key, key_bytes);
    bool replaced = true;
    for (int i = 0; replaced && i < TOUCH_ATTEMPTS; i++) {
        lard_head head = {{0, 0}, 0, 0, 0};
        uint64_t kept_until_ms = expiry_ms;
        status = lard_expiry_set(cache->core, map, &wanted, expiry_ms, &head, call);
        if (status == LARDER_NOT_STORED) {
            status = lard_extended_touch(cache->core, map, &wanted, &kept_until_ms, &head, call);
        }
        if (status == LARDER_OK && head.value_bytes) {
            status = lard_large_touch(cache->core, map, &head, kept_until_ms);
        }
        replaced = status == LARDER_NOT_STORED ||
                   (status == LARDER_MISS && head.value_bytes &&
                    lard_read_exists(cache->core, map, &wanted, NULL, call ? call->now_ms : 0));
    }
    return status == LARDER_NOT_STORED ? LARDER_BUSY : status;
}
