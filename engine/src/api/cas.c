/*
 * cas.c — larder_cas: compare and swap.
 */
#include "api/increment.h"
#include "api/request.h"
#include "base/hash.h"
#include "item/lookup.h"
#include "item/put.h"
#include "item/read.h"
#include "item/write.h"
#include "segment/record.h"

#include <stdlib.h>

#define CAS_ATTEMPTS 64

static bool is_expected(const larder_store *request, const larder_item *item) {
    return item->flags == request->expected_flags &&
           (!request->expected_expires_at_ms || item->expires_at_ms == request->expected_expires_at_ms);
}

larder_status larder_cas(larder *cache, const larder_store *request, const void *expected, size_t expected_bytes,
                         const larder_call *call) {
    lard_record_spec spec;
    lard_map *map;
    larder_status status = lard_request_begin_store(cache, request, LARD_IF_SLOT, call, &spec, &map);
    if (status != LARDER_OK || (!expected && expected_bytes) || request->ttl_ms < 0) {
        return status != LARDER_OK ? status : LARDER_INVALID;
    }
    char *current = malloc(expected_bytes + 1);
    if (!current) {
        return LARDER_NO_MEMORY;
    }
    lard_hash hash = lard_hash_key(map, spec.key, spec.key_bytes, false);
    for (int attempt = 0; attempt < CAS_ATTEMPTS; attempt++) {
        /* Compared without the lock; the swap then insists on the very slot that was compared, and on the expiry.
         */
        larder_item item;
        lard_hit hit;
        status = lard_read(cache, map, &hash, spec.key, spec.key_bytes, current, expected_bytes, &item, &hit,
                           call ? call->now_ms : 0);
        if (status == LARDER_MISS) {
            break;
        }
        if (status != LARDER_OK || item.size_bytes != expected_bytes || !is_expected(request, &item) ||
            (expected_bytes && __builtin_memcmp(current, expected, expected_bytes) != 0)) {
            status = LARDER_NOT_STORED;
            break;
        }
        if (item.is_counter) { /* changes in place, so its slot proves nothing: give it a slot of its own first */
            status = LARDER_NOT_STORED;
            lard_record_spec copy = {.key = spec.key,
                                     .key_bytes = spec.key_bytes,
                                     .value = current,
                                     .value_bytes = expected_bytes,
                                     .type = LARD_TYPE_PLAIN};
            larder_status pinned = lard_increment_to_plain(cache, map, &hash, &copy, call);
            if (pinned != LARDER_OK) {
                status = pinned;
                break;
            }
            continue;
        }
        lard_record_spec attempt_spec = spec;
        lard_expected found = {hit.slot_value, (uint64_t)request->expected_expires_at_ms};
        status = lard_put(cache, map, &hash, &attempt_spec, LARD_IF_SLOT, &found, call);
        if (status != LARDER_NOT_STORED) {
            break;
        }
    }
    free(current);
    return status;
}
