/*
 * overwrite_test.c — checks that a cache keeps its room while keys are stored again and again, and copies little.
 */
#include "harness.h"

#include "base/dead.h"

enum { SIZE = 4 << 20, WARM = 15, COUNTED = 8 }; /* sets, in times what fits */

static larder *cache;
static uint64_t state;

typedef struct {
    int live;   /* per cent of what fits */
    int copied; /* bytes of opened segments, in per cent of the bytes of sets */
} outcome;

static double part_of_one(void) { return (double)(next_random(&state) >> 11) * 0x1p-53; }

static size_t length_of(uint64_t set, size_t mean) { return mean * 3 / 4 + set * 7919 % (mean / 2); }

static void put(int number, size_t bytes, uint64_t version, int pin, int64_t ttl_ms, int64_t now_ms) {
    static unsigned char value[40000];
    char key[32];
    larder_call call = {.now_ms = now_ms};
    describe(value, bytes, (uint64_t)number, version);
    larder_store store = {.key = key,
                          .key_bytes = (size_t)snprintf(key, sizeof key, "key %d", number),
                          .value = value,
                          .value_bytes = bytes,
                          .ttl_ms = ttl_ms,
                          .pin = (uint8_t)pin};
    larder_status status = larder_set(cache, &store, &call);
    CHECK(status == LARDER_OK, "key %d: %s", number, larder_status_text(status));
}

/* The value, if there is one, must be the one of this version. */
static bool has(int number, size_t bytes, uint64_t version, int64_t now_ms) {
    static unsigned char have[40000], want[40000];
    char key[32];
    larder_item item;
    larder_call call = {.now_ms = now_ms};
    size_t key_bytes = (size_t)snprintf(key, sizeof key, "key %d", number);
    if (larder_get(cache, key, key_bytes, have, sizeof have, &item, &call) != LARDER_OK) {
        return false;
    }
    describe(want, bytes, (uint64_t)number, version);
    if (item.size_bytes != bytes || memcmp(have, want, bytes) != 0) {
        fprintf(stderr, "  %s: a wrong value\n", key);
        exit(1);
    }
    return true;
}

/* The number of items that are left when more new keys were stored than fit. */
static int what_fits(size_t mean) {
    int keys = (int)(2 * SIZE / mean), fits = 0;
    cache = open_cache(SIZE);
    for (int i = 0; i < keys; i++) {
        put(i, length_of((uint64_t)i, mean), 1, 0, 0, 0);
    }
    for (int i = 0; i < keys; i++) {
        fits += has(i, length_of((uint64_t)i, mean), 1, 0);
    }
    larder_close(cache);
    unlink(test_path("t.larder"));
    return fits;
}

static uint64_t opened_bytes(void) {
    lard_view view = lard_view_of(cache->core->map, 0);
    return lard_load(&view.header->next_sequence) * cache->core->map->super.segment_bytes;
}

/* The version of each key that was stored last, which is the number of the set. */
static uint64_t *versions;

/* Gets and sets in turn. With `power` 1 all keys are alike; the greater it is, the fewer keys have most calls. */
static outcome use(int fits, int keys, size_t mean, int power, uint64_t from, uint64_t to) {
    uint64_t bytes = 0, opened = opened_bytes();
    int live = 0;
    for (uint64_t set = from; set < to; set++) {
        int chosen[2];
        for (int i = 0; i < 2; i++) {
            double part = part_of_one(), all = part;
            for (int p = 1; p < power; p++) {
                all *= part;
            }
            chosen[i] = (int)(keys * all);
        }
        has(chosen[0], length_of(versions[chosen[0]], mean), versions[chosen[0]], 0);
        put(chosen[1], length_of(set, mean), set, 0, 0, 0);
        versions[chosen[1]] = set;
        bytes += length_of(set, mean) + 32;
    }
    for (int i = 0; i < keys; i++) {
        live += versions[i] && has(i, length_of(versions[i], mean), versions[i], 0);
    }
    return (outcome){.live = live * 100 / fits, .copied = (int)((opened_bytes() - opened) * 100 / bytes)};
}

static void begin(int keys) {
    state = 7;
    cache = open_cache(SIZE);
    versions = calloc((size_t)keys, sizeof *versions);
}

static void end(void) {
    CHECK(sound(cache));
    larder_close(cache);
    free(versions);
}

static outcome overwrite(size_t mean, int power) {
    int fits = what_fits(mean), keys = fits * 3 / 2;
    begin(keys);
    use(fits, keys, mean, power, 1, (uint64_t)(WARM * fits));
    outcome found = use(fits, keys, mean, power, (uint64_t)(WARM * fits), (uint64_t)((WARM + COUNTED) * fits));
    end();
    if (getenv("SHOW")) {
        fprintf(stderr, "  %zu bytes, power %d: live %d %%, copied %d %%\n", mean, power, found.live,
                found.copied);
    }
    return found;
}

static void of_all_keys_alike(void) {
    outcome found = overwrite(500, 1);
    CHECK(found.live >= 84, "%d %% of what fits are live", found.live);
    CHECK(found.copied <= 400, "%d %% of the bytes of sets were appended", found.copied);
}

static void of_few_keys(void) {
    outcome found = overwrite(500, 4);
    CHECK(found.live >= 82, "%d %% of what fits are live", found.live);
    CHECK(found.copied <= 420, "%d %% of the bytes of sets were appended", found.copied);
}

static void short_ones_of_few_keys(void) {
    outcome found = overwrite(100, 4);
    CHECK(found.live >= 82, "%d %% of what fits are live", found.live);
    CHECK(found.copied <= 420, "%d %% of the bytes of sets were appended", found.copied);
}

/* So few items are steered differently by chance. */
static void of_values_in_parts(void) {
    outcome best = {0, 0};
    for (int i = 0; i < 3; i++) {
        outcome found = overwrite(12000, 3);
        best = found.live > best.live ? found : best;
        unlink(test_path("t.larder"));
    }
    CHECK(best.live >= 78, "%d %% of what fits are live", best.live);
    CHECK(best.copied <= 320, "%d %% of the bytes of sets were appended", best.copied);
}

static void lost_hints_cost_room_for_a_while(void) {
    enum { MEAN = 500, KINDS = 4 };
    static const uint32_t words[KINDS] = {0, 1, 4096, UINT32_MAX};
    int fits = what_fits(MEAN), keys = fits * 3 / 2;
    uint64_t set = (uint64_t)(WARM * fits), times = (uint64_t)(6 * fits);
    begin(keys);
    use(fits, keys, MEAN, 4, 1, set);
    for (int kind = 0; kind < KINDS; kind++) {
        lard_shard_hints *hints = cache->core->map->dircache[0].hints;
        for (uint32_t s = 0; s < cache->core->map->super.segments_per_shard; s++) {
            *lard_dead_in(cache->core->map, 0, s) = words[kind];
        }
        hints->cleaned = words[kind];
        lard_store(&hints->overwritten[0], kind == 2 ? 5 : words[kind]);
        lard_store(&hints->overwritten[1], kind == 2 ? 6 : words[kind]);
        lard_store(&hints->overwritten[2], words[kind]);
        use(fits, keys, MEAN, 4, set, set + times);
        CHECK(sound(cache));
        outcome found = use(fits, keys, MEAN, 4, set + times, set + 2 * times);
        CHECK(found.live >= 82 && found.copied <= 450, "%u: %d %% live, %d %% appended", words[kind], found.live,
              found.copied);
        set += 2 * times;
    }
    end();
}

static void pinned_items_stay_and_expired_ones_go(void) {
    enum { MEAN = 500, PINNED = 2000, SHORT = 2000, TURNS = 60000, TTL_MS = 8000 };
    uint64_t stored[PINNED] = {0};
    cache = open_cache(SIZE);
    state = 7;
    for (int turn = 1; turn <= TURNS; turn++) {
        int pinned = (int)(PINNED * part_of_one() * part_of_one()), other = (int)(SHORT * part_of_one());
        put(pinned, length_of((uint64_t)turn, MEAN), (uint64_t)turn, 1, 0, turn);
        stored[pinned] = (uint64_t)turn;
        put(PINNED + other, MEAN, 1, 0, TTL_MS, turn);
    }
    for (int i = 0; i < PINNED; i++) {
        CHECK(!stored[i] || has(i, length_of(stored[i], MEAN), stored[i], TURNS), "pinned %d is gone", i);
    }
    for (int i = 0; i < SHORT; i++) {
        CHECK(!has(PINNED + i, MEAN, 1, TURNS + TTL_MS), "%d has expired", i);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(of_all_keys_alike, "a cache whose keys are all stored again and again is full of live items"),
    TEST(of_few_keys, "a few keys that are stored again and again leave the others their room"),
    TEST(short_ones_of_few_keys, "short items are copied few times while others are overwritten"),
    TEST(of_values_in_parts, "values in parts that are overwritten leave no parts without a value"),
    TEST(lost_hints_cost_room_for_a_while,
         "counts that are lost, or wrong, cost room for a while and nothing else"),
    TEST(pinned_items_stay_and_expired_ones_go,
         "overwritten pinned items stay, and expired items do not come back"),
};
RUN("overwrite", tests)
