/*
 * registry.h — lists the open handles of this process. Under the fork lock.
 */
#ifndef LARD_REGISTRY_H
#define LARD_REGISTRY_H

#include "base/types.h"

lard_core *lard_registry_find_lockfile(uint64_t device, uint64_t inode); /* of an open lock file, or NULL */
lard_core *lard_registry_find_path(const char *path);                    /* or NULL */
void lard_registry_add(lard_core *cache);
void lard_registry_remove(lard_core *cache);

#endif
