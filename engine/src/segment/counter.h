/*
 * counter.h — stores 64-bit numbers in two cells, each with a checksum. Writers hold the shard's lock.
 */
#ifndef LARD_COUNTER_H
#define LARD_COUNTER_H

#include "base/types.h"

void lard_counter_init(lard_u64 *cells, uint32_t crc, int64_t number);
bool lard_counter_read(const lard_u64 *cells, uint32_t crc, int64_t *number);
void lard_counter_write(lard_u64 *cells, uint32_t crc, int64_t number);
bool lard_counter_valid(const lard_u64 *cells, uint32_t crc);
size_t lard_counter_text(int64_t number, char out[24]);
bool lard_counter_parse(const char *text, size_t bytes, int64_t *number);

#endif
