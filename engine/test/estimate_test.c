/*
 * estimate_test.c — checks that the hit ratio that is estimated for another size of the file is the one that a
 * file of that size has.
 */
#include "harness.h"

enum { SIZE = 4 << 20, VALUE = 1000, FIT = 3500 /* about as many items as fit */ };

static larder *cache;
static uint64_t state;

static bool use(int number) {
    static unsigned char value[VALUE];
    char key[32];
    size_t bytes = (size_t)snprintf(key, sizeof key, "%d", number);
    if (larder_get(cache, key, bytes, value, sizeof value, NULL, NULL) == LARDER_OK) {
        return true;
    }
    larder_store store = {.key = key, .key_bytes = bytes, .value = value, .value_bytes = sizeof value};
    larder_set(cache, &store, NULL);
    return false;
}

static void drop(int number) {
    char key[32];
    larder_delete(cache, key, (size_t)snprintf(key, sizeof key, "%d", number), NULL);
}

static double random_part(void) { return (double)(next_random(&state) >> 11) * 0x1p-53; }

/* Low numbers are asked for much more often. */
static int any_key(void) {
    double part = random_part();
    return (int)(10 * FIT * part * part * part);
}

static larder_other_sizes sizes(void) {
    larder_other_sizes found;
    memset(&found, 0xff, sizeof found);
    larder_get_other_sizes(cache, &found);
    return found;
}

/* Hits of a million reads in a file of that size. With each read, a key is deleted with that probability. */
static double replay(uint64_t size_bytes, double deletes, larder_other_sizes *found) {
    enum { CALLS = 500000 };
    unlink(test_path("t.larder")); /* a file keeps its size */
    cache = open_cache(size_bytes);
    state = 7;
    for (int i = 0; i < CALLS; i++) {
        use(any_key());
        if (deletes > 0 && random_part() < deletes) {
            drop(any_key());
        }
    }
    *found = sizes();
    larder_close(cache);
    return (double)found->hits / (double)found->reads * 1000000;
}

/* The keys of the sample are others in each run, so an estimate is off by its error now and then, but hardly by
 * twice as much. */
static bool is_near(const char *what, const larder_other_size *size, double real) {
    double off = (double)size->hits_ppm - real;
    if (getenv("SHOW")) {
        fprintf(stderr, "  %s, %u per cent: estimated %u +- %u, real %.0f\n", what, size->per_cent, size->hits_ppm,
                size->error_ppm, real);
    }
    return size->is_known && size->error_ppm > 0 && off < 2.0 * size->error_ppm + 10000 &&
           off > -2.0 * size->error_ppm - 10000;
}

/* Reads a file until the estimates of all sizes are known. Each file has another sample, and in one of twenty the
 * keys of the sample differ too much for a statement; three in a row are a defect. */
static double known_sizes(double deletes, larder_other_sizes *found) {
    enum { FILES = 3 };
    double hits = 0;
    bool known = false;
    for (int file = 0; file < FILES && !known; file++) {
        hits = replay(SIZE, deletes, found);
        known = found->sizes[0].is_known && found->sizes[1].is_known && found->sizes[2].is_known;
    }
    return hits;
}

static void files_of_other_sizes(double deletes, const char *what) {
    static const uint32_t per_cent[LARDER_OTHER_SIZES] = {50, 200, 400};
    larder_other_sizes here, there;
    double now = known_sizes(deletes, &here);
    CHECK(here.evicts && here.size_bytes == SIZE && here.reads == 500000 && here.needed_bytes == 0);
    for (int i = 0; i < LARDER_OTHER_SIZES; i++) {
        const larder_other_size *size = &here.sizes[i];
        CHECK(size->per_cent == per_cent[i] && size->reads > 0);
        double real = replay((uint64_t)SIZE * size->per_cent / 100, deletes, &there);
        CHECK(is_near(what, size, real), "%s, %u per cent: known %u, estimated %u +- %u, real %.0f, now %.0f",
              what, size->per_cent, size->is_known, size->hits_ppm, size->error_ppm, real, now);
        CHECK((size->hits_ppm < now) == (size->per_cent < 100));
    }
}

static void estimates_hold(void) { files_of_other_sizes(0, "nothing is deleted"); }

/* A larger file does not help against misses of deleted keys. */
static void deletes_are_no_evictions(void) { files_of_other_sizes(0.1, "a tenth is deleted"); }

static void nothing_is_estimated_while_everything_fits(void) {
    cache = open_cache(SIZE);
    for (int i = 0; i < 20000; i++) {
        use(i % 2000);
    }
    larder_other_sizes found = sizes();
    CHECK(!found.evicts && found.reads == 20000 && found.hits == 18000 && found.needed_bytes == 0);
    for (int i = 0; i < LARDER_OTHER_SIZES; i++) {
        CHECK(!found.sizes[i].is_known && found.sizes[i].hits_ppm == 0 && found.sizes[i].per_cent > 0);
    }
    larder_close(cache);
}

static void too_few_reads_tell_nothing(void) {
    cache = open_cache(SIZE);
    for (int i = 0; i < FIT + FIT / 4; i++) {
        use(i);
    }
    larder_other_sizes found = sizes();
    CHECK(found.evicts);
    for (int i = 0; i < LARDER_OTHER_SIZES; i++) {
        CHECK(!found.sizes[i].is_known && found.sizes[i].hits_ppm == 0 && found.sizes[i].error_ppm == 0);
        CHECK(found.sizes[i].reads > 0 && found.sizes[i].reads < FIT, "%d", (int)found.sizes[i].reads);
    }
    larder_close(cache);
}

/* Half of the items that are read fit. The samples of most files say 1.7 to 2 times the size. */
static void the_size_that_all_needs(void) {
    cache = open_cache(SIZE);
    state = 7;
    enum { CALLS = 400000, KEYS = 2 * FIT };
    for (int i = 0; i < CALLS; i++) {
        use((int)(next_random(&state) % KEYS));
    }
    larder_other_sizes found = sizes();
    double all_but_first = (1 - (double)KEYS / CALLS) * 1000000;
    CHECK(found.evicts && is_near("everything fits", &found.sizes[2], all_but_first), "estimated %u +- %u",
          found.sizes[2].hits_ppm, found.sizes[2].error_ppm);
    double needed = (double)found.needed_bytes / SIZE;
    CHECK(needed > 1.3 && needed < 2.4, "%.2f times the size", needed);
    larder_close(cache);
}

/* Another process of the same user could write there. */
static void any_counts(void) {
    cache = open_cache(SIZE);
    state = 7;
    for (int kind = 0; kind < 5; kind++) {
        for (int i = 0; i < 30000; i++) {
            use(any_key());
        }
        for (int other = 0; other < LARDER_OTHER_SIZES; other++) {
            uint32_t *words = (uint32_t *)&lard_other_sizes_of(cache->core->map, 0)->sizes[other];
            for (size_t w = 0; w < sizeof(lard_other_size) / sizeof *words; w++) {
                words[w] = kind == 0 ? UINT32_MAX : kind == 1 ? 0x7f7f7f7f : (uint32_t)next_random(&state);
            }
        }
        larder_other_sizes found = sizes();
        for (int other = 0; other < LARDER_OTHER_SIZES; other++) {
            CHECK(found.sizes[other].hits_ppm <= 1000000 && found.sizes[other].error_ppm <= 500000);
            CHECK(!found.sizes[other].is_known, "garbage is an estimate");
        }
    }
    for (int i = 0; i < 300000; i++) {
        use(any_key());
    }
    for (int other = 0; other < LARDER_OTHER_SIZES; other++) {
        CHECK(sizes().sizes[other].is_known, "garbage is replaced by counts");
    }
    CHECK(sound(cache));
    larder_close(cache);
}

/* The memory for it does not grow with the file. */
static void the_first_shards_of_a_large_file(void) {
    cache = open_cache(256 << 20);
    lard_map *map = cache->core->map;
    CHECK(map->super.shard_count == 16 && map->other_shards == LARD_OTHERS);
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        CHECK((lard_other_sizes_of(map, shard) != NULL) == (shard < LARD_OTHERS));
        lard_hints_take(map, shard);
        lard_shard_hints *hints = map->dircache[shard].hints;
        hints->sampled = UINT32_MAX; /* as if it was full */
        hints->capacity = LARD_SHADOW_ITEMS;
    }
    for (int i = 0; i < 1000; i++) {
        use(i);
    }
    for (uint32_t shard = 0; shard < map->other_shards; shard++) {
        CHECK(lard_other_sizes_of(map, shard)->sizes[0].length > 10, "shard %u", shard);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static void wrong_calls(void) {
    larder_other_sizes found;
    cache = open_cache(SIZE);
    CHECK(larder_get_other_sizes(NULL, &found) == LARDER_INVALID);
    CHECK(larder_get_other_sizes(cache, NULL) == LARDER_INVALID);
    CHECK(larder_get_other_sizes(cache, &found) == LARDER_OK && found.reads == 0 && !found.evicts);
    for (size_t i = 0; i < sizeof found.reserved / sizeof *found.reserved; i++) {
        CHECK(found.reserved[i] == 0);
    }
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(estimates_hold, "files of other sizes have the hit ratios that were estimated"),
    TEST(deletes_are_no_evictions, "a miss of a deleted key is not one that a larger file avoids"),
    TEST(nothing_is_estimated_while_everything_fits, "nothing is estimated while everything fits"),
    TEST(too_few_reads_tell_nothing, "too few reads tell nothing"),
    TEST(the_size_that_all_needs, "it finds the size that everything needs"),
    TEST(any_counts, "any counts in the hints are harmless, and replaced"),
    TEST(the_first_shards_of_a_large_file, "the first shards of a large file simulate other sizes"),
    TEST(wrong_calls, "it answers wrong calls"),
};
RUN("estimate", tests)
