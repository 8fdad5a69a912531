/*
 * parts_test.c — checks that a value in several parts is read only if its parts are those that were written with
 * it, also where a word that tells values apart is damaged.
 */
#include "harness.h"
#include "file/view.h"
#include "index/index.h"
#include "item/write.h"
#include "segment/record.h"

enum { SIZE = 16 << 20, LARGE = 200000 };

static larder *cache;
static char letters[LARGE], out[LARGE];

static uint64_t top_byte(const char *key) {
    return lard_key_of(cache->core->map, NULL, key, strlen(key)).hash.full >> LARD_SHARD_SHIFT;
}

/* A key whose large values have the same top byte in their ids as those of `key`. */
static const char *neighbour_of(const char *key) {
    static char other[32];
    int i = 0;
    do {
        snprintf(other, sizeof other, "other %d", i++);
    } while (top_byte(other) != top_byte(key));
    return other;
}

static larder_status put(const char *key, char letter) {
    memset(letters, letter, LARGE);
    return set_bytes(cache, key, letters, LARGE, 0);
}

/* The letter that the key's value consists of; 0: a miss; -1: it is mixed. */
static int letter_of(const char *key) {
    larder_item item;
    if (larder_get(cache, key, strlen(key), out, LARGE, &item, NULL) != LARDER_OK) {
        return 0;
    }
    for (size_t i = 0; i < LARGE; i++) {
        if (item.size_bytes != LARGE || out[i] != out[0]) {
            return -1;
        }
    }
    return out[0];
}

/* A bit of the incarnation of a process slot changes between two uses of the file. */
static void a_damaged_incarnation_gives_no_other_value(void) {
    for (unsigned bit = 0; bit < 32; bit++) {
        cache = open_cache(SIZE);
        uint32_t slot = cache->core->slot;
        const char *other = neighbour_of("alice");
        CHECK(put("alice", 'A') == LARDER_OK && letter_of("alice") == 'A');
        larder_close(cache);
        int fd = open(test_path("t.larder"), O_RDWR);
        uint32_t word;
        off_t at = LARD_PROCESS_OFFSET + (off_t)(slot * sizeof(lard_process));
        CHECK(fd >= 0 && pread(fd, &word, sizeof word, at) == sizeof word);
        word ^= 1u << bit;
        CHECK(pwrite(fd, &word, sizeof word, at) == sizeof word && close(fd) == 0);
        cache = open_cache(SIZE);
        CHECK(put(other, 'B') == LARDER_OK && letter_of(other) == 'B');
        CHECK(letter_of("alice") == 'A', "bit %u", bit);
        larder_close(cache);
        CHECK(unlink(test_path("t.larder")) == 0);
    }
}

/* Two values have one id, whatever the reason: one of them is a miss. */
static void two_values_of_one_id_are_not_mixed_up(void) {
    cache = open_cache(SIZE);
    const char *other = neighbour_of("alice");
    uint64_t number = cache->core->next_value_id;
    CHECK(put("alice", 'A') == LARDER_OK && letter_of("alice") == 'A');
    cache->core->next_value_id = number;
    CHECK(put(other, 'B') == LARDER_OK && letter_of(other) == 'B');
    CHECK(letter_of("alice") == 0);
    CHECK(larder_exists(cache, "alice", 5, NULL, NULL) == LARDER_MISS);
    larder_close(cache);
}

static lard_head head_of(const char *key) {
    lard_key wanted = lard_key_of(cache->core->map, NULL, key, strlen(key));
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &wanted.hash));
    lard_found found = lard_index_find(&view, &wanted);
    lard_record_info info;
    lard_head head = {{0, 0}, 0, 0, 0};
    if (found.slot && lard_record_of_slot(&view, found.value, &info)) {
        lard_record_head(&view, LARD_SLOT_OFFSET(found.value), &info, &head);
    }
    return head;
}

/* Puts a whole and valid chunk with other bytes in the place of one. */
static larder_status replace_chunk(const lard_head *head, uint64_t number, size_t bytes) {
    static char others[1 << 16];
    lard_chunk_key data = {{head->id[0], head->id[1]}, number};
    lard_key key = lard_key_of_chunk(cache->core->map, &data);
    memset(others, 'X', sizeof others);
    lard_write_op op = {.key = &key,
                        .spec = {.value = others, .value_bytes = bytes, .type = LARD_TYPE_CHUNK},
                        .condition = LARD_IF_ANY,
                        .now_ms = lard_clock_ms()};
    return lard_write(cache->core, cache->core->map, &op, NULL);
}

static size_t chunk_bytes(const lard_head *head, uint64_t number) {
    lard_chunk_key data = {{head->id[0], head->id[1]}, number};
    lard_key key = lard_key_of_chunk(cache->core->map, &data);
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &key.hash));
    lard_found found = lard_index_find(&view, &key);
    lard_record_info info;
    return found.slot && lard_record_of_slot(&view, found.value, &info) ? LARD_WORD0_VALUE_BYTES(info.word0) : 0;
}

static void a_chunk_that_was_not_written_with_the_head_is_none(void) {
    cache = open_cache(SIZE);
    CHECK(put("k", 'A') == LARDER_OK);
    uint32_t chunks = head_of("k").chunks;
    CHECK(chunks > 3);
    for (uint32_t i = 0; i < chunks; i++) {
        CHECK(put("k", 'A') == LARDER_OK && letter_of("k") == 'A');
        lard_head head = head_of("k");
        CHECK(replace_chunk(&head, i, chunk_bytes(&head, i)) == LARDER_OK);
        CHECK(letter_of("k") == 0 && letter_of("k") == 0, "chunk %u", i);
    }
    larder_close(cache);
}

/* The head of a leased value is in an extended record. */
static void nor_is_it_one_of_a_leased_value(void) {
    larder_lease lease = {0};
    larder_call stale = {.flags = LARDER_CALL_STALE};
    cache = open_cache(SIZE);
    CHECK(put("k", 'A') == LARDER_OK);
    CHECK(larder_lease_take(cache, "k", 1, 60000, &lease, NULL) == LARDER_NOT_STORED);
    CHECK(larder_lease_take(cache, "k", 1, 60000, &lease, NULL) == LARDER_OK && letter_of("k") == 'A');
    lard_head head = head_of("k");
    CHECK(head.chunks > 3 && replace_chunk(&head, 1, chunk_bytes(&head, 1)) == LARDER_OK);
    CHECK(larder_get(cache, "k", 1, out, LARGE, NULL, &stale) == LARDER_MISS);
    larder_close(cache);
}

/* Eviction, touches and resize change no checksum of a chunk. */
static void chunks_that_were_moved_or_touched_are_the_same(void) {
    char key[32];
    cache = open_cache(1 << 20);
    memset(letters, 'A', LARGE);
    CHECK(set_bytes(cache, "k", letters, 60000, 0) == LARDER_OK);
    for (int i = 0; i < 600; i++) {
        snprintf(key, sizeof key, "other %d", i);
        CHECK(larder_touch(cache, "k", 1, 60000 + i, NULL) == LARDER_OK);
        CHECK(larder_get(cache, "k", 1, out, LARGE, NULL, NULL) == LARDER_OK && !memcmp(out, letters, 60000), "%d",
              i);
        CHECK(set_bytes(cache, key, letters, 4000, 0) == LARDER_OK);
    }
    CHECK(larder_resize(cache, SIZE, LARDER_KEEP_ALL, NULL) == LARDER_OK);
    CHECK(larder_get(cache, "k", 1, out, LARGE, NULL, NULL) == LARDER_OK && !memcmp(out, letters, 60000));
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(a_damaged_incarnation_gives_no_other_value, "a damaged incarnation gives no key another one's value"),
    TEST(two_values_of_one_id_are_not_mixed_up, "two large values with one id are not mixed up"),
    TEST(a_chunk_that_was_not_written_with_the_head_is_none,
         "a chunk that was not written with the head is a miss"),
    TEST(nor_is_it_one_of_a_leased_value, "nor is such a chunk read for a value that has a lease"),
    TEST(chunks_that_were_moved_or_touched_are_the_same,
         "chunks that were moved or touched are still the value's"),
};
RUN("parts", tests)
