/*
 * read.c — the lookup that takes no lock.
 *
 * Load a slot, copy what it points at, and look at the slot again: eviction
 * empties every slot into a segment before a byte of it changes (segment.c), so
 * an unchanged slot means that what was copied was whole. A killed or stopped
 * reader leaves nothing behind; a stopped writer delays no reader.
 */
#include "internal.h"

#define ATTEMPTS 32

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
static larder_status read_record(const lard_view *view, lard_hit *hit, void *out, size_t capacity, lard_head *head,
                                 size_t *size_bytes, int64_t now_ms) {
    const lard_record_info *info = &hit->info;
    unsigned type = LARD_WORD2_TYPE(info->word2);
    *size_bytes = LARD_WORD2_VALUE_BYTES(info->word2);
    if (type != LARD_TYPE_CHUNK && info->expiry_ms && has_passed(info->expiry_ms, now_ms)) {
        return LARDER_MISS;
    }
    if (type == LARD_TYPE_COUNTER) {
        larder_status status = lard_record_read(view, hit->offset, info, NULL, 0);
        return status != LARDER_OK ? status : read_counter(view, hit->offset, info, out, capacity, size_bytes);
    }
    if (type == LARD_TYPE_HEAD) {
        if (*size_bytes != sizeof *head) {
            return LARDER_DAMAGED;
        }
        larder_status status = lard_record_read(view, hit->offset, info, head, sizeof *head);
        *size_bytes = head->value_bytes;
        return status;
    }
    return out ? lard_record_read(view, hit->offset, info, out, capacity) : LARDER_OK;
}

enum found { FOUND, ABSENT, AGAIN };

static enum found look(const lard_view *view, const lard_hash *hash, const void *key, size_t key_bytes,
                       bool is_chunk, lard_bucket *bucket, lard_hit *hit) {
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        uint64_t value = lard_load_acquire(&bucket->slots[i]);
        uint64_t offset = LARD_SLOT_OFFSET(value);
        if (LARD_SLOT_TAG(value) != hash->tag || !offset) {
            continue;
        }
        if (LARD_LIKELY(lard_slot_record(view, value, &hit->info) &&
                        lard_record_is_key(view, offset, &hit->info, key, key_bytes, is_chunk))) {
            hit->slot = &bucket->slots[i];
            hit->slot_value = value;
            hit->offset = offset;
            return FOUND;
        }
        lard_fence_acquire();
        if (!LARD_SLOT_SAME(lard_load(&bucket->slots[i]), value)) {
            return AGAIN; /* it was moved or recycled while being looked at */
        }
    }
    return ABSENT;
}

static enum found find(const lard_view *view, uint64_t epoch, const lard_hash *hash, const void *key,
                       size_t key_bytes, bool is_chunk, lard_hit *hit) {
    uint32_t moves = lard_load_acquire(&view->head->moves);
    uint32_t count = lard_bucket_count(view);
    if (LARD_UNLIKELY(count == 0)) {
        return ABSENT;
    }
    uint32_t choices[2] = {lard_bucket_of(hash->first, count), lard_bucket_of(hash->second, count)};
    lard_bucket *buckets[2] = {lard_bucket_at(view, choices[0]), lard_bucket_at(view, choices[1])};
    __builtin_prefetch(buckets[1]); /* every other item stands there: let the two misses overlap */
    for (int c = 0; c < 2; c++) {
        lard_bucket *bucket = buckets[c];
        enum found found = bucket ? look(view, hash, key, key_bytes, is_chunk, bucket, hit) : ABSENT;
        if (found != ABSENT) {
            return found;
        }
    }
    lard_fence_acquire();
    bool changed = (moves & 1) || lard_load(&view->head->moves) != moves || lard_bucket_count(view) != count ||
                   lard_load(&view->head->epoch) != epoch;
    return changed ? AGAIN : ABSENT;
}

larder_status lard_read(larder *cache, lard_map *map, const lard_hash *hash, const void *key, size_t key_bytes,
                        bool is_chunk, void *out, size_t capacity, larder_item *item, lard_hit *hit,
                        int64_t now_ms) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, hash));
    lard_hit local;
    lard_hit *at = hit ? hit : &local;

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
        if (found == AGAIN) {
            continue;
        }
        larder_status status = read_record(&view, at, out, capacity, &head, &size_bytes, now_ms);
        lard_fence_acquire();
        if (LARD_UNLIKELY(!LARD_SLOT_SAME(lard_load(at->slot), at->slot_value) ||
                          lard_load(&view.head->epoch) != epoch)) {
            continue;
        }
        if (LARD_UNLIKELY(status == LARDER_DAMAGED)) {
            lard_count(cache, LARD_STAT_damaged, 1);
            return LARDER_MISS;
        }
        if (status == LARDER_MISS) {
            return status;
        }
        bump_frequency(at->slot, at->slot_value);
        if (item) {
            unsigned type = LARD_WORD2_TYPE(at->info.word2);
            item->size_bytes = size_bytes;
            item->expires_at_ms = (int64_t)at->info.expiry_ms;
            item->flags = (uint8_t)LARD_WORD2_FLAGS(at->info.word2);
            item->is_counter = type == LARD_TYPE_COUNTER;
        }
        if (head.value_bytes && out) {
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
