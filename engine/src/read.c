/*
 * read.c — the lookup that takes no lock.
 *
 * Load a slot, copy what it points at, and look at the slot again: eviction
 * empties every slot into a segment before a byte of it changes (segment.c), so
 * an unchanged slot means that what was copied was whole. A killed or stopped
 * reader leaves nothing behind; a stopped writer delays no reader.
 *
 * get.c has the straight line that most reads take; what is not ordinary comes here.
 */
#include "internal.h"

#define ATTEMPTS 32

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

/* The two kinds that are seldom read: a counter, or the head of a large value, which is always read whole. */
static __attribute__((noinline)) larder_status read_odd(const lard_view *view, const lard_hit *hit, void *out,
                                                        size_t capacity, lard_head *head, size_t *size_bytes) {
    const lard_record_info *info = &hit->info;
    if (LARD_WORD2_TYPE(info->word2) == LARD_TYPE_COUNTER) {
        larder_status status = lard_record_read(view, hit->offset, info, NULL, 0);
        return status != LARDER_OK ? status : read_counter(view, hit->offset, info, out, capacity, size_bytes);
    }
    if (*size_bytes != sizeof *head) {
        return LARDER_DAMAGED;
    }
    larder_status status = lard_record_read(view, hit->offset, info, head, sizeof *head);
    *size_bytes = head->value_bytes;
    return status;
}

enum found { FOUND, ABSENT, AGAIN };

/*
 * An item that is moved to its other bucket has a pending slot in both for a moment (index_resize.c): as long as
 * its mover does not run, and until a repair where that died. Both together name an item that nobody had deleted
 * when the later of them became pending; whoever has emptied one of them since has not answered yet. One alone
 * proves nothing.
 */
static __attribute__((noinline)) enum found find_moving(const lard_view *view, const lard_hash *hash,
                                                        const void *key, size_t key_bytes, bool is_chunk,
                                                        lard_bucket *first, lard_bucket *second, lard_hit *hit) {
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        uint64_t value = lard_load_acquire(&first->slots[i]), settled = value & ~LARD_SLOT_PENDING;
        if (LARD_SLOT_FINGERPRINT(value) != hash->fingerprint || value == settled ||
            !lard_slot_record(view, settled, &hit->info) ||
            !lard_record_is_key(view, LARD_SLOT_OFFSET(settled), &hit->info, key, key_bytes, is_chunk)) {
            continue;
        }
        for (unsigned other = 0; other < LARD_BUCKET_SLOTS; other++) {
            uint64_t twin = lard_load_acquire(&second->slots[other]);
            if (LARD_SLOT_SAME(twin, value)) {
                hit->slot = &second->slots[other];
                hit->slot_value = twin;
                hit->offset = LARD_SLOT_OFFSET(settled);
                return FOUND;
            }
        }
    }
    return AGAIN;
}

LARD_INLINE enum found find(const lard_view *view, uint64_t epoch, const lard_hash *hash, const void *key,
                            size_t key_bytes, bool is_chunk, lard_hit *hit) {
    uint32_t moves = lard_load_acquire(&view->head->moves);
    uint32_t count = lard_bucket_count(view);
    lard_bucket *first, *second;
    if (LARD_UNLIKELY(!lard_buckets_of(view, hash, count, &first, &second))) {
        return ABSENT;
    }
    unsigned fit = lard_probe(first, second, hash->fingerprint);
    for (; fit; fit &= fit - 1) {
        unsigned at = (unsigned)__builtin_ctz(fit);
        lard_bucket *bucket = at < LARD_BUCKET_SLOTS ? first : second;
        lard_u64 *slot = &bucket->slots[at % LARD_BUCKET_SLOTS];
        uint64_t value = lard_load_acquire(slot);
        uint64_t offset = LARD_SLOT_OFFSET(value);
        if (LARD_UNLIKELY(LARD_SLOT_FINGERPRINT(value) != hash->fingerprint || !offset)) {
            continue;
        }
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
    bool changed = lard_load(&view->head->moves) != moves || lard_bucket_count(view) != count ||
                   lard_load(&view->head->epoch) != epoch;
    if (LARD_UNLIKELY(moves & 1)) {
        return find_moving(view, hash, key, key_bytes, is_chunk, first, second, hit);
    }
    return changed ? AGAIN : ABSENT;
}

/* A large value of which the head was read. AGAIN where the head was not the key's any more. */
static __attribute__((noinline)) larder_status read_large(larder *cache, const lard_view *view,
                                                          const lard_hit *hit, const lard_head *head, void *out,
                                                          size_t capacity, bool *again) {
    larder_status status = lard_large_read(cache, view->map, head, out, capacity);
    if (status == LARDER_MISS) { /* a chunk was evicted: the head is of no use any more */
        if (!lard_index_unlink(view, hit->slot, hit->slot_value,
                               lard_ghost_word(view, LARD_SLOT_FINGERPRINT(hit->slot_value),
                                               lard_segment_state(view, hit->offset) == LARD_SEGMENT_MAIN))) {
            *again = true; /* or it was overwritten meanwhile, and its chunks dropped */
            return status;
        }
        lard_index_count_off(view, false);
        lard_count(cache, LARD_STAT_evictions, 1);
        lard_large_drop(cache, view->map, head);
    }
    return status;
}

/* Arguments of the rare calls are copies: what stays in registers otherwise need not be in memory for them. */
LARD_INLINE larder_status lookup(bool fast, larder *cache, lard_map *map, const lard_hash *hash, const void *key,
                                 size_t key_bytes, bool is_chunk, void *out, size_t capacity, larder_item *item,
                                 lard_hit *found_at, int64_t now_ms) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, hash));
    lard_hit at;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t epoch;
        lard_head head;
        larder_status status = LARDER_OK;
        if (LARD_UNLIKELY(!lard_shard_current(&view, &epoch))) {
            return LARDER_MISS;
        }
        enum found found = find(&view, epoch, hash, key, key_bytes, is_chunk, &at);
        if (found == ABSENT) {
            return LARDER_MISS;
        }
        if (LARD_UNLIKELY(found == AGAIN)) {
            continue;
        }
        unsigned type = LARD_WORD2_TYPE(at.info.word2);
        size_t size_bytes = LARD_WORD2_VALUE_BYTES(at.info.word2);
        bool odd = type == LARD_TYPE_COUNTER || type == LARD_TYPE_HEAD;
        if (type != LARD_TYPE_CHUNK && at.info.expiry_ms && lard_has_passed(at.info.expiry_ms, now_ms)) {
            status = LARDER_MISS;
        } else if (LARD_UNLIKELY(odd)) {
            const lard_view there = view;
            const lard_hit this = at;
            size_t size = size_bytes;
            status = read_odd(&there, &this, out, capacity, &head, &size);
            size_bytes = size;
            lard_fence_acquire();
            if (lard_load(&lard_words(&view, at.offset)[1]) != lard_seal_expiry(at.info.expiry_ms, at.info.crc)) {
                continue; /* touched meanwhile: the number may be younger than the life read with it */
            }
        } else if (out) {
            status = lard_record_value(fast, &view, at.offset, &at.info, out, capacity);
        }
        lard_fence_acquire();
        if (LARD_UNLIKELY(!LARD_SLOT_SAME(lard_load(at.slot), at.slot_value) ||
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
        lard_bump_frequency(at.slot, at.slot_value);
        if (item) {
            *item = (larder_item){
                .size_bytes = size_bytes,
                .expires_at_ms = (int64_t)at.info.expiry_ms,
                .flags = (uint8_t)LARD_WORD2_FLAGS(at.info.word2),
                .is_counter = type == LARD_TYPE_COUNTER,
                .is_pinned = LARD_WORD2_PINNED(at.info.word2) != 0,
            };
        }
        if (found_at) {
            *found_at = at;
        }
        if (LARD_UNLIKELY(type == LARD_TYPE_HEAD) && out) {
            const lard_view there = view;
            const lard_hit this = at;
            bool again = false;
            status = read_large(cache, &there, &this, &head, out, capacity, &again);
            if (again) {
                continue;
            }
        }
        return status;
    }
    return LARDER_MISS;
}

larder_status lard_read(larder *cache, lard_map *map, const lard_hash *hash, const void *key, size_t key_bytes,
                        bool is_chunk, void *out, size_t capacity, larder_item *item, lard_hit *hit,
                        int64_t now_ms) {
    return lard_crc_hardware
               ? lookup(true, cache, map, hash, key, key_bytes, is_chunk, out, capacity, item, hit, now_ms)
               : lookup(false, cache, map, hash, key, key_bytes, is_chunk, out, capacity, item, hit, now_ms);
}

larder_status larder_exists(larder *cache, const void *key, size_t key_bytes, larder_item *item,
                            const larder_call *call) {
    larder_status status = lard_check_key(cache, key, key_bytes, call);
    lard_map *map = status == LARDER_OK ? lard_enter(cache) : NULL;
    if (!map) {
        return status == LARDER_OK ? LARDER_MISS : status;
    }
    lard_hash hash = lard_hash_key(map, key, key_bytes, false);
    return lard_read(cache, map, &hash, key, key_bytes, false, NULL, 0, item, NULL, call ? call->now_ms : 0);
}
