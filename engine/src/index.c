/*
 * index.c — from a key's hash to its slot.
 *
 * Two-choice buckets (Azar et al., 1994), one move where both are full (cuckoo
 * hashing; Pagh, Rodler, 2001), and linear hashing (Litwin, 1980): the index grows
 * by one bucket at a time, so that no writer pays for a doubling. Inserting and growing happen under the shard's
 * lock. Lookup takes none, and neither does delete: it empties slots by compare-and-swap, so every other change of
 * a slot is a compare-and-swap too.
 *
 * A split and a lock-free delete meet like this: the splitter announces the bucket
 * in `splitting`, copies, looks at the originals again, publishes the new count,
 * then empties the originals. A deleter that emptied an original looks at
 * `splitting` afterwards and, if it is set or changed, searches again, the unpublished bucket
 * included. So either the splitter sees the original gone or the deleter sees the
 * copy.
 *
 * A move to the other bucket puts a pending slot there, which no reader follows,
 * empties the original, then takes the mark off. A deleter empties pending slots
 * too, so a deleted item is never moved back to life; a death in between forgets
 * the item. `moves` is odd meanwhile, so that a reader that found nothing looks again.
 */
#include "internal.h"

#define ITEMS_PER_BUCKET 5 /* the next bucket is split above this mean; of 8 slots the others hold ghosts */
#define SPLITS_PER_INSERT 2
#define FIRST_BUCKETS 64 /* dense from the start: few items then touch few cache lines and pages */
#define ATTEMPTS 16

uint32_t lard_bucket_count(const lard_view *view) {
    uint32_t count = lard_load_acquire(&view->head->bucket_count);
    uint64_t most = (uint64_t)view->map->super.segments_per_shard << (view->map->segment_shift - 6);
    return LARD_LIKELY(count <= most) ? count : 0;
}

bool lard_index_unlink(const lard_view *view, lard_u64 *slot, uint64_t value, uint64_t replacement) {
    (void)view;
    uint64_t now = value;
    while (LARD_SLOT_SAME(now, value)) {
        if (lard_cas64(slot, &now, replacement)) {
            return true;
        }
    }
    return false;
}

static bool slot_holds(const lard_view *view, uint64_t value, const lard_hash *hash, const void *key,
                       size_t key_bytes, bool is_chunk, lard_record_info *info) {
    uint64_t offset = LARD_SLOT_OFFSET(value);
    return offset && LARD_SLOT_TAG(value) == hash->tag && lard_record_info_at(view, offset, info) &&
           (info->generation & 0xffff) == LARD_SLOT_GENERATION(value) &&
           lard_record_is_key(view, offset, info, key, key_bytes, is_chunk);
}

lard_found lard_index_find(const lard_view *view, const lard_hash *hash, const void *key, size_t key_bytes,
                           bool is_chunk) {
    lard_record_info info;
    uint32_t count = lard_bucket_count(view);
    uint32_t choices[2];
    if (count == 0) {
        return (lard_found){NULL, 0};
    }
    choices[0] = lard_bucket_of(hash->first, count);
    choices[1] = lard_bucket_of(hash->second, count);
    for (int c = 0; c < 2; c++) {
        lard_bucket *bucket = lard_bucket_at(view, choices[c]);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load_acquire(&bucket->slots[i]);
            if (slot_holds(view, value, hash, key, key_bytes, is_chunk, &info)) {
                return (lard_found){&bucket->slots[i], value};
            }
        }
    }
    return (lard_found){NULL, 0};
}

/* Has the cache lines of a key's buckets fetched. */
void lard_index_prefetch(const lard_view *view, const lard_hash *hash) {
    uint32_t count = lard_bucket_count(view);
    if (count) {
        __builtin_prefetch(lard_bucket_at(view, lard_bucket_of(hash->first, count)), 1);
        __builtin_prefetch(lard_bucket_at(view, lard_bucket_of(hash->second, count)), 1);
    }
}

/* The first slot with the key's tag, without a look at the key: its record is being fetched. */
lard_found lard_index_guess(const lard_view *view, const lard_hash *hash) {
    uint32_t count = lard_bucket_count(view);
    uint32_t hashes[2] = {hash->first, hash->second};
    for (int c = 0; count && c < 2; c++) {
        lard_bucket *bucket = lard_bucket_at(view, lard_bucket_of(hashes[c], count));
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load(&bucket->slots[i]);
            uint64_t offset = LARD_SLOT_OFFSET(value);
            if (offset && LARD_SLOT_TAG(value) == hash->tag && offset < view->map->super.shard_bytes) {
                __builtin_prefetch(view->base + offset);
                return (lard_found){&bucket->slots[i], value};
            }
        }
    }
    return (lard_found){NULL, 0};
}

lard_found lard_index_find_offset(const lard_view *view, const lard_hash *hash, uint64_t offset) {
    uint32_t count = lard_bucket_count(view);
    uint32_t choices[2];
    if (count == 0) {
        return (lard_found){NULL, 0};
    }
    choices[0] = lard_bucket_of(hash->first, count);
    choices[1] = lard_bucket_of(hash->second, count);
    for (int c = 0; c < 2; c++) {
        lard_bucket *bucket = lard_bucket_at(view, choices[c]);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load(&bucket->slots[i]);
            if (LARD_SLOT_OFFSET(value) == offset) {
                return (lard_found){&bucket->slots[i], value};
            }
        }
    }
    return (lard_found){NULL, 0};
}

bool lard_index_has_ghost(const lard_view *view, const lard_hash *hash) {
    uint32_t count = lard_bucket_count(view);
    uint32_t choices[2];
    if (count == 0) {
        return false;
    }
    choices[0] = lard_bucket_of(hash->first, count);
    choices[1] = lard_bucket_of(hash->second, count);
    for (int c = 0; c < 2; c++) {
        lard_bucket *bucket = lard_bucket_at(view, choices[c]);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load(&bucket->slots[i]);
            if (value && !LARD_SLOT_OFFSET(value) && LARD_SLOT_TAG(value) == hash->tag &&
                lard_evict_ghost_fresh(view, value)) {
                return true;
            }
        }
    }
    return false;
}

/* How gladly a slot is given to a new item: its own ghost, an empty one, a ghost, the least frequent item. */
static int worth(const lard_view *view, uint64_t value, uint32_t tag) {
    if (value == 0) {
        return 1;
    }
    if (LARD_SLOT_OFFSET(value)) {
        return 4 + (int)LARD_SLOT_FREQUENCY(value);
    }
    if (LARD_SLOT_TAG(value) == tag) {
        return 0;
    }
    return lard_evict_ghost_fresh(view, value) ? 3 : 2;
}

static unsigned live_slots(const lard_bucket *bucket) {
    unsigned live = 0;
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        live += LARD_SLOT_OFFSET(lard_load(&bucket->slots[i])) != 0;
    }
    return live;
}

/* The two buckets that the item of `value` may stand in; false where its record cannot be read. */
static bool choices_of(const lard_view *view, uint64_t value, uint32_t count, uint32_t choices[2]) {
    unsigned char key[LARDER_MAX_KEY + 8];
    lard_record_info info;
    uint64_t offset = LARD_SLOT_OFFSET(value);
    if (count == 0 || !lard_record_info_at(view, offset, &info) ||
        LARD_WORD2_KEY_BYTES(info.word2) > LARDER_MAX_KEY ||
        (info.generation & 0xffff) != LARD_SLOT_GENERATION(value)) {
        return false;
    }
    lard_record_copy_key(view, offset, &info, key);
    lard_hash hash = lard_hash_key(view->map, key, LARD_WORD2_KEY_BYTES(info.word2),
                                   LARD_WORD2_TYPE(info.word2) == LARD_TYPE_CHUNK);
    choices[0] = lard_bucket_of(hash.first, count);
    choices[1] = lard_bucket_of(hash.second, count);
    return true;
}

/* Takes `from` to an empty slot of its item's other bucket. */
static bool move_out(lard_view *view, const lard_bucket *bucket, lard_u64 *from) {
    uint32_t choices[2];
    uint64_t value = lard_load(from);
    if (!choices_of(view, value, lard_bucket_count(view), choices)) {
        return false;
    }
    lard_bucket *other = lard_bucket_at(view, choices[0]);
    if (other == bucket) {
        other = lard_bucket_at(view, choices[1]);
    }
    for (unsigned i = 0; other && other != bucket && i < LARD_BUCKET_SLOTS; i++) {
        uint64_t vacant = lard_load(&other->slots[i]);
        uint64_t pending = value | LARD_SLOT_PENDING;
        if (LARD_SLOT_OFFSET(vacant) || !lard_cas64(&other->slots[i], &vacant, pending)) {
            continue;
        }
        lard_store_release(&view->head->moves, lard_load(&view->head->moves) | 1u);
        lard_fence();
        bool emptied = lard_index_unlink(view, from, value, 0);
        lard_index_unlink(view, &other->slots[i], pending, emptied ? value : 0);
        lard_store_release(&view->head->moves, lard_load(&view->head->moves) + 1);
        return emptied;
    }
    return false;
}

static bool make_room(lard_view *view, lard_bucket *const buckets[2]) {
    for (int c = 0; c < 2; c++) {
        for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
            if (move_out(view, buckets[c], &buckets[c]->slots[i])) {
                return true;
            }
        }
    }
    return false;
}

larder_status lard_index_insert(larder *cache, lard_view *view, const lard_hash *hash, uint64_t slot) {
    uint32_t count = lard_bucket_count(view);
    lard_bucket *buckets[2];
    if (count == 0) {
        return LARDER_DAMAGED;
    }
    buckets[0] = lard_bucket_at(view, lard_bucket_of(hash->first, count));
    buckets[1] = lard_bucket_at(view, lard_bucket_of(hash->second, count));
    if (!buckets[0] || !buckets[1]) {
        return LARDER_DAMAGED;
    }
    for (;;) { /* each failure means that a deleter emptied a slot or a reader raised a frequency (at most to 3) */
        int order = live_slots(buckets[1]) < live_slots(buckets[0]) ? 1 : 0;
        lard_u64 *best = NULL;
        uint64_t best_value = 0;
        int best_worth = 100;
        for (int c = 0; c < 2; c++) {
            lard_bucket *bucket = buckets[c ^ order];
            for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
                uint64_t value = lard_load(&bucket->slots[i]);
                int w = worth(view, value, hash->tag);
                if (w < best_worth) {
                    best = &bucket->slots[i];
                    best_value = value;
                    best_worth = w;
                }
            }
            if (best_worth < 4) {
                break;
            }
        }
        bool occupied = LARD_SLOT_OFFSET(best_value) != 0;
        if (occupied && make_room(view, buckets)) {
            continue;
        }
        if (lard_cas64(best, &best_value, slot)) {
            if (occupied) {
                lard_count(cache, LARD_STAT_evictions, 1);
            } else {
                lard_add(&view->head->items, 1);
            }
            return LARDER_OK;
        }
    }
}

/* One pass over a bucket. Counts what it dropped that was still alive into *dropped. */
static bool delete_in_bucket(const lard_view *view, uint32_t number, const lard_hash *hash, const void *key,
                             size_t key_bytes, bool is_chunk, int64_t now_ms, lard_head *head, bool *was_live) {
    lard_bucket *bucket = lard_bucket_at(view, number);
    bool any = false;
    for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
        lard_record_info info;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            uint64_t value = lard_load_acquire(&bucket->slots[i]);
            uint64_t settled = value & ~LARD_SLOT_PENDING;
            if (!slot_holds(view, settled, hash, key, key_bytes, is_chunk, &info)) {
                lard_fence_acquire();
                if (lard_load(&bucket->slots[i]) == value) {
                    break;
                }
                continue; /* moved or recycled meanwhile */
            }
            lard_head large = {{0, 0}, 0};
            if (head && LARD_WORD2_TYPE(info.word2) == LARD_TYPE_HEAD) {
                lard_record_read(view, LARD_SLOT_OFFSET(settled), &info, &large, sizeof large);
            }
            if (lard_index_unlink(view, &bucket->slots[i], value, 0)) {
                any = true;
                *was_live |= !lard_expired(&info, now_ms);
                if (large.value_bytes) {
                    *head = large;
                }
                break;
            }
        }
    }
    return any;
}

bool lard_index_delete(const lard_view *view, const lard_hash *hash, const void *key, size_t key_bytes,
                       bool is_chunk, int64_t now_ms, lard_head *head) {
    bool any = false, was_live = false;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint32_t splitting = lard_load_acquire(&view->head->splitting);
        uint32_t moves = lard_load_acquire(&view->head->moves);
        uint32_t count = lard_bucket_count(view);
        if (count == 0) {
            break;
        }
        uint32_t choices[4] = {lard_bucket_of(hash->first, count), lard_bucket_of(hash->second, count), 0, 0};
        int used = 2;
        uint64_t paged = (uint64_t)lard_load(&view->head->index_pages) << (view->map->segment_shift - 6);
        if (splitting && count < paged) { /* the bucket that is being filled but not published yet */
            choices[used++] = lard_bucket_of(hash->first, count + 1);
            choices[used++] = lard_bucket_of(hash->second, count + 1);
        }
        for (int c = 0; c < used; c++) {
            any |= delete_in_bucket(view, choices[c], hash, key, key_bytes, is_chunk, now_ms, head, &was_live);
        }
        lard_fence();
        if (lard_load(&view->head->splitting) == splitting && lard_load(&view->head->moves) == moves &&
            lard_bucket_count(view) == count) {
            break;
        }
    }
    if (any) {
        lard_add(&view->head->items, (uint64_t)-1);
    }
    return was_live;
}

/* Buckets come by the page; a page is a segment, zeroed before the directory names it. */
static bool add_page(lard_view *view, uint32_t page) {
    uint32_t segment;
    if (!lard_segment_take(view, &segment)) {
        return false;
    }
    lard_u64 *words = lard_words(view, lard_segment_offset(view, segment));
    for (uint32_t i = 0; i < view->map->super.segment_bytes / 8; i++) {
        lard_store(&words[i], 0);
    }
    lard_store(&view->segments[segment].state, LARD_SEGMENT_INDEX);
    lard_store(&view->directory[page], segment);
    lard_store_release(&view->head->index_pages, page + 1);
    return true;
}

bool lard_index_first_page(lard_view *view) {
    if (!add_page(view, 0)) {
        return false;
    }
    lard_store_release(&view->head->bucket_count, FIRST_BUCKETS);
    return true;
}

static uint32_t split_source(uint32_t count) { return count - (1u << (31 - __builtin_clz(count))); }

static bool split_next(larder *cache, lard_view *view) {
    uint32_t count = lard_bucket_count(view);
    uint32_t page = count >> (view->map->segment_shift - 6);
    if (count == 0) {
        return false; /* damaged since the lock was taken */
    }
    if (page >= lard_load(&view->head->index_pages)) {
        if (page >= view->map->super.segments_per_shard / 2 || lard_load(&view->head->free_segments) < 2 ||
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
    uint64_t moved[LARD_BUCKET_SLOTS] = {0};
    lard_store(&view->head->splitting, source + 1);
    lard_fence();
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        uint64_t value = lard_load(&from->slots[i]);
        lard_store(&to->slots[i], 0);
        uint32_t choices[2] = {UINT32_MAX, UINT32_MAX};
        if (!LARD_SLOT_OFFSET(value)) {
            continue;
        }
        if (choices_of(view, value, count + 1, choices) && (choices[0] == source || choices[1] == source)) {
            continue;
        }
        if (choices[0] == count || choices[1] == count) {
            lard_store(&to->slots[i], value);
            moved[i] = value;
        } else if (lard_index_unlink(view, &from->slots[i], value, 0)) { /* its record is damaged */
            lard_add(&view->head->items, (uint64_t)-1);
            lard_count(cache, LARD_STAT_damaged, 1);
        }
    }
    lard_fence();
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        if (moved[i] && !LARD_SLOT_SAME(lard_load(&from->slots[i]), moved[i])) {
            lard_index_unlink(view, &to->slots[i], moved[i], 0);
        }
    }
    lard_store_release(&view->head->bucket_count, count + 1);
    lard_fence();
    for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
        if (moved[i] && !lard_index_unlink(view, &from->slots[i], moved[i], 0)) {
            lard_index_unlink(view, &to->slots[i], moved[i], 0);
        }
    }
    lard_store_release(&view->head->splitting, 0);
    return true;
}

void lard_index_grow(larder *cache, lard_view *view) {
    for (int i = 0; i < SPLITS_PER_INSERT; i++) {
        int64_t items = (int64_t)lard_load(&view->head->items);
        if (items <= (int64_t)lard_bucket_count(view) * ITEMS_PER_BUCKET || !split_next(cache, view)) {
            return;
        }
    }
}

/* Undoes a split that was not published, finishes one that was. */
static void finish_split(lard_view *view) {
    uint32_t splitting = lard_load(&view->head->splitting);
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
                lard_index_unlink(view, &from->slots[i], value, 0);
            }
        }
    }
    lard_store_release(&view->head->splitting, 0);
}

/* Under the lock of a dead owner. */
void lard_index_finish_changes(lard_view *view) {
    finish_split(view);
    uint32_t count = lard_bucket_count(view);
    for (uint32_t b = 0; b < count; b++) {
        lard_bucket *bucket = lard_bucket_at(view, b);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load(&bucket->slots[i]);
            if (LARD_SLOT_OFFSET(value) && (value & LARD_SLOT_PENDING)) {
                lard_index_unlink(view, &bucket->slots[i], value, 0);
            }
        }
    }
    lard_store_release(&view->head->moves, (lard_load(&view->head->moves) | 1u) + 1);
}
