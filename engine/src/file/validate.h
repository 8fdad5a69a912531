/*
 * validate.h — decides whether an existing file can be used, must be replaced, or must not be touched.
 */
#ifndef LARD_VALIDATE_H
#define LARD_VALIDATE_H

#include "proc/lockfile.h"

typedef struct { /* facts about a file and this machine */
    lard_superblock copies[2];
    lard_control control;
    bool has_superblocks; /* their pages are not all zeros */
    bool is_unfinished;   /* a file without them whose creator was killed, or that lost them later */
    uint64_t file_bytes;
    uint64_t inode[2];
    uint64_t boot[2];
    int64_t uptime_ms;
} lard_validate_facts;

typedef enum {
    LARD_FILE_FIT,
    LARD_FILE_UNFIT,   /* Larder's, and must be replaced */
    LARD_FILE_NEWER,   /* of a later version, which may be in use */
    LARD_FILE_FOREIGN, /* not Larder's: it is never touched */
} lard_file_kind;

typedef struct {
    lard_file_kind kind;
    const char *reason; /* UNFIT: why */
    int superblock;     /* FIT: which copy is sound */
} lard_verdict;

/* Reads the facts of the file that `info` describes. OK, or SYSTEM: a file that cannot be read counts as neither
 * valid nor damaged. */
larder_status lard_validate_read(int fd, const char *path, const struct stat *info, lard_validate_facts *facts,
                                 larder_error *error);
/* Judges the facts together with the lock file's content. Alone: no other process is attached. Pure. */
lard_verdict lard_validate(const lard_validate_facts *facts, const lard_lockfile_content *lock, bool alone);

#endif
