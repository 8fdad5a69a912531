/*
 * cas.c — compare and swap: larder_cas compares the value, larder_swap the identity of the record that was read.
 */
#include "api/increment.h"
#include "api/request.h"
#include "base/clock.h"
#include "base/key.h"
#include "item/identity.h"
#include "item/put.h"
#include "item/read.h"
#include "item/write.h"

#include <stdlib.h>
#include <string.h>

#define CAS_ATTEMPTS 64
#define COUNTER_TEXT 24

typedef struct {
    uint64_t identity; /* of larder_swap; 0: the other fields are compared */
    const void *bytes;
    size_t count;
    uint8_t flags;
    int64_t expires_at_ms; /* or LARDER_ANY_EXPIRY */
} expectation;

static bool is_equal(const expectation *expected, const larder_item *item, const char *value) {
    return item->size_bytes == expected->count && item->flags == expected->flags &&
           (expected->expires_at_ms == LARDER_ANY_EXPIRY || item->expires_at_ms == expected->expires_at_ms) &&
           (expected->count == 0 || __builtin_memcmp(value, expected->bytes, expected->count) == 0);
}

/* Reads the value into `room`, compares it or its identity, and stores only over the slot that was read.
 * NOT_STORED and not *differs: try again. */
static larder_status attempt(larder *cache, lard_map *map, const lard_write_op *op, const expectation *expected,
                             lard_room room, bool *differs, const larder_call *call) {
    larder_item item = {0};
    lard_hit hit;
    int64_t now_ms = call ? call->now_ms : 0;
    larder_status status = lard_read(cache->core, map, op->key, NULL, &room, &item, &hit, now_ms);
    if (status == LARDER_MISS || item.staleness) {
        return LARDER_MISS;
    }
    if (expected->identity) {
        *differs = expected->identity != lard_identity_of_value(map, op->key, &hit, room.bytes, item.size_bytes);
    } else {
        *differs = status != LARDER_OK || !is_equal(expected, &item, room.bytes);
    }
    if (*differs) {
        return LARDER_NOT_STORED;
    }
    if (item.is_counter) { /* changes in place, so its slot proves nothing: make it a plain record first */
        status = lard_increment_to_plain(cache, map, op->key, room.bytes, item.size_bytes, &hit.slot_value, call);
        if (status != LARDER_OK) {
            return status;
        }
    }
    lard_write_op swap = *op;
    bool is_tagged = hit.extension.fields & LARD_FIELD_TAGS;
    lard_extension extension;
    if (op->spec.extension || is_tagged) {
        swap.spec.type = LARD_TYPE_EXTENDED;
        swap.spec.extension = &extension;
        if (op->spec.extension) {
            extension = *op->spec.extension;
        } else {
            lard_extension_init(&extension, LARD_TYPE_PLAIN, hit.extension.compute_ms);
        }
        if (is_tagged && !(extension.fields & LARD_FIELD_TAGS)) { /* it keeps those of the old value */
            extension.fields |= LARD_FIELD_TAGS;
            extension.stamp = hit.extension.stamp;
            extension.tag_count = hit.extension.tag_count;
            memcpy(extension.tags, hit.extension.tags, extension.tag_count * sizeof *extension.tags);
        }
    }
    swap.expected_slot = hit.slot_value;
    if (expected->identity || expected->expires_at_ms != LARDER_ANY_EXPIRY) {
        swap.condition = LARD_IF_SLOT_AND_EXPIRY;
        swap.expected_expiry_ms = hit.info.expiry_ms;
    }
    return lard_put(cache->core, map, &swap, call);
}

/* `room` is for a value as long as the expected one, or a counter. */
static larder_status swap(larder *cache, const larder_store *request, const expectation *expected, lard_room room,
                          const larder_call *call) {
    lard_write_op op;
    larder_status status = lard_request_op(request, lard_clock_of_call(call), &op);
    op.condition = LARD_IF_SLOT;
    lard_map *map =
        status == LARDER_OK ? lard_request_enter(cache, request, op.condition, op.now_ms, &status) : NULL;
    if (!map) {
        return status;
    }
    lard_key key = lard_key_of(map, cache->belief, request->key, request->key_bytes);
    bool differs = false;
    lard_extension extension;
    op.key = &key;
    if (request->extra) {
        lard_request_extend(cache, map, request->extra, &op, &extension, call);
    }
    status = LARDER_NOT_STORED;
    for (int i = 0; i < CAS_ATTEMPTS && status == LARDER_NOT_STORED && !differs; i++) {
        status = attempt(cache, map, &op, expected, room, &differs, call);
    }
    return status;
}

static larder_status check(const larder *cache, const larder_store *request, const larder_call *call) {
    larder_status status = lard_request_check_store(cache, request, call);
    bool can_swap = status == LARDER_OK && request->ttl_ms >= 0 && !(request->extra && request->extra->lease);
    return status == LARDER_OK && !can_swap ? LARDER_INVALID : status;
}

larder_status larder_cas(larder *cache, const larder_store *request, const void *expected, size_t expected_bytes,
                         const larder_call *call) {
    larder_status status = check(cache, request, call);
    if (status != LARDER_OK) {
        return status;
    }
    if ((!expected && expected_bytes) || request->expected_expires_at_ms < LARDER_ANY_EXPIRY) {
        return LARDER_INVALID;
    }
    expectation value = {.bytes = expected,
                         .count = expected_bytes,
                         .flags = request->expected_flags,
                         .expires_at_ms = request->expected_expires_at_ms};
    lard_room room = {.bytes = malloc(expected_bytes + 1), .capacity = expected_bytes};
    if (!room.bytes) {
        return LARDER_NO_MEMORY;
    }
    status = swap(cache, request, &value, room, call);
    free(room.bytes);
    return status;
}

larder_status larder_swap(larder *cache, const larder_store *request, uint64_t identity, const larder_call *call) {
    char text[COUNTER_TEXT];
    larder_status status = check(cache, request, call);
    if (status != LARDER_OK) {
        return status;
    }
    expectation record = {.identity = identity};
    lard_room room = {.bytes = text, .capacity = sizeof text};
    return identity ? swap(cache, request, &record, room, call) : LARDER_INVALID;
}
