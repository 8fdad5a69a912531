/*
 * hints_garbage_test.c — any word of the hints may be wrong: it costs a bounded number of hits and copies, and
 * after the cache was filled a few times more, eviction decides as before.
 */
#include "harness.h"

#include "base/dead.h"

enum {
    SIZE = 4 << 20,
    VALUE = 1000,
    KEYS = 14000,  /* four times as many as fit */
    WARM = 150000, /* calls before the first measurement */
    HEALS =
        24000, /* calls after which nothing of the garbage is left: about as many stores as fit items, times 3 */
    LEARNS = 96000, /* calls after which the shadow caches have chosen again, from nothing */
    WINDOW = 24000, /* calls of a measurement */
    LESS_HITS = 6,  /* per cent of the calls, within a window after that */
    MORE_WORK = 50, /* per cent of the promotions and evictions, within a window after that */
    WORST = 3       /* at most this many times the promotions and evictions of a window, while it heals */
};

static larder *cache;
static uint64_t state;

typedef struct {
    int hits;
    uint64_t evictions, promotions;
} outcome;

static bool ask(int number) {
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

/* Low numbers are asked for much more often. */
static int any_key(void) {
    double part = (double)(next_random(&state) >> 11) * 0x1p-53;
    return (int)(KEYS * part * part * part);
}

static outcome use(int calls) {
    larder_stats before, after;
    outcome found = {0};
    larder_get_stats(cache, &before);
    for (int i = 0; i < calls; i++) {
        found.hits += ask(any_key());
    }
    larder_get_stats(cache, &after);
    found.evictions = after.evictions - before.evictions;
    found.promotions = after.promotions - before.promotions;
    return found;
}

static lard_shard_hints *hints(void) { return cache->core->map->dircache[0].hints; }

typedef struct {
    const char *name;
    size_t at, bytes; /* of lard_shard_hints */
} part;

#define PART(field) \
    { #field, offsetof(lard_shard_hints, field), sizeof(((lard_shard_hints *)0)->field) }
static const part parts[] = {PART(sampled),  PART(young_segments), PART(opened),      PART(capacity),
                             PART(requests), PART(replayed),       PART(least_small), PART(heard_end),
                             PART(heard),    PART(leases_ended),   PART(newest),      PART(shadows),
                             PART(cleaned),  PART(overwritten)};

/* Two words of the shadow caches are sums, so they are overwritten one by one, too. */
static const part shadow_parts[] = {
    {"score of a shadow cache", offsetof(lard_shadow, score), 4},
    {"misses of a shadow cache", offsetof(lard_shadow, misses), 4},
    {"ends of a shadow cache's queues", offsetof(lard_shadow, small_first), 16},
    {"chains of a shadow cache", offsetof(lard_shadow, chains), sizeof(((lard_shadow *)0)->chains)},
};

enum { ZEROS, ONES, HALVES, SMALL, RANDOM, KINDS };
static const char *const kind_names[KINDS] = {"zeros", "ones", "0x7f", "1", "random bytes"};

static void overwrite(void *at, size_t bytes, int kind) {
    uint8_t *out = at;
    for (size_t i = 0; i < bytes; i++) {
        out[i] = kind == ONES     ? 0xff
                 : kind == HALVES ? 0x7f
                 : kind == SMALL  ? i % 4 == 0
                 : kind == RANDOM ? (uint8_t)next_random(&state)
                                  : 0;
    }
}

static bool is_near(const outcome *usual, const char *name, const char *kind, int heals) {
    outcome worst = use(heals), after = use(WINDOW);
    uint64_t usual_work = usual->promotions + usual->evictions, work = after.promotions + after.evictions;
    uint64_t worst_work = worst.promotions + worst.evictions;
    bool near = after.hits >= usual->hits - WINDOW * LESS_HITS / 100 &&
                work <= usual_work * (100 + MORE_WORK) / 100 &&
                worst_work <= usual_work * WORST * (unsigned)heals / WINDOW;
    if (getenv("SHOW") || !near) {
        fprintf(stderr, "  %s, %s: %d hits, then %d (%d); %llu evicted or copied, then %llu (%llu)\n", name, kind,
                worst.hits, after.hits, usual->hits, (unsigned long long)worst_work, (unsigned long long)work,
                (unsigned long long)usual_work);
    }
    return near;
}

static outcome begin(void) {
    state = 7;
    cache = open_cache(SIZE);
    use(WARM);
    return use(WINDOW);
}

static void any_word_of_a_shard(void) {
    int wrong = 0;
    outcome usual = begin();
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        for (int kind = 0; kind < KINDS; kind++) {
            overwrite((uint8_t *)hints() + parts[p].at, parts[p].bytes, kind);
            wrong += !is_near(&usual, parts[p].name, kind_names[kind], HEALS);
        }
    }
    CHECK(wrong == 0, "%d", wrong);
    CHECK(sound(cache));
    larder_close(cache);
}

static void any_word_of_a_shadow_cache(void) {
    int wrong = 0;
    outcome usual = begin();
    for (size_t p = 0; p < sizeof shadow_parts / sizeof *shadow_parts; p++) {
        for (int which = 0; which < LARD_SHADOWS; which++) {
            overwrite((uint8_t *)&hints()->shadows[which] + shadow_parts[p].at, shadow_parts[p].bytes,
                      which % 2 ? ONES : RANDOM);
            wrong += !is_near(&usual, shadow_parts[p].name, which % 2 ? "ones" : "random bytes", HEALS);
        }
    }
    CHECK(wrong == 0, "%d", wrong);
    CHECK(sound(cache));
    larder_close(cache);
}

/* Values that could be right: what they cost ends when they have been counted down. */
static void wrong_values_that_could_be_right(void) {
    int wrong = 0;
    outcome usual = begin();
    hints()->least_small = lard_segment_staying(cache->core->map, cache->core->map->max_value);
    wrong += !is_near(&usual, "small segments that stay", "the most", HEALS);
    for (int which = 0; which < LARD_SHADOWS; which++) {
        hints()->shadows[which].score = 1000000;
        wrong += !is_near(&usual, "score of a shadow cache", "1000000", 10 * LEARNS);
    }
    CHECK(wrong == 0, "%d", wrong);
    larder_close(cache);
}

/* Nothing is evicted, so what eviction would set again is not. */
static void a_sample_where_there_is_room(void) {
    const uint32_t capacities[] = {0, 1, LARD_SHADOW_ITEMS, LARD_SHADOW_ITEMS + 1, UINT32_MAX};
    cache = open_cache(SIZE);
    state = 7;
    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++) {
        hints()->sampled = UINT32_MAX;
        hints()->capacity = capacities[c];
        hints()->requests = 0;
        for (int i = 0; i < 2000; i++) {
            ask(i % 1000);
            if (i % 4 == 0) {
                larder_delete(cache, "0", 1, NULL);
                ask(0);
            }
        }
        CHECK(hints()->sampled == 0, "capacity %u", capacities[c]);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static void any_count_of_reads(void) {
    int wrong = 0;
    outcome usual = begin();
    for (int kind = 0; kind < KINDS; kind++) {
        overwrite(hints()->reads, (cache->core->map->reads_mask + 1) * sizeof(uint16_t), kind);
        wrong += !is_near(&usual, "reads", kind_names[kind], HEALS);
        overwrite(lard_reads_young(cache->core->map, cache->core->map->dircache),
                  cache->core->map->super.segments_per_shard / 8, kind);
        wrong += !is_near(&usual, "young segments", kind_names[kind], HEALS);
    }
    CHECK(wrong == 0, "%d", wrong);
    CHECK(sound(cache));
    larder_close(cache);
}

static void any_count_of_dead_bytes(void) {
    int wrong = 0;
    outcome usual = begin();
    uint32_t segment_bytes = cache->core->map->super.segment_bytes;
    const uint32_t values[] = {0,
                               1,
                               segment_bytes / 8,
                               segment_bytes / 4 * 3,
                               segment_bytes,
                               segment_bytes + 1,
                               UINT32_MAX / 2,
                               UINT32_MAX - segment_bytes,
                               UINT32_MAX};
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        char kind[20];
        snprintf(kind, sizeof kind, "%u", values[v]);
        for (uint32_t s = 0; s < cache->core->map->super.segments_per_shard; s++) {
            *lard_dead_in(cache->core->map, 0, s) = values[v];
        }
        wrong += !is_near(&usual, "dead bytes", kind, HEALS);
    }
    CHECK(wrong == 0, "%d", wrong);
    CHECK(sound(cache));
    larder_close(cache);
}

static void all_at_once(void) {
    int wrong = 0;
    outcome usual = begin();
    for (int kind = 0; kind < KINDS; kind++) {
        uint8_t *from = lard_reads_young(cache->core->map, cache->core->map->dircache);
        overwrite(from, (size_t)(cache->core->map->hints + lard_hints_bytes(cache->core->map) - from), kind);
        wrong += !is_near(&usual, "all", kind_names[kind], LEARNS);
    }
    CHECK(wrong == 0, "%d", wrong);
    CHECK(sound(cache));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(any_word_of_a_shard, "any word of a shard's hints may be wrong"),
    TEST(any_word_of_a_shadow_cache, "any word of a shadow cache may be wrong"),
    TEST(wrong_values_that_could_be_right, "a wrong value that could be right is counted down"),
    TEST(a_sample_where_there_is_room, "a wrong sample ends where nothing is evicted"),
    TEST(any_count_of_reads, "any count of reads and any mark of a young segment may be wrong"),
    TEST(any_count_of_dead_bytes, "any count of dead bytes may be wrong"),
    TEST(all_at_once, "all hints may be wrong at once"),
};
RUN("hints_garbage", tests)
