/*
 * fail.c — fills a larder_error.
 */
#include "base/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

larder_status lard_fail(larder_error *error, larder_status status, int system_errno, const char *format, ...) {
    if (error) {
        va_list arguments;
        error->status = status;
        error->system_errno = system_errno;
        va_start(arguments, format);
        vsnprintf(error->detail, sizeof error->detail, format, arguments);
        va_end(arguments);
    }
    return status;
}

larder_status lard_fail_call(larder_error *error, const char *call, const char *path, int code) {
    larder_status status = code == ENOSPC || code == EDQUOT                   ? LARDER_NO_SPACE
                           : code == EFBIG                                    ? LARDER_FILE_LIMIT
                           : code == ELOOP || code == EISDIR || code == ENXIO ? LARDER_NOT_REGULAR
                                                                              : LARDER_SYSTEM;
    return lard_fail(error, status, code, "%s %s: %s", call, path, strerror(code));
}
