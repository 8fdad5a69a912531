/*
 * attach.h — attaches a handle to its file, also after a fork, a replacement or a fault.
 */
#ifndef LARD_ATTACH_H
#define LARD_ATTACH_H

#include "base/types.h"

/* Is it time for the next attempt? After a failure there is a wait. The fork lock is held. */
bool lard_attach_is_due(const larder *cache);

#endif
