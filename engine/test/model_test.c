/*
 * model_test.c — runs long random sequences of operations against a naive model.
 *
 * In a cache with room the model tells exactly what must come back. In one that is too small it tells what may
 * come back: the model's value or a miss.
 */
#include "harness.h"

enum { KEYS = 600, MOST_VALUE = 40000 };

typedef struct {
    bool present, counter;
    size_t bytes;
    uint64_t stamp;
    int64_t number, expires_ms;
} entry;

static entry model[KEYS];
static unsigned char scratch[MOST_VALUE + 8], other[MOST_VALUE + 8];

static size_t random_size(uint64_t *state) {
    uint64_t r = next_random(state);
    switch (r % 16) {
    case 0:
        return 8 + (r >> 8) % (MOST_VALUE - 8); /* some in chunks */
    case 1:
    case 2:
        return 8 + (r >> 8) % 6000;
    default:
        return 8 + (r >> 8) % 200;
    }
}

static bool alive(const entry *e, int64_t now_ms) {
    return e->present && (!e->expires_ms || e->expires_ms > now_ms);
}

static void store_entry(entry *e, size_t bytes, uint64_t stamp, int64_t expires_ms) {
    *e = (entry){.present = true, .bytes = bytes, .stamp = stamp, .expires_ms = expires_ms};
}

/* True where what the cache has for the key is what the model says, or a miss where that is allowed. */
static bool agrees(larder *cache, int key_number, const larder_call *at, bool may_miss) {
    char key[16];
    larder_item item;
    entry *e = &model[key_number];
    size_t key_bytes = (size_t)snprintf(key, sizeof key, "key %d", key_number);
    larder_status status = larder_get(cache, key, key_bytes, scratch, MOST_VALUE, &item, at);
    if (status == LARDER_MISS) {
        bool fine = may_miss || !alive(e, at->now_ms);
        e->present = false;
        return fine;
    }
    if (status != LARDER_OK || !alive(e, at->now_ms) || item.expires_at_ms != e->expires_ms) {
        return false;
    }
    if (e->counter) {
        char text[32];
        int bytes = snprintf(text, sizeof text, "%lld", (long long)e->number);
        return item.size_bytes == (size_t)bytes && memcmp(text, scratch, item.size_bytes) == 0;
    }
    describe(other, e->bytes, (uint64_t)key_number, e->stamp);
    return item.size_bytes == e->bytes && memcmp(other, scratch, e->bytes) == 0;
}

static void one_step(larder *cache, uint64_t *state, larder_call *at, uint64_t stamp, bool may_miss) {
    uint64_t r = next_random(state);
    int k = (int)((r >> 32) % KEYS);
    entry *e = &model[k];
    char key[16];
    size_t key_bytes = (size_t)snprintf(key, sizeof key, "key %d", k);
    int64_t ttl = r % 7 == 0 ? 1 + (int64_t)(next_random(state) % 5000) : 0;
    int64_t expires = ttl ? at->now_ms + ttl : 0;
    size_t bytes = random_size(state);
    larder_store store = {
        .key = key, .key_bytes = key_bytes, .value = scratch, .value_bytes = bytes, .ttl_ms = ttl};
    larder_status status;
    int64_t number;

    if (may_miss) { /* what was evicted is absent for the model too */
        if (larder_exists(cache, key, key_bytes, NULL, at) == LARDER_MISS) {
            e->present = false;
        }
    }
    bool was = alive(e, at->now_ms);
    describe(scratch, bytes, (uint64_t)k, stamp);
    switch ((r >> 16) % 12) {
    case 0:
    case 1:
    case 2:
        CHECK(larder_set(cache, &store, at) == LARDER_OK);
        store_entry(e, bytes, stamp, expires);
        break;
    case 3:
        store.mode = LARDER_ADD;
        status = larder_set(cache, &store, at);
        /* Making room for it may evict the item that is there. */
        CHECK(status == (was ? LARDER_NOT_STORED : LARDER_OK) || (may_miss && status == LARDER_OK), "add %s: %s",
              key, larder_status_name(status));
        if (status == LARDER_OK) {
            store_entry(e, bytes, stamp, expires);
        }
        break;
    case 4:
        store.mode = LARDER_REPLACE;
        status = larder_set(cache, &store, at);
        CHECK(status == (was ? LARDER_OK : LARDER_NOT_STORED) || may_miss, "replace %s", key);
        if (status == LARDER_OK) {
            store_entry(e, bytes, stamp, expires);
        }
        break;
    case 5:
        status = larder_delete(cache, key, key_bytes, at);
        CHECK(status == (was ? LARDER_OK : LARDER_MISS) || may_miss, "delete %s: %s", key,
              larder_status_name(status));
        e->present = false;
        break;
    case 6:
        status = larder_touch(cache, key, key_bytes, ttl, at);
        CHECK(status == (was ? LARDER_OK : LARDER_MISS) || may_miss, "touch %s", key);
        if (status == LARDER_OK) {
            e->expires_ms = expires;
        }
        break;
    case 7:
        status = larder_increment(cache, key, key_bytes, (int64_t)(r & 63) - 20, 100, ttl, &number, at);
        if (was && !e->counter) {
            CHECK(status == LARDER_NOT_A_NUMBER || may_miss, "increment %s: %s", key, larder_status_name(status));
        } else {
            int64_t want = (was ? e->number : 100) + (int64_t)(r & 63) - 20;
            CHECK(status == LARDER_OK && (number == want || may_miss), "increment %s", key);
        }
        if (status == LARDER_OK) {
            int64_t keep = was && e->counter ? e->expires_ms : expires;
            larder_item item;
            if (larder_exists(cache, key, key_bytes, &item, at) == LARDER_OK) {
                keep = may_miss ? item.expires_at_ms : keep;
            }
            *e = (entry){.present = true, .counter = true, .number = number, .expires_ms = keep};
        }
        break;
    case 8:
        if (was && !e->counter) {
            describe(other, e->bytes, (uint64_t)k, e->stamp);
            store.expected_expires_at_ms = may_miss ? LARDER_ANY_EXPIRY : e->expires_ms;
            status = larder_cas(cache, &store, other, e->bytes, at);
            CHECK(status == LARDER_OK || may_miss, "cas %s: %s", key, larder_status_name(status));
            if (status == LARDER_OK) {
                store_entry(e, bytes, stamp, expires);
            }
        } else if (was) {
            CHECK(larder_cas(cache, &store, "no such text", 12, at) != LARDER_OK);
        }
        break;
    case 9:
        at->now_ms += (int64_t)(r % 50);
        break;
    default:
        CHECK(agrees(cache, k, at, may_miss), "read %s", key);
    }
}

static void walk(uint64_t size_bytes, bool may_miss, int steps, uint64_t seed) {
    larder *cache = open_cache(size_bytes);
    larder_call at = {.now_ms = 1000000000};
    uint64_t state = seed;
    memset(model, 0, sizeof model);
    CHECK(cache && larder_clear(cache) == LARDER_OK);
    for (int step = 1; step <= steps; step++) {
        int before = test_failures;
        one_step(cache, &state, &at, (uint64_t)step, may_miss);
        if (test_failures != before) {
            fprintf(stderr, "  step %d of seed %llu\n", step, (unsigned long long)seed);
            break;
        }
        if (step % 20000 == 0) {
            CHECK(sound(cache), "step %d", step);
            CHECK(larder_clear(cache) == LARDER_OK);
            memset(model, 0, sizeof model);
        }
        if (step % 3000 == 0) {
            larder_close(cache);
            cache = open_cache(size_bytes);
            for (int k = 0; k < KEYS; k++) {
                CHECK(agrees(cache, k, &at, may_miss), "key %d after reopening at step %d", k, step);
            }
        }
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static void with_room(void) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        walk(64u << 20, false, 50000, seed);
    }
}
static void too_small(void) {
    for (uint64_t seed = 11; seed <= 13; seed++) {
        walk(1u << 20, true, 50000, seed);
    }
}

static const test_case tests[] = {
    TEST(with_room, "with room, the cache is the model"),
    TEST(too_small, "too small, the cache forgets but never lies"),
};
RUN("model", tests)
