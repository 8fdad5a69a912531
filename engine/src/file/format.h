/*
 * format.h — the numbers of a new file, and their check on an old one.
 */
#ifndef LARD_FORMAT_H
#define LARD_FORMAT_H

#include "base/types.h"

larder_status lard_format_plan(uint64_t size_bytes, lard_superblock *super);
bool lard_format_valid(const lard_superblock *super, uint64_t file_bytes);
uint32_t lard_format_layout_hash(void);
uint32_t lard_format_crc(const lard_superblock *super);

#endif
