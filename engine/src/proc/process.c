/*
 * process.c — process slots: who is attached, and who is alive.
 *
 * Each attached process holds byte 1 + slot of the lock file (bytelock.c); slots are claimed
 * under the opener's lock. A claim raises the slot's incarnation, so that a lock word
 * left by a dead process is not taken for one of the living process that has its
 * slot now.
 *
 * Whoever cannot be asked about is alive: taking a living owner for dead destroys what it
 * writes, the other way round costs a timeout.
 */
#define _GNU_SOURCE
#include "proc/process.h"
#include "base/place.h"
#include "proc/bytelock.h"
#include "proc/lockfile.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#define INCARNATION_MASK 0x7ffffu
#define MOST_SLOTS 4096u

uint32_t lard_process_owner_word(uint32_t slot, uint32_t incarnation) {
    return (slot + 1) | (incarnation & INCARNATION_MASK) << 12;
}

static void begin_incarnation(lard_map *map, uint32_t slot, lard_process_claimed *claim) {
    lard_process *row = &map->processes[slot];
    claim->slot = slot;
    claim->incarnation = lard_load(&row->incarnation) + 1;
    lard_store_release(&row->incarnation, claim->incarnation);
    lard_store(&row->pid, (uint32_t)getpid());
    for (int i = 0; i < LARD_COUNTERS; i++) {
        uint64_t count = lard_load(&row->counters[i]);
        if (count) {
            lard_store(&row->counters[i], 0);
            lard_add(&map->control->retired[i], count);
        }
    }
}

/* In this lock file, from an attachment before. */
static bool holds_slot(const larder *cache, const lard_lockfile *file) {
    return lard_bytelock_is_ours(&cache->slot_lock) && cache->lock.inode == file->inode &&
           cache->lock.device == file->device;
}

/* Slots whose last owner left properly come first, then those whose owner died. */
larder_status lard_process_claim(const larder *cache, const lard_lockfile *file, const char *path, lard_map *map,
                                 lard_process_claimed *claim) {
    bool stays = holds_slot(cache, file) && cache->slot < map->super.process_slots;
    *claim = (lard_process_claimed){.lock = {.fd = -1}};
    if (stays) { /* in another file the same slot, which this process would hold beside a new one */
        begin_incarnation(map, cache->slot, claim);
        return LARDER_OK;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t slot = 0; slot < map->super.process_slots; slot++) {
            if ((lard_load(&map->processes[slot].pid) == 0) != (pass == 0) ||
                lard_bytelock_held(file, path, 1 + slot, 1) == 1) {
                continue;
            }
            int code = lard_bytelock_take(file, path, 1 + slot, &claim->lock);
            if (code == 0) {
                begin_incarnation(map, slot, claim);
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

/* Other threads may be inside calls on the map that this process leaves: what they ask about is in that map. */
void lard_process_adopt(larder *cache, const lard_lockfile *file, lard_map *map, lard_process_claimed *claim) {
    if (claim->lock.held) {
        cache->slot_lock = claim->lock;
    }
    cache->lock = *file;
    map->lock = *file;
    map->slot = claim->slot;
    map->owner_word = lard_process_owner_word(claim->slot, claim->incarnation);
    __atomic_store_n(&cache->slot, claim->slot, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->incarnation, claim->incarnation, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->counters, map->processes[claim->slot].counters, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->next_value_id, 0, __ATOMIC_RELAXED);
}

void lard_process_release(larder *cache) {
    lard_map *map = cache->map;
    if (map && !map->poisoned) {
        lard_store(&map->processes[cache->slot].pid, 0);
    }
    lard_bytelock_drop(&cache->slot_lock, &cache->lock);
}

/* Does nobody hold one of these bytes? An answer counts only from a descriptor that sees the byte `own`, which
 * this process holds. 1, 0, or -1: it cannot be told. */
static int is_free(const lard_lockfile *file, const char *path, uint32_t first, uint32_t bytes, uint32_t own) {
    int is_held = lard_bytelock_held(file, path, first, bytes);
    if (is_held == 0 && !lard_bytelock_is_posix(file)) {
        is_held = lard_bytelock_held(file, path, own, 1) == 1 ? lard_bytelock_held(file, path, first, bytes) : -1;
    }
    return is_held < 0 ? -1 : !is_held;
}

/* Asked under the opener's lock, which is the witness where no slot is held yet; else a hint. */
int lard_process_is_alone(const larder *cache, const lard_lockfile *file, const char *path) {
    bool holds = holds_slot(cache, file);
    uint32_t own = holds ? cache->slot_lock.byte : MOST_SLOTS + 1, witness = holds ? own : 0;
    int below = is_free(file, path, 1, own - 1, witness);
    return below == 1 && own < MOST_SLOTS ? is_free(file, path, own + 1, MOST_SLOTS - own, witness) : below;
}

bool lard_process_alive(const larder *cache, const lard_map *map, uint32_t owner_word) {
    char path[LARD_LOCK_PATH_MAX];
    uint32_t slot = (owner_word & 0xfff) - 1;
    uint32_t incarnation = owner_word >> 12 & INCARNATION_MASK;
    if (slot >= map->super.process_slots ||
        (lard_load_acquire(&map->processes[slot].incarnation) & INCARNATION_MASK) != incarnation) {
        return false;
    }
    if (slot == map->slot) {
        return true;
    }
    lard_lockfile_path(cache->path, path);
    return is_free(&map->lock, path, 1 + slot, 1, 1 + map->slot) != 1;
}
