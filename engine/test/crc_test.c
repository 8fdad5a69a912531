/*
 * crc_test.c — checks CRC-32C against RFC 3720's examples, and the word loops against the byte loop.
 *
 * The word loops run by table, by instruction, and by both multiplications if this machine has them.
 */
#include "harness.h"

#include "base/crc_fold.h"

static uint32_t crc_of(const void *data, size_t bytes) { return ~lard_crc_bytes(0xffffffffu, data, bytes); }

static void published_values_come_out(void) {
    unsigned char block[32];
    lard_crc_init();
    CHECK(crc_of("123456789", 9) == 0xe3069283u, "the check value of CRC-32C");
    memset(block, 0, 32);
    CHECK(crc_of(block, 32) == 0x8a9136aau, "RFC 3720 B.4: zeros");
    memset(block, 0xff, 32);
    CHECK(crc_of(block, 32) == 0x62a8ab43u, "RFC 3720 B.4: ones");
    for (int i = 0; i < 32; i++) {
        block[i] = (unsigned char)i;
    }
    CHECK(crc_of(block, 32) == 0x46dd794eu, "RFC 3720 B.4: increasing");
    for (int i = 0; i < 32; i++) {
        block[i] = (unsigned char)(31 - i);
    }
    CHECK(crc_of(block, 32) == 0x113fdb5cu, "RFC 3720 B.4: decreasing");
}

static void fill(unsigned char *data, size_t bytes, uint64_t seed) {
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (unsigned char)next_random(&seed);
    }
}

/* What a run of words is worth: that of its bytes, the last word padded with zeros. */
static void words_are_worth_their_bytes_as_set(void) {
    enum { MOST = 200 };
    unsigned char data[MOST + 8], back[MOST + 8];
    lard_u64 words[MOST / 8 + 2];
    for (size_t bytes = 0; bytes <= MOST; bytes++) {
        size_t count = (bytes + 7) / 8;
        memset(data, 0, sizeof data);
        memset(words, 0xaa, sizeof words);
        fill(data, bytes, bytes);
        uint32_t want = lard_crc_bytes(0x12345678u, data, count * 8);
        CHECK(lard_crc_copy_in(0x12345678u, words, data, bytes) == want, "in, %zu bytes", bytes);
        CHECK(memcmp(words, data, count * 8) == 0, "%zu bytes", bytes);
        CHECK(words[count].raw_ == 0xaaaaaaaaaaaaaaaaull, "%zu bytes went too far", bytes);
        CHECK(lard_crc_shared(0x12345678u, words, count) == want, "shared, %zu bytes", bytes);
        uint32_t by_word = 0x12345678u;
        for (size_t i = 0; i < count; i++) {
            by_word = lard_crc_word(by_word, words[i].raw_);
        }
        CHECK(by_word == want, "word by word, %zu bytes", bytes);
        memset(back, 0xbb, sizeof back);
        CHECK(lard_crc_copy_out(0x12345678u, words, 0, back, bytes) == want, "out, %zu bytes", bytes);
        CHECK(memcmp(back, data, bytes) == 0 && back[bytes] == 0xbb, "out, %zu bytes", bytes);
    }
}

static void words_are_worth_their_bytes(void) {
    lard_crc_init();
    words_are_worth_their_bytes_as_set();
}

static void a_value_may_start_inside_a_word_as_set(void) {
    enum { MOST = 80 };
    unsigned char data[MOST + 16], back[MOST + 8];
    lard_u64 words[MOST / 8 + 3];
    for (size_t skip = 0; skip < 8; skip++) {
        for (size_t bytes = 0; bytes <= MOST; bytes++) {
            size_t count = (skip + bytes + 7) / 8;
            memset(data, 0, sizeof data);
            fill(data, skip + bytes, bytes * 8 + skip);
            memcpy(words, data, count * 8);
            memset(back, 0xbb, sizeof back);
            uint32_t crc = lard_crc_copy_out(7, words, skip, back, bytes);
            CHECK(crc == lard_crc_bytes(7, data, count * 8), "%zu after %zu", bytes, skip);
            CHECK(memcmp(back, data + skip, bytes) == 0 && back[bytes] == 0xbb, "%zu after %zu", bytes, skip);
        }
    }
}

static void a_value_may_start_inside_a_word(void) {
    lard_crc_init();
    a_value_may_start_inside_a_word_as_set();
}

/* Runs around the lengths at which faster loops take over, at every alignment of the private side. */
static void long_runs(void) {
    enum { MOST = 4096 };
    static unsigned char data[MOST * 8 + 16], back[MOST * 8 + 24];
    static lard_u64 words[MOST + 2];
    static const size_t counts[] = {0,  1,  31,  32,  33,  34,  47,  48,  49,  63,  64,   65,   95,  96,
                                    97, 98, 191, 192, 193, 767, 768, 769, 863, 864, 1537, 2500, 4095};
    fill(data, sizeof data, 11);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (size_t skip = 0; skip < 8; skip++) {
            for (size_t rest = 0; rest < 8; rest += 1 + c % 3) {
                size_t bytes = counts[c] * 8 + rest;
                size_t whole = (skip + bytes + 7) / 8;
                memset(words, 0, sizeof words);
                uint32_t in = lard_crc_copy_in(skip == 7 ? 0 : 0xffffffffu, words, data + skip, bytes);
                CHECK(memcmp(words, data + skip, bytes) == 0 && words[(bytes + 7) / 8].raw_ == 0, "%zu", bytes);
                CHECK(in == lard_crc_bytes(skip == 7 ? 0 : 0xffffffffu, words, (bytes + 7) / 8 * 8), "%zu", bytes);
                CHECK(in == lard_crc_shared(skip == 7 ? 0 : 0xffffffffu, words, (bytes + 7) / 8), "%zu", bytes);
                memset(words, 0, sizeof words);
                memcpy(words, data, skip + bytes);
                memset(back, 0xbb, sizeof back);
                uint32_t out = lard_crc_copy_out(3, words, skip, back + 7 - skip, bytes);
                CHECK(out == lard_crc_bytes(3, words, whole * 8), "out, %zu after %zu", bytes, skip);
                CHECK(memcmp(back + 7 - skip, data + skip, bytes) == 0 && back[7 - skip + bytes] == 0xbb &&
                          (skip == 7 || back[6 - skip] == 0xbb),
                      "out, %zu after %zu", bytes, skip);
            }
        }
    }
}

static void long_runs_are_worth_their_bytes(void) {
    lard_crc_init();
    long_runs();
}

static void all_ways(void) {
    words_are_worth_their_bytes_as_set();
    a_value_may_start_inside_a_word_as_set();
    long_runs();
}

static void all_ways_agree(void) {
    lard_crc_init();
    bool hardware = lard_crc_hardware;
    while (lard_crc_folds) {
        lard_crc_folds = lard_crc_folds > 32 ? 32 : 0;
        all_ways();
    }
    lard_crc_hardware = false;
    all_ways();
    lard_crc_init();
    CHECK(lard_crc_hardware == hardware, "restored");
}

static void every_flipped_bit_is_noticed(void) {
    unsigned char data[1024];
    lard_u64 words[sizeof data / 8];
    fill(data, sizeof data, 5);
    lard_crc_init();
    uint32_t crc = lard_crc_copy_in(0xffffffffu, words, data, sizeof data);
    for (size_t bit = 0; bit < sizeof data * 8; bit++) {
        words[bit / 64].raw_ ^= 1ull << (bit % 64);
        CHECK(lard_crc_shared(0xffffffffu, words, sizeof data / 8) != crc, "bit %zu", bit);
        words[bit / 64].raw_ ^= 1ull << (bit % 64);
    }
}

static const test_case tests[] = {
    TEST(published_values_come_out, "CRC-32C gives the published values"),
    TEST(words_are_worth_their_bytes, "words are worth their bytes, copied in, out, or only read"),
    TEST(a_value_may_start_inside_a_word, "a value may start and end inside a word"),
    TEST(long_runs_are_worth_their_bytes, "long runs are worth their bytes, wherever they begin and end"),
    TEST(all_ways_agree, "the table and the instruction alone give what the multiplication gives"),
    TEST(every_flipped_bit_is_noticed, "every flipped bit is noticed"),
};
RUN("crc", tests)
