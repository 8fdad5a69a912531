/*
 * space.h — reserves and releases disk space.
 */
#ifndef LARD_SPACE_H
#define LARD_SPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

bool lard_space_may_reach(uint64_t bytes);       /* false: a write there would raise SIGXFSZ (RLIMIT_FSIZE) */
uint64_t lard_space_left(const char *directory); /* in its file system; UINT64_MAX: not known, or not limited */
/* 0, or errno; ESTALE: the descriptor is not that of the file with *info. */
int lard_space_reserve(int fd, const struct stat *info, uint64_t from, uint64_t bytes);
/* The bytes become zeros. Does nothing where the system cannot do that. */
void lard_space_release(int fd, uint64_t from, uint64_t bytes);

#endif
