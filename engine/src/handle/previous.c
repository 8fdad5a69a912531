/*
 * previous.c — reads a file of the previous format, 2.4.
 *
 * The superblock and the header of a record have changed since. All else is as layout.h draws it: control page,
 * shards, index, slots, segments, counters' cells, heads and the keys of chunks. A record was
 *
 *   0   crc32c (32) | segment generation (32)
 *   8   expiry      Unix ms (48) | seal (16)
 *   16  key length (16) | type (6), pinned (1), 0 (1) | caller's flags (8) | value length (32)
 *   24  key, value, zeros to a multiple of 8
 *
 * crc32c covered bytes 16.. to the end (a counter's: to the end of its key). No process is attached, so nothing
 * changes while it is read. Every offset and length is checked against the file before it is used.
 */
#define _GNU_SOURCE
#include "handle/previous.h"
#include "base/crc.h"
#include "base/descriptor.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/key.h"
#include "base/place.h"
#include "file/map.h"
#include "file/validate.h"
#include "file/view.h"
#include "index/bucket.h"
#include "segment/counter.h"
#include "segment/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAJOR 2u
#define MINOR 4u
#define HEADER 24u
#define EXPIRY_BITS 48
#define EXPIRY_MASK ((1ull << EXPIRY_BITS) - 1)
#define PINNED 0x40u
#define CRC_START 0xffffffffu

typedef struct {
    char magic[8];
    uint32_t format_major;
    uint32_t format_minor;
    uint32_t endian_probe;
    uint32_t layout_hash;
    uint64_t file_bytes;
    uint64_t seed[2];
    uint8_t file_id[16];
    uint8_t lock_id[16];
    uint64_t created_ms;
    uint64_t unused_offsets[3];
    uint64_t shard_offset;
    uint64_t shard_bytes;
    uint32_t process_slots;
    uint32_t unused_counts[3];
    uint32_t shard_count;
    uint32_t segment_bytes;
    uint32_t segments_per_shard;
    uint32_t directory_offset;
    uint32_t segment_table_offset;
    uint32_t data_offset;
    uint32_t reserved;
    uint32_t crc;
} superblock;

_Static_assert(sizeof(superblock) == 176, "superblock of format 2.4");

static bool is_power_of_two(uint64_t n) { return n && (n & (n - 1)) == 0; }

/* Is the superblock undamaged, and do its parts fit into each other and into the file? */
static bool is_sound(const superblock *super, uint64_t file_bytes) {
    uint64_t segments = super->segments_per_shard;
    return memcmp(super->magic, LARD_MAGIC, sizeof super->magic) == 0 && super->format_major == MAJOR &&
           super->format_minor == MINOR && super->endian_probe == LARD_ENDIAN_PROBE &&
           super->crc == lard_crc_bytes(CRC_START, super, offsetof(superblock, crc)) &&
           super->file_bytes >= LARDER_MIN_SIZE && super->file_bytes <= LARDER_MAX_SIZE &&
           super->file_bytes <= file_bytes && is_power_of_two(super->shard_count) &&
           super->shard_count <= LARD_MAX_SHARDS && is_power_of_two(super->segment_bytes) &&
           super->segment_bytes >= LARD_PAGE && segments && super->shard_bytes <= 1ull << 32 &&
           super->shard_bytes % 64 == 0 && super->shard_offset % 64 == 0 && super->data_offset % 64 == 0 &&
           super->shard_offset <= super->file_bytes &&
           super->shard_count * super->shard_bytes <= super->file_bytes - super->shard_offset &&
           super->directory_offset == sizeof(lard_shard) &&
           super->directory_offset + 4 * segments <= super->segment_table_offset &&
           super->segment_table_offset % 64 == 0 &&
           super->segment_table_offset + segments * sizeof(lard_segment) <= super->data_offset &&
           super->data_offset + segments * super->segment_bytes <= super->shard_bytes;
}

/* The same as a superblock of this format. */
static lard_superblock translated(const superblock *super) {
    lard_superblock same = {.file_bytes = super->file_bytes,
                            .created_ms = super->created_ms,
                            .shard_offset = super->shard_offset,
                            .shard_bytes = super->shard_bytes,
                            .shard_count = super->shard_count,
                            .segment_bytes = super->segment_bytes,
                            .segments_per_shard = super->segments_per_shard,
                            .directory_offset = super->directory_offset,
                            .segment_table_offset = super->segment_table_offset,
                            .data_offset = super->data_offset};
    memcpy(same.seed, super->seed, sizeof same.seed);
    memcpy(same.lock_id, super->lock_id, sizeof same.lock_id);
    return same;
}

static larder_status read_superblock(int fd, const char *path, const struct stat *info,
                                     const lard_lockfile_content *lock, bool alone, lard_superblock *super,
                                     larder_error *error) {
    lard_validate_facts facts;
    superblock copies[2];
    size_t got = 0;
    larder_status status = lard_validate_read(fd, path, info, &facts, error);
    for (int i = 0; i < 2 && status == LARDER_OK; i++) {
        memset(&copies[i], 0, sizeof copies[i]);
        int code = lard_io_read(fd, &copies[i], sizeof copies[i], i * LARD_PAGE, &got);
        status = code ? lard_fail_call(error, "read", path, code) : LARDER_OK;
    }
    if (status != LARDER_OK) {
        return status;
    }
    for (int i = 0; i < 2; i++) {
        *super = translated(&copies[i]);
        if (is_sound(&copies[i], facts.file_bytes) && !lard_validate_state(&facts, super->lock_id, lock, alone)) {
            return LARDER_OK;
        }
    }
    return LARDER_UNFIT;
}

larder_status lard_previous_open(const char *path, const lard_lockfile_content *lock, bool alone, lard_map **out,
                                 larder_error *error) {
    lard_superblock super;
    struct stat info;
    int fd = lard_descriptor_open(path, O_RDWR | O_NONBLOCK, &info);
    if (fd < 0) {
        return errno == ENOENT ? LARDER_UNFIT : lard_fail_call(error, "open", path, errno);
    }
    larder_status status = lard_place_trusted(fd, path, &info, error);
    if (status == LARDER_OK) {
        status = read_superblock(fd, path, &info, lock, alone, &super, error);
    }
    if (status == LARDER_OK) {
        status = lard_map_new(fd, &info, &super, path, out, error);
    }
    if (status != LARDER_OK) {
        lard_descriptor_close(fd, &info);
    }
    return status;
}

typedef struct { /* a whole record with a correct checksum */
    const uint8_t *key, *value;
    const lard_u64 *cells; /* of a counter */
    size_t key_bytes, value_bytes;
    uint64_t expiry_ms;
    unsigned type, pinned, flags;
    uint32_t crc;
} record;

/* Reads the record that a slot names. False: there is none, or it is damaged. */
static bool read_record(const lard_view *view, uint64_t slot, record *out) {
    uint64_t offset = LARD_SLOT_OFFSET(slot), left = lard_segment_left(view, offset);
    if (offset == 0 || left < HEADER) {
        return false;
    }
    const lard_u64 *words = lard_view_words(view, offset);
    uint64_t first = lard_load(&words[0]), second = lard_load(&words[1]), third = lard_load(&words[2]);
    out->crc = (uint32_t)first;
    out->expiry_ms = second & EXPIRY_MASK;
    out->key_bytes = third & 0xffff;
    out->type = (unsigned)(third >> 16) & (0xff & ~PINNED);
    out->pinned = (unsigned)(third >> 16) & PINNED;
    out->flags = (unsigned)(third >> 24) & 0xff;
    out->value_bytes = third >> 32;
    bool is_counter = out->type == LARD_TYPE_COUNTER;
    uint64_t body = LARD_ALIGN8(out->key_bytes + (is_counter ? 0 : out->value_bytes));
    uint64_t seal = lard_hash_mix(out->expiry_ms ^ (uint64_t)out->crc << 32 ^ 0x9e37u) >> EXPIRY_BITS;
    if (HEADER + body + (is_counter ? LARD_COUNTER_BYTES : 0) > left || second >> EXPIRY_BITS != seal ||
        (uint16_t)(first >> 32) != LARD_SLOT_GENERATION(slot)) {
        return false;
    }
    out->key = (const uint8_t *)(words + HEADER / 8);
    out->value = out->key + out->key_bytes;
    out->cells = words + (HEADER + body) / 8;
    return lard_crc_shared(lard_crc_word(CRC_START, third), words + HEADER / 8, body / 8) == out->crc;
}

typedef struct {
    lard_map *map;
    int64_t now_ms;
    lard_previous_item *each;
    void *context;
    uint8_t *value; /* of the longest value */
} walk;

/* The record of a chunk. False: it is not there. */
static bool find_chunk(lard_map *map, const lard_chunk_key *data, record *out) {
    lard_key key = lard_key_of_chunk(map, data);
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key.hash));
    lard_buckets pair;
    uint64_t epoch;
    if (!lard_view_is_current(&view, &epoch) ||
        !lard_bucket_pair(&view, &key.hash, lard_bucket_count(&view), &pair)) {
        return false;
    }
    for (unsigned i = 0; i < 2 * LARD_BUCKET_SLOTS; i++) {
        uint64_t slot =
            lard_load(&pair.at[i / LARD_BUCKET_SLOTS]->slots[i % LARD_BUCKET_SLOTS]) & ~LARD_SLOT_PENDING;
        if (LARD_SLOT_FINGERPRINT(slot) == key.hash.fingerprint && read_record(&view, slot, out) &&
            out->type == LARD_TYPE_CHUNK && out->key_bytes == sizeof *data &&
            memcmp(out->key, data, sizeof *data) == 0) {
            return true;
        }
    }
    return false;
}

/* Copies the chunks of a large value one after the other. False: not all are there. */
static bool read_chunks(const walk *this, const record *one, size_t *size_bytes) {
    lard_head head;
    record chunk;
    size_t at = 0;
    if (one->value_bytes != sizeof head) {
        return false;
    }
    memcpy(&head, one->value, sizeof head);
    for (uint32_t i = 0; i < head.chunks && head.value_bytes <= this->map->max_value; i++) {
        const lard_chunk_key data = {{head.id[0], head.id[1]}, i};
        if (!find_chunk(this->map, &data, &chunk) || chunk.value_bytes > head.value_bytes - at) {
            return false;
        }
        memcpy(this->value + at, chunk.value, chunk.value_bytes);
        at += chunk.value_bytes;
    }
    *size_bytes = at;
    return at == head.value_bytes;
}

static larder_status visit(const walk *this, const record *one) {
    larder_item item = {.size_bytes = one->value_bytes,
                        .expires_at_ms = (int64_t)one->expiry_ms,
                        .flags = (uint8_t)one->flags,
                        .is_pinned = one->pinned != 0};
    const void *value = one->value;
    char text[24];
    int64_t number;
    if (one->key_bytes > LARDER_MAX_KEY || (one->expiry_ms && item.expires_at_ms <= this->now_ms)) {
        return LARDER_OK;
    }
    if (one->type == LARD_TYPE_COUNTER) {
        if (!lard_counter_read(one->cells, one->crc, &number)) {
            return LARDER_OK;
        }
        item.is_counter = 1;
        item.size_bytes = lard_counter_text(number, text);
        value = text;
    } else if (one->type == LARD_TYPE_HEAD) {
        if (!read_chunks(this, one, &item.size_bytes)) {
            return LARDER_OK;
        }
        value = this->value;
    } else if (one->type != LARD_TYPE_PLAIN) {
        return LARDER_OK;
    }
    return this->each(this->context, one->key, one->key_bytes, value, &item);
}

static larder_status walk_shard(const walk *this, const lard_view *view) {
    larder_status status = LARDER_OK;
    uint64_t epoch;
    if (!lard_view_is_current(view, &epoch)) {
        return status;
    }
    uint32_t count = lard_bucket_count(view);
    for (uint32_t b = 0; b < count && status == LARDER_OK; b++) {
        const lard_bucket *bucket = lard_bucket_at(view, b);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS && status == LARDER_OK; i++) {
            record one;
            if (read_record(view, lard_load(&bucket->slots[i]) & ~LARD_SLOT_PENDING, &one)) {
                status = visit(this, &one);
            }
        }
    }
    return status;
}

larder_status lard_previous_walk(lard_map *map, int64_t now_ms, lard_previous_item *each, void *context) {
    walk this = {map, now_ms, each, context, malloc(map->max_value)};
    larder_status status = this.value ? LARDER_OK : LARDER_NO_MEMORY;
    for (uint32_t s = 0; s < map->super.shard_count && status == LARDER_OK; s++) {
        lard_view view = lard_view_of(map, s);
        status = walk_shard(&this, &view);
    }
    free(this.value);
    return status;
}
