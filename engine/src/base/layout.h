/*
 * layout.h — the bytes of a cache file. Format 4.0.
 *
 * This file names every field and bit position. What is computed is elsewhere: the sizes and offsets of the parts
 * of a file (format.c), hashes (hash.h, bucket.h), checksums (crc.h) and seals (record.h, counter.c). The bytes of
 * the lock file are in lockfile.h. All integers are little-endian; all positions are offsets, never pointers.
 *
 * Any change of these makes a new format: raise LARD_FORMAT_MAJOR, or LARD_FORMAT_MINOR for a small one. Both have
 * the same effect, because an engine uses only files of its own format: it replaces one of an older format, and
 * leaves one of a newer format while other processes use it (validate.c).
 *
 * These may be added without a new format, so that no cache is emptied for them (docs/adr/0034-format-4.md):
 * fields of an extended record, which a version that does not know them treats as damage; and meanings of reserved
 * words, which are 0 until a bit of lard_control.features is set. A file with a bit that an engine does not know
 * is of a newer version for it.
 *
 *   0          superblock A   immutable after creation, checksummed
 *   4096       superblock B   a copy, for when A is damaged
 *   8192       control        superseded mark, clear epoch, boot id, clean mark, use number, inode, stamp,
 *                             configurations
 *   12288      process table  one 256-byte row per process slot: identity, statistics
 *   …          shard 0, shard 1, …  each independent of the others
 *
 * A shard: header (3 cache lines), index directory (32 bits per segment), segment table (64 bytes per segment),
 * then its segments. A segment holds records, or a page of the index, or a page of the table of deleted tags. So
 * the index takes as many segments as the number of items needs. The directory names the pages of the index from
 * its start on, and those of the table from its end on, backwards. An entry has the number of a segment (16 bits)
 * and a check of it, its place and how often the shard was emptied (16 bits, directory.h).
 *
 * An index bucket is one cache line of 8 slots. A slot:
 *
 *    63        48  47  46 45         30 29                     0
 *   +------------+----+--+-------------+------------------------+
 *   | generation | p. |0 | fingerprint | location / 8           |   0: empty
 *   +------------+----+--+-------------+------------------------+
 *   location     from the start of the shard, so a shard has up to 4 GiB; its top bit marks a
 *                pending slot: of an item that is being moved between the key's two buckets
 *   fingerprint  16 bits of the key's hash
 *   0            reserved
 *   parity       of location / 8. The seal of a record covers it, so a flipped bit of a location
 *                does not lead to an older record of the key
 *   generation   low 16 bits of the segment's generation
 *   A slot of location 0 is empty, or holds up to two ghosts (evicted keys), which need no
 *   space of their own:
 *
 *    63        58 57         47 46        41 40         30 29        0
 *   +------------+-------------+------------+-------------+-----------+
 *   |    time    | fingerprint |    time    | fingerprint |     0     |
 *   +------------+-------------+------------+-------------+-----------+
 *   fingerprint  its low 11 bits, with 1 in place of 0; 0: no ghost
 *   time         when the item's segment was opened: the number of segments opened before, in
 *                sixteenths of the segments of a shard, or larger units (lard_shard.ghost_scale)
 *
 * A record is 8-byte aligned and lies in one segment:
 *
 *   0   crc32c (32) | value length (16) | key length (12) | pinned (1) | type (3)
 *   8   expiry, Unix ms (42) | caller's flags (8) | configuration (3) | seal (11)
 *   16  key, value, zeros to a multiple of 8
 *
 *   crc32c covers { value length, key length, pinned, type (32) | 0 (10) | flags (8) | configuration (3) |
 *   0 (11) }, then the bytes from 16 on (a counter's: to the end of its key).
 *   expiry         0: never. 42 bits last until the year 2109; a later expiry is stored as that
 *   configuration  of the process that wrote the record: a row of lard_control.configurations; 0: none
 *   seal           a hash of the record's two words, the segment's generation and the parity of
 *                  location / 8, which differs if one bit of them does. A touch changes the second
 *                  word and nothing else, and eviction, which moves a record to a segment of
 *                  another generation, seals it again.
 *   Words that change in place are checked by seals: the expiry's word, and a counter's cells,
 *   whose seals are salted with the crc.
 *   A counter's value, after the key padded to 8: two cells of
 *   { value (64), sequence (16) | seal (48) }. The valid cell of the later sequence
 *   holds the number. Increment writes the other cell, so a writer that is killed half-way
 *   leaves the old number.
 *   An extended record has more about its value, after the key padded to 8 (extension.h). A
 *   placeholder is one without a value: its key's value is being computed (docs/adr/0030-single-flight.md).
 *     kind of the value (8) | fields (8) | number of tags (8) | 0 (8) | ms that it took to compute (32)
 *     with LARD_FIELD_LEASE: its token (128); when it began (64), and its length (64), in ms
 *     with LARD_FIELD_FRESH: until when the value is fresh, Unix ms (64)
 *     with LARD_FIELD_TAGS: its stamp (64); the hash of each tag (64)
 *     the value, of a large one its head
 *   A record has no "being written" mark: it is complete before the segment's write
 *   offset moves over it, and nothing reads beyond that offset.
 *
 * The table of deleted tags of a shard consists of lines of 8 words (segment/deletions.h; docs/adr/0032-tags.md):
 *
 *   0   1: a tag of this first line is in its second one (1) | floor (31) | checksum (32) of
 *       the line, its place and the start
 *   8   7 cells: low 32 bits of the tag's hash above the line's (32) | 1: its second line (1) | stamp (31);
 *       0: none
 *
 *   Floor and stamps count from lard_shard.tags_start.
 */
#ifndef LARD_LAYOUT_H
#define LARD_LAYOUT_H

#include "base/shared.h"

#define LARD_MAGIC "LARDER\r\n"
#ifndef LARD_FORMAT_MAJOR /* versions_test compiles the next version */
#define LARD_FORMAT_MAJOR 4u
#endif
#define LARD_FORMAT_MINOR 0u
#define LARD_ENDIAN_PROBE 0x01020304u

#define LARD_PAGE 4096u
#define LARD_CONTROL_OFFSET 8192u  /* the same in every format, see lard_control */
#define LARD_PROCESS_OFFSET 12288u /* the same, as the size of lard_process and its incarnation */
#define LARD_MAX_SHARDS 256u
#define LARD_SHARD_SHIFT 56 /* of a key's hash: its top byte selects the shard */

typedef struct { /* superblock; private copies are plain memory */
    char magic[8];
    uint32_t format_major;
    uint32_t format_minor;
    uint32_t endian_probe;
    uint32_t layout_hash; /* over the sizes below, so that an engine built with others never attaches */
    uint64_t file_bytes;
    uint64_t seed[2]; /* of SipHash */
    uint8_t file_id[16];
    uint8_t lock_id[16]; /* of the lock file that belongs to this file */
    uint64_t created_ms;
    uint64_t shard_offset;
    uint64_t shard_bytes;
    uint32_t process_slots;
    uint32_t shard_count;   /* a power of two */
    uint32_t segment_bytes; /* a power of two */
    uint32_t segments_per_shard;
    uint32_t directory_offset; /* these three from the start of a shard */
    uint32_t segment_table_offset;
    uint32_t data_offset;
    uint32_t reserved[2];
    uint32_t crc; /* of all bytes before it */
} lard_superblock;

#define LARD_CONFIGURATIONS 8u
typedef struct {         /* a configuration of processes that use the file, and trust in its copies */
    lard_u64 digest;     /* its mark: a hash, see belief.h; 0: the row is free. 0 in row 0, of no configuration */
    lard_u64 trusted_ms; /* until when by the monotonic clock, see larder_trust; exclusive or `digest` */
    lard_u64 trusted_wall; /* and until when by the wall clock, Unix ms; the same */
    lard_u64 reserved;
} lard_configuration;
#define LARD_ROW_ENDING 1u /* a mark of no configuration: the row will be free when the clear epoch has ended */

/*
 * Control page. Its place and its first two words are the same in every format, for processes of other versions:
 * they read `superseded`, and end the epoch where they cannot apply a delete (newer.c). Any value of `superseded`
 * but 0 means that another file has replaced this one, and any other number in `clear_epoch` but 0 ends the epoch.
 * So the numbers have no order, and one that was used before may not come back, also by a flipped bit.
 */
typedef struct {
    lard_u32 superseded;  /* 0, or LARD_SUPERSEDED */
    lard_u32 clear_epoch; /* random, never 0; a shard of another epoch is empty */
    lard_u32 clean;       /* LARD_CLEAN: written back by the last process that detached */
    lard_u32 features;    /* bits of what later versions keep in this file; 0 as long as they do not */
    lard_u64 boot_id[2];
    lard_u64 retired[24]; /* statistics of processes whose slot was taken again */
    lard_u64 use;         /* use number: random, new at each first open and clean close; also in the lock file */
    lard_u64 inode[2];    /* of this file: number, creation time in ns or 0. A copy has another one */
    lard_u64 uptime_ms;   /* of the machine at the first open; if it is less now, there was a boot since */
    lard_u64 stamp;       /* sealed: raised by each deletion of tags, see segment/deletions.h */
    lard_u64 full_ms;     /* when the file was last emptied as all rows were taken, Unix ms; 0: never. Advice */
    lard_u64 reserved[6];
    lard_configuration configurations[LARD_CONFIGURATIONS];
} lard_control;

#define LARD_SUPERSEDED 0xffffffffu /* no flipped bit makes it 0 */

/* `clean`. After a crash of the machine only a file that is LARD_CLEAN is kept. */
enum {
    LARD_IN_USE = 0,  /* and this word is on disk */
    LARD_CLOSING = 2, /* being written back */
    LARD_DIRTY = 3,   /* no longer clean; this word may not be on disk yet */
    /* All other bytes were on disk before this word. No flipped bit makes it of another state. */
    LARD_CLEAN = 0x4e41454c
};

#define LARD_COUNTERS 24
typedef struct {          /* process slot */
    lard_u32 incarnation; /* raised by each claim */
    lard_u32 pid;         /* informative; the lock on byte 1 + slot of the lock file tells who is alive */
    lard_u64 counted_ms;  /* when `counters` were last brought up to date, Unix time */
    lard_u64 reserved[6];
    lard_u64 counters[LARD_COUNTERS]; /* the process counts in its hints, and copies that from time to time */
} lard_process;

#define LARD_BUCKET_SLOTS 8u
#define LARD_BUCKET_SHIFT 6 /* a bucket has 64 bytes */
typedef struct {
    lard_u64 slots[LARD_BUCKET_SLOTS];
} lard_bucket;

enum {
    LARD_SEGMENT_FREE = 0,
    LARD_SEGMENT_SMALL = 1,
    LARD_SEGMENT_MAIN = 2,
    LARD_SEGMENT_INDEX = 3,
    LARD_SEGMENT_TABLE = 4 /* of deleted tags: only emptying the shard frees it */
    /* 5 is reserved for a queue of keys that are often overwritten */
};
typedef struct { /* row of a shard's segment table */
    lard_u64 generation;
    lard_u64 sequence;      /* order in its queue: the oldest segment has the least */
    lard_u64 max_expiry_ms; /* latest expiry of its records; UINT64_MAX: one of them never expires */
    lard_u64 oldest_ms;     /* Unix time: none of its items was stored before it */
    lard_u32 state;
    lard_u32 write_offset; /* end of the last complete record */
    lard_u64 dead_bytes;   /* reserved for a count of the bytes of its dead records; 0 */
    lard_u64 reserved[2];
} lard_segment;

typedef struct { /* header of a shard */
    /* line 0: writers */
    lard_u32 lock;         /* 0, or the owner, see LARD_LOCK_WAITERS below */
    lard_u32 closed[2];    /* segment + 1 that small, main appended to before the open one; 0: none */
    lard_u32 gap[2];       /* most bytes that are left at its end; a hint */
    lard_u32 mean_bytes;   /* approximate mean size of the items' records; 0: unknown */
    lard_u64 pinned_bytes; /* of live pinned records; signed, as items; slightly wrong after a crash */
    lard_u32 has_pins;     /* 0: no record is pinned */
    lard_u32 full_ms;      /* when a count found no room for more pinned records, low bits; a hint */
    lard_u64 chunks;       /* how many of `items` are chunks; signed, as items */
    lard_u32 third[3];     /* reserved for active, closed and gap of a third queue; 0 */
    lard_u32 releases;     /* of the lock while others waited, see hold_of in shard.c */
    /* line 1: read by all, rarely written */
    lard_u64 epoch; /* clear epoch (32) | times emptied (32); 0 while the shard is being emptied */
    lard_u32 bucket_count;
    lard_u32 splitting; /* bucket being split + 1, or 0 */
    lard_u32 emptied;   /* how often, for whatever reason */
    lard_u32
        epoch_check; /* of `epoch`: a shard of another epoch than the file's was not cleared yet, or is damaged */
    lard_u32 moves;  /* odd while an item changes buckets */
    lard_u32 moves_down;     /* number of moves to a lower bucket: after one, a walk over keys repeats the shard */
    lard_u32 moving[2];      /* buckets + 1 of the last move, which a repair checks; 0: none yet */
    lard_u64 tags_floor;     /* sealed: what has a tag of this shard and an earlier stamp is deleted; 0: nothing */
    lard_u64 tags_start;     /* sealed: stamps in the table count from it */
    lard_u32 table_pages;    /* LARD_TABLE_PAGES, or 0: there is no table */
    lard_u32 table_changing; /* line being changed + 1, or 0 */
    /* line 2: under the lock */
    lard_u32 active[2]; /* segment + 1 that small, main append to; 0: none */
    lard_u32 victim;    /* segment + 1 being emptied; 0: none */
    lard_u32 victim_offset;
    lard_u64 next_sequence;
    lard_u64 items; /* signed; also changed without the lock, atomically */
    lard_u32 free_segments;
    lard_u32 small_segments;
    lard_u32 main_segments;
    lard_u32 index_pages;
    lard_u32 evicted_segments; /* emptied by eviction so far */
    lard_u32 ghost_scale; /* the unit of the time of ghosts is a sixteenth of the shard, times 2 to this power */
    lard_u32 small_share; /* part of the record segments for the small queue, in 65536ths; any value is valid */
    lard_u32 oldest_main; /* sequence + 1 of the main queue's oldest segment, low bits; 0: it has none. A hint */
} lard_shard;

_Static_assert(sizeof(lard_superblock) == 144, "superblock layout");
_Static_assert(sizeof(lard_process) == 256, "process slot layout");
_Static_assert(sizeof(lard_bucket) == 1u << LARD_BUCKET_SHIFT, "bucket is a cache line");
_Static_assert(sizeof(lard_segment) == 64, "segment row is a cache line");
_Static_assert(sizeof(lard_shard) == 192, "shard header is three cache lines");
_Static_assert(offsetof(lard_shard, epoch) == 64, "readers' line");
_Static_assert(offsetof(lard_shard, active) == 128, "writers' line");
_Static_assert(offsetof(lard_control, superseded) == 0, "fixed for all formats");
_Static_assert(offsetof(lard_control, clear_epoch) == 4, "fixed for all formats");
_Static_assert(sizeof(lard_control) == 576, "control page");
_Static_assert(offsetof(lard_control, configurations) % 64 == 0, "a row is in one cache line");
_Static_assert(offsetof(lard_control, stamp) == 256, "a cache line of its own");

/* The word of a lock: whether others wait, and the owner. */
#define LARD_LOCK_WAITERS 0x80000000u
#define LARD_OWNER(slot, incarnation) \
    (((slot) + 1) | ((incarnation)&LARD_OWNER_INCARNATION_MASK) << LARD_OWNER_INCARNATION_SHIFT)
#define LARD_OWNER_SLOT(w) (((w)&0xfff) - 1)
#define LARD_OWNER_INCARNATION(w) ((w) >> LARD_OWNER_INCARNATION_SHIFT & LARD_OWNER_INCARNATION_MASK)
#define LARD_OWNER_INCARNATION_SHIFT 12
#define LARD_OWNER_INCARNATION_MASK 0x7ffffu

/* The epoch of a shard. */
#define LARD_EPOCH(clear_epoch, emptied) ((uint64_t)(clear_epoch) << 32 | (emptied))
#define LARD_EPOCH_CLEAR(epoch) ((uint32_t)((epoch) >> 32))

/* An entry of the directory */
#define LARD_ENTRY_SEGMENT_BITS 16
#define LARD_ENTRY_SEGMENT(entry) ((entry)&0xffff)
#define LARD_ENTRY_FACTOR 0x9e37u /* of the parts of its check: odd */
#define LARD_ENTRY_EMPTIED 0xbf59u
#define LARD_ENTRY_NUMBER 0x94d1u

/* Slots */
#define LARD_LOCATION_BITS 30
#define LARD_LOCATION_MASK ((1ull << LARD_LOCATION_BITS) - 1)
#define LARD_SLOT_PENDING (1ull << 29) /* makes the offset point beyond any shard, so readers skip it */
#define LARD_FINGERPRINT_SHIFT 30
#define LARD_GENERATION_SHIFT 48
#define LARD_SLOT_FINGERPRINT(v) ((uint32_t)((v) >> LARD_FINGERPRINT_SHIFT) & 0xffffu)
#define LARD_SLOT_GENERATION(v) ((uint32_t)((v) >> LARD_GENERATION_SHIFT))
#define LARD_PARITY_SHIFT 47
/* The part of a record's place that its seal covers: generation and parity, as a slot has them. */
#define LARD_ORIGIN(offset, generation) \
    (((uint64_t)(generation) << 1 | (uint64_t)__builtin_parity((uint32_t)((offset) >> 3))) & LARD_ORIGIN_MASK)
#define LARD_SLOT_ORIGIN(v) ((v) >> LARD_PARITY_SHIFT)
#define LARD_ORIGIN_MASK 0x1ffffull
#define LARD_SLOT_OFFSET(v) \
    (((v)&LARD_LOCATION_MASK) << 3) /* bytes from the start of the shard; 0: ghost or empty */

/* Ghosts, in a slot of location 0: cells above the location */
#define LARD_GHOST_CELLS 2
#define LARD_GHOST_CELL_BITS 17
#define LARD_GHOST_FINGERPRINT_BITS 11
#define LARD_GHOST_FINGERPRINT_MASK ((1u << LARD_GHOST_FINGERPRINT_BITS) - 1)
#define LARD_GHOST_TIME_SHIFT LARD_GHOST_FINGERPRINT_BITS
#define LARD_GHOST_TIME_MASK 63u
#define LARD_GHOST_UNITS 16 /* of time, before scaling, in which as many segments are opened as a shard has */
#define LARD_GHOST_MAX_SCALE 5u

/* Records */
enum {
    LARD_TYPE_PLAIN = 1,
    LARD_TYPE_COUNTER = 2,
    LARD_TYPE_HEAD = 3,  /* of a large value; its value is a lard_head */
    LARD_TYPE_CHUNK = 4, /* of a large value; its key is a lard_chunk_key, in a key space of its own */
    LARD_TYPE_EXTENDED = 5
};
#define LARD_PINNED 8u /* the record is not evicted; the bit above the type */
#define LARD_RECORD_HEADER 16u
#define LARD_MAX_RECORD_VALUE 0xffffu
#define LARD_COUNTER_BYTES 32u
#define LARD_EXPIRY_BITS 42
#define LARD_EXPIRY_MASK ((1ull << LARD_EXPIRY_BITS) - 1)
#define LARD_SEAL_BITS 11
#define LARD_SEAL_SHIFT (64 - LARD_SEAL_BITS)
#define LARD_SEAL_FACTOR 0x9e3779b97f4a7c15ull          /* see lard_record_seal_of */
#define LARD_SEAL_BELOW ((1ull << LARD_SEAL_SHIFT) - 1) /* expiry, flags and configuration */
#define LARD_CELL_SEAL_BITS 48                          /* of a counter's cell; the sequence is above */
#define LARD_CELL_SEAL_MASK ((1ull << LARD_CELL_SEAL_BITS) - 1)

typedef struct {
    uint64_t id[2]; /* of the value: slot | incarnation, top byte of the key's hash | number (process.c) */
    uint32_t value_bytes;
    uint32_t chunks;   /* how many; the record of each tells its length */
    uint64_t checksum; /* over the checksums of the chunks' records, in order (large.c) */
} lard_head;

typedef struct {
    uint64_t id[2];
    uint64_t number;
} lard_chunk_key;

/* An extension */
#define LARD_FIELD_LEASE 1u
#define LARD_FIELD_FRESH 2u
#define LARD_FIELD_TAGS 4u
#define LARD_EXTENSION_WORDS (7u + LARDER_MAX_TAGS) /* at most */
#define LARD_EXTENSION(kind, fields, tags, compute_ms) \
    ((uint64_t)(kind) | (uint64_t)(fields) << 8 | (uint64_t)(tags) << 16 | (uint64_t)(compute_ms) << 32)
#define LARD_EXTENSION_KIND(w) ((unsigned)(w)&0xff)
#define LARD_EXTENSION_FIELDS(w) ((unsigned)((w) >> 8) & 0xff)
#define LARD_EXTENSION_TAGS(w) ((unsigned)((w) >> 16) & 0xff)
#define LARD_EXTENSION_COMPUTE_MS(w) ((uint32_t)((w) >> 32))
#define LARD_EXTENSION_ZEROS 0xff000000ull

/* The table of deleted tags */
#define LARD_LINE_CELLS 7u
#define LARD_LINE_WORDS (1u + LARD_LINE_CELLS)
#define LARD_LINE_GOES_ON (1ull << 63)
#define LARD_LINE_FLOOR(w) ((w) >> 32 & LARD_CELL_STAMP_MASK)
#define LARD_CELL_STAMP_MASK 0x7fffffffull
#define LARD_CELL_SECOND 0x80000000ull
#define LARD_TABLE_PAGES(pages) ((uint32_t)(pages) | (0xffffu - (uint32_t)(pages)) << 16)
#define LARD_STAMP_SEAL_BITS 16 /* of a sealed stamp, which is above them; see segment/stamp.h */

#define LARD_CHUNK_GROUP 32u /* chunks of a group, which share a shard and are evicted together */

#define LARD_ALIGN8(n) (((n) + 7u) & ~(uint64_t)7u)

#define LARD_WORD0(crc, type, key_bytes, value_bytes) \
    ((uint64_t)(crc) | (uint64_t)(value_bytes) << 32 | (uint64_t)(key_bytes) << 48 | (uint64_t)(type) << 60)
#define LARD_WORD0_CRC(w) ((uint32_t)(w))
#define LARD_WORD0_VALUE_BYTES(w) ((uint32_t)((w) >> 32) & 0xffff)
#define LARD_WORD0_KEY_BYTES(w) ((uint32_t)((w) >> 48) & 0xfff)
#define LARD_WORD0_TYPE(w) ((unsigned)((w) >> 60) & (0xf & ~LARD_PINNED))
#define LARD_WORD0_PINNED(w) ((unsigned)((w) >> 60) & LARD_PINNED)
#define LARD_WORD0_TYPE_BITS(w) ((unsigned)((w) >> 60)) /* with pinned */
#define LARD_WORD0_KIND(w) ((w) >> 48)                  /* key length, pinned and type */
#define LARD_WORD1(expiry_ms, flags, configuration)                  \
    ((uint64_t)(expiry_ms) | (uint64_t)(flags) << LARD_EXPIRY_BITS | \
     (uint64_t)(configuration) << LARD_CONFIGURATION_SHIFT)
#define LARD_CONFIGURATION_SHIFT (LARD_EXPIRY_BITS + 8)
#define LARD_WORD1_EXPIRY_MS(w) ((w)&LARD_EXPIRY_MASK)
#define LARD_WORD1_CHECKED_MASK (LARD_SEAL_BELOW ^ LARD_EXPIRY_MASK) /* flags and configuration */
#define LARD_WORD1_FLAGS_MASK (0xffull << LARD_EXPIRY_BITS)
#define LARD_WORD1_FLAGS(w) ((unsigned)((w) >> LARD_EXPIRY_BITS) & 0xff)
#define LARD_WORD1_CONFIGURATION(w) ((unsigned)((w) >> LARD_CONFIGURATION_SHIFT) & (LARD_CONFIGURATIONS - 1))

#endif
