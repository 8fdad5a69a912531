/*
 * deploy.h — the ledger of environment_deploy.c and its worker processes, deploy_worker.c: any process may change
 * any key.
 *
 * The ledger is a memory file that all processes map. Its clock gives each event a number. A call that ends what a
 * key had (delete, store, deletion of a tag, clear) notes its first moment once it was acknowledged. A value has
 * an id and a moment, when its store was over or its lease was taken. A lookup that begins after
 * such a call was acknowledged must not find a value whose moment is before the call's first.
 */
#ifndef LARD_PROOF_DEPLOY_H
#define LARD_PROOF_DEPLOY_H

#include "larder.h"

#include <stdbool.h>
#include <stdio.h>

enum { KEYS = 12, TAGS = 3, PER_CONTAINER = 2, WORKERS = 4, LEASE_MS = 600000, CACHE_BYTES = 256 << 20 };
/* So few values that none is evicted: an evicted lease may be taken by two. */
enum { VALUES = 1 << 17, LONGEST_VALUE = 30000 };

typedef struct {
    uint64_t calls, found, stores, deletes, tag_deletes, clears, leases, lost_leases, waits, refused;
    uint64_t storing;     /* the id of the value that it stores at the moment */
    uint64_t changing;    /* a bit for each key whose leases it may be ending at the moment */
    uint64_t incarnation; /* odd from before it is killed until after it has ended */
    uint32_t process;     /* larder_process() */
    uint32_t unused;
} deploy_worker;

typedef struct {
    uint64_t clock, next_value, next_seed, workers_killed, wrong;
    uint32_t stop[2];     /* of a container: its workers end */
    uint32_t doomed[2];   /* from before a container is killed until after its processes have ended */
    uint32_t one_version; /* 1: all processes share one file all the time */
    uint32_t unused;
    uint64_t ended[KEYS]; /* the first moment of the last acknowledged call that ended what the key had */
    uint64_t untagged[TAGS], cleared;
    uint64_t changes[KEYS]; /* calls begun that end leases of the key */
    uint64_t holder[KEYS];  /* worker and incarnation that have the lease: see holding() */
    uint64_t held_at[KEYS]; /* `changes` before they took it; UNSTEADY: there were calls that had not ended */
    deploy_worker workers[WORKERS];
    char first[240];
    /* For each id of a value: its moment, 0: not known yet; and the moment from which on a deletion of its tag
     * ends it, 0: it has no tag, or that is not known. */
    uint64_t over[VALUES], tags_from[VALUES];
} deploy_ledger;

#define UNSTEADY UINT64_MAX

static deploy_ledger *book;

#include "../book.h"

static inline uint64_t tick(void) { return ADD(book->clock, 1); }

static inline void raise_to(uint64_t *field, uint64_t value) {
    uint64_t have = READ(*field);
    while (have < value &&
           !__atomic_compare_exchange_n(field, &have, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

/* A worker and its incarnation in one word. */
static inline uint64_t holding(int who) { return READ(book->workers[who].incarnation) << 8 | (uint64_t)(who + 1); }

/* Before a worker is killed, so that its leases are free from then on. */
static inline void doom(int who) { __atomic_or_fetch(&book->workers[who].incarnation, 1, __ATOMIC_SEQ_CST); }
static inline bool is_doomed(int who) {
    return READ(book->doomed[who / PER_CONTAINER]) || (READ(book->workers[who].incarnation) & 1);
}

/* After it has ended: the call that it was in is over. */
static inline void settle(int who) {
    uint64_t id = READ(book->workers[who].storing);
    if (id && !READ(book->over[id])) {
        NOTE(book->over[id], tick());
    }
    NOTE(book->workers[who].storing, 0);
    NOTE(book->workers[who].changing, 0);
    doom(who);
    ADD(book->workers[who].incarnation, 1);
}

#endif
