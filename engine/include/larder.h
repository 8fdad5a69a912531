/*
 * larder.h — the public C API of the Larder cache engine.
 *
 * Larder keeps a cache in one file that every process of a machine maps. Reads take no lock. A writer holds the
 * lock of one shard for a short time; if it dies there, the next writer repairs the shard. The cache survives
 * `kill -9` and restarts. After a crash of the machine it starts empty, because a deleted value might have come
 * back.
 *
 * Concepts
 *   item      A key (0 to LARDER_MAX_KEY bytes), a value (0 to larder_max_value()
 *             bytes), one byte of caller flags, a time to live (TTL).
 *   miss      A result, not an error: the key is absent, expired, evicted or damaged.
 *   handle    `larder *`. One per process, file and configuration: opening the same file
 *             again with the same configuration returns the same handle with one more
 *             reference. Any number of threads may use a handle. So may a forked child:
 *             there it attaches again at its first call.
 *   refusal   A store that is not possible (lock timeout, cache full) returns an error.
 *             If it would have overwritten a value, it *has dropped* the key's old value:
 *             an old value never outlives a refused overwrite. LARDER_ADD, larder_cas and
 *             larder_swap leave the old value.
 *
 * Caveats
 *   - Put the file on a local file system. File systems of networks, of clusters, of a virtual
 *     machine's host (9p, virtiofs, vboxsf, prl_fs, vmhgfs) and of FUSE are refused. Their
 *     files change past the kernel's page cache, or are in several page caches, so a delete in
 *     one would not be seen in the other.
 *   - Some systems have no open-file-description locks (macOS, gVisor), and on overlayfs (a
 *     container's own layer, not a volume) they cannot be used. There a process that has the
 *     cache open must not open the `.lock` file beside it: closing any descriptor of that file
 *     drops POSIX locks (fcntl(2)).
 *   - A copy of the file that is put back later is replaced by an empty cache, unless
 *     cache and lock file both come back with the inodes they had.
 *   - If the file is removed or replaced by hand, processes that write notice it within a
 *     fifth of a second, and others within a thousand reads. Until then they see neither
 *     the new file's values nor its deletes.
 *   - A SIGBUS handler that the host installs after larder_open must pass on faults that
 *     are not its own. Otherwise a file that is truncated crashes the host.
 *   - If a thread has blocked SIGBUS, such a fault would kill the process (POSIX leaves it
 *     undefined). So the thread's first call of Larder unblocks SIGBUS permanently. Do not
 *     block it again in a thread that still uses a cache.
 *   - How often items were read, and statistics, are in /dev/shm/larder-<file id>, or in
 *     anonymous memory. So a get stores nothing into the file, and never waits for the disk
 *     but for pages that are not in memory. A store may wait for the disk where it stores
 *     into a page of the file that was written back. It does so before it takes a lock,
 *     so that others need not wait, except when it evicts, opens a segment, splits a
 *     bucket, or stores 8 KiB or more. A file in /dev/shm has no disk to wait for.
 *   - A call takes up to 16 KiB of stack. One that opens, attaches, resizes or closes a file takes
 *     up to 64 KiB; so does each call of a handle that was opened without `attach_later`, as it
 *     may attach. If a stack ends within a call and the thread leaves it by longjmp, a lock may
 *     stay taken until the process ends.
 *   - The TTL follows the wall clock (CLOCK_REALTIME), because it must survive a reboot.
 *     If the clock is set back, items live that much longer.
 *   - A value that was changed by increment is returned as decimal text.
 *   - The file is trusted as far as its owner and mode are: other users who may write to
 *     it may forge values.
 *
 * Binary interface
 *   The structs below keep their size and the offsets of their fields as long as the
 *   library keeps its soname. A caller must set reserved fields to zero, otherwise the
 *   result is LARDER_INVALID; the library returns zeros in them. A later version may give
 *   them a meaning in which zero stands for the old behaviour. Designated initializers
 *   leave them zero. New status codes and statistics are appended to their lists.
 *
 * Functions that can fail return a larder_status. None exits, aborts or prints. errno is undefined after a call.
 * Sizes are in bytes and times in milliseconds, as their names say.
 */
#ifndef LARDER_H
#define LARDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define LARDER_VERSION "0.1.0"

#define LARDER_MAX_KEY 4095u             /* longest key */
#define LARDER_MAX_VALUE (64u << 20)     /* longest value in the largest cache */
#define LARDER_MIN_SIZE (1u << 20)       /* smallest file */
#define LARDER_MAX_SIZE (1ull << 40)     /* largest file */
#define LARDER_DEFAULT_SIZE (256u << 20) /* if the options have no size */
#define LARDER_MAX_TAGS 128u             /* tags of an item */
#define LARDER_MAX_TTL_MS (1ll << 41)    /* about 69 years */
#define LARDER_ANY_EXPIRY (-1)           /* of larder_cas: the expiry is not compared */
/* The latest expiry, in Unix ms: May 2109. What would expire later, or is stored later, expires then. */
#define LARDER_MAX_EXPIRY_MS ((1ll << 42) - 1)

/*
 * Status codes: name, text. Each line makes a value of the enum below and its text in larder_status_text(). The
 * first four are results, not errors.
 */
#define LARDER_STATUS_LIST(X)                                                                          \
    X(OK, "done")                                                                                      \
    X(MISS, "the key is not in the cache")                                                             \
    X(NOT_STORED, "the condition of the store did not hold")                                           \
    X(BUFFER_TOO_SMALL, "the buffer is smaller than the value")                                        \
    X(INVALID, "an argument is not valid")                                                             \
    X(KEY_TOO_LONG, "the key is longer than 4095 bytes")                                               \
    X(VALUE_TOO_LARGE, "the value is larger than the cache takes: max_value, or max_pinned if pinned") \
    X(NOT_A_NUMBER, "the value is not a 64-bit decimal integer")                                       \
    X(OVERFLOW, "the result does not fit 64 bits")                                                     \
    X(BUSY, "lock timeout: its owner is alive but stopped or very slow")                               \
    X(FULL, "eviction found no room; enlarge the file (larder resize)")                                \
    X(CLOSED, "the cache is closed")                                                                   \
    X(DAMAGED, "the file was truncated or cannot be read; this process serves only misses")            \
    X(SUPERSEDED, "the file was replaced by one this process cannot use; it serves misses")            \
    X(SIZE_TOO_SMALL, "the size is below the smallest cache (1 MiB)")                                  \
    X(SIZE_TOO_LARGE, "the size is above the largest cache (1 TiB)")                                   \
    X(PATH_TOO_LONG, "the path is too long")                                                           \
    X(NOT_THERE, "there is no cache; its application makes it")                                        \
    X(UNFIT, "the cache cannot be used any more; its application replaces it")                         \
    X(NOT_LARDER, "the file is not a Larder cache; choose another path or remove it")                  \
    X(NEWER_VERSION, "the file is in use by a newer Larder; upgrade this one or choose a path")        \
    X(NOT_REGULAR, "the path is a symbolic link, directory or device; name a regular file")            \
    X(NOT_OWNER, "the file or its lock belongs to another user; choose a path of your own")            \
    X(UNSAFE_MODE, "the file or its lock is writable by others; chmod it to 600")                      \
    X(NETWORK_FS, "the file system is a network, FUSE or shared one; choose a local disk or /dev/shm") \
    X(NO_SPACE, "the disk has no room for the cache; free space or choose a smaller size")             \
    X(NO_SLOT, "no more processes may use the file; stop some, or enlarge it (larder resize)")         \
    X(IN_USE, "other processes have the cache open; stop them first")                                  \
    X(LOCKED, "the cache is being made, opened or closed, or its counts added, by a process")          \
    X(NO_MEMORY, "memory could not be allocated")                                                      \
    X(SYSTEM, "a system call failed")                                                                  \
    X(PIN_FULL, "pinned items take two thirds of the cache; delete some or enlarge the file")          \
    X(FILE_LIMIT, "this process may not write files so large; raise its limit (ulimit -f)")            \
    X(LEASED, "another caller has the lease of the key and computes its value")                        \
    X(NO_CONFIGURATION, "the file has seven other configurations; restart this one, or choose a path")

typedef enum larder_status {
#define LARDER_STATUS_ENUM(name, text) LARDER_##name,
    LARDER_STATUS_LIST(LARDER_STATUS_ENUM)
#undef LARDER_STATUS_ENUM
        LARDER_STATUS_COUNT
} larder_status;

typedef struct larder larder;

/* Zero means the default in every field. */
typedef struct larder_options {
    uint64_t size_bytes;      /* of the whole file; used only when it is created */
    uint32_t lock_timeout_ms; /* longest wait for a shard lock whose owner is alive, default 200 */
    uint32_t existing;        /* 1: use only an existing file that is fit; create, replace and remove none */
    uint32_t attach_later;    /* 1: only larder_attach attaches, not larder_open or another call */
    uint32_t keep_newer;      /* 1: never clears a file of a newer version, see larder_delete */
    uint64_t configuration;   /* see larder_open; 0: none */
    uint32_t statistics;      /* 1: counts by keyspace and time in PATH.stats, see larder_get_usage */
    uint32_t reserved[7];
} larder_options;

/* The details of a failure. */
typedef struct larder_error {
    larder_status status;
    int system_errno; /* 0: no system call failed */
    uint64_t reserved[9];
    char detail[240]; /* names the offender: a path, a size, a call */
} larder_error;

/* Settings of one call; a NULL pointer means the default of each. */
typedef struct larder_call {
    int64_t now_ms; /* the Unix time that expiry is decided by; 0: the engine's own clock */
    uint32_t flags; /* LARDER_CALL_*; others are reserved */
    uint32_t reserved;
} larder_call;

/* A stale item is OK in larder_get, larder_get_multi and larder_exists. Without this it is a MISS. larder_scan
 * visits also the keys of stale items, and of values that are being computed: for a caller that deletes them. */
#define LARDER_CALL_STALE 2u

/* A try call: if a lock is not free at once, it returns LARDER_BUSY and has changed nothing. */
#define LARDER_CALL_TRY 1u

typedef struct larder_item {
    size_t size_bytes;      /* of the value, also with LARDER_BUFFER_TOO_SMALL */
    int64_t expires_at_ms;  /* Unix time, 0: never */
    uint8_t flags;          /* as given to larder_set */
    uint8_t is_counter;     /* 1: the value was made by larder_increment */
    uint8_t is_pinned;      /* 1: the item is not evicted */
    uint8_t staleness;      /* larder_staleness */
    uint32_t compute_ms;    /* as given to larder_set */
    int64_t fresh_until_ms; /* Unix time; 0: as expires_at_ms. Only of an item with stale_ms */
} larder_item;

typedef enum larder_staleness {
    LARDER_FRESH = 0,
    LARDER_STALE,       /* the TTL has passed, and the item is kept for stale_ms */
    LARDER_STALE_LEASED /* and a caller has its lease, and computes the next value */
} larder_staleness;

/* An item as people look at it, see larder_inspect. */
typedef struct larder_details {
    larder_item item;
    int64_t stored_after_ms; /* Unix time: the item was not stored before; its segment was opened then */
    uint32_t reads; /* how often it was read since eviction last looked at it, two for each time: 0 to 3 */
    uint32_t tag_count;
    uint64_t reserved[2];
} larder_details;

/* The lease of a key whose value is being computed, see larder_scan_leases. */
typedef struct larder_leased {
    int64_t age_ms;     /* since it was taken */
    int64_t left_ms;    /* until it ends by itself */
    uint32_t pid;       /* of its owner, a number that the owner's container gives */
    uint32_t has_value; /* 1: there is an old value */
    uint64_t reserved;
} larder_leased;

typedef struct {
    /* Returns memory for a value of `bytes` with these flags, or NULL: it is not to be read. Must not use the
     * cache. No lock is held, so it may leave the call by longjmp. */
    void *(*allocate)(void *context, size_t bytes, uint8_t flags);
    void *context;
} larder_allocator;

typedef struct larder_lookup { /* a lookup of larder_get_multi */
    const void *key;
    size_t key_bytes;
    void *buffer;
    size_t buffer_bytes;
    const larder_allocator *more; /* as of larder_get_allocated(); may be NULL */
    larder_item item;             /* out */
    larder_status status;         /* out: OK, MISS, BUFFER_TOO_SMALL, KEY_TOO_LONG, INVALID */
    uint32_t reserved;
} larder_lookup;

typedef enum larder_mode {
    LARDER_SET = 0, /* store always */
    LARDER_ADD,     /* store only if the key is absent */
    LARDER_REPLACE  /* store only if the key is present */
} larder_mode;

/* The right to compute a key's value, see larder_lease_take(). */
typedef struct larder_lease {
    uint64_t token[2]; /* different for each lease of a file; zeros: none */
    int64_t left_ms;   /* it ends this long after the call that answered it, at the latest */
    uint32_t process;  /* the number of its owner, see larder_process() */
    uint32_t reserved;
    uint64_t over; /* see larder_lease_take() */
} larder_lease;

/* A text by which items are deleted together, of any bytes; see larder_delete_tagged(). */
typedef struct larder_tag {
    const void *text;
    size_t bytes;
} larder_tag;

/* A moment between deletions of tags, see larder_stamp_now(). */
typedef struct larder_stamp {
    uint64_t number;
    uint64_t origin; /* of which file, since its last clear; 0: none */
} larder_stamp;

/* What only some stores need. */
typedef struct larder_extra {
    int64_t stale_ms;          /* how long the item is kept after its TTL, see LARDER_CALL_STALE */
    const larder_lease *lease; /* not NULL: store only while the key has it, see larder_lease_take() */
    uint32_t compute_ms;       /* how long the value took to compute; only kept for the caller */
    uint32_t tag_count;        /* of `tags`, LARDER_MAX_TAGS at most */
    const larder_tag *tags;    /* the item's; may be NULL */
    larder_stamp stamp;        /* of before the value began to be computed; origin 0: now. With tags only */
    uint64_t reserved[2];
} larder_extra;

typedef struct larder_store {
    const void *key;
    size_t key_bytes;
    const void *value;
    size_t value_bytes;
    int64_t ttl_ms;                 /* 0: never expires; negative: has expired at once, see larder_set */
    int64_t expected_expires_at_ms; /* of larder_cas, as larder_item has it, 0: never; or LARDER_ANY_EXPIRY */
    uint8_t expected_flags;         /* of larder_cas */
    uint8_t flags;                  /* the caller's own: how the value is encoded; 0 for plain bytes */
    uint8_t mode;                   /* larder_mode */
    uint8_t pin;                    /* 1: the item is not evicted, see larder_max_pinned */
    larder_status status;           /* out, of larder_set_multi */
    const larder_extra *extra;      /* may be NULL */
    uint64_t reserved;
} larder_store;

/*
 * Statistics: name, description. Counts are sums over all processes since the file was created; gauges are current
 * values. Counts of single-threaded processes are exact; native threads that race may lose a few.
 */
#define LARDER_COUNTS_LIST(X)                                                                                  \
    X(hits, "reads that found a live item")                                                                    \
    X(misses, "reads that found none")                                                                         \
    X(sets, "items stored")                                                                                    \
    X(refused, "stores refused: lock timeout, or the cache is full")                                           \
    X(deletes, "deletes that found the key")                                                                   \
    X(increments, "counters changed")                                                                          \
    X(evictions, "live items dropped to make room: each once, however many parts it has")                      \
    X(expirations, "items dropped to make room or by prune that had expired, or whose tag was deleted")        \
    X(promotions, "items that eviction kept: they were read, or there was room")                               \
    X(damaged, "records whose checksum or shape was wrong")                                                    \
    X(repairs, "shards repaired after their lock's owner died")                                                \
    X(resets, "shards emptied because they could not be repaired")                                             \
    X(lock_waits, "waits for a shard lock")                                                                    \
    X(stale_hits, "hits of a stale item, by callers that take those")                                          \
    X(leases, "leases taken: values that one caller was to compute for all")                                   \
    X(lost_leases, "stores under a lease that had ended: the key was deleted or written, or it took too long") \
    X(waits, "waits for a value that another caller computed")                                                 \
    X(refreshes, "values computed again while a stale one, or one that was about to expire, was served")       \
    X(lone_computes, "values that a caller computed for itself, as another had the lease")                     \
    X(tag_deletes, "tags deleted")                                                                             \
    X(tag_misses, "reads of an item of which a tag was deleted")                                               \
    X(forgotten_tags, "deletions of tags that were forgotten for newer ones")                                  \
    X(forgotten_misses,                                                                                        \
      "tag misses of items that may not have had a deleted tag, older than one that was forgotten")
#define LARDER_GAUGES_LIST(X)                                                                  \
    X(items, "items in the index, also expired ones that nobody has dropped yet")              \
    X(used_bytes, "bytes of segments in use, dead records included")                           \
    X(index_bytes, "bytes of segments used by the index")                                      \
    X(pinned_bytes, "bytes of pinned items, which eviction leaves")                            \
    X(pinned_room_bytes, "bytes that pinned items may take")                                   \
    X(capacity_bytes, "bytes of segments that items and index may take before some leave")     \
    X(size_bytes, "bytes of the file")                                                         \
    X(shards, "shards")                                                                        \
    X(processes, "processes attached")                                                         \
    X(oldest_age_ms, "no item was stored longer ago; 0: there is none")                        \
    X(counts_age_ms, "how old the counts of a process that shares no memory are at most")      \
    X(table_bytes, "bytes of segments used by the tables of deleted tags")                     \
    X(hints_bytes, "bytes of memory that this process uses outside the file, for hints")       \
    X(hints_shared, "1: processes share them, in /dev/shm; 0: a process and its children")     \
    X(age_ms, "time since the file was made")                                                  \
    X(configurations, "configurations that have a row in the file; it has seven rows")         \
    X(configurations_full_ms, "when it was last emptied as all were taken, Unix ms; 0: never") \
    X(process_room, "processes that may use it, and four more with `existing`")                \
    X(locked_shards, "shards whose lock is held, also by a process that died")
#define LARDER_STATS_LIST(X) LARDER_COUNTS_LIST(X) LARDER_GAUGES_LIST(X)
#define LARDER_STATS_WORDS 24 /* words for counts, and as many for gauges */

typedef struct larder_stats {
#define LARDER_STATS_FIELD(name, text) uint64_t name;
#define LARDER_STATS_ONE(name, text) +1
    LARDER_COUNTS_LIST(LARDER_STATS_FIELD)
    uint64_t reserved_counts[LARDER_STATS_WORDS - (0 LARDER_COUNTS_LIST(LARDER_STATS_ONE))];
    LARDER_GAUGES_LIST(LARDER_STATS_FIELD)
    uint64_t reserved_gauges[LARDER_STATS_WORDS - (0 LARDER_GAUGES_LIST(LARDER_STATS_ONE))];
#undef LARDER_STATS_FIELD
#undef LARDER_STATS_ONE
} larder_stats;

typedef struct larder_report { /* of larder_verify */
    uint64_t items;            /* live items checked */
    uint64_t records;          /* records checked in segments */
    uint64_t problems;         /* violated invariants; 0: the file is valid */
    uint64_t stale_bytes;      /* of items that only LARDER_CALL_STALE finds, or whose tag was deleted */
    uint64_t reserved[6];
    char first[240]; /* describes the first problem, or "" */
} larder_report;

#define LARDER_OTHER_SIZES 3

typedef struct larder_other_size { /* an estimate for a file of another size */
    uint32_t per_cent;             /* of this file's size */
    uint32_t is_known;             /* 0: too few reads to estimate; then the next two are 0 */
    uint32_t hits_ppm;             /* of a million reads, those that would have found a live item */
    uint32_t error_ppm;            /* the error of hits_ppm in either direction, with 95 % confidence */
    uint64_t reads;                /* reads of the sample that it comes from; recent ones count more */
    uint64_t reserved;
} larder_other_size;

typedef struct larder_other_sizes { /* of larder_get_other_sizes */
    uint64_t size_bytes;            /* of this file */
    uint64_t reads, hits;           /* counted since the file was created */
    uint64_t needed_bytes;          /* about the size at which nothing would have been evicted; 0: unknown, or more
                                     * than the largest of `sizes` */
    uint32_t evicts;                /* 0: everything fits, and no size is known */
    uint32_t reserved_word;
    larder_other_size sizes[LARDER_OTHER_SIZES]; /* of 50, 200 and 400 per cent */
    uint64_t reserved[8];
} larder_other_sizes;

/*
 * Opens the cache at `path`. Creates the file (mode 0600) and missing directories (the last one with mode 0700). A
 * file of Larder's that is damaged, of an older format, or was not closed cleanly before a crash of the machine is
 * replaced by an empty one. A file that is not Larder's is never touched. With `existing` no file is created,
 * replaced or removed: NOT_THERE or UNFIT tells why there is none to use. Handles of one process share a file, so
 * it may be created there if any of them was opened without `existing`. If the file exists, its size stays as it
 * is: see larder_size(). `options` and `error` may be NULL. `*out` is set only on LARDER_OK.
 *
 * Configurations separate processes that share a file, but whose items do not mean the same: for example copies of
 * two remote stores, while a deploy replaces one by the other. options->configuration is a digest of the settings
 * that decide that. A handle believes only items that a handle of the same configuration stored.
 *
 *   believes   larder_get, larder_exists, LARDER_ADD, LARDER_REPLACE, larder_cas, larder_swap,
 *              larder_increment and larder_touch take an item of another configuration for
 *              absent. So an add replaces it, and an increment starts from `initial`.
 *              larder_lease_take takes the lease, unless a caller of the other
 *              configuration has one: then it is LEASED.
 *   acts       LARDER_SET, larder_delete, larder_delete_tagged, larder_clear, larder_prune,
 *              eviction, and larder_touch and LARDER_REPLACE with a negative TTL act on an
 *              item of any configuration. larder_delete is OK if there was one.
 *   shows      larder_scan visits the keys of all items, and statistics count all.
 *   trusts     larder_trust and larder_trusted are of the handle's configuration.
 *
 * The file remembers seven configurations besides 0. When a handle of an eighth one attaches, the file is cleared,
 * and all are forgotten. Then each process that has the file open remembers its configuration again, as long as
 * there is room. A handle without room misses, and its stores are refused (NO_CONFIGURATION), until that happens
 * the next time. It does not clear the file itself. So more than seven configurations in use at once clear the
 * file once for each process that starts, not at each other's calls.
 */
larder_status larder_open(const char *path, const larder_options *options, larder **out, larder_error *error);

/*
 * A handle may be unattached. Then reads are misses and stores are refused. Keys that calls delete or overwrite,
 * leases, tags and clears are noted (up to 1,024 notes, then a clear), and applied when the handle attaches,
 * before it reads there. Such a delete is refused: other processes may read the value until then. The notes are
 * memory of this process, and are lost if it ends before.
 *
 * A process that has the file mapped, but no process slot, applies deletes at once: a forked child before it
 * attaches, or while all slots are taken. It needs the lock that openers and larder_resize hold, and waits
 * `lock_timeout_ms` for it at most. Without the lock (LOCKED) the delete is noted and refused as above.
 *
 * Calls attach the handle themselves: at first use, in a forked child, and after the file was replaced. They wait
 * a second at most. Handles opened with `attach_later` are attached only by larder_attach(). So a caller whose
 * calls must not wait checks larder_attached() before a call, and calls larder_attach() in another thread or at a
 * better time. With `attach_later` larder_open accepts a path that is too long, or that is relative although the
 * working directory was removed; larder_attach reports the error.
 *
 * larder_attached: 1, attached; 0, larder_attach() should be called; -1, an attempt has failed recently, so try
 * later, or `cache` is NULL.
 * larder_attach: OK or an error. LOCKED: another process creates, opens or closes the file and has not finished
 * within `wait_ms`; where locks are POSIX locks (see Caveats), also another thread that closes it.
 * larder_last_failure: the error of the last attempt to attach. OK: it succeeded, there was none, or `cache` is
 * NULL.
 * larder_pending: how many keys and tags are noted; LARDER_ALL_PENDING: all keys. They are lost if the handle is
 * closed before it attaches.
 */
#define LARDER_ALL_PENDING UINT32_MAX
int larder_attached(larder *cache);
larder_status larder_attach(larder *cache, uint32_t wait_ms, larder_error *error);
larder_status larder_last_failure(larder *cache, larder_error *error);
uint32_t larder_pending(larder *cache);

/*
 * Drops one reference; with the last one the handle detaches. The last process of the machine to detach writes the
 * file to disk and marks it clean. `cache` may be NULL. No other thread may be in a call with this reference.
 */
void larder_close(larder *cache);

const char *larder_path(const larder *cache);
uint64_t larder_size(const larder *cache);    /* bytes of the file */
size_t larder_max_value(const larder *cache); /* longest value: min(64 MiB, an eighth of all segments) */

/*
 * Greatest size of key and value together of a pinned item. A pinned item ends only when it expires, is deleted or
 * replaced, by a refusal that drops the key's old value, or by larder_clear. A damaged or replaced file loses it
 * like all others.
 *
 * Pinned items may take two thirds of a shard. A long item counts with the bytes that it leaves unused in a
 * segment. Above that, a store with `pin` is PIN_FULL, and the key's old value is treated as in any refusal.
 * Deleted items make room at once, expired ones within a second. Other items are evicted to make room for pinned
 * ones. An increment of a pinned number leaves it pinned.
 */
size_t larder_max_pinned(const larder *cache);

/*
 * Copies the value into `buffer`. Returns OK, MISS, KEY_TOO_LONG, or BUFFER_TOO_SMALL: then item->size_bytes is
 * set and the buffer's content is undefined. `item` may be NULL. Takes no lock. Waits for no other process, except
 * while the handle attaches (in a forked child, or to a file that replaced its own: a second at most).
 */
larder_status larder_get(larder *cache, const void *key, size_t key_bytes, void *buffer, size_t buffer_bytes,
                         larder_item *item, const larder_call *call);

/*
 * As larder_get, but a value that is longer than `buffer` is copied into memory that more->allocate returns. That
 * is called again if another process replaces the value by a longer one; the memory that the last call returned
 * has the value. BUFFER_TOO_SMALL: it returned NULL, or `more` is NULL.
 */
larder_status larder_get_allocated(larder *cache, const void *key, size_t key_bytes, void *buffer,
                                   size_t buffer_bytes, const larder_allocator *more, larder_item *item,
                                   const larder_call *call);

/*
 * As larder_get_allocated, for a caller that computes a new value from this one and stores it by larder_swap.
 * *identity names the value that was read; it is never 0. A value that is stored later has another identity, also
 * if it has the same bytes, flags and expiry, and also in a file that replaced this one.
 */
larder_status larder_get_to_swap(larder *cache, const void *key, size_t key_bytes, void *buffer,
                                 size_t buffer_bytes, const larder_allocator *more, larder_item *item,
                                 uint64_t *identity, const larder_call *call);

/* As larder_get for `count` lookups; each has its own status. */
larder_status larder_get_multi(larder *cache, larder_lookup *lookups, size_t count, const larder_call *call);

/* OK or MISS; does not read the value. `item` (size, expiry, flags) may be NULL. Takes no lock. */
larder_status larder_exists(larder *cache, const void *key, size_t key_bytes, larder_item *item,
                            const larder_call *call);

/*
 * For people who look at a cache: as larder_get_allocated, but finds items of each configuration, also stale ones,
 * and is neither counted in the statistics nor as a read of the item. OK, MISS, KEY_TOO_LONG, or BUFFER_TOO_SMALL,
 * which fills *details, too. With a `buffer` of NULL it does not read the value.
 */
larder_status larder_inspect(larder *cache, const void *key, size_t key_bytes, void *buffer, size_t buffer_bytes,
                             const larder_allocator *more, larder_details *details, const larder_call *call);

/*
 * Stores an item. OK; NOT_STORED: the condition of `mode` did not hold; VALUE_TOO_LARGE, BUSY, FULL, PIN_FULL or
 * DAMAGED: a refusal; NO_SLOT or SUPERSEDED: this process cannot attach.
 *
 * An item with a negative TTL has expired at once; its store takes no lock. LARDER_SET drops the key.
 * LARDER_REPLACE drops it, or returns NOT_STORED if it is absent. LARDER_ADD changes nothing: NOT_STORED if the
 * key is present, else OK.
 */
larder_status larder_set(larder *cache, const larder_store *store, const larder_call *call);

/* The same for each store, in order. `*stored` (may be NULL) is the number of OK ones. Returns the first status
 * that is not OK. */
larder_status larder_set_multi(larder *cache, larder_store *stores, size_t count, size_t *stored,
                               const larder_call *call);

/*
 * Compare-and-swap by value: stores only if the key's value has the bytes `expected`, the flags
 * store->expected_flags and the expiry store->expected_expires_at_ms; with LARDER_ANY_EXPIRY the expiry is not
 * compared, and the swap overwrites an expiry that a concurrent touch gave. A value that was deleted and stored
 * again in between is equal. OK; MISS: the key is absent; NOT_STORED: it differs; or a refusal. INVALID: a
 * negative TTL, another negative expiry, a lease. Without tags of its own the new value has those of the old one.
 */
larder_status larder_cas(larder *cache, const larder_store *store, const void *expected, size_t expected_bytes,
                         const larder_call *call);

/*
 * Compare-and-swap by identity: the same, but stores only over the value that larder_get_to_swap returned with
 * `identity`. NOT_STORED: the key was deleted, stored or touched since, also if it has an equal value now; or the
 * engine has moved the value, which it does to the oldest when a full cache takes new ones. Then read again.
 * INVALID: also the identity 0.
 */
larder_status larder_swap(larder *cache, const larder_store *store, uint64_t identity, const larder_call *call);

/*
 * OK, or MISS: the key was absent. Takes no lock if the handle is attached. Whatever other processes do, the item
 * that was there when the call began is gone when it returns. It may also delete an item that another process
 * stores under the key during the call. LOCKED, DAMAGED, SUPERSEDED or another error: this process cannot reach
 * the file, and the delete is noted, see larder_attached().
 *
 * While processes of a newer version of the file's format use it, this one cannot reach it either, but no delete
 * is lost: it clears the file, and returns MISS. With `keep_newer` it refuses instead, and all items stay. Stores
 * are refused, and the newer processes keep the key's old value.
 */
larder_status larder_delete(larder *cache, const void *key, size_t key_bytes, const larder_call *call);

/*
 * Single flight: of many callers that miss a key, one computes the value, and the others wait for it.
 *
 * larder_lease_take, after a miss:
 *   OK          The lease is the caller's for `lease_ms` (from 1 on). It computes the value, and stores it by
 *               larder_set with extra->lease, or gives up by larder_lease_end.
 *   LEASED      Another caller has it; *lease tells which. Wait by larder_lease_wait, or compute without a lease.
 *   NOT_STORED  The key has a fresh value: read it. If that is no use, call again with the same *lease, whose
 *               `over` then names that value. Before the first call `over` is 0.
 *   or the error of a store: there is no room for a lease. Compute without one. Also VALUE_TOO_LARGE: `over` names
 *               a pinned value that has no room for a lease, or a pinned counter, and it stays.
 *
 * Until the value is stored, a placeholder under the key itself has the lease. Reads of it are misses, and
 * LARDER_ADD and larder_increment take the key for absent. An old value of the key stays beside the lease: stale,
 * or the one that `over` named. Whatever deletes or overwrites the key ends the lease, and then the store of its
 * owner is NOT_STORED: so a value never comes back that was computed before a delete. A lease also ends
 * when its owner ends it or dies, and `lease_ms` after it was taken, by a clock that cannot be set and that counts
 * the time in which the machine was suspended; then others may take it. call->now_ms has no influence on it. If
 * the placeholder is evicted, which takes as much writing as evicts an item that was read, the owner's store is
 * NOT_STORED.
 *
 * larder_set with extra->lease (LARDER_SET only): OK, NOT_STORED: the lease had ended, or a refusal: then lease
 * and old value are dropped, except with BUSY of a try call. If the lease had ended, nothing is dropped. An
 * unattached handle drops them as it deletes: at once, or noted until it attaches. Until then others find the
 * lease, at most until it ends by itself.
 *
 * larder_lease_end: OK, NOT_STORED: it had ended already, or a refusal. Drops the placeholder, which takes no
 * lock. An old value stays, and is fresh for `fresh_ms` from now if that is longer than it was. A refusal drops it
 * with the lease, except BUSY of a try call, which changes nothing.
 *
 * larder_lease_wait: OK: the lease that *lease names has ended, so read again. LEASED: not yet. Sleeps up to
 * `wait_ms`, at most 20 ms in one call, and wakes when the value is stored or the lease is ended.
 */
larder_status larder_lease_take(larder *cache, const void *key, size_t key_bytes, int64_t lease_ms,
                                larder_lease *lease, const larder_call *call);
larder_status larder_lease_end(larder *cache, const void *key, size_t key_bytes, const larder_lease *lease,
                               int64_t fresh_ms, const larder_call *call);
larder_status larder_lease_wait(larder *cache, const void *key, size_t key_bytes, const larder_lease *lease,
                                uint32_t wait_ms, const larder_call *call);

/* Counts in the statistics what only the caller knows, of this key. `cache` may be NULL, and so may `key`. */
typedef enum larder_deed { LARDER_WAITED, LARDER_REFRESHED, LARDER_COMPUTED_ALONE } larder_deed;
void larder_count_deed(larder *cache, larder_deed deed, const void *key, size_t key_bytes);

/*
 * Changes how a read of `key` was counted. A read counts as a hit if it finds a live item, with LARDER_CALL_STALE
 * as a stale hit if it finds a stale one, else as a miss. Only its caller knows whether what it found is the
 * answer, whether it reads again, and whether it has read for itself. Call it at once after the read: until then
 * the statistics have the first count. `cache` may be NULL.
 */
typedef enum larder_read {
    LARDER_READ_UNCOUNTED,
    LARDER_READ_MISS,
    LARDER_READ_HIT,
    LARDER_READ_STALE /* a hit of a stale item */
} larder_read;
void larder_recount(larder *cache, const void *key, size_t key_bytes, larder_read from, larder_read to);

/*
 * Tags: items can be stored with tags, and all items of a tag deleted, in the same time whatever their number.
 *
 * larder_stamp_now is called before a value is computed that will have tags, and its stamp given to the store:
 * then an item is also deleted if one of its tags is deleted while its value is computed. A store with a stamp of
 * before larder_clear, or of another file, is NOT_STORED.
 *
 * larder_delete_tagged: OK; items with one of the tags that were stored before, or computed since before, are a
 * MISS from now on. They take their room until they are evicted, which they are before others. An error means as
 * with larder_delete that this process cannot reach the file. Waits for locks of shards; if one cannot be had, or
 * the table of deletions is full, other items with tags that are as old are taken for deleted, too. The counts
 * forgotten_tags and forgotten_misses tell how many. There is room for a quarter of a million deletions in 256
 * MiB. A count of 0 deletes nothing.
 */
larder_status larder_stamp_now(larder *cache, larder_stamp *stamp);
larder_status larder_delete_tagged(larder *cache, const larder_tag *tags, size_t count, const larder_call *call);

/*
 * For a file whose items are copies of those of another store. larder_trust: copies that change there are removed
 * for so long (0: no longer), counted from `since`, or from now if that is NULL. The caller may be stopped for any
 * time before it calls: trust that has ended by then is none. OK, INVALID (more than LARDER_MAX_TRUST_MS), or why
 * this process cannot reach the file. larder_trusted: OK or MISS, in all processes. Reads do not ask; a new file
 * is not trusted.
 */
#define LARDER_MAX_TRUST_MS 60000u
typedef struct {
    int64_t monotonic_ms; /* CLOCK_MONOTONIC */
    int64_t wall_ms;      /* CLOCK_REALTIME: Unix ms */
} larder_moment;
larder_status larder_trust(larder *cache, uint32_t for_ms, const larder_moment *since);
larder_status larder_trusted(larder *cache);

/*
 * Adds `delta` to a signed 64-bit counter and stores the sum in `*result`. An absent key starts from `initial` and
 * gets the TTL `ttl_ms` (0: never expires; negative: INVALID). The expiry of a present key does not change. A
 * plain value that is a decimal integer without flags becomes a counter, but one with tags, which it keeps.
 * NOT_A_NUMBER, OVERFLOW, BUSY, FULL and PIN_FULL change nothing; DAMAGED as with larder_set.
 */
larder_status larder_increment(larder *cache, const void *key, size_t key_bytes, int64_t delta, int64_t initial,
                               int64_t ttl_ms, int64_t *result, const larder_call *call);
/* The same, of a number that has these tags if it was absent. It is no counter, and takes longer to change. */
larder_status larder_increment_tagged(larder *cache, const void *key, size_t key_bytes, int64_t delta,
                                      int64_t initial, int64_t ttl_ms, const larder_tag *tags, size_t count,
                                      int64_t *result, const larder_call *call);

/* Gives a present key a new TTL (0: never expires; negative: drops it). OK, MISS or BUSY. An item with tags,
 * stale_ms or compute_ms is stored again: then also FULL, PIN_FULL or NO_MEMORY, and the item stays as it was. */
larder_status larder_touch(larder *cache, const void *key, size_t key_bytes, int64_t ttl_ms,
                           const larder_call *call);

/* Empties the cache in O(1). Statistics and attached processes stay. */
larder_status larder_clear(larder *cache);

/*
 * Replaces the cache's file by a new, empty one of `size_bytes`. Every process that has the cache open, including
 * this one, attaches to the new file at its next call. If it fails, for example because the disk is full, nothing
 * has changed; `error` (may be NULL) tells why. Both files take disk space until the last process has left the old
 * one.
 *
 * With `keep` the new file has the items of the old one with all that belongs to them, also stale items that are
 * kept. Leases end: a store under one is NOT_STORED. IN_USE: another process has the cache open. No process can
 * open it while the items are copied, and no other thread may use it.
 */
enum {
    LARDER_KEEP_NONE,
    LARDER_KEEP_SOME, /* as many as there is room for; FULL or PIN_FULL if there is none for a pinned item */
    LARDER_KEEP_ALL,  /* FULL or PIN_FULL if there is no room for all items */
    LARDER_KEEP_TRIAL /* returns the result of KEEP_ALL, but changes nothing */
};
larder_status larder_resize(larder *cache, uint64_t size_bytes, uint32_t keep, larder_error *error);

/*
 * Visits keys. Start with `*cursor` 0 and call until it is 0 again. Each call fills `buffer` (at least
 * LARDER_MAX_KEY + 4 bytes) with `*count` live keys that start with `prefix`, each as a native 32-bit length and
 * its bytes, without padding; `*used` is the number of bytes filled. A key that is present all the time is visited
 * at least once; while the index grows, keys may be visited more than once. After the file was replaced the walk
 * begins again, with the keys of the new file. If no file is attached, the reason is
 * returned and the cursor does not change. Takes no lock.
 */
larder_status larder_scan(larder *cache, uint64_t *cursor, const void *prefix, size_t prefix_bytes, void *buffer,
                          size_t buffer_bytes, size_t *count, size_t *used, const larder_call *call);

/*
 * As larder_scan, also of stale items, with a larder_details between the length of each key and its bytes. It is
 * not aligned. `buffer` has at least LARDER_MAX_KEY + 4 + sizeof(larder_details) bytes.
 */
larder_status larder_scan_details(larder *cache, uint64_t *cursor, const void *prefix, size_t prefix_bytes,
                                  void *buffer, size_t buffer_bytes, size_t *count, size_t *used,
                                  const larder_call *call);

/*
 * Visits the keys that have leases as larder_scan does. A key need not have a value yet. A larder_leased is
 * between the length of each key and its bytes. It is not aligned. `buffer` has at least LARDER_MAX_KEY + 4 +
 * sizeof(larder_leased) bytes.
 */
larder_status larder_scan_leases(larder *cache, uint64_t *cursor, const void *prefix, size_t prefix_bytes,
                                 void *buffer, size_t buffer_bytes, size_t *count, size_t *used,
                                 const larder_call *call);

/* `*passed_ppm`: which part of the walk is behind `cursor`, in millionths. 0 for a cursor of a file that was
 * replaced, as the walk begins again. If no file is attached, the reason is returned. Takes no lock. */
larder_status larder_scan_progress(larder *cache, uint64_t cursor, uint32_t *passed_ppm);

/* Drops expired items now, and those whose tag was deleted; `*dropped` (may be NULL) is their number. Holds a
 * shard's lock for a few thousand items at a time. */
larder_status larder_prune(larder *cache, uint64_t *dropped, const larder_call *call);

larder_status larder_get_stats(larder *cache, larder_stats *stats);

/*
 * Statistics by keyspace and by time, of all processes that open the cache with larder_options.statistics. They
 * are in a file next to the cache, PATH.stats, which survives larder_clear and larder_resize.
 *
 * The keyspace of a key is its part before the first "/" or ":", after its namespace; of a fragment of Rails,
 * whose key is views/TEMPLATE:DIGEST/..., it is views/TEMPLATE. A number that has two digits or does not follow a
 * letter ends it: user_17 and user_8/photo are in "user_*". Other groups can be made by patterns. The 64 keyspaces
 * with most traffic have a row, all others share one.
 *
 * Counts of the whole cache are exact, those of keyspaces are taken from a sample. The square root of a variance
 * is the standard error of the count: read_variance of hits + misses, store_variance of stores, eviction_variance
 * of evictions. With few calls a second all are counted, and the variances are 0.
 *
 * A process keeps counts in memory. Calls that store add them to the file, once a second at most, or try calls
 * once in five seconds, and larder_close and larder_keep_usage do. A read never does: it does not wait for the
 * disk. A close waits up to LARDER_USAGE_WAIT_MS for other processes that add theirs. Counts that a process has
 * not added when it is killed are lost, and counts that the file could not take.
 */
#define LARDER_USAGE_WAIT_MS 1000 /* processes may end at the same time, and one of them may be stopped */
#define LARDER_KEYSPACES 64
#define LARDER_USAGE_WORDS 16
#define LARDER_USAGE_LIST(X)                                                              \
    X(hits, "reads that found a live item")                                               \
    X(misses, "reads that found none")                                                    \
    X(stores, "items stored")                                                             \
    X(stored_bytes, "bytes of their values")                                              \
    X(evictions, "live items dropped to make room")                                       \
    X(evicted_age_ms, "sum of the ages of these items, each up to as old as its segment") \
    X(stale_hits, "hits of a stale item, by callers that take those")                     \
    X(waits, "waits for a value that another caller computed")                            \
    X(computes, "misses after which the same process stored the key")                     \
    X(compute_us, "sum of the times between these misses and stores")                     \
    X(read_variance, "of hits + misses")                                                  \
    X(store_variance, "of stores")                                                        \
    X(eviction_variance, "of evictions")                                                  \
    X(failures, "calls of larder_count_failure; the row of all other keyspaces has them")

typedef struct larder_usage_counts {
#define LARDER_USAGE_FIELD(name, text) uint64_t name;
#define LARDER_USAGE_ONE(name, text) +1
    LARDER_USAGE_LIST(LARDER_USAGE_FIELD)
    uint64_t reserved[LARDER_USAGE_WORDS - (0 LARDER_USAGE_LIST(LARDER_USAGE_ONE))];
#undef LARDER_USAGE_FIELD
#undef LARDER_USAGE_ONE
} larder_usage_counts;

typedef struct larder_keyspace {
    uint32_t name_bytes; /* 0: the row is free; of row LARDER_KEYSPACES: always, that of all other keyspaces */
    char name[60];       /* any bytes, as keys have them */
    uint64_t traffic;    /* reads and stores; falls by half each hour */
    int64_t since_ms;    /* Unix time when it got its row */
    larder_usage_counts counts;
} larder_keyspace;

#define LARDER_MINUTES 120
#define LARDER_HOURS 336
#define LARDER_BUCKET_KEYSPACES 16
typedef struct larder_bucket { /* a minute or an hour */
    int64_t began_ms;          /* Unix time; 0: the bucket is empty */
    larder_usage_counts whole;
    struct {
        int32_t keyspace; /* its row; -1: this part is empty */
        uint32_t reserved;
        larder_usage_counts counts;
    } parts[LARDER_BUCKET_KEYSPACES];
} larder_bucket;

#define LARDER_USAGE_KEYS 64
typedef struct larder_used_key {
    uint64_t weight;      /* recent reads: a sixteenth goes each minute; or the bytes of the value. 0: free */
    uint64_t error;       /* the weight may be too great by this amount */
    int64_t seen_ms;      /* Unix time */
    uint64_t value_bytes; /* when it was seen */
    uint32_t key_bytes;   /* of the key; only its first 124 may be here */
    char key[124];
} larder_used_key;

#define LARDER_KEYSPACE_NAMESPACES 8
#define LARDER_KEYSPACE_PATTERNS 32
typedef struct larder_keyspace_rules {                                    /* see larder_name_keyspaces */
    uint32_t namespaces, patterns;                                        /* how many there are */
    char text[LARDER_KEYSPACE_NAMESPACES + LARDER_KEYSPACE_PATTERNS][64]; /* room for all namespaces comes first */
} larder_keyspace_rules;

typedef struct larder_usage { /* about a megabyte */
    int64_t since_ms;         /* Unix time when the file was made */
    int64_t changed_ms;       /* and when it was last changed */
    larder_keyspace keyspaces[LARDER_KEYSPACES + 1];
    larder_bucket minutes[LARDER_MINUTES], hours[LARDER_HOURS]; /* of the last two hours and weeks, in no order */
    larder_used_key hot[LARDER_USAGE_KEYS], heavy[LARDER_USAGE_KEYS]; /* most read; largest; in no order */
    larder_keyspace_rules rules;
} larder_usage;

/* Reads the statistics of the cache at `path`, which need not be open. OK; NOT_THERE: there are none; or why they
 * cannot be used. Takes no lock. */
larder_status larder_get_usage(const char *path, larder_usage *usage, larder_error *error);
/* 1: this process has counted something that the file does not have, and did not add to it for a second; or a
 * call that stores could not add to it, and larder_keep_usage returns why. */
int larder_usage_due(const larder *cache);
/* Adds the counts of this process to the file. May wait for the disk. OK; LOCKED: another thread or process adds
 * its own, and did not end within `wait_ms`; or why the file cannot be used. */
larder_status larder_keep_usage(larder *cache, uint32_t wait_ms, larder_error *error);
/* Counts in the statistics that a call of the caller's failed, for whatever reason. A failure while no file is
 * attached is added when this process attaches one. No effect without statistics. */
void larder_count_failure(larder *cache);
/* Keys that begin with `name` and ":" have the namespace `name`, which is not part of their keyspace (NULL: none
 * is added). A key that begins with a pattern, in which "*" stands for any bytes but "/" and ":", has the pattern
 * as its keyspace. OK; INVALID: one is empty or longer than 63 bytes, or there would be more than 8 namespaces or
 * 32 patterns: the others are added. */
larder_status larder_name_keyspaces(larder *cache, const char *name, const char *const *patterns, size_t count);
/* Stores the keyspace of a key in `name` (60 bytes) and returns its length. `rules` are those of larder_get_usage;
 * NULL: there are no namespaces and no patterns. */
size_t larder_keyspace_of(const larder_keyspace_rules *rules, const void *key, size_t key_bytes, char *name);

/*
 * Estimates the hit ratio at other sizes of the file, from a sample of the keys that were read and stored while
 * the cache was full. Processes keep it in memory: it is empty after the last one has closed the file. Items that
 * expire or are deleted, and values of very different sizes, make it less exact. OK, INVALID, or why no file is
 * attached. Takes no lock.
 */
larder_status larder_get_other_sizes(larder *cache, larder_other_sizes *sizes);

/* Stores up to `most` ids of attached processes in `pids`, each as the process itself knows it. Returns the number
 * of attached processes. */
size_t larder_get_pids(larder *cache, uint32_t *pids, size_t most);

/*
 * A number of this process in this file; 0: no file is attached. It changes in a forked child and after the file
 * was replaced. Unlike a process id it means the same in all containers. It consists of a process slot and the low
 * bits of the slot's incarnation, so it repeats after half a million claims of the slot. A slot's first
 * incarnation is random, so the number of a process of another file is seldom one of this file.
 */
uint32_t larder_process(larder *cache);

/* Is the process with that number attached? 1 also if that is unknown. */
int larder_process_lives(larder *cache, uint32_t process);

/* Checks every invariant of the file. Holds one shard lock at a time, for about a megabyte of the file, so its
 * counts are approximate while others write. `report` is filled unless the result is INVALID. */
larder_status larder_verify(larder *cache, larder_report *report);

const char *larder_status_text(larder_status status);
const char *larder_status_name(larder_status status);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
