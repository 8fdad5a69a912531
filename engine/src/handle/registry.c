/*
 * registry.c — lists the open handles of this process, one per cache file. All under the fork lock (fork.c).
 */
#include "handle/registry.h"
#include "base/types.h"

#include <string.h>

static lard_core *handles;

lard_core *lard_registry_find_lockfile(uint64_t device, uint64_t inode) {
    for (lard_core *cache = handles; cache; cache = cache->next) {
        if (cache->lock.fd >= 0 && cache->lock.device == device && cache->lock.inode == inode) {
            return cache;
        }
    }
    return NULL;
}

lard_core *lard_registry_find_path(const char *path) {
    for (lard_core *cache = handles; cache; cache = cache->next) {
        if (strcmp(cache->path, path) == 0) {
            return cache;
        }
    }
    return NULL;
}

void lard_registry_add(lard_core *cache) {
    cache->next = handles;
    handles = cache;
}

void lard_registry_remove(lard_core *cache) {
    for (lard_core **at = &handles; *at; at = &(*at)->next) {
        if (*at == cache) {
            *at = cache->next;
            break;
        }
    }
}
