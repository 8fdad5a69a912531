/*
 * large.c — values longer than a record may be.
 *
 * A large value is cut into chunks, each an ordinary record under a key of its
 * own (id of the value, number), spread over all shards by its hash; the record
 * under the user's key is the head that names the id and the length, published
 * last. No lock is held for longer than one chunk takes. If a chunk is evicted,
 * the value is a miss. Chunks of a writer killed half-way are never read and leave
 * with their segment. See docs/adr.
 */
#include "internal.h"

#include <string.h>

size_t lard_large_chunk_bytes(const lard_map *map) {
    return map->record_limit - LARD_RECORD_HEADER - sizeof(lard_chunk_key);
}

static uint64_t chunk_count(const lard_map *map, uint64_t value_bytes) {
    size_t chunk = lard_large_chunk_bytes(map);
    return (value_bytes + chunk - 1) / chunk;
}

static lard_chunk_key chunk_key(const lard_head *head, uint64_t number) {
    lard_chunk_key key = {{head->id[0], head->id[1]}, number};
    return key;
}

larder_status lard_large_read(larder *cache, lard_map *map, const lard_head *head, void *out, size_t capacity) {
    size_t chunk = lard_large_chunk_bytes(map);
    if (head->value_bytes > larder_max_value(cache)) {
        return LARDER_MISS;
    }
    if (head->value_bytes > capacity) {
        return LARDER_BUFFER_TOO_SMALL;
    }
    uint64_t count = chunk_count(map, head->value_bytes);
    for (uint64_t i = 0; i < count; i++) {
        lard_chunk_key key = chunk_key(head, i);
        size_t want = i + 1 < count ? chunk : (size_t)(head->value_bytes - i * chunk);
        lard_hash hash = lard_hash_key(map, &key, sizeof key, true);
        larder_item item;
        larder_status status =
            lard_read(cache, map, &hash, &key, sizeof key, true, (char *)out + i * chunk, want, &item, NULL, 0);
        if (status != LARDER_OK || item.size_bytes != want) {
            return LARDER_MISS;
        }
    }
    return LARDER_OK;
}

void lard_large_drop(larder *cache, lard_map *map, const lard_head *head) {
    if (head->value_bytes > larder_max_value(cache)) {
        return;
    }
    uint64_t count = chunk_count(map, head->value_bytes);
    for (uint64_t i = 0; i < count; i++) {
        lard_chunk_key key = chunk_key(head, i);
        lard_hash hash = lard_hash_key(map, &key, sizeof key, true);
        lard_view view = lard_view_of(map, lard_hash_shard(map, &hash));
        lard_index_delete(&view, &hash, &key, sizeof key, true, 0, NULL);
    }
}

larder_status lard_large_write(larder *cache, lard_map *map, const lard_draft *draft, lard_head *head,
                               const larder_call *call) {
    size_t chunk = lard_large_chunk_bytes(map);
    uint64_t count = chunk_count(map, draft->value_bytes);
    larder_call patient = {lard_now(call), 0};

    head->id[0] = (uint64_t)__atomic_load_n(&cache->slot, __ATOMIC_RELAXED) << 32 |
                  __atomic_load_n(&cache->incarnation, __ATOMIC_RELAXED);
    head->id[1] = __atomic_add_fetch(&cache->next_value_id, 1, __ATOMIC_RELAXED);
    head->value_bytes = draft->value_bytes;
    for (uint64_t i = 0; i < count; i++) {
        lard_chunk_key key = chunk_key(head, i);
        lard_hash hash = lard_hash_key(map, &key, sizeof key, true);
        lard_head none = {{0, 0}, 0};
        lard_draft part = {
            .key = &key,
            .key_bytes = sizeof key,
            .value = (const char *)draft->value + i * chunk,
            .value_bytes = i + 1 < count ? chunk : (size_t)(draft->value_bytes - i * chunk),
            .expiry_ms = draft->expiry_ms,
            .type = LARD_TYPE_CHUNK,
            .to_main = draft->value_bytes > larder_max_value(cache) / 8,
        };
        larder_status status = lard_write(cache, map, &hash, &part, LARD_IF_ANY, 0, &patient, &none);
        if (status != LARDER_OK) {
            lard_large_drop(cache, map, head);
            return status;
        }
    }
    return LARDER_OK;
}

void lard_large_touch(larder *cache, lard_map *map, const lard_head *head, uint64_t expiry_ms) {
    if (head->value_bytes > larder_max_value(cache)) {
        return;
    }
    uint64_t count = chunk_count(map, head->value_bytes);
    for (uint64_t i = 0; i < count; i++) {
        lard_chunk_key key = chunk_key(head, i);
        lard_hash hash = lard_hash_key(map, &key, sizeof key, true);
        lard_touch(cache, map, &hash, &key, sizeof key, true, expiry_ms, NULL, NULL);
    }
}
