/*
 * clock.h — clocks in milliseconds.
 */
#ifndef LARDER_CLOCK_H
#define LARDER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t glue_clock_ms(clockid_t id) {
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
