/*
 * cas.c — larder_cas: compare and swap.
 */
#include "api/increment.h"
#include "api/request.h"
#include "base/clock.h"
#include "base/key.h"
#include "item/lookup.h"
#include "item/put.h"
#include "item/read.h"
#include "item/write.h"

#include <stdlib.h>

#define CAS_ATTEMPTS 64

static bool is_expected(const larder_store *request, const larder_item *item) {
    return item->flags == request->expected_flags && (request->expected_expires_at_ms == LARDER_ANY_EXPIRY ||
                                                      item->expires_at_ms == request->expected_expires_at_ms);
}

/* Reads the value into `buffer`, compares it, and stores only over the slot that was compared. NOT_STORED and not
 * *differs: try again. */
static larder_status attempt(larder *cache, lard_map *map, const larder_store *request, const lard_write_op *op,
                             const void *expected, char *buffer, size_t expected_bytes, bool *differs,
                             const larder_call *call) {
    larder_item item = {0};
    lard_hit hit;
    int64_t now_ms = call ? call->now_ms : 0;
    lard_room room = {.bytes = buffer, .capacity = expected_bytes};
    larder_status status = lard_read(cache, map, op->key, NULL, &room, &item, &hit, now_ms);
    if (status == LARDER_MISS || item.staleness) {
        return LARDER_MISS;
    }
    *differs = status != LARDER_OK || item.size_bytes != expected_bytes || !is_expected(request, &item) ||
               (expected_bytes && __builtin_memcmp(buffer, expected, expected_bytes) != 0);
    if (*differs) {
        return LARDER_NOT_STORED;
    }
    if (item.is_counter) { /* changes in place, so its slot proves nothing: make it a plain record first */
        status = lard_increment_to_plain(cache, map, op->key, buffer, expected_bytes, call);
        return status == LARDER_OK ? LARDER_NOT_STORED : status;
    }
    lard_write_op swap = *op;
    lard_extension extension;
    if (op->spec.extension) {
        extension = *op->spec.extension;
        swap.spec.extension = &extension;
    } else if (hit.extension.fields & LARD_FIELD_TAGS) { /* the item keeps its tags */
        extension = hit.extension;
        extension.kind = LARD_TYPE_PLAIN;
        extension.fields = LARD_FIELD_TAGS;
        swap.spec.type = LARD_TYPE_EXTENDED;
        swap.spec.extension = &extension;
    }
    swap.expected_slot = hit.slot_value;
    if (request->expected_expires_at_ms != LARDER_ANY_EXPIRY) {
        swap.condition = LARD_IF_SLOT_AND_EXPIRY;
        swap.expected_expiry_ms = (uint64_t)request->expected_expires_at_ms;
    }
    return lard_put(cache, map, &swap, call);
}

larder_status larder_cas(larder *cache, const larder_store *request, const void *expected, size_t expected_bytes,
                         const larder_call *call) {
    lard_write_op op;
    larder_status status = lard_request_check_store(cache, request, call);
    if (status != LARDER_OK || (!expected && expected_bytes) || request->ttl_ms < 0 ||
        request->expected_expires_at_ms < LARDER_ANY_EXPIRY || (request->extra && request->extra->lease)) {
        return status != LARDER_OK ? status : LARDER_INVALID;
    }
    status = lard_request_op(request, lard_clock_of_call(call), &op);
    op.condition = LARD_IF_SLOT;
    lard_map *map =
        status == LARDER_OK ? lard_request_enter(cache, request, op.condition, op.now_ms, &status) : NULL;
    if (!map) {
        return status;
    }
    char *buffer = malloc(expected_bytes + 1);
    if (!buffer) {
        return LARDER_NO_MEMORY;
    }
    lard_key key = lard_key_of(map, request->key, request->key_bytes);
    bool differs = false;
    lard_extension extension;
    op.key = &key;
    if (request->extra) {
        lard_request_extend(cache, map, request->extra, &op, &extension, call);
    }
    status = LARDER_NOT_STORED;
    for (int i = 0; i < CAS_ATTEMPTS && status == LARDER_NOT_STORED && !differs; i++) {
        status = attempt(cache, map, request, &op, expected, buffer, expected_bytes, &differs, call);
    }
    free(buffer);
    return status;
}
