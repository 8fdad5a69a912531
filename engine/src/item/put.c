/*
 * put.c — stores a value of any length under a condition, and tidies up after it either way.
 *
 * A store that is refused drops the key's old value: the caller has a newer one.
 */
#include "item/put.h"
#include "base/count.h"
#include "file/map.h"
#include "item/drop.h"
#include "item/large.h"

#define LONG_PART 50  /* a value larger than this part of the capacity goes past the small queue */
#define LARGE_PART 24 /* one larger than this part comes with the highest frequency */

/* Chooses one queue for all chunks of a large value. One that might push its own beginning out of the small queue
 * goes to the main one, and starts as if it had been read where it might do so there. */
static void place_large(lard_map *map, const lard_hash *hash, lard_record_spec *spec) {
    const lard_superblock *super = &map->super;
    uint64_t all = (uint64_t)super->shard_count * super->segments_per_shard * super->segment_bytes;
    spec->to_main =
        spec->value_bytes > all / LONG_PART || lard_write_queue_of(map, hash, spec) == LARD_SEGMENT_MAIN;
    spec->reads = spec->value_bytes > all / LARGE_PART ? 3 : 0;
}

bool lard_put_overwrites(lard_condition condition) {
    return condition == LARD_IF_ANY || condition == LARD_IF_PRESENT;
}

/* Stores a record under a condition, in chunks where it is long, and tidies up after it either way. */
larder_status lard_put(larder *cache, lard_map *map, const lard_hash *hash, lard_record_spec *spec,
                       lard_condition condition, const lard_expected *expected, const larder_call *call) {
    lard_head head = {{0, 0}, 0, 0}, replaced = {{0, 0}, 0, 0};
    larder_status status = LARDER_OK;
    larder_call blocking = {.now_ms = lard_now(call)};

    if (spec->value_bytes > lard_map_max_value(map)) {
        status = LARDER_VALUE_TOO_LARGE;
    } else if (spec->pin) { /* whole, so that no part of it can be missing */
        status = lard_write_pinned(cache, map, hash, spec, condition, expected, call, &replaced);
    } else {
        if (lard_record_bytes(spec->type, spec->key_bytes, spec->value_bytes) > map->record_limit) {
            if (call && (call->flags & LARDER_CALL_TRY)) {
                return LARDER_BUSY; /* many locks, one after the other, and a call that only tries waits for none
                                     */
            }
            call = &blocking;
            place_large(map, hash, spec);
            status = lard_large_write(cache, map, spec, &head, call);
            spec->type = LARD_TYPE_HEAD;
            spec->number = head.chunks;
            spec->value = &head;
            spec->value_bytes = sizeof head;
        }
        if (status == LARDER_OK) {
            status = lard_write(cache, map, hash, spec, condition, expected, call, &replaced);
        }
    }
    if (status == LARDER_BUSY && call && (call->flags & LARDER_CALL_TRY)) {
        return status;
    }
    if (status == LARDER_OK) {
        lard_count(cache, LARD_STAT_sets, 1);
        if (replaced.value_bytes) {
            lard_large_drop(map, &replaced);
        }
        return status;
    }
    if (head.value_bytes) {
        lard_large_drop(map, &head);
    }
    if (status != LARDER_NOT_STORED) {
        lard_count(cache, LARD_STAT_refused, 1);
        if (lard_put_overwrites(condition)) {
            lard_drop(map, hash, spec->key, spec->key_bytes, blocking.now_ms);
            lard_map_outcome(map, status); /* a fault is told to the others; the refusal is the answer */
        }
    }
    return status;
}
