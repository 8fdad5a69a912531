/*
 * get_test.c — checks larder_get and larder_get_multi: every length, both checksums, keys that look alike.
 *
 * The index also changes under this process's directory cache.
 */
#include "children.h"

#include <setjmp.h>

enum { MOST_KEY = 41, MOST_VALUE = 41, COUNT = 64 };

static unsigned char key_bytes_of[MOST_KEY + 8], value_bytes_of[4096];

/* One and many at once answer the same: the value, its size, nothing beyond it; or too small a buffer. */
static bool both_give(larder *cache, const void *key, size_t key_bytes, const void *want, size_t bytes) {
    unsigned char one[4096 + 16], many[4096 + 16];
    larder_item item;
    memset(one, 0x5a, sizeof one);
    memset(many, 0x5a, sizeof many);
    larder_lookup lookups[2] = {
        {.key = key, .key_bytes = key_bytes, .buffer = many, .buffer_bytes = bytes},
        {.key = key, .key_bytes = key_bytes, .buffer = many + bytes + 1, .buffer_bytes = bytes ? bytes - 1 : 0},
    };
    bool fit = larder_get(cache, key, key_bytes, one, bytes, &item, NULL) == LARDER_OK &&
               item.size_bytes == bytes && item.flags == (uint8_t)bytes && !item.is_counter &&
               memcmp(one, want, bytes) == 0 && one[bytes] == 0x5a;
    larder_get_multi(cache, lookups, 2, NULL);
    return fit && lookups[0].status == LARDER_OK && lookups[0].item.size_bytes == bytes &&
           memcmp(many, want, bytes) == 0 && many[bytes] == 0x5a &&
           lookups[1].status == (bytes ? LARDER_BUFFER_TOO_SMALL : LARDER_OK) &&
           lookups[1].item.size_bytes == bytes;
}

static bool all_lengths(larder *cache) {
    for (size_t k = 0; k < MOST_KEY; k++) {
        for (size_t v = 0; v < 1200; v += v < MOST_VALUE ? 1 : 97) {
            larder_store store = {.key = key_bytes_of,
                                  .key_bytes = k,
                                  .value = value_bytes_of + k,
                                  .value_bytes = v,
                                  .ttl_ms = v % 2 ? 60000 : 0,
                                  .flags = (uint8_t)v};
            if (larder_set(cache, &store, NULL) != LARDER_OK ||
                !both_give(cache, key_bytes_of, k, value_bytes_of + k, v)) {
                fprintf(stderr, "  key of %zu bytes, value of %zu\n", k, v);
                return false;
            }
            key_bytes_of[k] ^= 1; /* as long, or longer, but not the key */
            unsigned char none[4096];
            larder_status longer = larder_get(cache, key_bytes_of, k + 1, none, sizeof none, NULL, NULL);
            key_bytes_of[k] ^= 1;
            if (longer != LARDER_MISS) {
                fprintf(stderr, "  a key of %zu bytes was found for one of %zu\n", k, k + 1);
                return false;
            }
        }
    }
    return true;
}

static void every_length_comes_back(void) {
    larder *cache = open_cache(4 << 20);
    describe(key_bytes_of, sizeof key_bytes_of, 1, 2);
    describe(value_bytes_of, sizeof value_bytes_of, 3, 4);
    CHECK(cache && all_lengths(cache), "as this machine takes checksums");
    bool hardware = lard_crc_hardware;
    lard_crc_hardware = false;
    larder_clear(cache);
    bool by_table = all_lengths(cache);
    lard_crc_hardware = hardware;
    CHECK(by_table, "by table");
    CHECK(sound(cache));
    larder_close(cache);
}

/* Two numbered keys of one shard, one fingerprint, and a bucket that they have in common while the index is small.
 */
static bool find_twins(larder *cache, char one[32], char other[32]) {
    enum { MOST = 60000, BUCKETS = 64 };
    static lard_hash hashes[MOST];
    static int last_of_fingerprint[65536];
    memset(last_of_fingerprint, 0, sizeof last_of_fingerprint);
    for (int i = 1; i < MOST; i++) {
        snprintf(one, 32, "twin %d", i);
        hashes[i] = lard_hash_key(cache->core->map, one, strlen(one), false);
        for (int j = last_of_fingerprint[hashes[i].fingerprint]; j; j = 0) {
            bool shard =
                lard_hash_shard(cache->core->map, &hashes[i]) == lard_hash_shard(cache->core->map, &hashes[j]);
            if (shard && hashes[i].first % BUCKETS == hashes[j].first % BUCKETS) {
                snprintf(other, 32, "twin %d", j);
                return true;
            }
        }
        last_of_fingerprint[hashes[i].fingerprint] = i;
    }
    return false;
}

static void keys_of_one_fingerprint_are_told_apart(void) {
    larder *cache = open_cache(1 << 20);
    char one[32], other[32];
    CHECK(cache && find_twins(cache, one, other));
    CHECK(set(cache, one, "first") == LARDER_OK);
    CHECK(is(cache, other, NULL), "the other's fingerprint is there, the other is not");
    CHECK(set(cache, other, "second") == LARDER_OK);
    CHECK(is(cache, one, "first") && is(cache, other, "second"));
    char buffers[2][16];
    larder_lookup lookups[2] = {
        {.key = one, .key_bytes = strlen(one), .buffer = buffers[0], .buffer_bytes = 16},
        {.key = other, .key_bytes = strlen(other), .buffer = buffers[1], .buffer_bytes = 16},
    };
    larder_get_multi(cache, lookups, 2, NULL);
    CHECK(lookups[0].status == LARDER_OK && memcmp(buffers[0], "first", 5) == 0);
    CHECK(lookups[1].status == LARDER_OK && memcmp(buffers[1], "second", 6) == 0);
    CHECK(larder_delete(cache, one, strlen(one), NULL) == LARDER_OK);
    CHECK(is(cache, one, NULL) && is(cache, other, "second"));
    larder_close(cache);
}

static void fill_in_a_child(larder *cache, int from, int to, const char *value) {
    pid_t pid = fork_child();
    if (pid == 0) {
        for (int i = from; i < to; i++) {
            char key[32];
            snprintf(key, sizeof key, "key %d", i);
            CHILD_CHECK(set(cache, key, value) == LARDER_OK);
        }
        _exit(0);
    }
    CHECK(exited_well(pid));
}

/* The child makes the index grow by pages and empties shards; the parent has only its copy of what was before. */
static void an_index_that_another_process_changed_is_followed(void) {
    enum { MANY = 60000 };
    larder *cache = open_cache(32 << 20);
    CHECK(cache && set(cache, "key 0", "old") == LARDER_OK && is(cache, "key 0", "old"));
    fill_in_a_child(cache, 1, MANY, "new");
    lard_view view = lard_view_of(cache->core->map, 0);
    CHECK(lard_load(&view.header->index_pages) > 1, "the index has more pages than at first");
    for (int i = 1; i < MANY; i++) {
        char key[32];
        snprintf(key, sizeof key, "key %d", i);
        CHECK(is(cache, key, "new"), "%s", key);
    }
    CHECK(is(cache, "key 0", "old") && is(cache, "nowhere", NULL));
    CHECK(larder_clear(cache) == LARDER_OK && is(cache, "key 5", NULL));
    fill_in_a_child(cache, 100, 200, "newest");
    for (int i = 0; i < 300; i++) {
        char key[32];
        snprintf(key, sizeof key, "key %d", i);
        CHECK(is(cache, key, i >= 100 && i < 200 ? "newest" : NULL), "%s", key);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

/* A fork while a thread renews the copy leaves the mark of that in the child. */
static void a_renewal_cut_short_by_a_fork_starts_again(void) {
    larder *cache = open_cache(1 << 20);
    CHECK(cache && set(cache, "a", "1") == LARDER_OK && is(cache, "a", "1"));
    cache->core->map->renewals[0].renewing = lard_fork_number() + 1;
    pid_t pid = fork_child();
    if (pid == 0) {
        for (uint32_t s = 0; s < cache->core->map->super.shard_count; s++) {
            cache->core->map->dircache[s].epoch = 0;
        }
        CHILD_CHECK(is(cache, "a", "1") && is(cache, "b", NULL));
        for (int i = 0; i < 100; i++) {
            char key[32];
            snprintf(key, sizeof key, "key %d", i);
            CHILD_CHECK(is(cache, key, NULL));
        }
        CHILD_CHECK(cache->core->map->dircache[0].epoch != 0 && cache->core->map->renewals[0].renewing == 0);
        _exit(0);
    }
    CHECK(exited_well(pid));
    CHECK(is(cache, "a", "1"), "and in the parent reads go on without");
    larder_close(cache);
}

static void all_kinds_come_through_many_at_once(void) {
    larder *cache = open_cache(8 << 20);
    static unsigned char large[200000], back[200000];
    static char keys[COUNT][16], buffers[COUNT][32];
    larder_lookup lookups[COUNT + 1];
    int64_t sum;
    describe(large, sizeof large, 9, 9);
    CHECK(cache && set_bytes(cache, "large", large, sizeof large, 0) == LARDER_OK);
    CHECK(larder_increment(cache, "count", 5, 41, 0, 0, &sum, NULL) == LARDER_OK);
    for (int i = 0; i < COUNT; i++) {
        snprintf(keys[i], sizeof keys[i], i == 7 ? "count" : i == 9 ? "gone" : "key %d", i);
        CHECK(i == 7 || i == 9 || set(cache, keys[i], keys[i]) == LARDER_OK);
        lookups[i] = (larder_lookup){
            .key = keys[i], .key_bytes = strlen(keys[i]), .buffer = buffers[i], .buffer_bytes = sizeof buffers[i]};
    }
    lookups[11].key_bytes = LARDER_MAX_KEY + 1;
    lookups[COUNT] = (larder_lookup){.key = "large", .key_bytes = 5, .buffer = back, .buffer_bytes = sizeof back};
    larder_stats before, after;
    CHECK(larder_get_stats(cache, &before) == LARDER_OK);
    CHECK(larder_get_multi(cache, lookups, COUNT + 1, NULL) == LARDER_OK);
    CHECK(larder_get_stats(cache, &after) == LARDER_OK);
    for (int i = 0; i < COUNT; i++) {
        larder_status want = i == 9 ? LARDER_MISS : i == 11 ? LARDER_KEY_TOO_LONG : LARDER_OK;
        const char *text = i == 7 ? "41" : keys[i];
        CHECK(lookups[i].status == want, "%d: %s", i, larder_status_name(lookups[i].status));
        CHECK(want != LARDER_OK ||
                  (lookups[i].item.size_bytes == strlen(text) && !memcmp(buffers[i], text, strlen(text)) &&
                   lookups[i].item.is_counter == (i == 7)),
              "%d", i);
    }
    CHECK(lookups[COUNT].status == LARDER_OK && memcmp(back, large, sizeof large) == 0);
    CHECK(after.hits - before.hits == COUNT - 1 && after.misses - before.misses == 1);
    larder_close(cache);
}

typedef struct {
    unsigned char memory[40000];
    size_t asked[4], most; /* lengths that were asked for, and what there is */
    uint8_t flags;         /* of the last */
    unsigned times;
    jmp_buf *leave; /* not NULL: by longjmp */
} pool;

static void *take(void *context, size_t bytes, uint8_t flags) {
    pool *this = context;
    this->asked[this->times++ & 3] = bytes;
    this->flags = flags;
    if (this->leave) {
        longjmp(*this->leave, 1);
    }
    return bytes <= this->most ? this->memory : NULL;
}

static larder_status get_from_pool(larder *cache, const char *key, unsigned char *buffer, size_t bytes, pool *from,
                                   larder_item *item) {
    from->times = 0;
    larder_allocator more = {take, from};
    return larder_get_allocated(cache, key, strlen(key), buffer, bytes, &more, item, NULL);
}

static void a_long_value_is_copied_into_memory_that_is_asked_for(void) {
    static unsigned char value[40000], buffer[100];
    static const size_t lengths[] = {100, 101, 6000, sizeof value}; /* fits; a record; a long one; in chunks */
    static pool pool = {.most = sizeof pool.memory};
    larder *cache = open_cache(16 << 20);
    larder_item item;
    int64_t sum;
    describe(value, sizeof value, 5, 6);
    CHECK(cache && get_from_pool(cache, "k", buffer, sizeof buffer, &pool, &item) == LARDER_MISS &&
          pool.times == 0);
    for (size_t i = 0; i < 4; i++) {
        size_t bytes = lengths[i];
        bool fits = bytes <= sizeof buffer;
        CHECK(set_bytes(cache, "k", value, bytes, 0) == LARDER_OK);
        CHECK(get_from_pool(cache, "k", buffer, sizeof buffer, &pool, &item) == LARDER_OK, "%zu bytes", bytes);
        CHECK(item.size_bytes == bytes && pool.times == !fits && (fits || pool.asked[0] == bytes));
        CHECK(memcmp(fits ? buffer : pool.memory, value, bytes) == 0, "%zu bytes", bytes);
        CHECK(get_from_pool(cache, "k", NULL, 0, &pool, &item) == LARDER_OK && pool.asked[0] == bytes);
        CHECK(memcmp(pool.memory, value, bytes) == 0, "%zu bytes, no buffer", bytes);
        pool.most = bytes - 1;
        CHECK(get_from_pool(cache, "k", NULL, 0, &pool, &item) == LARDER_BUFFER_TOO_SMALL && pool.times == 1);
        CHECK(item.size_bytes == bytes, "%zu bytes, refused", bytes);
        pool.most = sizeof pool.memory;
    }
    CHECK(larder_increment(cache, "count", 5, -42, 0, 0, &sum, NULL) == LARDER_OK);
    CHECK(get_from_pool(cache, "count", NULL, 0, &pool, &item) == LARDER_OK && item.is_counter);
    CHECK(pool.asked[0] == 3 && memcmp(pool.memory, "-42", 3) == 0);
    CHECK(larder_get_allocated(cache, "k", 1, NULL, 0, NULL, &item, NULL) == LARDER_BUFFER_TOO_SMALL &&
          item.size_bytes == sizeof value);
    larder_close(cache);
}

static void long_values_of_many_are_copied_into_memory_that_is_asked_for(void) {
    enum { COUNT = 4 };
    static unsigned char value[40000], buffers[COUNT][100];
    static const size_t lengths[COUNT] = {100, 101, 6000, sizeof value};
    static pool pools[COUNT];
    larder_allocator more[COUNT];
    larder_lookup lookups[COUNT];
    larder *cache = open_cache(16 << 20);
    describe(value, sizeof value, 5, 6);
    for (size_t i = 0; i < COUNT; i++) {
        static const char *const keys[COUNT] = {"a", "b", "c", "d"};
        larder_store store = {
            .key = keys[i], .key_bytes = 1, .value = value, .value_bytes = lengths[i], .flags = (uint8_t)(i + 7)};
        CHECK(cache && larder_set(cache, &store, NULL) == LARDER_OK);
        pools[i] = (pool){.most = i == 2 ? 5999 : sizeof value};
        more[i] = (larder_allocator){take, &pools[i]};
        lookups[i] = (larder_lookup){
            .key = keys[i], .key_bytes = 1, .buffer = buffers[i], .buffer_bytes = 100, .more = &more[i]};
    }
    CHECK(larder_get_multi(cache, lookups, COUNT, NULL) == LARDER_OK);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(lookups[i].status == (i == 2 ? LARDER_BUFFER_TOO_SMALL : LARDER_OK) &&
              lookups[i].item.size_bytes == lengths[i]);
        CHECK(pools[i].times == (i > 0) &&
              (i == 0 || (pools[i].asked[0] == lengths[i] && pools[i].flags == i + 7)));
        CHECK(i == 2 || memcmp(i == 0 ? buffers[i] : pools[i].memory, value, lengths[i]) == 0, "%zu", i);
    }
    larder_close(cache);
}

static void asking_for_memory_may_end_the_read(void) {
    static unsigned char value[40000];
    static pool pool;
    larder *cache = open_cache(16 << 20);
    jmp_buf out;
    pool.leave = &out;
    for (size_t bytes = 6000; bytes <= sizeof value; bytes += sizeof value - 6000) {
        CHECK(cache && set_bytes(cache, "k", value, bytes, 0) == LARDER_OK);
        if (setjmp(out) == 0) {
            get_from_pool(cache, "k", NULL, 0, &pool, NULL);
            CHECK(false, "it came back");
        }
        CHECK(set(cache, "other", "value") == LARDER_OK && is(cache, "other", "value") && sound(cache));
    }
    larder_close(cache);
}

static struct { int to[2], from[2]; /* pipes */ } writer;

/* Another process replaces the value by one of 200, 6000 or 40000 bytes, in turn, whenever it is asked to. */
static void replace_in_turn(void) {
    static unsigned char value[40000];
    static const size_t lengths[] = {6000, sizeof value, 200};
    char one;
    larder *own = open_cache(16 << 20);
    for (unsigned i = 0; read(writer.to[0], &one, 1) == 1; i++) {
        size_t bytes = lengths[i % 3];
        memset(value, (int)(bytes % 251), bytes);
        CHILD_CHECK(set_bytes(own, "k", value, bytes, 0) == LARDER_OK && write(writer.from[1], "", 1) == 1);
    }
    larder_close(own);
}

static bool replace(void) {
    char one;
    return write(writer.to[1], "", 1) == 1 && read(writer.from[0], &one, 1) == 1;
}

static void *take_while_it_is_replaced(void *context, size_t bytes, uint8_t flags) {
    void *memory = take(context, bytes, flags);
    return ((pool *)context)->times > 1 || replace() ? memory : NULL;
}

static void a_value_that_is_replaced_meanwhile_is_read_whole(void) {
    static const size_t wanted[] = {40000, 200, 6000}; /* what 6000, 40000 and 200 are replaced by */
    static pool pool = {.most = sizeof pool.memory};
    static const larder_allocator more = {take_while_it_is_replaced, &pool};
    larder *cache = open_cache(16 << 20);
    larder_item item;
    CHECK(cache && pipe(writer.to) == 0 && pipe(writer.from) == 0);
    pid_t child = fork_child();
    if (child == 0) {
        close(writer.to[1]);
        replace_in_turn();
        _exit(0);
    }
    CHECK(replace());
    for (unsigned i = 0; i < 9; i++) {
        pool.times = 0;
        CHECK(larder_get_allocated(cache, "k", 1, NULL, 0, &more, &item, NULL) == LARDER_OK);
        CHECK(item.size_bytes == wanted[i % 3] && pool.times == (i % 3 == 1 ? 1 : 2), "%zu bytes after %u calls",
              item.size_bytes, pool.times);
        for (size_t at = 0; at < item.size_bytes; at++) {
            CHECK(pool.memory[at] == item.size_bytes % 251, "byte %zu of %zu", at, item.size_bytes);
        }
    }
    close(writer.to[1]);
    CHECK(exited_well(child));
    close(writer.to[0]);
    close(writer.from[0]);
    close(writer.from[1]);
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(every_length_comes_back, "keys and values of every length come back, whichever way checksums are taken"),
    TEST(keys_of_one_fingerprint_are_told_apart, "keys of one fingerprint in one bucket are told apart"),
    TEST(an_index_that_another_process_changed_is_followed, "an index that another process changed is followed"),
    TEST(a_renewal_cut_short_by_a_fork_starts_again, "a renewal cut short by a fork starts again in the child"),
    TEST(all_kinds_come_through_many_at_once, "values of all kinds come through many at once, and are counted"),
    TEST(a_long_value_is_copied_into_memory_that_is_asked_for,
         "a long value is copied into memory that is asked for"),
    TEST(long_values_of_many_are_copied_into_memory_that_is_asked_for,
         "long values of many are copied into memory that is asked for, once each"),
    TEST(asking_for_memory_may_end_the_read, "asking for memory may end the read by longjmp"),
    TEST(a_value_that_is_replaced_meanwhile_is_read_whole,
         "a value that is replaced while memory is asked for is read whole"),
};
RUN("get", tests)
