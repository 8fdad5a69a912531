/*
 * density.c — measures how many bytes an object costs beyond its key and value.
 *
 *   build/bench-density [--directory DIR] [--json]
 *
 * For each size a cache of 64 MiB is filled until it has evicted for some time. Lengths of values are between
 * three and five quarters of the size, so that no multiple of 8 makes the result look better. "before eviction":
 * bytes of all segments in use, including the index's, divided by the number of items when the first one is
 * evicted. "full": the whole file, with its headers, tables and free segments, divided by the number of items that
 * can still be read.
 * --rounds and --seconds have no effect here: the figures are counts.
 */
#include "bench.h"

#define FILE_BYTES (64u << 20)

static size_t length_of(uint64_t key, size_t mean) {
    return mean * 3 / 4 + lard_hash_mix(key + 1) % (mean / 2 + 1);
}

static void store(larder *cache, uint64_t number, size_t mean) {
    static unsigned char value[200000];
    char key[KEY_BYTES];
    bench_key(key, number);
    larder_store request = {
        .key = key, .key_bytes = KEY_BYTES, .value = value, .value_bytes = length_of(number, mean)};
    bench_value(value, request.value_bytes, number);
    if (larder_set(cache, &request, NULL) != LARDER_OK) {
        bench_die("key %lu was not stored", (unsigned long)number);
    }
}

/* Stores keys until something was evicted, but no more than `most`. The bytes of those before into *payload. */
static uint64_t fill_until_eviction(larder *cache, uint64_t most, size_t mean, larder_stats *before,
                                    uint64_t *payload) {
    larder_stats stats;
    uint64_t key = 0, step = most / 400 + 1, bytes = 0;
    larder_get_stats(cache, before);
    *payload = 0;
    while (key < most) {
        for (uint64_t end = key + step; key < end; key++) {
            store(cache, key, mean);
            bytes += KEY_BYTES + length_of(key, mean);
        }
        larder_get_stats(cache, &stats);
        if (stats.evictions) {
            return key;
        }
        *before = stats;
        *payload = bytes;
    }
    return key;
}

static uint64_t count_readable(larder *cache, uint64_t keys, size_t mean, uint64_t *payload) {
    static unsigned char value[200000];
    char key[KEY_BYTES];
    uint64_t found = 0;
    *payload = 0;
    for (uint64_t i = 0; i < keys; i++) {
        larder_item item;
        bench_key(key, i);
        if (larder_get(cache, key, KEY_BYTES, value, sizeof value, &item, NULL) == LARDER_OK) {
            if (item.size_bytes != length_of(i, mean) || !bench_is_value(value, item.size_bytes, i)) {
                bench_die("key %lu has a wrong value", (unsigned long)i);
            }
            *payload += KEY_BYTES + item.size_bytes;
            found++;
        }
    }
    return found;
}

static void measure(size_t mean) {
    char name[120], path[360];
    larder_stats before;
    uint64_t most = 2 * FILE_BYTES / (KEY_BYTES + mean), payload;
    snprintf(path, sizeof path, "%s", bench_path("density.larder"));
    larder *cache = bench_open(path, FILE_BYTES);
    uint64_t keys = fill_until_eviction(cache, most, mean, &before, &payload);
    double items = (double)before.sets;
    snprintf(name, sizeof name, "%zu bytes: overhead an object, before eviction", mean);
    bench_number(name, "bytes", ((double)(before.used_bytes + before.index_bytes) - (double)payload) / items);
    snprintf(name, sizeof name, "%zu bytes: of these the index", mean);
    bench_number(name, "bytes", (double)before.index_bytes / items);
    for (; keys < most; keys++) {
        store(cache, keys, mean);
    }
    uint64_t readable = count_readable(cache, most, mean, &payload);
    snprintf(name, sizeof name, "%zu bytes: overhead an object, full", mean);
    bench_number(name, "bytes", ((double)FILE_BYTES - (double)payload) / (double)readable);
    snprintf(name, sizeof name, "%zu bytes: share of the file that is keys and values, full", mean);
    bench_number(name, "%", 100.0 * (double)payload / FILE_BYTES);
    unlink(path);
    larder_close(cache);
}

int main(int argc, char **argv) {
    static const size_t sizes[] = {20, 100, 300, 1000, 10000, 100000};
    bench_read_options(argc, argv, 1, 1, "Bytes an object takes beyond its key and value.");
    bench_make_directory();
    bench_heading("keys of %d bytes, a file of %u MiB, in %s", KEY_BYTES, FILE_BYTES >> 20, bench_given.directory);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        measure(sizes[i]);
    }
    return 0;
}
