/*
 * lookup.c — finds a key's record and copies its value, without a lock.
 *
 * A lookup loads a slot, copies the record, and loads the slot again. Eviction empties every slot of a segment
 * before it changes a byte of it (segment.c), so an unchanged slot means that the copy is whole. A reader that is
 * killed or stopped leaves nothing behind; a stopped writer delays no reader.
 *
 * This is the slow path: api/get.c has a fast path for most reads, and comes here for the others.
 */
#include "item/lookup.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/crc.h"
#include "base/key.h"
#include "file/belief.h"
#include "file/view.h"
#include "index/bucket.h"
#include "index/match.h"
#include "proc/process.h"
#include "segment/counter.h"
#include "segment/deletions.h"

#define ATTEMPTS 32

static larder_status read_counter(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out,
                                  size_t capacity, size_t *size_bytes) {
    char text[24];
    int64_t number;
    if (!lard_counter_read(lard_record_cells(view, offset, info), LARD_WORD0_CRC(info->word0), &number)) {
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

/* Reads an extended record. MISS: it has no value. Of a large value it reads the head, whatever the capacity. */
static larder_status read_extended(const lard_view *view, lard_hit *hit, void *out, size_t capacity,
                                   size_t *size_bytes) {
    larder_status status =
        lard_record_extended(view, hit->offset, &hit->info, &hit->extension, out, capacity, size_bytes);
    hit->type = hit->extension.kind;
    if ((status == LARDER_OK || status == LARDER_BUFFER_TOO_SMALL) && hit->type == LARD_TYPE_HEAD) {
        lard_record_head(view, hit->offset, &hit->info, &hit->head);
        *size_bytes = hit->head.value_bytes;
        return hit->head.value_bytes ? LARDER_OK : LARDER_DAMAGED;
    }
    return status == LARDER_OK && !hit->type ? LARDER_MISS : status;
}

/* Reads a counter, the head of a large value, which is always read whole, or an extended record. */
static __attribute__((noinline)) larder_status read_indirect(const lard_view *view, lard_hit *hit, void *out,
                                                             size_t capacity, size_t *size_bytes) {
    const lard_record_info *info = &hit->info;
    if (hit->type == LARD_TYPE_EXTENDED) {
        return read_extended(view, hit, out, capacity, size_bytes);
    }
    if (LARD_WORD0_TYPE(info->word0) == LARD_TYPE_COUNTER) {
        larder_status status = lard_record_read(view, hit->offset, info, NULL, 0);
        return status != LARDER_OK ? status : read_counter(view, hit->offset, info, out, capacity, size_bytes);
    }
    if (*size_bytes != sizeof hit->head) {
        return LARDER_DAMAGED;
    }
    larder_status status = lard_record_read(view, hit->offset, info, &hit->head, sizeof hit->head);
    *size_bytes = hit->head.value_bytes;
    return status;
}

enum found { FOUND, ABSENT, AGAIN };

/*
 * An item that is moved to its other bucket briefly has a pending slot in both (index_resize.c): for as long as
 * its mover does not run, and, if the mover died, until a repair. Two pending slots name an item that nobody had
 * deleted when the later of them became pending; a deleter that has emptied one of them since has not returned
 * yet. A single pending slot proves nothing.
 */
static __attribute__((noinline)) enum found find_moving(const lard_view *view, const lard_key *key,
                                                        const lard_buckets *pair, lard_hit *hit) {
    lard_bucket *first = pair->at[0], *second = pair->at[1];
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        uint64_t value = lard_load_acquire(&first->slots[i]), settled = value & ~LARD_SLOT_PENDING;
        if (value == settled || !lard_match_key(view, settled, key, &hit->info)) {
            continue;
        }
        for (unsigned n = 0; n < LARD_BUCKET_SLOTS; n++) {
            uint64_t other = lard_load_acquire(&second->slots[n]);
            if (other == value) {
                hit->slot = &second->slots[n];
                hit->reads = lard_reads_at(view->map, view->number, pair->number[1]);
                hit->slot_value = other;
                hit->offset = LARD_SLOT_OFFSET(settled);
                return FOUND;
            }
        }
    }
    return AGAIN;
}

typedef struct {
    const lard_key *key;
    lard_record_info *info;
    bool *changed; /* out: a slot was moved or recycled while it was compared */
} search;

LARD_INLINE bool is_wanted(const lard_view *view, const lard_u64 *slot, uint64_t value, const void *context) {
    const search *this = context;
    if (LARD_LIKELY(lard_match_key(view, value, this->key, this->info))) {
        return true;
    }
    lard_fence_acquire();
    *this->changed = lard_load(slot) != value;
    return *this->changed;
}

LARD_INLINE enum found find(const lard_view *view, uint64_t epoch, const lard_key *key, lard_hit *hit) {
    uint32_t moves = lard_load_acquire(&view->header->moves);
    uint32_t count = lard_bucket_count(view);
    lard_buckets pair;
    if (LARD_UNLIKELY(!lard_bucket_pair(view, &key->hash, count, &pair))) {
        return ABSENT;
    }
    bool recycled = false;
    const search wanted = {.key = key, .info = &hit->info, .changed = &recycled};
    lard_found found = lard_match_first(view, &pair, key->hash.fingerprint, is_wanted, &wanted);
    if (LARD_UNLIKELY(recycled)) {
        return AGAIN;
    }
    if (LARD_LIKELY(found.slot != NULL)) {
        hit->slot = found.slot;
        hit->slot_value = found.value;
        hit->reads = found.reads;
        hit->offset = LARD_SLOT_OFFSET(found.value);
        return FOUND;
    }
    lard_fence_acquire();
    bool changed = lard_load(&view->header->moves) != moves || lard_bucket_count(view) != count ||
                   lard_load(&view->header->epoch) != epoch;
    if (LARD_UNLIKELY(moves & 1)) {
        return find_moving(view, key, &pair, hit);
    }
    return changed ? AGAIN : ABSENT;
}

/* Does the slot at `place` name the key's record? */
LARD_INLINE bool is_there(const lard_view *view, uint64_t epoch, const lard_place *place, const lard_key *key,
                          lard_hit *hit) {
    if (!place || !place->slot || place->epoch != epoch) {
        return false;
    }
    hit->slot = place->slot;
    hit->slot_value = lard_load_acquire(place->slot);
    hit->reads = place->reads;
    hit->offset = LARD_SLOT_OFFSET(hit->slot_value);
    return lard_match_key(view, hit->slot_value, key, &hit->info);
}

static larder_status nothing(lard_hit *hit) {
    hit->slot = NULL;
    return LARDER_MISS;
}

static __attribute__((noinline)) void describe(lard_core *cache, const lard_map *map,
                                               const lard_extension *extension, larder_item *item,
                                               int64_t now_ms) {
    bool is_stale = (extension->fields & LARD_FIELD_FRESH) &&
                    lard_clock_has_passed((uint64_t)extension->fresh_until_ms, now_ms);
    bool is_leased = is_stale && lard_extension_leased_ms(extension) > 0 &&
                     lard_process_lived(cache, map, lard_process_owner_of(extension->token));
    item->fresh_until_ms = extension->fresh_until_ms;
    item->compute_ms = extension->compute_ms;
    item->staleness = !is_stale ? LARDER_FRESH : is_leased ? LARDER_STALE_LEASED : LARDER_STALE;
}

/* Was a tag of the item deleted? */
static __attribute__((noinline)) bool was_deleted(lard_core *cache, lard_map *map, const lard_key *key,
                                                  const lard_hit *hit) {
    if (!(hit->extension.fields & LARD_FIELD_TAGS)) {
        return false;
    }
    lard_tags tags = lard_deletions_of(map, &hit->extension, hit->epoch);
    if (tags != LARD_TAGS_VALID && key->belief != &lard_belief_any) { /* a listing reads nothing */
        lard_count(cache, LARD_STAT_tag_misses, 1);
        lard_count(cache, LARD_STAT_forgotten_misses, tags == LARD_TAGS_FORGOTTEN);
    }
    return tags != LARD_TAGS_VALID;
}

LARD_INLINE larder_status lookup(bool fast, lard_core *cache, lard_map *map, const lard_key *key,
                                 const lard_place *place, void *out, size_t capacity, larder_item *item,
                                 lard_hit *hit, int64_t now_ms) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t epoch;
        larder_status status = LARDER_OK;
        if (LARD_UNLIKELY(!lard_view_is_current(&view, &epoch))) {
            return nothing(hit);
        }
        hit->epoch = epoch;
        enum found found = is_there(&view, epoch, place, key, hit) ? FOUND : find(&view, epoch, key, hit);
        place = NULL;
        if (found == ABSENT) {
            return nothing(hit);
        }
        if (LARD_UNLIKELY(found == AGAIN)) {
            continue;
        }
        unsigned type = hit->type = LARD_WORD0_TYPE(hit->info.word0);
        size_t size_bytes = LARD_WORD0_VALUE_BYTES(hit->info.word0);
        bool expired =
            type != LARD_TYPE_CHUNK && hit->info.expiry_ms && lard_clock_has_passed(hit->info.expiry_ms, now_ms);
        bool is_absent = expired || !lard_belief_accepts(key->belief, map, epoch, hit->info.word1);
        hit->extension.fields = 0;
        if (LARD_UNLIKELY(is_absent) && type != LARD_TYPE_EXTENDED) {
            status = LARDER_MISS;
        } else if (LARD_UNLIKELY(type != LARD_TYPE_PLAIN && type != LARD_TYPE_CHUNK)) {
            const lard_view there = view;
            size_t size = size_bytes;
            status = read_indirect(&there, hit, out, capacity, &size);
            size_bytes = size;
            lard_fence_acquire();
            if (lard_load(&lard_view_words(&view, hit->offset)[1]) != hit->info.word1) {
                continue; /* touched meanwhile: the value may be newer than the expiry that was read with it */
            }
        } else if (out) {
            status = lard_record_value(fast, &view, hit->offset, &hit->info, out, capacity);
        }
        lard_fence_acquire();
        if (LARD_UNLIKELY(lard_load(hit->slot) != hit->slot_value || lard_load(&view.header->epoch) != epoch)) {
            continue;
        }
        if (LARD_UNLIKELY(status == LARDER_DAMAGED)) {
            lard_count(cache, LARD_STAT_damaged, 1);
            hit->extension.fields = 0;
            return LARDER_MISS;
        }
        if (LARD_UNLIKELY(status == LARDER_MISS || is_absent)) {
            return LARDER_MISS;
        }
        if (LARD_UNLIKELY(type == LARD_TYPE_EXTENDED) && was_deleted(cache, map, key, hit)) {
            return LARDER_MISS;
        }
        if (!key->is_chunk && key->belief != &lard_belief_any) { /* large.c counts chunks */
            lard_reads_raise(map, &map->dircache[view.number], hit->reads, hit->slot, hit->offset);
        }
        if (item) {
            *item = (larder_item){
                .size_bytes = size_bytes,
                .expires_at_ms = (int64_t)hit->info.expiry_ms,
                .flags = (uint8_t)LARD_WORD1_FLAGS(hit->info.word1),
                .is_counter = type == LARD_TYPE_COUNTER,
                .is_pinned = LARD_WORD0_PINNED(hit->info.word0) != 0,
            };
            if (LARD_UNLIKELY(type == LARD_TYPE_EXTENDED)) {
                describe(cache, map, &hit->extension, item, now_ms);
            }
        }
        return status;
    }
    return nothing(hit);
}

larder_status lard_lookup(lard_core *cache, lard_map *map, const lard_key *key, const lard_place *place, void *out,
                          size_t capacity, larder_item *item, lard_hit *hit, int64_t now_ms) {
    return lard_crc_hardware ? lookup(true, cache, map, key, place, out, capacity, item, hit, now_ms)
                             : lookup(false, cache, map, key, place, out, capacity, item, hit, now_ms);
}
