/*
 * record.c — writing and reading single records (layout.h draws them).
 *
 * Writers hold the shard's lock and write only beyond the segment's write offset.
 * Readers hold nothing: whatever they load may be changing, so each length is
 * checked against the segment before it is used, and what is copied counts only
 * once read.c has found the slot unchanged.
 */
#include "internal.h"

#include <string.h>

#define CRC_START 0xffffffffu

static uint64_t seal_expiry(uint64_t expiry_ms, uint32_t crc) {
    uint64_t seal = lard_mix(expiry_ms ^ (uint64_t)crc << 32 ^ 0x9e37u) >> LARD_EXPIRY_BITS;
    return (expiry_ms & LARD_EXPIRY_MASK) | seal << LARD_EXPIRY_BITS;
}

static size_t key_words(const lard_record_info *info) {
    return LARD_ALIGN8(LARD_WORD2_KEY_BYTES(info->word2)) / 8;
}

bool lard_record_info_at(const lard_view *view, uint64_t offset, lard_record_info *info) {
    const lard_map *map = view->map;
    uint64_t start = map->super.data_offset;
    uint64_t size = (uint64_t)map->super.segments_per_shard << map->segment_shift;
    if (LARD_UNLIKELY(offset < start || offset - start >= size)) {
        return false;
    }
    uint64_t left = map->super.segment_bytes - ((offset - start) & (map->super.segment_bytes - 1));
    if (LARD_UNLIKELY(left < LARD_RECORD_HEADER)) {
        return false;
    }
    const lard_u64 *words = lard_words(view, offset);
    uint64_t first = lard_load(&words[0]);
    uint64_t second = lard_load(&words[1]);
    info->crc = (uint32_t)first;
    info->generation = (uint32_t)(first >> 32);
    info->word2 = lard_load(&words[2]);
    info->expiry_ms = second & LARD_EXPIRY_MASK;
    unsigned type = LARD_WORD2_TYPE(info->word2);
    if (LARD_UNLIKELY(second != seal_expiry(info->expiry_ms, info->crc) || type < LARD_TYPE_PLAIN ||
                      type > LARD_TYPE_CHUNK)) {
        return false;
    }
    return lard_record_bytes(type, LARD_WORD2_KEY_BYTES(info->word2), LARD_WORD2_VALUE_BYTES(info->word2)) <= left;
}

bool lard_record_is_key(const lard_view *view, uint64_t offset, const lard_record_info *info, const void *key,
                        size_t key_bytes, bool is_chunk) {
    if (LARD_WORD2_KEY_BYTES(info->word2) != key_bytes ||
        (LARD_WORD2_TYPE(info->word2) == LARD_TYPE_CHUNK) != is_chunk) {
        return false;
    }
    const lard_u64 *words = lard_words(view, offset + LARD_RECORD_HEADER);
    const unsigned char *want = key;
    uint64_t mine;
    size_t i = 0;
    for (; (i + 1) * 8 <= key_bytes; i++) {
        memcpy(&mine, want + i * 8, 8);
        if (lard_load(&words[i]) != mine) {
            return false;
        }
    }
    size_t rest = key_bytes & 7;
    if (rest) {
        mine = 0;
        memcpy(&mine, want + i * 8, rest);
        return ((lard_load(&words[i]) ^ mine) << (64 - rest * 8)) == 0;
    }
    return true;
}

larder_status lard_record_read(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out,
                               size_t capacity) {
    size_t key_bytes = LARD_WORD2_KEY_BYTES(info->word2);
    size_t value_bytes = LARD_WORD2_VALUE_BYTES(info->word2);
    const lard_u64 *body = lard_words(view, offset + LARD_RECORD_HEADER);
    uint32_t crc = lard_crc_word(CRC_START, info->word2);

    if (LARD_WORD2_TYPE(info->word2) == LARD_TYPE_COUNTER) {
        crc = lard_crc_shared(crc, body, key_words(info));
        return crc == info->crc ? LARDER_OK : LARDER_DAMAGED;
    }
    if (value_bytes > capacity) {
        return LARDER_BUFFER_TOO_SMALL;
    }
    size_t before = key_bytes / 8; /* whole words of key */
    size_t count = LARD_ALIGN8(key_bytes + value_bytes) / 8 - before;
    crc = lard_crc_shared(crc, body, before);
    crc = lard_crc_copy_out(crc, body + before, count, key_bytes & 7, out, value_bytes);
    return crc == info->crc ? LARDER_OK : LARDER_DAMAGED;
}

/* The head of a large value, or one of 0 bytes where the record is another kind or damaged. */
void lard_record_head(const lard_view *view, uint64_t offset, const lard_record_info *info, lard_head *head) {
    bool is_head =
        LARD_WORD2_TYPE(info->word2) == LARD_TYPE_HEAD && LARD_WORD2_VALUE_BYTES(info->word2) == sizeof *head;
    if (!is_head || lard_record_read(view, offset, info, head, sizeof *head) != LARDER_OK) {
        head->value_bytes = 0;
    }
}

/* Whether checksum and seals hold. Under the lock: a counter may look torn while it is written. */
bool lard_record_sound(const lard_view *view, uint64_t offset, const lard_record_info *info) {
    bool counter = LARD_WORD2_TYPE(info->word2) == LARD_TYPE_COUNTER;
    uint64_t bytes = lard_record_bytes(LARD_WORD2_TYPE(info->word2), LARD_WORD2_KEY_BYTES(info->word2),
                                       LARD_WORD2_VALUE_BYTES(info->word2));
    const lard_u64 *body = lard_words(view, offset + LARD_RECORD_HEADER);
    size_t words = counter ? key_words(info) : (bytes - LARD_RECORD_HEADER) / 8;
    uint32_t crc = lard_crc_shared(lard_crc_word(CRC_START, info->word2), body, words);
    return crc == info->crc && (!counter || lard_counter_valid(body + key_words(info), info->crc));
}

void lard_record_copy_key(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out) {
    lard_crc_copy_out(0, lard_words(view, offset + LARD_RECORD_HEADER), key_words(info), 0, out,
                      LARD_WORD2_KEY_BYTES(info->word2));
}

/* Writes key and value as one padded run of words, and returns their checksum. */
static uint32_t write_body(lard_u64 *body, const lard_draft *draft, uint32_t crc) {
    size_t whole = draft->key_bytes & ~(size_t)7;
    size_t rest = draft->key_bytes - whole;
    size_t taken = 0;
    lard_u64 *next = body + whole / 8;

    crc = lard_crc_copy_in(crc, body, draft->key, whole);
    if (rest) {
        unsigned char joint[8] = {0};
        taken = 8 - rest < draft->value_bytes ? 8 - rest : draft->value_bytes;
        memcpy(joint, (const unsigned char *)draft->key + whole, rest);
        if (taken) {
            memcpy(joint + rest, draft->value, taken);
        }
        crc = lard_crc_copy_in(crc, next, joint, 8);
        next++;
    }
    if (taken == draft->value_bytes) {
        return crc;
    }
    return lard_crc_copy_in(crc, next, (const unsigned char *)draft->value + taken, draft->value_bytes - taken);
}

void lard_record_write(lard_view *view, uint64_t offset, uint64_t generation, const lard_draft *draft) {
    lard_u64 *words = lard_words(view, offset);
    bool counter = draft->type == LARD_TYPE_COUNTER;
    size_t value_bytes = counter ? LARD_COUNTER_BYTES : draft->value_bytes;
    uint64_t word2 = LARD_WORD2(draft->key_bytes, draft->type, draft->flags, value_bytes);
    uint32_t crc = lard_crc_word(CRC_START, word2);

    if (counter) {
        lard_u64 *body = words + LARD_RECORD_HEADER / 8;
        crc = lard_crc_copy_in(crc, body, draft->key, draft->key_bytes);
        lard_counter_init(body + LARD_ALIGN8(draft->key_bytes) / 8, crc, draft->number);
    } else {
        crc = write_body(words + LARD_RECORD_HEADER / 8, draft, crc);
    }
    lard_store(&words[0], crc | (generation & 0xffffffffu) << 32);
    lard_store(&words[1], seal_expiry(draft->expiry_ms, crc));
    lard_store(&words[2], word2);
}

void lard_record_move(lard_view *view, uint64_t from, uint64_t to, uint64_t generation, uint64_t bytes) {
    const lard_u64 *source = lard_words(view, from);
    lard_u64 *target = lard_words(view, to);
    lard_store(&target[0], (lard_load(&source[0]) & 0xffffffffu) | (generation & 0xffffffffu) << 32);
    for (uint64_t i = 1; i < bytes / 8; i++) {
        lard_store(&target[i], lard_load(&source[i]));
    }
}

void lard_record_set_expiry(lard_view *view, uint64_t offset, uint32_t crc, uint64_t expiry_ms) {
    lard_store(&lard_words(view, offset)[1], seal_expiry(expiry_ms, crc));
}
