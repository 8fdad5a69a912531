/*
 * evict.c — evicts items when room is short, a few with each write.
 *
 * S3-FIFO over segments. New items go to the small queue. When its oldest segment is emptied, items that were read
 * since are copied to the main queue, and each of the others leaves a ghost. An item with a recent ghost goes to
 * the main queue at once. The main queue's oldest segment is emptied in the same way, but each copy lowers the
 * number of its reads by one, and nothing leaves a ghost. Shadow caches decide how long the small queue is
 * (steer.h). A segment in which every record has expired goes first, and a stale value is dropped even if it was
 * read.
 *
 * One segment at a time is the victim. Its cursor is in the shard, so that the next owner of the lock continues
 * after a death. All under the shard's lock.
 */
#include "evict/evict.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/hash.h"
#include "base/key.h"
#include "evict/sample.h"
#include "evict/steer.h"
#include "evict/victim.h"
#include "file/view.h"
#include "index/bucket.h"
#include "index/dircache.h"
#include "index/ghost.h"
#include "index/index.h"
#include "index/match.h"
#include "index/slot.h"
#include "segment/image.h"
#include "segment/pin.h"
#include "segment/record.h"
#include "segment/segment.h"
#include "usage/sampler.h"

#include <string.h>

#define BATCH 8        /* records whose cache misses overlap */
#define NEAR_BYTES 512 /* the processor itself prefetches what is nearer */

static bool move_to_main(lard_view *view, const lard_found *found, const lard_record_info *info, uint64_t bytes,
                         uint32_t from) {
    uint64_t to = lard_segment_reserve(view, LARD_SEGMENT_MAIN, bytes, 0);
    if (!to) {
        return false;
    }
    uint32_t segment = lard_segment_at(view, to);
    uint64_t generation = lard_load(&view->segments[segment].generation);
    lard_segment_inherit_age(view, segment, LARD_SLOT_OFFSET(found->value));
    if (LARD_LIKELY(!lard_image_suits(view, bytes)) ||
        !lard_image_move(view, LARD_SLOT_OFFSET(found->value), info, to, generation)) {
        lard_record_move(view, LARD_SLOT_OFFSET(found->value), info, to, generation);
    }
    lard_segment_commit(view, to, bytes, info->expiry_ms);
    unsigned reads = lard_reads_of(found->reads, found->slot);
    uint64_t slot = lard_slot_make(to, LARD_SLOT_FINGERPRINT(found->value), generation);
    if (lard_slot_replace(found->slot, found->value, slot)) { /* if a deleter was faster, the copy is dead */
        lard_reads_set(found->reads, found->slot, from == LARD_SEGMENT_MAIN && reads ? reads - 1 : 0);
    }
    return true;
}

/* Is the record in a segment that the main queue appends to? Then it was moved there before the first of its
 * group.
 */
static bool is_newest(const lard_view *view, uint64_t slot) {
    uint64_t offset = LARD_SLOT_OFFSET(slot) - view->map->super.data_offset;
    uint32_t segment = (uint32_t)(offset >> view->map->segment_shift) + 1;
    unsigned queue = LARD_SEGMENT_MAIN - LARD_SEGMENT_SMALL;
    return (segment == lard_load(&view->header->active[queue]) ||
            segment == lard_load(&view->header->closed[queue])) &&
           lard_segment_state(view, LARD_SLOT_OFFSET(slot)) == LARD_SEGMENT_MAIN;
}

/* A record of the victim. Its key is hashed ahead of its turn, so that its buckets can be prefetched. */
typedef struct {
    uint64_t offset, generation, bytes;
    lard_record_info info;
    lard_hash hash;
} candidate;

/* Room for a key: one for all, as threads may have little of their stacks left. */
typedef struct {
    unsigned char bytes[LARDER_MAX_KEY + 8];
} key_room;

/* Reads the record at `offset`. False: there is no whole record of the segment's generation. */
static bool look_at(const lard_view *view, uint64_t offset, uint64_t generation, key_room *key, candidate *one) {
    lard_buckets buckets;
    one->offset = offset;
    one->generation = generation;
    if (!lard_record_info_at(view, offset, generation, &one->info)) {
        return false;
    }
    one->bytes = lard_record_bytes_at(&one->info);
    if (one->bytes > NEAR_BYTES) { /* those behind it are often of the same length, as chunks are */
        for (unsigned i = 1; i < BATCH / 2; i++) {
            __builtin_prefetch(lard_view_words(view, offset + i * one->bytes));
        }
    }
    lard_record_copy_key(view, offset, &one->info, key->bytes);
    one->hash = lard_hash_key(view->map, key->bytes, LARD_WORD0_KEY_BYTES(one->info.word0),
                              LARD_WORD0_TYPE(one->info.word0) == LARD_TYPE_CHUNK);
    lard_dircache_prefetch_buckets(view->map, &one->hash, &buckets);
    return true;
}

/* Is the record the first chunk of a group? Copies its key. */
static bool leads_group(const lard_view *view, const candidate *one, lard_chunk_key *key) {
    unsigned char copy[sizeof *key];
    if (LARD_WORD0_TYPE(one->info.word0) != LARD_TYPE_CHUNK ||
        LARD_WORD0_KEY_BYTES(one->info.word0) != sizeof *key) {
        return false;
    }
    lard_record_copy_key(view, one->offset, &one->info, copy);
    memcpy(key, copy, sizeof *key);
    return key->number % LARD_CHUNK_GROUP == 0;
}

/* Decides for the chunks from `key` to the end of its group. */
static void decide_for_chunks(lard_view *view, lard_chunk_key key, bool stays) {
    do {
        lard_key chunk = lard_key_of_chunk(view->map, &key);
        lard_found found = lard_index_find(view, &chunk);
        if (!found.slot) {
            return;
        }
        if (!stays && lard_slot_replace(found.slot, found.value, 0)) {
            lard_index_count_off(view, true);
        } else if (stays && lard_reads_of(found.reads, found.slot) == 0 && !is_newest(view, found.value)) {
            lard_reads_set(found.reads, found.slot, 1);
        }
    } while (++key.number % LARD_CHUNK_GROUP != 0);
}

/* A value cannot be read without all its chunks. So the first chunk of a group decides whether the others stay
 * too.
 */
static void decide_for_group(lard_view *view, const candidate *first, bool stays) {
    lard_chunk_key key;
    if (leads_group(view, first, &key)) {
        key.number++;
        decide_for_chunks(view, key, stays);
    }
}

/* Nothing leads to the chunks of a large value whose head goes. Those of its first group are in this shard; others
 * go in their turn. */
static __attribute__((noinline)) void drop_first_group(lard_view *view, const lard_head *head) {
    lard_chunk_key key = {{head->id[0], head->id[1]}, 0};
    decide_for_chunks(view, key, false);
}

/* A stale value does not stay, however often it was read. */
static bool is_stale(const lard_view *view, const candidate *one, int64_t now_ms) {
    return LARD_UNLIKELY(LARD_WORD0_TYPE(one->info.word0) == LARD_TYPE_EXTENDED) &&
           lard_record_extended_is_stale(view, one->offset, &one->info, now_ms);
}

/* Has the sampler count the item that goes. Its age is at most that of its segment. */
static __attribute__((noinline)) void sample(lard_core *cache, const lard_view *view, const candidate *one,
                                             key_room *key, int64_t now_ms) {
    int64_t since_ms = (int64_t)lard_load(&view->segments[lard_segment_at(view, one->offset)].oldest_ms);
    lard_record_copy_key(view, one->offset, &one->info, key->bytes);
    lard_sampler_evicted(cache, key->bytes, LARD_WORD0_KEY_BYTES(one->info.word0),
                         lard_clock_since(now_ms, since_ms));
}

/* Moves a record of the victim to the main queue if it stays, else empties its slot. */
static void move_or_drop(lard_core *cache, lard_view *view, const candidate *one, uint32_t state,
                         unsigned min_reads, key_room *key, int64_t now_ms) {
    const lard_record_info *info = &one->info;
    lard_hash hash = one->hash;
    lard_found found = lard_index_find_offset(view, &hash, one->offset, (uint32_t)one->generation);
    if (!found.slot) {
        return;
    }
    lard_head head = {{0, 0}, 0, 0, 0};
    bool ghost = false, pinned = LARD_WORD0_PINNED(info->word0);
    bool is_chunk = LARD_WORD0_TYPE(info->word0) == LARD_TYPE_CHUNK; /* counted with its head */
    unsigned statistic = LARD_STAT_expirations;
    if (!lard_record_has_ended(view, one->offset, info, now_ms)) {
        if ((pinned || (lard_reads_of(found.reads, found.slot) >= min_reads && !is_stale(view, one, now_ms))) &&
            move_to_main(view, &found, info, one->bytes, state)) {
            lard_count(cache, LARD_STAT_promotions, !is_chunk);
            decide_for_group(view, one, true);
            return;
        }
        statistic = pinned ? LARD_STAT_damaged : LARD_STAT_evictions; /* an undamaged shard has room: see pin.c */
        ghost = !is_chunk && state == LARD_SEGMENT_SMALL;
    }
    if (LARD_UNLIKELY(LARD_WORD0_TYPE(info->word0) >= LARD_TYPE_HEAD) && !is_chunk) {
        lard_record_head(view, one->offset, info, &head);
    }
    if (lard_slot_replace(found.slot, found.value,
                          ghost ? lard_ghost_word(view, hash.fingerprint, one->offset) : 0)) {
        lard_index_count_off(view, is_chunk);
        lard_count(cache, statistic, !is_chunk);
        if (statistic == LARD_STAT_evictions && !is_chunk && lard_sampler_of(cache) &&
            lard_sampler_is_due(&cache->until_evicted)) {
            sample(cache, view, one, key, now_ms);
        }
        decide_for_group(view, one, false);
        if (LARD_UNLIKELY(head.value_bytes != 0)) {
            drop_first_group(view, &head);
        }
        if (pinned) {
            lard_add(&view->header->pinned_bytes, -lard_pin_cost(view, one->bytes));
        }
    }
}

/* For a segment whose records cannot be walked: finds the slots that point into it by a walk of the index. */
static void sweep_slots(lard_core *cache, lard_view *view, uint32_t segment) {
    uint32_t count = lard_bucket_count(view);
    uint64_t start = lard_view_segment_offset(view, segment);
    lard_count(cache, LARD_STAT_damaged, 1);
    for (uint32_t b = 0; b < count; b++) {
        lard_bucket *bucket = lard_bucket_at(view, b);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load(&bucket->slots[i]);
            uint64_t offset = LARD_SLOT_OFFSET(value);
            if (offset >= start && offset - start < view->map->super.segment_bytes) {
                lard_slot_replace(&bucket->slots[i], value, 0);
            }
        }
    }
    lard_index_recount(view);
}

static void release_victim(lard_view *view, uint32_t segment) {
    lard_store(&view->header->evicted_segments, lard_load(&view->header->evicted_segments) + 1);
    lard_ghost_sweep(view);
    lard_segment_free(view, segment);
    lard_store(&view->header->victim, 0);
}

static bool holds_records(const lard_view *view, uint32_t victim) {
    if (victim == 0 || victim > view->map->super.segments_per_shard) {
        return false;
    }
    uint32_t state = lard_load(&view->segments[victim - 1].state);
    return state == LARD_SEGMENT_SMALL || state == LARD_SEGMENT_MAIN;
}

/* Was the last free segment taken for pinned records? Then the rest of the victim must follow before other records
 * are written there. */
static bool is_urgent(const lard_view *view) {
    return lard_load(&view->header->free_segments) == 0 && lard_pin_any(view);
}

void lard_evict_some(lard_core *cache, lard_view *view, uint64_t budget_bytes, unsigned min_reads,
                     int64_t now_ms) {
    uint32_t victim = lard_load(&view->header->victim);
    if (!holds_records(view, victim)) { /* 0, or damaged */
        victim = lard_victim_choose(view, now_ms);
        if (!victim) {
            return;
        }
        if (lard_sample_is_due(view)) {
            lard_sample_take(view);
        }
        lard_steer_prepare(view);
        lard_store(&view->header->victim_offset, 0);
        lard_store(&view->header->victim, victim);
    }
    uint32_t segment = victim - 1;
    lard_segment *row = &view->segments[segment];
    uint32_t state = lard_load(&row->state);
    uint64_t base = lard_view_segment_offset(view, segment);
    uint64_t end = lard_load(&row->write_offset);
    uint64_t at =
        lard_load(&view->header->victim_offset) & ~7u; /* records are aligned, even if the word is damaged */
    uint64_t seen = 0;

    if (min_reads == 1 && lard_victim_is_cleaned(view, victim)) {
        min_reads = 0; /* its items are not older than others */
    }
    if (end > view->map->super.segment_bytes) {
        end = view->map->super.segment_bytes;
    }
    if (at > end) { /* damaged: it is unknown which records were skipped */
        sweep_slots(cache, view, segment);
    }
    uint64_t generation = lard_load(&row->generation);
    /* An owner died, or the count is damaged: counts again, because a wrong count costs pinned items. */
    if (is_urgent(view)) {
        lard_segment_recount(view);
    }
    while (at < end && (seen < budget_bytes || is_urgent(view))) {
        key_room key;
        candidate batch[BATCH];
        unsigned count = 0;
        uint64_t next = at;
        bool whole = true;
        while (count < BATCH && next < end && (seen < budget_bytes || !count) &&
               (whole = look_at(view, base + next, generation, &key, &batch[count]))) {
            next += batch[count].bytes;
            seen += batch[count++].bytes;
        }
        for (unsigned i = 0; i < count; i++) {
            move_or_drop(cache, view, &batch[i], state, min_reads, &key, now_ms);
        }
        at = next;
        if (!whole) {
            sweep_slots(cache, view, segment);
            at = end;
        }
    }
    if (at >= end) {
        release_victim(view, segment);
    } else {
        lard_store(&view->header->victim_offset, (uint32_t)at);
    }
}
