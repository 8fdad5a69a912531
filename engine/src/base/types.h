/*
 * types.h — the engine's private types.
 *
 * Glossary
 *   map      a mapped cache file of this process (lard_map)
 *   view     a shard of a map, with its addresses (lard_view)
 *   offset   bytes from the start of a shard
 *   handle   what larder_open answers (struct larder)
 *   under the lock   the caller holds the lock of that shard
 *
 * Nothing here raises, prints, allocates under a lock, or holds two shard locks. Every loop over the file's
 * contents is bounded by constants of the file, not by what its bytes say: the bytes may be damaged.
 */
#ifndef LARD_TYPES_H
#define LARD_TYPES_H

#include "larder.h"
#include "base/layout.h"
#include "base/platform.h"

#include <signal.h>

typedef struct { /* the lock file of a cache */
    uint64_t device, inode;
    int fd;          /* a host may have closed it and opened another file under its number */
    bool is_stacked; /* a map is of another file, and does not keep this one open */
} lard_lockfile;

typedef struct { /* a locked byte of the lock file */
    void *page;  /* NULL: by a POSIX lock on fd */
    int fd;
    uint32_t byte;
    unsigned epoch; /* of the process that took it */
    bool held;
} lard_bytelock;

/* See dircache.h. */
typedef struct lard_dircache { /* of one shard */
    uint64_t epoch;            /* of the shard when this was copied; 0: not valid */
    uint64_t shape;            /* bucket count (32), below it the mask of the larger power of two (32) */
    uintptr_t *pages;          /* address that bucket 0 would have if all were in this page; 0: not known */
    uint32_t known;            /* so many pages */
    uint32_t renewing;         /* 0, or the fork epoch + 1 of the process whose thread is at it */
} lard_dircache;

typedef struct lard_map {
    uint8_t *base;
    size_t bytes;
    lard_control *control;
    lard_process *processes;
    uint8_t *shards;
    lard_superblock super;   /* private copy, checked */
    lard_dircache *dircache; /* an entry a shard */
    size_t record_limit;     /* longest record */
    unsigned segment_shift;
    uint32_t shard_mask;
    uint64_t use;           /* number of the use that this process is part of */
    uint64_t device, inode; /* of fd: a host may have closed it and opened another file under its number */
    int fd;
    lard_lockfile lock;             /* of this file: it answers which of its processes are alive */
    lard_bytelock left;             /* of that lock file, where the handle went on with another */
    uint32_t slot;                  /* of this process in this file */
    uint32_t owner_word;            /* what it writes into a lock */
    volatile sig_atomic_t poisoned; /* set by the SIGBUS handler: pages were replaced by zeros */
    struct lard_map *older;         /* maps this handle has left; unmapped when it closes */
} lard_map;

typedef struct lard_view { /* a shard */
    lard_map *map;
    lard_shard *head;
    lard_u32 *directory;
    lard_segment *segments;
    uint8_t *base;
    uint32_t number;
    uint32_t owner; /* under the lock: what this call wrote into it */
} lard_view;

struct larder {
    lard_map *map;      /* current file; swapped atomically on reattachment */
    lard_u64 *counters; /* of this process, in the map */
    uint32_t slot;
    uint32_t incarnation;
    uint32_t lock_timeout_ms;
    unsigned fork_epoch;
    uint32_t references;
    uint64_t next_value_id;
    uint64_t requested_bytes;
    int64_t next_look_ms;    /* when to see again whether the file is still at its path */
    int64_t store_ms;        /* what the clock showed at a store, */
    uint32_t store_count;    /* and how many stores it has shown the same since */
    int64_t retry_attach_ms; /* not before this time, after an attachment failed */
    unsigned retry_epoch;    /* of which fork that is: a child whose map is fit only needs a slot */
    int64_t last_fault_ms;   /* when a map of this handle was last found poisoned, and how often by now */
    unsigned faults;
    lard_lockfile lock;
    lard_bytelock slot_lock;
    lard_map *arriving;           /* mapped, but not yet `map`: while it attaches */
    struct lard_pending *pending; /* keys to be deleted when it attaches; NULL: none, or all_pending */
    bool all_pending;
    bool attaches_explicitly; /* by larder_attach alone */
    bool existing;            /* makes and replaces no file */
    larder_error refusal;     /* what each attempt to attach answers, where no file can have the path */
    larder_error failure;     /* of the last attempt to attach */
    unsigned attaching;       /* epoch of the process of which a thread is attaching it; another: none is */
    int64_t next_touch_ms;    /* when to give the lock file a new time */
    uint32_t *stuck;          /* per shard: the lock word on which a waiter timed out */
    lard_map *old_maps;
    struct larder *next; /* in the registry */
    char path[];
};

/* Milliseconds to decide expiry by. */
static inline int64_t lard_now(const larder_call *call) {
    return call && call->now_ms ? call->now_ms : lard_clock_ms();
}

#endif
