/*
 * tree_load.h — bytes to values (tree_format.h).
 */
#ifndef LARDER_TREE_LOAD_H
#define LARDER_TREE_LOAD_H

#include <ruby.h>
#include <stdbool.h>

void tree_load_init(VALUE tree_module);

/*
 * The value, or Qundef where the bytes are incomplete or of another kind. Runs Ruby if they hold objects other
 * than text, numbers, Arrays and Hashes; its errors are Qundef. `trusted`: nobody else could write them, so files
 * may be loaded for the classes that they name. `kept`: the objects that a Mixture kept, in groups; or nil.
 */
VALUE tree_load(const char *bytes, size_t size_bytes, bool trusted, VALUE kept);

#endif
