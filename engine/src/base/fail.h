/*
 * fail.h — fills a larder_error.
 */
#ifndef LARD_FAIL_H
#define LARD_FAIL_H

#include "larder.h"

/* Fills *error unless it is NULL. Returns `status`. */
larder_status lard_fail(larder_error *error, larder_status status, int system_errno, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a system call on `path` that failed with the errno `code`. */
larder_status lard_fail_call(larder_error *error, const char *call, const char *path, int code);

#endif
