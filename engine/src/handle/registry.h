/*
 * registry.h — lists the cores of this process. Under the fork lock.
 */
#ifndef LARD_REGISTRY_H
#define LARD_REGISTRY_H

#include "base/types.h"

lard_core *lard_registry_find_lockfile(uint64_t device, uint64_t inode); /* of an open lock file, or NULL */
lard_core *lard_registry_find_path(const char *path);                    /* or NULL */
/* A core that a thread of this process closes, and that still has this lock file open; or NULL. The other
 * functions do not find it. */
const lard_core *lard_registry_find_closing(uint64_t device, uint64_t inode);
void lard_registry_add(lard_core *cache);
void lard_registry_remove(lard_core *cache);

#endif
