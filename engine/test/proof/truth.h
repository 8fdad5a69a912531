/*
 * truth.h — what was done to the cache, in memory that the cache has no part in,
 * and so which values may be found after a crash at any moment.
 */
#ifndef LARD_PROOF_TRUTH_H
#define LARD_PROOF_TRUTH_H

#include "disk.h"

enum { KEYS = 44, FIRST_COUNTER = 36, OPERATIONS = 16384, LARGEST = 30000, KEPT = 64 };

typedef struct { /* one operation on one key; stamp 0: it is gone */
    uint32_t begin, end;
    int key;
    uint64_t stamp;
} operation;

typedef struct { /* from a clean close to the next use: all must be there */
    uint32_t from, until;
    bool present[KEYS];
} kept;

typedef struct {
    uint32_t count, kept_count;
    uint64_t stamps;
    uint64_t state; /* of the random numbers of the session */
    bool keeping;
    kept kept[KEPT];
    operation operations[OPERATIONS];
} truth;

static truth *book;

static inline const char *key_name(int key) {
    static char name[24];
    snprintf(name, sizeof name, key < FIRST_COUNTER ? "key %d" : "counter %d", key);
    return name;
}

static inline size_t length_of_stamp(uint64_t stamp) { /* every ninth is a large value, of several records */
    uint64_t state = stamp, random = next_random(&state);
    return stamp % 9 == 0 ? 9000 + random % (LARGEST - 9000) : 8 + random % 900;
}

static inline operation *begin_operation(int key, uint64_t stamp) {
    operation *op = &book->operations[book->count];
    disk_look();
    *op = (operation){.begin = disk_now(), .end = UINT32_MAX, .key = key, .stamp = stamp};
    if (++book->count >= OPERATIONS) {
        fprintf(stderr, "too many operations\n");
        abort();
    }
    return op;
}

static inline void end_operation(operation *op) {
    disk_look();
    op->end = disk_now();
}

/* Both a refused store and a delete leave nothing behind; one that could not reach the file says nothing. */
static inline void settle(operation *op, larder_status status) {
    if (status == LARDER_DAMAGED || status == LARDER_SUPERSEDED || status == LARDER_SYSTEM) {
        return;
    }
    if (status != LARDER_OK) {
        op->stamp = 0;
    }
    end_operation(op);
}

static inline void store_one(larder *cache, int key) {
    static unsigned char value[LARGEST];
    uint64_t stamp = ++book->stamps;
    size_t bytes = length_of_stamp(stamp);
    describe(value, bytes, (uint64_t)key, stamp);
    operation *op = begin_operation(key, stamp);
    settle(op, set_bytes(cache, key_name(key), value, bytes, 0));
}

static inline void delete_one(larder *cache, int key) {
    operation *op = begin_operation(key, 0);
    settle(op, larder_delete(cache, key_name(key), strlen(key_name(key)), NULL));
}

/* A counter begins at a number of its own each time, so that an old one is known; the file may change meanwhile.
 */
static inline void count_one(larder *cache, int key) {
    int64_t number = 0, initial = (int64_t)(++book->stamps << 20);
    larder_item item;
    char text[24] = "";
    size_t bytes = strlen(key_name(key));
    bool present = larder_get(cache, key_name(key), bytes, text, sizeof text - 1, &item, NULL) == LARDER_OK;
    begin_operation(key, (uint64_t)initial + 1);
    operation *op = begin_operation(key, present ? strtoull(text, NULL, 10) + 1 : (uint64_t)initial + 1);
    larder_status status = larder_increment(cache, key_name(key), bytes, 1, initial, 0, &number, NULL);
    if (status == LARDER_OK && (uint64_t)number != op->stamp && number != initial + 1) {
        fprintf(stderr, "%s: %lld\n", key_name(key), (long long)number);
        abort();
    }
    if (status == LARDER_OK) {
        op->stamp = (uint64_t)number;
        end_operation(op);
    }
}

static inline void clear_all_keys(larder *cache) {
    uint32_t first = book->count;
    for (int key = 0; key < KEYS; key++) {
        begin_operation(key, 0);
    }
    if (larder_clear(cache) == LARDER_OK) {
        disk_look();
        for (int key = 0; key < KEYS; key++) {
            book->operations[first + (uint32_t)key].end = disk_now();
        }
    }
}

/* What a get finds: 0 for a miss, a stamp, or UINT64_MAX for what is no value of this key. */
static inline uint64_t stamp_of(larder *cache, int key) {
    static unsigned char value[LARGEST];
    larder_item item;
    uint64_t stamp;
    larder_status status =
        larder_get(cache, key_name(key), strlen(key_name(key)), value, sizeof value - 1, &item, NULL);
    if (status == LARDER_MISS) {
        return 0;
    }
    if (status != LARDER_OK || item.size_bytes < 1) {
        return UINT64_MAX;
    }
    if (key >= FIRST_COUNTER) {
        value[item.size_bytes] = '\0';
        return strtoull((char *)value, NULL, 10);
    }
    return item.size_bytes >= 8 && describes(value, item.size_bytes, (uint64_t)key, &stamp) &&
                   item.size_bytes == length_of_stamp(stamp)
               ? stamp
               : UINT64_MAX;
}

/* May the key have this stamp after a crash at a time? What was done last counts, and what was under way. */
static inline bool may_be(int key, uint64_t stamp, uint32_t at) {
    uint64_t settled = 0;
    bool under_way = false;
    for (uint32_t i = 0; i < book->count && book->operations[i].begin <= at; i++) {
        const operation *op = &book->operations[i];
        if (op->key == key) {
            under_way = op->end <= at ? false : under_way || op->stamp == stamp;
            settled = op->end <= at ? op->stamp : settled;
        }
    }
    return stamp == 0 || stamp == settled || under_way;
}

/* The window of a clean close that holds at a time, or NULL. */
static inline const kept *kept_at(uint32_t at) {
    for (uint32_t i = 0; i < book->kept_count; i++) {
        if (book->kept[i].from <= at && at <= book->kept[i].until) {
            return &book->kept[i];
        }
    }
    return NULL;
}

static inline void keeping_begins(const bool present[KEYS]) {
    kept *window = &book->kept[book->kept_count++ % KEPT];
    memcpy(window->present, present, sizeof window->present);
    window->from = disk_now();
    window->until = UINT32_MAX;
    book->keeping = true;
}

static inline void keeping_ends(void) {
    if (book->keeping) {
        book->kept[(book->kept_count - 1) % KEPT].until = disk_now();
        book->keeping = false;
    }
}

/* After a crash: what may be there is where the next session begins. */
static inline void carry_over(uint32_t at) {
    uint32_t count = book->count, next = 0;
    for (uint32_t i = 0; i < count; i++) {
        operation op = book->operations[i];
        if (op.begin > at) {
            continue;
        }
        op.end = op.end <= at ? 0 : UINT32_MAX;
        op.begin = 0;
        book->operations[next++] = op;
    }
    book->count = next;
    book->kept_count = 0;
    book->keeping = false;
}

#endif
