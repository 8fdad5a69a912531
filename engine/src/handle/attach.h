/*
 * attach.h — attaches a handle to its file, and again after a fork or a replacement.
 */
#ifndef LARD_ATTACH_H
#define LARD_ATTACH_H

#include "base/types.h"

/* Is it time to try? Attempts that fail are spaced out. The fork lock is held. */
bool lard_attach_is_due(const larder *cache);

#endif
