/*
 * record_test.c — writes, reads and moves one record, and flips each of its bits.
 */
#include "harness.h"

enum { SEGMENT = 32768, FROM = 4096 };

static const uint64_t GENERATION = 0x1234567890;

static unsigned char memory[FROM + 2 * SEGMENT] __attribute__((aligned(64)));
static lard_map map;

/* A shard without a file: two segments. */
static lard_view bare_shard(void) {
    memset(&map, 0, sizeof map);
    map.super.segment_bytes = SEGMENT;
    map.super.segments_per_shard = 2;
    map.super.data_offset = FROM;
    lard_format_derive(&map);
    map.short_record = map.chunk_record = map.record_limit = 8192;
    lard_crc_init();
    return (lard_view){.map = &map, .base = memory};
}

static void what_was_written_is_read(void) {
    static unsigned char key[LARDER_MAX_KEY + 1], value[8192], have[8192], have_key[LARDER_MAX_KEY + 8];
    static const size_t keys[] = {0, 1, 3, 7, 8, 9, 15, 16, 250, 4094, 4095};
    lard_view view = bare_shard();
    describe(key, sizeof key, 1, 1);
    describe(value, sizeof value, 2, 2);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        for (size_t bytes = 0; bytes < 3000; bytes += bytes < 40 ? 1 : 311) {
            const lard_key whole_key = {.data = key, .bytes = keys[k]};
            lard_record_spec spec = {.value = value,
                                     .value_bytes = bytes,
                                     .expiry_ms = bytes * 1000,
                                     .type = LARD_TYPE_PLAIN,
                                     .flags = (unsigned)bytes & 0xff,
                                     .configuration = (unsigned)bytes % 8};
            lard_record_info info;
            memset(memory, 0xa5, sizeof memory);
            lard_record_write(&view, FROM, GENERATION, &whole_key, &spec);
            uint64_t whole = lard_record_bytes(LARD_TYPE_PLAIN, keys[k], bytes);
            CHECK(whole % 8 == 0 && memory[FROM + whole] == 0xa5 && memory[FROM - 1] == 0xa5,
                  "it keeps to its bytes");
            CHECK(lard_record_info_at(&view, FROM, GENERATION, &info), "%zu, %zu", keys[k], bytes);
            CHECK(!lard_record_info_at(&view, FROM, GENERATION + 1, &(lard_record_info){0}), "of another life");
            CHECK(info.expiry_ms == bytes * 1000 && LARD_WORD1_FLAGS(info.word1) == (bytes & 0xff) &&
                  LARD_WORD0_VALUE_BYTES(info.word0) == bytes);
            CHECK(lard_record_is_key(&view, FROM, &info, &whole_key));
            const lard_key chunk = {.data = key, .bytes = keys[k], .is_chunk = true};
            const lard_key shorter = {.data = key, .bytes = keys[k] - 1},
                           other = {.data = key + 1, .bytes = keys[k]};
            CHECK(!lard_record_is_key(&view, FROM, &info, &chunk), "chunks are apart");
            CHECK(keys[k] == 0 || !lard_record_is_key(&view, FROM, &info, &shorter));
            CHECK(keys[k] == 0 || !lard_record_is_key(&view, FROM, &info, &other) || keys[k] < 2);
            CHECK(lard_record_read(&view, FROM, &info, have, bytes) == LARDER_OK && !memcmp(have, value, bytes));
            CHECK(bytes == 0 || lard_record_read(&view, FROM, &info, have, bytes - 1) == LARDER_BUFFER_TOO_SMALL);
            lard_record_copy_key(&view, FROM, &info, have_key);
            CHECK(memcmp(have_key, key, keys[k]) == 0);

            uint64_t to = FROM + SEGMENT + 64;
            lard_record_move(&view, FROM, &info, to, 99);
            CHECK(lard_record_info_at(&view, to, 99, &info) && !lard_record_info_at(&view, to, GENERATION, &info));
            CHECK(lard_record_info_at(&view, to, 99, &info) && info.expiry_ms == bytes * 1000);
            CHECK(lard_record_read(&view, to, &info, have, bytes) == LARDER_OK && !memcmp(have, value, bytes));
            lard_record_set_expiry(&view, lard_slot_make(to, 0, 99), &info, 777);
            CHECK(lard_record_info_at(&view, to, 99, &info) && info.expiry_ms == 777);
            CHECK(LARD_WORD1_FLAGS(info.word1) == (bytes & 0xff) &&
                  LARD_WORD1_CONFIGURATION(info.word1) == bytes % 8);
            CHECK(lard_record_read(&view, to, &info, have, bytes) == LARDER_OK);
        }
    }
}

/* Whatever bit is flipped: no record, another key, damage, or the same value. */
static void every_flipped_bit_is_noticed(void) {
    unsigned char value[61], have[8192];
    lard_view view = bare_shard();
    lard_record_info info;
    describe(value, sizeof value, 3, 3);
    const lard_key key = {.data = "key of it", .bytes = 9};
    lard_record_spec spec = {.value = value,
                             .value_bytes = sizeof value,
                             .expiry_ms = 1700000000000,
                             .type = LARD_TYPE_PLAIN,
                             .flags = 3,
                             .configuration = 5};
    lard_record_write(&view, FROM, 7, &key, &spec);
    uint64_t whole = lard_record_bytes(LARD_TYPE_PLAIN, 9, sizeof value);
    int noticed = 0;
    for (uint64_t bit = 0; bit < whole * 8; bit++) {
        memory[FROM + bit / 8] ^= (unsigned char)(1 << bit % 8);
        bool read = lard_record_info_at(&view, FROM, 7, &info) && lard_record_is_key(&view, FROM, &info, &key) &&
                    lard_record_read(&view, FROM, &info, have, sizeof have) == LARDER_OK;
        CHECK(!read, "bit %d of byte %d", (int)(bit % 8), (int)(bit / 8));
        noticed++;
        memory[FROM + bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    CHECK(noticed == (int)whole * 8 && lard_record_info_at(&view, FROM, 7, &info) &&
          lard_record_read(&view, FROM, &info, have, sizeof have) == LARDER_OK);
}

/* Each flipped bit of a record's two words, and of its origin, by the seal alone. */
static void the_seal_notices_every_flipped_bit(void) {
    uint64_t state = 42;
    for (int round = 0; round < 20000; round++) {
        uint64_t word0 = round % 4 ? next_random(&state) : (uint64_t)round << 32;
        uint64_t origin = (round % 3 ? next_random(&state) : (uint64_t)round) & LARD_ORIGIN_MASK;
        uint64_t word1 = lard_record_sealed(word0, round % 5 ? next_random(&state) : (uint64_t)round, origin);
        CHECK(lard_record_is_sealed(word0, word1, origin));
        for (unsigned bit = 0; bit < 64; bit++) {
            uint64_t flip = 1ull << bit;
            CHECK(!lard_record_is_sealed(word0 ^ flip, word1, origin) &&
                      !lard_record_is_sealed(word0, word1 ^ flip, origin),
                  "bit %u of a word", bit);
            CHECK(flip > LARD_ORIGIN_MASK || !lard_record_is_sealed(word0, word1, origin ^ flip),
                  "bit %u of an origin", bit);
        }
    }
}

/* Why that holds for all words: see lard_record_seal_of. */
static void the_factor_of_seals_has_no_long_run_of_a_bit(void) {
    const uint64_t mask = (1u << LARD_SEAL_BITS) - 1;
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t top = (LARD_SEAL_FACTOR << bit) >> LARD_SEAL_SHIFT;
        CHECK(top != 0 && top != mask, "bit %u", bit);
    }
}

static void no_record_reaches_out_of_its_segment(void) {
    lard_view view = bare_shard();
    lard_record_info info;
    static unsigned char value[8000];
    const lard_key key = {.data = "k", .bytes = 1};
    lard_record_spec spec = {.value = value, .value_bytes = sizeof value, .type = LARD_TYPE_PLAIN};
    uint64_t whole = lard_record_bytes(LARD_TYPE_PLAIN, 1, sizeof value);
    lard_record_write(&view, FROM + SEGMENT - whole, 1, &key, &spec);
    CHECK(lard_record_info_at(&view, FROM + SEGMENT - whole, 1, &info), "up to the last byte");
    lard_record_write(&view, FROM + SEGMENT - whole + 8, 1, &key, &spec);
    CHECK(!lard_record_info_at(&view, FROM + SEGMENT - whole + 8, 1, &info), "and no further");
    CHECK(!lard_record_info_at(&view, 0, 1, &info) && !lard_record_info_at(&view, FROM - 8, 1, &info));
    CHECK(!lard_record_info_at(&view, FROM + 2 * SEGMENT, 1, &info) &&
          !lard_record_info_at(&view, FROM + SEGMENT - 8, 1, &info));
    CHECK(!lard_record_info_at(&view, 1ull << 32, 1, &info) &&
          !lard_record_info_at(&view, UINT64_MAX - 7, 1, &info));
    memset(memory + FROM, 0, SEGMENT);
    CHECK(!lard_record_info_at(&view, FROM, 1, &info), "zeros are no record");
    memset(memory + FROM, 0xff, SEGMENT);
    CHECK(!lard_record_info_at(&view, FROM, 1, &info), "ones are no record");
}

static const test_case tests[] = {
    TEST(what_was_written_is_read, "what was written is read, moved, and given another expiry"),
    TEST(every_flipped_bit_is_noticed, "every flipped bit of a record is noticed"),
    TEST(the_seal_notices_every_flipped_bit, "the seal notices every flipped bit of the words it covers"),
    TEST(the_factor_of_seals_has_no_long_run_of_a_bit, "the factor of seals has no 11 equal bits in a row"),
    TEST(no_record_reaches_out_of_its_segment, "no record reaches out of its segment"),
};
RUN("record", tests)
