/*
 * environment.h — the work of survival_test.c in containers, by the ledger's rules. Needs root.
 */
#ifndef LARD_PROOF_ENVIRONMENT_H
#define LARD_PROOF_ENVIRONMENT_H

#include "../survival_work.h"
#include "containers.h"

/* The ledger of a play, which all processes see whatever their namespaces. */
static inline void open_book(void) {
    book = shared_memory(sizeof *book);
    roomy = true;
}

static inline void close_book(void) { munmap(book, sizeof *book); }

/* Everything that was ever stored, looked at by this process. */
static inline bool book_holds(larder *cache) {
    for (int owner = 0; owner < OWNERS; owner++) {
        for (int key = 0; key < KEYS; key++) {
            look_up(cache, owner, key);
        }
        for (int key = 0; key < COUNTERS; key++) {
            look_up_counter(cache, owner, key);
        }
    }
    if (READ(book->wrong)) {
        fprintf(stderr, "  %llu wrong: %s\n", (unsigned long long)book->wrong, book->first);
    }
    return READ(book->wrong) == 0;
}

/* Increments that all processes made, of a file that was never replaced and evicted nothing. */
static inline bool counters_are_exact(larder *cache) {
    char name[32];
    for (int key = 0; key < SHARED; key++) {
        key_text(name, "shared", 0, key);
        const char *have = get(cache, name);
        uint64_t number = have ? strtoull(have, NULL, 10) : 0;
        if (number < READ(book->shared_acked[key]) || number > READ(book->shared_begun[key])) {
            fprintf(stderr, "  %s: %llu, not %llu to %llu\n", name, (unsigned long long)number,
                    (unsigned long long)book->shared_acked[key], (unsigned long long)book->shared_begun[key]);
            return false;
        }
    }
    return true;
}

static inline uint64_t increments_acknowledged(void) {
    uint64_t sum = 0;
    for (int key = 0; key < SHARED; key++) {
        sum += READ(book->shared_acked[key]);
    }
    return sum;
}

static inline uint64_t inode_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (uint64_t)info.st_ino : 0;
}

/* Calls of one owner, with other owners' keys looked up in between. */
static inline void act_often(larder *cache, int me, uint64_t *state, int times) {
    for (int i = 0; i < times; i++) {
        act(cache, me, state);
        ADD(book->beats[me], 1);
    }
}

#endif
