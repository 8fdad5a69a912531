/*
 * sidecar.h — the file of statistics next to a cache: CACHE.stats. It survives a resize and a clear of the cache,
 * and may be lost without harm.
 *
 *   0     header: magic (64) | version (32) | endian probe (32) | bytes of the file (64)
 *         | when it was made (64) | rules of keyspaces (larder_keyspace_rules) | 0 (32)
 *         | crc32c of what is before it (32)
 *   4096  table: when it was last changed (64), then 65 rows, the last of all other keyspaces:
 *           crc32c of what follows (32) | 0 (32) | hash of the name (64) | since when (64)
 *           | traffic, which falls by half each hour (64) | bytes of the name (32) | name (480)
 *           | counts (16 words, LARDER_USAGE_LIST)
 *   …     sketches: crc32c of what follows (32) | 0 (32) | when they were last changed (64)
 *           | 64 of the most read keys | 64 of the largest values (lard_sketch_entry)
 *   …     120 groups, one for each minute of two hours, then 336, one for each hour of two weeks:
 *           crc32c of what follows (32) | 0 (32) | when it began (64)
 *           | 17 parts, the first of the whole cache: hash of the keyspace's name (64) | counts
 *
 * Times are Unix ms, and all numbers little-endian. A block or row whose checksum is wrong has nothing: a process
 * was killed while it wrote, the disk was full, or another program wrote to the file. A process changes the file
 * under an exclusive flock(2), which it tries to take and never waits for. A reader takes none; it reads a block
 * again whose checksum is wrong.
 */
#ifndef LARD_SIDECAR_H
#define LARD_SIDECAR_H

#include "larder.h"
#include "usage/keyspace.h"
#include "usage/sketch.h"

#include <stdbool.h>
#include <sys/stat.h>

#define LARD_SIDECAR_MAGIC "LARDSTAT"
#define LARD_SIDECAR_VERSION 1u
#define LARD_SIDECAR_SUFFIX ".stats"
#define LARD_SIDECAR_MINUTE_MS 60000
#define LARD_SIDECAR_HOUR_MS 3600000
#define LARD_SIDECAR_MINUTES 120u
#define LARD_SIDECAR_HOURS 336u
#define LARD_SIDECAR_LARGEST 16u /* keyspaces that a group has rows for */
#define LARD_SIDECAR_KEYS 64u    /* of each sketch */

typedef struct {
    char magic[8];
    uint32_t version;
    uint32_t endian_probe;
    uint64_t file_bytes;
    int64_t made_ms;
    larder_keyspace_rules rules;
    uint32_t reserved;
    uint32_t crc;
} lard_sidecar_header;

typedef struct {
    uint32_t crc, reserved;
    uint64_t hash; /* of the name; 0: the row is free */
    int64_t since_ms;
    uint64_t traffic;
    lard_keyspace name;
    larder_usage_counts counts;
} lard_sidecar_row;

typedef struct {
    int64_t changed_ms;
    lard_sidecar_row rows[LARDER_KEYSPACES + 1];
} lard_sidecar_table;

typedef struct {
    uint32_t crc, reserved;
    int64_t changed_ms;
    lard_sketch_entry hot[LARD_SIDECAR_KEYS], heavy[LARD_SIDECAR_KEYS];
} lard_sidecar_sketches;

typedef struct {
    uint64_t hash; /* of the keyspace's name; 0: free, or the whole */
    larder_usage_counts counts;
} lard_sidecar_part;

typedef struct {
    uint32_t crc, reserved;
    int64_t began_ms;
    lard_sidecar_part parts[1 + LARD_SIDECAR_LARGEST];
} lard_sidecar_group;

typedef struct lard_sidecar { /* an open sidecar, and memory for its blocks */
    int fd;
    struct stat info;
    lard_sidecar_header header;
    lard_sidecar_table table;
    lard_sidecar_sketches sketches;
    lard_sidecar_group group;
} lard_sidecar;

/* Where the parts are. */
uint64_t lard_sidecar_sketches_at(void);
uint64_t lard_sidecar_minute_at(int64_t now_ms); /* of the group of that minute */
uint64_t lard_sidecar_hour_at(int64_t now_ms);
uint64_t lard_sidecar_bytes(void);

/* Opens the sidecar of the cache at that path to change it, creates it if there is none, and locks it. OK; LOCKED:
 * another process has it; NOT_THERE: there is neither a sidecar nor a cache; or why it cannot be used. */
larder_status lard_sidecar_open(lard_sidecar *file, const char *cache_path, larder_error *error);
/* Opens it to read, without a lock. NOT_THERE: there is none. */
larder_status lard_sidecar_look(lard_sidecar *file, const char *cache_path, larder_error *error);
void lard_sidecar_close(lard_sidecar *file);

/* As the next two, for file->table, whose rows have checksums of their own: a process that is killed while it
 * writes them loses one of them. */
bool lard_sidecar_read_table(lard_sidecar *file);
int lard_sidecar_write_table(lard_sidecar *file);
/* A block begins with its checksum. One that is damaged is all zeros. False: it cannot be read. */
bool lard_sidecar_read(const lard_sidecar *file, void *block, size_t bytes, uint64_t at);
/* 0, or errno. */
int lard_sidecar_write(const lard_sidecar *file, void *block, size_t bytes, uint64_t at);
/* Writes the header. 0, or errno. */
int lard_sidecar_write_header(lard_sidecar *file);

#endif
