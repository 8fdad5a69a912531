/*
 * file.h — opens or creates the cache file.
 */
#ifndef LARD_FILE_H
#define LARD_FILE_H

#include "proc/lockfile.h"

/* Maps the file at `path`. Creates it if there is none, and replaces it if it cannot be used, unless `size_bytes`
 * is 0. A new file gets this seed of hashes (NULL: one of its own). Alone: no other process is attached. The
 * opener's lock is held, or `size_bytes` is 0. */
larder_status lard_file_open(const char *path, uint64_t size_bytes, const uint64_t seed[2],
                             const lard_lockfile_content *lock, bool alone, lard_map **out, larder_error *error);

#endif
