/*
 * places.h — opens and checks files in the test's directory from outside the engine.
 */
#ifndef LARD_PLACES_H
#define LARD_PLACES_H

#include "children.h"

enum { SIZE = 1 << 20 };

static larder_error failure;

static inline larder_status try_open(const char *path) {
    larder *cache = NULL;
    larder_options options = {.size_bytes = SIZE};
    larder_status status = larder_open(path, &options, &cache, &failure);
    larder_close(cache);
    return status;
}

static inline const char *in_directory(const char *name) {
    static char paths[8][600];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", test_directory, name);
    return path;
}

static inline bool put_file(const char *path, const void *data, size_t bytes, mode_t mode) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool done = fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes && fchmod(fd, mode) == 0;
    close(fd);
    return done;
}

static inline bool file_is(const char *path, const void *data, size_t bytes) {
    static unsigned char have[3 * SIZE];
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, have, sizeof have);
    close(fd);
    return got == (ssize_t)bytes && memcmp(have, data, bytes) == 0;
}

static inline bool is_there(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

static inline bool usable(const char *path) {
    larder *cache = NULL;
    larder_options options = {.size_bytes = SIZE};
    bool good = larder_open(path, &options, &cache, &failure) == LARDER_OK && set(cache, "k", "v") == LARDER_OK &&
                is(cache, "k", "v") && sound(cache);
    larder_close(cache);
    return good;
}

#endif
