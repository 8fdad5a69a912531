/*
 * drop.c — drops a key with its chunks, without a lock.
 */
#include "item/drop.h"
#include "base/hash.h"
#include "file/map.h"
#include "file/view.h"
#include "index/dircache.h"
#include "index/index.h"
#include "item/large.h"
#include "shard/repair.h"
#include "shard/shard.h"

/* Where the index is damaged, a key that was not found may be in a bucket that other processes know. The shard is
 * emptied; if another process has the lock, or this one has no process slot, all processes leave the file. */
static __attribute__((noinline)) void empty_damaged(lard_view *view) {
    if (__atomic_load_n(&view->map->owner_word, __ATOMIC_RELAXED) && lard_shard_try(view)) {
        lard_repair_empty(view);
        lard_shard_unlock(view);
    } else {
        lard_map_supersede(view->map);
    }
}

static bool is_damaged(const lard_map *map, const lard_view *view, uint64_t epoch, const lard_hash *hash) {
    lard_buckets pair;
    bool damaged = !lard_bucket_pair(view, hash, lard_bucket_count(view), &pair) ||
                   lard_dircache_differs(map, view, hash, epoch);
    lard_fence_acquire();
    return damaged && lard_load(&view->header->epoch) == epoch;
}

bool lard_drop(lard_map *map, const lard_key *key, int64_t now_ms) {
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
    if (LARD_UNLIKELY(!was_live && is_damaged(map, &view, epoch, &key->hash))) {
        empty_damaged(&view);
    }
    return was_live;
}
