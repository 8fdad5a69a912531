/*
 * evict.c — what leaves when room is short, a little with each write.
 *
 * S3-FIFO over segments: new items go to the small queue; when its oldest segment is
 * emptied, what was read since is copied to the main queue and the rest leaves a ghost;
 * an item whose ghost is fresh goes to main at once. Main's oldest segment is emptied
 * likewise, where each copy costs one step of frequency. How much of the shard the small
 * queue may have is learned from what comes back (lard_evict_queue). A segment of which
 * everything has expired goes first.
 *
 * One segment at a time is the victim; its cursor lives in the shard, so that a
 * death half-way continues. All under the shard's lock.
 */
#include "internal.h"

#include <string.h>

#define SHARE(per_cent) ((per_cent)*65536u / 100)
#define FIRST_SHARE SHARE(5) /* of the record segments for the small queue, until it is known better */
#define LEAST_SHARE SHARE(2)
#define MOST_SHARE SHARE(30)
#define MOST_STEP SHARE(4)
#define LEARN_PER_CENT 80 /* of the size of what comes back */
#define WORK_PER_BYTE 8   /* bytes looked at for each byte written, while below the target */
#define LEAST_WORK 2048
#define BATCH 8          /* records whose cache misses overlap */
#define NOTHING 0        /* what is spared has this frequency or more */
#define ALL 4            /* above any frequency */
#define ROOMY 5u / 8u    /* of the record segments: where items take less, none has to leave */
#define FIRST_SAMPLE 64u /* buckets looked at to begin with */
#define SAMPLE 1u /* buckets looked at whenever SAMPLE_EVERY segments were emptied: each record of them is */
#define SAMPLE_EVERY 16u /* a page that may have to be read from disk */
#define MEAN_OF 16u      /* such samples */
#define LONG_PART 50     /* a value larger than this part of the capacity goes past the small queue */
#define LARGE_PART 24    /* one larger than this part comes with the highest frequency */

static uint32_t bounded(int64_t share) {
    return share < LEAST_SHARE ? LEAST_SHARE : share > MOST_SHARE ? MOST_SHARE : (uint32_t)share;
}

/* Of the record segments, in 65536ths, whatever the word says. */
static uint32_t small_share(const lard_view *view) {
    uint32_t share = lard_load(&view->head->small_share);
    return share == 0 ? FIRST_SHARE : bounded(share);
}

/*
 * What has just left the small queue and comes back would have been found in a longer
 * one, and likewise in the main queue: so much of each as tells of an eighth of the shard
 * more. So the return of an item moves the bound between the queues by most of its size.
 */
uint32_t lard_evict_queue(lard_view *view, const lard_hash *hash, uint64_t bytes) {
    lard_ghost ghost = lard_ghost_take(view, hash);
    if (ghost == LARD_GHOST_SMALL_YOUNG || ghost == LARD_GHOST_MAIN_YOUNG) {
        uint64_t step = (bytes << 16) / view->map->super.shard_bytes * LEARN_PER_CENT / 100 + 1;
        int64_t by = step < MOST_STEP ? (int64_t)step : MOST_STEP;
        lard_store(&view->head->small_share,
                   bounded(small_share(view) + (ghost == LARD_GHOST_SMALL_YOUNG ? by : -by)));
    }
    return ghost == LARD_GHOST_SMALL || ghost == LARD_GHOST_SMALL_YOUNG ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL;
}

/* Chooses one queue for all chunks of a large value. One that might push its own beginning out of the small queue
 * goes to the main one, and starts as if it had been read where it might do so there. */
void lard_evict_place_large(lard_map *map, const lard_hash *hash, lard_record_spec *spec) {
    const lard_superblock *super = &map->super;
    uint64_t all = (uint64_t)super->shard_count * super->segments_per_shard * super->segment_bytes;
    spec->to_main = spec->value_bytes > all / LONG_PART || lard_queue_of(map, hash, spec) == LARD_SEGMENT_MAIN;
    spec->reads = spec->value_bytes > all / LARGE_PART ? 3 : 0;
}

/* Segments that may have to go, + 1 each; 0: there is none. */
typedef struct {
    uint32_t expired;   /* wholly */
    uint32_t oldest[2]; /* longest in its queue, of small and main, */
    uint32_t second[2]; /* and the one after it */
} prospects;

static prospects look_over(const lard_view *view, int64_t now_ms, bool open_too) {
    prospects found = {0, {0, 0}, {0, 0}};
    uint64_t sequences[2] = {UINT64_MAX, UINT64_MAX}, seconds[2] = {UINT64_MAX, UINT64_MAX};
    const uint32_t active[2] = {lard_load(&view->head->active[0]), lard_load(&view->head->active[1])};
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        const lard_segment *row = &view->segments[s];
        uint32_t queue = lard_load(&row->state) - LARD_SEGMENT_SMALL;
        if (queue > LARD_SEGMENT_MAIN - LARD_SEGMENT_SMALL || (!open_too && s + 1 == active[queue])) {
            continue;
        }
        if (lard_load(&row->max_expiry_ms) <= (uint64_t)now_ms && !found.expired &&
            lard_load(&row->write_offset)) {
            found.expired = s + 1;
        }
        uint64_t sequence = lard_load(&row->sequence);
        if (sequence < sequences[queue]) {
            seconds[queue] = sequences[queue];
            found.second[queue] = found.oldest[queue];
            sequences[queue] = sequence;
            found.oldest[queue] = s + 1;
        } else if (sequence < seconds[queue]) {
            seconds[queue] = sequence;
            found.second[queue] = s + 1;
        }
    }
    return found;
}

/* The segment that is likely to go after this one is read from disk meanwhile. */
static void prefetch_next(const lard_view *view, uint32_t victim, const prospects *found, unsigned queue) {
    uint32_t next = victim == found->oldest[queue] ? found->second[queue] : found->oldest[queue];
    if (next) {
        lard_advise_segment(view, next - 1);
    }
}

static uint32_t choose(lard_view *view, int64_t now_ms) {
    prospects found = look_over(view, now_ms, false);
    uint32_t small = lard_load(&view->head->small_segments);
    uint32_t main_count = lard_load(&view->head->main_segments);
    uint64_t kept = lard_pin_bytes(view) >> view->map->segment_shift; /* not to be shared */
    uint64_t shared = small + (main_count > kept ? main_count - kept : 0);
    unsigned queue = (uint64_t)small << 16 <= shared * small_share(view);
    queue = found.oldest[queue] ? queue : !queue;
    uint32_t victim = found.expired ? found.expired : found.oldest[queue];
    if (victim) {
        prefetch_next(view, victim, &found, queue);
        return victim;
    }
    found = look_over(view, now_ms, true); /* only open segments are left: close one */
    queue = found.oldest[0] == 0;
    if (found.oldest[queue]) {
        lard_store(&view->head->active[queue], 0);
    }
    return found.oldest[queue];
}

static bool move_to_main(lard_view *view, const lard_found *found, const lard_record_info *info, uint64_t bytes,
                         uint32_t from) {
    uint64_t to = lard_segment_reserve(NULL, view, LARD_SEGMENT_MAIN, bytes, 0);
    if (!to) {
        return false;
    }
    uint32_t segment = (uint32_t)((to - view->map->super.data_offset) >> view->map->segment_shift);
    uint64_t generation = lard_load(&view->segments[segment].generation);
    lard_segment_inherit_age(view, segment, LARD_SLOT_OFFSET(found->value));
    lard_record_move(view, LARD_SLOT_OFFSET(found->value), to, generation, bytes);
    lard_segment_commit(view, to, bytes, info->expiry_ms);
    unsigned reads = LARD_SLOT_FREQUENCY(found->value);
    unsigned left = from == LARD_SEGMENT_MAIN && reads ? reads - 1 : 0;
    uint64_t slot = lard_slot(to, LARD_SLOT_FINGERPRINT(found->value), left, generation);
    lard_index_unlink(view, found->slot, found->value, slot); /* where a deleter was faster, the copy is dead */
    return true;
}

/* Does it stand where main appends? Then it was moved there a moment ago, before the first of its row. */
static bool is_newest(const lard_view *view, uint64_t slot) {
    uint64_t offset = LARD_SLOT_OFFSET(slot) - view->map->super.data_offset;
    uint32_t segment = (uint32_t)(offset >> view->map->segment_shift) + 1;
    unsigned queue = LARD_SEGMENT_MAIN - LARD_SEGMENT_SMALL;
    return (segment == lard_load(&view->head->active[queue]) ||
            segment == lard_load(&view->head->closed[queue])) &&
           lard_segment_state(view, LARD_SLOT_OFFSET(slot)) == LARD_SEGMENT_MAIN;
}

/* A record of the victim, with its key's hash taken before its turn, so that its buckets are on their way. */
typedef struct {
    uint64_t offset, bytes;
    lard_record_info info;
    lard_hash hash;
} candidate;

/* False where there is no whole record of the segment's generation. */
static bool look_at(const lard_view *view, uint64_t offset, uint64_t generation, candidate *one) {
    unsigned char key[LARDER_MAX_KEY + 8];
    lard_bucket *buckets[2];
    one->offset = offset;
    if (!lard_record_info_at(view, offset, &one->info) || LARD_WORD2_KEY_BYTES(one->info.word2) > LARDER_MAX_KEY ||
        one->info.generation != (uint32_t)generation) {
        return false;
    }
    unsigned type = LARD_WORD2_TYPE(one->info.word2);
    size_t key_bytes = LARD_WORD2_KEY_BYTES(one->info.word2);
    one->bytes = lard_record_bytes(type, key_bytes, LARD_WORD2_VALUE_BYTES(one->info.word2));
    lard_record_copy_key(view, offset, &one->info, key);
    one->hash = lard_hash_key(view->map, key, key_bytes, type == LARD_TYPE_CHUNK);
    lard_dircache_prefetch_buckets(view->map, &one->hash, buckets);
    return true;
}

/* Of a chunk at the beginning of a row, with its key. */
static bool leads_row(const lard_view *view, const candidate *one, lard_chunk_key *key) {
    unsigned char copy[sizeof *key];
    if (LARD_WORD2_TYPE(one->info.word2) != LARD_TYPE_CHUNK ||
        LARD_WORD2_KEY_BYTES(one->info.word2) != sizeof *key) {
        return false;
    }
    lard_record_copy_key(view, one->offset, &one->info, copy);
    memcpy(key, copy, sizeof *key);
    return key->number % LARD_CHUNKS_TOGETHER == 0;
}

/* A value is of no use without one of its chunks: the first of a row decides for those that follow it. */
static void decide_for_row(lard_view *view, const candidate *first, bool stays) {
    lard_chunk_key key;
    if (!leads_row(view, first, &key)) {
        return;
    }
    for (unsigned i = 1; i < LARD_CHUNKS_TOGETHER; i++) {
        key.number++;
        lard_hash hash = lard_hash_key(view->map, &key, sizeof key, true);
        lard_found found = lard_index_find(view, &hash, &key, sizeof key, true);
        if (!found.slot) {
            return;
        }
        if (!stays && lard_index_unlink(view, found.slot, found.value, 0)) {
            lard_index_count_off(view, true);
        } else if (stays && LARD_SLOT_FREQUENCY(found.value) == 0 && !is_newest(view, found.value)) {
            lard_index_unlink(view, found.slot, found.value, found.value + LARD_FREQUENCY_ONE);
        }
    }
}

static void settle(larder *cache, lard_view *view, const candidate *one, uint32_t state, unsigned spare,
                   int64_t now_ms) {
    const lard_record_info *info = &one->info;
    lard_hash hash = one->hash;
    lard_found found = lard_index_find_offset(view, &hash, one->offset, info->generation);
    if (!found.slot) {
        return;
    }
    bool ghost = false, kept = LARD_WORD2_PINNED(info->word2);
    bool is_chunk = LARD_WORD2_TYPE(info->word2) == LARD_TYPE_CHUNK; /* counted with its head */
    unsigned statistic = LARD_STAT_expirations;
    if (!lard_expired(info, now_ms)) {
        if ((kept || LARD_SLOT_FREQUENCY(found.value) >= spare) &&
            move_to_main(view, &found, info, one->bytes, state)) {
            lard_count(cache, LARD_STAT_promotions, !is_chunk);
            decide_for_row(view, one, true);
            return;
        }
        statistic = kept ? LARD_STAT_damaged : LARD_STAT_evictions; /* in a sound shard there is room: pin.c */
        ghost = !is_chunk;
    }
    if (lard_index_unlink(view, found.slot, found.value,
                          ghost ? lard_ghost_word(view, hash.fingerprint, state == LARD_SEGMENT_MAIN) : 0)) {
        lard_index_count_off(view, is_chunk);
        lard_count(cache, statistic, !is_chunk);
        decide_for_row(view, one, false);
        if (kept) {
            lard_add(&view->head->pinned_bytes, -lard_pin_cost(view, one->bytes));
        }
    }
}

/* Its records cannot be walked: find what points into the segment from the index instead. */
static void sweep_slots(larder *cache, lard_view *view, uint32_t segment) {
    uint32_t count = lard_bucket_count(view);
    uint64_t start = lard_segment_offset(view, segment);
    lard_count(cache, LARD_STAT_damaged, 1);
    for (uint32_t b = 0; b < count; b++) {
        lard_bucket *bucket = lard_bucket_at(view, b);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            uint64_t value = lard_load(&bucket->slots[i]);
            uint64_t offset = LARD_SLOT_OFFSET(value);
            if (offset >= start && offset - start < view->map->super.segment_bytes) {
                lard_index_unlink(view, &bucket->slots[i], value, 0);
            }
        }
    }
    lard_index_recount(view);
}

/* Keys that are stored again and again leave dead records behind: no reason for other items to go. */
bool lard_evict_is_roomy(const lard_view *view) {
    uint64_t segments = (uint64_t)lard_load(&view->head->small_segments) + lard_load(&view->head->main_segments);
    uint64_t items = lard_load(&view->head->items), mean = lard_load(&view->head->mean_bytes);
    return items < UINT32_MAX && segments <= view->map->super.segments_per_shard &&
           items * mean < (segments << view->map->segment_shift) * ROOMY;
}

static bool is_sample_due(const lard_view *view) {
    uint32_t emptied = lard_load(&view->head->evict_clock) + lard_load(&view->head->main_clock);
    return emptied % SAMPLE_EVERY == 0 || lard_load(&view->head->mean_bytes) == 0;
}

/* How long records are, from some of the index: another part whenever a segment was opened. */
static void sample_bytes(lard_view *view) {
    uint32_t count = lard_bucket_count(view), before = lard_load(&view->head->mean_bytes);
    uint32_t looks = before ? SAMPLE : FIRST_SAMPLE;
    uint64_t bytes = 0, items = 0;
    for (uint32_t i = 0; i < looks && count; i++) {
        uint64_t at = (uint64_t)lard_load(&view->head->next_sequence) * FIRST_SAMPLE + i;
        const lard_bucket *bucket = lard_bucket_at(view, (uint32_t)(lard_mix(at) % count));
        for (unsigned s = 0; bucket && s < LARD_BUCKET_SLOTS; s++) {
            lard_record_info info;
            uint64_t value = lard_load(&bucket->slots[s]);
            if (LARD_SLOT_OFFSET(value) && lard_slot_record(view, value, &info)) {
                bytes += lard_record_bytes(LARD_WORD2_TYPE(info.word2), LARD_WORD2_KEY_BYTES(info.word2),
                                           LARD_WORD2_VALUE_BYTES(info.word2));
                items++;
            }
        }
    }
    if (items) {
        uint32_t mean = (uint32_t)(bytes / items);
        lard_store(&view->head->mean_bytes, before ? before - before / MEAN_OF + mean / MEAN_OF : mean);
    }
}

static void release_victim(lard_view *view, uint32_t segment) {
    lard_ghost_tick(view, lard_load(&view->segments[segment].state) == LARD_SEGMENT_MAIN);
    lard_segment_free(view, segment);
    lard_store(&view->head->victim, 0);
}

static bool holds_records(const lard_view *view, uint32_t victim) {
    if (victim == 0 || victim > view->map->super.segments_per_shard) {
        return false;
    }
    uint32_t state = lard_load(&view->segments[victim - 1].state);
    return state == LARD_SEGMENT_SMALL || state == LARD_SEGMENT_MAIN;
}

/* The last free segment was taken for what is kept: the rest of the victim must follow before others write there.
 */
static bool is_urgent(const lard_view *view) {
    return lard_load(&view->head->free_segments) == 0 && lard_has_pins(view);
}

void lard_evict_some(larder *cache, lard_view *view, uint64_t budget_bytes, unsigned spare, int64_t now_ms) {
    uint32_t victim = lard_load(&view->head->victim);
    if (!holds_records(view, victim)) { /* 0, or damaged */
        victim = choose(view, now_ms);
        if (!victim) {
            return;
        }
        if (is_sample_due(view)) {
            sample_bytes(view);
        }
        lard_store(&view->head->victim_offset, 0);
        lard_store(&view->head->victim, victim);
    }
    uint32_t segment = victim - 1;
    lard_segment *row = &view->segments[segment];
    uint32_t state = lard_load(&row->state);
    uint64_t base = lard_segment_offset(view, segment);
    uint64_t end = lard_load(&row->write_offset);
    uint64_t at =
        lard_load(&view->head->victim_offset) & ~7u; /* records are aligned, whatever a damaged word says */
    uint64_t seen = 0;

    if (end > view->map->super.segment_bytes) {
        end = view->map->super.segment_bytes;
    }
    if (at > end) { /* damaged: what was passed over is unknown */
        sweep_slots(cache, view, segment);
    }
    uint64_t generation = lard_load(&row->generation);
    if (is_urgent(
            view)) { /* somebody died, or the count is damaged, and is not believed where that costs an item */
        lard_segment_recount(view);
    }
    while (at < end && (seen < budget_bytes || is_urgent(view))) {
        candidate batch[BATCH];
        unsigned count = 0;
        uint64_t next = at;
        bool whole = true;
        while (count < BATCH && next < end && (seen < budget_bytes || !count) &&
               (whole = look_at(view, base + next, generation, &batch[count]))) {
            next += batch[count].bytes;
            seen += batch[count++].bytes;
        }
        for (unsigned i = 0; i < count; i++) {
            settle(cache, view, &batch[i], state, spare, now_ms);
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
        lard_store(&view->head->victim_offset, (uint32_t)at);
    }
}

/* Items stay as long as there is room for those to come. */
static bool is_wanted_soon(const lard_view *view, uint32_t queue) {
    return lard_segment_room(view, queue) < view->map->super.segment_bytes / 4;
}

void lard_evict_upkeep(larder *cache, lard_view *view, uint32_t queue, uint64_t written_bytes, int64_t now_ms) {
    uint32_t free_segments = lard_load(&view->head->free_segments);
    if (free_segments < LARD_SPARE_SEGMENTS &&
        (free_segments == 0 || lard_load(&view->head->victim) || is_wanted_soon(view, queue))) {
        lard_evict_some(cache, view, written_bytes * WORK_PER_BYTE + LEAST_WORK,
                        lard_evict_is_roomy(view) ? NOTHING : 1, now_ms);
    }
}

/* Room for a segment, whatever was read lately. */
void lard_evict_at_once(larder *cache, lard_view *view, int64_t now_ms) {
    for (uint32_t i = 0; i < LARD_SPARE_SEGMENTS && lard_load(&view->head->free_segments) < LARD_SPARE_SEGMENTS;
         i++) {
        lard_evict_some(cache, view, UINT64_MAX, ALL, now_ms);
    }
}
