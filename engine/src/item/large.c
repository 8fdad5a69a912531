/*
 * large.c — stores, reads, touches and drops values that are longer than a record may be.
 *
 * A large value is cut into chunks. Each chunk is a record under its own key (id of the value, number). Chunks are
 * stored in groups, the first group in the shard of the value's key, each further one in the next shard. The
 * record under the user's key is the head: it has the id, the length and the number of chunks, and is published
 * last. A chunk is shorter than the longest one if that fills the open segment to its end. No lock is held for
 * more than one chunk.
 *
 * If a chunk is evicted, the value is a miss. Chunks of a writer that was killed half-way are never read, so they
 * are evicted like other items that are not read. See docs/adr/0003-large-values.md.
 */
#include "item/large.h"
#include "base/key.h"
#include "base/reads.h"
#include "file/map.h"
#include "file/view.h"
#include "index/dircache.h"
#include "index/index.h"
#include "item/dirty.h"
#include "item/expiry.h"
#include "item/lookup.h"
#include "item/write.h"
#include "proc/process.h"
#include "segment/segment.h"
#include "shard/shard.h"

#include <string.h>

#define MIN_CHUNK_BYTES 512u /* least bytes of value in a chunk; the last chunk may be shorter */
#define CHUNK_HEADER (LARD_RECORD_HEADER + (unsigned)sizeof(lard_chunk_key))

size_t lard_large_chunk_bytes(const lard_map *map) { return map->chunk_record - CHUNK_HEADER; }

static lard_chunk_key chunk_key(const lard_head *head, uint64_t number) {
    lard_chunk_key key = {{head->id[0], head->id[1]}, number};
    return key;
}

/* lard_head.checksum of the chunks up to one whose record has this checksum. So a value is read only if its chunks
 * are those that were written with its head, whatever their keys are. */
static uint64_t checksum_with(uint64_t checksum, uint32_t crc) { return lard_hash_mix(checksum ^ crc) + 1; }

/* Does the head make sense? Its checksum is right, but a process that may write to the file can forge it. */
static bool plausible(const lard_map *map, const lard_head *head) {
    return head->value_bytes <= map->max_value && head->chunks <= head->value_bytes / MIN_CHUNK_BYTES + 1;
}

typedef struct {
    lard_chunk_key data;
    lard_key key;
    lard_buckets buckets;
    lard_place place;
} prefetched;

/* Computes the key of a chunk that will be needed soon, and prefetches its buckets. */
static void prefetch_chunk(const lard_map *map, const lard_head *head, uint64_t number, prefetched *chunk) {
    chunk->data = chunk_key(head, number);
    chunk->key = lard_key_of_chunk(map, &chunk->data);
    lard_dircache_prefetch_buckets(map, &chunk->key.hash, &chunk->buckets);
}

static void prefetch_record(lard_map *map, prefetched *chunk) {
    chunk->place = lard_dircache_prefetch_record(map, &chunk->key.hash, &chunk->buckets);
}

typedef struct {
    prefetched ahead[3]; /* the chunk that is needed now and the next two */
} walk;

static void begin_walk(walk *steps, const lard_map *map, const lard_head *head) {
    for (uint32_t i = 0; i < 2 && i < head->chunks; i++) {
        prefetch_chunk(map, head, i, &steps->ahead[i]);
    }
}

/* Chunk i, whose record was prefetched; prefetches the record of the next and the buckets of the one after it. */
static const prefetched *next_of_walk(walk *steps, lard_map *map, const lard_head *head, uint32_t i) {
    if (i == 0) {
        prefetch_record(map, &steps->ahead[0]);
    }
    if (i + 1 < head->chunks) {
        prefetch_record(map, &steps->ahead[(i + 1) % 3]);
    }
    if (i + 2 < head->chunks) {
        prefetch_chunk(map, head, i + 2, &steps->ahead[(i + 2) % 3]);
    }
    return &steps->ahead[i % 3];
}

/* Copies the chunks to `out`, or only looks for them if that is NULL. */
static larder_status read_chunks(lard_core *cache, lard_map *map, const lard_head *head, char *out,
                                 bool raises_reads) {
    size_t at = 0;
    uint64_t checksum = 0;
    walk steps;
    begin_walk(&steps, map, head);
    for (uint32_t i = 0; i < head->chunks; i++) {
        larder_item item;
        lard_hit hit;
        const prefetched *chunk = next_of_walk(&steps, map, head, i);
        larder_status status = lard_lookup(cache, map, &chunk->key, &chunk->place, out ? out + at : NULL,
                                           head->value_bytes - at, &item, &hit, 0);
        if (status != LARDER_OK) {
            return LARDER_MISS;
        }
        if (raises_reads) {
            lard_reads_raise(map, &map->dircache[lard_hash_shard(map, &chunk->key.hash)], hit.reads, hit.slot,
                             hit.offset);
        }
        at += item.size_bytes;
        checksum = checksum_with(checksum, LARD_WORD0_CRC(hit.info.word0));
    }
    return at == head->value_bytes && checksum == head->checksum ? LARDER_OK : LARDER_MISS;
}

larder_status lard_large_read(lard_core *cache, lard_map *map, const lard_key *key, const lard_hit *found,
                              lard_room *room) {
    const lard_head *head = &found->head;
    if (!plausible(map, head)) {
        return LARDER_MISS;
    }
    if (room && head->value_bytes > room->capacity &&
        !lard_lookup_grow(room, head->value_bytes, found->info.word1)) {
        return LARDER_BUFFER_TOO_SMALL;
    }
    /* By the head, which was written last: the first chunks of a long value are old as soon as it is complete. */
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    bool is_young = lard_segment_is_open(&view, found->offset) ||
                    lard_reads_is_young(map, &map->dircache[view.number], found->offset);
    return read_chunks(cache, map, head, room ? room->bytes : NULL, !is_young);
}

bool lard_large_is_whole(lard_core *cache, lard_map *map, const lard_head *head) {
    return plausible(map, head) && read_chunks(cache, map, head, NULL, false) == LARDER_OK;
}

void lard_large_drop(lard_map *map, const lard_head *head) {
    walk steps;
    if (!plausible(map, head)) {
        return;
    }
    begin_walk(&steps, map, head);
    for (uint32_t i = 0; i < head->chunks; i++) {
        const lard_key *key = &next_of_walk(&steps, map, head, i)->key;
        lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
        lard_index_delete(&view, key, 0, NULL);
    }
}

/* Bytes of value in the next chunk: all that is left, the most that is allowed, or what fills the open segment. */
static size_t chunk_bytes(const lard_view *view, const lard_record_spec *part, size_t left) {
    size_t most = lard_large_chunk_bytes(view->map);
    size_t room = lard_segment_room(view, part->to_main ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL);
    size_t bytes = left < most ? left : most;
    return room >= CHUNK_HEADER + MIN_CHUNK_BYTES && room < CHUNK_HEADER + LARD_ALIGN8(bytes) ? room - CHUNK_HEADER
                                                                                              : bytes;
}

/* op->spec is the next chunk, with as many bytes as it had room for without the lock. */
static larder_status write_prepared(lard_core *cache, lard_view *view, lard_write_op *op, size_t left,
                                    uint32_t least_small, const larder_call *call) {
    larder_status status = lard_shard_lock(cache, view, call);
    if (status != LARDER_OK) {
        return status;
    }
    lard_segment_stay(view, least_small);
    op->spec.value_bytes = chunk_bytes(view, &op->spec, left);
    lard_add(&view->header->chunks,
             1); /* the key is new, so this adds a slot; from now on a repair counts chunks */
    status = lard_write_locked(cache, view, op);
    if (status != LARDER_OK) {
        lard_add(&view->header->chunks, (uint64_t)-1);
    }
    lard_write_unlock(view);
    return lard_map_outcome(view->map, status);
}

static __attribute__((noinline)) larder_status write_image(lard_core *cache, lard_view *view, lard_write_op *op,
                                                           size_t left, uint32_t least_small,
                                                           const larder_call *call) {
    lard_image image;
    lard_write_prepare(view, op, &image, op->spec.to_main ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL);
    larder_status status = write_prepared(cache, view, op, left, least_small, call);
    lard_write_forget(op, &image);
    return status;
}

/* Writes the next chunk of what is left. part->value_bytes becomes its length. */
static larder_status write_chunk(lard_core *cache, lard_map *map, const prefetched *chunk, lard_record_spec *part,
                                 size_t left, uint32_t least_small, uint32_t *crc, const larder_call *call) {
    const lard_key *key = &chunk->key;
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    lard_write_op op = {
        .key = key, .buckets = chunk->buckets, .spec = *part, .condition = LARD_IF_ANY, .now_ms = call->now_ms};
    larder_status status;
    op.spec.value_bytes = chunk_bytes(&view, part, left);
    if (lard_image_suits(&view, lard_record_bytes_of(key, &op.spec))) {
        status = write_image(cache, &view, &op, left, least_small, call);
    } else {
        lard_dirty_for_write(&view, &key->hash, &op.buckets,
                             part->to_main ? LARD_SEGMENT_MAIN : LARD_SEGMENT_SMALL,
                             left < map->chunk_record ? left : map->chunk_record);
        status = write_prepared(cache, &view, &op, left, least_small, call);
    }
    part->value_bytes = op.spec.value_bytes;
    *crc = op.crc;
    return status;
}

larder_status lard_large_write(lard_core *cache, lard_map *map, const lard_key *key, const lard_record_spec *spec,
                               lard_head *head, const larder_call *call) {
    size_t at = 0;

    lard_process_new_id(cache, &key->hash, head->id);
    head->value_bytes = (uint32_t)spec->value_bytes;
    head->checksum = 0;
    uint32_t least_small = spec->to_main ? 0 : lard_segment_staying(map, spec->value_bytes);
    prefetched ahead[2]; /* the chunk that is being written and the next */
    prefetch_chunk(map, head, 0, &ahead[0]);
    for (head->chunks = 0; at < spec->value_bytes; head->chunks++) {
        prefetch_chunk(map, head, head->chunks + 1, &ahead[(head->chunks + 1) % 2]);
        lard_record_spec part = {
            .value = (const char *)spec->value + at,
            .expiry_ms = spec->expiry_ms,
            .type = LARD_TYPE_CHUNK,
            .reads = spec->reads,
            .to_main = spec->to_main,
        };
        uint32_t crc;
        larder_status status = write_chunk(cache, map, &ahead[head->chunks % 2], &part, spec->value_bytes - at,
                                           least_small, &crc, call);
        if (status != LARDER_OK) {
            lard_large_drop(map, head);
            return status;
        }
        at += part.value_bytes;
        head->checksum = checksum_with(head->checksum, crc);
    }
    return LARDER_OK;
}

larder_status lard_large_touch(lard_core *cache, lard_map *map, const lard_head *head, uint64_t expiry_ms) {
    larder_status result = plausible(map, head) ? LARDER_OK : LARDER_MISS;
    for (uint32_t i = 0; result == LARDER_OK && i < head->chunks; i++) {
        lard_chunk_key data = chunk_key(head, i);
        lard_key key = lard_key_of_chunk(map, &data);
        result = lard_expiry_set(cache, map, &key, expiry_ms, NULL, NULL);
    }
    return result;
}
