/*
 * sample.h — how long the records of a shard are. Under the lock.
 */
#ifndef LARD_SAMPLE_H
#define LARD_SAMPLE_H

#include "base/types.h"

bool lard_sample_is_due(const lard_view *view);
void lard_sample_take(lard_view *view);
/* Do the items take so little of the shard that none has to leave? */
bool lard_sample_is_roomy(const lard_view *view);

#endif
