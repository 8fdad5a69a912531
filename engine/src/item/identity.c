/*
 * identity.c — the identity of a record: a hash of its slot's value, the generation of its segment and the file's
 * id. Takes no lock.
 *
 * Two records of a key at one place of a file are in different generations of the segment. The slot has only the
 * low 16 bits of the generation, which repeat, so the hash has all of them. They are loaded after the record was
 * found: if the segment was freed in between, the result is the identity of no record.
 */
#include "item/identity.h"
#include "base/hash.h"
#include "base/word.h"
#include "file/view.h"
#include "segment/counter.h"
#include "segment/segment.h"

static uint64_t with(uint64_t identity, uint64_t word) { return lard_hash_mix(identity ^ word) | 1; }

uint64_t lard_identity_of_record(lard_map *map, const lard_key *key, const lard_hit *hit) {
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key->hash));
    uint64_t place = hit->slot_value & ~LARD_SLOT_PENDING; /* a move between buckets leaves it the same record */
    uint64_t generation = lard_load(&view.segments[lard_segment_at(&view, hit->offset)].generation);
    return with(with(lard_word_at(map->super.file_id), place), generation);
}

uint64_t lard_identity_of_value(lard_map *map, const lard_key *key, const lard_hit *hit, const char *text,
                                size_t bytes) {
    int64_t number = 0;
    if (hit->type == LARD_TYPE_COUNTER) {
        lard_counter_parse(text, bytes, &number);
    }
    return with(with(lard_identity_of_record(map, key, hit), hit->info.expiry_ms), (uint64_t)number);
}
