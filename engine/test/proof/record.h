/*
 * record.h — the record itself, which disk.c writes and image.c reads.
 */
#ifndef LARD_PROOF_RECORD_H
#define LARD_PROOF_RECORD_H

#include "disk.h"

enum { DISK_LENGTHS = 6, DISK_VERSIONS = 60000 };

typedef struct {
    uint32_t time;
    uint32_t before; /* number + 1 of the version before it; 0: zeros */
    uint8_t bytes[DISK_PAGE];
} disk_version;

typedef struct {
    uint32_t time;
    uint64_t bytes;
} disk_length;

typedef struct {
    uint64_t inode;
    uint32_t length_count;
    disk_length lengths[DISK_LENGTHS];
    uint32_t latest[DISK_PAGES]; /* number + 1 of the version; 0: zeros */
    uint8_t now[DISK_PAGES][DISK_PAGE];
} disk_file;

typedef struct {
    uint32_t time;
    int name, file; /* -1: the name is gone */
} disk_naming;

typedef struct {
    uint32_t begin, end;
    int file; /* -1: the directory */
    uint32_t first, last;
    bool failed; /* what it should have written is lost, and no later sync knows */
} disk_sync;

typedef struct {
    uint32_t time;
} disk_moment;

typedef struct {
    bool on;
    dishonesty how;
    int syncs_before_failure, sync_failures;
    uint32_t now, first, file_count, naming_count, sync_count, moment_count, version_count;
    disk_naming namings[64];
    disk_sync syncs[512];
    disk_moment moments[4096];
    disk_file files[DISK_FILES]; /* cleared when taken, as versions are */
    disk_version versions[DISK_VERSIONS];
} disk_record;

extern disk_record *the_disk;

#endif
