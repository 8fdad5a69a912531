/*
 * registry.c — lists the open handles of this process, one per cache file. All under the fork lock (fork.c).
 */
#include "handle/registry.h"
#include "base/types.h"

#include <string.h>

static larder *handles;

larder *lard_registry_find_lockfile(uint64_t device, uint64_t inode) {
    for (larder *cache = handles; cache; cache = cache->next) {
        if (cache->lock.fd >= 0 && cache->lock.device == device && cache->lock.inode == inode) {
            return cache;
        }
    }
    return NULL;
}

larder *lard_registry_find_path(const char *path) {
    for (larder *cache = handles; cache; cache = cache->next) {
        if (strcmp(cache->path, path) == 0) {
            return cache;
        }
    }
    return NULL;
}

void lard_registry_add(larder *cache) {
    cache->next = handles;
    handles = cache;
}

void lard_registry_remove(larder *cache) {
    for (larder **at = &handles; *at; at = &(*at)->next) {
        if (*at == cache) {
            *at = cache->next;
            break;
        }
    }
}
