/*
 * registry.h — lists the open handles of this process. Under the fork lock.
 */
#ifndef LARD_REGISTRY_H
#define LARD_REGISTRY_H

#include "larder.h"

larder *lard_registry_find_lockfile(uint64_t device, uint64_t inode); /* of an open lock file, or NULL */
larder *lard_registry_find_path(const char *path);                    /* or NULL */
void lard_registry_add(larder *cache);
void lard_registry_remove(larder *cache);

#endif
