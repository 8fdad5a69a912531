/*
 * sketch.c — keeps the heaviest of many keys in a few entries. Pure; the caller owns the memory.
 */
#include "usage/sketch.h"

#include <string.h>

/* The key's entry, or the lightest. */
static lard_sketch_entry *entry_for(lard_sketch_entry *entries, size_t count, uint64_t hash) {
    lard_sketch_entry *lightest = entries;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].hash == hash && entries[i].weight) {
            return &entries[i];
        }
        lightest = entries[i].weight < lightest->weight ? &entries[i] : lightest;
    }
    return lightest;
}

static void give(lard_sketch_entry *entry, const lard_sketch_key *key) {
    size_t kept = key->bytes < LARD_SKETCH_KEY_BYTES ? key->bytes : LARD_SKETCH_KEY_BYTES;
    entry->hash = key->hash;
    entry->key_bytes = key->bytes;
    memset(entry->key, 0, sizeof entry->key);
    memcpy(entry->key, key->text, kept);
}

static void see(lard_sketch_entry *entry, const lard_sketch_key *key) {
    entry->seen_ms = key->seen_ms;
    entry->bytes = key->value_bytes;
}

void lard_sketch_add(lard_sketch_entry *entries, size_t count, const lard_sketch_key *key, uint64_t weight,
                     uint64_t error) {
    lard_sketch_entry *entry = entry_for(entries, count, key->hash);
    if (!entry->weight || entry->hash != key->hash) {
        entry->error = entry->weight;
        give(entry, key);
    }
    entry->weight += weight;
    entry->error += error;
    see(entry, key);
}

void lard_sketch_raise(lard_sketch_entry *entries, size_t count, const lard_sketch_key *key, uint64_t weight) {
    lard_sketch_entry *entry = entry_for(entries, count, key->hash);
    if (!entry->weight || entry->hash != key->hash) {
        if (weight <= entry->weight) {
            return;
        }
        entry->error = 0;
        give(entry, key);
    }
    entry->weight = weight;
    see(entry, key);
}

void lard_sketch_decay(lard_sketch_entry *entries, size_t count, unsigned times) {
    for (size_t i = 0; i < count; i++) {
        for (unsigned t = 0; t < times && entries[i].weight; t++) {
            entries[i].weight -= entries[i].weight / 16 + (entries[i].weight < 16);
            entries[i].error -= entries[i].error / 16;
        }
        entries[i].error = entries[i].error < entries[i].weight ? entries[i].error : entries[i].weight;
    }
}

void lard_sketch_forget(lard_sketch_entry *entries, size_t count, int64_t before_ms) {
    for (size_t i = 0; i < count; i++) {
        if (entries[i].weight && entries[i].seen_ms < before_ms) {
            memset(&entries[i], 0, sizeof entries[i]);
        }
    }
}
