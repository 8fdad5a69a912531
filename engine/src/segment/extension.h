/*
 * extension.h — what an extended record has beside key and value (layout.h draws it). Takes no lock.
 */
#ifndef LARD_EXTENSION_H
#define LARD_EXTENSION_H

#include "base/clock.h"
#include "base/layout.h"

#include <stdbool.h>

typedef struct {
    unsigned kind;   /* of the value: LARD_TYPE_PLAIN or LARD_TYPE_HEAD; 0: none, the record is a placeholder */
    unsigned fields; /* LARD_FIELD_*: which of these it has */
    uint32_t compute_ms;
    uint64_t token[2];      /* of the lease, as lard_head.id */
    int64_t lease_began_ms; /* by lard_clock_boot_ms */
    int64_t lease_ms;       /* its length */
    int64_t fresh_until_ms;
    uint64_t stamp; /* of deletions.h: the value began to be computed then */
    unsigned tag_count;
    uint64_t tags[LARDER_MAX_TAGS]; /* hashes; only the first tag_count are defined */
} lard_extension;

/* Of a value, without fields. */
static inline void lard_extension_init(lard_extension *extension, unsigned kind, uint32_t compute_ms) {
    extension->kind = kind;
    extension->fields = 0;
    extension->compute_ms = compute_ms;
    extension->token[0] = extension->token[1] = 0;
    extension->lease_began_ms = extension->lease_ms = extension->fresh_until_ms = 0;
    extension->stamp = 0;
    extension->tag_count = 0;
}

/* Words that it takes. */
static inline unsigned lard_extension_words(unsigned fields, unsigned tags) {
    return 1 + (fields & LARD_FIELD_LEASE ? 4 : 0) + (fields & LARD_FIELD_FRESH ? 1 : 0) +
           (fields & LARD_FIELD_TAGS ? 1 + tags : 0);
}

/* Has it a lease of this token? */
static inline bool lard_extension_has_token(const lard_extension *extension, const uint64_t token[2]) {
    return (extension->fields & LARD_FIELD_LEASE) && extension->token[0] == token[0] &&
           extension->token[1] == token[1];
}

/* How long its lease lasts at most; 0: it has none, or its time has ended. Asks a clock that cannot be
 * set, and that counts suspended time. A lease from before a boot, or from another time namespace, seems to begin
 * later, and has ended, or seems to have begun at some other time, and then lasts for its length at most. */
static inline int64_t lard_extension_leased_ms(const lard_extension *extension) {
    if (!(extension->fields & LARD_FIELD_LEASE)) {
        return 0;
    }
    uint64_t passed_ms = (uint64_t)lard_clock_boot_ms() - (uint64_t)extension->lease_began_ms;
    return passed_ms < (uint64_t)extension->lease_ms ? extension->lease_ms - (int64_t)passed_ms : 0;
}

/* Is there a value that is fresh? */
static inline bool lard_extension_is_fresh(const lard_extension *extension, int64_t now_ms) {
    return extension->kind && (!(extension->fields & LARD_FIELD_FRESH) || now_ms < extension->fresh_until_ms);
}

/* Fills the words, and returns how many. */
unsigned lard_extension_pack(const lard_extension *extension, uint64_t words[LARD_EXTENSION_WORDS]);
/* False: they are of a later version, or damaged. */
bool lard_extension_unpack(const uint64_t words[LARD_EXTENSION_WORDS], lard_extension *extension);

#endif
