/*
 * density.c — how many bytes an object costs beyond its key and value.
 *
 *   build/bench-density [--directory DIR] [--json]
 *
 * For each size of value a cache of 64 MiB is filled until it has evicted for some time.
 * "before eviction": bytes of all segments in use, the index's among them, over the items
 * there are when the first one is evicted. "full": the whole file, with its headers, tables
 * and what eviction keeps free, over the items that can still be read. --rounds and
 * --seconds have no meaning here: the figures are counts.
 */
#include "bench.h"

#define FILE_BYTES (64u << 20)

/* Stores keys from `from` on until something was evicted, but no more than `most`. */
static uint64_t fill_until_eviction(larder *cache, uint64_t most, size_t value_bytes, larder_stats *before) {
    larder_stats stats;
    uint64_t key = 0, step = most / 400 + 1;
    larder_get_stats(cache, before);
    for (; key < most; key += step) {
        bench_fill(cache, key, key + step, value_bytes);
        larder_get_stats(cache, &stats);
        if (stats.evictions) {
            return key + step;
        }
        *before = stats;
    }
    return key;
}

static uint64_t count_readable(larder *cache, uint64_t keys, size_t value_bytes) {
    char key[KEY_BYTES];
    uint64_t found = 0;
    unsigned char *value = malloc(value_bytes);
    if (!value) {
        bench_die("no memory for a value of %zu bytes", value_bytes);
    }
    for (uint64_t i = 0; i < keys; i++) {
        bench_key(key, i);
        if (larder_get(cache, key, KEY_BYTES, value, value_bytes, NULL, NULL) == LARDER_OK) {
            if (!bench_is_value(value, value_bytes, i)) {
                bench_die("key %lu has a wrong value", (unsigned long)i);
            }
            found++;
        }
    }
    free(value);
    return found;
}

static void measure(size_t value_bytes) {
    char name[120], path[360];
    larder_stats before;
    uint64_t payload = KEY_BYTES + value_bytes, most = 2 * FILE_BYTES / payload;
    snprintf(path, sizeof path, "%s", bench_path("density.larder"));
    larder *cache = bench_open(path, FILE_BYTES);
    uint64_t keys = fill_until_eviction(cache, most, value_bytes, &before);
    uint64_t items = before.sets;
    snprintf(name, sizeof name, "%zu bytes: overhead an object, before eviction", value_bytes);
    bench_number(name, "bytes", (double)before.used_bytes / (double)items - (double)payload);
    snprintf(name, sizeof name, "%zu bytes: of these the index", value_bytes);
    bench_number(name, "bytes", (double)before.index_bytes / (double)items);
    bench_fill(cache, keys, most, value_bytes);
    uint64_t readable = count_readable(cache, most, value_bytes);
    snprintf(name, sizeof name, "%zu bytes: overhead an object, full", value_bytes);
    bench_number(name, "bytes", (double)FILE_BYTES / (double)readable - (double)payload);
    snprintf(name, sizeof name, "%zu bytes: share of the file that is keys and values, full", value_bytes);
    bench_number(name, "%", 100.0 * (double)(readable * payload) / FILE_BYTES);
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
