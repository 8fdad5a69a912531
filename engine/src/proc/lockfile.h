/*
 * lockfile.h — opens, creates and identifies the lock file beside a cache.
 */
#ifndef LARD_LOCKFILE_H
#define LARD_LOCKFILE_H

#include "base/types.h"

#define LARD_LOCKFILE_SLOTS 4096u /* bytes from 1 on are those of process slots, in all versions */

struct stat;

typedef struct { /* its content */
    char magic[8];
    uint64_t version;
    uint8_t id[16];    /* random, repeated by the superblocks of its cache */
    uint64_t use[2];   /* one of them is the cache's use number; they differ while that changes */
    uint64_t inode[2]; /* of the lock file itself, see lard_inode(): a copy has another one */
} lard_lockfile_content;

void lard_lockfile_path(const char *path, char *lock);
/* Does the cache at `path` have a lock file? 1, 0, or -1 and errno. Fills `lock`, of LARD_LOCK_PATH_MAX bytes,
 * with its path, and *info if it exists. */
int lard_lockfile_look(const char *path, char *lock, struct stat *info);
larder_status lard_lockfile_open(const char *path, lard_lockfile *file, larder_error *error);
int lard_lockfile_is_at(const lard_lockfile *file, const char *path); /* 1, 0, or -1 and errno */
bool lard_lockfile_is(const lard_lockfile *file, const struct stat *info);
int lard_lockfile_check(const lard_lockfile *file, int fd); /* 0, or errno; ESTALE: not one of the lock file's */
bool lard_lockfile_has(const lard_lockfile *file, int fd);  /* is the descriptor one of the lock file? */
bool lard_lockfile_is_open(const lard_lockfile *file); /* false: its descriptor is closed, or the host's by now */
int lard_lockfile_reopen(const lard_lockfile *file, const char *path); /* a descriptor, or -1 and errno */
void lard_lockfile_close(lard_lockfile *file);
/* Reads the content, and makes a new identity if it is unfinished, of another version or a copy. The opener's lock
 * is held, as in the next. */
larder_status lard_lockfile_read(const lard_lockfile *file, const char *path, lard_lockfile_content *content,
                                 larder_error *error);
/* Writes two use numbers, one of which the cache has, and syncs them to disk. If both are the same, it does not
 * sync: a loss of power may undo the write. 0, or errno. */
int lard_lockfile_note_use(const lard_lockfile *file, const char *path, uint64_t old, uint64_t fresh);

#endif
