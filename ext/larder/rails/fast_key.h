/*
 * fast_key.h — a name to the key in the file.
 */
#ifndef LARDER_FAST_KEY_H
#define LARDER_FAST_KEY_H

#include <ruby.h>
#include <stdbool.h>

#include "larder.h"

typedef struct fast_key {
    size_t bytes;
    bool is_list; /* a list's entries have the version "", others have none */
    char text[LARDER_MAX_KEY];
} fast_key;

/*
 * The key of at most `limit` bytes for a name that is a String, a Symbol, a small Integer or an Array of them.
 * `namespace` is nil or a String. False for any other name, a blank one, one too long, or one of incompatible
 * encodings.
 */
bool fast_key_expand(size_t limit, VALUE namespace, VALUE name, fast_key *key);

#endif
