/*
 * overwrites.c — measures how much of a file live items take while keys are stored again and again.
 *
 *   build/bench-overwrites [--directory DIR] [--json]
 *
 * First a cache is filled with new keys until it has evicted for some time: the items that it holds then are what
 * fits. A new cache of the same size gets one and a half times as many keys. Half of the calls are gets, half are
 * sets, in turn. Lengths of values are between three and five quarters of the size, another one with each set.
 *
 *   uniform   all keys alike; get and set of a turn have different keys
 *   zipf      key of rank r in proportion to 1/r; the same
 *   sessions  get and set of a turn have the same key, nine of ten times one of a tenth of the keys. That tenth
 *             moves over all keys while as many sets are made as 40 times what fits. Items expire after a time in
 *             which sets are 20 times what fits
 *
 * "live": items that can be read in the end, divided by what fits. "hits of possible": hits, divided by those of a
 * cache that always has the most popular keys that fit, and no others; of sessions, by those of a cache without
 * limits. "appended": bytes of the segments that were opened, also for items that eviction kept, divided by the
 * bytes of the records of the sets. --rounds and --seconds have no effect here: the figures are counts.
 */
#include "bench.h"

#include <math.h>

#define FILE_BYTES (32u << 20)
#define MOST_BYTES 20000
#define WARM 20 /* sets before those that count, in times what fits */
#define COUNTED 10
#define TTL 20
#define MOVE 40

typedef enum { UNIFORM, ZIPF, SESSIONS } pattern;
static const char *const names[] = {"uniform", "zipf", "sessions"};

static uint64_t random_state = 88172645463325252ull;

static double fraction(void) { return (double)(bench_random(&random_state) >> 11) / 9007199254740992.0; }

static size_t length_of(uint64_t set, size_t mean) {
    return mean * 3 / 4 + lard_hash_mix(set + 1) % (mean / 2 + 1);
}

/* Bytes of the record. */
static uint64_t store(larder *cache, uint64_t number, size_t bytes, int64_t ttl_ms, int64_t now_ms) {
    static unsigned char value[MOST_BYTES];
    char key[KEY_BYTES];
    larder_call call = {.now_ms = now_ms};
    bench_key(key, number);
    bench_value(value, bytes, number);
    larder_store request = {
        .key = key, .key_bytes = KEY_BYTES, .value = value, .value_bytes = bytes, .ttl_ms = ttl_ms};
    larder_status status = larder_set(cache, &request, &call);
    if (status != LARDER_OK) {
        bench_die("key %lu was not stored: %s", (unsigned long)number, larder_status_text(status));
    }
    return LARD_ALIGN8(LARD_RECORD_HEADER + KEY_BYTES + bytes);
}

static bool load(larder *cache, uint64_t number, int64_t now_ms) {
    static unsigned char value[MOST_BYTES];
    char key[KEY_BYTES];
    larder_call call = {.now_ms = now_ms};
    larder_item item;
    bench_key(key, number);
    larder_status status = larder_get(cache, key, KEY_BYTES, value, sizeof value, &item, &call);
    if (status == LARDER_OK && !bench_is_value(value, item.size_bytes, number)) {
        bench_die("key %lu has a wrong value", (unsigned long)number);
    }
    return status == LARDER_OK;
}

static uint64_t count_readable(larder *cache, uint64_t keys, int64_t now_ms) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < keys; i++) {
        found += load(cache, i, now_ms);
    }
    return found;
}

/* Bytes of all segments that were opened so far. */
static double opened_bytes(const larder *cache) {
    uint64_t opened = 0;
    for (uint32_t shard = 0; shard < cache->core->map->super.shard_count; shard++) {
        lard_view view = lard_view_of(cache->core->map, shard);
        opened += lard_load(&view.header->next_sequence);
    }
    return (double)opened * cache->core->map->super.segment_bytes;
}

static larder *open_new(const char *name) {
    char path[360];
    snprintf(path, sizeof path, "%s", bench_path(name));
    return bench_open(path, FILE_BYTES);
}

static void close_away(larder *cache, const char *name) {
    unlink(bench_path(name));
    larder_close(cache);
}

static uint64_t what_fits(size_t mean) {
    larder *cache = open_new("new.larder");
    uint64_t keys = 3ull * FILE_BYTES / mean;
    for (uint64_t i = 0; i < keys; i++) {
        store(cache, i, length_of(i, mean), 0, 1);
    }
    uint64_t fits = count_readable(cache, keys, 1);
    close_away(cache, "new.larder");
    return fits;
}

/* Popularity of the first keys, added up. */
static double *make_ranks(uint64_t keys) {
    double *sums = malloc(keys * sizeof *sums), sum = 0;
    for (uint64_t i = 0; sums && i < keys; i++) {
        sum += 1.0 / (double)(i + 1);
        sums[i] = sum;
    }
    if (!sums) {
        bench_die("no memory for %lu keys", (unsigned long)keys);
    }
    return sums;
}

static uint64_t rank(const double *sums, uint64_t keys) {
    double wanted = fraction() * sums[keys - 1];
    uint64_t low = 0, high = keys - 1;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (sums[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint64_t key_of(pattern kind, const double *sums, uint64_t keys, uint64_t fits, uint64_t turn) {
    if (kind == ZIPF) {
        return rank(sums, keys);
    }
    uint64_t any = bench_random(&random_state) % keys;
    if (kind == UNIFORM || bench_random(&random_state) % 10 == 0) {
        return any;
    }
    uint64_t from = (uint64_t)((double)turn / (double)(MOVE * fits) * (double)keys);
    return (from + any / 10) % keys;
}

static void show(pattern kind, size_t mean, const char *what, const char *unit, double value) {
    char name[120];
    snprintf(name, sizeof name, "%s, %zu bytes: %s", names[kind], mean, what);
    bench_number(name, unit, value);
}

static void measure(pattern kind, size_t mean, uint64_t fits) {
    uint64_t keys = fits * 3 / 2, warm = WARM * fits, turns = warm + COUNTED * fits;
    uint64_t hits = 0, possible = 0, gets = 0;
    double opened = 0, stored = 0;
    int64_t ttl_ms = kind == SESSIONS ? (int64_t)(TTL * fits) : 0;
    uint64_t *stored_at = calloc(keys, sizeof *stored_at);
    double *sums = kind == ZIPF ? make_ranks(keys) : NULL;
    if (!stored_at) {
        bench_die("no memory for %lu keys", (unsigned long)keys);
    }
    larder *cache = open_new("overwritten.larder");
    for (uint64_t turn = 1; turn <= turns; turn++) {
        uint64_t read = key_of(kind, sums, keys, fits, turn);
        uint64_t written = kind == SESSIONS ? read : key_of(kind, sums, keys, fits, turn);
        bool hit = load(cache, read, (int64_t)turn);
        if (turn > warm) {
            gets++;
            hits += hit;
            possible +=
                stored_at[read] && (kind == SESSIONS ? stored_at[read] + (uint64_t)ttl_ms > turn : read < fits);
        }
        opened = turn == warm + 1 ? opened_bytes(cache) : opened;
        uint64_t bytes = store(cache, written, length_of(turn, mean), ttl_ms, (int64_t)turn);
        stored += turn > warm ? (double)bytes : 0;
        stored_at[written] = turn;
    }
    opened = opened_bytes(cache) - opened;
    uint64_t live = count_readable(cache, keys, (int64_t)turns);
    show(kind, mean, "live, of what fits without overwrites", "%", 100.0 * (double)live / (double)fits);
    show(kind, mean, "hits", "%", 100.0 * (double)hits / (double)gets);
    show(kind, mean, "hits of possible", "%", 100.0 * (double)hits / (double)possible);
    show(kind, mean, "bytes appended as bytes of sets", "x", opened / stored);
    close_away(cache, "overwritten.larder");
    free(stored_at);
    free(sums);
}

int main(int argc, char **argv) {
    static const size_t sizes[] = {100, 1000, 10000};
    bench_read_options(argc, argv, 1, 1,
                       "Live items, hits and appended bytes while keys are stored again and again.");
    bench_make_directory();
    bench_heading("keys of %d bytes, a file of %u MiB, in %s", KEY_BYTES, FILE_BYTES >> 20, bench_given.directory);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t fits = what_fits(sizes[i]);
        for (pattern kind = UNIFORM; kind <= SESSIONS; kind++) {
            measure(kind, sizes[i], fits);
        }
    }
    return 0;
}
