/*
 * copies.h — copies of entries of the remote store: Records#keep_copies and #keep_strings.
 */
#ifndef LARDER_COPIES_H
#define LARDER_COPIES_H

#include <ruby.h>

void copies_init(VALUE store_module);

#endif
