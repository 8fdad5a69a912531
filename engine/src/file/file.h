/*
 * file.h — the cache file: opened or created.
 */
#ifndef LARD_FILE_H
#define LARD_FILE_H

#include "proc/lockfile.h"

/* Maps the file at `path`. Creates it, or replaces it, where none there fits, unless `size_bytes` is 0. */
larder_status lard_file_open(const char *path, uint64_t size_bytes, const lard_lockfile_content *lock, bool alone,
                             lard_map **out, larder_error *error);

#endif
