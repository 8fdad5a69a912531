/* configurations.h — opens the test's cache as a process of a configuration does. */
#ifndef LARD_CONFIGURATIONS_TEST_H
#define LARD_CONFIGURATIONS_TEST_H

#include "children.h"

enum { SIZE = 4 << 20 };

static inline larder *open_as(uint64_t configuration) {
    larder *cache = NULL;
    larder_error error;
    larder_options options = {.size_bytes = SIZE, .configuration = configuration};
    if (larder_open(test_path("t.larder"), &options, &cache, &error) != LARDER_OK) {
        fprintf(stderr, "  open: %s: %s\n", error.detail, larder_status_text(error.status));
    }
    return cache;
}

#endif
