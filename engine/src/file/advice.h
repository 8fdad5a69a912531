/*
 * advice.h — tells the kernel how the pages of a map are used.
 */
#ifndef LARD_ADVICE_H
#define LARD_ADVICE_H

#include "base/types.h"

void lard_advice_map(const lard_map *map);     /* once it is mapped */
void lard_advice_shard(const lard_view *view); /* once this process uses it, and when it was emptied */
void lard_advice_index(const lard_view *view, uint32_t segment);   /* has a page: read it and keep it in memory */
void lard_advice_segment(const lard_view *view, uint32_t segment); /* starts to read it, does not wait */

#endif
