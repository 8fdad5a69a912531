/*
 * usage.c — larder_get_usage, larder_usage_due, larder_keep_usage, larder_count_failure, larder_name_keyspaces and
 * larder_keyspace_of: statistics by keyspace and by time, in the sidecar file.
 */
#include "base/clock.h"
#include "base/crc.h"
#include "base/fail.h"
#include "base/place.h"
#include "handle/enter.h"
#include "usage/fold.h"
#include "usage/keyspace.h"
#include "usage/sampler.h"
#include "usage/sidecar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(LARDER_MINUTES == LARD_SIDECAR_MINUTES && LARDER_HOURS == LARD_SIDECAR_HOURS,
               "buckets of the file");
_Static_assert(LARDER_BUCKET_KEYSPACES == LARD_SIDECAR_LARGEST, "keyspaces of a bucket");
_Static_assert(LARDER_USAGE_KEYS == LARD_SIDECAR_KEYS, "keys of the file");
_Static_assert(sizeof((larder_keyspace *)0)->name == LARD_KEYSPACE_BYTES, "names of keyspaces");
_Static_assert(sizeof((larder_used_key *)0)->key == LARD_SKETCH_KEY_BYTES, "keys of sketches");

static void fill_keyspaces(larder_usage *usage, const lard_sidecar_table *table) {
    for (unsigned i = 0; i <= LARDER_KEYSPACES; i++) {
        const lard_sidecar_row *row = &table->rows[i];
        larder_keyspace *keyspace = &usage->keyspaces[i];
        keyspace->name_bytes = row->hash && row->name.bytes <= LARD_KEYSPACE_BYTES ? row->name.bytes : 0;
        memcpy(keyspace->name, row->name.text, sizeof keyspace->name);
        keyspace->traffic = row->traffic;
        keyspace->since_ms = row->since_ms;
        keyspace->counts = row->counts;
    }
}

/* The row of the keyspace; -1: it has none any more. */
static int32_t row_of(const lard_sidecar_table *table, uint64_t hash) {
    for (int32_t i = 0; hash && i < LARDER_KEYSPACES; i++) {
        if (table->rows[i].hash == hash) {
            return i;
        }
    }
    return -1;
}

/* A group that began before the first moment that counts, or in the future, is one of former days or damaged. */
static void fill_bucket(larder_bucket *bucket, const lard_sidecar_group *group, const lard_sidecar_table *table,
                        int64_t first_ms, int64_t now_ms) {
    if (group->began_ms < first_ms || group->began_ms > now_ms) {
        return;
    }
    bucket->began_ms = group->began_ms;
    bucket->whole = group->parts[0].counts;
    for (unsigned i = 0; i < LARDER_BUCKET_KEYSPACES; i++) {
        bucket->parts[i].keyspace = row_of(table, group->parts[i + 1].hash);
        bucket->parts[i].counts = group->parts[i + 1].counts;
    }
}

static bool fill_buckets(larder_bucket *buckets, int64_t count, int64_t unit_ms, uint64_t (*place_of)(int64_t),
                         lard_sidecar *file, int64_t now_ms) {
    for (int64_t i = 0; i < count; i++) {
        if (!lard_sidecar_read(file, &file->group, sizeof file->group, place_of(now_ms - i * unit_ms))) {
            return false;
        }
        fill_bucket(&buckets[i], &file->group, &file->table, now_ms - count * unit_ms, now_ms);
    }
    return true;
}

static void fill_keys(larder_used_key *keys, const lard_sketch_entry *entries) {
    for (unsigned i = 0; i < LARDER_USAGE_KEYS; i++) {
        const lard_sketch_entry *entry = &entries[i];
        keys[i] = (larder_used_key){.weight = entry->weight,
                                    .error = entry->error,
                                    .seen_ms = entry->seen_ms,
                                    .value_bytes = entry->bytes,
                                    .key_bytes = entry->key_bytes};
        memcpy(keys[i].key, entry->key, sizeof keys[i].key);
    }
}

static larder_status fill(larder_usage *usage, lard_sidecar *file, const char *path, larder_error *error) {
    int64_t now_ms = lard_clock_ms();
    if (!lard_sidecar_read_table(file) ||
        !lard_sidecar_read(file, &file->sketches, sizeof file->sketches, lard_sidecar_sketches_at()) ||
        !fill_buckets(usage->minutes, LARDER_MINUTES, LARD_SIDECAR_MINUTE_MS, lard_sidecar_minute_at, file,
                      now_ms) ||
        !fill_buckets(usage->hours, LARDER_HOURS, LARD_SIDECAR_HOUR_MS, lard_sidecar_hour_at, file, now_ms)) {
        return lard_fail_call(error, "read", path, EIO);
    }
    usage->since_ms = file->header.made_ms;
    usage->changed_ms = file->table.changed_ms < now_ms ? file->table.changed_ms : now_ms;
    usage->rules = file->header.rules;
    fill_keyspaces(usage, &file->table);
    fill_keys(usage->hot, file->sketches.hot);
    fill_keys(usage->heavy, file->sketches.heavy);
    return LARDER_OK;
}

larder_status larder_get_usage(const char *path, larder_usage *usage, larder_error *error) {
    larder_error ignored = {.status = LARDER_OK};
    error = error ? error : &ignored;
    memset(error, 0, sizeof *error);
    if (!path || !*path || !usage) {
        return lard_fail(error, LARDER_INVALID, 0, "larder_get_usage needs a path and a place for its result");
    }
    lard_crc_init_once();
    memset(usage, 0, sizeof *usage);
    lard_sidecar *file = calloc(1, sizeof *file);
    if (!file) {
        return lard_fail(error, LARDER_NO_MEMORY, ENOMEM, "%s", path);
    }
    larder_status status = lard_sidecar_look(file, path, error);
    if (status == LARDER_OK) {
        status = fill(usage, file, path, error);
        lard_sidecar_close(file);
    } else if (status == LARDER_UNFIT) { /* it is empty, or damaged, and begins again with the next fold */
        status = error->status = LARDER_NOT_THERE;
    }
    free(file);
    return status;
}

int larder_usage_due(const larder *cache) {
    return cache && lard_current_map(cache->core) &&
           (lard_fold_is_due(cache->core, 0) || lard_fold_has_failed(cache->core));
}

larder_status larder_keep_usage(larder *cache, uint32_t wait_ms, larder_error *error) {
    larder_error ignored = {.status = LARDER_OK};
    error = error ? error : &ignored;
    memset(error, 0, sizeof *error);
    if (!cache) {
        return lard_fail(error, LARDER_INVALID, 0, "larder_keep_usage needs a handle");
    }
    if (!lard_current_map(cache->core)) {
        return LARDER_OK; /* nothing was counted, or a child has not made a call yet */
    }
    return lard_fold_now(cache->core, wait_ms, error);
}

void larder_count_failure(larder *cache) {
    if (cache) {
        lard_sampler_failure(cache->core);
    }
}

larder_status larder_name_keyspaces(larder *cache, const char *name, const char *const *patterns, size_t count) {
    bool known = cache && (patterns || !count);
    for (size_t i = 0; known && i < count; i++) {
        known = patterns[i] != NULL;
    }
    return known && lard_sampler_add_rules(cache->core, name, patterns, count) ? LARDER_OK : LARDER_INVALID;
}

size_t larder_keyspace_of(const larder_keyspace_rules *rules, const void *key, size_t key_bytes, char *name) {
    static const larder_keyspace_rules none;
    lard_keyspace keyspace;
    lard_keyspace_of(rules && lard_keyspace_is_valid(rules) ? rules : &none, key, key_bytes, &keyspace);
    memcpy(name, keyspace.text, sizeof keyspace.text);
    return keyspace.bytes;
}
