/*
 * plain.c — plain values to bytes and back, and the two expiries of an entry.
 *
 * In Rails, race_condition_ttl may be given to the fetch that finds an entry expired
 * and not to the write before it. So a record outlives its entry by a grace: five
 * minutes, as in Rails' stores on servers, or the race_condition_ttl of the write if
 * that is longer. The flags have room for eight graces: the next longer one is taken.
 */
#include "value/plain.h"
#include "value/code_range.h"
#include "value/tree_dump.h"
#include "value/tree_load.h"

#include <math.h>
#include <ruby/encoding.h>
#include <string.h>

#define GRACE_SHIFT 4
#define GRACE_MASK 0x70u
static const int64_t graces_ms[8] = {0, 1000, 5000, 20000, 60000, 300000, 3600000, 86400000};

#define MIN_GRACE 300.0
/* Of these a writer says whether they are ASCII, and a reader scans the others. The code range of shorter and
 * longer ones is left to Ruby: of short ones it is soon found, and long ones may not need it. */
#define MIN_SCANNED_BYTES 64
#define MAX_SCANNED_BYTES 4096 /* as the processor's first cache holds */

static enum plain_kind kind_of_text(VALUE string) {
    int encoding = ENCODING_GET(string);

    if (encoding == rb_utf8_encindex()) {
        return PLAIN_UTF8;
    }
    if (encoding == rb_ascii8bit_encindex()) {
        return PLAIN_BINARY;
    }
    return encoding == rb_usascii_encindex() ? PLAIN_USASCII : PLAIN_NONE;
}

static void take_text(VALUE string, plain_value *plain) {
    plain->bytes = RSTRING_PTR(string);
    plain->size_bytes = (size_t)RSTRING_LEN(string);
}

static bool is_scanned(size_t size_bytes) {
    return size_bytes >= MIN_SCANNED_BYTES && size_bytes <= MAX_SCANNED_BYTES;
}

/* Looks itself: the code range that Ruby remembers can be wrong. */
static void take_string(VALUE string, plain_value *plain) {
    take_text(string, plain);
    plain->kind = kind_of_text(string);
    if (plain->kind == PLAIN_UTF8 && is_scanned(plain->size_bytes) &&
        code_range_is_ascii(plain->bytes, plain->size_bytes)) {
        plain->kind = PLAIN_ASCII;
    }
}

static void take_number(uint64_t number, plain_value *plain) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    number = __builtin_bswap64(number);
#endif
    plain->number = number;
    plain->bytes = (const char *)&plain->number;
    plain->size_bytes = sizeof plain->number;
}

static uint64_t number_from(const char *bytes) {
    uint64_t number;

    memcpy(&number, bytes, sizeof number);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    number = __builtin_bswap64(number);
#endif
    return number;
}

bool plain_from(VALUE value, plain_value *plain) {
    plain->kind = PLAIN_NONE;
    plain->bytes = "";
    plain->size_bytes = 0;
    plain->holder = Qnil;
    if (FIXNUM_P(value)) {
        plain->kind = PLAIN_INTEGER;
        take_number((uint64_t)(int64_t)FIX2LONG(value), plain);
    } else if (NIL_P(value)) {
        plain->kind = PLAIN_NIL;
    } else if (value == Qtrue) {
        plain->kind = PLAIN_TRUE;
    } else if (value == Qfalse) {
        plain->kind = PLAIN_FALSE;
    } else if (RB_FLOAT_TYPE_P(value)) {
        double number = RFLOAT_VALUE(value);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        plain->kind = PLAIN_FLOAT;
        take_number(bits, plain);
    } else if (SYMBOL_P(value)) {
        VALUE name = rb_sym2str(value);
        if (kind_of_text(name) == PLAIN_UTF8 || kind_of_text(name) == PLAIN_USASCII) {
            plain->kind = PLAIN_SYMBOL;
            plain->holder = name; /* the Symbol alone would let compaction move it */
            take_text(name, plain);
        }
    } else if (!RB_SPECIAL_CONST_P(value) && RBASIC_CLASS(value) == rb_cString && rb_ivar_count(value) == 0) {
        take_string(value, plain);
    }
    return plain->kind != PLAIN_NONE;
}

bool plain_from_tree(VALUE value, plain_value *plain) {
    VALUE bytes = tree_dump(value, Qfalse);

    if (bytes == Qundef) {
        return false;
    }
    plain->kind = PLAIN_TREE;
    plain->holder = bytes;
    take_text(bytes, plain);
    return true;
}

VALUE plain_bytes(VALUE value, const plain_value *plain) {
    if (!NIL_P(plain->holder)) {
        return plain->holder;
    }
    return RB_TYPE_P(value, T_STRING) ? rb_str_new_frozen(value)
                                      : rb_str_new(plain->bytes, (long)plain->size_bytes);
}

#define TAIL_BYTES 3 /* the version's length and the value's kind */

bool plain_is_version(VALUE version) {
    return !RB_SPECIAL_CONST_P(version) && RBASIC_CLASS(version) == rb_cString &&
           RSTRING_LEN(version) <= PLAIN_MAX_VERSION &&
           (ENCODING_GET(version) == rb_utf8_encindex() || rb_enc_str_asciionly_p(version));
}

void plain_add_version(plain_value *plain, VALUE version) {
    size_t version_bytes = (size_t)RSTRING_LEN(version);
    const unsigned char tail[TAIL_BYTES] = {(unsigned char)version_bytes, (unsigned char)(version_bytes >> 8),
                                            (unsigned char)plain->kind};
    VALUE holder = rb_str_buf_new((long)(plain->size_bytes + version_bytes + TAIL_BYTES));

    rb_str_buf_cat(holder, plain->bytes, (long)plain->size_bytes);
    rb_str_buf_cat(holder, RSTRING_PTR(version), (long)version_bytes);
    rb_str_buf_cat(holder, (const char *)tail, TAIL_BYTES);
    RB_GC_GUARD(plain->holder);
    plain->holder = holder;
    plain->kind = PLAIN_VERSIONED;
    take_text(holder, plain);
}

bool plain_split_version(uint8_t flags, const char *bytes, size_t size_bytes, plain_stored *stored) {
    if (size_bytes < TAIL_BYTES) {
        return false;
    }
    const unsigned char *tail = (const unsigned char *)bytes + size_bytes - TAIL_BYTES;
    size_t version_bytes = tail[0] | (size_t)tail[1] << 8;
    if (version_bytes > size_bytes - TAIL_BYTES || tail[2] == PLAIN_VERSIONED || tail[2] >= PLAIN_KINDS) {
        return false;
    }
    size_t value_bytes = size_bytes - TAIL_BYTES - version_bytes;
    *stored = (plain_stored){(uint8_t)((flags & ~15u) | tail[2]), value_bytes, bytes + value_bytes, version_bytes};
    return true;
}

static bool has_right_size(unsigned kind, size_t size_bytes) {
    switch (kind) {
    case PLAIN_INTEGER:
    case PLAIN_FLOAT:
        return size_bytes == sizeof(uint64_t);
    case PLAIN_NIL:
    case PLAIN_TRUE:
    case PLAIN_FALSE:
        return size_bytes == 0;
    default:
        return kind != PLAIN_NONE && kind != PLAIN_VERSIONED && kind < PLAIN_KINDS;
    }
}

bool plain_is_loadable(uint8_t flags, size_t size_bytes) {
    return PLAIN_KIND(flags) != PLAIN_SYMBOL && PLAIN_KIND(flags) != PLAIN_TREE &&
           has_right_size(PLAIN_KIND(flags), size_bytes);
}

/* Makes a new binary String a text. It has no code range yet, so none need be cleared. */
static VALUE usascii(VALUE string) {
    RB_ENCODING_SET_INLINED(string, rb_usascii_encindex());
    return string;
}

static VALUE utf8(VALUE string) {
    size_t size_bytes = (size_t)RSTRING_LEN(string);

    RB_ENCODING_SET_INLINED(string, rb_utf8_encindex());
    if (is_scanned(size_bytes)) {
        RB_ENC_CODERANGE_SET(string, code_range_of_utf8(RSTRING_PTR(string), size_bytes));
    }
    return string;
}

static VALUE ascii(VALUE string) {
    RB_ENCODING_SET_INLINED(string, rb_utf8_encindex());
    RB_ENC_CODERANGE_SET(string, RUBY_ENC_CODERANGE_7BIT);
    return string;
}

static VALUE load_symbol(VALUE name) {
    return rb_enc_str_coderange(name) == ENC_CODERANGE_BROKEN ? Qundef : rb_str_intern(name);
}

VALUE plain_load(uint8_t flags, const char *bytes, size_t size_bytes) {
    unsigned kind = PLAIN_KIND(flags);
    double number;
    uint64_t bits;

    if (!has_right_size(kind, size_bytes)) {
        return Qundef;
    }
    switch (kind) {
    case PLAIN_UTF8:
        return utf8(rb_str_new(bytes, (long)size_bytes));
    case PLAIN_ASCII:
        return ascii(rb_str_new(bytes, (long)size_bytes));
    case PLAIN_BINARY:
        return rb_str_new(bytes, (long)size_bytes);
    case PLAIN_USASCII:
        return usascii(rb_str_new(bytes, (long)size_bytes));
    case PLAIN_INTEGER:
        return LL2NUM((int64_t)number_from(bytes));
    case PLAIN_FLOAT:
        bits = number_from(bytes);
        memcpy(&number, &bits, sizeof number);
        return DBL2NUM(number);
    case PLAIN_TRUE:
        return Qtrue;
    case PLAIN_FALSE:
        return Qfalse;
    case PLAIN_SYMBOL:
        return load_symbol(rb_utf8_str_new(bytes, (long)size_bytes));
    case PLAIN_TREE:
        return tree_load(bytes, size_bytes, true, Qnil);
    default:
        return Qnil;
    }
}

VALUE plain_load_string(uint8_t flags, VALUE bytes) {
    switch (PLAIN_KIND(flags)) {
    case PLAIN_UTF8:
        return utf8(bytes);
    case PLAIN_ASCII:
        return ascii(bytes);
    case PLAIN_USASCII:
        return usascii(bytes);
    case PLAIN_BINARY:
        return bytes;
    default:
        break;
    }
    VALUE value = plain_load(flags, RSTRING_PTR(bytes), (size_t)RSTRING_LEN(bytes));
    RB_GC_GUARD(bytes);
    return value;
}

static double seconds_of_grace(const plain_life *life) { return life->race > MIN_GRACE ? life->race : MIN_GRACE; }

/* When the record expires, in Unix ms, and the grace bits for its flags. */
static bool add_grace(double expires_at, const plain_life *life, uint8_t *grace, int64_t *kept_until_ms) {
    double wanted = seconds_of_grace(life);
    double expires_at_ms =
        floor(expires_at * 1000.0); /* as the clock is read, so never later than Rails' expiry */

    if (!(expires_at_ms >= 1.0 && expires_at_ms < (double)LARDER_MAX_EXPIRY_MS)) {
        return false;
    }
    for (unsigned choice = 1; choice < 8; choice++) {
        if ((double)graces_ms[choice] >= wanted * 1000.0) {
            *grace = (uint8_t)(choice << GRACE_SHIFT);
            *kept_until_ms = (int64_t)expires_at_ms + graces_ms[choice];
            return *kept_until_ms <= LARDER_MAX_EXPIRY_MS;
        }
    }
    return false;
}

bool plain_terms(const plain_value *plain, const double *expires_at, const plain_life *life, bool empty_version,
                 int64_t now_ms, uint8_t *flags, int64_t *ttl_ms) {
    int64_t kept_until_ms = 0;
    uint8_t grace = 0;

    *ttl_ms = 0;
    if (expires_at != NULL) {
        if (now_ms < 0 || !add_grace(*expires_at, life, &grace, &kept_until_ms)) {
            return false;
        }
        *ttl_ms = kept_until_ms > now_ms ? kept_until_ms - now_ms : -1;
    }
    *flags = (uint8_t)((unsigned)plain->kind | grace | (empty_version ? PLAIN_EMPTY_VERSION : 0u));
    return true;
}

int64_t plain_kept_ms(const plain_life *life) {
    double kept_ms = (life->expires_in + seconds_of_grace(life)) * 1000.0;

    if (!(life->expires_in > 0.0)) {
        return -1;
    }
    return kept_ms < (double)LARDER_MAX_TTL_MS ? (int64_t)kept_ms : 0;
}

void plain_without_grace(uint8_t *flags, int64_t *ttl_ms) {
    int64_t grace_ms = graces_ms[(*flags & GRACE_MASK) >> GRACE_SHIFT];

    if (*ttl_ms > 0) {
        *ttl_ms = *ttl_ms > grace_ms ? *ttl_ms - grace_ms : -1;
        *flags &= (uint8_t)~GRACE_MASK;
    }
}

int64_t plain_expires_at_ms(uint8_t flags, int64_t kept_until_ms) {
    int64_t grace_ms = graces_ms[(flags & GRACE_MASK) >> GRACE_SHIFT];

    if (kept_until_ms < INT64_MIN + grace_ms) { /* not a time of the engine: long ago */
        return INT64_MIN;
    }
    return kept_until_ms == 0 ? 0 : kept_until_ms - grace_ms;
}
