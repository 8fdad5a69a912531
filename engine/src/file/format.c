/*
 * format.c — computes all sizes and offsets of a file from its size.
 *
 * The plan is a pure function of the file's size. So a superblock is checked by planning again: no offset that a
 * file contains is trusted.
 */
#include "file/format.h"
#include "base/crc.h"

#include <string.h>

#define MIN_SEGMENT_BYTES (32u << 10)
#define MAX_SEGMENT_BYTES (1u << 20)
#define SEGMENTS_A_SHARD 192u    /* at least, if segments stay large enough: some are always open or free */
#define SHARD_WANTED (12u << 20) /* least bytes of a shard, if there is more than one */
#define MIN_SEGMENTS 8u
#define MIN_SHORT_RECORD (8u << 10)
#define SMALL_INDEX 160u /* an index that takes less than this part of the shard is small */

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most) {
    return value < least ? least : value > most ? most : value;
}

static uint64_t power_below(uint64_t value) { return value ? 1ull << (63 - __builtin_clzll(value)) : 0; }

static uint64_t align(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

static uint32_t data_offset(uint32_t segments) {
    return (uint32_t)align(sizeof(lard_shard) + 4ull * segments, 64) + segments * (uint32_t)sizeof(lard_segment);
}

uint32_t lard_format_layout_hash(void) {
    const uint32_t sizes[] = {
        sizeof(lard_superblock), sizeof(lard_control), sizeof(lard_process),   sizeof(lard_bucket),
        sizeof(lard_segment),    sizeof(lard_shard),   LARD_RECORD_HEADER,     LARD_COUNTER_BYTES,
        LARD_LOCATION_BITS,      sizeof(lard_head),    sizeof(lard_chunk_key), MIN_SEGMENT_BYTES,
        MAX_SEGMENT_BYTES,       SEGMENTS_A_SHARD,     LARD_CHUNK_GROUP,       LARD_SHARD_SHIFT};
    return lard_crc_bytes(0xffffffffu, sizes, sizeof sizes);
}

uint32_t lard_format_crc(const lard_superblock *super) {
    return lard_crc_bytes(0xffffffffu, super, offsetof(lard_superblock, crc));
}

larder_status lard_format_plan(uint64_t size_bytes, lard_superblock *super) {
    memset(super, 0, sizeof *super);
    if (size_bytes < LARDER_MIN_SIZE) {
        return LARDER_SIZE_TOO_SMALL;
    }
    if (size_bytes > LARDER_MAX_SIZE) {
        return LARDER_SIZE_TOO_LARGE;
    }
    memcpy(super->magic, LARD_MAGIC, sizeof super->magic);
    super->format_major = LARD_FORMAT_MAJOR;
    super->format_minor = LARD_FORMAT_MINOR;
    super->endian_probe = LARD_ENDIAN_PROBE;
    super->layout_hash = lard_format_layout_hash();
    super->file_bytes = align(size_bytes, LARD_PAGE);

    uint64_t size = super->file_bytes;
    super->process_slots = (uint32_t)clamp(size >> 14, 64, 1024);
    super->shard_offset =
        align(LARD_PROCESS_OFFSET + (uint64_t)super->process_slots * sizeof(lard_process), LARD_PAGE);

    uint64_t room = size - super->shard_offset;
    super->shard_count = (uint32_t)clamp(power_below(room / SHARD_WANTED), 1, LARD_MAX_SHARDS);
    super->shard_bytes = room / super->shard_count / LARD_PAGE * LARD_PAGE;
    uint64_t segment =
        clamp(power_below(super->shard_bytes / SEGMENTS_A_SHARD), MIN_SEGMENT_BYTES, MAX_SEGMENT_BYTES);
    super->segment_bytes = (uint32_t)segment;

    uint32_t segments = (uint32_t)(super->shard_bytes / segment);
    while (segments && data_offset(segments) + segments * segment > super->shard_bytes) {
        segments--;
    }
    if (segments < MIN_SEGMENTS) {
        return LARDER_SIZE_TOO_SMALL;
    }
    super->segments_per_shard = segments;
    super->directory_offset = sizeof(lard_shard);
    super->segment_table_offset = data_offset(segments) - segments * (uint32_t)sizeof(lard_segment);
    super->data_offset = data_offset(segments);
    return LARDER_OK;
}

void lard_format_derive(lard_map *map) {
    uint64_t segment = map->super.segment_bytes;
    map->shard_mask = map->super.shard_count - 1;
    map->segment_shift = (unsigned)__builtin_ctz(map->super.segment_bytes);
    map->index_shift = map->segment_shift - LARD_BUCKET_SHIFT;
    map->data_bytes = segment * map->super.segments_per_shard;
    map->small_index = (uint32_t)(map->data_bytes / SMALL_INDEX >> LARD_BUCKET_SHIFT);
    map->max_value = clamp(map->super.shard_count * map->data_bytes / 8, 0, LARDER_MAX_VALUE);
    map->short_record = clamp(segment / 8, MIN_SHORT_RECORD, LARD_MAX_RECORD);
    map->chunk_record = clamp(segment / 4, map->short_record, LARD_MAX_RECORD);
    map->record_limit = clamp(segment / 16 * 3, map->short_record, LARD_MAX_RECORD);
}

bool lard_format_valid(const lard_superblock *super, uint64_t file_bytes) {
    lard_superblock plan;
    if (memcmp(super->magic, LARD_MAGIC, sizeof super->magic) != 0 || super->crc != lard_format_crc(super) ||
        super->file_bytes > file_bytes || lard_format_plan(super->file_bytes, &plan) != LARDER_OK) {
        return false;
    }
    memcpy(plan.seed, super->seed, sizeof plan.seed);
    memcpy(plan.file_id, super->file_id, sizeof plan.file_id);
    memcpy(plan.lock_id, super->lock_id, sizeof plan.lock_id);
    plan.created_ms = super->created_ms;
    plan.crc = super->crc;
    return memcmp(&plan, super, sizeof plan) == 0;
}
