/*
 * tree_dump.h — values to bytes (tree_format.h).
 */
#ifndef LARDER_TREE_DUMP_H
#define LARDER_TREE_DUMP_H

#include <ruby.h>

void tree_dump_init(VALUE tree_module);

/*
 * The bytes of a value, a new binary String; Qundef where it has none. May run Ruby, and raise. `natural`: false;
 * true: also records where the application keeps all their state by Marshal; or a Larder::Cacheable::Mixture: also
 * objects whose class says how it is cached, which the mixture keeps.
 */
VALUE tree_dump(VALUE value, VALUE natural);

#endif
