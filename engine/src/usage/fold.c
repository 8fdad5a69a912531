/*
 * fold.c — adds the counts of this process to the sidecar file: to its table of keyspaces, to the groups of the
 * minute and the hour in which the period began, and to its sketches.
 *
 * Counts of the whole cache are those of the process's row in the hints, which are exact. Those of keyspaces are
 * estimates (sampler.h). No lock of the cache is held.
 */
#include "usage/fold.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/descriptor.h"
#include "base/fail.h"
#include "usage/sampler.h"
#include "usage/sidecar.h"

#include <string.h>

#define PERIOD_MS 1000
#define CONTENDED_MS 50 /* until the next attempt, while another process folds */
#define FAILED_MS 60000 /* and after the sidecar could not be used */
#define MINUTE_MS 60000
#define HOUR_MS 3600000
#define HEAVY_MS (24 * HOUR_MS) /* a large value that was not seen for so long is forgotten */
#define IMPOSSIBLE (1ull << 40) /* more than a process counts between two folds: the hints were overwritten */

#define WORDS LARDER_USAGE_WORDS

static void add(larder_usage_counts *sum, const larder_usage_counts *counts) {
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)counts;
    for (unsigned i = 0; i < WORDS; i++) {
        to[i] += from[i];
    }
}

static uint64_t traffic_of(const larder_usage_counts *counts) {
    return counts->hits + counts->misses + counts->stores;
}

/* ---- the whole cache ---- */

/* The number that the process has counted since the last fold. */
static uint64_t counted_since(lard_sampler *sampler, unsigned which) {
    uint64_t count = lard_load(&sampler->counted_in[which]), since = count - sampler->counted[which];
    sampler->counted[which] = count;
    return since < IMPOSSIBLE ? since : 0;
}

static void count_whole(const lard_core *cache, lard_sampler *sampler, larder_usage_counts *whole) {
    const lard_u64 *counters = __atomic_load_n(&cache->counters, __ATOMIC_RELAXED);
    uint32_t incarnation = __atomic_load_n(&cache->incarnation, __ATOMIC_RELAXED);
    if (sampler->counted_in != counters || sampler->counted_as != incarnation) {
        memset(sampler->counted, 0, sizeof sampler->counted);
        sampler->counted_in = counters;
        sampler->counted_as = incarnation;
    }
    *whole = sampler->folded.row[LARDER_KEYSPACES].counts;
    for (uint32_t i = 0; i < sampler->folded.rows; i++) {
        add(whole, &sampler->folded.row[i].counts);
    }
    if (counters) {
        whole->hits = counted_since(sampler, LARD_STAT_hits);
        whole->misses = counted_since(sampler, LARD_STAT_misses);
        whole->stores = counted_since(sampler, LARD_STAT_sets);
        whole->evictions = counted_since(sampler, LARD_STAT_evictions);
        whole->stale_hits = counted_since(sampler, LARD_STAT_stale_hits);
        whole->waits = counted_since(sampler, LARD_STAT_waits);
        whole->read_variance = whole->store_variance = 0;
    }
}

/* ---- the table of keyspaces ---- */

static bool has_name(const lard_sidecar_row *row, const lard_sampler_row *of) {
    return row->hash == of->hash && row->name.bytes == of->name.bytes &&
           memcmp(row->name.text, of->name.text, sizeof row->name.text) == 0;
}

/* The keyspace's row, or a free one, or that of the least traffic. */
static lard_sidecar_row *row_for(lard_sidecar_table *table, const lard_sampler_row *of) {
    lard_sidecar_row *least = table->rows;
    for (unsigned i = 0; i < LARDER_KEYSPACES; i++) {
        lard_sidecar_row *row = &table->rows[i];
        if (has_name(row, of)) {
            return row;
        }
        bool is_less = least->hash && (!row->hash || row->traffic < least->traffic);
        least = is_less ? row : least;
    }
    return least;
}

static void add_to_table(lard_sidecar_table *table, const lard_sampler_row *of, int64_t now_ms) {
    uint64_t traffic = traffic_of(&of->counts);
    lard_sidecar_row *row = row_for(table, of), *rest = &table->rows[LARDER_KEYSPACES];
    if (!has_name(row, of)) {
        if (row->hash && traffic <= row->traffic) {
            add(&rest->counts, &of->counts);
            return;
        }
        add(&rest->counts, &row->counts);
        *row = (lard_sidecar_row){.hash = of->hash, .since_ms = now_ms, .name = of->name};
    }
    row->traffic += traffic;
    add(&row->counts, &of->counts);
}

static void decay(lard_sidecar_table *table, int64_t now_ms) {
    int64_t hours = now_ms / HOUR_MS - table->changed_ms / HOUR_MS;
    for (unsigned i = 0; hours > 0 && i < LARDER_KEYSPACES; i++) {
        table->rows[i].traffic = hours < 64 ? table->rows[i].traffic >> hours : 0;
    }
}

static void fold_table(lard_sidecar_table *table, const lard_sampler_period *period, int64_t now_ms) {
    decay(table, now_ms);
    for (uint32_t i = 0; i < period->rows; i++) {
        add_to_table(table, &period->row[i], now_ms);
    }
    add(&table->rows[LARDER_KEYSPACES].counts, &period->row[LARDER_KEYSPACES].counts);
    table->changed_ms = now_ms;
}

/* ---- groups of a minute or an hour ---- */

/* True if fewer than LARD_SIDECAR_LARGEST other keyspaces have more traffic. */
static bool is_large(const lard_sidecar_table *table, uint64_t hash) {
    const lard_sidecar_row *own = NULL;
    unsigned larger = 0;
    for (unsigned i = 0; i < LARDER_KEYSPACES; i++) {
        own = table->rows[i].hash == hash ? &table->rows[i] : own;
    }
    for (unsigned i = 0; own && i < LARDER_KEYSPACES; i++) {
        larger += table->rows[i].hash && table->rows[i].traffic > own->traffic;
    }
    return own && larger < LARD_SIDECAR_LARGEST;
}

/* The part of the keyspace, a free one, or that of a keyspace that is not large any more. NULL: there is none. */
static lard_sidecar_part *part_for(lard_sidecar_group *group, const lard_sidecar_table *table, uint64_t hash) {
    lard_sidecar_part *other = NULL;
    for (unsigned i = 1; i <= LARD_SIDECAR_LARGEST; i++) {
        lard_sidecar_part *part = &group->parts[i];
        if (part->hash == hash) {
            return part;
        }
        bool is_better = !part->hash ? !other || other->hash : !other && !is_large(table, part->hash);
        other = is_better ? part : other;
    }
    return other;
}

static void fold_group(lard_sidecar_group *group, const lard_sidecar_table *table,
                       const lard_sampler_period *period, const larder_usage_counts *whole, int64_t began_ms) {
    if (group->began_ms != began_ms) {
        memset(group, 0, sizeof *group);
        group->began_ms = began_ms;
    }
    add(&group->parts[0].counts, whole);
    for (uint32_t i = 0; i < period->rows; i++) {
        uint64_t hash = period->row[i].hash;
        lard_sidecar_part *part = is_large(table, hash) ? part_for(group, table, hash) : NULL;
        if (part && part->hash != hash) {
            *part = (lard_sidecar_part){.hash = hash};
        }
        if (part) {
            add(&part->counts, &period->row[i].counts);
        }
    }
}

/* ---- sketches ---- */

static void fold_sketches(lard_sidecar_sketches *sketches, const lard_sampler_period *period, int64_t now_ms) {
    int64_t minutes = now_ms / MINUTE_MS - sketches->changed_ms / MINUTE_MS;
    if (minutes > 0) {
        lard_sketch_decay(sketches->hot, LARD_SIDECAR_KEYS, minutes < 1000 ? (unsigned)minutes : 1000);
    }
    lard_sketch_forget(sketches->heavy, LARD_SIDECAR_KEYS, now_ms - HEAVY_MS);
    for (unsigned i = 0; i < LARD_SAMPLER_HOT + LARD_SAMPLER_HEAVY; i++) {
        bool is_hot = i < LARD_SAMPLER_HOT;
        const lard_sketch_entry *entry = is_hot ? &period->hot[i] : &period->heavy[i - LARD_SAMPLER_HOT];
        const lard_sketch_key key = {.hash = entry->hash,
                                     .text = entry->key,
                                     .bytes = entry->key_bytes,
                                     .value_bytes = entry->bytes,
                                     .seen_ms = entry->seen_ms};
        if (entry->weight && is_hot) {
            lard_sketch_add(sketches->hot, LARD_SIDECAR_KEYS, &key, entry->weight, entry->error);
        } else if (entry->weight) {
            lard_sketch_raise(sketches->heavy, LARD_SIDECAR_KEYS, &key, entry->weight);
        }
    }
    sketches->changed_ms = now_ms;
}

/* ---- the file ---- */

/* Reads what a fold changes. False: it cannot be read. */
static bool read_blocks(lard_sidecar *file, int64_t at_ms) {
    return lard_sidecar_read_table(file) &&
           lard_sidecar_read(file, &file->sketches, sizeof file->sketches, lard_sidecar_sketches_at()) &&
           lard_sidecar_read(file, &file->minute, sizeof file->minute, lard_sidecar_minute_at(at_ms)) &&
           lard_sidecar_read(file, &file->hour, sizeof file->hour, lard_sidecar_hour_at(at_ms));
}

/* 0, or errno. */
static int write_blocks(lard_sidecar *file, int64_t at_ms) {
    int code = lard_sidecar_write_table(file);
    code =
        code ? code : lard_sidecar_write(file, &file->sketches, sizeof file->sketches, lard_sidecar_sketches_at());
    code =
        code ? code : lard_sidecar_write(file, &file->minute, sizeof file->minute, lard_sidecar_minute_at(at_ms));
    return code ? code : lard_sidecar_write(file, &file->hour, sizeof file->hour, lard_sidecar_hour_at(at_ms));
}

/* Another process may have written other rules. The last ones stay. */
static int write_rules(lard_sampler *sampler, lard_sidecar *file) {
    if (!__atomic_exchange_n(&sampler->has_new_rules, false, __ATOMIC_RELAXED) ||
        memcmp(&file->header.rules, &sampler->rules, sizeof sampler->rules) == 0) {
        return 0;
    }
    file->header.rules = sampler->rules;
    int code = lard_sidecar_write_header(file);
    if (code) {
        __atomic_store_n(&sampler->has_new_rules, true, __ATOMIC_RELAXED);
    }
    return code;
}

/* The sidecar is open and locked. 0, or errno. */
static int fold_into(lard_core *cache, lard_sampler *sampler, lard_sidecar *file) {
    larder_usage_counts whole;
    int64_t now_ms = lard_clock_ms();
    int code = write_rules(sampler, file);
    if (code || !lard_sampler_take(cache)) {
        return code;
    }
    const lard_sampler_period *period = &sampler->folded;
    int64_t at_ms = period->began_ms > 0 ? period->began_ms : now_ms;
    if (!read_blocks(file, at_ms)) {
        return lard_descriptor_check(file->fd, &file->info);
    }
    count_whole(cache, sampler, &whole);
    fold_table(&file->table, period, now_ms);
    fold_sketches(&file->sketches, period, now_ms);
    fold_group(&file->minute, &file->table, period, &whole, at_ms - at_ms % MINUTE_MS);
    fold_group(&file->hour, &file->table, period, &whole, at_ms - at_ms % HOUR_MS);
    return write_blocks(file, at_ms);
}

/* True: the calling thread may fold. */
static bool begin(lard_sampler *sampler) {
    return __atomic_exchange_n(&sampler->folding, 1, __ATOMIC_ACQUIRE) == 0;
}

static larder_status fold(lard_core *cache, lard_sampler *sampler, larder_error *error) {
    lard_sidecar *file = sampler->scratch;
    larder_status status = lard_sidecar_open(file, cache->path, error);
    if (status == LARDER_OK) {
        int code = fold_into(cache, sampler, file);
        lard_sidecar_close(file);
        status = code ? lard_fail_call(error, "write", cache->path, code) : LARDER_OK;
    }
    int64_t wait_ms = status == LARDER_OK ? PERIOD_MS : status == LARDER_LOCKED ? CONTENDED_MS : FAILED_MS;
    __atomic_store_n(&sampler->next_fold_ms, lard_clock_monotonic_coarse_ms() + wait_ms, __ATOMIC_RELAXED);
    __atomic_store_n(&sampler->folding, 0, __ATOMIC_RELEASE);
    return status;
}

larder_status lard_fold_now(lard_core *cache, larder_error *error) {
    lard_sampler *sampler = lard_sampler_of(cache);
    if (!sampler) {
        return LARDER_OK;
    }
    return begin(sampler) ? fold(cache, sampler, error) : LARDER_LOCKED;
}

bool lard_fold_is_due(const lard_core *cache) {
    const lard_sampler *sampler = lard_sampler_of(cache);
    return sampler && __atomic_load_n(&sampler->now.began_ms, __ATOMIC_RELAXED) &&
           lard_clock_monotonic_coarse_ms() >= __atomic_load_n(&sampler->next_fold_ms, __ATOMIC_RELAXED);
}
