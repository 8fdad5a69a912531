/*
 * drop.c — drops a key with its chunks, without a lock.
 *
 * Damage of the index that is not seen: a raised number of buckets, if it is still within the last page. Then
 * other processes that began before may find the key until they read the new number.
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

/* The shard is emptied; if another process has the lock, or this one has no process slot, all processes leave the
 * file. */
static void empty_damaged(lard_view *view) {
    if (__atomic_load_n(&view->map->owner_word, __ATOMIC_RELAXED) && lard_shard_try(view)) {
        lard_repair_empty(view);
        lard_shard_unlock(view);
    } else {
        lard_map_supersede(view->map);
    }
}

/* Has the file other buckets for the key than this process knows, or none, although the epoch has not ended? */
static bool is_damaged(const lard_view *view, const lard_hash *hash, const lard_buckets *known, uint64_t epoch) {
    lard_buckets pair;
    uint32_t count = lard_bucket_count(view);
    uint64_t paged = (uint64_t)lard_load(&view->header->index_pages) << view->map->index_shift;
    return count > paged || !lard_bucket_pair(view, hash, count, &pair) ||
           (known->epoch == epoch &&
            (count < known->count || lard_bucket_below_count(view, known->number[0]) != known->at[0] ||
             lard_bucket_below_count(view, known->number[1]) != known->at[1]));
}

/* A key that was not found where the index is damaged may be in a bucket that a process knows. So no process may
 * go on as before. */
static __attribute__((noinline)) void look_for_damage(lard_map *map, lard_view *view, const lard_hash *hash,
                                                      uint64_t epoch) {
    lard_buckets known;
    lard_dircache_pair(map, hash, &known);
    bool damaged = is_damaged(view, hash, &known, epoch);
    lard_fence_acquire();
    if (lard_load(&view->header->epoch) != epoch) {
        return;
    }
    if (damaged) {
        empty_damaged(view);
    } else if (known.count != lard_bucket_count(view)) {
        lard_dircache_renew(map, view); /* from now on this process looks where it has looked for this key */
    }
}

bool lard_drop(lard_map *map, const lard_key *key, int64_t now_ms) {
    uint64_t epoch;
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    lard_head head = {{0, 0}, 0, 0, 0};
    if (!lard_view_is_current(&view, &epoch)) {
        return false;
    }
    bool was_live = lard_index_delete(&view, key, now_ms, &head);
    if (head.value_bytes) {
        lard_large_drop(map, &head);
    }
    if (!was_live) {
        look_for_damage(map, &view, &key->hash, epoch);
    }
    return was_live;
}

bool lard_drop_record(lard_map *map, const lard_key *key, uint64_t slot) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    lard_head head = {{0, 0}, 0, 0, 0};
    bool dropped = lard_index_delete_record(&view, key, slot, &head);
    if (head.value_bytes) {
        lard_large_drop(map, &head);
    }
    return dropped;
}
