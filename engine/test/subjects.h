/*
 * subjects.h — what every key of a cache must hold, whichever process was killed at whichever store.
 *
 * Bystanders are keys that no operation changes. Subjects are keys that operations change in turn. After a check
 * has seen what a subject holds after a kill, the subject must hold that for ever, or nothing if the operation
 * evicts others. So an old value that comes back later is detected: after other kills, repairs, growth, eviction
 * or a new attachment.
 *
 * All notes are in memory outside the cache, which the processes of a test share.
 */
#ifndef LARD_SUBJECTS_H
#define LARD_SUBJECTS_H

#include "children.h"

#include <stdarg.h>

enum {
    BYSTANDERS = 200,
    BYSTANDER_BYTES = 40,
    RING = 40,
    LONG = 11000, /* of a record that is written by pwrite(2), in a file of 16 MiB */
    LARGE = 20000,
    LARGEST_SUBJECT = 60000,
    MOST_DELETES = 2
};

typedef enum {
    NOTHING,
    OLD,
    NEW,
    THIRD,
    NUMBER,
    NEXT,
    OLD_LARGE,
    NEW_LARGE,
    HUGE_ONE,
    EXPIRED,
    OLD_LONG,
    NEW_LONG
} content_kind;

typedef struct {
    content_kind kind;
    unsigned long round; /* part of the value, so that one of an earlier round is told apart */
} content;

typedef struct {
    content subjects[RING];
    bool gone[BYSTANDERS];
    bool may_leave; /* others may be made to leave: a miss is right, and what is gone stays gone */
    unsigned ring;
    unsigned long round;
    uint64_t repairs_seen;
    int64_t uncounted; /* deaths since */
    int64_t in_a_row;  /* deaths of this round, where there are several */
    char wrong[300];   /* what did not hold, first */
} ledger;

static ledger *book;

__attribute__((format(printf, 1, 2))) static inline bool is_wrong(const char *format, ...) {
    if (!book->wrong[0]) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(book->wrong, sizeof book->wrong, format, arguments);
        va_end(arguments);
    }
    return false;
}

static inline size_t bytes_of(content_kind kind, size_t least) {
    return kind == HUGE_ONE                         ? LARGEST_SUBJECT
           : kind == OLD_LARGE || kind == NEW_LARGE ? LARGE
           : kind == OLD_LONG || kind == NEW_LONG   ? LONG
                                                    : least;
}

/* What a subject of this content reads as; NULL: a miss. */
static inline const char *text_of(content c) {
    static char texts[2][LARGEST_SUBJECT + 1];
    static unsigned turn;
    static const char *const names[] = {"", "old", "new", "third", "", "", "old", "new", "huge", "", "old", "new"};
    char *text = texts[turn++ % 2];
    if (c.kind == NOTHING || c.kind == EXPIRED) {
        return NULL;
    }
    if (c.kind == NUMBER || c.kind == NEXT) {
        snprintf(text, 32, "%lu", c.round * 10 + (c.kind == NEXT));
        return text;
    }
    size_t used = (size_t)snprintf(text, 64, "%s %lu", names[c.kind], c.round), bytes = bytes_of(c.kind, used);
    memset(text + used, 'a' + (int)(c.round % 26), bytes - used);
    text[bytes] = '\0';
    return text;
}

static inline const char *subject_key(unsigned i) {
    static char keys[4][32];
    static unsigned turn;
    char *key = keys[turn++ % 4];
    snprintf(key, sizeof keys[0], "subject %u", i);
    return key;
}

static inline unsigned current(void) { return (unsigned)(book->round % book->ring); }

static inline larder_status set_at(larder *cache, const char *key, const char *value, int64_t ttl_ms,
                                   larder_mode mode, int64_t now_ms) {
    larder_call call = {.now_ms = now_ms};
    larder_store store = {.key = key,
                          .key_bytes = strlen(key),
                          .value = value,
                          .value_bytes = strlen(value),
                          .ttl_ms = ttl_ms,
                          .mode = (uint8_t)mode};
    return larder_set(cache, &store, &call);
}

/* Gives the current subject a content; true where the cache took it. */
static inline bool put(larder *cache, content c) {
    const char *key = subject_key(current());
    int64_t long_ago = lard_clock_ms() - 1000000;
    int64_t number = (int64_t)c.round * 10, sum;
    larder_delete(cache, key, strlen(key), NULL);
    book->subjects[current()] = c;
    switch (c.kind) {
    case NOTHING:
        return true;
    case EXPIRED:
        return set_at(cache, key, "expired", 1, LARDER_SET, long_ago) == LARDER_OK;
    case NUMBER:
        return larder_increment(cache, key, strlen(key), 0, number, 0, &sum, NULL) == LARDER_OK;
    default:
        return set(cache, key, text_of(c)) == LARDER_OK;
    }
}

static inline bool holds(larder *cache, const char *key, content c) { return is(cache, key, text_of(c)); }

/* The subject that an operation was on: which of two contents, or nothing, it holds; noted for all time. */
static inline bool settle_subject(larder *cache, content before, content after, bool may_miss) {
    const char *key = subject_key(current());
    content choices[3] = {before, after, {NOTHING, 0}};
    may_miss |= book->may_leave || !text_of(before) || !text_of(after);
    for (int i = 0; i < 2 + may_miss; i++) {
        if (holds(cache, key, choices[i])) {
            book->subjects[current()] = choices[i];
            return true;
        }
    }
    const char *have = get(cache, key);
    return is_wrong("round %lu: %s holds '%.24s', neither what it held nor what it was given", book->round, key,
                    have ? have : "(a miss)");
}

/* All other subjects, and the current one too where it was settled. */
static inline bool subjects_stand(larder *cache, bool current_too) {
    for (unsigned i = 0; i < book->ring; i++) {
        if (i == current() && !current_too) {
            continue;
        }
        content *want = &book->subjects[i];
        if (holds(cache, subject_key(i), *want)) {
            continue;
        }
        const char *have = get(cache, subject_key(i));
        if (!have && book->may_leave) {
            *want = (content){NOTHING, 0};
            continue;
        }
        const char *text = text_of(*want);
        return is_wrong("round %lu: subject %u holds '%.24s', where '%.24s' was seen", book->round, i,
                        have ? have : "(a miss)", text ? text : "(a miss)");
    }
    return true;
}

static inline size_t bystander(int i, char key[32], unsigned char value[BYSTANDER_BYTES]) {
    describe(value, BYSTANDER_BYTES, (uint64_t)i, 9);
    return (size_t)snprintf(key, 32, "bystander %d", i);
}

static inline bool put_bystander(larder *cache, int i) {
    char key[32];
    unsigned char value[BYSTANDER_BYTES];
    larder_store store = {
        .key = key, .key_bytes = bystander(i, key, value), .value = value, .value_bytes = sizeof value};
    book->gone[i] = false;
    return larder_set(cache, &store, NULL) == LARDER_OK;
}

/* How many bystanders are there. Each must be whole; one that was seen gone must be gone; -1 where it is not so.
 */
static inline int bystanders_found(larder *cache, bool note_gone) {
    char key[32];
    unsigned char want[BYSTANDER_BYTES], have[BYSTANDER_BYTES];
    int found = 0;
    for (int i = 0; i < BYSTANDERS; i++) {
        size_t key_bytes = bystander(i, key, want);
        larder_status status = larder_get(cache, key, key_bytes, have, sizeof have, NULL, NULL);
        if (status == LARDER_MISS) {
            book->gone[i] |= note_gone;
            continue;
        }
        if (status != LARDER_OK || memcmp(want, have, sizeof want) != 0 || book->gone[i]) {
            is_wrong("round %lu: %s: %s, %s", book->round, key, larder_status_name(status),
                     book->gone[i] ? "though it was gone" : "not its value");
            return -1;
        }
        found++;
    }
    return found;
}

/* All of them, or, where others may be made to leave, those that were not seen gone. */
static inline bool bystanders_stand(larder *cache) {
    int found = bystanders_found(cache, book->may_leave);
    if (found < 0 || (!book->may_leave && found != BYSTANDERS)) {
        return is_wrong("round %lu: %d of %d bystanders are there", book->round, found, BYSTANDERS);
    }
    return true;
}

/* Those that left come again, so that the next operation meets them. */
static inline bool bystanders_return(larder *cache) {
    bool all = true;
    for (int i = 0; i < BYSTANDERS; i++) {
        all &= !book->gone[i] || put_bystander(cache, i);
    }
    return all;
}

static inline bool everything_stands(larder *cache) {
    return subjects_stand(cache, true) && bystanders_stand(cache);
}

#endif
