/*
 * ledger.h — notes which process wrote which value when, in memory outside the cache.
 *
 * Every key has one owner. The owner notes the stamp of each operation before it begins and after it was
 * acknowledged; readers note both around a lookup. The value that a lookup finds must have been begun by the
 * lookup's end, and must not be older than the value acknowledged before its start. That detects lost updates,
 * deleted values that come back, and values of other keys, whichever process is killed.
 */
#ifndef LARD_LEDGER_H
#define LARD_LEDGER_H

#include "children.h"

enum { OWNERS = 5, KEYS = 24, COUNTERS = 3, SHARED = 8, LARGEST = 40000 };

typedef struct {
    uint64_t begun;    /* stamp (a counter: number) of the last operation begun */
    uint64_t acked;    /* of the last one acknowledged */
    uint64_t acked_at; /* the clock of stamps when it was */
    uint64_t present;  /* 1: it left a value */
} ledger_row;

typedef struct {
    uint64_t clock;   /* next stamp */
    uint64_t cleared; /* when the last acknowledged clear began */
    uint64_t wrong;
    char first[240];
    uint64_t found, missed, lost, refused;
    ledger_row keys[OWNERS][KEYS];
    ledger_row counters[OWNERS][COUNTERS];
    uint64_t shared_begun[SHARED], shared_acked[SHARED];
    uint64_t beats[OWNERS];
    uint64_t ops;
} ledger;

static ledger *book;

#include "book.h"

static inline size_t key_text(char out[32], const char *kind, int owner, int key) {
    return (size_t)snprintf(out, 32, "%s %d/%d", kind, owner, key);
}

static inline uint64_t key_number(int owner, int key) { return (uint64_t)owner * 1000 + (uint64_t)key; }

/* Values of a stamp have one length: mostly short, a few in chunks. */
static inline size_t value_bytes(uint64_t stamp) {
    uint64_t state = stamp;
    uint64_t random = next_random(&state);
    return random % 64 == 0 ? 9000 + random / 64 % (LARGEST - 9000)
           : random % 4     ? 8 + random / 64 % 200
                            : 8 + random / 64 % 3000;
}

/* One lookup of anyone's key, checked against the ledger. Returns the stamp found, or 0. */
static inline uint64_t look_up(larder *cache, int owner, int key) {
    static unsigned char buffer[LARGEST];
    char name[32];
    ledger_row *row = &book->keys[owner][key];
    uint64_t cleared = READ(book->cleared), acked = READ(row->acked), acked_at = READ(row->acked_at), stamp = 0;
    bool steady = READ(row->acked) == acked;
    larder_item item;
    larder_status status =
        larder_get(cache, name, key_text(name, "key", owner, key), buffer, sizeof buffer, &item, NULL);
    uint64_t begun = READ(row->begun);
    if (status == LARDER_MISS) {
        ADD(book->missed, 1);
        return 0;
    }
    if (status != LARDER_OK) {
        wrong("%s: get answers %s", name, larder_status_name(status));
        return 0;
    }
    if (item.size_bytes < 8 || !describes(buffer, item.size_bytes, key_number(owner, key), &stamp) ||
        item.size_bytes != value_bytes(stamp)) {
        wrong("%s: %zu bytes that are no value of this key", name, item.size_bytes);
    } else if (stamp > begun) {
        wrong("%s: stamp %llu was not begun (%llu)", name, (unsigned long long)stamp, (unsigned long long)begun);
    } else if (stamp < acked) {
        wrong("%s: stamp %llu is older than the acknowledged %llu", name, (unsigned long long)stamp,
              (unsigned long long)acked);
    } else if (steady && stamp == acked && acked_at < cleared) {
        wrong("%s: stamp %llu, acknowledged at %llu, outlived a clear at %llu", name, (unsigned long long)stamp,
              (unsigned long long)acked_at, (unsigned long long)cleared);
    }
    ADD(book->found, 1);
    return stamp;
}

static inline void acknowledge(ledger_row *row, uint64_t stamp, bool present) {
    NOTE(row->acked_at, ADD(book->clock, 1));
    NOTE(row->acked, stamp);
    NOTE(row->present, present);
}

static inline larder_status store_own(larder *cache, int owner, int key) {
    static unsigned char value[LARGEST];
    char name[32];
    ledger_row *row = &book->keys[owner][key];
    uint64_t stamp = ADD(book->clock, 1);
    size_t bytes = value_bytes(stamp);
    describe(value, bytes, key_number(owner, key), stamp);
    larder_store store = {
        .key = name, .key_bytes = key_text(name, "key", owner, key), .value = value, .value_bytes = bytes};
    NOTE(row->begun, stamp);
    larder_status status = larder_set(cache, &store, NULL);
    if (status == LARDER_OK) {
        acknowledge(row, stamp, true);
    } else { /* refused: neither this value nor the one before may be seen again */
        ADD(book->refused, 1);
        acknowledge(row, ADD(book->clock, 1), false);
    }
    return status;
}

static inline void delete_own(larder *cache, int owner, int key) {
    char name[32];
    ledger_row *row = &book->keys[owner][key];
    uint64_t stamp = ADD(book->clock, 1);
    NOTE(row->begun, stamp);
    larder_status status = larder_delete(cache, name, key_text(name, "key", owner, key), NULL);
    if (status != LARDER_OK && status != LARDER_MISS) {
        wrong("%s: delete answers %s", name, larder_status_name(status));
    }
    acknowledge(row, stamp, false);
}

static inline void swap_own(larder *cache, int owner, int key) {
    static unsigned char value[LARGEST], expected[LARGEST];
    char name[32];
    ledger_row *row = &book->keys[owner][key];
    if (!row->present || row->begun != row->acked) {
        return; /* it is not known what to expect */
    }
    uint64_t stamp = ADD(book->clock, 1);
    describe(value, value_bytes(stamp), key_number(owner, key), stamp);
    describe(expected, value_bytes(row->acked), key_number(owner, key), row->acked);
    larder_store store = {.key = name,
                          .key_bytes = key_text(name, "key", owner, key),
                          .value = value,
                          .value_bytes = value_bytes(stamp),
                          .expected_expires_at_ms = LARDER_ANY_EXPIRY};
    NOTE(row->begun, stamp);
    larder_status status = larder_cas(cache, &store, expected, value_bytes(row->acked), NULL);
    if (status == LARDER_OK) {
        acknowledge(row, stamp, true);
    } else if (status == LARDER_MISS) {
        NOTE(row->present, 0);
    } else if (status == LARDER_NOT_STORED) {
        wrong("%s: compare-and-swap met another value than its owner's", name);
    } else { /* refused: nothing was changed */
        ADD(book->refused, 1);
        NOTE(row->begun, row->acked);
    }
}

/* A counter that is gone begins again where its owner knows it to be. */
static inline void count_own(larder *cache, int owner, int key) {
    char name[32];
    ledger_row *row = &book->counters[owner][key];
    uint64_t most = (row->begun > row->acked ? row->begun : row->acked) + 1;
    int64_t number;
    NOTE(row->begun, most);
    larder_status status = larder_increment(cache, name, key_text(name, "count", owner, key), 1,
                                            (int64_t)row->acked, 0, &number, NULL);
    if (status == LARDER_OK) {
        if ((uint64_t)number <= row->acked || (uint64_t)number > most) {
            wrong("%s: %lld after %llu", name, (long long)number, (unsigned long long)row->acked);
        }
        NOTE(row->acked, (uint64_t)number);
    } else {
        ADD(book->refused, 1);
    }
}

static inline void look_up_counter(larder *cache, int owner, int key) {
    char name[32], text[32];
    ledger_row *row = &book->counters[owner][key];
    uint64_t acked = READ(row->acked);
    larder_item item;
    int64_t number = -1;
    larder_status status =
        larder_get(cache, name, key_text(name, "count", owner, key), text, sizeof text, &item, NULL);
    uint64_t begun = READ(row->begun);
    if (status == LARDER_OK && (!lard_counter_parse(text, item.size_bytes, &number) || (uint64_t)number < acked ||
                                (uint64_t)number > begun)) {
        wrong("%s: %lld, between %llu and %llu", name, (long long)number, (unsigned long long)acked,
              (unsigned long long)begun);
    }
}

/* Counters that everyone adds to. Only where nothing is evicted: an evicted one begins at 0 again. */
static inline void count_shared(larder *cache, int key) {
    char name[32];
    int64_t number;
    ADD(book->shared_begun[key], 1);
    if (larder_increment(cache, name, key_text(name, "shared", 0, key), 1, 0, 0, &number, NULL) == LARDER_OK) {
        ADD(book->shared_acked[key], 1);
    } else {
        ADD(book->shared_begun[key], -1);
    }
}

static inline void clear_all(larder *cache) {
    uint64_t begun = ADD(book->clock, 1);
    if (larder_clear(cache) != LARDER_OK) {
        wrong("clear failed");
    }
    uint64_t cleared = READ(book->cleared);
    while (cleared < begun && !__atomic_compare_exchange_n(&book->cleared, &cleared, begun, false,
                                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

/* A new owner after a dead one: what it finds is what its predecessor came to. */
static inline void inherit(larder *cache, int owner) {
    for (int key = 0; key < KEYS; key++) {
        ledger_row *row = &book->keys[owner][key];
        uint64_t stamp = row->begun == row->acked ? 0 : look_up(cache, owner, key);
        if (stamp && stamp != row->acked) {
            acknowledge(row, stamp, true);
        }
    }
}

#endif
