/*
 * filesystem.h — kinds of file systems on which a map of a file is not what other processes see.
 */
#ifndef LARD_FILESYSTEM_H
#define LARD_FILESYSTEM_H

#include <stdbool.h>

/* Is the file on a file system whose pages are not this kernel's alone? 1 and its name, 0, or -errno. */
int lard_filesystem_is_network(int fd, const char **name);
/* Does a map of the file map another file below it (overlayfs, ecryptfs)? 1, 0, or -errno. */
int lard_filesystem_is_stacked(int fd);
/* Are the file's pages in memory only (tmpfs)? Then no store to them waits for a disk. */
bool lard_filesystem_is_memory(int fd);
/* Linux: the name of such a network type (f_type of statfs(2)), or NULL: it is none. */
const char *lard_filesystem_network_name(unsigned long type);

#endif
