/*
 * repair.c — repairs a shard whose owner died while it held the lock, and empties a shard that is damaged.
 *
 * Each store to the file leaves a state that this file can finish or undo. All under the shard's lock.
 */
#include "shard/repair.h"
#include "base/count.h"
#include "base/key.h"
#include "evict/expired.h"
#include "file/view.h"
#include "index/bucket.h"
#include "index/index.h"
#include "index/index_resize.h"
#include "index/match.h"
#include "index/slot.h"
#include "segment/deletions.h"
#include "segment/tag_table.h"
#include "segment/pin.h"
#include "segment/record.h"
#include "segment/segment.h"

/* A repair counts the items only in an index of up to this number of buckets. A death leaves the counts slightly
 * wrong, which does not matter in a larger index: it grows a little sooner or later, and before a pinned item is
 * refused all are counted (admit.c). */
#define MAX_COUNTED 4096u

static bool sane(const lard_view *view) {
    const lard_superblock *super = &view->map->super;
    uint32_t pages = lard_load(&view->header->index_pages);
    uint64_t most = (uint64_t)pages << view->map->index_shift;
    uint32_t count = lard_load(&view->header->bucket_count);
    if (pages == 0 || pages > super->segments_per_shard || count == 0 || count > most) {
        return false;
    }
    for (uint32_t i = 0; i < pages; i++) {
        uint32_t segment = lard_directory_segment(view, i);
        if (segment == LARD_NO_SEGMENT || lard_load(&view->segments[segment].state) != LARD_SEGMENT_INDEX) {
            return false;
        }
    }
    return lard_tag_table_sane(view);
}

static bool is_named(const lard_view *view, uint32_t segment) {
    uint32_t pages = lard_load(&view->header->index_pages);
    for (uint32_t i = 0; i < pages; i++) {
        if (lard_directory_segment(view, i) == segment) {
            return true;
        }
    }
    return false;
}

/* A segment that was taken, but whose owner died before the directory or a queue referred to it. */
static bool is_orphan(const lard_view *view, uint32_t segment) {
    const lard_segment *row = &view->segments[segment];
    uint32_t state = lard_load(&row->state);
    if (state == LARD_SEGMENT_INDEX) {
        return !is_named(view, segment);
    }
    if (state == LARD_SEGMENT_TABLE) {
        return !lard_tag_table_has_page(view, segment);
    }
    return (state == LARD_SEGMENT_SMALL || state == LARD_SEGMENT_MAIN) && lard_load(&row->write_offset) == 0 &&
           lard_load(&view->header->active[state - LARD_SEGMENT_SMALL]) != segment + 1;
}

static void drop_orphans(lard_view *view) {
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        if (is_orphan(view, s)) {
            lard_segment_free(view, s);
        }
    }
}

static void check_active(lard_view *view) {
    for (int queue = 0; queue < 2; queue++) {
        uint32_t active = lard_load(&view->header->active[queue]);
        uint32_t wanted = queue == 0 ? LARD_SEGMENT_SMALL : LARD_SEGMENT_MAIN;
        if (active && (active > view->map->super.segments_per_shard ||
                       lard_load(&view->segments[active - 1].state) != wanted)) {
            lard_store(&view->header->active[queue], 0);
        }
    }
    uint32_t victim = lard_load(&view->header->victim);
    if (victim) { /* empty it from the start: records that were moved or dropped already are skipped */
        uint32_t state =
            victim <= view->map->super.segments_per_shard ? lard_load(&view->segments[victim - 1].state) : 0;
        if (state != LARD_SEGMENT_SMALL && state != LARD_SEGMENT_MAIN) {
            lard_store(&view->header->victim, 0);
        }
        lard_store(&view->header->victim_offset, 0);
    }
}

static void zero(lard_u64 *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (lard_load(&words[i])) {
            lard_store(&words[i], 0);
        }
    }
}

/*
 * Stores epoch 0 first: so a running lookup finds that its epoch has ended, and, if this process dies half-way,
 * the next owner of the lock empties the shard again.
 */
void lard_repair_empty(lard_view *view) {
    uint32_t emptied = lard_load(&view->header->emptied) + 1;
    uint64_t epoch = lard_load(&view->header->epoch);
    lard_store(&view->header->epoch, 0);
    lard_fence();
    lard_deletions_empty(view, epoch);
    lard_store(&view->header->emptied, emptied);
    lard_store(&view->header->splitting, 0);
    lard_store(&view->header->moves, (lard_load(&view->header->moves) | 1u) + 1);
    lard_store(&view->header->bucket_count, 0);
    lard_store(&view->header->index_pages, 0);
    lard_store(&view->header->active[0], 0);
    lard_store(&view->header->active[1], 0);
    lard_store(&view->header->mean_bytes, 0);
    lard_store(&view->header->pinned_bytes, 0);
    lard_store(&view->header->has_pins, 0);
    lard_store(&view->header->gap[0], 0);
    lard_store(&view->header->gap[1], 0);
    lard_store(&view->header->victim, 0);
    lard_store(&view->header->victim_offset, 0);
    lard_store(&view->header->next_sequence, 1);
    for (unsigned i = 0; i < 3; i++) {
        lard_store(&view->header->third[i], 0);
    }
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        lard_store(&view->segments[s].dead_bytes, 0);
        zero(view->segments[s].reserved, sizeof view->segments[s].reserved / sizeof *view->segments[s].reserved);
        if (lard_load(&view->segments[s].state) != LARD_SEGMENT_FREE ||
            lard_load(&view->segments[s].write_offset)) {
            lard_segment_free(view, s);
        }
    }
    lard_segment_recount(view);
    lard_index_resize_begin(view);
    lard_store(&view->header->items, 0);
    lard_store(&view->header->chunks, 0);
    epoch = LARD_EPOCH(lard_load(&view->map->control->clear_epoch), emptied);
    lard_store(&view->header->epoch_check, lard_view_epoch_check(epoch));
    lard_store_release(&view->header->epoch, epoch);
}

/* Offset of the last record in the main queue's open segment, or 0. */
static uint64_t last_in_main(const lard_view *view, lard_record_info *info) {
    uint32_t active = lard_load(&view->header->active[LARD_SEGMENT_MAIN - LARD_SEGMENT_SMALL]);
    if (active == 0) {
        return 0;
    }
    const lard_segment *row = &view->segments[active - 1]; /* check_active has validated it */
    uint64_t end = lard_load(&row->write_offset), last = 0;
    for (uint64_t at = 0; at < end && end <= view->map->super.segment_bytes;) {
        uint64_t offset = lard_view_segment_offset(view, active - 1) + at;
        if (!lard_record_info_at(view, offset, lard_load(&row->generation), info)) {
            return 0;
        }
        last = offset;
        at += lard_record_bytes_at(info);
    }
    return last;
}

/*
 * Eviction may have died after it copied a record and before it changed the slot. This changes the slot to the
 * copy: a second copy might not fit into the segment that the victim is emptied into.
 */
static void finish_copy(lard_view *view) {
    unsigned char data[LARDER_MAX_KEY + 8];
    lard_record_info copy, original;
    uint32_t victim = lard_load(&view->header->victim);
    uint64_t offset = victim ? last_in_main(view, &copy) : 0;
    if (!offset) {
        return;
    }
    lard_key key = lard_record_key(view, offset, &copy, data);
    lard_found found = lard_index_find(view, &key);
    uint64_t stands = LARD_SLOT_OFFSET(found.value) - lard_view_segment_offset(view, victim - 1);
    if (found.slot && stands < view->map->super.segment_bytes &&
        lard_record_of_slot(view, found.value, &original) && original.word0 == copy.word0 &&
        ((original.word1 ^ copy.word1) & LARD_SEAL_BELOW) == 0) {
        uint64_t generation = lard_load(&view->segments[lard_segment_at(view, offset)].generation);
        lard_slot_replace(found.slot, found.value, lard_slot_make(offset, key.hash.fingerprint, generation));
    }
}

/* The owner may have died at any store. Every step of the engine can be redone or skipped from here. */
void lard_repair_shard(lard_core *cache, lard_view *view) {
    lard_count(cache, LARD_STAT_repairs, 1);
    if (lard_load(&view->header->epoch) == 0) {
        return; /* it died while it emptied the shard: lard_shard_lock does that again */
    }
    if (!sane(view)) {
        lard_count(cache, LARD_STAT_resets, 1);
        lard_repair_empty(view);
        return;
    }
    lard_index_resize_finish(view);
    lard_tag_table_finish(view);
    drop_orphans(view);
    check_active(view);
    lard_segment_recount(view);

    if (lard_bucket_count(view) <= MAX_COUNTED) {
        lard_index_recount(view);
    }
    if (lard_pin_any(view)) {
        finish_copy(view);
        if (lard_bucket_count(view) <= MAX_COUNTED) {
            uint32_t next = 0;
            lard_expired_drop(cache, view, &next, UINT32_MAX, 0, NULL);
        }
    }
}
