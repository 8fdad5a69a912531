/*
 * registry.c — lists the cores of this process, one per open cache file, and those that a thread closes. All under
 * the fork lock (fork.c).
 */
#include "handle/registry.h"
#include "base/types.h"
#include "proc/fork.h"

#include <string.h>

static lard_core *handles;

static bool has_lockfile(const lard_core *cache, uint64_t device, uint64_t inode) {
    return cache->lock.fd >= 0 && cache->lock.device == device && cache->lock.inode == inode;
}

lard_core *lard_registry_find_lockfile(uint64_t device, uint64_t inode) {
    for (lard_core *cache = handles; cache; cache = cache->next) {
        if (!cache->closing && has_lockfile(cache, device, inode)) {
            return cache;
        }
    }
    return NULL;
}

const lard_core *lard_registry_find_closing(uint64_t device, uint64_t inode) {
    for (const lard_core *cache = handles; cache; cache = cache->next) {
        if (cache->closing == lard_fork_number() + 1 && has_lockfile(cache, device, inode)) {
            return cache;
        }
    }
    return NULL;
}

lard_core *lard_registry_find_path(const char *path) {
    for (lard_core *cache = handles; cache; cache = cache->next) {
        if (!cache->closing && strcmp(cache->path, path) == 0) {
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
