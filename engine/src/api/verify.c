/*
 * verify.c — larder_verify: checks every invariant of each shard.
 *
 * Each shard is checked under its lock, in turns, between which others may take the lock.
 *
 *   index      the directory names index segments, each once; the bucket count fits them; no split is unfinished
 *   slots      point into a record segment, below its write offset, at a record of the slot's generation,
 *              fingerprint and bucket; no key has two slots; if an item is pinned, the shard's header says so
 *   segments   their states add up to the shard's counts; write offsets fit; records follow each other to the
 *              write offset; an open segment is in the queue that appends to it
 *   deletions  the table of deleted tags is in segments of its own; each line has a correct checksum
 *   epoch      is as it was stored
 *   reserved   words are 0
 *   records    of live slots have a correct checksum (a wrong one is damage, and would be a miss)
 *
 * A lock-free delete may run at the same time; it only empties slots.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/key.h"
#include "file/advice.h"
#include "file/map.h"
#include "file/view.h"
#include "handle/enter.h"
#include "index/bucket.h"
#include "index/index.h"
#include "index/match.h"
#include "segment/tag_table.h"
#include "segment/pin.h"
#include "segment/record.h"
#include "shard/shard.h"

#define BYTES_A_TURN (1u << 17) /* checked before others may take the lock: about 50 microseconds */
#define TURN_MS 2               /* where pages must be read from the disk */
#define SLOT_BYTES 512u         /* counted for a slot: cache misses take most of its time */
#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 3, 4))) static void problem(larder_report *report, const lard_view *view,
                                                          const char *format, ...) {
    if (report->problems++ == 0) {
        va_list arguments;
        int used = snprintf(report->first, sizeof report->first, "shard %u: ", view->number);
        va_start(arguments, format);
        vsnprintf(report->first + used, sizeof report->first - (size_t)used, format, arguments);
        va_end(arguments);
    }
}

static void check_directory(const lard_view *view, larder_report *report) {
    uint32_t pages = lard_load(&view->header->index_pages);
    uint32_t named = 0;
    uint32_t count = lard_bucket_count(view);
    if (pages == 0 || pages > view->map->super.segments_per_shard || count == 0 ||
        count > (uint64_t)pages << view->map->index_shift) {
        problem(report, view, "%u buckets do not fit %u index pages", count, pages);
        return;
    }
    for (uint32_t i = 0; i < pages; i++) {
        uint32_t segment = lard_directory_segment(view, i);
        if (segment >= view->map->super.segments_per_shard ||
            lard_load(&view->segments[segment].state) != LARD_SEGMENT_INDEX) {
            problem(report, view, "index page %u is segment %u, which is no index segment", i, segment);
        }
    }
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        named += lard_load(&view->segments[s].state) == LARD_SEGMENT_INDEX;
    }
    if (named != pages) {
        problem(report, view, "%u index segments, %u in the directory", named, pages);
    }
    if (lard_load(&view->header->splitting)) {
        problem(report, view, "a split of bucket %u is open", lard_load(&view->header->splitting) - 1);
    }
}

static void check_counts(const lard_view *view, larder_report *report) {
    uint32_t count[LARD_SEGMENT_TABLE + 1] = {0};
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        const lard_segment *row = &view->segments[s];
        uint32_t state = lard_load(&row->state);
        if (state > LARD_SEGMENT_TABLE) {
            problem(report, view, "segment %u has unknown state %u", s, state);
            continue;
        }
        count[state]++;
        if (lard_load(&row->write_offset) > view->map->super.segment_bytes) {
            problem(report, view, "segment %u is written to %u", s, lard_load(&row->write_offset));
        }
    }
    if (count[LARD_SEGMENT_FREE] != lard_load(&view->header->free_segments) ||
        count[LARD_SEGMENT_SMALL] != lard_load(&view->header->small_segments) ||
        count[LARD_SEGMENT_MAIN] != lard_load(&view->header->main_segments)) {
        problem(report, view, "free %u, small %u, main %u segments counted otherwise", count[0], count[1],
                count[2]);
    }
    for (uint32_t queue = 0; queue < 2; queue++) {
        uint32_t active = lard_load(&view->header->active[queue]);
        if (active && (active > view->map->super.segments_per_shard ||
                       lard_load(&view->segments[active - 1].state) != LARD_SEGMENT_SMALL + queue)) {
            problem(report, view, "open segment %u is not of queue %u", active - 1, queue);
        }
    }
}

static void check_deletions(const lard_view *view, larder_report *report) {
    if (!lard_tag_table_sane(view)) {
        problem(report, view, "the table of deleted tags is not in its segments");
    }
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        if (lard_load(&view->segments[s].state) == LARD_SEGMENT_TABLE && !lard_tag_table_has_page(view, s)) {
            problem(report, view, "segment %u belongs to no table", s);
        }
    }
    uint32_t unreadable = lard_tag_table_unreadable(view);
    if (unreadable) {
        problem(report, view, "%u lines of the table of deleted tags cannot be read", unreadable);
    }
    if (lard_stamp_now(view->map) == LARD_STAMP_DAMAGED) {
        problem(report, view, "the number of deletions of tags is damaged");
    }
}

static bool all_zero(const lard_u64 *words, size_t count) {
    uint64_t any = 0;
    for (size_t i = 0; i < count; i++) {
        any |= lard_load(&words[i]);
    }
    return any == 0;
}

static void check_epoch(const lard_view *view, larder_report *report) {
    if (!lard_view_epoch_is_sound(view, lard_load(&view->header->epoch))) {
        problem(report, view, "the shard's epoch is damaged");
    }
}

static void check_reserved(const lard_view *view, larder_report *report) {
    const lard_shard *header = view->header;
    bool zero = (lard_load(&header->third[0]) | lard_load(&header->third[1]) | lard_load(&header->third[2])) == 0;
    for (uint32_t s = 0; s < view->map->super.segments_per_shard; s++) {
        zero &= all_zero(&view->segments[s].dead_bytes, 1) && all_zero(view->segments[s].reserved, 2);
    }
    if (!zero) {
        problem(report, view, "a reserved word is not 0");
    }
}

static void check_records(const lard_view *view, uint32_t segment, larder_report *report) {
    const lard_segment *row = &view->segments[segment];
    uint32_t state = lard_load(&row->state);
    uint64_t end = lard_load(&row->write_offset);
    if (state != LARD_SEGMENT_SMALL && state != LARD_SEGMENT_MAIN) {
        return;
    }
    for (uint64_t at = 0; at < end && end <= view->map->super.segment_bytes;) {
        lard_record_info info;
        uint64_t offset = lard_view_segment_offset(view, segment) + at;
        if (!lard_record_info_at(view, offset, lard_load(&row->generation), &info)) {
            problem(report, view, "segment %u: no record at %llu of %llu", segment, (unsigned long long)at,
                    (unsigned long long)end);
            return;
        }
        uint64_t expiry = info.expiry_ms ? info.expiry_ms : UINT64_MAX;
        if (expiry > lard_load(&row->max_expiry_ms)) {
            problem(report, view, "segment %u: a record outlives the segment's greatest expiry", segment);
        }
        at += lard_record_bytes_at(&info);
        report->records++;
    }
}

/* Returns the bytes to count for the slot, see BYTES_A_TURN. */
static uint64_t check_slot(const lard_view *view, uint32_t bucket, lard_u64 *slot, larder_report *report) {
    unsigned char data[LARDER_MAX_KEY + 8];
    lard_record_info info;
    uint64_t value = lard_load(slot);
    uint64_t offset = LARD_SLOT_OFFSET(value);
    if (!offset) {
        return sizeof *slot;
    }
    report->items += !lard_index_is_chunk(view, value & ~LARD_SLOT_PENDING);
    if (value & LARD_SLOT_PENDING) {
        problem(report, view, "a move to bucket %u is open", bucket);
        return SLOT_BYTES;
    }
    if (!lard_record_of_slot(view, value, &info)) {
        problem(report, view, "a slot of bucket %u points at no record of its generation", bucket);
        return SLOT_BYTES;
    }
    uint64_t inside = offset - view->map->super.data_offset;
    uint32_t segment = (uint32_t)(inside >> view->map->segment_shift);
    uint32_t state = lard_load(&view->segments[segment].state);
    if ((state != LARD_SEGMENT_SMALL && state != LARD_SEGMENT_MAIN) ||
        (inside & (view->map->super.segment_bytes - 1)) >= lard_load(&view->segments[segment].write_offset)) {
        problem(report, view, "a slot of bucket %u points beyond what segment %u holds", bucket, segment);
        return SLOT_BYTES;
    }
    lard_key key = lard_record_key(view, offset, &info, data);
    uint32_t count = lard_bucket_count(view);
    if (count == 0) {
        problem(report, view, "the bucket count was damaged meanwhile");
    } else if (!lard_record_sound(view, offset, &info)) {
        problem(report, view, "the record of a slot of bucket %u has a wrong checksum", bucket);
    } else if (LARD_WORD0_PINNED(info.word0) && !lard_pin_any(view)) {
        problem(report, view, "an item of bucket %u is pinned, and the shard's header says that none is", bucket);
    } else if (key.hash.fingerprint != LARD_SLOT_FINGERPRINT(value) ||
               lard_hash_shard(view->map, &key.hash) != view->number ||
               (lard_bucket_of(key.hash.first, count) != bucket &&
                lard_bucket_of(key.hash.second, count) != bucket)) {
        problem(report, view, "an item stands in bucket %u, where it cannot be found", bucket);
    } else {
        bool is_stale = LARD_WORD0_TYPE(info.word0) == LARD_TYPE_EXTENDED &&
                        lard_record_extended_is_stale(view, offset, &info, lard_clock_coarse_ms());
        report->stale_bytes += is_stale ? lard_record_bytes_at(&info) : 0;
        lard_found found = lard_index_find(view, &key);
        if (found.slot && found.slot != slot) {
            lard_fence();
            if (lard_load(slot) == value && lard_load(found.slot) == found.value) {
                problem(report, view, "a key has two slots, one in bucket %u", bucket);
            }
        }
    }
    return SLOT_BYTES + LARD_WORD0_VALUE_BYTES(info.word0);
}

/* How far the check of a shard has come. */
typedef struct {
    uint32_t segment;
    uint32_t bucket;
} position;

static bool is_over(uint64_t looked_at, int64_t until_ms) {
    return looked_at >= BYTES_A_TURN || (looked_at && lard_clock_monotonic_ms() >= until_ms);
}

/* Does one turn's work from `at` on. Checks directory and counts first, because the rest relies on them and others
 * had the lock in between. False: nothing is left to check, or directory or counts are wrong. */
static bool check_some(const lard_view *view, position *at, larder_report *report) {
    uint64_t before = report->problems, looked_at = 0;
    int64_t until_ms = lard_clock_monotonic_ms() + TURN_MS;
    check_directory(view, report);
    check_epoch(view, report);
    check_reserved(view, report);
    check_deletions(view, report);
    check_counts(view, report);
    if (report->problems != before) {
        return false;
    }
    for (; at->segment < view->map->super.segments_per_shard && !is_over(looked_at, until_ms); at->segment++) {
        check_records(view, at->segment, report);
        looked_at += view->map->super.segment_bytes;
    }
    uint32_t count = lard_bucket_count(view);
    for (; at->bucket < count && !is_over(looked_at, until_ms); at->bucket++) {
        lard_bucket *bucket = lard_bucket_at(view, at->bucket);
        for (unsigned i = 0; bucket && i < LARD_BUCKET_SLOTS; i++) {
            looked_at += check_slot(view, at->bucket, &bucket->slots[i], report);
        }
    }
    return at->segment < view->map->super.segments_per_shard || at->bucket < count;
}

static larder_status check_shard(larder *cache, lard_view *view, larder_report *report) {
    position at = {0, 0};
    lard_advice_read_records(view);
    for (bool more = true; more;) {
        larder_status status = lard_shard_lock(cache->core, view, NULL);
        if (status != LARDER_OK) {
            return status;
        }
        more = check_some(view, &at, report);
        lard_shard_end_turn(view);
    }
    return LARDER_OK;
}

larder_status larder_verify(larder *cache, larder_report *report) {
    if (!cache || !report) {
        return LARDER_INVALID;
    }
    *report = (larder_report){0};
    lard_map *map = lard_enter(cache->core);
    if (!map) {
        return LARDER_DAMAGED;
    }
    larder_status result = LARDER_OK;
    for (uint32_t s = 0; s < map->super.shard_count; s++) {
        lard_view view = lard_view_of(map, s);
        larder_status status = check_shard(cache, &view, report);
        result = status == LARDER_OK ? result : status;
    }
    return lard_map_outcome(map, result);
}
