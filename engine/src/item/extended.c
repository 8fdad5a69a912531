/*
 * extended.c — stores a value again with another extension.
 */
#include "item/extended.h"
#include "base/clock.h"
#include "base/key.h"
#include "base/reads.h"
#include "file/map.h"
#include "item/expiry.h"
#include "item/large.h"
#include "item/write.h"
#include "segment/pin.h"

#include <stdlib.h>

#define ATTEMPTS 64
#define PLACEHOLDER_SLACK_MS (24 * 3600 * 1000ll)

/* The wall clock may be set forward while the value is computed. So a placeholder expires later than its lease
 * ends.
 */
static uint64_t placeholder_expiry(int64_t lease_ms, int64_t now_ms) {
    return (uint64_t)lard_expiry_after(now_ms < 0 ? 0 : now_ms, lease_ms + PLACEHOLDER_SLACK_MS);
}

larder_status lard_extended_rewrite(lard_core *cache, lard_map *map, const lard_key *key, lard_hit *hit,
                                    lard_extension *extension, const larder_item *item, int64_t now_ms,
                                    const larder_call *call) {
    char *copy = NULL;
    lard_write_op op = {.key = key,
                        .spec = {.value = "", .type = LARD_TYPE_EXTENDED, .extension = extension},
                        .condition = hit->slot ? LARD_IF_SLOT_AND_EXPIRY : LARD_IF_SLOT,
                        .expected_slot = hit->slot ? hit->slot_value : 0,
                        .expected_expiry_ms = hit->slot ? hit->info.expiry_ms : 0,
                        .now_ms = now_ms};
    if (!extension->kind) {
        op.spec.expiry_ms = placeholder_expiry(extension->lease_ms, now_ms);
        op.spec.reads = LARD_READS_MOST; /* so that it is evicted late, as an item that was read often */
    } else {
        op.spec.configuration = LARD_WORD1_CONFIGURATION(hit->info.word1);
        op.spec.expiry_ms = (uint64_t)item->expires_at_ms;
        op.spec.flags = item->flags;
        op.spec.pin = item->is_pinned ? LARD_PINNED : 0;
        op.spec.value = &hit->head;
        op.spec.value_bytes = sizeof hit->head;
    }
    if (extension->kind == LARD_TYPE_PLAIN) {
        lard_hit again; /* of another slot: then the store is refused */
        op.spec.value_bytes = item->size_bytes;
        op.spec.value = copy = malloc(item->size_bytes + 1);
        if (!copy) {
            return LARDER_NO_MEMORY;
        }
        if (lard_lookup(cache, map, key, NULL, copy, item->size_bytes, NULL, &again, now_ms) != LARDER_OK) {
            free(copy);
            return LARDER_NOT_STORED;
        }
    }
    uint64_t most = op.spec.pin ? lard_pin_limit(map) : map->record_limit;
    larder_status status =
        lard_record_bytes_of(key, &op.spec) > most ? LARDER_VALUE_TOO_LARGE : lard_write(cache, map, &op, call);
    free(copy);
    if (status == LARDER_OK && !extension->kind && hit->slot) {
        lard_reads_set(hit->reads, hit->slot, LARD_READS_MOST);
    }
    if (status == LARDER_OK && op.replaced.value_bytes && extension->kind != LARD_TYPE_HEAD) {
        lard_large_drop(map, &op.replaced);
    }
    return status;
}

larder_status lard_extended_touch(lard_core *cache, lard_map *map, const lard_key *key, uint64_t *expiry_ms,
                                  lard_head *head, const larder_call *call) {
    larder_status status = LARDER_NOT_STORED;
    for (int i = 0; i < ATTEMPTS && status == LARDER_NOT_STORED; i++) {
        larder_item item = {0};
        lard_hit hit;
        int64_t now_ms = lard_clock_of_call(call);
        larder_status found = lard_lookup(cache, map, key, NULL, NULL, 0, &item, &hit, now_ms);
        if (found != LARDER_OK || item.staleness != LARDER_FRESH ||
            LARD_WORD0_TYPE(hit.info.word0) != LARD_TYPE_EXTENDED) {
            return found == LARDER_OK && item.staleness == LARDER_FRESH ? LARDER_NOT_STORED : LARDER_MISS;
        }
        if (hit.type == LARD_TYPE_HEAD && call && (call->flags & LARDER_CALL_TRY)) {
            return LARDER_BUSY; /* as lard_expiry_set: the chunks are under other locks */
        }
        lard_extension extension = hit.extension;
        int64_t stale_ms = extension.fields & LARD_FIELD_FRESH ? item.expires_at_ms - extension.fresh_until_ms : 0;
        item.expires_at_ms = lard_extended_expiry(*expiry_ms, stale_ms, &extension);
        status = lard_extended_rewrite(cache, map, key, &hit, &extension, &item, now_ms, call);
        head->value_bytes = 0;
        if (extension.kind == LARD_TYPE_HEAD) {
            *head = hit.head;
        }
        if (status == LARDER_OK) {
            *expiry_ms = (uint64_t)item.expires_at_ms;
        }
    }
    return status;
}

int64_t lard_extended_expiry(uint64_t expiry_ms, int64_t stale_ms, lard_extension *extension) {
    extension->fields &= ~LARD_FIELD_FRESH;
    extension->fresh_until_ms = 0;
    if (!expiry_ms || stale_ms <= 0) {
        return (int64_t)expiry_ms;
    }
    extension->fields |= LARD_FIELD_FRESH;
    extension->fresh_until_ms = (int64_t)expiry_ms;
    return lard_expiry_after((int64_t)expiry_ms, stale_ms);
}
