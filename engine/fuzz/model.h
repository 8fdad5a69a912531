/*
 * model.h — the naive cache that the engine is compared with: an array of entries.
 *
 * The engine may lose only what it counts as evicted, and no pinned item. So an entry notes the count of evictions
 * at the time it was last seen.
 */
#ifndef LARD_FUZZ_MODEL_H
#define LARD_FUZZ_MODEL_H

#include "world.h"

enum { MODEL_KEYS = 2048, MODEL_TOO_LONG = 2047, MODEL_MOST_VALUE = 4 << 20, MODEL_TEXT = 24 };

typedef struct {
    bool present;
    bool uncertain; /* it may be gone, for a reason the model knows */
    bool counter, text;
    bool pinned; /* no eviction is an excuse */
    uint8_t flags;
    uint32_t stamp;
    size_t bytes;
    int64_t expires_ms, number;
    uint64_t evictions;
    char literal[MODEL_TEXT];
} model_entry;

extern model_entry model[MODEL_KEYS];

size_t model_key(unsigned number, unsigned char out[LARDER_MAX_KEY + 1]);
/* The number of a key that a scan found, or -1. */
int model_key_number(const unsigned char *key, size_t bytes);
void model_describe(unsigned char *out, size_t bytes, unsigned key, uint32_t stamp);
/* The value's bytes in memory of its own until the next call. */
const unsigned char *model_value(const model_entry *entry, unsigned key, size_t *bytes);
bool model_alive(const model_entry *entry);
/* Aborts where what `larder_get` answers is not what the model says. */
void model_compare(larder *cache, unsigned key, const larder_call *call);
/* Has to be told the handle's count before it closes. */
uint64_t model_evictions(larder *cache);
extern uint64_t model_more_evictions; /* of handles that were closed, */
extern uint64_t model_doubts; /* and those of them that are not counted, but a killed process may have made */
/* Processes killed in this input: each may have taken an item away that it did not live to count. */
extern uint64_t model_deaths;
/* A miss was seen of something alive. */
void model_forgotten(larder *cache, unsigned key);
void model_seen(larder *cache, unsigned key);
void model_time_passes(void);

#endif
