/*
 * sketch.h — keeps the heaviest of many keys in a few entries.
 *
 * Space-saving (Metwally, Agrawal, El Abbadi: "Efficient computation of frequent and top-k elements in data
 * streams", ICDT 2005): a key without an entry takes the lightest one and inherits its weight, which is then the
 * greatest error of its own.
 */
#ifndef LARD_SKETCH_H
#define LARD_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#define LARD_SKETCH_KEY_BYTES 124u /* of a key's beginning that an entry keeps */

typedef struct {        /* in the sidecar, too */
    uint64_t hash;      /* of the key, with its length */
    uint64_t weight;    /* 0: the entry is free */
    uint64_t error;     /* the most of the weight that is another key's */
    int64_t seen_ms;    /* Unix time */
    uint64_t bytes;     /* of the key's value, when it was seen */
    uint32_t key_bytes; /* of the whole key */
    char key[LARD_SKETCH_KEY_BYTES];
} lard_sketch_entry;

/* A key that was seen. Its text may be only the beginning. */
typedef struct {
    uint64_t hash;
    const char *text;
    uint32_t bytes;
    uint64_t value_bytes;
    int64_t seen_ms;
} lard_sketch_key;

/* Adds to the key's weight. */
void lard_sketch_add(lard_sketch_entry *entries, size_t count, const lard_sketch_key *key, uint64_t weight,
                     uint64_t error);
/* The weight of the key becomes `weight`, without an error: for sizes. A lighter key than all gets no entry. */
void lard_sketch_raise(lard_sketch_entry *entries, size_t count, const lard_sketch_key *key, uint64_t weight);
/* Takes a sixteenth of all weights away, `times` times. */
void lard_sketch_decay(lard_sketch_entry *entries, size_t count, unsigned times);
/* Frees the entries of keys that were last seen before. */
void lard_sketch_forget(lard_sketch_entry *entries, size_t count, int64_t before_ms);

#endif
