/*
 * random.h — random bytes of the system.
 */
#ifndef LARD_RANDOM_H
#define LARD_RANDOM_H

#include <stddef.h>

int lard_random(void *out, size_t bytes); /* 0, or errno */

#endif
