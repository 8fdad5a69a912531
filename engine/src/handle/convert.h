/*
 * convert.h — replaces a file of the previous format by one of this format with the same items.
 */
#ifndef LARD_CONVERT_H
#define LARD_CONVERT_H

#include "proc/lockfile.h"

/* OK: the file was converted, or it is not of the previous format. Any other status: it is as it was; IN_USE: it
 * is of the previous format, and this handle or another process has a file open. The opener's lock is held. */
larder_status lard_convert(larder *cache, const lard_lockfile *file, const lard_lockfile_content *content,
                           bool alone, larder_error *error);

#endif
