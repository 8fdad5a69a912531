/*
 * larder.h — the public C API of the Larder cache engine.
 *
 * Larder keeps a cache in one file that every process of a machine maps.
 * Reads take no lock. Writers take one short lock per shard, which is repaired
 * by the next writer when its owner dies. The cache survives `kill -9` and
 * restarts; after a machine crash it starts empty rather than return a value
 * that had been deleted.
 *
 * Concepts
 *   item      A key (0 to LARDER_MAX_KEY bytes), a value (0 bytes to
 *             larder_max_value()), one byte of caller flags, a time to live.
 *   miss      A result, not an error: absent, expired, evicted or damaged.
 *   handle    `larder *`. One per process and file: opening the same file again
 *             returns the same handle with one more reference. A handle may be
 *             used by any number of threads, and in a forked child, where it
 *             attaches itself anew at its first call.
 *   refusal   A store that could not be made (lock timeout, cache full)
 *             answers an error. Where it would have overwritten, it *has dropped*
 *             the old value of the key: an old value never outlives a refused
 *             overwrite. LARDER_ADD and larder_cas leave the old value.
 *
 * Caveats
 *   - Put the file on a local file system. Those of networks, of clusters, of a virtual
 *     machine's host (9p, virtiofs, vboxsf, prl_fs, vmhgfs) and of FUSE are refused: their
 *     files change past the kernel's page cache, or have several, and a delete in
 *     one would not be seen in the other.
 *   - Where the system has no open-file-description locks (macOS, gVisor), or the file
 *     is on overlayfs (in a container's own layer, not on a volume), do not open the
 *     `.lock` file beside the cache in a process that has the cache open: closing any
 *     descriptor of it drops POSIX locks (fcntl(2)).
 *   - A copy of the file that is put back later is replaced by an empty cache, unless
 *     cache and lock file both come back with the inodes they had.
 *   - A file that is removed or replaced by hand is noticed within a fifth of a
 *     second by processes that write, and within a thousand reads by others; until
 *     then they see neither the new file's values nor its deletes.
 *   - A SIGBUS handler that the host installs after larder_open must pass on faults
 *     that are not its own, or a file cut by others crashes the host.
 *   - A thread that has SIGBUS blocked would be killed with its process by such a fault
 *     (POSIX leaves it undefined): its first call of Larder unblocks SIGBUS, for good.
 *     Do not block it again in a thread that goes on to use a cache.
 *   - The time to live follows the wall clock (CLOCK_REALTIME), because it must
 *     outlive a reboot. A clock set back lets items live that much longer.
 *   - A value that was changed by increment is returned as decimal text.
 *   - The file is trusted as far as its owner and mode are: others who may
 *     write to it may forge values.
 *
 * Binary interface
 *   The structs below keep their size and the places of their fields as long as the
 *   library keeps its soname. What is reserved must be zero in what a caller gives,
 *   else the answer is LARDER_INVALID, and is zero in what it gets: a later version
 *   may give it a meaning of which zero is the old one. Initializers that name their
 *   fields leave it zero. New status codes and statistics are added behind the others
 *   of their list.
 *
 * All functions return LARDER_OK or another larder_status and never exit,
 * abort, print or change errno's meaning for the caller. Sizes are in bytes and
 * times in milliseconds, as their names say.
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

#define LARDER_MAX_KEY 4096u             /* longest key */
#define LARDER_MAX_VALUE (64u << 20)     /* longest value in the largest cache */
#define LARDER_MIN_SIZE (1u << 20)       /* smallest file */
#define LARDER_MAX_SIZE (1ull << 40)     /* largest file */
#define LARDER_DEFAULT_SIZE (256u << 20) /* where options name none */
#define LARDER_MAX_TTL_MS (1ll << 46)    /* about 2,200 years */

/*
 * Status codes: name, text. One line each gives the enum here and the text of larder_status_text(). The first four
 * are results and no errors.
 */
#define LARDER_STATUS_LIST(X)                                                                          \
    X(OK, "done")                                                                                      \
    X(MISS, "the key is not in the cache")                                                             \
    X(NOT_STORED, "the condition of the store did not hold")                                           \
    X(BUFFER_TOO_SMALL, "the buffer is smaller than the value")                                        \
    X(INVALID, "an argument is not valid")                                                             \
    X(KEY_TOO_LONG, "the key is longer than 4096 bytes")                                               \
    X(VALUE_TOO_LARGE, "the value is larger than this cache can hold")                                 \
    X(NOT_A_NUMBER, "the value is not a 64-bit decimal integer")                                       \
    X(OVERFLOW, "the result does not fit 64 bits")                                                     \
    X(BUSY, "lock timeout: its owner is alive but stopped or very slow")                               \
    X(FULL, "no room could be made for the item")                                                      \
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
    X(NO_SLOT, "all process slots of the cache are taken by live processes")                           \
    X(IN_USE, "other processes have the cache open; stop them first")                                  \
    X(LOCKED, "the cache is being made, opened or closed, by this process or another")                 \
    X(NO_MEMORY, "memory could not be allocated")                                                      \
    X(SYSTEM, "a system call failed")

typedef enum larder_status {
#define LARDER_STATUS_ENUM(name, text) LARDER_##name,
    LARDER_STATUS_LIST(LARDER_STATUS_ENUM)
#undef LARDER_STATUS_ENUM
        LARDER_STATUS_COUNT
} larder_status;

typedef struct larder larder;

/* Zero means the default everywhere. */
typedef struct larder_options {
    uint64_t size_bytes;      /* whole file; used at creation only */
    uint32_t lock_timeout_ms; /* longest wait for a live owner of a shard, default 200 */
    uint32_t existing;        /* 1: use a file that is there and fit, and make, replace and remove none */
    uint32_t attach_later;    /* 1: larder_open and other calls do not attach, larder_attach does */
    uint32_t reserved[11];
} larder_options;

/* What a failed larder_open has to say beyond its status. */
typedef struct larder_error {
    larder_status status;
    int system_errno; /* 0 where no system call failed */
    uint64_t reserved[9];
    char detail[240]; /* names the offender: a path, a size, a call */
} larder_error;

/* Per-call settings; a NULL pointer means none of them. */
typedef struct larder_call {
    int64_t now_ms; /* Unix time to decide expiry by; 0: the engine's own clock */
    uint32_t flags; /* LARDER_CALL_*; others are reserved */
    uint32_t reserved;
} larder_call;

/* Answer LARDER_BUSY, having changed nothing at all, where a lock is not free at once. */
#define LARDER_CALL_TRY 1u

typedef struct larder_item {
    size_t size_bytes;     /* of the value, also with LARDER_BUFFER_TOO_SMALL */
    int64_t expires_at_ms; /* Unix time, 0: never */
    uint8_t flags;         /* as given to larder_set */
    uint8_t is_counter;    /* 1 where the value was made by larder_increment */
    uint8_t is_pinned;     /* 1 where eviction leaves it */
    uint8_t reserved[13];
} larder_item;

typedef struct larder_lookup { /* one of larder_get_multi */
    const void *key;
    size_t key_bytes;
    void *buffer;
    size_t buffer_bytes;
    larder_item item;     /* out */
    larder_status status; /* out: OK, MISS, BUFFER_TOO_SMALL, KEY_TOO_LONG, INVALID */
    uint32_t reserved;
} larder_lookup;

typedef enum larder_mode {
    LARDER_SET = 0, /* store whatever was there */
    LARDER_ADD,     /* only where the key is absent */
    LARDER_REPLACE  /* only where the key is present */
} larder_mode;

typedef struct larder_store {
    const void *key;
    size_t key_bytes;
    const void *value;
    size_t value_bytes;
    int64_t ttl_ms;                 /* 0: never expires; negative: expired at once, see larder_set */
    int64_t expected_expires_at_ms; /* of larder_cas; 0: whatever it is */
    uint8_t expected_flags;         /* of larder_cas */
    uint8_t flags;                  /* the caller's own: how the value is encoded; 0 for plain bytes */
    uint8_t mode;                   /* larder_mode */
    uint8_t pin;          /* 1: eviction leaves it until it expires or is dropped, see larder_max_pinned */
    larder_status status; /* out, of larder_set_multi */
    uint64_t reserved[2];
} larder_store;

/*
 * Counts are sums over all processes since the file was made, gauges are of now:
 * name, description. Counts are exact for single-threaded use of
 * a process and may lose a few where native threads race.
 */
#define LARDER_COUNTS_LIST(X)                                                             \
    X(hits, "reads that found a live item")                                               \
    X(misses, "reads that found none")                                                    \
    X(sets, "items stored")                                                               \
    X(refused, "stores refused for want of a lock or of room")                            \
    X(deletes, "deletes that found the key")                                              \
    X(increments, "counters changed")                                                     \
    X(evictions, "live items dropped to make room: each once, however many parts it has") \
    X(expirations, "expired items dropped to make room or by prune")                      \
    X(promotions, "items kept by eviction: they had been read, or there was room")        \
    X(damaged, "records whose checksum or shape was wrong")                               \
    X(repairs, "shards repaired after their lock's owner died")                           \
    X(resets, "shards emptied because they could not be repaired")                        \
    X(lock_waits, "waits for a shard lock")
#define LARDER_GAUGES_LIST(X)                                                              \
    X(items, "items in the index, also expired ones that nobody has dropped yet")          \
    X(used_bytes, "bytes of segments in use, dead records included")                       \
    X(index_bytes, "bytes of segments used by the index")                                  \
    X(pinned_bytes, "bytes of pinned items, which eviction leaves")                        \
    X(pinned_room_bytes, "bytes that pinned items may take")                               \
    X(capacity_bytes, "bytes of segments that items and index may take before some leave") \
    X(size_bytes, "bytes of the file")                                                     \
    X(shards, "shards")                                                                    \
    X(processes, "processes attached")                                                     \
    X(oldest_age_ms, "no item was stored longer ago; 0: there is none")
#define LARDER_STATS_LIST(X) LARDER_COUNTS_LIST(X) LARDER_GAUGES_LIST(X)
#define LARDER_STATS_WORDS 24 /* for counts, and as many for gauges */

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
    uint64_t items;            /* live slots walked */
    uint64_t records;          /* records walked in segments */
    uint64_t problems;         /* violated invariants; 0 is a sound file */
    uint64_t reserved[7];
    char first[240]; /* the first problem in words, or "" */
} larder_report;

/*
 * Opens the cache at `path`, creating it (mode 0600) and missing directories
 * (the last one of mode 0700). A file that is Larder's but damaged, of an older
 * format, or not cleanly closed before a machine crash is replaced by an empty
 * one; a file that is not Larder's is never touched. With `existing` neither is
 * any other: NOT_THERE or UNFIT says why it cannot be used. A size other than
 * the file's is ignored: compare larder_size(). `options` and `error` may be
 * NULL. `*out` is set on LARDER_OK only.
 */
larder_status larder_open(const char *path, const larder_options *options, larder **out, larder_error *error);

/*
 * A handle is attached to a file, or not (yet): then reads are misses, stores are
 * refused, and keys that were to be deleted or overwritten are remembered (1,024, then all)
 * and deleted when it attaches, before anybody reads. Calls attach by themselves, at the first one, in a
 * forked child and where the file was replaced, and wait a second at most, but
 * for handles that were opened with `attach_later`: whoever cannot let a call
 * wait asks larder_attached() before it, and has another thread or a better moment for larder_attach().
 * With it larder_open accepts a path that is too long, or is relative where the working directory was removed;
 * larder_attach reports the error.
 *
 * larder_attached: 1, attached; 0, larder_attach() should be called; -1, it failed a moment ago: later (or NULL).
 * larder_attach: OK, or why not; LOCKED where another process makes, opens or closes the file
 * and was not done in `wait_ms`.
 * larder_last_failure: the error of the last attempt to attach, OK where it succeeded or none was made (or NULL).
 */
int larder_attached(larder *cache);
larder_status larder_attach(larder *cache, uint32_t wait_ms, larder_error *error);
larder_status larder_last_failure(larder *cache, larder_error *error);

/*
 * Drops one reference; the last one detaches. The last process of a machine to
 * detach writes the file back and marks it clean. NULL is allowed. No other
 * thread may be inside a call on this reference.
 */
void larder_close(larder *cache);

const char *larder_path(const larder *cache);
uint64_t larder_size(const larder *cache);    /* bytes of the file */
size_t larder_max_value(const larder *cache); /* longest value: min(64 MiB, capacity / 8) */

/*
 * Longest key and value together of an item that is pinned. A pinned item leaves only when it expires, is deleted
 * or replaced, or with larder_clear; a damaged or replaced file loses it like the rest. It may take two thirds of
 * a shard, where a long item counts with what it leaves of a segment: beyond that a store with `pin` is FULL, and
 * what the key had before is treated as in any refusal. What was deleted makes room at once, what has expired
 * within a second. Everything else is evicted before that. An increment of a pinned number leaves it pinned.
 */
size_t larder_max_pinned(const larder *cache);

/*
 * Copies the value into `buffer`. Returns OK, MISS, KEY_TOO_LONG, or
 * BUFFER_TOO_SMALL with item->size_bytes set and the buffer's content undefined.
 * `item` may be NULL. Takes no lock and waits for nobody, but for the moment in
 * which the handle attaches anew (in a forked child, or to a file that replaced
 * its own: a second at most).
 */
larder_status larder_get(larder *cache, const void *key, size_t key_bytes, void *buffer, size_t buffer_bytes,
                         larder_item *item, const larder_call *call);

/* The same for `count` lookups in one pass; each has its own status. */
larder_status larder_get_multi(larder *cache, larder_lookup *lookups, size_t count, const larder_call *call);

/* OK or MISS, without reading the value. `item` (size, expiry, flags) may be NULL. Takes no lock. */
larder_status larder_exists(larder *cache, const void *key, size_t key_bytes, larder_item *item,
                            const larder_call *call);

/*
 * Stores. OK; NOT_STORED where `mode` did not hold; VALUE_TOO_LARGE, BUSY, FULL or
 * DAMAGED as a refusal; NO_SLOT or SUPERSEDED where this process cannot attach.
 *
 * What has a negative time to live has expired at once, and takes no lock. LARDER_SET
 * drops the key; LARDER_REPLACE drops it, or answers NOT_STORED where it is absent;
 * LARDER_ADD changes nothing: NOT_STORED where the key is present, else OK.
 */
larder_status larder_set(larder *cache, const larder_store *store, const larder_call *call);

/* The same for each store, in order; `*stored` (may be NULL) counts the OK ones. Returns the first error. */
larder_status larder_set_multi(larder *cache, larder_store *stores, size_t count, size_t *stored,
                               const larder_call *call);

/*
 * Compare and swap: stores only where the key's value is byte for byte
 * `expected`, with the flags store->expected_flags, and expires when
 * store->expected_expires_at_ms says. OK, MISS where absent, NOT_STORED where it
 * differs, or a refusal. A negative time to live is INVALID.
 */
larder_status larder_cas(larder *cache, const larder_store *store, const void *expected, size_t expected_bytes,
                         const larder_call *call);

/*
 * OK, or MISS where there was nothing. Takes no lock, and holds whatever other processes do: what was there when
 * it began is gone when it ends. What others store under the key while it runs, it may take away too. DAMAGED or
 * SUPERSEDED where this process cannot reach the file, which then serves it only misses.
 */
larder_status larder_delete(larder *cache, const void *key, size_t key_bytes, const larder_call *call);

/*
 * Adds `delta` to a 64-bit signed counter and puts the sum into `*result`. An
 * absent key starts from `initial` and lives for `ttl_ms` (0: for ever; negative:
 * INVALID); the life of a present one is not changed. A plain value that is a decimal integer
 * and has no flags becomes a counter. NOT_A_NUMBER, OVERFLOW, BUSY and FULL
 * change nothing; DAMAGED as with larder_set.
 */
larder_status larder_increment(larder *cache, const void *key, size_t key_bytes, int64_t delta, int64_t initial,
                               int64_t ttl_ms, int64_t *result, const larder_call *call);

/* Gives a present key a new life of `ttl_ms` (0: for ever; negative: drops it). OK, MISS or BUSY. */
larder_status larder_touch(larder *cache, const void *key, size_t key_bytes, int64_t ttl_ms,
                           const larder_call *call);

/* Empties the cache in O(1). Tags, statistics and attached processes stay. */
larder_status larder_clear(larder *cache);

/*
 * Puts a new, empty file of `size_bytes` in the place of the cache's. Every process that has it open, this one
 * too, attaches to the new one at its next call. Where it fails, as for want of room on the disk, nothing has
 * changed; `error` (may be NULL) says why. Both files take room until the last process has left the old one.
 *
 * With `keep` the new file has the items of the old one: IN_USE where another process has it open. Nobody can open
 * it while it is copied, and no other thread may use it.
 */
enum {
    LARDER_KEEP_NONE,
    LARDER_KEEP_SOME, /* as far as there is room; FULL where there is none for a pinned item */
    LARDER_KEEP_ALL,  /* FULL where there is no room for all items */
    LARDER_KEEP_TRIAL /* answers as KEEP_ALL, and changes nothing */
};
larder_status larder_resize(larder *cache, uint64_t size_bytes, uint32_t keep, larder_error *error);

/*
 * Visits keys. Start with `*cursor` 0 and call until it is 0 again. Each call
 * fills `buffer` (at least LARDER_MAX_KEY + 4 bytes) with `*count` live keys that
 * start with `prefix`, each as a native 32-bit length and its bytes, unpadded;
 * `*used` is the bytes filled. A key present throughout is visited at least
 * once; one that moves while the index grows may be visited twice. Where there is no file to visit, the reason is
 * answered, and the cursor stays. Takes no lock.
 */
larder_status larder_scan(larder *cache, uint64_t *cursor, const void *prefix, size_t prefix_bytes, void *buffer,
                          size_t buffer_bytes, size_t *count, size_t *used, const larder_call *call);

/* Drops expired items now; `*dropped` (may be NULL) counts them. A shard's lock is held for a few thousand items
 * at a time. */
larder_status larder_prune(larder *cache, uint64_t *dropped, const larder_call *call);

larder_status larder_get_stats(larder *cache, larder_stats *stats);

/* The ids of the processes that are attached, as each knows its own: how many, of which `most` are put into
 * `pids`. */
size_t larder_get_pids(larder *cache, uint32_t *pids, size_t most);

/*
 * A number for this process in this file; 0 where there is no file. It changes in a forked child, and where the
 * file was replaced. Unlike process ids it means the same in all containers. It is made of a slot and the low bits
 * of how often that was claimed, so it comes again after half a million claims of the slot.
 */
uint32_t larder_process(larder *cache);

/* Is the process with that number attached? 1 also where that cannot be told. */
int larder_process_lives(larder *cache, uint32_t process);

/* Walks every invariant of the file, one shard lock at a time, for a megabyte or so at a time: while others write,
 * its counts are about right. `report` is always filled. */
larder_status larder_verify(larder *cache, larder_report *report);

const char *larder_status_text(larder_status status);
const char *larder_status_name(larder_status status);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
