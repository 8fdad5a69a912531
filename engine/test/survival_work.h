/*
 * survival_work.h — the work of survival_test.c's processes until they are killed, by the ledger's rules.
 *
 * They store, delete, swap, count, clear, fill and scan.
 */
#ifndef LARD_SURVIVAL_WORK_H
#define LARD_SURVIVAL_WORK_H

#include "ledger.h"

enum { WORKERS = OWNERS - 1 };

static bool roomy; /* nothing is evicted or cleared: a value that was acknowledged stays */

/* Other people's values: many, never looked after. They make the cache full and its index move. */
static inline void store_filler(larder *cache, uint64_t random) {
    static unsigned char value[4000];
    char name[32];
    int which = (int)(random % 3000);
    uint64_t stamp;
    larder_item item;
    size_t key = key_text(name, "filler", 0, which), bytes = 8 + random / 3000 % 2500;
    if (random >> 62) {
        describe(value, bytes, 900000 + (uint64_t)which, random);
        larder_store store = {.key = name, .key_bytes = key, .value = value, .value_bytes = bytes};
        larder_set(cache, &store, NULL);
    } else if (larder_get(cache, name, key, value, sizeof value, &item, NULL) == LARDER_OK &&
               (item.size_bytes < 8 || !describes(value, item.size_bytes, 900000 + (uint64_t)which, &stamp))) {
        wrong("%s: no value of this key", name);
    }
}

/* A writer that does nothing but write holds a lock most of the time: that is when it should be killed. */
static inline void burst(larder *cache, uint64_t random) {
    char name[32];
    int64_t number;
    size_t key = key_text(name, "burst", 0, (int)(random % 64));
    for (int i = 0; i < 1000 && roomy; i++) {
        larder_increment(cache, name, key, 1, 0, 0, &number, NULL);
    }
    for (int i = 0; i < 150 && !roomy; i++) {
        store_filler(cache, next_random(&random) | 1ull << 63);
    }
}

static inline void walk(larder *cache) {
    static char buffer[65536];
    uint64_t cursor = 0;
    size_t count, used;
    larder_status status;
    do { /* another status: there is no file for the moment */
        status = larder_scan(cache, &cursor, "key ", 4, buffer, sizeof buffer, &count, &used, NULL);
        if (status == LARDER_INVALID) {
            wrong("scan failed");
        }
    } while (cursor && status == LARDER_OK);
}

static inline void act(larder *cache, int me, uint64_t *state) {
    uint64_t random = next_random(state);
    int key = (int)((random >> 32) % KEYS), owner = (int)((random >> 40) % OWNERS);
    char name[32];
    switch (random % 32) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        store_own(cache, me, key);
        break;
    case 6:
    case 7:
        delete_own(cache, me, key);
        break;
    case 8:
        swap_own(cache, me, key);
        break;
    case 9:
    case 10:
        count_own(cache, me, key % COUNTERS);
        break;
    case 11:
        larder_touch(cache, name, key_text(name, "key", owner, key), 3600000, NULL);
        break;
    case 12:
    case 13:
        if (roomy) {
            count_shared(cache, key % SHARED);
        }
        break;
    case 14:
    case 15:
    case 16:
    case 17:
        if (!roomy) {
            store_filler(cache, next_random(state));
        }
        break;
    case 18:
        burst(cache, random);
        break;
    case 19:
        if (random >> 57 == 0) {
            walk(cache);
        } else if (!roomy && random >> 54 == 1023) {
            clear_all(cache);
        }
        break;
    case 20:
    case 21:
        look_up_counter(cache, owner, key % COUNTERS);
        break;
    case 22:
    case 23: { /* its own: what it was told is stored must be there, where there is room */
        ledger_row *row = &book->keys[me][key];
        if (row->begun == row->acked && row->present && !look_up(cache, me, key)) {
            ADD(book->lost, 1);
            NOTE(row->present, 0);
        }
        break;
    }
    default:
        look_up(cache, owner, key);
    }
}

/* The last worker only reads. Half of the workers open the cache themselves, half inherit the handle. */
static inline void work(larder *cache, int me, uint64_t seed) {
    uint64_t state = seed;
    if (seed & 1) {
        larder_close(cache);
        cache = open_cache(0);
        if (!cache) {
            wrong("worker %d cannot open", me);
            _exit(1);
        }
    }
    inherit(cache, me);
    for (uint64_t i = 1;; i++) {
        if (me == WORKERS - 1) {
            uint64_t random = next_random(&state);
            look_up(cache, (int)(random % OWNERS), (int)((random >> 20) % KEYS));
        } else {
            act(cache, me, &state);
        }
        ADD(book->beats[me], 1);
        if (i % 16 == 0) {
            sleep_us(60); /* leave some of the machine to others */
        }
    }
}

#endif
