/*
 * fast_log.h — would Rails write a debug line for an operation?
 */
#ifndef LARDER_FAST_LOG_H
#define LARDER_FAST_LOG_H

#include <ruby.h>
#include <stdbool.h>

void fast_log_init(VALUE module);

bool fast_log_wanted(VALUE store);

/* Until loggers are known again, every line is wanted. */
void fast_log_forget(void);

/* The logger of all stores or nil, whether it is a broadcast with Rails' own methods, and the loggers, it or those
 * of the broadcast, whose methods are Ruby's and Rails' own. */
void fast_log_know(VALUE given, bool broadcast, VALUE loggers);

#endif
