/*
 * attached.h — a cache that a parent and its children share, and notes of which process has which slot.
 */
#ifndef LARD_ATTACHED_H
#define LARD_ATTACHED_H

#include "children.h"

static inline bool process_count_is(larder *cache, uint64_t want) {
    larder_stats stats = {0};
    larder_status status = larder_get_stats(cache, &stats);
    if (status != LARDER_OK || stats.processes != want) {
        fprintf(stderr, "  %llu processes attached\n", (unsigned long long)stats.processes);
        return false;
    }
    return true;
}

typedef struct {
    uint32_t stage;
    uint32_t slots[8];
    uint32_t words[8];
    pid_t pid;
    uint32_t answer;
} notes;

static larder *shared_cache;
static notes *note;

static inline void begin(uint64_t size_bytes) {
    shared_cache = open_cache(size_bytes);
    note = shared_memory(sizeof *note);
}

static inline void end(void) {
    larder_close(shared_cache);
    munmap(note, sizeof *note);
}

static inline void write_down(int who) {
    note->slots[who] = shared_cache->core->slot;
    note->words[who] = shared_cache->core->map->owner_word;
}

#endif
