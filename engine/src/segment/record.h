/*
 * record.h — looking at a record (layout.h draws it), inlined into the operations.
 *
 * No lock is assumed: whatever is loaded may be changing or damaged, so each length
 * is checked against the segment before it is used, and what was read counts only
 * once the caller has found the slot unchanged. Included by internal.h.
 */
#ifndef LARD_RECORD_H
#define LARD_RECORD_H

#include "base/crc.h"
#include "base/hash.h"
#include "file/view.h"
#include "segment/segment.h"

#define LARD_CRC_START 0xffffffffu

typedef struct {
    uint64_t word2;
    uint64_t expiry_ms; /* 0: never */
    uint32_t crc;
    uint32_t generation;
} lard_record_info;

static inline uint64_t lard_record_seal_expiry(uint64_t expiry_ms, uint32_t crc) {
    uint64_t seal = lard_mix(expiry_ms ^ (uint64_t)crc << 32 ^ 0x9e37u) >> LARD_EXPIRY_BITS;
    return (expiry_ms & LARD_EXPIRY_MASK) | seal << LARD_EXPIRY_BITS;
}

/* Header of the record at `offset`; false where it cannot be a whole record of its segment. */
static inline bool lard_record_info_at(const lard_view *view, uint64_t offset, lard_record_info *info) {
    uint64_t left = lard_segment_left(view, offset);
    if (LARD_UNLIKELY(left < LARD_RECORD_HEADER)) {
        return false;
    }
    const lard_u64 *words = lard_view_words(view, offset);
    uint64_t first = lard_load(&words[0]);
    uint64_t second = lard_load(&words[1]);
    info->crc = (uint32_t)first;
    info->generation = (uint32_t)(first >> 32);
    info->word2 = lard_load(&words[2]);
    info->expiry_ms = second & LARD_EXPIRY_MASK;
    unsigned type = LARD_WORD2_TYPE(info->word2);
    if (LARD_UNLIKELY(second != lard_record_seal_expiry(info->expiry_ms, info->crc) ||
                      type - LARD_TYPE_PLAIN > LARD_TYPE_CHUNK - LARD_TYPE_PLAIN)) {
        return false;
    }
    return lard_record_bytes(type, LARD_WORD2_KEY_BYTES(info->word2), LARD_WORD2_VALUE_BYTES(info->word2)) <= left;
}

/* The record that a slot names; false where there is none of the slot's generation. */
static inline bool lard_record_of_slot(const lard_view *view, uint64_t slot, lard_record_info *info) {
    return lard_record_info_at(view, LARD_SLOT_OFFSET(slot), info) &&
           (info->generation & 0xffff) == LARD_SLOT_GENERATION(slot);
}

static inline bool lard_record_is_key(const lard_view *view, uint64_t offset, const lard_record_info *info,
                                      const lard_key *key) {
    if (LARD_WORD2_KEY_BYTES(info->word2) != key->bytes ||
        (LARD_WORD2_TYPE(info->word2) == LARD_TYPE_CHUNK) != key->is_chunk) {
        return false;
    }
    const lard_u64 *words = lard_view_words(view, offset + LARD_RECORD_HEADER);
    const unsigned char *want = key->data;
    uint64_t difference = 0;
    for (size_t i = 0; i < key->bytes / 8; i++) { /* no exit inside: all words are on their way at once */
        difference |= lard_load(&words[i]) ^ lard_word_at(want + i * 8);
    }
    if (key->bytes & 7) {
        uint64_t last = lard_load(&words[key->bytes / 8]) ^ lard_tail(want, key->bytes);
        difference |= last << (64 - (key->bytes & 7) * 8);
    }
    return difference == 0;
}

/* Copies the value of a record without cells out. OK, BUFFER_TOO_SMALL, or DAMAGED where the checksum is wrong. */
LARD_INLINE larder_status lard_record_value(bool fast, const lard_view *view, uint64_t offset,
                                            const lard_record_info *info, void *out, size_t capacity) {
    size_t key_bytes = LARD_WORD2_KEY_BYTES(info->word2);
    size_t value_bytes = LARD_WORD2_VALUE_BYTES(info->word2);
    const lard_u64 *body = lard_view_words(view, offset + LARD_RECORD_HEADER);
    if (LARD_UNLIKELY(value_bytes > capacity)) {
        return LARDER_BUFFER_TOO_SMALL;
    }
    uint64_t crc = lard_crc_step(fast, LARD_CRC_START, info->word2);
    for (size_t i = 0; i < key_bytes / 8; i++) {
        crc = lard_crc_step(fast, crc, lard_load(&body[i]));
    }
    crc = lard_crc_out(fast, crc, body + key_bytes / 8, key_bytes & 7, out, value_bytes);
    return LARD_LIKELY(crc == info->crc) ? LARDER_OK : LARDER_DAMAGED;
}

static inline bool lard_record_expired(const lard_record_info *info, int64_t now_ms) {
    return info->expiry_ms && (int64_t)info->expiry_ms <= now_ms;
}

/* Fetches the lines of a record that will be read soon: most records are three or four of them. */
static inline void lard_record_prefetch(const lard_view *view, uint64_t offset) {
    const uint8_t *record = view->base + offset;
    __builtin_prefetch(record);
    __builtin_prefetch(record + 64);
    __builtin_prefetch(record + 128);
}

typedef struct {       /* a record to be written, but for its key */
    const void *value; /* NULL for a counter */
    size_t value_bytes;
    int64_t number; /* of a counter; how many chunks were written of a value that is stored in chunks */
    uint64_t expiry_ms;
    unsigned type;
    unsigned flags;
    unsigned reads; /* the frequency it starts with */
    unsigned pin;   /* LARD_PINNED, or 0 */
    bool to_main;   /* past the small queue */
} lard_record_spec;

/* Copies out up to `capacity` bytes of value. OK, BUFFER_TOO_SMALL, or DAMAGED where the checksum is wrong. */
larder_status lard_record_read(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out,
                               size_t capacity);
/* The head of a large value, or one of 0 bytes where the record is another kind or damaged. */
void lard_record_head(const lard_view *view, uint64_t offset, const lard_record_info *info, lard_head *head);
/* Do checksum and seals hold? Under the lock: a counter may look torn while it is written. */
bool lard_record_sound(const lard_view *view, uint64_t offset, const lard_record_info *info);
void lard_record_copy_key(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out);
/* Writes a whole record at a reserved offset of a segment of `generation`. */
void lard_record_write(lard_view *view, uint64_t offset, uint64_t generation, const lard_key *key,
                       const lard_record_spec *spec);
/* Bytes that it takes. */
static inline uint64_t lard_record_bytes_of(const lard_key *key, const lard_record_spec *spec) {
    return lard_record_bytes(spec->type, key->bytes, spec->value_bytes);
}
void lard_record_move(lard_view *view, uint64_t from, uint64_t to, uint64_t generation, uint64_t bytes);
void lard_record_set_expiry(lard_view *view, uint64_t offset, uint32_t crc, uint64_t expiry_ms);

#endif
