/*
 * inode.h — tells a file from a copy of it, by what its inode is.
 */
#ifndef LARD_INODE_H
#define LARD_INODE_H

#include <stdbool.h>
#include <stdint.h>

int lard_inode(int fd, uint64_t inode[2]); /* number, and creation time in ns (0: unknown): 0, or errno */
bool lard_inode_is_same(const uint64_t one[2], const uint64_t other[2]); /* as lard_inode() fills them */

#endif
