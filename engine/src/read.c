/*
 * read.c — the lookup that takes no lock.
 *
 * Load a slot, copy what it points at, and look at the slot again: eviction
 * empties every slot into a segment before a byte of it changes (segment.c), so
 * an unchanged slot means that what was copied was whole. A killed or stopped
 * reader leaves nothing behind; a stopped writer delays no reader.
 *
 * A hit is one piece of code from the hash to the checksum. It is compiled twice,
 * for processors with and without an instruction for the checksum (`fast`).
 */
#include "internal.h"

#define ATTEMPTS 32
#define READS_PER_LOOK 1024 /* at the path of the file; a power of two */

static void bump_frequency(lard_u64 *slot, uint64_t value) {
    if (LARD_SLOT_FREQUENCY(value) < 3) {
        lard_cas64(slot, &value, value + LARD_FREQUENCY_ONE); /* a lost race is another reader's bump */
    }
}

static larder_status read_counter(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out,
                                  size_t capacity, size_t *size_bytes) {
    char text[24];
    int64_t number;
    uint64_t key = LARD_ALIGN8(LARD_WORD2_KEY_BYTES(info->word2));
    if (!lard_counter_read(lard_words(view, offset + LARD_RECORD_HEADER + key), info->crc, &number)) {
        return LARDER_DAMAGED;
    }
    *size_bytes = lard_counter_text(number, text);
    if (!out) {
        return LARDER_OK;
    }
    if (*size_bytes > capacity) {
        return LARDER_BUFFER_TOO_SMALL;
    }
    __builtin_memcpy(out, text, *size_bytes);
    return LARDER_OK;
}

/* Most items are far from their expiry, and the cheap clock is enough to know. */
static bool has_passed(uint64_t expiry_ms, int64_t now_ms) {
    if (now_ms == 0) {
        now_ms = lard_clock_coarse_ms();
        if ((int64_t)expiry_ms > now_ms + LARD_COARSE_LAG_MS) {
            return false;
        }
        now_ms = lard_clock_ms();
    }
    return (int64_t)expiry_ms <= now_ms;
}

/* What one slot holds: OK, BUFFER_TOO_SMALL, DAMAGED, or MISS where expired. A head is always read whole. */
LARD_INLINE larder_status read_record(bool fast, const lard_view *view, lard_hit *hit, void *out, size_t capacity,
                                      lard_head *head, size_t *size_bytes, int64_t now_ms) {
    const lard_record_info *info = &hit->info;
    unsigned type = LARD_WORD2_TYPE(info->word2);
    *size_bytes = LARD_WORD2_VALUE_BYTES(info->word2);
    if (type != LARD_TYPE_CHUNK && info->expiry_ms && has_passed(info->expiry_ms, now_ms)) {
        return LARDER_MISS;
    }
    if (LARD_UNLIKELY(type == LARD_TYPE_COUNTER)) {
        larder_status status = lard_record_read(view, hit->offset, info, NULL, 0);
        return status != LARDER_OK ? status : read_counter(view, hit->offset, info, out, capacity, size_bytes);
    }
    if (LARD_UNLIKELY(type == LARD_TYPE_HEAD)) {
        if (*size_bytes != sizeof *head) {
            return LARDER_DAMAGED;
        }
        larder_status status = lard_record_read(view, hit->offset, info, head, sizeof *head);
        *size_bytes = head->value_bytes;
        return status;
    }
    return out ? lard_record_value(fast, view, hit->offset, info, out, capacity) : LARDER_OK;
}

enum found { FOUND, ABSENT, AGAIN };

/* The two buckets that a key may stand in; false where there is no index, or a damaged one. */
LARD_INLINE bool buckets_of(const lard_view *view, const lard_hash *hash, uint32_t count, lard_bucket **first,
                            lard_bucket **second) {
    if (LARD_UNLIKELY(count == 0)) {
        return false;
    }
    *first = lard_bucket_at(view, lard_bucket_of(hash->first, count));
    *second = lard_bucket_at(view, lard_bucket_of(hash->second, count));
    return *first && *second;
}

/* The lines of a record that a reader is about to want: most records are three or four of them. */
LARD_INLINE void prefetch_record(const lard_view *view, uint64_t offset) {
    const uint8_t *record = view->base + offset;
    __builtin_prefetch(record);
    __builtin_prefetch(record + 64);
    __builtin_prefetch(record + 128);
}

LARD_INLINE enum found find(const lard_view *view, uint64_t epoch, const lard_hash *hash, const void *key,
                            size_t key_bytes, bool is_chunk, lard_hit *hit) {
    uint32_t moves = lard_load_acquire(&view->head->moves);
    uint32_t count = lard_bucket_count(view);
    lard_bucket *first, *second;
    if (LARD_UNLIKELY(!buckets_of(view, hash, count, &first, &second))) {
        return ABSENT;
    }
    /* Both at once: every other item stands in the second, and a branch would guess wrong as often. */
    unsigned fit = lard_probe(first, hash->tag) | lard_probe(second, hash->tag) << LARD_BUCKET_SLOTS;
    for (; fit; fit &= fit - 1) {
        unsigned at = (unsigned)__builtin_ctz(fit);
        lard_bucket *bucket = at < LARD_BUCKET_SLOTS ? first : second;
        lard_u64 *slot = &bucket->slots[at % LARD_BUCKET_SLOTS];
        uint64_t value = lard_load_acquire(slot);
        uint64_t offset = LARD_SLOT_OFFSET(value);
        if (LARD_UNLIKELY(LARD_SLOT_TAG(value) != hash->tag || !offset)) {
            continue;
        }
        prefetch_record(view, offset);
        if (LARD_LIKELY(lard_slot_record(view, value, &hit->info) &&
                        lard_record_is_key(view, offset, &hit->info, key, key_bytes, is_chunk))) {
            hit->slot = slot;
            hit->slot_value = value;
            hit->offset = offset;
            return FOUND;
        }
        lard_fence_acquire();
        if (!LARD_SLOT_SAME(lard_load(slot), value)) {
            return AGAIN; /* it was moved or recycled while being looked at */
        }
    }
    lard_fence_acquire();
    bool changed = (moves & 1) || lard_load(&view->head->moves) != moves || lard_bucket_count(view) != count ||
                   lard_load(&view->head->epoch) != epoch;
    return changed ? AGAIN : ABSENT;
}

LARD_INLINE larder_status lookup(bool fast, larder *cache, lard_map *map, const lard_hash *hash, const void *key,
                                 size_t key_bytes, bool is_chunk, void *out, size_t capacity, larder_item *item,
                                 lard_hit *at, int64_t now_ms) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, hash));

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t epoch;
        lard_head head = {{0, 0}, 0};
        size_t size_bytes = 0;
        if (LARD_UNLIKELY(!lard_shard_current(&view, &epoch))) {
            return LARDER_MISS;
        }
        enum found found = find(&view, epoch, hash, key, key_bytes, is_chunk, at);
        if (found == ABSENT) {
            return LARDER_MISS;
        }
        if (LARD_UNLIKELY(found == AGAIN)) {
            continue;
        }
        larder_status status = read_record(fast, &view, at, out, capacity, &head, &size_bytes, now_ms);
        lard_fence_acquire();
        if (LARD_UNLIKELY(!LARD_SLOT_SAME(lard_load(at->slot), at->slot_value) ||
                          lard_load(&view.head->epoch) != epoch)) {
            continue;
        }
        if (LARD_UNLIKELY(status == LARDER_DAMAGED)) {
            lard_count(cache, LARD_STAT_damaged, 1);
            return LARDER_MISS;
        }
        if (LARD_UNLIKELY(status == LARDER_MISS)) {
            return status;
        }
        bump_frequency(at->slot, at->slot_value);
        if (item) {
            item->size_bytes = size_bytes;
            item->expires_at_ms = (int64_t)at->info.expiry_ms;
            item->flags = (uint8_t)LARD_WORD2_FLAGS(at->info.word2);
            item->is_counter = LARD_WORD2_TYPE(at->info.word2) == LARD_TYPE_COUNTER;
        }
        if (LARD_UNLIKELY(head.value_bytes && out)) {
            status = lard_large_read(cache, map, &head, out, capacity);
            if (status == LARDER_MISS) { /* a chunk was evicted: the head is of no use any more */
                if (!lard_index_unlink(&view, at->slot, at->slot_value, 0)) {
                    continue; /* or it was overwritten meanwhile, and its chunks dropped */
                }
                lard_add(&view.head->items, (uint64_t)-1);
                lard_large_drop(cache, map, &head);
            }
        }
        return status;
    }
    return LARDER_MISS;
}

larder_status lard_read(larder *cache, lard_map *map, const lard_hash *hash, const void *key, size_t key_bytes,
                        bool is_chunk, void *out, size_t capacity, larder_item *item, lard_hit *hit,
                        int64_t now_ms) {
    lard_hit local;
    lard_hit *at = hit ? hit : &local;
    return LARD_LIKELY(lard_crc_hardware)
               ? lookup(true, cache, map, hash, key, key_bytes, is_chunk, out, capacity, item, at, now_ms)
               : lookup(false, cache, map, hash, key, key_bytes, is_chunk, out, capacity, item, at, now_ms);
}

/* Counts hits and misses, and now and then looks whether the file is still at its path. */
static void counted(larder *cache, lard_map *map, uint64_t hits, uint64_t misses) {
    bool due = false;
    if (hits) {
        uint64_t count = lard_count(cache, LARD_STAT_hits, hits);
        due = (count & (READS_PER_LOOK - 1)) < hits;
    }
    if (misses) {
        uint64_t count = lard_count(cache, LARD_STAT_misses, misses);
        due |= (count & (READS_PER_LOOK - 1)) < misses;
    }
    if (LARD_UNLIKELY(due)) {
        lard_look_at_path(cache, map);
    }
}

LARD_INLINE larder_status get(bool fast, larder *cache, const void *key, size_t key_bytes, void *buffer,
                              size_t buffer_bytes, larder_item *item, const larder_call *call) {
    char none;
    lard_hit at;
    lard_map *map = lard_enter(cache);
    if (LARD_UNLIKELY(!map)) {
        return LARDER_MISS;
    }
    lard_hash hash = lard_hash_inline(map->super.seed, key, key_bytes, false);
    larder_status status = lookup(fast, cache, map, &hash, key, key_bytes, false, buffer ? buffer : &none,
                                  buffer ? buffer_bytes : 0, item, &at, call ? call->now_ms : 0);
    if (LARD_LIKELY(status == LARDER_OK)) {
        counted(cache, map, 1, 0);
    } else if (status != LARDER_BUFFER_TOO_SMALL) {
        counted(cache, map, 0, 1);
    }
    return status;
}

larder_status larder_get(larder *cache, const void *key, size_t key_bytes, void *buffer, size_t buffer_bytes,
                         larder_item *item, const larder_call *call) {
    larder_status status = lard_check_key(cache, key, key_bytes);
    if (LARD_UNLIKELY(status != LARDER_OK)) {
        return status;
    }
    return LARD_LIKELY(lard_crc_hardware) ? get(true, cache, key, key_bytes, buffer, buffer_bytes, item, call)
                                          : get(false, cache, key, key_bytes, buffer, buffer_bytes, item, call);
}

/* What is known of a lookup before its record is read. */
typedef struct {
    lard_hash hash;
    lard_bucket *first, *second;
} intent;

/* Hashes a key and has its buckets fetched. */
LARD_INLINE void approach(lard_map *map, const larder_lookup *lookup, intent *intent) {
    intent->hash = lard_hash_inline(map->super.seed, lookup->key, lookup->key_bytes, false);
    lard_view view = lard_view_of(map, lard_hash_shard(map, &intent->hash));
    if (LARD_UNLIKELY(
            !buckets_of(&view, &intent->hash, lard_bucket_count(&view), &intent->first, &intent->second))) {
        intent->first = intent->second = NULL;
        return;
    }
    __builtin_prefetch(intent->first);
    __builtin_prefetch(intent->second);
}

/* Has the record fetched that the buckets seem to name. Only a hint: the read looks for itself. */
LARD_INLINE void aim(lard_map *map, const intent *intent) {
    if (LARD_UNLIKELY(!intent->first)) {
        return;
    }
    unsigned fit = lard_probe(intent->first, intent->hash.tag) | lard_probe(intent->second, intent->hash.tag)
                                                                     << LARD_BUCKET_SLOTS;
    if (fit) {
        unsigned at = (unsigned)__builtin_ctz(fit);
        const lard_bucket *bucket = at < LARD_BUCKET_SLOTS ? intent->first : intent->second;
        lard_view view = lard_view_of(map, lard_hash_shard(map, &intent->hash));
        prefetch_record(&view, LARD_SLOT_OFFSET(lard_load(&bucket->slots[at % LARD_BUCKET_SLOTS])));
    }
}

#define BATCH 64

/* In three passes, so that the cache misses of a batch overlap: buckets, records, then the reads themselves. */
static void get_batch(larder *cache, lard_map *map, larder_lookup *lookups, size_t count, int64_t now_ms) {
    intent intents[BATCH];
    uint64_t hits = 0, misses = 0;
    for (size_t i = 0; i < count; i++) {
        lookups[i].status = lard_check_key(cache, lookups[i].key, lookups[i].key_bytes);
        if (LARD_LIKELY(lookups[i].status == LARDER_OK)) {
            approach(map, &lookups[i], &intents[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (LARD_LIKELY(lookups[i].status == LARDER_OK)) {
            aim(map, &intents[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        larder_lookup *one = &lookups[i];
        char none;
        if (LARD_LIKELY(one->status == LARDER_OK)) {
            one->status = lard_read(cache, map, &intents[i].hash, one->key, one->key_bytes, false,
                                    one->buffer ? one->buffer : &none, one->buffer ? one->buffer_bytes : 0,
                                    &one->item, NULL, now_ms);
            hits += one->status == LARDER_OK;
            misses += one->status == LARDER_MISS;
        }
    }
    counted(cache, map, hits, misses);
}

larder_status larder_get_multi(larder *cache, larder_lookup *lookups, size_t count, const larder_call *call) {
    if (!cache || (!lookups && count)) {
        return LARDER_INVALID;
    }
    lard_map *map = lard_enter(cache);
    for (size_t from = 0; from < count; from += BATCH) {
        size_t batch = count - from < BATCH ? count - from : BATCH;
        if (LARD_LIKELY(map != NULL)) {
            get_batch(cache, map, lookups + from, batch, call ? call->now_ms : 0);
            continue;
        }
        for (size_t i = 0; i < batch; i++) {
            lookups[from + i].status = LARDER_MISS;
        }
    }
    return LARDER_OK;
}

larder_status larder_exists(larder *cache, const void *key, size_t key_bytes, larder_item *item,
                            const larder_call *call) {
    larder_status status = lard_check_key(cache, key, key_bytes);
    lard_map *map = status == LARDER_OK ? lard_enter(cache) : NULL;
    if (!map) {
        return status == LARDER_OK ? LARDER_MISS : status;
    }
    lard_hash hash = lard_hash_key(map, key, key_bytes, false);
    return lard_read(cache, map, &hash, key, key_bytes, false, NULL, 0, item, NULL, call ? call->now_ms : 0);
}
