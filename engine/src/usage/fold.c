/*
 * fold.c — adds the counts of this process to the sidecar file: to its table of keyspaces, to the groups of the
 * minutes and hours in which they were counted, and to its sketches.
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

#include <errno.h>
#include <string.h>

#define PERIOD_MS 1000
#define POLL_MS 4
#define CONTENDED_MS 50                      /* until the next attempt, while another process folds */
#define FAILED_MS 60000                      /* and after the sidecar could not be used */
#define HEAVY_MS (24 * LARD_SIDECAR_HOUR_MS) /* a large value that was not seen for a day is forgotten */
#define IMPOSSIBLE (1ull << 40) /* more than a process counts between two folds: the hints were overwritten */

#define WORDS LARDER_USAGE_WORDS

/* Adds part `k` of `n` equal ones. */
static void add_part(larder_usage_counts *sum, const larder_usage_counts *counts, uint64_t k, uint64_t n) {
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)counts;
    for (unsigned i = 0; i < WORDS; i++) {
        to[i] += from[i] * (k + 1) / n - from[i] * k / n;
    }
}

static void add(larder_usage_counts *sum, const larder_usage_counts *counts) { add_part(sum, counts, 0, 1); }

static uint64_t traffic_of(const larder_usage_counts *counts) {
    return counts->hits + counts->misses + counts->stores;
}

/* ---- the whole cache ---- */

/* The number that the process has counted between the last period and the end of this one. */
static uint64_t counted_since(lard_sampler *sampler, const lard_sampler_period *period, unsigned which) {
    uint64_t since = period->counted[which] - sampler->counted[which];
    sampler->counted[which] = period->counted[which];
    return since < IMPOSSIBLE ? since : 0;
}

static void count_whole(lard_sampler *sampler, const lard_sampler_period *period, larder_usage_counts *whole) {
    if (sampler->counted_in != period->counted_in || sampler->counted_as != period->counted_as) {
        memset(sampler->counted, 0, sizeof sampler->counted);
        sampler->counted_in = period->counted_in;
        sampler->counted_as = period->counted_as;
    }
    *whole = period->row[LARDER_KEYSPACES].counts;
    for (uint32_t i = 0; i < period->rows; i++) {
        add(whole, &period->row[i].counts);
    }
    if (period->counted_in) {
        whole->hits = counted_since(sampler, period, LARD_STAT_hits);
        whole->misses = counted_since(sampler, period, LARD_STAT_misses);
        whole->stores = counted_since(sampler, period, LARD_STAT_sets);
        whole->evictions = counted_since(sampler, period, LARD_STAT_evictions);
        whole->stale_hits = counted_since(sampler, period, LARD_STAT_stale_hits);
        whole->waits = counted_since(sampler, period, LARD_STAT_waits);
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
    int64_t hours = now_ms / LARD_SIDECAR_HOUR_MS - table->changed_ms / LARD_SIDECAR_HOUR_MS;
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

/* Adds part `k` of `n` of the period's counts. */
static void fold_group(lard_sidecar_group *group, const lard_sidecar_table *table,
                       const lard_sampler_period *period, const larder_usage_counts *whole, uint64_t k,
                       uint64_t n) {
    add_part(&group->parts[0].counts, whole, k, n);
    for (uint32_t i = 0; i < period->rows; i++) {
        uint64_t hash = period->row[i].hash;
        lard_sidecar_part *part = is_large(table, hash) ? part_for(group, table, hash) : NULL;
        if (part && part->hash != hash) {
            *part = (lard_sidecar_part){.hash = hash};
        }
        if (part) {
            add_part(&part->counts, &period->row[i].counts, k, n);
        }
    }
}

/* Spreads the counts evenly over the minutes or hours of the period: a process that only reads may have counted
 * for long. 0, or errno. */
static int fold_groups(lard_sidecar *file, const lard_sampler_period *period, const larder_usage_counts *whole,
                       int64_t unit_ms, int64_t most, uint64_t (*place_of)(int64_t)) {
    int64_t last = period->ended_ms / unit_ms, first = period->began_ms / unit_ms;
    first = first > last ? last : first; /* the clock was set back */
    first = last - first < most ? first : last - most + 1;
    for (int64_t unit = first; unit <= last; unit++) {
        int64_t began_ms = unit * unit_ms;
        lard_sidecar_group *group = &file->group;
        if (!lard_sidecar_read(file, group, sizeof *group, place_of(began_ms))) {
            return EIO;
        }
        if (group->began_ms != began_ms) {
            memset(group, 0, sizeof *group);
            group->began_ms = began_ms;
        }
        fold_group(group, &file->table, period, whole, (uint64_t)(unit - first), (uint64_t)(last - first + 1));
        int code = lard_sidecar_write(file, group, sizeof *group, place_of(began_ms));
        if (code) {
            return code;
        }
    }
    return 0;
}

/* ---- sketches ---- */

static void fold_sketches(lard_sidecar_sketches *sketches, const lard_sampler_period *period, int64_t now_ms) {
    int64_t minutes = now_ms / LARD_SIDECAR_MINUTE_MS - sketches->changed_ms / LARD_SIDECAR_MINUTE_MS;
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

/* Adds the rules of this process to the rules in the file, or replaces them if the file has no room for all. */
static int write_rules(lard_sampler *sampler, lard_sidecar *file) {
    if (!__atomic_exchange_n(&sampler->has_new_rules, false, __ATOMIC_RELAXED)) {
        return 0;
    }
    const larder_keyspace_rules *own = &sampler->rules;
    larder_keyspace_rules all = file->header.rules;
    bool fit = true;
    for (uint32_t i = 0; i < own->namespaces; i++) {
        fit = lard_keyspace_add_namespace(&all, own->text[i]) && fit;
    }
    for (uint32_t i = 0; i < own->patterns; i++) {
        fit = lard_keyspace_add_pattern(&all, own->text[LARDER_KEYSPACE_NAMESPACES + i]) && fit;
    }
    all = fit ? all : *own;
    if (memcmp(&file->header.rules, &all, sizeof all) == 0) {
        return 0;
    }
    file->header.rules = all;
    int code = lard_sidecar_write_header(file);
    if (code) {
        __atomic_store_n(&sampler->has_new_rules, true, __ATOMIC_RELAXED);
    }
    return code;
}

/* 0, or errno. */
static int fold_period(lard_sampler *sampler, lard_sidecar *file, const lard_sampler_period *period,
                       int64_t now_ms) {
    larder_usage_counts whole;
    count_whole(sampler, period, &whole);
    fold_table(&file->table, period, now_ms);
    fold_sketches(&file->sketches, period, now_ms);
    int code =
        fold_groups(file, period, &whole, LARD_SIDECAR_MINUTE_MS, LARD_SIDECAR_MINUTES, lard_sidecar_minute_at);
    return code
               ? code
               : fold_groups(file, period, &whole, LARD_SIDECAR_HOUR_MS, LARD_SIDECAR_HOURS, lard_sidecar_hour_at);
}

/* The sidecar is open and locked. 0, or errno. */
static int fold_into(lard_core *cache, lard_sampler *sampler, lard_sidecar *file) {
    int64_t now_ms = lard_clock_ms();
    int code = write_rules(sampler, file);
    if (code || !lard_sampler_take(cache)) {
        return code;
    }
    if (!lard_sidecar_read_table(file) ||
        !lard_sidecar_read(file, &file->sketches, sizeof file->sketches, lard_sidecar_sketches_at())) {
        return EIO;
    }
    for (unsigned p = 0; !code && p < 2; p++) {
        const lard_sampler_period *period = &sampler->folded[p];
        code = period->began_ms ? fold_period(sampler, file, period, now_ms) : 0;
    }
    code = code ? code : lard_sidecar_write_table(file);
    return code ? code
                : lard_sidecar_write(file, &file->sketches, sizeof file->sketches, lard_sidecar_sketches_at());
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
    } else if (status == LARDER_NOT_THERE) { /* the cache was removed; this process may make another one */
        status = LARDER_OK;
    }
    int64_t wait_ms = status == LARDER_OK ? PERIOD_MS : status == LARDER_LOCKED ? CONTENDED_MS : FAILED_MS;
    __atomic_store_n(&sampler->next_fold_ms, lard_clock_monotonic_coarse_ms() + wait_ms, __ATOMIC_RELAXED);
    __atomic_store_n(&sampler->folding, 0, __ATOMIC_RELEASE);
    return status;
}

larder_status lard_fold_now(lard_core *cache, int64_t wait_ms, larder_error *error) {
    lard_sampler *sampler = lard_sampler_of(cache);
    if (!sampler) {
        return LARDER_OK;
    }
    int64_t start = lard_clock_monotonic_ms();
    __atomic_store_n(&sampler->has_failed, 0, __ATOMIC_RELAXED);
    for (;;) {
        larder_status status = begin(sampler)
                                   ? fold(cache, sampler, error)
                                   : lard_fail(error, LARDER_LOCKED, 0, "%s" LARD_SIDECAR_SUFFIX, cache->path);
        int64_t waited = lard_clock_monotonic_ms() - start;
        if (status != LARDER_LOCKED || waited < 0 || waited >= wait_ms) { /* negative: the clock failed */
            return status;
        }
        lard_clock_sleep_ms(POLL_MS);
    }
}

void lard_fold_unreported(lard_core *cache) {
    larder_error error;
    lard_sampler *sampler = lard_sampler_of(cache);
    larder_status status = lard_fold_now(cache, 0, &error);
    if (status != LARDER_OK && status != LARDER_LOCKED) {
        __atomic_store_n(&sampler->has_failed, 1, __ATOMIC_RELAXED);
    }
}

bool lard_fold_has_failed(const lard_core *cache) {
    const lard_sampler *sampler = lard_sampler_of(cache);
    return sampler && __atomic_load_n(&sampler->has_failed, __ATOMIC_RELAXED);
}

bool lard_fold_is_due(const lard_core *cache, int64_t late_ms) {
    const lard_sampler *sampler = lard_sampler_of(cache);
    if (!sampler || !__atomic_load_n(&sampler->now.began_ms, __ATOMIC_RELAXED)) {
        return false;
    }
    int64_t due_ms = __atomic_load_n(&sampler->next_fold_ms, __ATOMIC_RELAXED) + late_ms;
    return lard_clock_is_due(lard_clock_monotonic_coarse_ms(), due_ms, FAILED_MS + late_ms);
}
