/*
 * drop.h — drops a key with its chunks, without a lock.
 */
#ifndef LARD_DROP_H
#define LARD_DROP_H

#include "base/hash.h"
#include "base/key.h"
#include "file/view.h"
#include "index/index.h"
#include "item/large.h"

/* True if the key had a live value. */
static inline bool lard_drop(lard_map *map, const lard_key *key, int64_t now_ms) {
    uint64_t epoch;
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    lard_head head = {{0, 0}, 0, 0};
    if (!lard_view_is_current(&view, &epoch)) {
        return false;
    }
    bool was_live = lard_index_delete(&view, key, now_ms, &head);
    if (head.value_bytes) {
        lard_large_drop(map, &head);
    }
    return was_live;
}

#endif
