/* large_test.c — values in chunks, read while they are overwritten. */
#include "children.h"

enum { BYTES = 200000, ENOUGH_READS = 400, LONGEST_US = 20000000 };

static void overwritten_while_read(void) {
    larder *cache = open_cache(16 << 20);
    static unsigned char value[BYTES];
    uint64_t stamp;
    describe(value, BYTES, 1, 1);
    CHECK(set_bytes(cache, "large", value, BYTES, 0) == LARDER_OK);
    uint32_t *enough = shared_memory(sizeof *enough);
    pid_t writer = fork_child();
    if (writer == 0) {
        int64_t until = now_us() + LONGEST_US;
        for (uint64_t round = 2; !__atomic_load_n(enough, __ATOMIC_ACQUIRE) && now_us() < until; round++) {
            describe(value, BYTES, 1, round);
            if (set_bytes(cache, "large", value, BYTES, 0) != LARDER_OK) {
                _exit(1);
            }
        }
        _exit(0);
    }
    int status = 0;
    unsigned long misses = 0, reads = 0;
    while (waitpid(writer, &status, WNOHANG) == 0) {
        larder_item item;
        larder_status got = larder_get(cache, "large", 5, value, BYTES, &item, NULL);
        misses += got == LARDER_MISS;
        CHECK(got == LARDER_MISS || (item.size_bytes == BYTES && describes(value, BYTES, 1, &stamp)));
        if (++reads == ENOUGH_READS) {
            advance(enough);
        }
    }
    munmap(enough, sizeof *enough);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && reads >= ENOUGH_READS, "%lu reads", reads);
    CHECK(misses * 50 < reads, "%lu misses of %lu reads", misses, reads);
    CHECK(sound(cache));
    larder_close(cache);
}

/* Stores a large value and drops one of its chunks, as eviction does. */
static void store_and_lose_a_chunk(larder *cache, const char *name) {
    static unsigned char value[BYTES];
    describe(value, BYTES, 1, 1);
    CHECK(set_bytes(cache, name, value, BYTES, 0) == LARDER_OK);
    lard_map *map = cache->core->map;
    lard_key large = lard_key_of(map, NULL, name, strlen(name));
    lard_view view = lard_view_of(map, lard_hash_shard(map, &large.hash));
    lard_found found = lard_index_find(&view, &large);
    lard_record_info info;
    lard_head head;
    CHECK(lard_record_of_slot(&view, found.value, &info));
    lard_record_head(&view, LARD_SLOT_OFFSET(found.value), &info, &head);
    CHECK(head.value_bytes == BYTES);
    lard_chunk_key data = {{head.id[0], head.id[1]}, 3};
    lard_key chunk = lard_key_of_chunk(map, &data);
    lard_view other = lard_view_of(map, lard_hash_shard(map, &chunk.hash));
    CHECK(lard_index_delete(&other, &chunk, 0, NULL));
}

static uint64_t items(larder *cache) {
    larder_stats stats;
    return larder_get_stats(cache, &stats) == LARDER_OK ? stats.items : UINT64_MAX;
}

static void a_missing_chunk_is_a_miss(void) {
    larder *cache = open_cache(8 << 20);
    static unsigned char value[BYTES];
    store_and_lose_a_chunk(cache, "large");
    CHECK(larder_get(cache, "large", 5, value, BYTES, NULL, NULL) == LARDER_MISS);
    CHECK(larder_exists(cache, "large", 5, NULL, NULL) == LARDER_MISS, "its head goes with it");
    CHECK(items(cache) == 0, "and so do its other chunks");
    larder_close(cache);
}

static larder_status store_small(larder *cache, const char *name, larder_mode mode) {
    larder_store store = {.key = name, .key_bytes = strlen(name), .value = "1", .value_bytes = 1, .mode = mode};
    return larder_set(cache, &store, NULL);
}

static void a_missing_chunk_is_a_miss_for_calls_that_read_no_value(void) {
    larder *cache = open_cache(8 << 20);
    int64_t result;
    store_and_lose_a_chunk(cache, "exists");
    CHECK(larder_exists(cache, "exists", 6, NULL, NULL) == LARDER_MISS);
    store_and_lose_a_chunk(cache, "touch");
    CHECK(larder_touch(cache, "touch", 5, 1000, NULL) == LARDER_MISS);
    store_and_lose_a_chunk(cache, "replace");
    CHECK(store_small(cache, "replace", LARDER_REPLACE) == LARDER_NOT_STORED);
    CHECK(items(cache) == 0, "the rest of each was dropped");
    store_and_lose_a_chunk(cache, "add");
    CHECK(store_small(cache, "add", LARDER_ADD) == LARDER_OK);
    store_and_lose_a_chunk(cache, "increment");
    CHECK(larder_increment(cache, "increment", 9, 2, 5, 0, &result, NULL) == LARDER_OK && result == 7);
    CHECK(items(cache) == 2);
    CHECK(sound(cache));
    larder_close(cache);
}

/* How many keys are listed; SIZE_MAX: an error. */
static size_t listed(larder *cache) {
    char keys[LARDER_MAX_KEY + 4];
    uint64_t cursor = 0;
    size_t count, used, sum = 0;
    do {
        if (larder_scan(cache, &cursor, "", 0, keys, sizeof keys, &count, &used, NULL) != LARDER_OK) {
            return SIZE_MAX;
        }
        sum += count;
    } while (cursor);
    return sum;
}

static void a_missing_chunk_is_not_listed(void) {
    larder *cache = open_cache(8 << 20);
    static unsigned char value[BYTES];
    CHECK(set_bytes(cache, "whole", value, BYTES, 0) == LARDER_OK);
    CHECK(listed(cache) == 1);
    store_and_lose_a_chunk(cache, "lost");
    CHECK(listed(cache) == 1, "it is a miss for get");
    larder_close(cache);
}

static void a_whole_large_value_is_present_for_them(void) {
    larder *cache = open_cache(8 << 20);
    static unsigned char value[BYTES];
    larder_item item;
    int64_t result;
    CHECK(set_bytes(cache, "large", value, BYTES, 0) == LARDER_OK);
    CHECK(larder_exists(cache, "large", 5, &item, NULL) == LARDER_OK && item.size_bytes == BYTES);
    CHECK(larder_touch(cache, "large", 5, 1000000, NULL) == LARDER_OK);
    CHECK(store_small(cache, "large", LARDER_ADD) == LARDER_NOT_STORED);
    CHECK(larder_increment(cache, "large", 5, 1, 0, 0, &result, NULL) == LARDER_NOT_A_NUMBER);
    CHECK(larder_get(cache, "large", 5, value, BYTES, NULL, NULL) == LARDER_OK);
    CHECK(store_small(cache, "large", LARDER_REPLACE) == LARDER_OK);
    CHECK(items(cache) == 1, "the replaced chunks are gone");
    larder_close(cache);
}

/* Values of a few chunks that begin in one segment and end in the third. About one in a hundred thousand is lost
 * here: its key has a ghost or a value in the main queue, so that its chunks go there, and the search for room for
 * the last ones comes round to the first. With one segment less in the small queue it is one in ten thousand. */
static void the_newest_value_of_a_few_chunks_is_there(void) {
    enum { ROUNDS = 250000, KEYS = 350, LONGEST = 30000 };
    static unsigned char value[LONGEST];
    larder *cache = open_cache(1 << 20);
    uint64_t random = 7;
    int lost = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t keys[3];
        for (int n = 0; n < 3; n++) {
            keys[n] = (uint32_t)next_random(&random) % KEYS;
        }
        larder_store store = {.key = &keys[0],
                              .key_bytes = sizeof keys[0],
                              .value = value,
                              .value_bytes = 1000 + next_random(&random) % (LONGEST - 1000)};
        CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
        lost += larder_get(cache, &keys[0], sizeof keys[0], value, LONGEST, NULL, NULL) != LARDER_OK;
        larder_get(cache, &keys[1], sizeof keys[1], value, LONGEST, NULL, NULL);
        larder_get(cache, &keys[2], sizeof keys[2], value, LONGEST, NULL, NULL);
    }
    CHECK(lost <= 8, "%d values were lost at once", lost);
    larder_close(cache);
}

/* In a cache that has room for few values, of all lengths. */
static void stores_find_what_was_just_read(void) {
    enum { ROUNDS = 6000, KEYS = 20 };
    static unsigned char value[BYTES];
    larder *cache = open_cache(1 << 20);
    uint64_t random = 1;
    int lost = 0, added = 0, unreplaced = 0, denied = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t key = (uint32_t)next_random(&random) % KEYS;
        larder_store store = {.key = &key,
                              .key_bytes = sizeof key,
                              .value = value,
                              .value_bytes = next_random(&random) % (larder_max_value(cache) + 1)};
        bool was_there = larder_get(cache, &key, sizeof key, value, BYTES, NULL, NULL) == LARDER_OK;
        store.mode = !was_there ? LARDER_SET : i % 2 ? LARDER_ADD : LARDER_REPLACE;
        larder_status status = larder_set(cache, &store, NULL);
        added += store.mode == LARDER_ADD && status == LARDER_OK;
        if (store.mode == LARDER_REPLACE && status != LARDER_OK) {
            unreplaced++;
            denied += larder_exists(cache, &key, sizeof key, NULL, NULL) == LARDER_OK;
        }
        lost += status == LARDER_OK && larder_get(cache, &key, sizeof key, value, BYTES, NULL, NULL) != LARDER_OK;
    }
    CHECK(lost == 0, "%d values were lost at once", lost);
    CHECK(added == 0, "%d were added over a value", added);
    CHECK(denied == 0, "%d are there and were not replaced", denied);
    /* Where all items were read often, one of them must go: in 1 of 40,000 replacements the one to replace. */
    CHECK(unreplaced <= 2, "%d that were there were not replaced", unreplaced);
    CHECK(sound(cache));
    larder_close(cache);
}

static uint32_t frees(larder *cache) {
    uint32_t all = 0;
    for (uint32_t s = 0; s < cache->core->map->super.shard_count; s++) {
        all += lard_load(&lard_view_of(cache->core->map, s).header->free_segments);
    }
    return all;
}

static void chunks_fill_segments_to_their_ends(void) {
    enum { LARGE = 20000, SMALL = 1100 };
    larder *cache = open_cache(16 << 20);
    static unsigned char value[LARGE];
    CHECK(set(cache, "first", "value") == LARDER_OK, "an untouched shard has no segments yet");
    uint32_t before = frees(cache);
    uint64_t bytes = 0;
    for (int i = 0; i < 400; i++) {
        char key[20];
        snprintf(key, sizeof key, "large %d", i);
        describe(value, LARGE, (uint64_t)i, 1);
        CHECK(set_bytes(cache, key, value, LARGE, 0) == LARDER_OK);
        CHECK(set_bytes(cache, key + 1, value, SMALL, 0) == LARDER_OK, "small ones in between");
        bytes += LARGE + SMALL;
    }
    uint64_t used = (uint64_t)(before - frees(cache)) * cache->core->map->super.segment_bytes;
    CHECK(used < bytes + bytes / 50 + 2 * cache->core->map->super.segment_bytes, "%d bytes in segments for %d",
          (int)used, (int)bytes);
    for (int i = 0; i < 400; i++) {
        char key[20];
        uint64_t stamp;
        larder_item item;
        snprintf(key, sizeof key, "large %d", i);
        CHECK(larder_get(cache, key, strlen(key), value, LARGE, &item, NULL) == LARDER_OK &&
                  item.size_bytes == LARGE && describes(value, LARGE, (uint64_t)i, &stamp),
              "%d", i);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static void a_try_call_stores_all_chunks(void) {
    static unsigned char value[200000];
    larder *cache = open_cache(16 << 20);
    larder_call only_try = {.flags = LARDER_CALL_TRY};
    larder_store store = {.key = "large", .key_bytes = 5, .value = value, .value_bytes = sizeof value};
    uint64_t stamp;
    describe(value, sizeof value, 1, 7);
    CHECK(larder_set(cache, &store, &only_try) == LARDER_OK);
    CHECK(larder_get(cache, "large", 5, value, sizeof value, NULL, NULL) == LARDER_OK &&
          describes(value, sizeof value, 1, &stamp) && stamp == 7);
    larder_close(cache);
}

static void a_long_value_is_one_record_where_it_fits(void) {
    enum { LONG = 11000, VALUES = 64 };
    larder *cache = open_cache(16 << 20);
    static unsigned char value[LONG];
    int heads = 0;
    for (int i = 0; i < VALUES; i++) {
        char key[20];
        lard_record_info info;
        size_t bytes = (size_t)snprintf(key, sizeof key, "long %d", i);
        describe(value, LONG, (uint64_t)i, 1);
        CHECK(set_bytes(cache, key, value, LONG, 0) == LARDER_OK);
        lard_key named = lard_key_of(cache->core->map, NULL, key, bytes);
        lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &named.hash));
        lard_found found = lard_index_find(&view, &named);
        CHECK(found.slot && lard_record_of_slot(&view, found.value, &info));
        heads += LARD_WORD0_TYPE(info.word0) == LARD_TYPE_HEAD;
    }
    CHECK(heads > VALUES / 10 && heads < VALUES / 4, "of six in a segment, the last is cut: %d are", heads);
    for (int i = 0; i < VALUES; i++) {
        char key[20];
        uint64_t stamp;
        snprintf(key, sizeof key, "long %d", i);
        CHECK(larder_get(cache, key, strlen(key), value, LONG, NULL, NULL) == LARDER_OK &&
                  describes(value, LONG, (uint64_t)i, &stamp),
              "%d", i);
    }
    CHECK(sound(cache));
    larder_close(cache);
}

static void values_leave_whole(void) {
    enum { LARGE = 60000, VALUES = 2000 };
    larder *cache = open_cache(32 << 20);
    static unsigned char value[LARGE];
    larder_stats stats;
    int found = 0;
    for (int i = 0; i < VALUES; i++) {
        char key[20];
        snprintf(key, sizeof key, "large %d", i);
        CHECK(set_bytes(cache, key, value, LARGE, 0) == LARDER_OK);
        snprintf(key, sizeof key, "large %d", i - i % 7 / 2 * 50);
        larder_get(cache, key, strlen(key), value, LARGE, NULL, NULL);
    }
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK);
    for (int i = 0; i < VALUES; i++) {
        char key[20];
        snprintf(key, sizeof key, "large %d", i);
        found += larder_get(cache, key, strlen(key), value, LARGE, NULL, NULL) == LARDER_OK;
    }
    uint64_t live = (uint64_t)found * LARGE, room = cache->core->map->super.file_bytes;
    CHECK(live > room * 85 / 100, "%d values are whole, %d %% of the file", found, (int)(live * 100 / room));
    CHECK(sound(cache));
    larder_close(cache);
}

static void the_first_group_stands_with_its_head(void) {
    enum { LARGE = 60000, VALUES = 100 };
    larder *cache = open_cache(64 << 20);
    static unsigned char value[LARGE];
    for (int i = 0; i < VALUES; i++) {
        char key[20];
        size_t bytes = (size_t)snprintf(key, sizeof key, "large %d", i);
        CHECK(set_bytes(cache, key, value, LARGE, 0) == LARDER_OK);
        lard_key large = lard_key_of(cache->core->map, NULL, key, bytes);
        lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &large.hash));
        lard_found found = lard_index_find(&view, &large);
        lard_record_info info;
        lard_head head;
        CHECK(found.slot && lard_record_of_slot(&view, found.value, &info));
        lard_record_head(&view, LARD_SLOT_OFFSET(found.value), &info, &head);
        lard_chunk_key chunk = {{head.id[0], head.id[1]}, 0};
        lard_hash first = lard_hash_key(cache->core->map, &chunk, sizeof chunk, true);
        CHECK(lard_hash_shard(cache->core->map, &first) == view.number, "value %d", i);
    }
    larder_close(cache);
}

static void a_group_of_chunks_has_one_shard(void) {
    larder *cache = open_cache(64 << 20);
    lard_chunk_key key = {{77, 2ull << LARD_SHARD_SHIFT | 3}, 0};
    uint32_t seen = 0, last = 0;
    CHECK(cache->core->map->super.shard_count == 4);
    for (key.number = 0; key.number < 64 * LARD_CHUNK_GROUP; key.number++) {
        lard_hash hash = lard_hash_key(cache->core->map, &key, sizeof key, true);
        uint32_t shard = lard_hash_shard(cache->core->map, &hash);
        CHECK(key.number % LARD_CHUNK_GROUP == 0 || shard == last);
        CHECK(key.number || shard == 2, "the first group has the shard that its id names");
        seen |= 1u << shard;
        last = shard;
    }
    CHECK(seen == 15, "groups are spread over all");
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(chunks_fill_segments_to_their_ends, "chunks leave no room at the ends of segments"),
    TEST(a_try_call_stores_all_chunks, "a call that only tries stores a large value whose locks are free"),
    TEST(a_long_value_is_one_record_where_it_fits, "a value of up to 3/16 of a segment is one record if it fits"),
    TEST(values_leave_whole, "a value's chunks leave together"),
    TEST(the_first_group_stands_with_its_head, "the first chunks of a value stand in the shard of its key"),
    TEST(a_group_of_chunks_has_one_shard, "a group of chunks stands in one shard, groups are spread"),
    TEST(overwritten_while_read, "a large value that is only overwritten is hardly ever a miss"),
    TEST(a_missing_chunk_is_a_miss, "a large value that lost a chunk is a miss and leaves nothing behind"),
    TEST(a_missing_chunk_is_not_listed, "a large value that lost a chunk is not among the keys"),
    TEST(a_missing_chunk_is_a_miss_for_calls_that_read_no_value,
         "exists, touch, replace, add and increment find no large value that lost a chunk"),
    TEST(the_newest_value_of_a_few_chunks_is_there, "a value of a few chunks that was just stored is there"),
    TEST(stores_find_what_was_just_read, "a store of a large value evicts neither itself nor what it depends on"),
    TEST(a_whole_large_value_is_present_for_them, "exists, touch, add and increment find a whole large value"),
};
RUN("large", tests)
