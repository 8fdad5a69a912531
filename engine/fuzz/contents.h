/*
 * contents.h — the items of a cache that will be damaged: each value tells its key and its store.
 *
 * So any wrong value is detected.
 */
#ifndef LARD_FUZZ_CONTENTS_H
#define LARD_FUZZ_CONTENTS_H

#include "world.h"

enum {
    CONTENTS_PLAIN = 64,
    CONTENTS_COUNTERS = 4,
    CONTENTS_KEYS = 68,
    CONTENTS_NAME = 64,
    CONTENTS_STAMPS = 2048
};

typedef struct {
    uint32_t last[CONTENTS_KEYS]; /* stamp of what the key should have; 0: nothing */
    bool must[CONTENTS_KEYS];     /* it was stored a moment ago: nothing older will do */
    uint32_t stamps;              /* number of stamps that were given */
    uint16_t key_of[CONTENTS_STAMPS];
    uint32_t bytes_of[CONTENTS_STAMPS];
    int64_t numbers[CONTENTS_COUNTERS][64]; /* that a counter has shown */
    unsigned shown[CONTENTS_COUNTERS];
} contents;

/* Fills a new cache: `fillers` other items first, then values of up to `most` bytes, some written twice. */
void contents_fill(contents *out, larder *cache, unsigned fillers, size_t most);
void contents_begin(const contents *with);

size_t contents_name(unsigned key, char out[CONTENTS_NAME]);
size_t contents_room(unsigned key); /* for the longest value that it may have */
/* A store of a new value, in memory of its own until the next call. */
void contents_spec(unsigned key, size_t bytes, larder_store *store);
/* Whether that came in; `must`: and nothing else may be found. */
void contents_stored(unsigned key, bool stored, bool must);
void contents_dropped(unsigned key);
const unsigned char *contents_value(unsigned key, size_t *bytes);
uint8_t contents_flags(unsigned key);
/* Aborts unless this was stored under the key: any time where `older` will do, any bytes where they are `forged`.
 */
void contents_check(unsigned key, const unsigned char *value, size_t bytes, uint8_t flags, bool forged,
                    bool older);
/* Whether a counter can have become this; notes that it has. */
bool contents_incremented(unsigned key, int64_t delta, int64_t result);

#endif
