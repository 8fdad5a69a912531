/*
 * scan.c — larder_scan, larder_scan_details and larder_scan_leases: visit keys without a lock, from where the last
 * call stopped.
 * larder_scan_progress: how far that is.
 *
 * Items move to higher buckets when the index grows, so a walk in bucket order visits every key that stays, some
 * of them twice. The few moves to a lower bucket are counted in the shard (index_resize.c). If the count has
 * changed at the end of a shard, the walk repeats the shard, up to MAX_RESTARTS times.
 */
#include "api/request.h"
#include "base/clock.h"
#include "base/key.h"
#include "base/word.h"
#include "file/belief.h"
#include "file/view.h"
#include "handle/enter.h"
#include "index/bucket.h"
#include "item/details.h"
#include "item/large.h"
#include "item/read.h"
#include "segment/record.h"

#include <string.h>

/* Which keys are visited: those that a get finds; those of stale values and of leases, too; those of leases. */
typedef enum { PRESENT, ALL, LEASED } choice;

#define BUCKETS_PER_CALL 4096

#define MAX_RESTARTS 7

/* The cursor: 0 at the start; else bits of the file's id (11) | shard (8) | bucket (26) | slot (3) | moves_down
 * when the walk of the shard began (12) | restarts (3), + 1. */
typedef struct {
    uint32_t shard, bucket, slot, moves_down, restarts;
    bool begun;
} position;

#define MOVES_MASK 0xfffu
#define FILE_SHIFT 52

static uint64_t file_bits(const lard_map *map) { return lard_word_at(map->super.file_id) >> (64 - 11); }

/* A cursor of another file begins again: its keys may be anywhere in this one. */
static position unpack(const lard_map *map, uint64_t cursor) {
    uint64_t c = cursor - 1;
    if (cursor == 0 || c >> FILE_SHIFT != file_bits(map)) {
        return (position){0};
    }
    return (position){
        .shard = (uint32_t)(c >> 44) & 0xff,
        .bucket = (uint32_t)(c >> 18) & 0x3ffffff,
        .slot = (uint32_t)(c >> 15) & 7,
        .moves_down = (uint32_t)(c >> 3) & MOVES_MASK,
        .restarts = (uint32_t)c & 7,
        .begun = true,
    };
}

static uint64_t pack(const lard_map *map, position at) {
    return (file_bits(map) << FILE_SHIFT | (uint64_t)at.shard << 44 | (uint64_t)at.bucket << 18 |
            (uint64_t)at.slot << 15 | (uint64_t)at.moves_down << 3 | at.restarts) +
           1;
}

/* True if items may have moved down past the walk: then *at is the start of the shard again. */
static bool begin_again(const lard_view *view, position *at) {
    lard_fence_acquire();
    uint32_t moves_down = lard_load(&view->header->moves_down) & MOVES_MASK;
    if (moves_down == at->moves_down || at->restarts == MAX_RESTARTS) {
        return false;
    }
    *at = (position){.shard = at->shard, .moves_down = moves_down, .restarts = at->restarts + 1, .begun = true};
    return true;
}

/* Is the key present? A pending slot does not prove it: its item may have been deleted. */
static bool is_found(larder *cache, lard_map *map, const void *key, size_t key_bytes, int64_t now_ms) {
    lard_key wanted = lard_key_of(map, &lard_belief_any, key, key_bytes);
    return lard_read_exists(cache->core, map, &wanted, NULL, now_ms);
}

static bool has_lease(const lard_view *view, uint64_t offset, const lard_record_info *info) {
    lard_extension extension;
    size_t bytes;
    return LARD_WORD0_TYPE(info->word0) == LARD_TYPE_EXTENDED &&
           lard_record_extended(view, offset, info, &extension, NULL, 0, &bytes) == LARDER_OK &&
           lard_extension_leased_ms(&extension) > 0;
}

/* Whether the choice has the record's key, or for PRESENT may have it. */
static bool is_listed(const lard_view *view, uint64_t offset, const lard_record_info *info, int64_t now_ms,
                      choice choice) {
    unsigned type = LARD_WORD0_TYPE(info->word0);
    if (choice == LEASED) {
        return has_lease(view, offset, info);
    }
    if (type == LARD_TYPE_EXTENDED) {
        return choice == ALL || (!lard_record_expired(info, now_ms) &&
                                 lard_record_extended_is_fresh(view, offset, info, now_ms, &type));
    }
    return type != LARD_TYPE_CHUNK && !lard_record_expired(info, now_ms);
}

/* Copies the key of a slot's item to `key`, if it is listed. Returns its length, or -1. */
static int64_t listed_key(larder *cache, const lard_view *view, lard_u64 *slot, unsigned char *key, int64_t now_ms,
                          choice choice) {
    for (int attempt = 0; attempt < 8; attempt++) {
        lard_record_info info;
        uint64_t value = lard_load_acquire(slot);
        uint64_t settled = value & ~LARD_SLOT_PENDING;
        uint64_t offset = LARD_SLOT_OFFSET(settled);
        if (!offset) {
            return -1;
        }
        bool fit = lard_record_of_slot(view, settled, &info) && is_listed(view, offset, &info, now_ms, choice);
        lard_head head = {{0, 0}, 0, 0, 0};
        if (fit) {
            lard_record_copy_key(view, offset, &info, key);
            lard_record_head(view, offset, &info, &head);
        }
        lard_fence_acquire();
        if (lard_load(slot) == value) {
            size_t key_bytes = LARD_WORD0_KEY_BYTES(info.word0);
            if (fit && choice == PRESENT) {
                fit = value != settled ? is_found(cache, view->map, key, key_bytes, now_ms)
                                       : !head.value_bytes || lard_large_is_whole(cache->core, view->map, &head);
            }
            return fit ? (int64_t)key_bytes : -1;
        }
    }
    return -1;
}

/* Writes what is between the length of a key and its bytes. False: the key is to be left out. */
typedef bool describe(lard_core *cache, lard_map *map, const void *key, size_t key_bytes, void *entry,
                      int64_t now_ms);

static bool describe_item(lard_core *cache, lard_map *map, const void *key, size_t key_bytes, void *entry,
                          int64_t now_ms) {
    larder_details details;
    bool found = lard_details_find(cache, map, key, key_bytes, &details, now_ms);
    if (found) {
        memcpy(entry, &details, sizeof details);
    }
    return found;
}

static bool describe_lease(lard_core *cache, lard_map *map, const void *key, size_t key_bytes, void *entry,
                           int64_t now_ms) {
    larder_leased leased;
    bool found = lard_details_lease(cache, map, key, key_bytes, &leased, now_ms);
    if (found) {
        memcpy(entry, &leased, sizeof leased);
    }
    return found;
}

/* `describe` writes `details_bytes`; NULL and 0: keys alone. */
static larder_status scan(larder *cache, uint64_t *cursor, const void *prefix, size_t prefix_bytes, void *buffer,
                          size_t buffer_bytes, size_t *count, size_t *used, const larder_call *call, choice choice,
                          describe *describe, size_t details_bytes) {
    unsigned char key[LARDER_MAX_KEY + 8];
    int64_t now_ms = lard_clock_of_call(call);
    if (!cache || !cursor || !buffer || !count || !used || (!prefix && prefix_bytes) ||
        buffer_bytes < LARDER_MAX_KEY + 4 + details_bytes || !lard_request_knows_call(call)) {
        return LARDER_INVALID;
    }
    *count = *used = 0;
    lard_map *map = lard_enter(cache->core);
    unsigned walked = 0;
    if (!map) {
        return lard_enter_failure(cache->core);
    }
    position at = unpack(map, *cursor);
    if (prefix_bytes > LARDER_MAX_KEY) {
        *cursor = 0;
        return LARDER_OK;
    }
    while (at.shard < map->super.shard_count) {
        lard_view view = lard_view_of(map, at.shard);
        uint64_t epoch;
        if (!lard_view_is_current(&view, &epoch)) {
            at = (position){.shard = at.shard + 1};
            continue;
        }
        if (!at.begun) {
            at.moves_down = lard_load_acquire(&view.header->moves_down) & MOVES_MASK;
            at.begun = true;
        }
        for (; at.bucket < lard_bucket_count(&view); at.bucket++, at.slot = 0) {
            lard_bucket *bucket = lard_bucket_at(&view, at.bucket);
            for (; bucket && at.slot < LARD_BUCKET_SLOTS; at.slot++) {
                int64_t bytes = listed_key(cache, &view, &bucket->slots[at.slot], key, now_ms, choice);
                if (bytes < (int64_t)prefix_bytes || (prefix_bytes && memcmp(key, prefix, prefix_bytes) != 0)) {
                    continue;
                }
                uint32_t length = (uint32_t)bytes;
                char *entry = (char *)buffer + *used;
                if (*used + 4 + details_bytes + length > buffer_bytes) {
                    *cursor = pack(map, at);
                    return LARDER_OK;
                }
                if (describe && !describe(cache->core, map, key, length, entry + 4, now_ms)) {
                    continue;
                }
                memcpy(entry, &length, 4);
                memcpy(entry + 4 + details_bytes, key, length);
                *used += 4 + details_bytes + length;
                ++*count;
            }
            if (++walked >= BUCKETS_PER_CALL) {
                at.bucket++;
                at.slot = 0;
                *cursor = pack(map, at);
                return LARDER_OK;
            }
        }
        if (!begin_again(&view, &at)) {
            at = (position){.shard = at.shard + 1};
        }
    }
    *cursor = 0;
    return LARDER_OK;
}

larder_status larder_scan(larder *cache, uint64_t *cursor, const void *prefix, size_t prefix_bytes, void *buffer,
                          size_t buffer_bytes, size_t *count, size_t *used, const larder_call *call) {
    choice choice = call && (call->flags & LARDER_CALL_STALE) ? ALL : PRESENT;
    return scan(cache, cursor, prefix, prefix_bytes, buffer, buffer_bytes, count, used, call, choice, NULL, 0);
}

larder_status larder_scan_details(larder *cache, uint64_t *cursor, const void *prefix, size_t prefix_bytes,
                                  void *buffer, size_t buffer_bytes, size_t *count, size_t *used,
                                  const larder_call *call) {
    return scan(cache, cursor, prefix, prefix_bytes, buffer, buffer_bytes, count, used, call, ALL, describe_item,
                sizeof(larder_details));
}

larder_status larder_scan_leases(larder *cache, uint64_t *cursor, const void *prefix, size_t prefix_bytes,
                                 void *buffer, size_t buffer_bytes, size_t *count, size_t *used,
                                 const larder_call *call) {
    return scan(cache, cursor, prefix, prefix_bytes, buffer, buffer_bytes, count, used, call, LEASED,
                describe_lease, sizeof(larder_leased));
}

larder_status larder_scan_progress(larder *cache, uint64_t cursor, uint32_t *passed_ppm) {
    if (!cache || !passed_ppm) {
        return LARDER_INVALID;
    }
    *passed_ppm = 0;
    lard_map *map = lard_enter(cache->core);
    if (!map) {
        return lard_enter_failure(cache->core);
    }
    position at = unpack(map, cursor);
    uint64_t shards = map->super.shard_count;
    uint64_t shard_ppm = 0;
    if (at.shard < shards) {
        lard_view view = lard_view_of(map, at.shard);
        /* A shard without items may have no buckets yet. */
        uint64_t buckets = lard_bucket_count(&view), bucket = at.bucket;
        if (bucket > 0) {
            shard_ppm = bucket < buckets ? bucket * 1000000 / buckets : 1000000;
        }
    }
    uint64_t passed = ((uint64_t)at.shard * 1000000 + shard_ppm) / shards;
    *passed_ppm = passed < 1000000 ? (uint32_t)passed : 1000000;
    return LARDER_OK;
}
