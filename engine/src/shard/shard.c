/*
 * shard.c — locks and unlocks a shard, and has it repaired after its owner's death.
 *
 * The lock is a futex word that names its owner by process slot and incarnation. A waiter that finds the owner
 * dead takes the lock over and repairs the shard (repair.c) before it continues. This is the only file that
 * detects an owner's death. Nothing under the lock sleeps, allocates or calls out of the engine.
 */
#include "shard/shard.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/futex.h"
#include "base/pause.h"
#include "file/map.h"
#include "file/view.h"
#include "index/bucket.h"
#include "proc/process.h"
#include "shard/repair.h"

#define SPINS 200
#define FIRST_SLEEP_MS 1
#define MAX_SLEEP_MS 4

static bool try_lock(lard_view *view, uint32_t waiters) {
    uint32_t free = 0;
    view->owner = __atomic_load_n(&view->map->owner_word, __ATOMIC_RELAXED);
    return lard_cas32(&view->header->lock, &free, view->owner | waiters);
}

/* Another thread has attached the handle to another file: owners of locks in this one can no longer be checked. */
static bool has_left(const lard_core *cache, const lard_map *map) {
    return __atomic_load_n(&cache->map, __ATOMIC_RELAXED) != map;
}

/* If the owner is dead: takes the lock, repairs the shard, and returns true. */
static bool take_over(lard_core *cache, lard_view *view, uint32_t word) {
    lard_u32 *lock = &view->header->lock;
    view->owner = __atomic_load_n(&view->map->owner_word, __ATOMIC_RELAXED);
    if (lard_load(lock) != word || lard_process_alive(cache, view->map, word & ~LARD_LOCK_WAITERS) ||
        !lard_cas32(lock, &word, view->owner | LARD_LOCK_WAITERS)) {
        return false;
    }
    lard_repair_shard(cache, view);
    return true;
}

/*
 * One hold of the lock, while its word has LARD_LOCK_WAITERS: a release then counts before it frees the lock. So
 * the same owner with the same count has held the lock all the time. The owner alone does not tell, because a
 * process that works much takes the lock again and again.
 */
static uint64_t hold_of(const lard_view *view, uint32_t word) {
    return (uint64_t)lard_load(&view->header->releases) << 32 | (word & ~LARD_LOCK_WAITERS);
}

/* Waits for a live owner up to the lock timeout, or only briefly if a whole wait has passed in the same hold
 * before. Takes over from a dead owner. */
static larder_status wait_for_lock(lard_core *cache, lard_view *view) {
    lard_u32 *lock = &view->header->lock;
    uint64_t *stuck = &cache->stuck[view->number];
    int64_t start = lard_clock_monotonic_ms();
    unsigned sleep_ms = FIRST_SLEEP_MS;
    uint32_t alive = 0; /* the owner checked last; 0 if this process has not run during the whole wait */
    uint64_t hold = 0;  /* that this wait began in, and has seen no end of; 0: none */
    bool first = true;

    lard_count(cache, LARD_STAT_lock_waits, 1);
    for (;;) {
        uint32_t word = lard_load_acquire(lock); /* before its owner's incarnation is read */
        if (word == 0 && try_lock(view, LARD_LOCK_WAITERS)) {
            break;
        }
        uint64_t seen = word & LARD_LOCK_WAITERS ? hold_of(view, word) : 0;
        hold = seen == hold || first ? seen : 0;
        bool is_stuck = seen && seen == __atomic_load_n(stuck, __ATOMIC_RELAXED);
        int64_t waited = lard_clock_monotonic_ms() - start;
        bool leaves = has_left(cache, view->map);
        int64_t bound = is_stuck ? FIRST_SLEEP_MS : cache->lock_timeout_ms;
        if (waited < 0 || waited >= bound || leaves) { /* negative: the clock failed */
            if (word && (word & ~LARD_LOCK_WAITERS) != alive && !leaves && take_over(cache, view, word)) {
                break;
            }
            if (hold) {
                __atomic_store_n(stuck, hold, __ATOMIC_RELAXED);
            }
            return view->map->poisoned ? LARDER_DAMAGED : LARDER_BUSY;
        }
        if (word == 0) {
            continue;
        }
        if (!(word & LARD_LOCK_WAITERS)) {
            if (!lard_cas32(lock, &word, word | LARD_LOCK_WAITERS)) {
                continue;
            }
            word |= LARD_LOCK_WAITERS;
            hold = first ? hold_of(view, word) : 0;
        }
        first = false;
        lard_futex_wait(LARD_RAW(lock), word, sleep_ms);
        sleep_ms = sleep_ms * 2 > MAX_SLEEP_MS ? MAX_SLEEP_MS : sleep_ms * 2;
        if (take_over(cache, view, word)) {
            break;
        }
        alive = word & ~LARD_LOCK_WAITERS;
    }
    return LARDER_OK;
}

bool lard_shard_try(lard_view *view) { return try_lock(view, 0); }

larder_status lard_shard_lock(lard_core *cache, lard_view *view, const larder_call *call) {
    if (LARD_UNLIKELY(!try_lock(view, 0))) {
        bool had = false;
        for (int i = 0; i < SPINS && !had; i++) {
            lard_pause();
            had = lard_load(&view->header->lock) == 0 && try_lock(view, 0);
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
    if (LARD_UNLIKELY(!lard_view_is_current(view, &epoch))) {
        lard_repair_empty(view);
    } else if (LARD_UNLIKELY(lard_load(&view->header->bucket_count) == 0 || lard_bucket_count(view) == 0)) {
        lard_count(cache, LARD_STAT_resets, 1);
        lard_repair_empty(view);
    }
    return LARDER_OK;
}

/* If the lock names another owner, this process was taken for dead while it was in the shard. */
static __attribute__((noinline)) void unlock_slowly(lard_view *view, uint32_t word) {
    lard_u32 *lock = &view->header->lock;
    bool is_own = word == (view->owner | LARD_LOCK_WAITERS);
    if (is_own) { /* counts before it frees: see hold_of */
        lard_store(&view->header->releases, lard_load(&view->header->releases) + 1);
    }
    if (is_own && lard_cas32(lock, &word, 0)) {
        lard_futex_wake(LARD_RAW(lock));
    } else if (!view->map->poisoned) {
        lard_map_supersede(view->map); /* two processes have changed the shard at once: all leave the file */
    }
}

void lard_shard_unlock(lard_view *view) {
    uint32_t word = view->owner;
    if (LARD_UNLIKELY(!lard_cas32(&view->header->lock, &word, 0))) {
        unlock_slowly(view, word);
    }
}

void lard_shard_end_turn(lard_view *view) {
    bool wanted = lard_load(&view->header->lock) & LARD_LOCK_WAITERS;
    lard_shard_unlock(view);
    if (wanted) { /* the waiter that wakes up must run before the next turn */
        lard_clock_sleep_ms(1);
    }
}
