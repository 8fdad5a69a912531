/*
 * json_check.h — finds what in a value would come back from JSON as something else.
 */
#ifndef LARDER_JSON_CHECK_H
#define LARDER_JSON_CHECK_H

#include <ruby.h>

void json_check_init(VALUE larder_module);

#endif
