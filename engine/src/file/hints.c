/*
 * hints.c — maps the memory of what is only advice: the file in /dev/shm that processes share (hints_file.c), or
 * anonymous memory, shared only between a process and the children that it forks.
 *
 * Reserving all hints would take most of the time of opening a file that no process has open. So a process
 * reserves the rows up to its own, and the hints of a shard when it first uses the shard.
 *
 * The words of reads grow with the index. A process that finds them too few reserves the memory for more in each
 * shard, and then publishes their number in the header. That needs no lock: what two processes reserve is reserved
 * once, the number is published by a compare-and-swap, and a process that still uses the old number only reads
 * other advice. Where memory is short, buckets go on sharing words.
 */
#define _GNU_SOURCE
#include "file/hints.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/page.h"
#include "base/reads.h"
#include "file/hints_file.h"
#include "file/sigbus.h"
#include "file/view.h"
#include "proc/fork.h"

#include <errno.h>
#include <sys/mman.h>

/* The index may take this part of a shard before its buckets share words: more than that of records of a hundred
 * bytes takes. */
#define INDEX_PART 8
#define CACHE_LINE_WORDS 32u
#define MAX_AT_ONCE (1u << 20) /* bytes that one call adds: less than a millisecond's work */
#define MIN_WORDS 2048u        /* 4 KiB: a part of a shard that is always in use */
#define CHECK_MS 1000          /* between looks whether there is memory for hints of more shards */

_Static_assert(sizeof(lard_hints_row) == 256 && sizeof(lard_shard_hints) % 64 == 0, "hints layout");

/* Computes where the parts are, and how long all are. */
static void plan(lard_map *map, const lard_superblock *super) {
    uint64_t buckets =
        (uint64_t)super->segments_per_shard * super->segment_bytes / sizeof(lard_bucket) / INDEX_PART;
    uint32_t young = (super->segments_per_shard + 31) / 32 * 4, dead = super->segments_per_shard * 4;
    map->reads_most = CACHE_LINE_WORDS;
    while (map->reads_most < buckets) {
        map->reads_most *= 2;
    }
    map->reads_least = map->reads_most < MIN_WORDS ? map->reads_most : MIN_WORDS;
    map->reads_mask = map->reads_least - 1;
    map->other_shards = super->shard_count < LARD_OTHERS ? super->shard_count : LARD_OTHERS;
    map->segment_hints = (young + dead + 63) / 64 * 64;
    map->young_hints = young;
    map->hints_bytes = lard_hints_file_shard(map, super->shard_count);
}

uint64_t lard_hints_least_bytes(const lard_superblock *super) {
    lard_map map = {.super = *super};
    plan(&map, super);
    return lard_hints_file_bytes(&map, map.reads_least);
}

static lard_hints_header *header_of(const lard_map *map) { return (lard_hints_header *)map->hints; }

static uint32_t words_in_use(const lard_map *map) {
    return __atomic_load_n(&map->reads_mask, __ATOMIC_RELAXED) + 1;
}

uint64_t lard_hints_bytes(const lard_map *map) { return lard_hints_file_bytes(map, words_in_use(map)); }

void lard_hints_follow(lard_map *map) {
    uint64_t sealed = __atomic_load_n(&header_of(map)->words, __ATOMIC_ACQUIRE);
    uint32_t words = lard_hints_file_words(map, sealed), mine = words_in_use(map);
    if (words > mine) {
        __atomic_store_n(&map->reads_mask, words - 1, __ATOMIC_RELAXED);
    } else if (words == 0) { /* it was overwritten */
        __atomic_store_n(&header_of(map)->words, lard_hints_file_sealed(mine), __ATOMIC_RELAXED);
    }
}

/* Maps memory of this process, and of the children that it forks, over a part that cannot be reserved. */
static bool map_over(uint8_t *part, uint64_t bytes) {
    int flags = MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS;
    return mmap(part, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
}

void lard_hints_take_row(lard_map *map, uint32_t slot) {
    uint64_t has = __atomic_load_n(map->rows_reserved, __ATOMIC_RELAXED);
    if (slot < has) {
        return;
    }
    uint64_t from = (uint64_t)((uint8_t *)&map->rows[has] - map->hints),
             end = (uint64_t)((uint8_t *)&map->rows[slot + 1] - map->hints);
    if (lard_hints_file_reserve(map, map->hints, from, end - from)) {
        __atomic_store_n(map->rows_reserved, lard_hints_file_rows(map, slot), __ATOMIC_RELAXED);
    } else { /* no reserved row is on that page */
        uint64_t page = lard_page_bytes();
        map_over(map->hints + (end - 1) / page * page, page);
    }
}

/* ---- shards ---- */

/* The hints of a shard in memory where its part begins. */
static lard_shard_hints *hints_in(const lard_map *map, uint8_t *part, uint32_t shard) {
    return (lard_shard_hints *)(part + lard_hints_file_others(map, shard) + map->segment_hints);
}

static uint8_t *part_of(const lard_map *map, uint32_t shard) {
    return map->hints + lard_hints_file_shard(map, shard);
}

static lard_shard_hints *own_hints(const lard_map *map, uint32_t shard) {
    return hints_in(map, part_of(map, shard), shard);
}

static uint64_t part_bytes(const lard_map *map, uint32_t shard) {
    return lard_hints_file_shard(map, shard + 1) - lard_hints_file_shard(map, shard);
}

static bool has_taken(const lard_map *map, uint32_t shard) {
    return lard_reads_hints(&map->dircache[shard]) != map->spare;
}

/* The control groups may have less memory left than when the file was opened. A positive answer is
 * believed for a while, because to ask takes longer than to reserve a shard's hints. */
static bool has_memory(lard_map *map) {
    int64_t now_ms = lard_clock_monotonic_coarse_ms(),
            checked_ms = __atomic_load_n(&map->hints_checked_ms, __ATOMIC_RELAXED);
    if (!lard_clock_is_due(now_ms, checked_ms + CHECK_MS, CHECK_MS)) {
        return true;
    }
    uint64_t bytes = 0;
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        bytes += has_taken(map, shard) ? 0 : lard_hints_file_shard_bytes(map, words_in_use(map), shard);
    }
    bool has = lard_hints_file_has_memory(map, bytes);
    if (has) {
        __atomic_store_n(&map->hints_checked_ms, now_ms, __ATOMIC_RELAXED);
    }
    return has;
}

void lard_hints_take(lard_map *map, uint32_t shard) {
    if (has_taken(map, shard)) {
        return;
    }
    uint8_t *part = part_of(map, shard);
    uint64_t used = lard_hints_file_shard_bytes(map, words_in_use(map), shard);
    if ((has_memory(map) && lard_hints_file_reserve(map, map->hints, lard_hints_file_shard(map, shard), used)) ||
        map_over(part, part_bytes(map, shard))) {
        __atomic_store_n(&map->dircache[shard].hints, own_hints(map, shard), __ATOMIC_RELEASE);
    }
}

/* ---- growth ---- */

/* The words with which each bucket of the index has one. The shards have much the same number of buckets, so it
 * looks at the first. */
static uint32_t words_for_index(lard_map *map, uint32_t words) {
    lard_view view = lard_view_of(map, 0);
    uint32_t buckets = lard_load(&view.header->bucket_count);
    while (words / 4 * 3 < buckets && words < map->reads_most) {
        words *= 2;
    }
    return words;
}

/* Twice the words, or more, if there are too few and there is memory. 0: no more. */
static uint32_t wanted_words(lard_map *map, uint32_t words) {
    uint32_t wanted = words_for_index(map, words);
    wanted = wanted > words ? lard_hints_file_affordable(map, wanted, lard_hints_file_bytes(map, words)) : 0;
    return wanted > words ? wanted : 0;
}

/* Buckets that shared a word have its counts from now on. */
static void copy_words(uint16_t *reads, uint32_t words, uint32_t wanted) {
    for (uint32_t i = words; i < wanted; i++) {
        uint16_t counts = __atomic_load_n(&reads[i & (words - 1)], __ATOMIC_RELAXED);
        __atomic_store_n(&reads[i], counts, __ATOMIC_RELAXED);
    }
}

/* Adds words to one shard, and publishes them when every shard has them. The number of bytes added; 0: there is
 * nothing to do, or not enough memory. The fork lock is held. */
static uint64_t grow(lard_map *map) {
    uint32_t words = words_in_use(map), wanted = (uint32_t)(map->reads_growing >> 32);
    uint32_t shard = wanted > words ? (uint32_t)map->reads_growing : 0;
    wanted = wanted > words ? wanted : wanted_words(map, words);
    if (wanted == 0) {
        return 0;
    }
    uint16_t *reads = own_hints(map, shard)->reads;
    uint64_t bytes = (wanted - words) * sizeof *reads;
    if (!lard_hints_file_reserve(map, map->hints, lard_hints_file_shard(map, shard),
                                 lard_hints_file_shard_bytes(map, wanted, shard))) {
        map->reads_growing = 0;
        return 0;
    }
    copy_words(reads, words, wanted);
    bool is_last = shard + 1 == map->super.shard_count;
    map->reads_growing = is_last ? 0 : (uint64_t)wanted << 32 | (shard + 1);
    if (is_last) {
        uint64_t before = lard_hints_file_sealed(words);
        __atomic_compare_exchange_n(&header_of(map)->words, &before, lard_hints_file_sealed(wanted), false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
        lard_hints_follow(map);
    }
    return is_last && words_in_use(map) == words ? 0 : bytes; /* 0: the header was overwritten in between */
}

void lard_hints_keep_up(lard_map *map) {
    lard_fork_lock();
    lard_hints_follow(map);
    for (uint64_t done = 0, more = 1; done < MAX_AT_ONCE && more; done += more) {
        more = grow(map);
    }
    lard_fork_unlock();
}

/* ---- mapping ---- */

/* Memory that takes nothing before it is used. */
static uint8_t *map_anonymous(uint64_t bytes, int kind) {
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
}

/* Maps the hints of the file's owner in /dev/shm, and the spare ones. */
static uint8_t *map_shared(lard_map *map, uid_t owner) {
    map->has_shared_hints = true;
    uint8_t *spare = map_anonymous(part_bytes(map, 0), MAP_PRIVATE), *base = MAP_FAILED;
    if (spare != MAP_FAILED) {
        base = lard_hints_file_map(map, owner, words_for_index(map, map->reads_least));
        map->spare = hints_in(map, spare, 0);
        map->hints_checked_ms = lard_clock_monotonic_coarse_ms();
    }
    map->has_shared_hints = base != MAP_FAILED;
    return base;
}

/* The hints of this process and the children that it forks. */
static uint8_t *map_private(lard_map *map) {
    uint8_t *base = map_anonymous(map->hints_bytes, MAP_SHARED);
    if (base != MAP_FAILED) {
        uint32_t words = lard_hints_file_affordable(map, words_for_index(map, map->reads_least), 0);
        *(lard_hints_header *)base =
            lard_hints_file_header(map, words ? words : map->reads_least, map->super.process_slots);
    }
    return base;
}

larder_status lard_hints_open(lard_map *map, uid_t owner, const char *path, larder_error *error) {
    plan(map, &map->super);
    lard_fork_lock(); /* no child has half of it */
    uint8_t *base = map_shared(map, owner);
    base = base != MAP_FAILED ? base : map_private(map);
    larder_status status = base == MAP_FAILED ? lard_fail(error, LARDER_NO_MEMORY, errno, "%s", path) : LARDER_OK;
    if (status == LARDER_OK) {
        map->hints = base;
        map->rows = (lard_hints_row *)(base + sizeof(lard_hints_header));
        map->rows_reserved = &header_of(map)->rows;
        for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
            map->dircache[shard].hints = map->has_shared_hints ? map->spare : own_hints(map, shard);
        }
        if (map->has_shared_hints) {
            status = lard_sigbus_guard(map, base, map->hints_bytes, path, error);
        }
    }
    if (status == LARDER_OK) {
        lard_hints_follow(map);
    }
    lard_fork_unlock();
    return status;
}

void lard_hints_close(lard_map *map) {
    if (map->spare) {
        munmap((uint8_t *)map->spare - map->segment_hints - lard_hints_file_others(map, 0), part_bytes(map, 0));
    }
    if (!map->hints) {
        return;
    }
    munmap(map->hints, map->hints_bytes);
    if (map->has_shared_hints) {
        lard_hints_file_remove_unused(map);
    }
}
