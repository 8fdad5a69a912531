/*
 * plain.h — plain values: stored as their own bytes, without a serializer.
 *
 * A String, a number, a Symbol, true, false, nil, or an Array or Hash of these, is
 * stored as its own bytes. The record's flags say how to read them:
 *
 *     7          6 5 4      3 2 1 0
 *   +---------+----------+-----------+
 *   | version |  grace   |   kind    |   kind 0: other bytes (Rails' coder, a raw value, a counter)
 *   +---------+----------+-----------+
 *   version  1: the entry's version is "", as Rails has it for a key that is an Array
 *   grace    how long the engine keeps the record after the entry has expired, by
 *            a table in plain.c: the entry's expiry is the record's less the grace
 *   kind     enum plain_kind; a String's bytes are its own, numbers are 8 bytes in
 *            little-endian order, nil, true and false have none, and those of an
 *            Array or Hash are drawn in tree_format.h
 *
 * The bytes of an entry with a version that is not empty, as for a key with a record
 * in it, are those of PLAIN_VERSIONED: the value's, the version in UTF-8, its length
 * in two bytes (little-endian), and the value's kind in one.
 */
#ifndef LARDER_PLAIN_H
#define LARDER_PLAIN_H

#include <ruby.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "larder.h"

enum plain_kind {
    PLAIN_NONE,
    PLAIN_UTF8,
    PLAIN_BINARY,
    PLAIN_USASCII,
    PLAIN_INTEGER,
    PLAIN_FLOAT,
    PLAIN_NIL,
    PLAIN_TRUE,
    PLAIN_FALSE,
    PLAIN_SYMBOL,
    PLAIN_TREE,
    PLAIN_VERSIONED,
    PLAIN_ASCII, /* a String in UTF-8 that is ASCII, as the writer saw: a reader need not look */
    PLAIN_KINDS
};

#define PLAIN_KIND(flags) ((flags)&15u)
#define PLAIN_EMPTY_VERSION 0x80u
#define PLAIN_MAX_VERSION 1024 /* bytes; a longer one is left to Rails' coder */

typedef struct plain_value {
    enum plain_kind kind;
    const char *bytes; /* the String's own, or `number` */
    size_t size_bytes;
    uint64_t number;
    VALUE holder; /* the String that has the bytes, unless the value has; else nil */
} plain_value;

/* Is `value` plain? Then fills `*plain`, whose bytes are valid until `value` is changed or freed. */
bool plain_from(VALUE value, plain_value *plain);

/* The same for an Array or Hash, whose bytes are made here and are valid as long as plain->holder is kept. */
bool plain_from_tree(VALUE value, plain_value *plain);

/* The bytes of `value` as a String, which stays as it is when `value` is changed. */
VALUE plain_bytes(VALUE value, const plain_value *plain);

/* Puts a version (of plain_is_version()) behind the bytes, which are copied into a new plain->holder. */
void plain_add_version(plain_value *plain, VALUE version);

/* Is it a String of at most PLAIN_MAX_VERSION bytes, in UTF-8 or ASCII? */
bool plain_is_version(VALUE version);

/* A value found in a record, its version apart. */
typedef struct plain_stored {
    uint8_t flags; /* of the value alone, with the grace of the record */
    size_t size_bytes;
    const char *version; /* NULL: the entry has none */
    size_t version_bytes;
} plain_stored;

/* plain_split() for PLAIN_VERSIONED. */
bool plain_split_version(uint8_t flags, const char *bytes, size_t size_bytes, plain_stored *stored);

/* Splits the bytes of a record. False: they are damaged. */
static inline bool plain_split(uint8_t flags, const char *bytes, size_t size_bytes, plain_stored *stored) {
    if (RB_UNLIKELY(PLAIN_KIND(flags) == PLAIN_VERSIONED)) {
        return plain_split_version(flags, bytes, size_bytes, stored);
    }
    *stored = (plain_stored){flags, size_bytes, flags & PLAIN_EMPTY_VERSION ? "" : NULL, 0};
    return true;
}

/* Has the entry another version than the one that is asked for (nil: any; else a String)? As Rails' mismatched?.
 */
static inline bool plain_is_mismatched(const plain_stored *stored, VALUE version) {
    if (stored->version == NULL || NIL_P(version)) {
        return false;
    }
    size_t bytes = (size_t)RSTRING_LEN(version);
    return bytes != stored->version_bytes || (bytes && memcmp(RSTRING_PTR(version), stored->version, bytes) != 0);
}

/* The value of a record, or Qundef where the flags name no kind or the bytes are not of that kind. */
VALUE plain_load(uint8_t flags, const char *bytes, size_t size_bytes);

/* Does plain_load() make a value of any bytes of that size? Not of Symbols and trees. */
bool plain_is_loadable(uint8_t flags, size_t size_bytes);

/* plain_load() for a new binary String that holds the bytes, and becomes the value where that is a String. */
VALUE plain_load_string(uint8_t flags, VALUE bytes);

typedef struct plain_life {
    double expires_in; /* seconds; 0: never expires */
    double race;       /* race_condition_ttl in seconds; 0: none */
} plain_life;

/*
 * The flags and the TTL (ms; 0: never expires, -1: expired) of the record of a plain value at `now_ms`, for an
 * entry that expires at `*expires_at` (Unix seconds; NULL: never). False where no grace of the table is long
 * enough, or the time is out of the engine's range.
 */
bool plain_terms(const plain_value *plain, const double *expires_at, const plain_life *life, bool empty_version,
                 int64_t now_ms, uint8_t *flags, int64_t *ttl_ms);

/* The same TTL where no grace of the table is long enough: the flags cannot say when the entry expires. */
int64_t plain_kept_ms(const plain_life *life);

/* Makes flags and TTL of a record those of its entry alone, for one that is kept for longer in another way. */
void plain_without_grace(uint8_t *flags, int64_t *ttl_ms);

/* When the entry expires, in Unix ms; 0: never. Not of one that is kept when it is stale. */
int64_t plain_expires_at_ms(uint8_t flags, int64_t kept_until_ms);

/* As plain_expires_at_ms(), of any entry. */
static inline int64_t plain_end_ms(const larder_item *item) {
    return item->fresh_until_ms ? item->fresh_until_ms : plain_expires_at_ms(item->flags, item->expires_at_ms);
}

#endif
