/*
 * pending.h — notes removals that cannot be applied yet.
 */
#ifndef LARD_PENDING_H
#define LARD_PENDING_H

#include "base/types.h"

typedef enum {
    LARD_REMOVE_KEY,
    LARD_REMOVE_LEASE, /* and the old value of its key; nothing if the lease has ended */
    LARD_REMOVE_TAG,
    LARD_REMOVE_ALL
} lard_removal_kind;

typedef struct { /* removed by a delete, an overwrite, the refusal of a store under a lease, or a clear */
    lard_removal_kind kind;
    const void *text; /* of the key or tag */
    size_t bytes;
    uint64_t token[2]; /* of the lease */
} lard_removal;

static inline lard_removal lard_pending_of_key(const void *key, size_t bytes) {
    return (lard_removal){.kind = LARD_REMOVE_KEY, .text = key, .bytes = bytes};
}
static inline lard_removal lard_pending_of_lease(const void *key, size_t bytes, const uint64_t token[2]) {
    return (lard_removal){.kind = LARD_REMOVE_LEASE, .text = key, .bytes = bytes, .token = {token[0], token[1]}};
}

/* Applies a removal without a process slot and without a shard's lock. True if the key had a live value. */
bool lard_pending_remove(lard_core *cache, lard_map *map, const lard_removal *removal, int64_t now_ms);
/* Notes a removal. False: the handle is attached by now, and nothing was noted. */
bool lard_pending_note(lard_core *cache, const lard_removal *removal);
/* Applies what was noted. It stays noted if the file cannot be read. The fork lock is held. */
void lard_pending_apply(lard_core *cache, lard_map *map);
/* As larder_pending(). The fork lock is held. */
uint32_t lard_pending_count(const lard_core *cache);
void lard_pending_free(lard_core *cache);

#endif
