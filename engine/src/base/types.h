/*
 * types.h — the engine's private types. docs/glossary.md has the terms.
 *
 * The engine never raises, prints, allocates under a shard lock, or holds two shard locks. Constants of the file
 * bound every loop over its contents. Its bytes do not, because they may be damaged.
 */
#ifndef LARD_TYPES_H
#define LARD_TYPES_H

#include "larder.h"
#include "base/layout.h"
#include "base/platform.h"
#include "base/shadow.h"

#include <signal.h>

typedef struct { /* the lock file of a cache */
    uint64_t device, inode;
    int fd;        /* a host may have closed it and opened another file under its number */
    bool is_posix; /* its locks are POSIX locks: a map does not keep it open (lard_filesystem_is_stacked), or this
                    * process may not open it again (handle/opening.c) */
} lard_lockfile;

typedef struct { /* a locked byte of the lock file */
    void *page;  /* NULL: the lock is a POSIX lock on fd */
    int fd;
    uint32_t byte;
    unsigned fork_number; /* of the process that took it */
    bool held;
} lard_bytelock;

#define LARD_LEASE_WORDS 16u

/*
 * The hints of a shard, see file/hints.h. Any word may be wrong, but its effect is bounded and it is replaced:
 *
 * - sampled, capacity: set again before each segment is emptied and after each choice (steer.c). A capacity that
 *   cannot be stops the sample.
 * - young_segments: set again before each segment is emptied; at most LARD_NEWEST - 1 count.
 * - opened, newest: a wrong one marks the wrong segments as young, until LARD_NEWEST others were opened.
 * - requests, replayed: a wrong one makes one choice early or late, or skips gets once.
 * - turn_began_s, turn_left, is_hot: a wrong one makes writes slower until the turn ends.
 * - least_small: more than the longest value needs does not count; one less with each segment that is opened.
 * - heard_end, heard: decide which gets the shadow caches see, LARD_HEARD at most.
 * - leases_ended: a caller that waits looks again after 20 ms at the latest.
 * - shadows: loops over them end. One whose queues cannot be is emptied. Scores and misses that cannot be are
 *   forgotten; others fall by a tenth with each choice.
 * - lard_other_sizes: decide nothing. Counts that cannot be are not added up; others fall by half with enough
 * gets.
 * - reads: an item loses one each time it is copied, so its count is right, or it is evicted, after three copies.
 * - bits of young segments, dead bytes: until the segment is opened again. A segment with a wrong count is emptied
 *   once.
 * - cleaned: a victim's items stay, or leave, that would not: until it is empty.
 * - overwritten: counts only where it names a segment of the main queue that has room.
 */
typedef struct {
    _Alignas(64) uint32_t sampled;   /* gets of keys are heard whose hash is below; see evict/steer.h */
    uint32_t young_segments;         /* number of the newest small segments that are young, see reads.h */
    uint32_t opened;                 /* number of small segments opened */
    uint32_t capacity;               /* of the shadow caches */
    uint32_t requests;               /* of the sample, since the last choice */
    uint32_t replayed;               /* gets in `heard` before this one were shown to the shadow caches */
    uint32_t least_small;            /* segments of the small queue that stay for now, see segment/segment.h */
    uint32_t turn_began_s;           /* when the first of as many segments was opened as the shard has; 0: never */
    uint32_t turn_left;              /* segments to be opened until the turn ends */
    uint32_t is_hot;                 /* 1: the last turn was short, see segment.c */
    uint32_t cleaned;                /* segment + 1 that is emptied for its dead bytes: its items stay; 0: none */
    lard_u32 overwritten[3];         /* active, closed, gap of the queue OVERWRITTEN, see segment/segment.h */
    _Alignas(64) uint32_t heard_end; /* number of gets that were heard; readers store only here and into heard */
    uint32_t heard[LARD_HEARD];
    uint32_t
        leases_ended[LARD_LEASE_WORDS]; /* by hash: raised when a lease is stored or ended; see item/lease.c */
    uint32_t newest[LARD_NEWEST];       /* small segments by their order of opening */
    lard_shadow shadows[LARD_SHADOWS];
    uint16_t reads[]; /* see reads.h */
} lard_shard_hints;

/* See dircache.h. */
typedef struct lard_dircache { /* of one shard */
    uint64_t epoch;            /* of the shard when this was copied; 0: not valid */
    uint64_t shape;            /* bucket count (high 32 bits), mask of the larger power of two (low 32 bits) */
    uintptr_t *pages;          /* per page: address of bucket 0 if all buckets adjoined this page; 0: not known */
    lard_shard_hints *hints;   /* see lard_hints_take; lard_reads_hints reads it */
} lard_dircache;

typedef struct {
    uint32_t known;    /* number of known pages */
    uint32_t renewing; /* 0, or the fork number + 1 of the process whose thread renews the copy */
} lard_renewal;

typedef struct {          /* what a process counts, in the hints */
    lard_u32 incarnation; /* of the process; the row is valid only while the slot has the same */
    lard_u32 reserved[15];
    lard_u64 counters[LARD_COUNTERS];
} lard_hints_row;

typedef struct lard_map {
    uint8_t *base;
    size_t bytes;
    lard_control *control;
    lard_process *processes;
    uint8_t *shards;
    lard_superblock super;   /* private copy, checked */
    lard_dircache *dircache; /* one entry per shard, as of the next */
    lard_renewal *renewals;
    uint8_t *hints;     /* see file/hints.h; NULL: none, and no call may read or write items */
    size_t hints_bytes; /* of the mapping: with room for reads_most words */
    uint64_t hints_device, hints_inode;
    lard_shard_hints *spare;  /* memory of this process for shards whose hints are not taken yet; NULL: none */
    int64_t hints_checked_ms; /* when the memory for hints was last found to be there */
    lard_hints_row *rows;
    uint64_t *rows_reserved; /* in the hints: no process may use more rows than this, but for its own */
    uint32_t other_shards;   /* shards that simulate other sizes; keys of the other shards do not differ in kind */
    uint32_t reads_mask;     /* of bucket numbers, which select a word of lard_shard_hints.reads; it only grows */
    uint32_t reads_least, reads_most; /* words of reads in a shard; powers of two */
    uint64_t reads_growing; /* number of words that are doubled now << 32 | number of shards that have them */
    uint32_t segment_hints; /* bytes of the marks and counts of segments before the lard_shard_hints of a shard */
    uint32_t young_hints;   /* bytes of the bits of young segments, which are first there */
    bool has_shared_hints;
    bool is_on_disk;     /* stores to its pages may wait for the disk */
    bool keeps_lockfile; /* the lock file is open for former_slot_lock, a POSIX lock */
    uint32_t unadvised;  /* segments that lard_advice_segment need not look at, as others were in memory */
    size_t short_record; /* longest record for which the rest of a segment is left unused */
    size_t chunk_record; /* longest record of a chunk */
    size_t record_limit; /* longest record of a whole value, but for pinned ones */
    size_t max_value;    /* bytes of the longest value */
    unsigned segment_shift;
    unsigned index_shift; /* of a bucket's number: the page of the index */
    uint32_t small_index; /* an index of fewer buckets is small, see index/index_resize.h */
    uint64_t data_bytes;  /* of all segments of a shard */
    uint32_t shard_mask;
    uint32_t number;        /* how many maps this process had made with this one; it may repeat */
    uint64_t use;           /* use number of the period in which this process attached */
    uint64_t device, inode; /* of fd: a host may have closed it and opened another file under its number */
    int fd;
    lard_lockfile lock;             /* of this file: it tells which of its processes are alive */
    lard_bytelock former_slot_lock; /* of that lock file, after the handle has switched to another one */
    uint32_t slot;                  /* process slot in this file */
    uint32_t owner_word;            /* the word that this process writes into a lock */
    volatile sig_atomic_t poisoned; /* set by the SIGBUS handler: pages were replaced by zeros */
    struct lard_map *older;         /* list of maps that this handle has left; unmapped when it closes */
} lard_map;

typedef struct lard_view { /* a shard */
    lard_map *map;
    lard_shard *header;
    lard_u32 *directory;
    lard_segment *segments;
    uint8_t *base;
    uint32_t number;
    uint32_t owner; /* under the lock: the word that this call wrote into the lock */
} lard_view;

/* A configuration, and its row in the table of a file as it was last found; see file/belief.h. */
typedef struct {
    uint64_t digest; /* never 0 */
    uint64_t word;   /* where its row was found, see belief.h, and above that the row; 0: unknown */
} lard_belief;

/* The state of a process in a file, which all its handles of the file share. */
typedef struct lard_core {
    lard_map *map;                                  /* current file; swapped atomically on reattachment */
    lard_u64 *counters;                             /* of this process, in the hints */
    int32_t until_read, until_store, until_evicted; /* calls until the next is sampled, see usage/sampler.h */
    uint32_t slot;
    uint32_t incarnation;
    uint32_t lock_timeout_ms;
    unsigned fork_number;
    uint64_t next_value_id;
    uint64_t requested_bytes;
    int64_t counted_ms;         /* when the counters were last copied into the file */
    int64_t next_look_ms;       /* when to check again that the file is still at its path */
    int64_t store_ms;           /* the time that a recent store came with */
    uint32_t store_count;       /* number of stores since then that came with the same time */
    int64_t retry_attach_ms;    /* earliest time of the next attempt, after an attachment failed */
    unsigned retry_fork_number; /* of that failure: a child whose map is fit need not wait, it lacks a slot */
    int64_t last_fault_ms;      /* when a map of this handle was last found poisoned */
    unsigned faults;            /* how often, each time less than an hour after the time before */
    lard_lockfile lock;
    lard_bytelock slot_lock;
    lard_map *arriving;           /* while the handle attaches: mapped, but not yet `map` */
    struct lard_sampler *sampler; /* NULL: no statistics of keyspaces */
    struct lard_pending *pending; /* keys to be deleted when it attaches; NULL: none, or all_pending */
    bool all_pending;
    bool attaches_explicitly; /* only by larder_attach */
    bool existing;            /* creates and replaces no file */
    bool keep_newer;          /* does not clear a file of a newer version */
    larder_error refusal;     /* error of every attempt to attach, where the path cannot be used */
    larder_error failure;     /* of the last attempt to attach */
    unsigned attaching;       /* fork number of the process whose thread attaches the handle; another: none does */
    int64_t next_touch_ms;    /* when to renew the lock file's timestamps */
    uint64_t lived;           /* of process.c: a process that was found alive, and when */
    uint64_t *stuck;          /* per shard: the hold of the lock in which a whole wait has passed, see shard.c */
    lard_map *old_maps;
    larder *handles;        /* one for each configuration */
    unsigned closing;       /* fork number + 1 of the process whose thread closes it; 0: it is open */
    struct lard_core *next; /* in the registry */
    char path[];
} lard_core;

struct larder { /* a handle */
    lard_core *core;
    lard_belief *belief; /* NULL: of no configuration */
    lard_belief own;
    const lard_map *adopted; /* it has looked for a row in this one, and cleared the file if all were taken */
    uint32_t references;
    larder *next; /* of the same core */
};

#endif
