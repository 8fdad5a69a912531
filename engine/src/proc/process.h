/*
 * process.h — claims process slots, and tells which processes are attached and alive.
 */
#ifndef LARD_PROCESS_H
#define LARD_PROCESS_H

#include "base/hash.h"
#include "base/types.h"

typedef struct { /* a slot that was claimed, but is not yet the handle's */
    lard_bytelock lock;
    uint32_t slot;
    uint32_t incarnation;
    uint64_t first_id; /* random: value ids count from it */
} lard_process_claimed;

/* How many processes of applications the file takes. The few slots that are left are for processes that only use
 * an existing file (larder_options.existing), such as commands of an operator. */
uint32_t lard_process_room(const lard_map *map);
/* Claims a slot. OK, NO_SLOT, or SYSTEM and errno. The opener's lock is held, as in the next three. */
larder_status lard_process_claim(const lard_core *cache, const lard_lockfile *file, const char *path,
                                 const lard_map *map, lard_process_claimed *claim);
/* Gives the slot its new incarnation, with counts of 0. Those of the last owner are added to the retired ones. The
 * slot's row in the hints is reserved (lard_hints_take_row). */
void lard_process_begin(lard_map *map, const lard_process_claimed *claim);
void lard_process_adopt(lard_core *cache, const lard_lockfile *file, lard_map *map, lard_process_claimed *claim);
/* Is no other process attached? 1, 0, or -1 and errno: unknown. */
int lard_process_is_alone(const lard_core *cache, const lard_lockfile *file, const char *path);
void lard_process_release(lard_core *cache);
bool lard_process_alive(const lard_core *cache, const lard_map *map, uint32_t owner_word);
/* The same, by what was found up to 20 ms ago: without a system call if this process asks again and again. */
bool lard_process_lived(lard_core *cache, const lard_map *map, uint32_t owner_word);
/* Has a live process this slot? */
bool lard_process_is_attached(const lard_core *cache, const lard_map *map, uint32_t slot);
/* What the slot's processes have counted: from the hints if they share them with this process, else what was
 * copied into the file. Hints have no checksum: a count there that cannot follow from the copy is not used. */
uint64_t lard_process_count(const lard_map *map, uint32_t slot, unsigned which, int64_t now_ms);
/* When that was copied, Unix ms; INT64_MAX: it is from the hints, and up to date. */
int64_t lard_process_counted_ms(const lard_map *map, uint32_t slot);
/* Copies this process's counts into the file. */
void lard_process_keep_counts(lard_core *cache, lard_map *map, int64_t now_ms);
/* The same of all processes whose counts are in these hints, also of those that were killed: the last process that
 * closes the file removes the hints. */
void lard_process_keep_all_counts(lard_map *map, int64_t now_ms);
/* An id that no other call gets, in this file or another: process slot | incarnation, top byte of the hash |
 * number. The numbers of an attachment begin at a random one, so an id of another file, or of a process whose
 * incarnation was damaged, is the same by chance only: 1 in 2^56. */
void lard_process_new_id(lard_core *cache, const lard_hash *hash, uint64_t id[2]);
uint32_t lard_process_owner_of(const uint64_t id[2]); /* the owner word of the process that made it */
uint32_t lard_process_owner_word(uint32_t slot, uint32_t incarnation);

#endif
