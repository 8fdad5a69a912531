/*
 * descriptor.h — tells whether a descriptor is still that of its file.
 *
 * A host may close all descriptors, or put its own files under their numbers, while the engine works: as daemons
 * do, and programs that start others. So what was learnt from a descriptor holds only if it is still that of the
 * file afterwards, and nothing is changed through one that was not looked at just before. A number that was lost
 * does not come back.
 */
#ifndef LARD_DESCRIPTOR_H
#define LARD_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* The answer of lard_descriptor_open where a descriptor stays open, because it may be the host's. */
#define LARD_DESCRIPTOR_LEFT (-2)

/* Opens a file, which is no symbolic link; a new one gets mode 0600, less the umask. The descriptor and *info, as
 * of the next function; or -1 or LARD_DESCRIPTOR_LEFT, and errno. */
int lard_descriptor_open(const char *path, int flags, struct stat *info);
/* Fills *info with what the descriptor and `path` agree on: 0, or errno and *info is as it was. ESTALE: by now the
 * descriptor is closed or another file's, or another file is at `path`. */
int lard_descriptor_stat(int fd, const char *path, struct stat *info);
/* 0, or errno. ESTALE: the descriptor is closed, or another file's. */
int lard_descriptor_check(int fd, const struct stat *info);
/* Bytes of the file, or -1: the descriptor is closed, or another inode's. Asks for no times: since Linux 6.13 a
 * file whose times were asked for gets new ones at its next write, which takes as long as a short write itself. */
int64_t lard_descriptor_bytes(int fd, uint64_t device, uint64_t inode);
/* Closes the descriptor if it is that of the file. */
void lard_descriptor_close(int fd, const struct stat *info);
#if defined(__linux__)
/* Closes a descriptor through which `path` in /proc or of a control group was read. *is_kernels: it is a file that
 * the kernel makes, not one that a container has there. 0, or errno as of lard_descriptor_stat; then it is not
 * closed, and what was read through it does not count. */
int lard_descriptor_close_read(int fd, const char *path, bool *is_kernels);
#endif

#endif
