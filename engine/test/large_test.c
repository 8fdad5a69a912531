/* large_test.c — values in chunks, read while they are overwritten. */
#include "harness.h"

enum { BYTES = 200000 };

static void overwritten_while_read(void) {
    larder *cache = open_cache(16 << 20);
    static unsigned char value[BYTES];
    uint64_t stamp;
    describe(value, BYTES, 1, 1);
    CHECK(set_bytes(cache, "large", value, BYTES, 0) == LARDER_OK);
    pid_t writer = fork();
    if (writer == 0) {
        for (uint64_t round = 2; round < 600; round++) {
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
        reads++;
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0 && reads > 100, "%lu reads", reads);
    CHECK(misses * 50 < reads, "%lu misses of %lu reads", misses, reads);
    CHECK(sound(cache));
    larder_close(cache);
}

static void a_missing_chunk_is_a_miss(void) {
    larder *cache = open_cache(8 << 20);
    static unsigned char value[BYTES];
    describe(value, BYTES, 1, 1);
    CHECK(set_bytes(cache, "large", value, BYTES, 0) == LARDER_OK);
    lard_map *map = cache->map;
    lard_hash hash = lard_hash_key(map, "large", 5, false);
    lard_view view = lard_view_of(map, lard_hash_shard(map, &hash));
    lard_found found = lard_index_find(&view, &hash, "large", 5, false);
    lard_record_info info;
    lard_head head;
    CHECK(lard_record_info_at(&view, LARD_SLOT_OFFSET(found.value), &info));
    lard_record_head(&view, LARD_SLOT_OFFSET(found.value), &info, &head);
    CHECK(head.value_bytes == BYTES);
    lard_chunk_key key = {{head.id[0], head.id[1]}, 3};
    lard_hash chunk = lard_hash_key(map, &key, sizeof key, true);
    lard_view other = lard_view_of(map, lard_hash_shard(map, &chunk));
    CHECK(lard_index_delete(&other, &chunk, &key, sizeof key, true, 0, NULL));
    CHECK(larder_get(cache, "large", 5, value, BYTES, NULL, NULL) == LARDER_MISS);
    CHECK(larder_exists(cache, "large", 5, NULL, NULL) == LARDER_MISS, "its head goes with it");
    larder_stats stats;
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.items == 0, "and so do its other chunks");
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(overwritten_while_read, "a large value that is only overwritten is hardly ever a miss"),
    TEST(a_missing_chunk_is_a_miss, "a large value that lost a chunk is a miss and leaves nothing behind"),
};
RUN("large", tests)
