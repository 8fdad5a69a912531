/*
 * counter_test.c — checks the two cells of a counter: which is current, deaths, flipped bits, numbers as text.
 */
#include "harness.h"

static const uint32_t CRC = 0x1234abcd;

static void numbers_are_kept(void) {
    lard_u64 cells[4];
    int64_t have, numbers[] = {0, 1, -1, 42, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        lard_counter_init(cells, CRC, numbers[i]);
        CHECK(lard_counter_read(cells, CRC, &have) && have == numbers[i]);
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
            lard_counter_write(cells, CRC, numbers[j]);
            CHECK(lard_counter_read(cells, CRC, &have) && have == numbers[j]);
        }
        CHECK(!lard_counter_read(cells, CRC + 1, &have), "cells of another record");
    }
}

static void the_sequence_goes_round(void) {
    lard_u64 cells[4];
    int64_t have;
    lard_counter_init(cells, CRC, 0);
    for (int64_t i = 1; i <= 3 * 65536 + 5; i++) {
        lard_counter_write(cells, CRC, i);
        CHECK(lard_counter_read(cells, CRC, &have) && have == i, "%lld: %lld", (long long)i, (long long)have);
    }
}

/* A write makes three stores, in this order: the target's seal is cleared, its number set, its seal set. */
static void an_unfinished_write_leaves_the_old_number(void) {
    for (int writes = 0; writes < 4; writes++) {
        for (int stores = 0; stores <= 3; stores++) {
            lard_u64 before[4], after[4], torn[4];
            int64_t have;
            lard_counter_init(before, CRC, 100);
            for (int i = 0; i < writes; i++) {
                lard_counter_write(before, CRC, 101 + i);
            }
            memcpy(after, before, sizeof after);
            lard_counter_write(after, CRC, 500);
            int target = memcmp(before, after, 16) != 0 ? 0 : 1;
            CHECK(memcmp(&before[2 - 2 * target], &after[2 - 2 * target], 16) == 0,
                  "one cell is written at a time");
            memcpy(torn, before, sizeof torn);
            if (stores >= 1) {
                torn[2 * target + 1].raw_ = 0;
            }
            if (stores >= 2) {
                torn[2 * target] = after[2 * target];
            }
            if (stores >= 3) {
                torn[2 * target + 1] = after[2 * target + 1];
            }
            int64_t want = stores == 3 ? 500 : 100 + writes;
            CHECK(lard_counter_read(torn, CRC, &have) && have == want, "%d stores: %lld", stores, (long long)have);
            lard_counter_write(torn, CRC, 7);
            CHECK(lard_counter_read(torn, CRC, &have) && have == 7, "written again after %d stores", stores);
        }
    }
}

/* Both cells in use: whatever bit flips, the number is the present one or none, never an older one. */
static void every_flipped_bit_is_noticed(void) {
    lard_u64 cells[4];
    lard_counter_init(cells, CRC, 1000);
    for (int64_t number = 1001; number < 1004; number++) {
        lard_counter_write(cells, CRC, number);
        for (int bit = 0; bit < 256; bit++) {
            int64_t have = -1;
            cells[bit / 64].raw_ ^= 1ull << (bit % 64);
            bool readable = lard_counter_read(cells, CRC, &have);
            CHECK(!readable || have == number, "bit %d: %lld", bit, (long long)have);
            cells[bit / 64].raw_ ^= 1ull << (bit % 64);
        }
    }
}

static void text_goes_both_ways(void) {
    static const struct {
        const char *text;
        int64_t number;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"7", 7},
        {"+7", 7},
        {"-7", -7},
        {"007", 7},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    static const char *bad[] = {"",
                                "-",
                                "+",
                                "--1",
                                "1 ",
                                " 1",
                                "1.0",
                                "0x1",
                                "one",
                                "9223372036854775808",
                                "-9223372036854775809",
                                "99999999999999999999"};
    char text[24], want[24];
    int64_t number;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK(lard_counter_parse(good[i].text, strlen(good[i].text), &number) && number == good[i].number, "%s",
              good[i].text);
        size_t bytes = lard_counter_text(good[i].number, text);
        CHECK((int)bytes == snprintf(want, sizeof want, "%lld", (long long)good[i].number) &&
                  memcmp(text, want, bytes) == 0,
              "%s", want);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(!lard_counter_parse(bad[i], strlen(bad[i]), &number), "'%s'", bad[i]);
    }
    CHECK(!lard_counter_parse("1\0", 2, &number), "a NUL is no digit");
}

/* Cells on two pages: who reads the second cell meets a fault, and while it waits there others write. */
static lard_u64 *divided;

static void write_meanwhile(int signal_number) {
    (void)signal_number;
    mprotect((char *)divided + 16, lard_page_bytes(), PROT_READ | PROT_WRITE);
    lard_counter_write(divided, CRC, 3);
    lard_counter_write(divided, CRC, 4);
    lard_counter_write(divided, CRC, 5);
    lard_store(&divided[3], 0); /* and the first store of 6: the older cell, the second, is unsealed */
}

static void a_slow_reader_finds_no_older_number(void) {
    struct sigaction action = {.sa_handler = write_meanwhile}, segv, bus;
    size_t page = lard_page_bytes();
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int64_t have = 0;
    CHECK(pages != MAP_FAILED);
    divided = (lard_u64 *)(pages + page - 16);
    lard_counter_init(divided, CRC, 1);
    lard_counter_write(divided, CRC, 2); /* in the second cell */
    sigaction(SIGSEGV, &action, &segv);
    sigaction(SIGBUS, &action, &bus);
    mprotect(pages + page, page, PROT_NONE);
    bool read = lard_counter_read(divided, CRC, &have);
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGBUS, &bus, NULL);
    munmap(pages, 2 * page);
    CHECK(read && have >= 2, "2 was there when the read began; it says %lld", (long long)have);
}

static const test_case tests[] = {
    TEST(numbers_are_kept, "every number is kept, in cells of their own record"),
    TEST(the_sequence_goes_round, "the sequence of the cells goes round"),
    TEST(an_unfinished_write_leaves_the_old_number, "a write that stops at any store leaves the old number"),
    TEST(a_slow_reader_finds_no_older_number, "a reader that others overtake finds no number of before its time"),
    TEST(every_flipped_bit_is_noticed, "a flipped bit never brings back an older number"),
    TEST(text_goes_both_ways, "numbers are read from text and written as text"),
};
RUN("counter", tests)
