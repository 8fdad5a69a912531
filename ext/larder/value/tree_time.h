/*
 * tree_time.h — Times as parts, and of parts, without Larder::Tree, which knows more of them.
 *
 * The parts are those of lib/larder/codecs/tree/times.rb: seconds, nanoseconds, and the offset from UTC in seconds
 * and the name of the zone, both nil in UTC.
 */
#ifndef LARDER_TREE_TIME_H
#define LARDER_TREE_TIME_H

#include <ruby.h>
#include <stdbool.h>

enum { TREE_TIME_PARTS = 4 };

void tree_time_init(void);

/* Fills `parts` for a Time without methods of its own, of whole nanoseconds, in UTC or in local time. False:
 * Larder::Tree has to be asked. */
bool tree_time_parts(VALUE time, VALUE parts[TREE_TIME_PARTS]);

/* The Time, or Qundef: Larder::Tree has to be asked. */
VALUE tree_time_made(const VALUE parts[TREE_TIME_PARTS]);

#endif
