/*
 * format.h — computes the superblock of a new file, and checks that of an existing one.
 */
#ifndef LARD_FORMAT_H
#define LARD_FORMAT_H

#include "base/types.h"

#define LARD_MAX_RECORD (64u << 10) /* longest but for pinned ones: the lock is held while a record is copied */

/* Fills all that follows from the size. The caller sets identity, seed, time and checksum. */
larder_status lard_format_plan(uint64_t size_bytes, lard_superblock *super);
bool lard_format_valid(const lard_superblock *super, uint64_t file_bytes);
uint32_t lard_format_layout_hash(void);
/* Fills in what of a map follows from its superblock: shifts, sizes, and how long records may be. */
void lard_format_derive(lard_map *map);
uint32_t lard_format_crc(const lard_superblock *super);

#endif
