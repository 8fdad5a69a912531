/*
 * shard.c — a shard's lock, its repair after an owner's death, and its reset.
 *
 * The lock is a futex word that names its owner by process slot and incarnation.
 * A waiter that finds the owner dead takes the word over and repairs the shard
 * before it goes on: this file is the only place where owner death is met.
 * Nothing under the lock sleeps, allocates or calls out of the engine.
 */
#include "internal.h"

#define WAITERS 0x80000000u
#define SPINS 200
#define FIRST_SLEEP_MS 1
#define LONGEST_SLEEP_MS 4
/* Buckets, of which a repair counts the items. A death leaves the counts a few off, which is nothing among more:
 * the index grows a little sooner or later, and who finds no room for what is kept counts anew. */
#define MOST_COUNTED 4096u

static bool sane(const lard_view *view) {
    const lard_superblock *super = &view->map->super;
    uint32_t pages = lard_load(&view->head->index_pages);
    uint64_t most = (uint64_t)pages << (view->map->segment_shift - 6);
    uint32_t count = lard_load(&view->head->bucket_count);
    if (pages == 0 || pages > super->segments_per_shard || count == 0 || count > most) {
        return false;
    }
    for (uint32_t i = 0; i < pages; i++) {
        uint32_t segment = lard_load(&view->directory[i]);
        if (segment >= super->segments_per_shard ||
            lard_load(&view->segments[segment].state) != LARD_SEGMENT_INDEX) {
            return false;
        }
    }
    return true;
}

static bool is_named(const lard_view *view, uint32_t segment) {
    uint32_t pages = lard_load(&view->head->index_pages);
    for (uint32_t i = 0; i < pages; i++) {
        if (lard_load(&view->directory[i]) == segment) {
            return true;
        }
    }
    return false;
}

/* A segment whose owner died before the directory named it as a page, or its queue as the one to append to. */
static bool is_orphan(const lard_view *view, uint32_t segment) {
    const lard_segment *row = &view->segments[segment];
    uint32_t state = lard_load(&row->state);
    if (state == LARD_SEGMENT_INDEX) {
        return !is_named(view, segment);
    }
    return (state == LARD_SEGMENT_SMALL || state == LARD_SEGMENT_MAIN) && lard_load(&row->write_offset) == 0 &&
           lard_load(&view->head->active[state - LARD_SEGMENT_SMALL]) != segment + 1;
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
        uint32_t active = lard_load(&view->head->active[queue]);
        uint32_t wanted = queue == 0 ? LARD_SEGMENT_SMALL : LARD_SEGMENT_MAIN;
        if (active && (active > view->map->super.segments_per_shard ||
                       lard_load(&view->segments[active - 1].state) != wanted)) {
            lard_store(&view->head->active[queue], 0);
        }
    }
    uint32_t victim = lard_load(&view->head->victim);
    if (victim) { /* begin it again: what was moved or unlinked already is skipped */
        uint32_t state =
            victim <= view->map->super.segments_per_shard ? lard_load(&view->segments[victim - 1].state) : 0;
        if (state != LARD_SEGMENT_SMALL && state != LARD_SEGMENT_MAIN) {
            lard_store(&view->head->victim, 0);
        }
        lard_store(&view->head->victim_offset, 0);
    }
}

/*
 * Empties a shard whatever its bytes say. Readers see epoch 0 first, so that a
 * lookup under way finds its epoch gone, and a death half-way begins anew.
 */
static void reset(lard_view *view) {
    uint32_t resets = (uint32_t)lard_load(&view->head->resets) + 1;
    lard_store(&view->head->epoch, 0);
    lard_fence();
    lard_store(&view->head->resets, resets);
    lard_store(&view->head->splitting, 0);
    lard_store(&view->head->moves, (lard_load(&view->head->moves) | 1u) + 1);
    lard_store(&view->head->bucket_count, 0);
    lard_store(&view->head->index_pages, 0);
    lard_store(&view->head->active[0], 0);
    lard_store(&view->head->active[1], 0);
    lard_store(&view->head->mean_bytes, 0);
    lard_store(&view->head->pinned_bytes, 0);
    lard_store(&view->head->has_pins, 0);
    lard_store(&view->head->gap[0], 0);
    lard_store(&view->head->gap[1], 0);
    lard_store(&view->head->victim, 0);
    lard_store(&view->head->victim_offset, 0);
    lard_store(&view->head->next_sequence, 1);
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        if (lard_load(&view->segments[s].state) != LARD_SEGMENT_FREE ||
            lard_load(&view->segments[s].write_offset)) {
            lard_segment_free(view, s);
        }
    }
    lard_segment_recount(view);
    lard_index_resize_begin(view);
    lard_store(&view->head->items, 0);
    lard_store(&view->head->chunks, 0);
    uint32_t clear = lard_load(&view->map->control->clear_epoch);
    lard_store_release(&view->head->epoch, (uint64_t)clear << 32 | resets);
}

/* The owner died somewhere under the lock. Every step of the engine is redoable or skippable from here. */
static void repair(larder *cache, lard_view *view) {
    lard_count(cache, LARD_STAT_repairs, 1);
    if (lard_load(&view->head->epoch) == 0) {
        return; /* died in a reset: lard_shard_lock starts it again */
    }
    if (!sane(view)) {
        lard_count(cache, LARD_STAT_resets, 1);
        reset(view);
        return;
    }
    lard_index_resize_finish(view);
    drop_orphans(view);
    check_active(view);
    lard_segment_recount(view);

    if (lard_bucket_count(view) <= MOST_COUNTED) {
        lard_index_recount(view);
    }
    if (lard_has_pins(view)) {
        lard_pin_finish_copy(view);
        if (lard_bucket_count(view) <= MOST_COUNTED) {
            uint32_t next = 0;
            lard_pin_prune(cache, view, &next, UINT32_MAX, 0);
        }
    }
}

static bool try_lock(lard_view *view, uint32_t waiters) {
    uint32_t free = 0;
    view->owner = __atomic_load_n(&view->map->owner_word, __ATOMIC_RELAXED);
    return lard_cas32(&view->head->lock, &free, view->owner | waiters);
}

/* Another thread has attached to another file: who owns locks in this one cannot be told any more. */
static bool has_left(const larder *cache, const lard_map *map) {
    return __atomic_load_n(&cache->map, __ATOMIC_RELAXED) != map;
}

/* The lock and a repaired shard, where its owner is dead. */
static bool take_over(larder *cache, lard_view *view, uint32_t word) {
    lard_u32 *lock = &view->head->lock;
    view->owner = __atomic_load_n(&view->map->owner_word, __ATOMIC_RELAXED);
    if (lard_load(lock) != word || lard_process_alive(cache, view->map, word & ~WAITERS) ||
        !lard_cas32(lock, &word, view->owner | WAITERS)) {
        return false;
    }
    repair(cache, view);
    return true;
}

/* Waits for a live owner within the bound, a short one where it was waited for in vain before; takes over from a
 * dead one. */
static larder_status wait_for_lock(larder *cache, lard_view *view) {
    lard_u32 *lock = &view->head->lock;
    int64_t start = lard_monotonic_ms();
    unsigned sleep_ms = FIRST_SLEEP_MS;
    uint32_t alive = 0; /* the owner that was looked at last: who was not run in all that time has seen none */

    lard_count(cache, LARD_STAT_lock_waits, 1);
    for (;;) {
        uint32_t word = lard_load_acquire(lock); /* before its owner's incarnation is looked at */
        if (word == 0 && try_lock(view, WAITERS)) {
            break;
        }
        uint32_t stuck = __atomic_load_n(&cache->stuck[view->number], __ATOMIC_RELAXED);
        int64_t bound = word && (word & ~WAITERS) == stuck ? FIRST_SLEEP_MS : cache->lock_timeout_ms;
        int64_t waited = lard_monotonic_ms() - start;
        bool leaves = has_left(cache, view->map);
        if (waited < 0 || waited >= bound || leaves) { /* less than nothing: the clock failed */
            if (word && (word & ~WAITERS) != alive && !leaves && take_over(cache, view, word)) {
                break;
            }
            __atomic_store_n(&cache->stuck[view->number], word & ~WAITERS, __ATOMIC_RELAXED);
            return view->map->poisoned ? LARDER_DAMAGED : LARDER_BUSY;
        }
        if (word == 0) {
            continue;
        }
        if (!(word & WAITERS)) {
            if (!lard_cas32(lock, &word, word | WAITERS)) {
                continue;
            }
            word |= WAITERS;
        }
        lard_wait(LARD_RAW(lock), word, sleep_ms);
        sleep_ms = sleep_ms * 2 > LONGEST_SLEEP_MS ? LONGEST_SLEEP_MS : sleep_ms * 2;
        if (take_over(cache, view, word)) {
            break;
        }
        alive = word & ~WAITERS;
    }
    return LARDER_OK;
}

larder_status lard_shard_lock(larder *cache, lard_view *view, const larder_call *call) {
    if (LARD_UNLIKELY(!try_lock(view, 0))) {
        bool had = false;
        for (int i = 0; i < SPINS && !had; i++) {
            lard_pause();
            had = lard_load(&view->head->lock) == 0 && try_lock(view, 0);
        }
        if (!had) {
            if (call && (call->flags & LARDER_CALL_TRY)) {
                return LARDER_BUSY;
            }
            larder_status status = wait_for_lock(cache, view);
            if (status != LARDER_OK) {
                return status;
            }
        }
    }
    if (LARD_UNLIKELY(__atomic_load_n(&cache->stuck[view->number], __ATOMIC_RELAXED))) {
        __atomic_store_n(&cache->stuck[view->number], 0, __ATOMIC_RELAXED);
    }
    uint64_t epoch;
    if (LARD_UNLIKELY(!lard_shard_current(view, &epoch))) {
        reset(view);
    } else if (LARD_UNLIKELY(lard_load(&view->head->bucket_count) == 0 || lard_bucket_count(view) == 0)) {
        lard_count(cache, LARD_STAT_resets, 1);
        reset(view);
    }
    return LARDER_OK;
}

/* Somebody else's word there means that this process was taken for dead while it was in the shard. */
static __attribute__((noinline)) void unlock_slowly(lard_view *view, uint32_t word) {
    lard_u32 *lock = &view->head->lock;
    if (word == (view->owner | WAITERS) && lard_cas32(lock, &word, 0)) {
        lard_wake(LARD_RAW(lock));
    } else if (!view->map->poisoned) {
        lard_file_mark_superseded(view->map); /* two have changed it at once: nobody goes on with this file */
    }
}

void lard_shard_unlock(lard_view *view) {
    uint32_t word = view->owner;
    if (LARD_UNLIKELY(!lard_cas32(&view->head->lock, &word, 0))) {
        unlock_slowly(view, word);
    }
}

void lard_shard_end_turn(lard_view *view) {
    bool wanted = lard_load(&view->head->lock) & WAITERS;
    lard_shard_unlock(view);
    if (wanted) { /* who wakes up has to run before the next turn */
        lard_sleep_ms(1);
    }
}
