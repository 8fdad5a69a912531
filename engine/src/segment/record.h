/*
 * record.h — reads a record (layout.h draws it), inlined into the operations.
 *
 * No lock is assumed: each loaded word may be changing or damaged. So each length is checked against the segment
 * before it is used, and the result is valid only after the caller has found the slot unchanged.
 */
#ifndef LARD_RECORD_H
#define LARD_RECORD_H

#include "base/crc.h"
#include "base/hash.h"
#include "base/key.h"
#include "file/view.h"
#include "segment/extension.h"
#include "segment/segment.h"

#define LARD_CRC_START 0xffffffffu

typedef struct {
    uint64_t word0; /* see LARD_WORD0 */
    uint64_t word1;
    uint64_t expiry_ms; /* 0: never */
} lard_record_info;

/*
 * The seal of a record's words at a place of this LARD_ORIGIN; that of `word1` itself has no effect. The top bits
 * of one multiplication: a flipped bit of a word flips bit i of `x`, which adds or subtracts the factor shifted by
 * i. The factor has no 11 equal bits in a row, also where zeros follow it, so the top 11 bits of that are
 * neither all 0 nor all 1, and a carry from below cannot make up for them: the seal differs.
 */
static inline uint64_t lard_record_seal_of(uint64_t word0, uint64_t word1, uint64_t origin) {
    uint64_t x = word0 ^ word1 << LARD_SEAL_BITS ^ origin;
    return x * LARD_SEAL_FACTOR >> LARD_SEAL_SHIFT;
}

/* The second word with its seal. */
static inline uint64_t lard_record_sealed(uint64_t word0, uint64_t word1, uint64_t origin) {
    return (word1 & LARD_SEAL_BELOW) | lard_record_seal_of(word0, word1, origin) << LARD_SEAL_SHIFT;
}

static inline bool lard_record_is_sealed(uint64_t word0, uint64_t word1, uint64_t origin) {
    return word1 >> LARD_SEAL_SHIFT == lard_record_seal_of(word0, word1, origin);
}

/* What the checksum covers of the first two words. */
static inline uint64_t lard_record_checked(uint64_t word0, uint64_t word1) {
    return word0 >> 32 | (word1 & LARD_WORD1_CHECKED_MASK);
}

/* The same with another configuration in place of the record's own. */
static inline uint64_t lard_record_checked_as(uint64_t word0, uint64_t word1, unsigned configuration) {
    return word0 >> 32 | (word1 & LARD_WORD1_FLAGS_MASK) | (uint64_t)configuration << LARD_CONFIGURATION_SHIFT;
}

/* Bytes that a record takes in a segment. */
static inline uint64_t lard_record_bytes(unsigned type, uint64_t key_bytes, uint64_t value_bytes) {
    if (type == LARD_TYPE_COUNTER) {
        return LARD_RECORD_HEADER + LARD_ALIGN8(key_bytes) + LARD_COUNTER_BYTES;
    }
    return LARD_RECORD_HEADER + LARD_ALIGN8(key_bytes + value_bytes);
}

/* The same of a record whose header was read. */
static inline uint64_t lard_record_bytes_at(const lard_record_info *info) {
    return lard_record_bytes(LARD_WORD0_TYPE(info->word0), LARD_WORD0_KEY_BYTES(info->word0),
                             LARD_WORD0_VALUE_BYTES(info->word0));
}

/*
 * Reads the header of the record at `offset`, of this LARD_ORIGIN. False: it cannot be a whole record of that
 * origin inside its segment.
 */
static inline bool lard_record_info_of(const lard_view *view, uint64_t offset, uint64_t origin,
                                       lard_record_info *info) {
    uint64_t left = lard_segment_left(view, offset);
    if (LARD_UNLIKELY(left < LARD_RECORD_HEADER)) {
        return false;
    }
    const lard_u64 *words = lard_view_words(view, offset);
    info->word0 = lard_load(&words[0]);
    info->word1 = lard_load(&words[1]);
    info->expiry_ms = LARD_WORD1_EXPIRY_MS(info->word1);
    if (LARD_UNLIKELY(!lard_record_is_sealed(info->word0, info->word1, origin) ||
                      LARD_WORD0_TYPE(info->word0) - LARD_TYPE_PLAIN > LARD_TYPE_EXTENDED - LARD_TYPE_PLAIN)) {
        return false;
    }
    return lard_record_bytes_at(info) <= left;
}

/* The same in a segment of this generation. */
static inline bool lard_record_info_at(const lard_view *view, uint64_t offset, uint64_t generation,
                                       lard_record_info *info) {
    return lard_record_info_of(view, offset, LARD_ORIGIN(offset, generation), info);
}

/* Reads the header of the record that a slot names. False: there is no record of the slot's origin. */
static inline bool lard_record_of_slot(const lard_view *view, uint64_t slot, lard_record_info *info) {
    return lard_record_info_of(view, LARD_SLOT_OFFSET(slot), LARD_SLOT_ORIGIN(slot), info);
}

static inline bool lard_record_is_key(const lard_view *view, uint64_t offset, const lard_record_info *info,
                                      const lard_key *key) {
    if (LARD_WORD0_KEY_BYTES(info->word0) != key->bytes ||
        (LARD_WORD0_TYPE(info->word0) == LARD_TYPE_CHUNK) != key->is_chunk) {
        return false;
    }
    const lard_u64 *words = lard_view_words(view, offset + LARD_RECORD_HEADER);
    const unsigned char *want = key->data;
    uint64_t difference = 0;
    for (size_t i = 0; i < key->bytes / 8; i++) { /* no early exit, so that all loads can run at once */
        difference |= lard_load(&words[i]) ^ lard_word_at(want + i * 8);
    }
    if (key->bytes & 7) {
        uint64_t last = lard_load(&words[key->bytes / 8]) ^ lard_word_tail(want, key->bytes);
        difference |= last << (64 - (key->bytes & 7) * 8);
    }
    return difference == 0;
}

/* Copies the value of a record that is not a counter. OK, BUFFER_TOO_SMALL, or DAMAGED: the checksum is wrong. */
LARD_INLINE larder_status lard_record_value(bool fast, const lard_view *view, uint64_t offset,
                                            const lard_record_info *info, void *out, size_t capacity) {
    size_t key_bytes = LARD_WORD0_KEY_BYTES(info->word0);
    size_t value_bytes = LARD_WORD0_VALUE_BYTES(info->word0);
    const lard_u64 *body = lard_view_words(view, offset + LARD_RECORD_HEADER);
    if (LARD_UNLIKELY(value_bytes > capacity)) {
        return LARDER_BUFFER_TOO_SMALL;
    }
    uint64_t crc = lard_crc_step(fast, LARD_CRC_START, lard_record_checked(info->word0, info->word1));
    for (size_t i = 0; i < key_bytes / 8; i++) {
        crc = lard_crc_step(fast, crc, lard_load(&body[i]));
    }
    crc = lard_crc_out(fast, crc, body + key_bytes / 8, key_bytes & 7, out, value_bytes);
    return LARD_LIKELY(crc == LARD_WORD0_CRC(info->word0)) ? LARDER_OK : LARDER_DAMAGED;
}

/* The cells of a counter, see counter.h. */
static inline lard_u64 *lard_record_cells(const lard_view *view, uint64_t offset, const lard_record_info *info) {
    return lard_view_words(view, offset + LARD_RECORD_HEADER + LARD_ALIGN8(LARD_WORD0_KEY_BYTES(info->word0)));
}

static inline bool lard_record_expired(const lard_record_info *info, int64_t now_ms) {
    return info->expiry_ms && (int64_t)info->expiry_ms <= now_ms;
}

/* Prefetches the cache lines of a record that will be read soon: most records have three or four. */
static inline void lard_record_prefetch(const lard_view *view, uint64_t offset) {
    const uint8_t *record = view->base + offset;
    __builtin_prefetch(record);
    __builtin_prefetch(record + 64);
    __builtin_prefetch(record + 128);
}

typedef struct {       /* a record to be written, without its key */
    const void *value; /* NULL for a counter */
    size_t value_bytes;
    int64_t number; /* of a counter; the number of chunks of a large value */
    uint64_t expiry_ms;
    unsigned type;
    unsigned flags;
    unsigned configuration;    /* see lard_control.configurations */
    unsigned reads;            /* with how many a new item starts, see reads.h */
    unsigned pin;              /* LARD_PINNED, or 0 */
    bool to_main;              /* to the main queue at once */
    lard_extension *extension; /* of LARD_TYPE_EXTENDED; its kind is that of `value` */
} lard_record_spec;

/* As lard_record_value; of a counter only checks the key's checksum and copies nothing. */
larder_status lard_record_read(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out,
                               size_t capacity);
/* Reads the head of a large value, extended or not. If the record is of another type or damaged, head->value_bytes
 * is 0. */
void lard_record_head(const lard_view *view, uint64_t offset, const lard_record_info *info, lard_head *head);
/* Are checksum and seals valid? Under the lock: a counter may look invalid while it is written. */
bool lard_record_sound(const lard_view *view, uint64_t offset, const lard_record_info *info);
void lard_record_copy_key(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out);
/* The record's key, copied to `data`, which has room for the longest and one word more. */
lard_key lard_record_key(const lard_view *view, uint64_t offset, const lard_record_info *info, void *data);
/* Reads an extended record: fills *extension and *value_bytes, and copies the value to `out` (NULL: copies none).
 * OK, BUFFER_TOO_SMALL, which fills them too but has not checked them; MISS: a later version has stored it; or
 * DAMAGED. */
larder_status lard_record_extended(const lard_view *view, uint64_t offset, const lard_record_info *info,
                                   lard_extension *extension, void *out, size_t capacity, size_t *value_bytes);
/* Has an extended record a fresh value, of which no tag was deleted? *kind is that of its value. */
bool lard_record_extended_is_fresh(const lard_view *view, uint64_t offset, const lard_record_info *info,
                                   int64_t now_ms, unsigned *kind);
/* Was a tag of an extended record's value deleted? */
bool lard_record_extended_is_deleted(const lard_view *view, uint64_t offset, const lard_record_info *info);
/* Has the item of a record expired, or was a tag of it deleted? */
static inline bool lard_record_has_ended(const lard_view *view, uint64_t offset, const lard_record_info *info,
                                         int64_t now_ms) {
    return lard_record_expired(info, now_ms) ||
           (LARD_UNLIKELY(LARD_WORD0_TYPE(info->word0) == LARD_TYPE_EXTENDED) &&
            lard_record_extended_is_deleted(view, offset, info));
}
/* Has an extended record a value that is stale, or of which a tag was deleted, and that nobody computes again? */
bool lard_record_extended_is_stale(const lard_view *view, uint64_t offset, const lard_record_info *info,
                                   int64_t now_ms);
/* Writes a whole record at a reserved offset of a segment of `generation`, and returns its checksum. */
uint32_t lard_record_write(lard_view *view, uint64_t offset, uint64_t generation, const lard_key *key,
                           const lard_record_spec *spec);
/* Writes a record into private memory, without its seal, and returns its checksum. */
uint32_t lard_record_form(lard_u64 *words, const lard_key *key, const lard_record_spec *spec);
/* Bytes that a record to be written takes in a segment. */
static inline uint64_t lard_record_bytes_of(const lard_key *key, const lard_record_spec *spec) {
    if (LARD_UNLIKELY(spec->type == LARD_TYPE_EXTENDED)) {
        return LARD_RECORD_HEADER + LARD_ALIGN8(key->bytes) +
               8u * lard_extension_words(spec->extension->fields, spec->extension->tag_count) +
               LARD_ALIGN8(spec->value_bytes);
    }
    return lard_record_bytes(spec->type, key->bytes, spec->value_bytes);
}
/* Copies the record at `from`, of which `info` is the header, to a reserved offset of a segment of `generation`.
 */
void lard_record_move(lard_view *view, uint64_t from, const lard_record_info *info, uint64_t to,
                      uint64_t generation);
/* Changes the expiry of the record that a slot names, in place; `info` is its header. */
void lard_record_set_expiry(lard_view *view, uint64_t slot, const lard_record_info *info, uint64_t expiry_ms);

#endif
