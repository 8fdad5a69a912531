/*
 * record.c — writes records, and reads them outside the fast path.
 *
 * layout.h draws a record; record.h has the reads of the fast path.
 *
 * Writers hold the shard's lock and write only beyond the segment's write offset; only the expiry is changed in
 * place. Readers hold no lock; see record.h.
 */
#include "segment/record.h"
#include "base/key.h"
#include "segment/counter.h"
#include "segment/deletions.h"

#include <string.h>

static size_t key_words(const lard_record_info *info) {
    return LARD_ALIGN8(LARD_WORD0_KEY_BYTES(info->word0)) / 8;
}

/* Is the checksum right that covers `words` words of the body? */
static bool has_crc(const lard_record_info *info, const lard_u64 *body, size_t words) {
    uint32_t crc = lard_crc_word(LARD_CRC_START, lard_record_checked(info->word0, info->word1));
    return lard_crc_shared(crc, body, words) == LARD_WORD0_CRC(info->word0);
}

larder_status lard_record_read(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out,
                               size_t capacity) {
    if (LARD_WORD0_TYPE(info->word0) == LARD_TYPE_COUNTER) {
        const lard_u64 *body = lard_view_words(view, offset + LARD_RECORD_HEADER);
        return has_crc(info, body, key_words(info)) ? LARDER_OK : LARDER_DAMAGED;
    }
    return lard_crc_hardware ? lard_record_value(true, view, offset, info, out, capacity)
                             : lard_record_value(false, view, offset, info, out, capacity);
}

LARD_INLINE larder_status read_extended(bool fast, const lard_view *view, uint64_t offset,
                                        const lard_record_info *info, lard_extension *extension, void *out,
                                        size_t capacity, size_t *value_bytes) {
    const lard_u64 *body = lard_view_words(view, offset + LARD_RECORD_HEADER);
    size_t keyed = key_words(info), padding = keyed * 8 - LARD_WORD0_KEY_BYTES(info->word0);
    size_t bytes = LARD_WORD0_VALUE_BYTES(info->word0);
    uint64_t words[LARD_EXTENSION_WORDS];
    if (bytes < padding + 8) {
        return LARDER_DAMAGED;
    }
    words[0] = lard_load(&body[keyed]);
    unsigned count = lard_extension_words(LARD_EXTENSION_FIELDS(words[0]), LARD_EXTENSION_TAGS(words[0]));
    if (count > (bytes - padding) / 8 || count > LARD_EXTENSION_WORDS) {
        return LARDER_DAMAGED;
    }
    for (unsigned i = 1; i < count; i++) {
        words[i] = lard_load(&body[keyed + i]);
    }
    if (!lard_extension_unpack(words, extension)) {
        lard_extension_init(extension, 0, 0);
        return has_crc(info, body, LARD_ALIGN8(keyed * 8 - padding + bytes) / 8) ? LARDER_MISS : LARDER_DAMAGED;
    }
    *value_bytes = bytes - padding - count * 8;
    if (out && *value_bytes > capacity) {
        return LARDER_BUFFER_TOO_SMALL;
    }
    uint64_t crc = lard_crc_step(fast, LARD_CRC_START, lard_record_checked(info->word0, info->word1));
    for (size_t i = 0; i < keyed; i++) {
        crc = lard_crc_step(fast, crc, lard_load(&body[i]));
    }
    for (unsigned i = 0; i < count; i++) {
        crc = lard_crc_step(fast, crc, words[i]);
    }
    body += keyed + count;
    crc = out ? lard_crc_out(fast, crc, body, 0, out, *value_bytes)
              : lard_crc_over(fast, crc, body, LARD_ALIGN8(*value_bytes) / 8);
    return (uint32_t)crc == LARD_WORD0_CRC(info->word0) ? LARDER_OK : LARDER_DAMAGED;
}

larder_status lard_record_extended(const lard_view *view, uint64_t offset, const lard_record_info *info,
                                   lard_extension *extension, void *out, size_t capacity, size_t *value_bytes) {
    return lard_crc_hardware ? read_extended(true, view, offset, info, extension, out, capacity, value_bytes)
                             : read_extended(false, view, offset, info, extension, out, capacity, value_bytes);
}

bool lard_record_extended_is_fresh(const lard_view *view, uint64_t offset, const lard_record_info *info,
                                   int64_t now_ms, unsigned *kind) {
    lard_extension extension;
    size_t bytes;
    if (lard_record_extended(view, offset, info, &extension, NULL, 0, &bytes) != LARDER_OK) {
        return false;
    }
    *kind = extension.kind;
    return lard_extension_is_fresh(&extension, now_ms) && !lard_deletions_hit(view, &extension);
}

bool lard_record_extended_is_deleted(const lard_view *view, uint64_t offset, const lard_record_info *info) {
    lard_extension extension;
    size_t bytes;
    return lard_record_extended(view, offset, info, &extension, NULL, 0, &bytes) == LARDER_OK &&
           lard_deletions_hit(view, &extension);
}

bool lard_record_extended_is_stale(const lard_view *view, uint64_t offset, const lard_record_info *info,
                                   int64_t now_ms) {
    lard_extension extension;
    size_t bytes;
    if (lard_record_extended(view, offset, info, &extension, NULL, 0, &bytes) != LARDER_OK) {
        return false;
    }
    return extension.kind && !lard_extension_leased_ms(&extension) &&
           (!lard_extension_is_fresh(&extension, now_ms) || lard_deletions_hit(view, &extension));
}

static bool read_extended_head(const lard_view *view, uint64_t offset, const lard_record_info *info,
                               lard_head *head) {
    lard_extension extension;
    size_t bytes;
    return lard_record_extended(view, offset, info, &extension, head, sizeof *head, &bytes) == LARDER_OK &&
           extension.kind == LARD_TYPE_HEAD && bytes == sizeof *head;
}

void lard_record_head(const lard_view *view, uint64_t offset, const lard_record_info *info, lard_head *head) {
    if (LARD_WORD0_TYPE(info->word0) == LARD_TYPE_EXTENDED) {
        if (!read_extended_head(view, offset, info, head)) {
            head->value_bytes = 0;
        }
        return;
    }
    bool is_head =
        LARD_WORD0_TYPE(info->word0) == LARD_TYPE_HEAD && LARD_WORD0_VALUE_BYTES(info->word0) == sizeof *head;
    if (!is_head || lard_record_read(view, offset, info, head, sizeof *head) != LARDER_OK) {
        head->value_bytes = 0;
    }
}

bool lard_record_sound(const lard_view *view, uint64_t offset, const lard_record_info *info) {
    bool counter = LARD_WORD0_TYPE(info->word0) == LARD_TYPE_COUNTER;
    uint64_t bytes = lard_record_bytes_at(info);
    const lard_u64 *body = lard_view_words(view, offset + LARD_RECORD_HEADER);
    size_t words = counter ? key_words(info) : (bytes - LARD_RECORD_HEADER) / 8;
    return has_crc(info, body, words) &&
           (!counter || lard_counter_valid(body + key_words(info), LARD_WORD0_CRC(info->word0)));
}

void lard_record_copy_key(const lard_view *view, uint64_t offset, const lard_record_info *info, void *out) {
    const lard_u64 *words = lard_view_words(view, offset + LARD_RECORD_HEADER);
    size_t count = key_words(info);
    for (size_t i = 0; i < count; i++) {
        uint64_t word = lard_load(&words[i]);
        memcpy((unsigned char *)out + i * 8, &word, 8);
    }
}

lard_key lard_record_key(const lard_view *view, uint64_t offset, const lard_record_info *info, void *data) {
    size_t bytes = LARD_WORD0_KEY_BYTES(info->word0);
    bool is_chunk = LARD_WORD0_TYPE(info->word0) == LARD_TYPE_CHUNK;
    lard_record_copy_key(view, offset, info, data);
    return (lard_key){.data = data,
                      .bytes = bytes,
                      .hash = lard_hash_key(view->map, data, bytes, is_chunk),
                      .is_chunk = is_chunk};
}

/* Writes key and value as one run of words, pads the last one with zeros, and returns the checksum. */
LARD_INLINE uint64_t write_body(bool fast, uint64_t crc, lard_u64 *body, const lard_key *key,
                                const lard_record_spec *spec) {
    const unsigned char *value = spec->value;
    size_t left = spec->value_bytes;
    size_t rest = key->bytes & 7;
    crc = lard_crc_in(fast, crc, body, key->bytes / 8, key->data);
    body += key->bytes / 8;
    if (rest) { /* the word that key and value share */
        size_t taken = 8 - rest < left ? 8 - rest : left;
        uint64_t word = left >= 8 ? lard_word_at(value) : lard_word_tail(value, left);
        word = lard_word_tail(key->data, key->bytes) | word << (rest * 8);
        crc = lard_crc_step(fast, crc, word);
        lard_store(body, word);
        body++;
        value += taken;
        left -= taken;
    }
    crc = lard_crc_in(fast, crc, body, left / 8, value);
    if (left & 7) {
        uint64_t word = lard_word_tail(value, left);
        crc = lard_crc_step(fast, crc, word);
        lard_store(body + left / 8, word);
    }
    return crc;
}

/* Key, extension and value, each padded with zeros. */
static __attribute__((noinline)) uint32_t write_extended(lard_u64 *words, const lard_key *key,
                                                         const lard_record_spec *spec, lard_record_info *header) {
    lard_u64 *body = words + LARD_RECORD_HEADER / 8;
    uint64_t extension[LARD_EXTENSION_WORDS];
    size_t keyed = LARD_ALIGN8(key->bytes) / 8, count = lard_extension_pack(spec->extension, extension);
    size_t bytes = (keyed + count) * 8 - key->bytes + spec->value_bytes;
    uint64_t word0 = LARD_WORD0(0, spec->type | spec->pin, key->bytes, bytes);
    uint64_t word1 = LARD_WORD1(spec->expiry_ms, spec->flags, spec->configuration);
    uint32_t crc = lard_crc_word(LARD_CRC_START, lard_record_checked(word0, word1));
    crc = lard_crc_copy_in(crc, body, key->data, key->bytes);
    crc = lard_crc_copy_in(crc, body + keyed, extension, count * sizeof *extension);
    crc = lard_crc_copy_in(crc, body + keyed + count, spec->value, spec->value_bytes);
    header->word0 = word0 | crc;
    header->word1 = word1;
    return crc;
}

/* Writes all words but the first two, which *header gets, without a seal. Returns the checksum. */
LARD_INLINE uint32_t write_words(lard_u64 *words, const lard_key *key, const lard_record_spec *spec,
                                 lard_record_info *header) {
    if (LARD_UNLIKELY(spec->type == LARD_TYPE_EXTENDED)) {
        return write_extended(words, key, spec, header);
    }
    lard_u64 *body = words + LARD_RECORD_HEADER / 8;
    bool counter = spec->type == LARD_TYPE_COUNTER;
    size_t value_bytes = counter ? LARD_COUNTER_BYTES : spec->value_bytes;
    uint64_t word0 = LARD_WORD0(0, spec->type | spec->pin, key->bytes, value_bytes);
    uint64_t word1 = LARD_WORD1(spec->expiry_ms, spec->flags, spec->configuration);
    uint32_t crc = lard_crc_word(LARD_CRC_START, lard_record_checked(word0, word1));

    if (counter) {
        crc = lard_crc_copy_in(crc, body, key->data, key->bytes);
        lard_counter_init(body + LARD_ALIGN8(key->bytes) / 8, crc, spec->number);
    } else {
        crc = (uint32_t)(lard_crc_hardware ? write_body(true, crc, body, key, spec)
                                           : write_body(false, crc, body, key, spec));
    }
    header->word0 = word0 | crc;
    header->word1 = word1;
    return crc;
}

uint32_t lard_record_write(lard_view *view, uint64_t offset, uint64_t generation, const lard_key *key,
                           const lard_record_spec *spec) {
    lard_record_info header;
    lard_u64 *words = lard_view_words(view, offset);
    uint32_t crc = write_words(words, key, spec, &header);
    lard_store(&words[0], header.word0);
    lard_store(&words[1], lard_record_sealed(header.word0, header.word1, LARD_ORIGIN(offset, generation)));
    return crc;
}

uint32_t lard_record_form(lard_u64 *words, const lard_key *key, const lard_record_spec *spec) {
    lard_record_info header;
    uint32_t crc = write_words(words, key, spec, &header);
    lard_store(&words[0], header.word0);
    lard_store(&words[1], header.word1);
    return crc;
}

void lard_record_move(lard_view *view, uint64_t from, const lard_record_info *info, uint64_t to,
                      uint64_t generation) {
    const lard_u64 *source = lard_view_words(view, from);
    lard_u64 *target = lard_view_words(view, to);
    uint64_t words = lard_record_bytes_at(info) / 8;
    lard_store(&target[0], info->word0);
    lard_store(&target[1], lard_record_sealed(info->word0, info->word1, LARD_ORIGIN(to, generation)));
    for (uint64_t i = LARD_RECORD_HEADER / 8; i < words; i++) {
        lard_store(&target[i], lard_load(&source[i]));
    }
}

void lard_record_set_expiry(lard_view *view, uint64_t slot, const lard_record_info *info, uint64_t expiry_ms) {
    uint64_t word1 = (info->word1 & ~LARD_EXPIRY_MASK) | expiry_ms;
    lard_store(&lard_view_words(view, LARD_SLOT_OFFSET(slot))[1],
               lard_record_sealed(info->word0, word1, LARD_SLOT_ORIGIN(slot)));
}
