/*
 * advice.h — tells the kernel how the pages of a map are used.
 */
#ifndef LARD_ADVICE_H
#define LARD_ADVICE_H

#include "base/types.h"

void lard_advice_map(const lard_map *map); /* after it was mapped */
void lard_advice_shard(
    const lard_view *view); /* at this process's first use of a shard, and after it was emptied */
void lard_advice_index(const lard_view *view, uint32_t segment); /* a page of the index: read it and keep it */
/* Starts to read it, if it is not in memory, and does not wait. Looks at few segments as long as all are. False:
 * it was not in memory. */
bool lard_advice_segment(const lard_view *view, uint32_t segment);
/* Reads the records of a shard from the disk, if they are not in memory, and waits. Not under the lock: a caller
 * that walks through the shard would wait there for each page by itself. */
void lard_advice_read_records(const lard_view *view);

#endif
