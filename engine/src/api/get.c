/*
 * get.c — larder_get, its like and larder_get_multi, with the fast path of an ordinary hit or miss.
 *
 * The fast path makes one attempt, on one slot, and reads plain records only. All other cases go to lard_read
 * (read.c), which starts again from the beginning: another type of record, another key with the same fingerprint,
 * an index that is changing, damage. So the fast path decides only clear hits and clear misses. No lock is assumed
 * or taken.
 */
#include "api/request.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/crc.h"
#include "base/hash.h"
#include "base/key.h"
#include "base/reads.h"
#include "evict/steer.h"
#include "file/belief.h"
#include "file/view.h"
#include "handle/enter.h"
#include "index/dircache.h"
#include "index/probe.h"
#include "item/identity.h"
#include "item/lookup.h"
#include "item/read.h"
#include "segment/deletions.h"
#include "segment/record.h"
#include "segment/segment.h"
#include "usage/sampler.h"

#define READS_PER_LOOK 1024 /* between checks that the file is at its path, unless a sampler counts reads */
#define BATCH 64

typedef struct {
    lard_key key;
    uint64_t tail; /* lard_word_tail of the key */
    lard_room room;
    const larder_call *call; /* may be NULL */
} request;

static inline int64_t now_of(const request *wanted) { return wanted->call ? wanted->call->now_ms : 0; }

/* Reads a plain value with tags at `place`, where the fast path found a record of a type that it does not read.
 * One attempt. False: a tag was deleted, or lard_read has to decide. */
static bool get_tagged(lard_map *map, const request *wanted, const lard_place *place, larder_item *item) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &wanted->key.hash));
    uint64_t value = lard_load_acquire(place->slot), offset = LARD_SLOT_OFFSET(value);
    lard_extension extension;
    lard_record_info info;
    size_t value_bytes;
    if (!lard_record_of_slot(&view, value, &info) || LARD_WORD0_TYPE_BITS(info.word0) != LARD_TYPE_EXTENDED ||
        !lard_record_is_key(&view, offset, &info, &wanted->key) ||
        !lard_belief_accepts(wanted->key.belief, map, place->epoch, info.word1) ||
        lard_record_extended(&view, offset, &info, &extension, wanted->room.bytes, wanted->room.capacity,
                             &value_bytes) != LARDER_OK) {
        return false;
    }
    lard_fence_acquire();
    if (lard_load(place->slot) != value || lard_load(&view.header->epoch) != place->epoch ||
        extension.kind != LARD_TYPE_PLAIN || extension.fields != LARD_FIELD_TAGS ||
        (info.expiry_ms && lard_clock_has_passed(info.expiry_ms, now_of(wanted))) ||
        lard_deletions_of(map, &extension, place->epoch) != LARD_TAGS_VALID) {
        return false;
    }
    lard_reads_raise(map, &map->dircache[view.number], place->reads, place->slot, offset);
    *item = (larder_item){
        .size_bytes = value_bytes,
        .expires_at_ms = (int64_t)info.expiry_ms,
        .flags = (uint8_t)LARD_WORD1_FLAGS(info.word1),
        .compute_ms = extension.compute_ms,
    };
    return true;
}

/* Fills *hit if `place` is NULL. */
LARD_INLINE larder_status find_slowly(lard_core *cache, lard_map *map, request *wanted, const lard_place *place,
                                      larder_item *item, lard_hit *hit) {
    larder_item found = {0};
    lard_steer_hear(lard_reads_hints(&map->dircache[lard_hash_shard(map, &wanted->key.hash)]), &wanted->key.hash);
    bool is_found = place && get_tagged(map, wanted, place, &found);
    larder_status status =
        is_found ? LARDER_OK
                 : lard_read(cache, map, &wanted->key, place, &wanted->room, &found, hit, now_of(wanted));
    if (found.staleness && !(wanted->call && (wanted->call->flags & LARDER_CALL_STALE))) {
        return LARDER_MISS;
    }
    if (LARD_UNLIKELY(found.staleness && status == LARDER_OK)) {
        lard_count(cache, LARD_STAT_stale_hits, 1);
        lard_sampler_stale(cache, &wanted->key);
    }
    if (item && status != LARDER_MISS) {
        *item = found;
    }
    return status;
}

static __attribute__((noinline)) larder_status get_slowly(lard_core *cache, lard_map *map, request *wanted,
                                                          const lard_place *place, larder_item *item) {
    lard_hit hit;
    return find_slowly(cache, map, wanted, place, item, &hit);
}

static __attribute__((noinline)) bool grow(lard_room *room, size_t bytes, uint64_t word1) {
    return lard_lookup_grow(room, bytes, word1);
}

/*
 * Copies the value of the record at `offset`. Compares the key and computes the checksum on the way, so that each
 * word is loaded once. False, with undefined content of the room, unless it is a whole and undamaged plain
 * record of that key, origin and configuration that fits the room and is not pinned. `row` is that of the reader's
 * configuration. The checksum is computed with it in place of the record's own,
 * so it is wrong for a record of another configuration.
 */
LARD_INLINE bool copy_ordinary(bool fast, const lard_view *view, uint64_t offset, uint64_t origin, unsigned row,
                               request *wanted, lard_record_info *info) {
    const lard_u64 *words = lard_view_words(view, offset);
    size_t key_bytes = wanted->key.bytes;
    const unsigned char *key = wanted->key.data;
    uint64_t left = lard_segment_left(view, offset);
    if (LARD_UNLIKELY(left < LARD_RECORD_HEADER)) {
        return false;
    }
    info->word0 = lard_load(&words[0]);
    info->word1 = lard_load(&words[1]);
    size_t value_bytes = LARD_WORD0_VALUE_BYTES(info->word0);
    if (LARD_UNLIKELY(LARD_WORD0_KIND(info->word0) !=
                          LARD_WORD0_KIND(LARD_WORD0(0, LARD_TYPE_PLAIN, key_bytes, 0)) ||
                      LARD_RECORD_HEADER + LARD_ALIGN8(key_bytes + value_bytes) > left ||
                      !lard_record_is_sealed(info->word0, info->word1, origin))) {
        return false;
    }
    if (LARD_UNLIKELY(value_bytes > wanted->room.capacity) && !grow(&wanted->room, value_bytes, info->word1)) {
        return false;
    }
    uint64_t crc = lard_crc_step(fast, LARD_CRC_START, lard_record_checked_as(info->word0, info->word1, row));
    uint64_t difference = 0;
    words += LARD_RECORD_HEADER / 8;
    for (size_t i = 0; i < key_bytes / 8; i++, words++) {
        uint64_t word = lard_load(words);
        crc = lard_crc_step(fast, crc, word);
        difference |= word ^ lard_word_at(key + i * 8);
    }
    unsigned rest = key_bytes & 7;
    uint64_t of_key = (1ull << (rest * 8)) - 1;
    if (LARD_LIKELY(value_bytes >= 8)) {
        uint64_t joint = lard_load(words);
        difference |= (joint ^ wanted->tail) & of_key;
        crc = lard_crc_out_from(fast, crc, joint, words, rest, wanted->room.bytes, value_bytes);
    } else {
        difference |= rest ? (lard_load(words) ^ wanted->tail) & of_key : 0;
        crc = lard_crc_out_few(fast, crc, words, rest, wanted->room.bytes, value_bytes);
    }
    return difference == 0 && crc == LARD_WORD0_CRC(info->word0);
}

/* The directory cache is out of date, so a miss by it proves nothing: renews it and reads again. */
static __attribute__((noinline)) larder_status renew_and_get_slowly(lard_core *cache, lard_map *map,
                                                                    request *wanted, larder_item *item) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &wanted->key.hash));
    lard_dircache_renew(map, &view);
    return get_slowly(cache, map, wanted, NULL, item);
}

/* The fast path, in the buckets that the directory cache knows. */
LARD_INLINE larder_status answer(bool fast, lard_core *cache, lard_belief *belief, lard_map *map, request *wanted,
                                 const lard_buckets *buckets, larder_item *item) {
    uint32_t number = lard_hash_shard(map, &wanted->key.hash);
    const lard_dircache *copy = &map->dircache[number];
    lard_view view = lard_view_of(map, number);
    uint64_t epoch;
    lard_record_info info;
    if (LARD_UNLIKELY(!lard_view_is_current(&view, &epoch))) {
        return LARDER_MISS;
    }
    if (LARD_UNLIKELY(buckets->epoch != epoch)) {
        return renew_and_get_slowly(cache, map, wanted, item);
    }
    unsigned row = 0;
    if (belief && LARD_UNLIKELY(!lard_belief_knows(belief, map, epoch, &row))) {
        return get_slowly(cache, map, wanted, NULL, item); /* looks for it */
    }
    uint32_t moves = lard_load_acquire(&view.header->moves);
    /* Half of all items are in the first bucket and need not wait for the second, which is prefetched meanwhile.
     */
    __builtin_prefetch(buckets->at[1]);
    lard_bucket *bucket = buckets->at[0];
    uint32_t bucket_number = buckets->number[0];
    unsigned fit = lard_probe_one(bucket, wanted->key.hash.fingerprint);
    if (fit == 0) {
        bucket = buckets->at[1];
        bucket_number = buckets->number[1];
        fit = lard_probe_one(bucket, wanted->key.hash.fingerprint);
    }
    if (fit == 0) {
        lard_fence_acquire();
        bool changed = (moves & 1) || lard_load(&view.header->moves) != moves ||
                       lard_load(&view.header->bucket_count) != buckets->count ||
                       lard_load(&view.header->epoch) != epoch;
        if (LARD_UNLIKELY(changed)) {
            return renew_and_get_slowly(cache, map, wanted, item);
        }
        lard_steer_hear(lard_reads_hints(copy), &wanted->key.hash);
        return LARDER_MISS;
    }
    lard_u64 *slot = &bucket->slots[__builtin_ctz(fit)];
    uint64_t value = lard_load_acquire(slot);
    uint64_t offset = LARD_SLOT_OFFSET(value);
    lard_record_prefetch(&view, offset);
    if (LARD_UNLIKELY(LARD_SLOT_FINGERPRINT(value) != wanted->key.hash.fingerprint ||
                      !copy_ordinary(fast, &view, offset, LARD_SLOT_ORIGIN(value), row, wanted, &info))) {
        const lard_place place = {slot, lard_reads_in(map, copy, bucket_number), epoch};
        return get_slowly(cache, map, wanted, &place, item);
    }
    lard_fence_acquire();
    if (LARD_UNLIKELY(lard_load(slot) != value || lard_load(&view.header->epoch) != epoch)) {
        return get_slowly(cache, map, wanted, NULL, item);
    }
    lard_steer_hear(lard_reads_hints(copy), &wanted->key.hash);
    uint64_t expiry_ms = LARD_WORD1_EXPIRY_MS(info.word1);
    if (expiry_ms && lard_clock_has_passed(expiry_ms, now_of(wanted))) {
        return LARDER_MISS;
    }
    lard_reads_raise(map, copy, lard_reads_in(map, copy, bucket_number), slot, offset);
    if (item) {
        *item = (larder_item){
            .size_bytes = LARD_WORD0_VALUE_BYTES(info.word0),
            .expires_at_ms = (int64_t)expiry_ms,
            .flags = (uint8_t)LARD_WORD1_FLAGS(info.word1),
        };
    }
    return LARDER_OK;
}

/* One read of many: the sampler counts it, and it checks that the file is still at its path. */
static __attribute__((noinline)) void sampled(lard_core *cache, lard_map *map, const lard_key *key,
                                              larder_status status, size_t value_bytes) {
    if (LARD_UNLIKELY(status != LARDER_OK && status != LARDER_MISS)) {
        return; /* the next one is sampled */
    }
    if (lard_sampler_of(cache)) {
        lard_sampler_read(cache, key, status == LARDER_OK, value_bytes);
    } else {
        __atomic_store_n(&cache->until_read, READS_PER_LOOK, __ATOMIC_RELAXED);
    }
    lard_enter_look(cache, map);
}

LARD_INLINE void counted(lard_core *cache, lard_map *map, const lard_key *key, larder_status status,
                         const larder_item *item) {
    if (LARD_LIKELY(status == LARDER_OK)) {
        lard_count(cache, LARD_STAT_hits, 1);
    } else if (status == LARDER_MISS) {
        lard_count(cache, LARD_STAT_misses, 1);
    } else {
        return;
    }
    if (lard_sampler_is_due(&cache->until_read)) {
        sampled(cache, map, key, status, item ? item->size_bytes : 0);
    }
}

LARD_INLINE void prepare(lard_map *map, lard_belief *belief, request *wanted, const void *key, size_t key_bytes,
                         void *buffer, size_t buffer_bytes, const larder_allocator *more,
                         const larder_call *call) {
    static char none;
    wanted->tail = lard_word_tail(key, key_bytes);
    wanted->room.bytes = buffer ? buffer : &none;
    wanted->room.capacity = buffer ? buffer_bytes : 0;
    wanted->room.more = more;
    wanted->call = call;
    wanted->key.data = key;
    wanted->key.bytes = key_bytes;
    wanted->key.hash = lard_hash_inline(map->super.seed, key, key_bytes, wanted->tail, false);
    wanted->key.is_chunk = false;
    wanted->key.belief = belief;
}

LARD_INLINE larder_status get_as(lard_core *cache, lard_belief *belief, const void *key, size_t key_bytes,
                                 void *buffer, size_t buffer_bytes, const larder_allocator *more,
                                 larder_item *item, const larder_call *call) {
    request wanted;
    lard_map *map = lard_enter(cache);
    if (LARD_UNLIKELY(!map)) {
        return LARDER_MISS;
    }
    lard_buckets buckets;
    prepare(map, belief, &wanted, key, key_bytes, buffer, buffer_bytes, more, call);
    lard_dircache_pair(map, &wanted.key.hash, &buckets);
    larder_status status = LARD_LIKELY(lard_crc_hardware)
                               ? answer(true, cache, belief, map, &wanted, &buckets, item)
                               : get_slowly(cache, map, &wanted, NULL, item);
    counted(cache, map, &wanted.key, status, item);
    return status;
}

/* Apart, so that a handle without a configuration needs nothing for it. */
static __attribute__((noinline)) larder_status get_configured(larder *cache, const void *key, size_t key_bytes,
                                                              void *buffer, size_t buffer_bytes,
                                                              const larder_allocator *more, larder_item *item,
                                                              const larder_call *call) {
    return get_as(cache->core, cache->belief, key, key_bytes, buffer, buffer_bytes, more, item, call);
}

LARD_INLINE larder_status get(larder *cache, const void *key, size_t key_bytes, void *buffer, size_t buffer_bytes,
                              const larder_allocator *more, larder_item *item, const larder_call *call) {
    larder_status status = lard_request_check_key(cache, key, key_bytes, call);
    if (LARD_UNLIKELY(status != LARDER_OK)) {
        return status;
    }
    return LARD_LIKELY(!cache->belief)
               ? get_as(cache->core, NULL, key, key_bytes, buffer, buffer_bytes, more, item, call)
               : get_configured(cache, key, key_bytes, buffer, buffer_bytes, more, item, call);
}

larder_status larder_get(larder *cache, const void *key, size_t key_bytes, void *buffer, size_t buffer_bytes,
                         larder_item *item, const larder_call *call) {
    return get(cache, key, key_bytes, buffer, buffer_bytes, NULL, item, call);
}

larder_status larder_get_allocated(larder *cache, const void *key, size_t key_bytes, void *buffer,
                                   size_t buffer_bytes, const larder_allocator *more, larder_item *item,
                                   const larder_call *call) {
    return get(cache, key, key_bytes, buffer, buffer_bytes, more, item, call);
}

larder_status larder_get_to_swap(larder *cache, const void *key, size_t key_bytes, void *buffer,
                                 size_t buffer_bytes, const larder_allocator *more, larder_item *item,
                                 uint64_t *identity, const larder_call *call) {
    request wanted;
    lard_hit hit;
    larder_item found = {0};
    larder_status status = identity ? lard_request_check_key(cache, key, key_bytes, call) : LARDER_INVALID;
    lard_map *map = status == LARDER_OK ? lard_enter(cache->core) : NULL;
    if (!map) {
        return status == LARDER_OK ? LARDER_MISS : status;
    }
    prepare(map, cache->belief, &wanted, key, key_bytes, buffer, buffer_bytes, more, call);
    status = find_slowly(cache->core, map, &wanted, NULL, &found, &hit);
    if (status == LARDER_OK) {
        *identity = lard_identity_of_value(map, &wanted.key, &hit, wanted.room.bytes, found.size_bytes);
    }
    if (item && status != LARDER_MISS) {
        *item = found;
    }
    counted(cache->core, map, &wanted.key, status, &found);
    return status;
}

/* Three passes, so that the cache misses of a batch overlap: prefetch the buckets, prefetch the records, read. */
LARD_INLINE void get_batch_as(larder *cache, lard_belief *belief, lard_map *map, larder_lookup *lookups,
                              size_t count, const larder_call *call) {
    request wanted[BATCH];
    lard_buckets buckets[BATCH];
    uint64_t hits = 0, misses = 0;
    for (size_t i = 0; i < count; i++) {
        larder_lookup *one = &lookups[i];
        one->status =
            one->reserved ? LARDER_INVALID : lard_request_check_key(cache, one->key, one->key_bytes, NULL);
        if (LARD_LIKELY(one->status == LARDER_OK)) {
            prepare(map, belief, &wanted[i], one->key, one->key_bytes, one->buffer, one->buffer_bytes, one->more,
                    call);
            lard_dircache_prefetch_buckets(map, &wanted[i].key.hash, &buckets[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (LARD_LIKELY(lookups[i].status == LARDER_OK)) {
            lard_dircache_prefetch_record(map, &wanted[i].key.hash, &buckets[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        larder_lookup *one = &lookups[i];
        if (LARD_LIKELY(one->status == LARDER_OK)) {
            one->status = LARD_LIKELY(lard_crc_hardware)
                              ? answer(true, cache->core, belief, map, &wanted[i], &buckets[i], &one->item)
                              : get_slowly(cache->core, map, &wanted[i], NULL, &one->item);
            hits += one->status == LARDER_OK;
            misses += one->status == LARDER_MISS;
            if (lard_sampler_is_due(&cache->core->until_read)) {
                sampled(cache->core, map, &wanted[i].key, one->status, one->item.size_bytes);
            }
        }
    }
    lard_count(cache->core, LARD_STAT_hits, hits);
    lard_count(cache->core, LARD_STAT_misses, misses);
}

static __attribute__((noinline)) void get_batch_configured(larder *cache, lard_map *map, larder_lookup *lookups,
                                                           size_t count, const larder_call *call) {
    get_batch_as(cache, cache->belief, map, lookups, count, call);
}

static __attribute__((noinline)) void get_batch(larder *cache, lard_map *map, larder_lookup *lookups, size_t count,
                                                const larder_call *call) {
    if (LARD_UNLIKELY(cache->belief != NULL)) {
        get_batch_configured(cache, map, lookups, count, call);
    } else {
        get_batch_as(cache, NULL, map, lookups, count, call);
    }
}

larder_status larder_get_multi(larder *cache, larder_lookup *lookups, size_t count, const larder_call *call) {
    if (!cache || (!lookups && count) || !lard_request_knows_call(call)) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter(cache->core);
    for (size_t from = 0; from < count; from += BATCH) {
        size_t batch = count - from < BATCH ? count - from : BATCH;
        if (LARD_LIKELY(map != NULL)) {
            get_batch(cache, map, lookups + from, batch, call);
            continue;
        }
        for (size_t i = 0; i < batch; i++) {
            lookups[from + i].status = LARDER_MISS;
        }
    }
    return LARDER_OK;
}
