/*
 * sample.c — estimates the mean size of a shard's records from a sample of its index.
 *
 * Keys that are stored repeatedly leave dead records behind. That is no reason to evict other items: the sample
 * tells whether the live records need the room. Under the shard's lock.
 */
#include "evict/sample.h"
#include "base/hash.h"
#include "index/bucket.h"
#include "segment/record.h"

#define FIRST_SAMPLE 64u /* buckets in the first sample */
#define SAMPLE 1u        /* buckets in each later one; few, because each record may be a page to read from disk */
#define SAMPLE_EVERY 16u /* segments emptied between samples */
#define MEAN_OF 16u      /* samples in the running mean */

bool lard_sample_is_roomy(const lard_view *view) {
    uint64_t segments =
        (uint64_t)lard_load(&view->header->small_segments) + lard_load(&view->header->main_segments);
    uint64_t items = lard_load(&view->header->items), mean = lard_load(&view->header->mean_bytes);
    return items < UINT32_MAX && segments <= view->map->super.segments_per_shard &&
           items * mean < (segments << view->map->segment_shift) * 5 / 8;
}

bool lard_sample_is_due(const lard_view *view) {
    return lard_load(&view->header->evicted_segments) % SAMPLE_EVERY == 0 ||
           lard_load(&view->header->mean_bytes) == 0;
}

/* Chooses other buckets after each segment that was opened. */
void lard_sample_take(lard_view *view) {
    uint32_t count = lard_bucket_count(view), before = lard_load(&view->header->mean_bytes);
    uint32_t looks = before ? SAMPLE : FIRST_SAMPLE;
    uint64_t bytes = 0, items = 0;
    for (uint32_t i = 0; i < looks && count; i++) {
        uint64_t at = (uint64_t)lard_load(&view->header->next_sequence) * FIRST_SAMPLE + i;
        const lard_bucket *bucket = lard_bucket_at(view, (uint32_t)(lard_hash_mix(at) % count));
        for (unsigned s = 0; bucket && s < LARD_BUCKET_SLOTS; s++) {
            lard_record_info info;
            uint64_t value = lard_load(&bucket->slots[s]);
            if (LARD_SLOT_OFFSET(value) && lard_record_of_slot(view, value, &info)) {
                bytes += lard_record_bytes_at(&info);
                items++;
            }
        }
    }
    if (items) {
        uint32_t mean = (uint32_t)(bytes / items);
        lard_store(&view->header->mean_bytes, before ? before - before / MEAN_OF + mean / MEAN_OF : mean);
    }
}
