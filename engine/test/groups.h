/*
 * groups.h — a memory control group for a test, or the reason why there is none.
 */
#ifndef LARD_GROUPS_H
#define LARD_GROUPS_H

#include "harness.h"
#include "../bench/memory_group.h"

/* A group of that limit; false, and says why, where none can be made. */
static inline bool limited_group(memory_group *group, uint64_t limit_bytes) {
    const char *reason = memory_group_make(group);
    int code = reason ? 0 : memory_group_limit(group, limit_bytes);
    if (code) {
        reason = strerror(code);
        memory_group_remove(group);
    }
    if (reason) {
        printf("  skipped: %s: %s\n", test_name, reason);
    }
    return !reason;
}

#endif
