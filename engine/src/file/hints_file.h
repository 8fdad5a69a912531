/*
 * hints_file.h — the file in /dev/shm of hints that processes share.
 */
#ifndef LARD_HINTS_FILE_H
#define LARD_HINTS_FILE_H

#include "base/types.h"

#include <sys/types.h>

typedef struct {
    char magic[8];
    uint32_t version;
    uint32_t reserved0;
    uint8_t file_id[16];
    uint64_t words; /* see lard_hints_file_words */
    uint64_t rows;  /* the rows of this many process slots are reserved: those of whole pages, from the first on */
    uint64_t reserved[26]; /* a row is on one page */
} lard_hints_header;

_Static_assert(sizeof(lard_hints_header) == sizeof(lard_hints_row), "hints layout");

/* The header's word for the number of words of reads in each shard: the number and its complement. */
static inline uint64_t lard_hints_file_sealed(uint32_t words) { return (uint64_t)~words << 32 | words; }

/* The number of words, or 0: it is not a number that this cache may have. */
static inline uint32_t lard_hints_file_words(const lard_map *map, uint64_t sealed) {
    uint32_t words = (uint32_t)sealed;
    bool fits = sealed == lard_hints_file_sealed(words) && words >= map->reads_least && words <= map->reads_most &&
                (words & (words - 1)) == 0;
    return fits ? words : 0;
}

lard_hints_header lard_hints_file_header(const lard_map *map, uint32_t words, uint64_t rows);
/* The number of rows that are in the pages up to that of a slot's row, including it. */
uint64_t lard_hints_file_rows(const lard_map *map, uint32_t slot);
/* The bytes of a shard's shadow caches of other sizes, with which its part begins; 0: it has none. */
uint64_t lard_hints_file_others(const lard_map *map, uint32_t shard);
/* Where the part of a shard begins: a page, which no other part has. Behind the last shard, the end. */
uint64_t lard_hints_file_shard(const lard_map *map, uint32_t shard);
/* The bytes of a shard's part that are in use with `words` words of reads. */
uint64_t lard_hints_file_shard_bytes(const lard_map *map, uint32_t words, uint32_t shard);
/* The number of bytes that hints with `words` words of reads in each shard take. */
uint64_t lard_hints_file_bytes(const lard_map *map, uint32_t words);
/* Maps the file, and makes it where there is none that can be used. A new one has as many of the wanted words as
 * there is memory for; only its first page is reserved, which has the header and the first rows. The opener's and
 * the fork lock are held. MAP_FAILED: it cannot be had. */
void *lard_hints_file_map(lard_map *map, uid_t owner, uint32_t wanted);
/* The number of words, `wanted` or less, that fit into the memory that /dev/shm and the control groups have left,
 * and the `has` bytes that the hints have already. 0: none fits. */
uint32_t lard_hints_file_affordable(const lard_map *map, uint32_t wanted, uint64_t has);
/* True if /dev/shm and the control groups have memory for `bytes` bytes more. */
bool lard_hints_file_has_memory(const lard_map *map, uint64_t bytes);
/* Reserves bytes of the hints that are mapped at `base`. False: there is no memory for them. */
bool lard_hints_file_reserve(const lard_map *map, uint8_t *base, uint64_t from, uint64_t bytes);
/* Removes the file if no process has it mapped. */
void lard_hints_file_remove_unused(const lard_map *map);

#endif
