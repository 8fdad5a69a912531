/*
 * validate.h — what a file at the cache's path is.
 */
#ifndef LARD_VALIDATE_H
#define LARD_VALIDATE_H

#include "proc/lockfile.h"

/* *unfit NULL: it may be used, and *super is filled. Else the file is Larder's, must be replaced, and *unfit says
 * why. */
larder_status lard_validate(int fd, const char *path, const lard_lockfile_content *lock, bool alone,
                            const char **unfit, lard_superblock *super, larder_error *error);

#endif
