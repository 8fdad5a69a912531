/*
 * put.c — stores a value of any length under a condition, and drops chunks that are no longer needed.
 *
 * A store that is refused drops the key's old value if the condition overwrites: the caller has a newer one. Takes
 * shard locks, one at a time.
 */
#include "item/put.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/key.h"
#include "file/map.h"
#include "file/view.h"
#include "item/drop.h"
#include "item/large.h"
#include "item/read.h"
#include "proc/process.h"
#include "segment/counter.h"
#include "segment/pin.h"
#include "segment/record.h"
#include "segment/segment.h"

#include <string.h>

#define COUNTS_KEPT_MS 1000 /* how often a process that writes copies its statistics into the file */
#define LONG_PART 24        /* a value larger than this part of the capacity goes to the small queue first */

/* Chooses one queue for all chunks of a large value. The end of a very large one might evict its beginning from
 * the main queue: it goes to the small queue as if it was read, and from there to the main queue. */
static void place_large(lard_map *map, lard_write_op *op) {
    const lard_superblock *super = &map->super;
    uint64_t all = (uint64_t)super->shard_count * super->segments_per_shard * super->segment_bytes;
    bool is_known = lard_write_queue_of(map, op->key) != LARD_SEGMENT_SMALL;
    op->spec.to_main = is_known && op->spec.value_bytes <= all / LONG_PART;
    op->spec.reads = is_known && !op->spec.to_main;
}

/* Is the value stored in chunks? A record that is not short is written only where it fits into the open segment,
 * whose room is read without a lock, so it is a hint. */
static bool needs_chunks(lard_map *map, const lard_write_op *op, uint64_t bytes) {
    if (bytes <= map->short_record || op->spec.pin) { /* pinned: one record, so no part is lost */
        return false;
    }
    lard_view view = lard_view_of(map, lard_hash_shard(map, &op->key->hash));
    uint32_t queue = lard_write_queue_of(map, op->key);
    bool is_first = queue == LARD_QUEUE_OVERWRITTEN && !lard_segment_active(&view, queue); /* it opens a segment */
    return bytes > map->record_limit || (!is_first && bytes > lard_segment_room(&view, queue));
}

bool lard_put_overwrites(lard_condition condition) {
    return condition == LARD_IF_ANY || condition == LARD_IF_PRESENT;
}

bool lard_put_is_tried(larder_status status, const larder_call *call) {
    return status == LARDER_BUSY && call && (call->flags & LARDER_CALL_TRY);
}

/* Writes the chunks of a large value and fills *head, which becomes the record to store. Looks at a condition on
 * presence first: the chunks may evict the value that it depends on. */
static larder_status write_chunks(lard_core *cache, lard_map *map, lard_write_op *op, lard_head *head,
                                  const larder_call *call) {
    if (op->condition == LARD_IF_ABSENT || op->condition == LARD_IF_PRESENT) {
        bool is_present = lard_read_exists(cache, map, op->key, NULL, op->now_ms);
        if (is_present != (op->condition == LARD_IF_PRESENT)) {
            return LARDER_NOT_STORED;
        }
        op->is_whole = true;
    }
    place_large(map, op);
    larder_status status = lard_large_write(cache, map, op->key, &op->spec, head, call);
    if (op->spec.type == LARD_TYPE_EXTENDED) {
        op->spec.extension->kind = LARD_TYPE_HEAD;
    } else {
        op->spec.type = LARD_TYPE_HEAD;
    }
    op->spec.reads = 0;
    op->spec.number = head->chunks;
    op->spec.value = head;
    op->spec.value_bytes = sizeof *head;
    return status;
}

/* Writes the record. If its condition depends on a large value, looks for that value's chunks first, without the
 * lock. */
static larder_status write_where_it_holds(lard_core *cache, lard_map *map, lard_write_op *op,
                                          const larder_call *call) {
    larder_status status = lard_write(cache, map, op, call);
    if (LARD_UNLIKELY(status == LARDER_NOT_STORED && op->is_large)) {
        lard_read_exists(cache, map, op->key, NULL, op->now_ms);
        op->is_whole = true;
        status = lard_write(cache, map, op, call);
    }
    return status;
}

larder_status lard_put(lard_core *cache, lard_map *map, lard_write_op *op, const larder_call *call) {
    lard_head head = {{0, 0}, 0, 0, 0};
    larder_status status = LARDER_OK;
    larder_call same = {.now_ms = op->now_ms, .flags = call ? call->flags : 0}; /* one time for all parts */
    uint64_t bytes = lard_record_bytes_of(op->key, &op->spec);

    if (op->spec.value_bytes > map->max_value || (op->spec.pin && bytes > lard_pin_limit(map))) {
        status = LARDER_VALUE_TOO_LARGE;
    } else if (needs_chunks(map, op, bytes)) {
        call = &same;
        status = write_chunks(cache, map, op, &head, call);
    }
    if (status == LARDER_OK) {
        status = write_where_it_holds(cache, map, op, call);
    }
    if (status == LARDER_OK) {
        lard_count(cache, LARD_STAT_sets, 1);
        if (LARD_UNLIKELY((uint64_t)op->now_ms - (uint64_t)__atomic_load_n(&cache->counted_ms, __ATOMIC_RELAXED) >=
                          COUNTS_KEPT_MS)) {
            lard_process_keep_counts(cache, map, op->now_ms);
        }
        if (op->replaced.value_bytes) {
            lard_large_drop(map, &op->replaced);
        }
        return status;
    }
    if (head.value_bytes) {
        lard_large_drop(map, &head);
    }
    if (status != LARDER_NOT_STORED && !lard_put_is_tried(status, call)) {
        lard_count(cache, LARD_STAT_refused, 1);
        if (lard_put_overwrites(op->condition)) {
            lard_drop(map, op->key, op->now_ms);
            lard_map_outcome(map, status); /* after a fault others must leave the file */
        }
    }
    return status;
}

larder_status lard_put_item(lard_core *cache, lard_map *map, const void *key, size_t key_bytes, const void *value,
                            const larder_item *item, const lard_hit *from, const larder_call *call,
                            uint64_t *records) {
    lard_key wanted = lard_key_of(map, NULL, key, key_bytes);
    int64_t expiry_ms = item->expires_at_ms < LARDER_MAX_EXPIRY_MS ? item->expires_at_ms : LARDER_MAX_EXPIRY_MS;
    lard_write_op op = {.key = &wanted,
                        .spec = {.value = value,
                                 .value_bytes = item->size_bytes,
                                 .expiry_ms = (uint64_t)expiry_ms,
                                 .type = LARD_TYPE_PLAIN,
                                 .flags = item->flags,
                                 .configuration = LARD_WORD1_CONFIGURATION(from->info.word1),
                                 .pin = item->is_pinned ? LARD_PINNED : 0},
                        .condition = LARD_IF_ANY,
                        .now_ms = lard_clock_of_call(call)};
    lard_extension extension;
    lard_extension_init(&extension, LARD_TYPE_PLAIN, item->compute_ms);
    extension.fields = item->fresh_until_ms ? LARD_FIELD_FRESH : 0;
    extension.fresh_until_ms = item->fresh_until_ms;
    if (from->extension.fields & LARD_FIELD_TAGS) { /* its stamp is 0: the new file has no earlier deletions */
        extension.fields |= LARD_FIELD_TAGS;
        extension.tag_count = from->extension.tag_count;
        memcpy(extension.tags, from->extension.tags, extension.tag_count * sizeof *extension.tags);
    }
    if (extension.fields || extension.compute_ms) {
        op.spec.type = LARD_TYPE_EXTENDED;
        op.spec.extension = &extension;
    }
    if (item->is_counter && lard_counter_parse(value, item->size_bytes, &op.spec.number)) {
        op.spec.type = LARD_TYPE_COUNTER;
        op.spec.value_bytes = 0;
    }
    larder_status status = lard_put(cache, map, &op, call);
    *records +=
        1 + (op.spec.type == LARD_TYPE_HEAD || extension.kind == LARD_TYPE_HEAD ? (uint64_t)op.spec.number : 0);
    return status;
}
