/*
 * counter.c — stores a 64-bit number so that a killed writer leaves the old one, and damage is detected.
 *
 * A counter has two cells of { value, sequence | seal }. A write goes to the cell that is not current, value
 * first; until its seal is stored, the old cell is current. Writers hold the shard's lock; readers hold none.
 */
#include "segment/counter.h"
#include "base/hash.h"
#include "base/pause.h"

#include <string.h>

static uint64_t seal(uint64_t value, uint64_t sequence, uint32_t crc) {
    uint64_t sealed = lard_hash_mix(value ^ lard_hash_mix(sequence << 32 | crc)) & LARD_CELL_SEAL_MASK;
    return sequence << LARD_CELL_SEAL_BITS | sealed;
}

/*
 * The current cell (0 or 1) with its value and sequence, or -1. A cell without a seal is a write that was not
 * finished. Any other invalid cell is damage, even beside a valid cell, which is then out of date. The first cell
 * is out of date too if both were written while the second was read.
 */
static int current(const lard_u64 *cells, uint32_t crc, uint64_t *value, uint64_t *sequence) {
    int best = -1;
    uint64_t sealed = 0;
    for (int i = 0; i < 2; i++) {
        uint64_t second = lard_load_acquire(&cells[2 * i + 1]);
        uint64_t number = lard_load_acquire(&cells[2 * i]);
        uint64_t order = second >> LARD_CELL_SEAL_BITS;
        if (second == 0) {
            continue;
        }
        if (second != seal(number, order, crc) || lard_load(&cells[2 * i + 1]) != second) {
            return -1;
        }
        if (best < 0 || (int16_t)(uint16_t)(order - *sequence) > 0) {
            best = i;
            sealed = second;
            *value = number;
            *sequence = order;
        }
    }
    return best >= 0 && lard_load(&cells[2 * best + 1]) == sealed ? best : -1;
}

void lard_counter_init(lard_u64 *cells, uint32_t crc, int64_t number) {
    lard_store(&cells[0], (uint64_t)number);
    lard_store(&cells[1], seal((uint64_t)number, 1, crc));
    lard_store(&cells[2], 0);
    lard_store(&cells[3], 0);
}

bool lard_counter_read(const lard_u64 *cells, uint32_t crc, int64_t *number) {
    uint64_t value = 0, sequence = 0;
    for (int attempt = 0; attempt < 64; attempt++) { /* two writes in a row can make both cells look invalid */
        if (current(cells, crc, &value, &sequence) >= 0) {
            *number = (int64_t)value;
            return true;
        }
        lard_pause();
    }
    return false;
}

bool lard_counter_valid(const lard_u64 *cells, uint32_t crc) {
    int64_t number;
    return lard_counter_read(cells, crc, &number);
}

void lard_counter_write(lard_u64 *cells, uint32_t crc, int64_t number) {
    uint64_t value = 0, sequence = 0;
    int target = current(cells, crc, &value, &sequence) == 0 ? 1 : 0;
    lard_store(&cells[2 * target + 1], 0); /* first remove the seal: see current */
    lard_fence_release();
    lard_store(&cells[2 * target], (uint64_t)number);
    lard_store_release(&cells[2 * target + 1], seal((uint64_t)number, (sequence + 1) & 0xffff, crc));
}

size_t lard_counter_text(int64_t number, char out[24]) {
    char digits[24];
    size_t count = 0, at = 0;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[count++] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (number < 0) {
        out[at++] = '-';
    }
    while (count) {
        out[at++] = digits[--count];
    }
    return at;
}

bool lard_counter_parse(const char *text, size_t bytes, int64_t *number) {
    bool negative = bytes && text[0] == '-';
    size_t i = negative || (bytes && text[0] == '+') ? 1 : 0;
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t sum = 0;
    if (i == bytes) {
        return false;
    }
    for (; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (sum > (limit - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    *number = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}
