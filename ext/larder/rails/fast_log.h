/*
 * fast_log.h — would Rails write a debug line for an operation?
 */
#ifndef LARDER_FAST_LOG_H
#define LARDER_FAST_LOG_H

#include <ruby.h>
#include <stdbool.h>

void fast_log_init(VALUE module);

bool fast_log_wanted(VALUE store);

#endif
