/*
 * tags_test.c — checks that a deleted tag's items are gone, whatever else happens, and that others stay.
 */
#include "children.h"

#define START_MS 1700000000000ll

static larder *cache;
static larder_call at = {.now_ms = START_MS};

static void begin(uint64_t size_bytes) {
    cache = open_cache(size_bytes);
    at.now_ms = START_MS;
}

/* Stores with tags, which are words of a text; `stamp` may be NULL. */
static larder_status put_bytes(const char *key, const void *value, size_t bytes, const char *words,
                               const larder_stamp *stamp, larder_extra extra) {
    char copy[LARDER_MAX_TAGS * 8];
    larder_tag tags[LARDER_MAX_TAGS];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        tags[extra.tag_count++] = (larder_tag){word, strlen(word)};
    }
    extra.tags = tags;
    extra.stamp = stamp ? *stamp : (larder_stamp){0, 0};
    larder_store store = {
        .key = key, .key_bytes = strlen(key), .value = value, .value_bytes = bytes, .extra = &extra};
    store.ttl_ms = extra.stale_ms ? 1000 : 0;
    return larder_set(cache, &store, &at);
}

static larder_status put(const char *key, const char *value, const char *words, const larder_stamp *stamp) {
    return put_bytes(key, value, strlen(value), words, stamp, (larder_extra){0});
}

static larder_status delete_tag(const char *word) {
    const larder_tag tag = {word, strlen(word)};
    return larder_delete_tagged(cache, &tag, 1, &at);
}

static larder_stats counts(void) {
    larder_stats stats;
    larder_get_stats(cache, &stats);
    return stats;
}

static void an_item_goes_with_each_of_its_tags(void) {
    begin(1 << 20);
    CHECK(put("a", "1", "red round", NULL) == LARDER_OK && put("b", "2", "red", NULL) == LARDER_OK);
    CHECK(put("c", "3", "round", NULL) == LARDER_OK && set(cache, "d", "4") == LARDER_OK);
    CHECK(is(cache, "a", "1") && is(cache, "b", "2") && is(cache, "c", "3"));
    CHECK(delete_tag("round") == LARDER_OK);
    CHECK(is(cache, "a", NULL) && is(cache, "b", "2") && is(cache, "c", NULL) && is(cache, "d", "4"));
    CHECK(put("a", "5", "red round", NULL) == LARDER_OK && is(cache, "a", "5"), "it may come again");
    CHECK(delete_tag("red") == LARDER_OK && is(cache, "a", NULL) && is(cache, "b", NULL));
    CHECK(counts().tag_deletes == 2 && counts().tag_misses == 4 && counts().forgotten_misses == 0);
    larder_report report;
    CHECK(sound(cache) && larder_verify(cache, &report) == LARDER_OK);
    CHECK(report.items == 4 && report.stale_bytes >= 3 * 48 && report.stale_bytes < 3 * 64, "%llu",
          (unsigned long long)report.stale_bytes);
    larder_close(cache);
}

static void a_tag_is_any_bytes(void) {
    begin(1 << 20);
    const larder_tag tags[] = {{"a\0b", 3}, {"a", 1}, {NULL, 0}, {"a\0c", 3}};
    for (int i = 0; i < 4; i++) {
        larder_extra extra = {.tags = &tags[i], .tag_count = 1};
        larder_store store = {.key = &i, .key_bytes = 4, .value = "v", .value_bytes = 1, .extra = &extra};
        CHECK(larder_set(cache, &store, &at) == LARDER_OK);
    }
    CHECK(larder_delete_tagged(cache, tags, 3, &at) == LARDER_OK);
    for (int i = 0; i < 4; i++) {
        CHECK(larder_exists(cache, &i, 4, NULL, &at) == (i == 3 ? LARDER_OK : LARDER_MISS));
    }
    larder_close(cache);
}

static void bad_tags_are_refused(void) {
    begin(1 << 20);
    static larder_tag many[LARDER_MAX_TAGS + 1];
    larder_extra extra = {.tags = many, .tag_count = LARDER_MAX_TAGS + 1};
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .extra = &extra};
    CHECK(larder_set(cache, &store, &at) == LARDER_INVALID);
    extra.tag_count = LARDER_MAX_TAGS;
    CHECK(larder_set(cache, &store, &at) == LARDER_OK && larder_exists(cache, "k", 1, NULL, &at) == LARDER_OK);
    many[3] = (larder_tag){NULL, 1};
    CHECK(larder_set(cache, &store, &at) == LARDER_INVALID);
    CHECK(larder_delete_tagged(cache, many, 4, &at) == LARDER_INVALID);
    CHECK(larder_delete_tagged(cache, NULL, 1, &at) == LARDER_INVALID);
    CHECK(larder_delete_tagged(NULL, many, 1, &at) == LARDER_INVALID);
    CHECK(larder_delete_tagged(cache, NULL, 0, &at) == LARDER_OK && counts().tag_deletes == 0);
    CHECK(larder_stamp_now(cache, NULL) == LARDER_INVALID);
    CHECK(larder_exists(cache, "k", 1, NULL, &at) == LARDER_OK, "nothing of it was done");
    larder_close(cache);
}

static void every_call_takes_a_deleted_item_for_absent(void) {
    char out[16];
    int64_t number;
    uint64_t cursor = 0;
    size_t count, used;
    static char keys[LARDER_MAX_KEY + 4];
    begin(1 << 20);
    CHECK(put("k", "1", "t", NULL) == LARDER_OK && delete_tag("t") == LARDER_OK);
    larder_lookup lookup = {.key = "k", .key_bytes = 1, .buffer = out, .buffer_bytes = sizeof out};
    larder_call stale = {.now_ms = at.now_ms, .flags = LARDER_CALL_STALE};
    CHECK(larder_get(cache, "k", 1, out, sizeof out, NULL, &stale) == LARDER_MISS);
    CHECK(larder_get(cache, "k", 1, NULL, 0, NULL, &at) == LARDER_MISS, "not that the buffer is too small");
    CHECK(larder_get_multi(cache, &lookup, 1, &at) == LARDER_OK && lookup.status == LARDER_MISS);
    CHECK(larder_exists(cache, "k", 1, NULL, &at) == LARDER_MISS);
    CHECK(larder_scan(cache, &cursor, NULL, 0, keys, sizeof keys, &count, &used, &at) == LARDER_OK && count == 0);
    CHECK(larder_touch(cache, "k", 1, 1000, &at) == LARDER_MISS);
    larder_store store = {.key = "k", .key_bytes = 1, .value = "2", .value_bytes = 1, .mode = LARDER_REPLACE};
    CHECK(larder_set(cache, &store, &at) == LARDER_NOT_STORED);
    CHECK(larder_cas(cache, &(larder_store){.key = "k", .key_bytes = 1, .value = "2", .value_bytes = 1}, "1", 1,
                     &at) == LARDER_MISS);
    CHECK(larder_delete(cache, "k", 1, &at) == LARDER_MISS && counts().items == 0);
    CHECK(put("k", "1", "t", NULL) == LARDER_OK && delete_tag("t") == LARDER_OK);
    CHECK(larder_increment(cache, "k", 1, 1, 10, 0, &number, &at) == LARDER_OK && number == 11);
    CHECK(put("k", "1", "t", NULL) == LARDER_OK && delete_tag("t") == LARDER_OK);
    store.mode = LARDER_ADD;
    CHECK(larder_set(cache, &store, &at) == LARDER_OK && is(cache, "k", "2"));
    larder_close(cache);
}

static void a_value_computed_before_a_deletion_is_deleted(void) {
    larder_stamp before, after;
    begin(1 << 20);
    CHECK(larder_stamp_now(cache, &before) == LARDER_OK && delete_tag("t") == LARDER_OK);
    CHECK(larder_stamp_now(cache, &after) == LARDER_OK);
    CHECK(put("k", "old", "t", &before) == LARDER_OK && is(cache, "k", NULL));
    CHECK(put("other", "old", "u", &before) == LARDER_OK && is(cache, "other", "old"));
    CHECK(put("k", "new", "t", &after) == LARDER_OK && is(cache, "k", "new"));
    larder_close(cache);
}

static void a_stamp_ends_with_a_clear_and_with_its_file(void) {
    larder_stamp stamp;
    begin(1 << 20);
    CHECK(put("k", "1", "t", NULL) == LARDER_OK && delete_tag("u") == LARDER_OK);
    CHECK(larder_stamp_now(cache, &stamp) == LARDER_OK && larder_clear(cache) == LARDER_OK);
    CHECK(put("k", "2", "t", &stamp) == LARDER_NOT_STORED && is(cache, "k", NULL));
    CHECK(put("k", "3", "t", NULL) == LARDER_OK && is(cache, "k", "3"), "the first item after a clear stays");
    CHECK(larder_stamp_now(cache, &stamp) == LARDER_OK);
    CHECK(larder_resize(cache, 2 << 20, LARDER_KEEP_NONE, NULL) == LARDER_OK);
    CHECK(put("k", "4", "t", &stamp) == LARDER_NOT_STORED && is(cache, "k", NULL));
    larder_close(cache);
}

static void a_store_beside_clears_is_stored(void) {
    int *stop = shared_memory(sizeof *stop);
    unsigned refused = 0;
    begin(1 << 20);
    pid_t child = fork_child();
    if (child == 0) {
        while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
            larder_clear(cache);
        }
        _exit(0);
    }
    for (int i = 0; i < 100000; i++) {
        refused += put("k", "1", "t", NULL) != LARDER_OK;
    }
    __atomic_store_n(stop, 1, __ATOMIC_RELAXED);
    CHECK(exited_well(child) && refused == 0, "%u of 100000 stores were refused", refused);
    larder_close(cache);
}

static void a_resize_keeps_tags(void) {
    begin(1 << 20);
    CHECK(put("a", "1", "t", NULL) == LARDER_OK && put("b", "2", "u", NULL) == LARDER_OK);
    CHECK(delete_tag("u") == LARDER_OK);
    CHECK(larder_resize(cache, 3 << 20, LARDER_KEEP_ALL, NULL) == LARDER_OK);
    CHECK(is(cache, "a", "1") && is(cache, "b", NULL));
    CHECK(delete_tag("t") == LARDER_OK && is(cache, "a", NULL) && sound(cache));
    larder_close(cache);
}

static void large_and_pinned_and_moved_items_have_tags(void) {
    static char large[200000], out[200000];
    memset(large, 'l', sizeof large);
    begin(2 << 20);
    CHECK(put_bytes("large", large, sizeof large, "t", NULL, (larder_extra){0}) == LARDER_OK);
    CHECK(put("moved", "m", "t", NULL) == LARDER_OK && put("kept", "k", "u", NULL) == LARDER_OK);
    larder_item item;
    CHECK(larder_get(cache, "large", 5, out, sizeof out, &item, &at) == LARDER_OK && out[199999] == 'l');
    char key[20];
    for (int i = 0; i < 40000; i++) { /* the small queue passes twice */
        snprintf(key, sizeof key, "filler %d", i);
        CHECK(set(cache, key, "some hundred bytes, or nearly so, that nobody reads again") == LARDER_OK);
        CHECK(is(cache, "moved", "m") && is(cache, "kept", "k"));
    }
    CHECK(delete_tag("t") == LARDER_OK && is(cache, "moved", NULL) && is(cache, "kept", "k"));
    CHECK(larder_get(cache, "large", 5, out, sizeof out, NULL, &at) == LARDER_MISS);
    CHECK(put_bytes("large", large, sizeof large, "t", NULL, (larder_extra){0}) == LARDER_OK);
    CHECK(larder_exists(cache, "large", 5, NULL, &at) == LARDER_OK && delete_tag("t") == LARDER_OK);
    CHECK(larder_exists(cache, "large", 5, NULL, &at) == LARDER_MISS && sound(cache));
    larder_close(cache);
}

static void a_stale_value_goes_with_its_tag(void) {
    char out[16];
    larder_call stale = {.now_ms = START_MS + 2000, .flags = LARDER_CALL_STALE};
    larder_lease lease = {0};
    begin(1 << 20);
    CHECK(put_bytes("k", "1", 1, "t", NULL, (larder_extra){.stale_ms = 10000}) == LARDER_OK);
    CHECK(larder_get(cache, "k", 1, out, sizeof out, NULL, &stale) == LARDER_OK);
    CHECK(larder_lease_take(cache, "k", 1, 30000, &lease, &stale) == LARDER_OK);
    CHECK(larder_get(cache, "k", 1, out, sizeof out, NULL, &stale) == LARDER_OK, "beside a lease");
    CHECK(delete_tag("t") == LARDER_OK);
    CHECK(larder_get(cache, "k", 1, out, sizeof out, NULL, &stale) == LARDER_MISS);
    larder_lease other = {0};
    CHECK(larder_lease_take(cache, "k", 1, 30000, &other, &stale) == LARDER_LEASED);
    CHECK(larder_lease_end(cache, "k", 1, &lease, 5000, &stale) == LARDER_OK, "an error does not bring it back");
    CHECK(larder_get(cache, "k", 1, out, sizeof out, NULL, &stale) == LARDER_MISS);
    larder_close(cache);
}

static void a_value_under_a_lease_has_tags(void) {
    larder_lease lease = {0};
    larder_stamp stamp;
    begin(1 << 20);
    CHECK(larder_lease_take(cache, "k", 1, 30000, &lease, &at) == LARDER_OK);
    CHECK(larder_stamp_now(cache, &stamp) == LARDER_OK);
    CHECK(put_bytes("k", "1", 1, "t", &stamp, (larder_extra){.lease = &lease}) == LARDER_OK &&
          is(cache, "k", "1"));
    lease = (larder_lease){.over = 0};
    CHECK(delete_tag("t") == LARDER_OK && larder_lease_take(cache, "k", 1, 30000, &lease, &at) == LARDER_OK);
    CHECK(delete_tag("t") == LARDER_OK, "while its value is computed");
    CHECK(put_bytes("k", "2", 1, "t", &stamp, (larder_extra){.lease = &lease}) == LARDER_OK &&
          is(cache, "k", NULL));
    larder_close(cache);
}

static void a_touch_keeps_tags(void) {
    begin(1 << 20);
    CHECK(put("k", "1", "t", NULL) == LARDER_OK && larder_touch(cache, "k", 1, 100000, &at) == LARDER_OK);
    CHECK(put_bytes("s", "1", 1, "t", NULL, (larder_extra){.stale_ms = 10000}) == LARDER_OK);
    CHECK(larder_touch(cache, "s", 1, 100000, &at) == LARDER_OK);
    CHECK(larder_exists(cache, "k", 1, NULL, &at) == LARDER_OK && delete_tag("t") == LARDER_OK);
    CHECK(larder_exists(cache, "k", 1, NULL, &at) == LARDER_MISS);
    CHECK(larder_exists(cache, "s", 1, NULL, &at) == LARDER_MISS);
    larder_close(cache);
}

static void what_changes_an_item_leaves_its_tags(void) {
    int64_t number;
    begin(1 << 20);
    larder_store swap = {.key = "k", .key_bytes = 1, .value = "6", .value_bytes = 1};
    CHECK(put("k", "5", "t", NULL) == LARDER_OK && larder_cas(cache, &swap, "5", 1, &at) == LARDER_OK);
    CHECK(larder_increment(cache, "k", 1, 2, 0, 0, &number, &at) == LARDER_OK && number == 8);
    CHECK(larder_increment(cache, "k", 1, 2, 0, 0, &number, &at) == LARDER_OK && is(cache, "k", "10"));
    CHECK(delete_tag("t") == LARDER_OK && is(cache, "k", NULL));
    const larder_tag tag = {"t", 1};
    for (int i = 1; i < 3; i++) {
        CHECK(larder_increment_tagged(cache, "n", 1, 1, 10, 0, &tag, 1, &number, &at) == LARDER_OK);
        CHECK(number == 10 + i);
    }
    CHECK(is(cache, "n", "12") && delete_tag("t") == LARDER_OK && is(cache, "n", NULL));
    CHECK(larder_increment_tagged(cache, "n", 1, 1, 10, 0, NULL, 1, &number, &at) == LARDER_INVALID);
    CHECK(larder_increment_tagged(cache, "n", 1, 1, 10, 0, &tag, 0, &number, &at) == LARDER_OK && number == 11);
    CHECK(delete_tag("t") == LARDER_OK && is(cache, "n", "11"));
    larder_extra extra = {.stale_ms = 10000, .compute_ms = 5};
    swap.extra = &extra;
    for (int64_t ttl_ms = 0; ttl_ms < 200000; ttl_ms += 100000) {
        swap.ttl_ms = ttl_ms;
        CHECK(put("k", "5", "t", NULL) == LARDER_OK && larder_cas(cache, &swap, "5", 1, &at) == LARDER_OK);
        CHECK(larder_exists(cache, "k", 1, NULL, &at) == LARDER_OK && delete_tag("t") == LARDER_OK);
        CHECK(larder_exists(cache, "k", 1, NULL, &at) == LARDER_MISS, "also one that is kept when it is stale");
    }
    extra = (larder_extra){.tags = &(larder_tag){"u", 1}, .tag_count = 1};
    swap.ttl_ms = 0;
    CHECK(put("k", "5", "t", NULL) == LARDER_OK && larder_cas(cache, &swap, "5", 1, &at) == LARDER_OK);
    CHECK(delete_tag("t") == LARDER_OK && is(cache, "k", "6"), "but for one that is given others");
    CHECK(delete_tag("u") == LARDER_OK && is(cache, "k", NULL));
    larder_lease lease = {0};
    extra.lease = &lease;
    CHECK(larder_cas(cache, &swap, "5", 1, &at) == LARDER_INVALID);
    larder_close(cache);
}

/* Random stores, deletions and clears of 16 tags against a model, with a close and a new open now and then. */
enum { TAGS = 16, KEYS = 60 };

static void it_agrees_with_a_model(void) {
    static struct {
        bool present;
        unsigned tags;
        uint64_t value;
    } model[KEYS];
    uint64_t random = 26, hits = 0;
    char key[24], words[100], tag[8], value[32];
    memset(model, 0, sizeof model);
    begin(1 << 20);
    for (int round = 0; round < 60000; round++) {
        uint64_t r = next_random(&random);
        unsigned k = r % KEYS;
        snprintf(key, sizeof key, "key %u", k);
        snprintf(value, sizeof value, "%d", round);
        if (r >> 8 & 3) {
            unsigned tags = (unsigned)(r >> 16) & (unsigned)(r >> 32) & (unsigned)(r >> 48) & 0xffff;
            larder_stamp stamp;
            words[0] = '\0';
            for (unsigned t = 0; t < TAGS; t++) {
                if (tags >> t & 1) {
                    snprintf(words + strlen(words), sizeof words - strlen(words), "t%u ", t);
                }
            }
            CHECK(larder_stamp_now(cache, &stamp) == LARDER_OK);
            unsigned deleted = next_random(&random) % 64; /* between stamp and store */
            if (deleted < TAGS) {
                snprintf(tag, sizeof tag, "t%u", deleted);
                CHECK(delete_tag(tag) == LARDER_OK);
                for (unsigned i = 0; i < KEYS; i++) {
                    model[i].present &= !(model[i].tags >> deleted & 1);
                }
            }
            CHECK(put(key, value, words, &stamp) == LARDER_OK);
            model[k].present = !(deleted < TAGS && tags >> deleted & 1);
            model[k].tags = tags;
            model[k].value = (uint64_t)round;
        } else if (r % 5000 == 0) {
            CHECK(larder_clear(cache) == LARDER_OK);
            memset(model, 0, sizeof model);
        } else if (r % 500 == 1) {
            larder_close(cache);
            cache = open_cache(1 << 20);
        }
        for (unsigned i = 0; i < 4; i++, k = (k + 17) % KEYS) {
            snprintf(key, sizeof key, "key %u", k);
            snprintf(value, sizeof value, "%llu", (unsigned long long)model[k].value);
            CHECK(is(cache, key, model[k].present ? value : NULL), "round %d, key %u", round, k);
            hits += model[k].present;
        }
    }
    CHECK(hits > 60000 && counts().forgotten_misses == 0 && sound(cache));
    larder_close(cache);
}

/* Tags have a version outside the cache. A deleter raises it, then deletes the tag, then says so. A reader that
 * finds an item of a version before the one that was said before its read has seen what was deleted. */
typedef struct {
    uint64_t version[TAGS], answered[TAGS];
    uint64_t reads, hits, deletions;
    uint32_t stop;
} race;

static uint64_t version_of(race *with, unsigned tag) {
    return __atomic_load_n(&with->version[tag], __ATOMIC_SEQ_CST);
}

static void fetch(race *with, unsigned tag, unsigned other) {
    char key[24], words[24], value[40];
    snprintf(key, sizeof key, "item %u %u", tag, other);
    snprintf(words, sizeof words, "t%u t%u", tag, other);
    unsigned long long mine = __atomic_load_n(&with->answered[tag], __ATOMIC_SEQ_CST), had[2];
    unsigned long long its = __atomic_load_n(&with->answered[other], __ATOMIC_SEQ_CST);
    const char *found = get(cache, key);
    __atomic_add_fetch(&with->reads, 1, __ATOMIC_RELAXED);
    if (found) {
        CHILD_CHECK(sscanf(found, "%llu %llu", &had[0], &had[1]) == 2 && had[0] >= mine && had[1] >= its);
        __atomic_add_fetch(&with->hits, 1, __ATOMIC_RELAXED);
        return;
    }
    larder_stamp stamp;
    CHILD_CHECK(larder_stamp_now(cache, &stamp) == LARDER_OK);
    snprintf(value, sizeof value, "%llu %llu", (unsigned long long)version_of(with, tag),
             (unsigned long long)version_of(with, other));
    larder_status status = put(key, value, words, &stamp);
    CHILD_CHECK(status == LARDER_OK || status == LARDER_NOT_STORED || status == LARDER_BUSY);
}

static void race_on(race *with, uint64_t seed) {
    char tag[8], filler[24];
    while (!__atomic_load_n(&with->stop, __ATOMIC_RELAXED)) {
        uint64_t r = next_random(&seed);
        unsigned one = r % TAGS;
        if ((r >> 8) % 16) {
            fetch(with, one, (r >> 16) % TAGS);
        } else if ((r >> 20) % 4) {
            snprintf(tag, sizeof tag, "t%u", one);
            uint64_t mine = __atomic_add_fetch(&with->version[one], 1, __ATOMIC_SEQ_CST);
            CHILD_CHECK(delete_tag(tag) == LARDER_OK);
            uint64_t said = __atomic_load_n(&with->answered[one], __ATOMIC_SEQ_CST);
            while (said < mine && !__atomic_compare_exchange_n(&with->answered[one], &said, mine, false,
                                                               __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            }
            __atomic_add_fetch(&with->deletions, 1, __ATOMIC_RELAXED);
        } else {
            snprintf(filler, sizeof filler, "f%u", (unsigned)(r >> 32) % 5000);
            CHILD_CHECK(delete_tag(filler) == LARDER_OK); /* so that the table forgets */
            set(cache, filler, "a value that fills the cache, so that others are evicted from time to time");
        }
        if (r % 200000 == 0) {
            larder_clear(cache);
        }
    }
}

static void processes_race_with_deletions_and_kills(void) {
    enum { PROCESSES = 4, KILLS = 60 };
    race *with = shared_memory(sizeof *with);
    pid_t pids[PROCESSES] = {0};
    uint64_t random = 7;
    begin(1 << 20);
    for (int kills = 0; kills < KILLS + PROCESSES; kills++) {
        int which = kills % PROCESSES;
        if (pids[which]) {
            sleep_us(3000 + next_random(&random) % 30000);
            kill(pids[which], SIGKILL);
            int status = wait_for(pids[which]);
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "it had found no fault");
        }
        if ((pids[which] = fork_child()) == 0) {
            race_on(with, next_random(&random) + (uint64_t)kills);
            _exit(0);
        }
    }
    sleep_us(200000);
    with->stop = 1;
    for (int i = 0; i < PROCESSES; i++) {
        CHECK(exited_well(pids[i]));
    }
    CHECK(with->hits > 1000 && with->deletions > 100, "%llu reads, %llu hits, %llu deletions",
          (unsigned long long)with->reads, (unsigned long long)with->hits, (unsigned long long)with->deletions);
    CHECK(sound(cache));
    larder_close(cache);
    munmap(with, sizeof *with);
}

static void a_full_table_deletes_too_much_rather_than_too_little(void) {
    enum { MANY = 12000 };
    char word[24];
    larder_stamp old;
    begin(1 << 20);
    CHECK(larder_stamp_now(cache, &old) == LARDER_OK);
    for (int i = 0; i < MANY; i++) {
        snprintf(word, sizeof word, "tag %d", i);
        CHECK(delete_tag(word) == LARDER_OK);
    }
    CHECK(counts().forgotten_tags > MANY / 2 && counts().table_bytes == 32 << 10);
    for (int i = 0; i < MANY; i++) {
        snprintf(word, sizeof word, "tag %d", i);
        larder_extra extra = {.tags = &(larder_tag){word, strlen(word)}, .tag_count = 1, .stamp = old};
        larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .extra = &extra};
        CHECK(larder_set(cache, &store, &at) == LARDER_OK && is(cache, "k", NULL), "%d", i);
    }
    CHECK(put("k", "v", "another", NULL) == LARDER_OK && is(cache, "k", "v"), "what is new stays");
    uint64_t before = counts().forgotten_misses;
    CHECK(put("k", "v", "never", &old) == LARDER_OK && is(cache, "k", NULL));
    CHECK(counts().forgotten_misses == before + 1 && sound(cache));
    larder_close(cache);
}

static void a_table_has_room_for_what_it_says(void) {
    enum { MEGABYTES = 64 };
    larder_stamp old;
    begin((uint64_t)MEGABYTES << 20);
    CHECK(larder_stamp_now(cache, &old) == LARDER_OK);
    for (uint32_t i = 0; i < MEGABYTES << 10; i++) { /* 256k deletions in 256 MiB */
        CHECK(larder_delete_tagged(cache, &(larder_tag){&i, sizeof i}, 1, &at) == LARDER_OK);
    }
    CHECK(counts().forgotten_tags == 0, "%llu", (unsigned long long)counts().forgotten_tags);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 2u * (MEGABYTES << 10); i++) { /* the second half was not deleted */
        larder_extra extra = {.tags = &(larder_tag){&i, sizeof i}, .tag_count = 1, .stamp = old};
        larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .extra = &extra};
        CHECK(larder_set(cache, &store, &at) == LARDER_OK);
        bool is_there = is(cache, "k", "v");
        CHECK(i >= MEGABYTES << 10 || !is_there);
        wrong += i >= MEGABYTES << 10 && !is_there;
    }
    CHECK(wrong == 0 && counts().table_bytes <= (MEGABYTES << 20) / 60, "%u", wrong);
    larder_close(cache);
}

static void a_count_of_deletions_that_outgrows_a_table_starts_it_anew(void) {
    larder_stamp old, later;
    begin(1 << 20);
    CHECK(delete_tag("t") == LARDER_OK && larder_stamp_now(cache, &old) == LARDER_OK);
    CHECK(put("k", "1", "u", NULL) == LARDER_OK && is(cache, "k", "1"));
    lard_store(&cache->core->map->control->stamp,
               lard_stamp_sealed(lard_stamp_now(cache->core->map) + LARD_CELL_STAMP_MASK));
    CHECK(larder_stamp_now(cache, &later) == LARDER_OK && put("m", "1", "u", &later) == LARDER_OK);
    CHECK(delete_tag("w") == LARDER_OK && sound(cache));
    CHECK(put("k", "2", "t", &old) == LARDER_OK && is(cache, "k", NULL));
    CHECK(put("k", "3", "t", NULL) == LARDER_OK && is(cache, "k", "3") && delete_tag("t") == LARDER_OK);
    CHECK(is(cache, "k", NULL));
    larder_close(cache);
}

static void flip(lard_u64 *word, uint64_t bits) { lard_store(word, lard_load(word) ^ bits); }

static void damage_takes_items_away_and_never_brings_them_back(void) {
    begin(1 << 20);
    lard_view view = lard_view_of(cache->core->map, 0);
    lard_u64 *header = &view.header->tags_floor, *counts_from = &view.header->tags_start;
    lard_u64 *pages = (lard_u64 *)&view.header->table_pages;
    for (int kind = 0; kind < 8; kind++) {
        CHECK(larder_clear(cache) == LARDER_OK && put("gone", "1", "t", NULL) == LARDER_OK);
        CHECK(put("stays", "2", "u", NULL) == LARDER_OK && delete_tag("t") == LARDER_OK && sound(cache));
        uint32_t segment = lard_directory_segment(&view, cache->core->map->super.segments_per_shard - 1);
        lard_u64 *table = lard_view_words(&view, lard_view_segment_offset(&view, segment));
        size_t words = cache->core->map->super.segment_bytes / 8;
        CHECK(lard_load(&view.segments[segment].state) == LARD_SEGMENT_TABLE);
        switch (kind) {
        case 0:
            memset((void *)table, 0, words * 8); /* as a hole in the file */
            break;
        case 1:
            flip(counts_from, 1ull << 40);
            break;
        case 2:
            flip(pages, 1);
            break;
        case 3:
            flip(header, 1ull << 30);
            break;
        case 4:
            memset((void *)view.header, 0, sizeof *view.header);
            break;
        case 5:
            lard_store(&view.directory[cache->core->map->super.segments_per_shard - 1], UINT32_MAX);
            break;
        case 6: /* each line in the place of another */
            memmove((void *)table, (void *)(table + 8), words * 8 - 64);
            break;
        default:
            for (size_t i = 0; i < words; i++) {
                flip(&table[i], 1ull << (i % 64));
            }
        }
        CHECK(is(cache, "gone", NULL), "%d", kind);
        CHECK(put("new", "3", "t", NULL) == LARDER_OK, "%d", kind);
        CHECK(put("new", "4", "t", NULL) == LARDER_OK && is(cache, "new", "4"), "%d: a store repairs it", kind);
        CHECK(is(cache, "gone", NULL) && delete_tag("t") == LARDER_OK && is(cache, "new", NULL), "%d", kind);
    }
    larder_close(cache);
}

/* A lower number would give a deletion an earlier stamp than the items that it deletes. */
static void a_damaged_number_of_deletions_keeps_no_item(void) {
    for (unsigned bit = 0; bit < 64; bit++) {
        larder_stamp before, after;
        begin(1 << 20);
        for (int i = 0; i < 5; i++) {
            CHECK(delete_tag("other") == LARDER_OK);
        }
        CHECK(larder_stamp_now(cache, &before) == LARDER_OK && put("k", "1", "t", NULL) == LARDER_OK);
        CHECK(put("gone", "1", "u", NULL) == LARDER_OK && delete_tag("u") == LARDER_OK && sound(cache));
        flip(&cache->core->map->control->stamp, 1ull << bit);
        CHECK(is(cache, "k", "1") && is(cache, "gone", NULL), "bit %u", bit);
        CHECK((bit & 1 ? delete_tag("t") : larder_stamp_now(cache, &after)) == LARDER_OK, "bit %u", bit);
        CHECK(is(cache, "k", NULL) && is(cache, "gone", NULL), "bit %u: the cache is cleared", bit);
        CHECK(put("k", "2", "t", &before) == LARDER_NOT_STORED, "a stamp of before is refused");
        CHECK(put("k", "3", "t", NULL) == LARDER_OK && is(cache, "k", "3"), "bit %u", bit);
        CHECK(larder_stamp_now(cache, &after) == LARDER_OK && after.number > before.number);
        CHECK(delete_tag("t") == LARDER_OK && is(cache, "k", NULL) && sound(cache), "bit %u", bit);
        larder_close(cache);
    }
}

/* Nor does a bit of a shard's epoch, whose deletions would not matter if it were of an earlier one. */
static void a_damaged_epoch_keeps_no_item(void) {
    for (unsigned bit = 0; bit < 64; bit++) {
        begin(64 << 20);
        char key[16];
        CHECK(delete_tag("t") == LARDER_OK);
        for (int i = 0; i < 40; i++) { /* in all shards */
            snprintf(key, sizeof key, "k%d", i);
            CHECK(put(key, "1", "t", NULL) == LARDER_OK && is(cache, key, "1"));
        }
        CHECK(delete_tag("t") == LARDER_OK);
        for (uint32_t shard = 0; shard < cache->core->map->super.shard_count; shard++) {
            lard_view view = lard_view_of(cache->core->map, shard);
            flip(&view.header->epoch, 1ull << bit);
            for (int i = 0; i < 40; i++) {
                snprintf(key, sizeof key, "k%d", i);
                CHECK(is(cache, key, NULL), "bit %u of shard %u", bit, shard);
            }
            CHECK(put("n", "1", "t", NULL) == LARDER_OK, "a store empties the shard or repairs its table");
            for (int i = 0; i < 40; i++) {
                snprintf(key, sizeof key, "k%d", i);
                CHECK(is(cache, key, NULL), "bit %u of shard %u", bit, shard);
            }
        }
        larder_close(cache);
    }
}

static void a_deletion_needs_no_lock_that_it_cannot_have(void) {
    begin(1 << 20);
    CHECK(put("a", "1", "t", NULL) == LARDER_OK && put("b", "2", "u", NULL) == LARDER_OK);
    CHECK(delete_tag("w") == LARDER_OK && is(cache, "a", "1"));
    lard_view view = lard_view_of(cache->core->map, 0);
    lard_store(&view.header->lock, cache->core->map->owner_word); /* as a thread of this process that is stopped */
    CHECK(delete_tag("t") == LARDER_OK && is(cache, "a", NULL));
    lard_store(&view.header->lock, 0);
    CHECK(is(cache, "a", NULL) && counts().forgotten_tags == 1);
    CHECK(put("a", "3", "t", NULL) == LARDER_OK && is(cache, "a", "3"));
    larder_close(cache);
}

static void pinned_items_may_leave_no_room_for_a_table(void) {
    static char value[16000];
    char key[24];
    larder_status status = LARDER_OK;
    begin(1 << 20);
    for (int i = 0; i < 100 && status == LARDER_OK; i++) {
        snprintf(key, sizeof key, "pinned %d", i);
        larder_store store = {
            .key = key, .key_bytes = strlen(key), .value = value, .value_bytes = sizeof value, .pin = 1};
        status = larder_set(cache, &store, &at);
    }
    CHECK(status == LARDER_PIN_FULL && put("k", "1", "t", NULL) == LARDER_OK && is(cache, "k", "1"));
    CHECK(delete_tag("t") == LARDER_OK && is(cache, "k", NULL));
    CHECK(put("k", "2", "t", NULL) == LARDER_OK);
    CHECK(is(cache, "k", "2"));
    CHECK(larder_exists(cache, "pinned 0", 8, NULL, &at) == LARDER_OK && sound(cache));
    larder_close(cache);
}

static void what_is_deleted_makes_room(void) {
    static char value[16000];
    char key[24];
    uint64_t dropped;
    larder_status status = LARDER_OK;
    begin(1 << 20);
    int pinned = 0;
    for (; status == LARDER_OK && pinned < 100; pinned++) {
        snprintf(key, sizeof key, "pinned %d", pinned);
        larder_extra extra = {.tags = &(larder_tag){"t", 1}, .tag_count = 1};
        larder_store store = {
            .key = key, .key_bytes = strlen(key), .value = value, .value_bytes = 15000, .pin = 1};
        store.extra = &extra;
        status = larder_set(cache, &store, &at);
    }
    CHECK(status == LARDER_PIN_FULL && pinned > 20 && delete_tag("t") == LARDER_OK);
    at.now_ms += 2000; /* what a refusal has counted is valid for a second */
    larder_store store = {.key = "other", .key_bytes = 5, .value = value, .value_bytes = 15000, .pin = 1};
    CHECK(larder_set(cache, &store, &at) == LARDER_OK && counts().pinned_bytes < 40000);
    CHECK(put("k", "1", "t", NULL) == LARDER_OK && put("m", "1", "u", NULL) == LARDER_OK);
    CHECK(delete_tag("t") == LARDER_OK && larder_prune(cache, &dropped, &at) == LARDER_OK && dropped == 1);
    CHECK(is(cache, "m", "1") && counts().items == 2 && sound(cache));
    larder_close(cache);
}

static void it_survives_a_close(void) {
    begin(20 << 20);
    CHECK(put("a", "1", "t", NULL) == LARDER_OK && put("b", "2", "u", NULL) == LARDER_OK);
    CHECK(delete_tag("t") == LARDER_OK);
    larder_close(cache);
    cache = open_cache(20 << 20);
    CHECK(is(cache, "a", NULL) && is(cache, "b", "2"));
    larder_close(cache);
}

static void an_unattached_handle_deletes_when_it_attaches(void) {
    begin(1 << 20);
    CHECK(put("a", "1", "t", NULL) == LARDER_OK && set(cache, "b", "2") == LARDER_OK);
    larder *first = cache;
    pid_t pid = fork_child();
    if (pid == 0) {
        larder_options options = {.attach_later = 1, .size_bytes = 1 << 20};
        larder_error error;
        char link_path[500];
        snprintf(link_path, sizeof link_path, "%s/./t.larder", test_directory); /* another handle */
        CHILD_CHECK(larder_open(link_path, &options, &cache, &error) == LARDER_OK);
        CHILD_CHECK(delete_tag("t") == LARDER_OK || larder_attached(cache) == 0);
        CHILD_CHECK(larder_attach(cache, 1000, &error) == LARDER_OK && is(cache, "a", NULL));
        CHILD_CHECK(is(cache, "b", "2"));
        _exit(0);
    }
    CHECK(exited_well(pid));
    CHECK(is(first, "a", NULL));
    larder_close(first);
}

static const test_case tests[] = {
    TEST(an_item_goes_with_each_of_its_tags, "an item goes with each of its tags"),
    TEST(a_tag_is_any_bytes, "a tag is any bytes"),
    TEST(bad_tags_are_refused, "bad tags are refused"),
    TEST(every_call_takes_a_deleted_item_for_absent, "every call takes a deleted item for absent"),
    TEST(a_value_computed_before_a_deletion_is_deleted, "a value computed before a deletion is deleted"),
    TEST(a_stamp_ends_with_a_clear_and_with_its_file, "a stamp ends with a clear, and with its file"),
    TEST(a_store_beside_clears_is_stored, "a store without a stamp is stored, also beside clears"),
    TEST(a_resize_keeps_tags, "a resize keeps tags"),
    TEST(large_and_pinned_and_moved_items_have_tags, "large items, and those that eviction moves, have tags"),
    TEST(a_stale_value_goes_with_its_tag, "a stale value goes with its tag"),
    TEST(a_value_under_a_lease_has_tags, "a value under a lease has tags"),
    TEST(a_touch_keeps_tags, "a touch keeps tags"),
    TEST(what_changes_an_item_leaves_its_tags, "what changes an item leaves its tags"),
    TEST(it_agrees_with_a_model, "stores, deletions and clears of 16 tags agree with a model"),
    TEST(processes_race_with_deletions_and_kills, "no process reads what was deleted, while others are killed"),
    TEST(a_full_table_deletes_too_much_rather_than_too_little, "a full table deletes too much, not too little"),
    TEST(a_table_has_room_for_what_it_says, "256k deletions in 256 MiB delete nothing else"),
    TEST(a_count_of_deletions_that_outgrows_a_table_starts_it_anew,
         "a number of deletions that a table cannot count starts it anew"),
    TEST(damage_takes_items_away_and_never_brings_them_back,
         "damage takes items away, and never brings them back"),
    TEST(a_damaged_number_of_deletions_keeps_no_item,
         "a damaged number of deletions keeps no item of a deleted tag"),
    TEST(a_damaged_epoch_keeps_no_item, "a damaged epoch of a shard keeps no item of a deleted tag"),
    TEST(a_deletion_needs_no_lock_that_it_cannot_have, "a deletion needs no lock that it cannot have"),
    TEST(pinned_items_may_leave_no_room_for_a_table, "pinned items may leave no room for a table"),
    TEST(what_is_deleted_makes_room, "what is deleted makes room: of pinned items, and by a prune"),
    TEST(it_survives_a_close, "it survives a close"),
    TEST(an_unattached_handle_deletes_when_it_attaches,
         "a handle that is not attached deletes the tag when it attaches, and nothing without tags"),
};

RUN("tags", tests)
