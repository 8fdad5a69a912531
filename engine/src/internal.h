/*
 * internal.h — what the engine's files know of each other, grouped by file.
 *
 * Glossary
 *   map      a mapped cache file of this process (lard_map)
 *   shard    lard_view: a shard of a map, with its addresses worked out
 *   offset   bytes from the start of a shard
 *   under the lock   the caller holds the lock of that shard
 *
 * Nothing here raises, prints, allocates under a lock, or holds two shard locks.
 * Every loop over the file's contents is bounded by constants of the file, not by
 * what its bytes say: the bytes may be damaged.
 */
#ifndef LARD_INTERNAL_H
#define LARD_INTERNAL_H

#include "larder.h"
#include "crc.h"
#include "hash.h"
#include "layout.h"
#include "platform.h"

#include <signal.h>

struct stat;

typedef struct { /* the lock file of a cache */
    uint64_t device, inode;
    int fd;          /* a host may have closed it and opened another file under its number */
    bool is_stacked; /* a map is of another file, and does not keep this one open */
} lard_lockfile;

typedef struct { /* what stands in it */
    char magic[8];
    uint64_t version;
    uint8_t id[16];    /* random, repeated by the superblocks of its cache */
    uint64_t use[2];   /* either is the cache's use number; they differ while it changes */
    uint64_t inode[2]; /* of the lock file itself, see lard_inode(): a copy has another one */
} lard_lockfile_content;

typedef struct { /* a byte of the lock file that is held */
    void *page;  /* NULL: by a POSIX lock on fd */
    int fd;
    uint32_t byte;
    unsigned epoch; /* of the process that took it */
    bool held;
} lard_bytelock;

typedef struct { /* a process slot that is taken, but not yet the handle's */
    lard_bytelock lock;
    uint32_t slot;
    uint32_t incarnation;
} lard_claim;

typedef struct lard_map {
    uint8_t *base;
    size_t bytes;
    lard_control *control;
    lard_process *processes;
    uint8_t *shards;
    lard_superblock super; /* private copy, checked */
    struct lard_dircache *dircache;
    size_t record_limit; /* longest record */
    unsigned segment_shift;
    uint32_t shard_mask;
    uint64_t use;           /* number of the use that this process is part of */
    uint64_t device, inode; /* of fd: a host may have closed it and opened another file under its number */
    int fd;
    lard_lockfile lock;             /* of this file: who is alive there is asked by it */
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
    unsigned attaching;       /* epoch of the process of which a thread is at it; another: nobody is */
    int64_t next_touch_ms;    /* when to give the lock file a new time */
    uint32_t *stuck;          /* per shard: the lock word that was waited for in vain */
    lard_map *old_maps;
    struct larder *next; /* in the registry */
    char path[];
};

/* Milliseconds to decide expiry by. */
static inline int64_t lard_now(const larder_call *call) {
    return call && call->now_ms ? call->now_ms : lard_clock_ms();
}

/* hash.c — SipHash-1-3 (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012); hash.h has it inline */
uint64_t lard_siphash13(const uint64_t seed[2], const void *data, size_t bytes);
lard_hash lard_hash_key(const lard_map *map, const void *key, size_t bytes, bool is_chunk);
static inline uint32_t lard_hash_shard(const lard_map *map, const lard_hash *hash) {
    return (uint32_t)(hash->full >> 56) & map->shard_mask;
}

/* crc.c — CRC-32C (Castagnoli 1993; RFC 3720 appendix B.4) over 64-bit words; crc.h has it inline */
void lard_crc_init(void);
uint32_t lard_crc_bytes(uint32_t crc, const void *data, size_t bytes);
uint32_t lard_crc_word(uint32_t crc, uint64_t word);
uint32_t lard_crc_shared(uint32_t crc, const lard_u64 *words, size_t count);
/* Copies the value of `bytes` that starts `skip` (< 8) bytes into shared words to `out`, and checksums the words.
 */
uint32_t lard_crc_copy_out(uint32_t crc, const lard_u64 *words, size_t skip, void *out, size_t bytes);
/* Copies `bytes` into shared words, the last one padded with zeros, and checksums them. */
uint32_t lard_crc_copy_in(uint32_t crc, lard_u64 *words, const void *in, size_t bytes);

/* sigbus.c — SIGBUS in a map becomes zeros and a poisoned map */
larder_status lard_sigbus_guard(lard_map *map, const char *path, larder_error *error);
void lard_sigbus_release(lard_map *map);
/* A SIGBUS that its thread has blocked kills the process whatever the handler would do: each thread has it
 * unblocked from its first call on. */
extern _Thread_local bool lard_thread_ready __attribute__((visibility("hidden")));
void lard_sigbus_unblock(void);
static inline void lard_thread_enter(void) {
    if (LARD_UNLIKELY(!lard_thread_ready)) {
        lard_sigbus_unblock();
    }
}
bool lard_sigbus_blank(lard_map *map); /* of a file that was left: zeros, without a guard; false: it had none */

/* advice.c — what the kernel is told of the pages of a map */
void lard_advise_map(const lard_map *map);     /* once it is mapped */
void lard_advise_shard(const lard_view *view); /* once this process uses it, and when it was emptied */
void lard_advise_index(const lard_view *view, uint32_t segment);   /* has a page: read and keep it */
void lard_advise_segment(const lard_view *view, uint32_t segment); /* has it read, does not wait for it */

/* memory_limit.c — what control groups allow this process */
/* The group that has the least left: its limit, and what is in use and cannot be given back. False: no limit. */
bool lard_memory_limit(uint64_t *limit_bytes, uint64_t *used_bytes);
/* OK, or NO_SPACE where a file of so many bytes would be in memory (tmpfs), and that much is not allowed. */
larder_status lard_memory_admits(int fd, const char *path, uint64_t bytes, larder_error *error);

/* validate.c — what a file is. *fit: it may be used, and *super is filled; else it is Larder's, and to be replaced
 */
larder_status lard_validate(int fd, const char *path, const lard_lockfile_content *lock, bool alone,
                            const char **unfit, lard_superblock *super, larder_error *error);

/* file.c — creating, mapping and replacing files */
larder_status lard_file_open(const char *path, uint64_t size_bytes, const lard_lockfile_content *lock, bool alone,
                             lard_map **out, larder_error *error);
/* Before this process stores into it. Alone: under a new use number. */
larder_status lard_file_begin_use(lard_map *map, const char *path, const lard_lockfile *lock, bool alone,
                                  larder_error *error);
larder_status lard_file_mark_dirty(lard_map *map);
void lard_file_give_up(lard_map *map, const char *path);
void lard_file_unmap(lard_map *map);
void lard_file_close(lard_map *map); /* the descriptor; the map stays */
larder_status lard_file_sync(lard_map *map, const char *path, const lard_lockfile *lock);
void lard_file_mark_superseded(lard_map *map);
bool lard_file_was_replaced(const lard_map *map, const char *path);
void lard_file_discard(lard_map *map);
int lard_file_write(int fd, const void *data, size_t bytes, uint64_t at); /* all of it: 0, or errno */
int lard_file_read(int fd, void *out, size_t bytes, uint64_t at,
                   size_t *got); /* up to the file's end: 0, or errno */
larder_status lard_fail_call(larder_error *error, const char *call, const char *path, int code);
larder_status lard_fail(larder_error *error, larder_status status, int system_errno, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* place.c — whose files are used, and whose become those that are made */
/* What kinds of file others could have put there, and of whom. */
larder_status lard_place_trusted(int fd, const char *path, struct stat *info, larder_error *error);
/* Gives what was just made its mode, whatever the umask, and what root has made to the owner of its directory: 0,
 * or errno. */
int lard_place_give(int fd, const char *path, unsigned mode);
larder_status lard_place_make(const char *path,
                              larder_error *error);           /* missing directories, the last one private */
void lard_place_directory(const char *path, char *directory); /* that it is in; of LARD_LOCK_PATH_MAX bytes */

/* format.c — the numbers of a new file, and their check on an old one */
larder_status lard_format_plan(uint64_t size_bytes, lard_superblock *super);
bool lard_format_valid(const lard_superblock *super, uint64_t file_bytes);
uint32_t lard_format_layout_hash(void);
uint32_t lard_format_crc(const lard_superblock *super);

/* fork.c — which process this is, and the lock that no fork may interrupt */
extern unsigned *lard_fork_word;
static inline unsigned lard_fork_epoch(void) {
    return __atomic_load_n(lard_fork_word, __ATOMIC_RELAXED); /* 0: a child that has not made a call yet */
}
void lard_registry_lock(void);
bool lard_watch_forks(void); /* the registry is locked; false where memory is short */
void lard_registry_unlock(void);

/* bytelock.c — bytes of the lock file that are held as long as this process lives */
/* 0; EAGAIN where somebody holds the byte; or errno. The registry is not locked. */
int lard_bytelock_take(const lard_lockfile *file, const char *path, uint32_t byte, lard_bytelock *held);
void lard_bytelock_drop(lard_bytelock *held, const lard_lockfile *file);
bool lard_bytelock_is_ours(
    const lard_bytelock *held); /* held, and not by the parent that this process was forked from */
/* Does anybody, this process included, hold one of these bytes? 1, 0, or -1: it cannot be told. */
int lard_bytelock_held(const lard_lockfile *file, const char *path, uint32_t first, uint32_t bytes);
bool lard_bytelocks_are_posix(const lard_lockfile *file); /* then a process does not see its own */

/* lockfile.c — the lock file beside a cache */
#define LARD_LOCK_PATH_MAX (PATH_MAX + 8)
void lard_lockfile_path(const char *path, char *lock);
/* 1: the cache at `path` has a lock file, whose path `lock` is, of LARD_LOCK_PATH_MAX bytes; 0: it has none; -1
 * and errno: it cannot be told. */
int lard_lockfile_look(const char *path, char *lock, struct stat *info);
larder_status lard_lockfile_open(const char *path, lard_lockfile *file, larder_error *error);
int lard_lockfile_is_at(const lard_lockfile *file, const char *path); /* 1, 0, or -1 and errno */
bool lard_lockfile_is(const lard_lockfile *file, const struct stat *info);
bool lard_lockfile_has(const lard_lockfile *file, int fd); /* is the descriptor one of the lock file? */
bool lard_lockfile_is_open(const lard_lockfile *file);     /* else its descriptor is nobody's, or the host's */
int lard_lockfile_reopen(const lard_lockfile *file, const char *path); /* a descriptor, or -1 and errno */
void lard_lockfile_close(lard_lockfile *file);
/* One opener at a time. LOCKED where another one was not done in `wait_ms`. */
larder_status lard_lockfile_enter(const lard_lockfile *file, const char *path, int64_t wait_ms,
                                  lard_bytelock *opener, larder_error *error);
/* The opener's lock is held, here and in the next. */
larder_status lard_lockfile_read(const lard_lockfile *file, const char *path, lard_lockfile_content *content,
                                 larder_error *error);
/* Notes that the cache has the one or the other use number, and brings that to the disk; or, where they are the
 * same, that it has no other, which a loss of power may undo. 0, or errno. */
int lard_lockfile_note_use(const lard_lockfile *file, const char *path, uint64_t old, uint64_t fresh);

/* process.c — process slots, who is alive */
/* The opener's lock is held, here and in the next two. NO_SLOT, or SYSTEM and errno. */
larder_status lard_process_claim(const larder *cache, const lard_lockfile *file, const char *path, lard_map *map,
                                 lard_claim *claim);
void lard_process_adopt(larder *cache, const lard_lockfile *file, lard_map *map, lard_claim *claim);
/* 1, 0, or -1: it cannot be told. */
int lard_process_is_alone(const larder *cache, const lard_lockfile *file, const char *path);
void lard_process_release(larder *cache);
bool lard_process_alive(const larder *cache, const lard_map *map, uint32_t owner_word);
uint32_t lard_owner_word(uint32_t slot, uint32_t incarnation);

/* The end of a call that changes something: after a fault, nobody else may go on with the file either. */
static inline larder_status lard_outcome(lard_map *map, larder_status status) {
    if (LARD_UNLIKELY(map->poisoned)) {
        lard_file_mark_superseded(map);
        return LARDER_DAMAGED;
    }
    return status;
}

/* handle.c — handles: opening, sharing, closing */
larder *lard_handle_of(uint64_t device,
                       uint64_t inode); /* of an open lock file, or NULL; the registry is locked */

/* pending.c — deletes that could not be applied */
typedef struct lard_pending lard_pending;
/* Of a key, or of all (NULL). False: the handle is attached by now, and nothing was noted. */
bool lard_pending_note(larder *cache, const void *key, size_t key_bytes);
void lard_pending_apply(larder *cache, lard_map *map); /* the registry is locked */
void lard_pending_free(larder *cache);

/* attach.c — a handle's file: attaching to it, and anew after a fork or a replacement */
lard_map *lard_enter_slow(larder *cache);
/* May the file be used, as far as is known? */
static inline bool lard_is_fit(const lard_map *map) {
    return map && !map->poisoned && !lard_load(&map->control->superseded);
}
/* The map that this process is attached to, or NULL. */
static inline lard_map *lard_current_map(const larder *cache) {
    lard_map *map = __atomic_load_n(&cache->map, __ATOMIC_ACQUIRE);
    if (LARD_LIKELY(map && __atomic_load_n(&cache->fork_epoch, __ATOMIC_ACQUIRE) == lard_fork_epoch() &&
                    lard_is_fit(map))) {
        return map;
    }
    return NULL;
}
void lard_look_at_path(larder *cache, lard_map *map);
lard_map *lard_reachable(larder *cache);
/* The map to work on, or NULL where this process can only serve misses. */
static inline lard_map *lard_enter(larder *cache) {
    lard_thread_enter();
    lard_map *map = lard_current_map(cache);
    return LARD_LIKELY(map != NULL) ? map : lard_enter_slow(cache);
}

/* shard.c — the lock of a shard, its repair and its reset */
static inline lard_view lard_view_of(lard_map *map, uint32_t number) {
    lard_view view;
    view.map = map;
    view.base = map->shards + (size_t)number * map->super.shard_bytes;
    view.head = (lard_shard *)view.base;
    view.directory = (lard_u32 *)(view.base + map->super.directory_offset);
    view.segments = (lard_segment *)(view.base + map->super.segment_table_offset);
    view.number = number;
    return view;
}
/* OK with the lock held and the shard of the current clear epoch, or BUSY. */
larder_status lard_shard_lock(larder *cache, lard_view *view, const larder_call *call);
void lard_shard_unlock(lard_view *view);
void lard_shard_end_turn(lard_view *view); /* the same for who wants it again at once: others have it first */
/* False: logically empty. */
static inline bool lard_shard_current(const lard_view *view, uint64_t *epoch) {
    *epoch = lard_load_acquire(&view->head->epoch);
    return (uint32_t)(*epoch >> 32) == lard_load(&view->map->control->clear_epoch) && *epoch != 0;
}

/* index.c — buckets and slots */
#include "bucket.h"
typedef struct {
    lard_u64 *slot; /* NULL: not found */
    uint64_t value;
} lard_found;
lard_found lard_index_find(const lard_view *view, const lard_hash *hash, const void *key, size_t key_bytes,
                           bool is_chunk);
/* The first item with the key's fingerprint; its record is not looked at, but on its way from now on. */
lard_found lard_index_probe(const lard_view *view, const lard_hash *hash);
/* What was probed if it is the key's item, else as find. Under the lock. */
lard_found lard_index_verify(const lard_view *view, lard_found probed, const lard_hash *hash, const void *key,
                             size_t key_bytes, bool is_chunk);
lard_found lard_index_find_offset(const lard_view *view, const lard_hash *hash, uint64_t offset,
                                  uint32_t generation);
/* Under the lock, as all below. */
larder_status lard_index_insert(larder *cache, lard_view *view, const lard_hash *hash, uint64_t slot);
/* Is what the slot names a part of a large value? */
bool lard_index_is_chunk(const lard_view *view, uint64_t slot);
/* One item, or chunk, less. Also without the lock. */
void lard_index_count_off(const lard_view *view, bool is_chunk);
/* Counts items and chunks anew. */
void lard_index_recount(lard_view *view);
/* Empties the slot if it still holds `value` but for the frequency; true where this call did it. */
bool lard_index_unlink(const lard_view *view, lard_u64 *slot, uint64_t value, uint64_t replacement);
/* Lock-free. Drops every slot of the key; *head is filled where it was a large value. */
bool lard_index_delete(const lard_view *view, const lard_hash *hash, const void *key, size_t key_bytes,
                       bool is_chunk, int64_t now_ms, lard_head *head);

/* dircache.c — this process's copy of where the buckets are */
#include "probe.h"
#include "dircache.h"

/* index_resize.c — splits and moves; under the lock */
bool lard_index_resize_begin(lard_view *view);
bool lard_index_resize_make_room(lard_view *view, lard_bucket *const buckets[2]); /* where both are full */
bool lard_index_resize_is_due(const lard_view *view);
void lard_index_resize_grow(larder *cache, lard_view *view);
void lard_index_resize_finish(lard_view *view); /* of a dead owner */

/* segment.c — free segments, queues, room to append */
#define LARD_SPARE_SEGMENTS 2u /* kept free: one to write on, one for eviction's own copies */
uint64_t lard_segment_offset(const lard_view *view, uint32_t segment);
bool lard_segment_take(lard_view *view, uint32_t *segment);
void lard_segment_free(lard_view *view, uint32_t segment);
void lard_segment_recount(lard_view *view);
/* Of the segment that an offset lies in; FREE where it lies in none. */
static inline uint32_t lard_segment_state(const lard_view *view, uint64_t offset) {
    uint64_t segment = (offset - view->map->super.data_offset) >> view->map->segment_shift;
    return segment < view->map->super.segments_per_shard ? lard_load(&view->segments[segment].state)
                                                         : (uint32_t)LARD_SEGMENT_FREE;
}
/* The segment has got an item that stood at `from_offset`. */
void lard_segment_inherit_age(lard_view *view, uint32_t segment, uint64_t from_offset);
uint64_t lard_segment_room(const lard_view *view, uint32_t queue);
/* Room for `bytes` in queue SMALL or MAIN: its offset, or 0. Evicts where it must. */
uint64_t lard_segment_reserve(larder *cache, lard_view *view, uint32_t queue, uint64_t bytes, int64_t now_ms);
void lard_segment_commit(lard_view *view, uint64_t offset, uint64_t bytes, uint64_t expiry_ms);
void lard_segment_widen_expiry(lard_view *view, uint64_t offset, uint64_t expiry_ms);

/* record.c — writing and reading records; record.h looks at them inline */
#include "record.h"
typedef struct {
    const void *key;
    size_t key_bytes;
    const void *value; /* NULL for a counter */
    size_t value_bytes;
    int64_t number; /* of a counter; how many chunks were written of a value that is stored in chunks */
    uint64_t expiry_ms;
    unsigned type;
    unsigned flags;
    unsigned reads; /* the frequency it starts with */
    unsigned pin;   /* LARD_PINNED, or 0: which of two writers it has to go to, below */
    bool to_main;   /* past the small queue */
} lard_record_spec;
/* Copies out up to `capacity` bytes of value. OK, BUFFER_TOO_SMALL, or DAMAGED where the checksum is wrong. */
larder_status lard_record_read(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out,
                               size_t capacity);
void lard_record_head(const lard_view *view, uint64_t offset, const lard_record_info *info, lard_head *head);
bool lard_record_sound(const lard_view *view, uint64_t offset, const lard_record_info *info);
void lard_record_copy_key(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out);
/* Writes a whole record at a reserved offset of a segment of `generation`. */
void lard_record_write(lard_view *view, uint64_t offset, uint64_t generation, const lard_record_spec *spec);
void lard_record_move(lard_view *view, uint64_t from, uint64_t to, uint64_t generation, uint64_t bytes);
void lard_record_set_expiry(lard_view *view, uint64_t offset, uint32_t crc, uint64_t expiry_ms);

/* counter.c — 64-bit numbers in two sealed cells */
void lard_counter_init(lard_u64 *cells, uint32_t crc, int64_t number);
bool lard_counter_read(const lard_u64 *cells, uint32_t crc, int64_t *number);
void lard_counter_write(lard_u64 *cells, uint32_t crc, int64_t number);
bool lard_counter_valid(const lard_u64 *cells, uint32_t crc);
size_t lard_counter_text(int64_t number, char out[24]);
bool lard_counter_parse(const char *text, size_t bytes, int64_t *number);

/* read.c — the lock-free lookup that all readers use */
typedef struct {
    lard_u64 *slot;
    uint64_t slot_value;
    uint64_t offset;
    lard_record_info info;
} lard_hit;
larder_status lard_read(larder *cache, lard_map *map, const lard_hash *hash, const void *key, size_t key_bytes,
                        bool is_chunk, void *out, size_t capacity, larder_item *item, lard_hit *hit,
                        int64_t now_ms);
/* Most items are far from their expiry, and the cheap clock is enough to know; 0: the engine's own clock. */
static inline bool lard_has_passed(uint64_t expiry_ms, int64_t now_ms) {
    if (now_ms == 0) {
        now_ms = lard_clock_coarse_ms();
        if ((int64_t)expiry_ms > now_ms + LARD_COARSE_LAG_MS) {
            return false;
        }
        now_ms = lard_clock_ms();
    }
    return (int64_t)expiry_ms <= now_ms;
}
/* A read leaves its trace: the frequency in the slot, until it is full. */
static inline void lard_bump_frequency(lard_u64 *slot, uint64_t value) {
    if (LARD_UNLIKELY(LARD_SLOT_FREQUENCY(value) < 3)) {
        lard_cas64(slot, &value, value + LARD_FREQUENCY_ONE); /* a lost race is another reader's bump */
    }
}

/* write.c — stores under the lock */
typedef enum {
    LARD_IF_ANY,
    LARD_IF_ABSENT,
    LARD_IF_PRESENT,
    LARD_IF_SLOT /* only over what is expected */
} lard_condition;
/* Of LARD_IF_SLOT. A touch leaves the slot as it is, so who depends on the expiry names it. */
typedef struct {
    uint64_t slot;      /* its very value */
    uint64_t expiry_ms; /* of its record; 0: whatever it is */
} lard_expected;
larder_status lard_write_locked(larder *cache, lard_view *view, const lard_hash *hash,
                                const lard_record_spec *spec, lard_condition condition,
                                const lard_expected *expected, int64_t now_ms, lard_head *replaced);
larder_status lard_write(larder *cache, lard_map *map, const lard_hash *hash, const lard_record_spec *spec,
                         lard_condition condition, const lard_expected *expected, const larder_call *call,
                         lard_head *replaced);
/* store.c — storing, whatever the length */
size_t lard_max_value(const lard_map *map); /* cache.c */
larder_status lard_store_in(larder *cache, lard_map *map, const lard_hash *hash, lard_record_spec *spec,
                            lard_condition condition, const lard_expected *expected, const larder_call *call);

/* The same for a record that is to be kept: FULL where its shard keeps as much as it may. */
larder_status lard_write_pinned_locked(larder *cache, lard_view *view, const lard_hash *hash,
                                       const lard_record_spec *spec, lard_condition condition,
                                       const lard_expected *expected, int64_t now_ms, lard_head *replaced);
larder_status lard_write_pinned(larder *cache, lard_map *map, const lard_hash *hash, const lard_record_spec *spec,
                                lard_condition condition, const lard_expected *expected, const larder_call *call,
                                lard_head *replaced);
/* Without the lock: the queue that a new value of the key should go to, as far as can be told. */
uint32_t lard_queue_of(lard_map *map, const lard_hash *hash, const lard_record_spec *spec);
bool lard_expiry_from_ttl(int64_t ttl_ms, int64_t now_ms, uint64_t *expiry_ms);

/* update.c — changes in place */
larder_status lard_increment(larder *cache, lard_map *map, const lard_hash *hash, lard_record_spec *spec,
                             int64_t delta, int64_t initial, const larder_call *call);
larder_status lard_touch(larder *cache, lard_map *map, const lard_hash *hash, const void *key, size_t key_bytes,
                         bool is_chunk, uint64_t expiry_ms, lard_head *head, const larder_call *call);
/* Turns a counter that reads `plain->value` into a plain record of the same text; OK where it did or need not. */
larder_status lard_pin_counter(larder *cache, lard_map *map, const lard_hash *hash, const lard_record_spec *plain,
                               const larder_call *call);

/* large.c — values in chunks */
larder_status lard_large_read(larder *cache, lard_map *map, const lard_head *head, void *out, size_t capacity);
/* Writes the chunks; the caller publishes *head. */
larder_status lard_large_write(larder *cache, lard_map *map, const lard_record_spec *spec, lard_head *head,
                               const larder_call *call);
/* Each chunk lives at least as long; OK, else what kept one from it. */
larder_status lard_large_touch(larder *cache, lard_map *map, const lard_head *head, uint64_t expiry_ms);
void lard_large_drop(larder *cache, lard_map *map, const lard_head *head);
size_t lard_large_chunk_bytes(const lard_map *map);
/* Deletes a key with its chunks, without a lock. True where it had a live value. */
static inline bool lard_drop(larder *cache, lard_map *map, const lard_hash *hash, const void *key,
                             size_t key_bytes, int64_t now_ms) {
    uint64_t epoch;
    lard_view view = lard_view_of(map, lard_hash_shard(map, hash));
    lard_head head = {{0, 0}, 0, 0};
    if (!lard_shard_current(&view, &epoch)) {
        return false;
    }
    bool was_live = lard_index_delete(&view, hash, key, key_bytes, false, now_ms, &head);
    if (head.value_bytes) {
        lard_large_drop(cache, map, &head);
    }
    return was_live;
}

/* cache.c — what the operations of larder.h begin with */
/* What is reserved is zero, or of a later version of larder.h, whose meaning is not known here. */
static inline bool lard_call_known(const larder_call *call) {
    return !call || ((call->flags & ~LARDER_CALL_TRY) | call->reserved) == 0;
}
static inline bool lard_store_known(const larder_store *store) {
    return (store->reserved[0] | store->reserved[1]) == 0 && store->mode <= LARDER_REPLACE && store->pin <= 1;
}
static inline bool lard_options_known(const larder_options *options) {
    uint32_t set = options && (options->existing > 1 || options->attach_later > 1);
    for (size_t i = 0; options && i < sizeof options->reserved / sizeof *options->reserved; i++) {
        set |= options->reserved[i];
    }
    return set == 0;
}
static inline larder_status lard_check_key(const larder *cache, const void *key, size_t key_bytes,
                                           const larder_call *call) {
    if (LARD_UNLIKELY(!cache || (!key && key_bytes) || !lard_call_known(call))) {
        return LARDER_INVALID;
    }
    return LARD_LIKELY(key_bytes <= LARDER_MAX_KEY) ? LARDER_OK : LARDER_KEY_TOO_LONG;
}
/* The map to change, or NULL. Whether the file is still at its path is seldom asked again while `now_ms`, of any
 * clock, stays the same; 0: it is not known. */
lard_map *lard_enter_to_write(larder *cache, int64_t now_ms);
void lard_clear(lard_map *map);
larder_status lard_unavailable(const larder *cache); /* why this process could not attach */

/* evict.c — S3-FIFO (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023) */
void lard_evict_some(larder *cache, lard_view *view, uint64_t budget_bytes, unsigned spare, int64_t now_ms);
/* A part of the work that so many bytes written to a queue make necessary, where room is short. */
void lard_evict_upkeep(larder *cache, lard_view *view, uint32_t queue, uint64_t written_bytes, int64_t now_ms);
/* The queue for a new item of so many bytes, by its ghost; the queues learn from it. */
uint32_t lard_evict_queue(lard_view *view, const lard_hash *hash, uint64_t bytes);
/* Do the items take so little of the shard that none has to leave? */
bool lard_evict_is_roomy(const lard_view *view);
void lard_evict_at_once(larder *cache, lard_view *view, int64_t now_ms);
void lard_evict_place_large(lard_map *map, const lard_hash *hash, lard_record_spec *spec);

#include "pin.h"

/* ghost.c — keys that were evicted a short while ago */
#define LARD_GHOST_WINDOW 15u /* eighths of the shard: how much the queue may have emptied since */
typedef enum { LARD_GHOST_NONE, LARD_GHOST_SMALL, LARD_GHOST_SMALL_YOUNG, LARD_GHOST_MAIN_YOUNG } lard_ghost;
bool lard_ghost_peek(const lard_view *view, const lard_hash *hash);
lard_ghost lard_ghost_take(lard_view *view, const lard_hash *hash);
uint64_t lard_ghost_word(const lard_view *view, uint32_t fingerprint, bool from_main); /* also without the lock */
void lard_ghost_rescue(lard_bucket *bucket, const lard_view *view, uint64_t value);
void lard_ghost_tick(lard_view *view, bool main_queue);

/* stats.c — statistics; the order of LARDER_COUNTS_LIST */
enum {
#define LARD_STAT_INDEX(name, text) LARD_STAT_##name,
    LARDER_COUNTS_LIST(LARD_STAT_INDEX)
#undef LARD_STAT_INDEX
};
static inline uint64_t lard_count(larder *cache, unsigned which, uint64_t by) {
    lard_u64 *counter = &__atomic_load_n(&cache->counters, __ATOMIC_RELAXED)[which];
    uint64_t count = lard_load(counter) + by;
    __atomic_store_n(LARD_RAW(counter), count, __ATOMIC_RELAXED);
    return count;
}

#endif
