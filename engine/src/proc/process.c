/*
 * process.c — claims process slots, and tells which processes are attached and alive.
 *
 * Each attached process holds byte 1 + slot of the lock file (bytelock.c). Slots are claimed under the opener's
 * lock. A claim raises the slot's incarnation: so a lock word that a dead process left is not taken for one of the
 * live process that has the slot now.
 *
 * A process whose state is unknown counts as alive. If a live owner is taken for dead, what it writes is
 * destroyed; if a dead owner is taken for alive, a call times out.
 */
#define _GNU_SOURCE
#include "proc/process.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/place.h"
#include "base/random.h"
#include "proc/bytelock.h"
#include "proc/lockfile.h"

#include <errno.h>
#include <unistd.h>

#define LIVED_MS 20
#define RESERVED_SLOTS 4u
#define MAX_COUNTS_SHIFT 20          /* a process counts less than 2^20 of anything in a millisecond */
#define CLOCK_SLACK_MS (3600 * 1000) /* the clock may have been set back */
#define MAX_ELAPSED_MS (1ll << 42)

uint32_t lard_process_owner_word(uint32_t slot, uint32_t incarnation) { return LARD_OWNER(slot, incarnation); }

/* True if the slot's process counts in these hints. */
static bool counts_here(const lard_map *map, uint32_t slot) {
    return (slot < __atomic_load_n(map->rows_reserved, __ATOMIC_RELAXED) || slot == map->slot) &&
           lard_load(&map->rows[slot].incarnation) == lard_load(&map->processes[slot].incarnation);
}

uint64_t lard_process_count(const lard_map *map, uint32_t slot, unsigned which, int64_t now_ms) {
    const lard_process *row = &map->processes[slot];
    uint64_t kept = lard_load(&row->counters[which]);
    if (!counts_here(map, slot)) {
        return kept;
    }
    uint64_t count = lard_load(&map->rows[slot].counters[which]);
    int64_t elapsed_ms = lard_clock_since(now_ms, (int64_t)lard_load(&row->counted_ms));
    elapsed_ms = elapsed_ms < MAX_ELAPSED_MS ? elapsed_ms : MAX_ELAPSED_MS;
    return count - kept < (uint64_t)(elapsed_ms + CLOCK_SLACK_MS) << MAX_COUNTS_SHIFT ? count : kept;
}

int64_t lard_process_counted_ms(const lard_map *map, uint32_t slot) {
    return counts_here(map, slot) ? INT64_MAX : (int64_t)lard_load(&map->processes[slot].counted_ms);
}

static void keep_counts_of(lard_map *map, uint32_t slot, int64_t now_ms) {
    lard_process *row = &map->processes[slot];
    lard_hints_row *live = &map->rows[slot];
    for (unsigned i = 0; i < LARD_COUNTERS; i++) {
        uint64_t count = lard_process_count(map, slot, i, now_ms);
        if (count != lard_load(&row->counters[i])) {
            lard_count_store(&row->counters[i], count);
        } else if (count != lard_load(&live->counters[i])) { /* the hints were overwritten */
            lard_count_store(&live->counters[i], count);
        }
    }
    if (!counts_here(map, slot)) {
        lard_store(&live->incarnation, lard_load(&row->incarnation));
    }
    lard_count_store(&row->counted_ms, (uint64_t)now_ms);
}

void lard_process_keep_counts(lard_core *cache, lard_map *map, int64_t now_ms) {
    __atomic_store_n(&cache->counted_ms, now_ms, __ATOMIC_RELAXED);
    keep_counts_of(map, map->slot, now_ms);
}

void lard_process_keep_all_counts(lard_map *map, int64_t now_ms) {
    for (uint32_t slot = 0; slot < map->super.process_slots; slot++) {
        if (lard_load(&map->processes[slot].incarnation) && counts_here(map, slot)) {
            keep_counts_of(map, slot, now_ms);
        }
    }
}

/* The incarnation of a slot's next owner. Those of a slot that was never used begin at a random number, so that
 * the number of a process in another file is seldom that of one in this file; that of this process in the file
 * that it had before never is. */
static uint32_t next_incarnation(const lard_core *cache, const lard_map *map, uint32_t slot, uint32_t random) {
    uint32_t last = lard_load(&map->processes[slot].incarnation), next = last ? last + 1 : random;
    uint32_t own = lard_process_owner_word(cache->slot, cache->incarnation);
    while (next == 0 || (cache->incarnation && lard_process_owner_word(slot, next) == own)) {
        next++;
    }
    return next;
}

void lard_process_begin(lard_map *map, const lard_process_claimed *claim) {
    lard_process *row = &map->processes[claim->slot];
    lard_hints_row *live = &map->rows[claim->slot];
    uint64_t former[LARD_COUNTERS];
    int64_t now_ms = lard_clock_ms();
    for (unsigned i = 0; i < LARD_COUNTERS; i++) {
        former[i] = lard_process_count(map, claim->slot, i, now_ms);
    }
    lard_store_release(&row->incarnation, claim->incarnation);
    lard_store(&row->pid, (uint32_t)getpid());
    for (int i = 0; i < LARD_COUNTERS; i++) {
        lard_store(&row->counters[i], 0);
        lard_store(&live->counters[i], 0);
        if (former[i]) {
            lard_add(&map->control->retired[i], former[i]);
        }
    }
    lard_store(&row->counted_ms, (uint64_t)now_ms);
    lard_store(&live->incarnation, claim->incarnation);
}

/* Does the handle already hold a slot of this lock file, from an earlier attachment? */
static bool holds_slot(const lard_core *cache, const lard_lockfile *file) {
    return lard_bytelock_is_ours(&cache->slot_lock) && cache->lock.inode == file->inode &&
           cache->lock.device == file->device;
}

static void choose(const lard_core *cache, const lard_map *map, uint32_t slot, uint32_t random,
                   lard_process_claimed *claim) {
    claim->slot = slot;
    claim->incarnation = next_incarnation(cache, map, slot, random);
}

uint32_t lard_process_room(const lard_map *map) {
    uint32_t slots = map->super.process_slots;
    return slots > RESERVED_SLOTS ? slots - RESERVED_SLOTS : slots;
}

/* Slots whose last owner has detached come first, then those whose owner died. */
larder_status lard_process_claim(const lard_core *cache, const lard_lockfile *file, const char *path,
                                 const lard_map *map, lard_process_claimed *claim) {
    bool stays = holds_slot(cache, file) && cache->slot < map->super.process_slots;
    uint32_t slots =
        __atomic_load_n(&cache->existing, __ATOMIC_ACQUIRE) ? map->super.process_slots : lard_process_room(map);
    uint64_t random[2];
    *claim = (lard_process_claimed){.lock = {.fd = -1}};
    int code = lard_random(random, sizeof random);
    if (code) {
        errno = code;
        return LARDER_SYSTEM;
    }
    claim->first_id = random[1];
    if (stays) { /* takes the same slot in another cache file: otherwise this process would hold two bytes */
        choose(cache, map, cache->slot, (uint32_t)random[0], claim);
        return LARDER_OK;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t slot = 0; slot < slots; slot++) {
            if ((lard_load(&map->processes[slot].pid) == 0) != (pass == 0) ||
                lard_bytelock_held(file, path, 1 + slot, 1) == 1) {
                continue;
            }
            code = lard_bytelock_take(file, path, 1 + slot, &claim->lock);
            if (code == 0) {
                choose(cache, map, slot, (uint32_t)random[0], claim);
                return LARDER_OK;
            }
            if (code != EAGAIN) {
                errno = code;
                return LARDER_SYSTEM;
            }
        }
    }
    return LARDER_NO_SLOT;
}

/* Other threads may be inside calls on the old map. So a map has its own lock file, slot and owner word. */
void lard_process_adopt(lard_core *cache, const lard_lockfile *file, lard_map *map, lard_process_claimed *claim) {
    if (claim->lock.held) {
        cache->slot_lock = claim->lock;
    }
    cache->lock = *file;
    map->lock = *file;
    map->slot = claim->slot;
    map->owner_word = lard_process_owner_word(claim->slot, claim->incarnation);
    __atomic_store_n(&cache->slot, claim->slot, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->incarnation, claim->incarnation, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->counters, map->rows[claim->slot].counters, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->next_value_id, claim->first_id, __ATOMIC_RELAXED);
}

void lard_process_release(lard_core *cache) {
    lard_map *map = cache->map;
    if (map && !map->poisoned) {
        lard_store(&map->processes[cache->slot].pid, 0);
    }
    lard_bytelock_drop(&cache->slot_lock, &cache->lock);
}

/* Are all these bytes free? 1, 0, or -1 and errno: unknown. An answer counts only if the lock of this process on
 * the byte `own` is seen too. */
static int is_free(const lard_lockfile *file, const char *path, uint32_t first, uint32_t bytes, uint32_t own) {
    int is_held = lard_bytelock_held(file, path, first, bytes);
    if (is_held == 0 && !lard_bytelock_is_posix(file)) {
        int sees_own = lard_bytelock_held(file, path, own, 1);
        errno = sees_own == 0 ? ESTALE : errno;
        is_held = sees_own == 1 ? lard_bytelock_held(file, path, first, bytes) : -1;
    }
    return is_held < 0 ? -1 : !is_held;
}

/* Under the opener's lock the result is exact: if no slot is held yet, that lock is the one that must be seen.
 * Otherwise it is a hint. */
int lard_process_is_alone(const lard_core *cache, const lard_lockfile *file, const char *path) {
    bool holds = holds_slot(cache, file);
    uint32_t byte = holds ? cache->slot_lock.byte : LARD_LOCKFILE_SLOTS + 1, own = holds ? byte : 0;
    int below = is_free(file, path, 1, byte - 1, own);
    return below == 1 && byte < LARD_LOCKFILE_SLOTS
               ? is_free(file, path, byte + 1, LARD_LOCKFILE_SLOTS - byte, own)
               : below;
}

bool lard_process_alive(const lard_core *cache, const lard_map *map, uint32_t owner_word) {
    char path[LARD_LOCK_PATH_MAX];
    uint32_t slot = LARD_OWNER_SLOT(owner_word);
    uint32_t incarnation = LARD_OWNER_INCARNATION(owner_word);
    if (slot >= map->super.process_slots ||
        (lard_load_acquire(&map->processes[slot].incarnation) & LARD_OWNER_INCARNATION_MASK) != incarnation) {
        return false;
    }
    if (slot == map->slot) {
        return true;
    }
    lard_lockfile_path(cache->path, path);
    return is_free(&map->lock, path, 1 + slot, 1, 1 + map->slot) != 1;
}

bool lard_process_lived(lard_core *cache, const lard_map *map, uint32_t owner_word) {
    uint64_t now = (uint64_t)lard_clock_monotonic_coarse_ms() / LIVED_MS;
    uint64_t found = now << 32 | owner_word;
    if (__atomic_load_n(&cache->lived, __ATOMIC_RELAXED) == found) {
        return true;
    }
    bool alive = lard_process_alive(cache, map, owner_word);
    if (alive) {
        __atomic_store_n(&cache->lived, found, __ATOMIC_RELAXED);
    }
    return alive;
}

bool lard_process_is_attached(const lard_core *cache, const lard_map *map, uint32_t slot) {
    uint32_t incarnation = lard_load(&map->processes[slot].incarnation);
    return incarnation && lard_process_alive(cache, map, lard_process_owner_word(slot, incarnation));
}

void lard_process_new_id(lard_core *cache, const lard_hash *hash, uint64_t id[2]) {
    id[0] = (uint64_t)__atomic_load_n(&cache->slot, __ATOMIC_RELAXED) << 32 |
            __atomic_load_n(&cache->incarnation, __ATOMIC_RELAXED);
    id[1] = (__atomic_add_fetch(&cache->next_value_id, 1, __ATOMIC_RELAXED) << 8 >> 8) |
            hash->full >> LARD_SHARD_SHIFT << LARD_SHARD_SHIFT;
}

uint32_t lard_process_owner_of(const uint64_t id[2]) {
    return lard_process_owner_word((uint32_t)(id[0] >> 32), (uint32_t)id[0]);
}
