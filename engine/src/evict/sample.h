/*
 * sample.h — estimates the mean size of a shard's records. Under the lock.
 */
#ifndef LARD_SAMPLE_H
#define LARD_SAMPLE_H

#include "base/types.h"

bool lard_sample_is_due(const lard_view *view);
void lard_sample_take(lard_view *view);
/* Do the live items take so little of the shard that none need be evicted? */
bool lard_sample_is_roomy(const lard_view *view);

#endif
