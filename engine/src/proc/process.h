/*
 * process.h — process slots: which processes are attached, and which are alive.
 */
#ifndef LARD_PROCESS_H
#define LARD_PROCESS_H

#include "base/types.h"

typedef struct { /* a slot that is taken, but not yet the handle's */
    lard_bytelock lock;
    uint32_t slot;
    uint32_t incarnation;
} lard_process_claimed;

/* The opener's lock is held, here and in the next two. NO_SLOT, or SYSTEM and errno. */
larder_status lard_process_claim(const larder *cache, const lard_lockfile *file, const char *path, lard_map *map,
                                 lard_process_claimed *claim);
void lard_process_adopt(larder *cache, const lard_lockfile *file, lard_map *map, lard_process_claimed *claim);
/* 1, 0, or -1: it cannot be told. */
int lard_process_is_alone(const larder *cache, const lard_lockfile *file, const char *path);
void lard_process_release(larder *cache);
bool lard_process_alive(const larder *cache, const lard_map *map, uint32_t owner_word);
uint32_t lard_process_owner_word(uint32_t slot, uint32_t incarnation);

#endif
