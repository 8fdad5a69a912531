/*
 * index_resize.c — grows the index: adds pages, splits buckets, moves items between buckets.
 *
 * It also finishes a split or a move whose owner died. All under the shard's lock.
 *
 * Linear hashing (Litwin, 1980): the index grows by one bucket at a time, so no writer pays for a doubling. If
 * both buckets of a key are full, one of their items moves to its other bucket (cuckoo hashing; Pagh, Rodler,
 * 2001).
 *
 * A split must be safe against lock-free deletes. The splitter announces the bucket in `splitting`, copies, checks
 * the originals again, publishes the new count, then empties the originals. A deleter that has emptied an original
 * checks `splitting` afterwards. If it is set or has changed, the deleter searches again, also in the unpublished
 * bucket and in the bucket that is split. Originals stay there a little longer than the count tells, because a
 * reader may know an older count (dircache.h). So either the splitter sees that the original is gone, or the
 * deleter sees the copy.
 *
 * A move stores a pending slot in the other bucket, makes the original pending too, removes the mark from the new
 * slot, and empties the original. A deleter empties pending slots too, so a move never restores a deleted item. If
 * only one slot is pending, no reader follows it, and a repair drops it. If both are pending, nobody deleted the
 * item: a reader follows it (lookup.c), and a repair keeps it. `moves` is odd meanwhile, so that a reader that
 * finds nothing searches for pending slots, and searches again.
 */
#include "index/index_resize.h"
#include "base/count.h"
#include "base/hash.h"
#include "base/reads.h"
#include "file/view.h"
#include "index/bucket.h"
#include "index/slot.h"
#include "segment/record.h"
#include "segment/segment.h"

#define SPLITS_PER_INSERT 2
#define YOUNG_PART 4     /* the part of the segments opened last that counts as young */
#define FIRST_BUCKETS 64 /* few, so that few items touch few cache lines and pages */

/* The two buckets that the item of `value` may be in. False: its record cannot be read. */
static bool choices_of(const lard_view *view, uint64_t value, uint32_t count, uint32_t choices[2]) {
    unsigned char key[LARDER_MAX_KEY + 8];
    lard_record_info info;
    uint64_t offset = LARD_SLOT_OFFSET(value);
    if (count == 0 || !lard_record_of_slot(view, value, &info)) {
        return false;
    }
    lard_record_copy_key(view, offset, &info, key);
    lard_hash hash = lard_hash_key(view->map, key, LARD_WORD0_KEY_BYTES(info.word0),
                                   LARD_WORD0_TYPE(info.word0) == LARD_TYPE_CHUNK);
    choices[0] = lard_bucket_of(hash.first, count);
    choices[1] = lard_bucket_of(hash.second, count);
    return true;
}

/* Moves the item of `from` to its other bucket, if that has an empty slot and a higher number (`up`) or a lower
 * one. */
static bool move(lard_view *view, const lard_bucket *bucket, lard_u64 *from, bool up) {
    uint32_t choices[2];
    uint64_t value = lard_load(from);
    if (!choices_of(view, value, lard_bucket_count(view), choices)) {
        return false;
    }
    uint32_t number = (choices[0] > choices[1]) == up ? choices[0] : choices[1];
    const uint16_t *reads = lard_reads_at(view->map, view->number, choices[0] ^ choices[1] ^ number);
    lard_bucket *other = lard_bucket_at(view, number);
    for (unsigned i = 0; other && other != bucket && i < LARD_BUCKET_SLOTS; i++) {
        uint64_t vacant = lard_load(&other->slots[i]);
        uint64_t pending = value | LARD_SLOT_PENDING;
        if (LARD_SLOT_OFFSET(vacant)) {
            continue;
        }
        lard_store(&view->header->moving[0], choices[0] + 1); /* before a slot is pending: a repair looks here */
        lard_store(&view->header->moving[1], choices[1] + 1);
        if (!lard_cas64(&other->slots[i], &vacant, pending)) {
            continue;
        }
        uint32_t moves = (lard_load(&view->header->moves) + 1) |
                         1u; /* a new odd number, even if a dead owner left an odd one */
        lard_store_release(&view->header->moves, moves);
        if (!up) {
            lard_store_release(&view->header->moves_down, lard_load(&view->header->moves_down) + 1);
        }
        lard_fence();
        bool leaves = lard_slot_replace(from, value, pending);
        lard_reads_set(lard_reads_at(view->map, view->number, number), &other->slots[i],
                       lard_reads_of(reads, from));
        lard_slot_replace(&other->slots[i], pending, leaves ? value : 0);
        if (leaves) {
            lard_slot_replace(from, pending, 0);
        }
        lard_store_release(&view->header->moves, moves + 1);
        return leaves;
    }
    return false;
}

/* Was the item written recently? Then its record, which a move must read, is probably in memory. */
static bool is_young(const lard_view *view, uint64_t value) {
    uint64_t segment = (LARD_SLOT_OFFSET(value) - view->map->super.data_offset) >> view->map->segment_shift;
    return segment < view->map->super.segments_per_shard &&
           lard_load(&view->segments[segment].sequence) + view->map->super.segments_per_shard / YOUNG_PART >=
               lard_load(&view->header->next_sequence);
}

/* Moves an item to a higher bucket if possible: then a walk in the order of buckets visits every item that stays.
 */
static bool move_one(lard_view *view, lard_bucket *const *buckets, unsigned count) {
    uint32_t young = 0;
    for (unsigned i = 0; i < count * LARD_BUCKET_SLOTS; i++) {
        uint64_t value = lard_load(&buckets[i / LARD_BUCKET_SLOTS]->slots[i % LARD_BUCKET_SLOTS]);
        young |= (uint32_t)is_young(view, value) << i;
    }
    for (int way = 0; way < 4; way++) { /* upwards: young, old; downwards: young, old */
        for (unsigned i = 0; i < count * LARD_BUCKET_SLOTS; i++) {
            lard_bucket *bucket = buckets[i / LARD_BUCKET_SLOTS];
            lard_u64 *slot = &bucket->slots[i % LARD_BUCKET_SLOTS];
            if ((young >> i & 1) == !(way & 1) && move(view, bucket, slot, way < 2)) {
                return true;
            }
        }
    }
    return false;
}

/* If the other buckets of all these items are full too, an item of one of those moves first. */
bool lard_index_resize_make_room(lard_view *view, const lard_buckets *pair) {
    lard_bucket *const *buckets = pair->at;
    if (move_one(view, buckets, 2)) {
        return true;
    }
    for (unsigned i = 0; i < 2 * LARD_BUCKET_SLOTS; i++) {
        lard_bucket *bucket = buckets[i / LARD_BUCKET_SLOTS];
        lard_u64 *slot = &bucket->slots[i % LARD_BUCKET_SLOTS];
        uint32_t choices[2];
        if (!choices_of(view, lard_load(slot), lard_bucket_count(view), choices)) {
            continue;
        }
        for (unsigned c = 0; c < 2; c++) {
            lard_bucket *other = lard_bucket_at(view, choices[c]);
            if (other && other != buckets[0] && other != buckets[1] && move_one(view, &other, 1) &&
                (move(view, bucket, slot, true) || move(view, bucket, slot, false))) {
                return true;
            }
        }
    }
    return false;
}

/* A page of buckets is a segment, which is zeroed before the directory names it. */
static bool add_page(lard_view *view, uint32_t page) {
    uint32_t segment;
    if (!lard_segment_take(view, &segment)) {
        return false;
    }
    lard_u64 *words = lard_view_words(view, lard_view_segment_offset(view, segment));
    for (uint32_t i = 0; i < view->map->super.segment_bytes / 8; i++) {
        lard_store(&words[i], 0);
    }
    lard_store(&view->segments[segment].state, LARD_SEGMENT_INDEX);
    lard_directory_store(view, page, segment);
    lard_store_release(&view->header->index_pages, page + 1);
    return true;
}

bool lard_index_resize_begin(lard_view *view) {
    if (!add_page(view, 0)) {
        return false;
    }
    lard_store_release(&view->header->bucket_count, FIRST_BUCKETS);
    return true;
}

/*
 * The numbers of pages and buckets do not fit each other, so the header is damaged. A new page in place of one in
 * use would hide it from writers only, because readers have a copy of the directory (dircache.h). So from now on
 * all reads of the shard are misses, and the next owner of the lock empties it.
 */
static void give_up(lard_core *cache, lard_view *view) {
    lard_count(cache, LARD_STAT_resets, 1);
    lard_store_release(&view->header->epoch, 0);
}

static uint32_t split_source(uint32_t count) { return count - (1u << (31 - __builtin_clz(count))); }

static bool split_next(lard_core *cache, lard_view *view) {
    uint32_t count = lard_bucket_count(view);
    unsigned shift = view->map->index_shift;
    uint32_t page = count >> shift, pages = lard_load(&view->header->index_pages);
    if (count == 0) {
        return false; /* damaged since the lock was taken */
    }
    if (page >= pages) {
        if (page > pages || count != pages << shift) {
            give_up(cache, view);
            return false;
        }
        if (page >= view->map->super.segments_per_shard / 2 || lard_load(&view->header->free_segments) < 2 ||
            !add_page(view, page)) {
            return false;
        }
    }
    uint32_t source = split_source(count);
    lard_bucket *from = lard_bucket_at(view, source);
    lard_bucket *to = lard_bucket_at(view, count);
    if (!from || !to) {
        return false;
    }
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) { /* so that choices_of waits for all records at once */
        __builtin_prefetch(lard_view_words(view, LARD_SLOT_OFFSET(lard_load(&from->slots[i]))));
    }
    uint64_t moved[LARD_BUCKET_SLOTS] = {0};
    const uint16_t *reads = lard_reads_at(view->map, view->number, source);
    /* After index_pages, which a deleter reads with it. */
    lard_store_release(&view->header->splitting, source + 1);
    lard_fence();
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        uint64_t value = lard_load(&from->slots[i]);
        uint32_t choices[2] = {UINT32_MAX, UINT32_MAX};
        if (!LARD_SLOT_OFFSET(value)) {
            lard_store(&to->slots[i], value); /* ghosts go to both buckets: a key may come back to either */
            continue;
        }
        lard_store(&to->slots[i], 0);
        if (choices_of(view, value, count + 1, choices) && (choices[0] == source || choices[1] == source)) {
            continue;
        }
        if (choices[0] == count || choices[1] == count) {
            lard_reads_set(lard_reads_at(view->map, view->number, count), &to->slots[i],
                           lard_reads_of(reads, &from->slots[i]));
            lard_store(&to->slots[i], value);
            moved[i] = value;
        } else if (lard_slot_replace(&from->slots[i], value, 0)) { /* its record is damaged */
            lard_add(&view->header->items, (uint64_t)-1);
            lard_count(cache, LARD_STAT_damaged, 1);
        }
    }
    lard_fence();
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        if (moved[i] && lard_load(&from->slots[i]) != moved[i]) {
            lard_slot_replace(&to->slots[i], moved[i], 0);
        }
    }
    lard_store_release(&view->header->bucket_count, count + 1);
    lard_fence();
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        if (moved[i] && !lard_slot_replace(&from->slots[i], moved[i], 0)) {
            lard_slot_replace(&to->slots[i], moved[i], 0);
        }
    }
    lard_store_release(&view->header->splitting, 0);
    return true;
}

void lard_index_resize_split(lard_core *cache, lard_view *view) {
    for (int i = 0; i < SPLITS_PER_INSERT; i++) {
        if (!lard_index_resize_is_due(view) || !split_next(cache, view)) {
            return;
        }
    }
}

/* Undoes a split that was not published, finishes one that was. */
static void finish_split(lard_view *view) {
    uint32_t splitting = lard_load(&view->header->splitting);
    uint32_t count = lard_bucket_count(view);
    if (splitting == 0 || count == 0) {
        return;
    }
    uint32_t source = splitting - 1;
    if (source == split_source(count)) {
        lard_bucket *to = lard_bucket_at(view, count);
        for (unsigned i = 0; to && i < LARD_BUCKET_SLOTS; i++) {
            lard_store(&to->slots[i], 0);
        }
    } else if (source < count) {
        lard_bucket *from = lard_bucket_at(view, source);
        for (unsigned i = 0; from && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load(&from->slots[i]);
            uint32_t choices[2];
            bool stays = choices_of(view, value, count, choices) && (choices[0] == source || choices[1] == source);
            if (LARD_SLOT_OFFSET(value) && !stays) {
                lard_slot_replace(&from->slots[i], value, 0);
            }
        }
    }
    lard_store_release(&view->header->splitting, 0);
}

/* The other pending slot of an item whose mover died, in its other bucket; NULL: there is none. */
static lard_u64 *other_pending(const lard_view *view, const lard_bucket *bucket, uint64_t pending) {
    uint32_t choices[2];
    bool known = choices_of(view, pending & ~LARD_SLOT_PENDING, lard_bucket_count(view), choices);
    for (unsigned c = 0; known && c < 2; c++) {
        lard_bucket *other = lard_bucket_at(view, choices[c]);
        for (unsigned i = 0; other && other != bucket && i < LARD_BUCKET_SLOTS; i++) {
            if (lard_load(&other->slots[i]) == pending) {
                return &other->slots[i];
            }
        }
    }
    return NULL;
}

static void finish_move(lard_view *view, const lard_bucket *bucket, lard_u64 *slot, uint64_t pending) {
    lard_u64 *other = other_pending(view, bucket, pending);
    lard_slot_replace(slot, pending, other ? pending & ~LARD_SLOT_PENDING : 0);
    if (other) {
        lard_slot_replace(other, pending, 0);
    }
}

void lard_index_resize_finish(lard_view *view) {
    finish_split(view);
    uint32_t count = lard_bucket_count(view);
    for (int side = 0; side < 2; side++) {
        uint32_t number = lard_load(&view->header->moving[side]);
        lard_bucket *bucket = number && number <= count ? lard_bucket_at(view, number - 1) : NULL;
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load(&bucket->slots[i]);
            if (LARD_SLOT_OFFSET(value) && (value & LARD_SLOT_PENDING)) {
                finish_move(view, bucket, &bucket->slots[i], value);
            }
        }
    }
    lard_store_release(&view->header->moves, (lard_load(&view->header->moves) | 1u) + 1);
}
