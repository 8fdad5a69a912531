/*
 * copies.c — copies of entries of the remote store: Records#keep_copies and #keep_strings.
 *
 * A String in the bytes of Rails' coder (ActiveSupport::Cache::Coder), from Rails 7.1 on:
 *
 *   | 00 11 | type | expires_at   | version_bytes | version | the String's own bytes |
 *     2       1      8, a double    4, signed                                          all little-endian
 *
 *   type            2: in UTF-8, 3: binary, 4: in US-ASCII; others are no Strings, or compressed
 *   expires_at      Unix seconds; negative: never
 *   version_bytes   negative: it has no version
 */
#include "rails/copies.h"
#include "base/arguments.h"
#include "base/errors.h"
#include "cache/lease.h"
#include "cache/tags.h"
#include "cache/write.h"
#include "rails/records.h"
#include "value/plain.h"

#include <math.h>
#include <ruby/encoding.h>

#define SIGNATURE "\x00\x11"
enum { TYPE_AT = 2, EXPIRES_AT = 3, VERSION_BYTES_AT = 11, BODY_AT = 15 };
enum { TYPE_UTF8 = 2, TYPE_BINARY, TYPE_ASCII };

static ID id_value, id_version, id_expires_at;

/* What all copies of a call have in common. */
typedef struct keeping {
    VALUE self, leases, now;
    VALUE done; /* of keep_copies: entries that are for a coder; of keep_strings: the Strings; by key */
    int64_t now_ms;
    double latest; /* Unix seconds */
    bool trees;
    glue_tags tags;
    larder_extra extra;
    larder_status wrong; /* the first failure of one */
    VALUE wrong_key;
} keeping;

/*
 * Stores a copy of a plain value, if the key has a lease and the entry has not expired. The lease ends then.
 * `expires_at` is in Unix seconds. False: the value is for a coder.
 */
static bool keep(keeping *keeping, VALUE key, VALUE value, double expires_at, VALUE version) {
    plain_life life = {expires_at - (double)keeping->now_ms / 1000.0, 0.0};
    larder_store terms = {.mode = LARDER_SET, .extra = &keeping->extra};
    VALUE lease = rb_hash_lookup2(keeping->leases, key, Qnil);
    plain_value taken;

    if (NIL_P(lease) || life.expires_in <= 0.0) {
        return true;
    }
    if (!records_take_plain(value, &expires_at, &life, version, keeping->now_ms, keeping->trees, &taken, &terms)) {
        return false;
    }
    larder_lease held = glue_lease_of(lease);
    keeping->extra.lease = &held;
    larder_status status =
        glue_set_status(records_cache(keeping->self), key, plain_bytes(value, &taken), &terms, keeping->now);
    keeping->extra.lease = NULL;
    RB_GC_GUARD(value);
    if (status == LARDER_OK) {
        rb_hash_delete(keeping->leases, key);
    } else if (status != LARDER_NOT_STORED && !glue_is_refusal(status) && !glue_is_too_long(status) &&
               keeping->wrong == LARDER_OK) {
        keeping->wrong = status;
        keeping->wrong_key = key;
    }
    return true;
}

static double earlier(const keeping *keeping, VALUE expires_at) {
    return NIL_P(expires_at) ? keeping->latest : fmin(NUM2DBL(expires_at), keeping->latest);
}

static int keep_entry(VALUE key, VALUE entry, VALUE arg) {
    keeping *keeping = (struct keeping *)arg;
    VALUE value = rb_funcallv(entry, id_value, 0, NULL), version = rb_funcallv(entry, id_version, 0, NULL);

    if (!keep(keeping, key, value, earlier(keeping, rb_funcallv(entry, id_expires_at, 0, NULL)), version)) {
        rb_hash_aset(keeping->done, key, entry);
    }
    return ST_CONTINUE;
}

/* `count` bytes, up to 8, the lowest first. */
static uint64_t number_in(const char *bytes, unsigned count) {
    uint64_t number = 0;

    for (unsigned i = count; i-- > 0;) {
        number = number << 8 | (unsigned char)bytes[i];
    }
    return number;
}

/* The String in bytes of Rails' coder that has no version, and when it expires (INFINITY: never); or nil. */
static VALUE string_in(VALUE payload, double *expires_at) {
    if (!RB_TYPE_P(payload, T_STRING) || RSTRING_LEN(payload) < BODY_AT ||
        memcmp(RSTRING_PTR(payload), SIGNATURE, TYPE_AT) != 0) {
        return Qnil;
    }
    const char *bytes = RSTRING_PTR(payload);
    int32_t version_bytes = (int32_t)(uint32_t)number_in(bytes + VERSION_BYTES_AT, 4);
    uint64_t seconds = number_in(bytes + EXPIRES_AT, 8);
    memcpy(expires_at, &seconds, sizeof *expires_at);
    if (version_bytes >= 0 || isnan(*expires_at)) {
        return Qnil;
    }
    *expires_at = *expires_at < 0.0 ? INFINITY : *expires_at;
    rb_encoding *encoding = bytes[TYPE_AT] == TYPE_UTF8     ? rb_utf8_encoding()
                            : bytes[TYPE_AT] == TYPE_BINARY ? rb_ascii8bit_encoding()
                            : bytes[TYPE_AT] == TYPE_ASCII  ? rb_usascii_encoding()
                                                            : NULL;
    VALUE string = encoding ? rb_enc_str_new(bytes + BODY_AT, RSTRING_LEN(payload) - BODY_AT, encoding) : Qnil;
    RB_GC_GUARD(payload); /* the Hash alone would let compaction move it */
    return string;
}

static int keep_string(VALUE key, VALUE payload, VALUE arg) {
    keeping *keeping = (struct keeping *)arg;
    double expires_at;
    VALUE value = string_in(payload, &expires_at);

    if (NIL_P(value) || expires_at <= (double)keeping->now_ms / 1000.0) {
        return ST_CONTINUE;
    }
    keep(keeping, key, value, fmin(expires_at, keeping->latest), Qnil);
    rb_hash_aset(keeping->done, key, value);
    return ST_DELETE;
}

/* The arguments: entries, leases, latest, now, tags, stamp. */
static VALUE visit(VALUE self, const VALUE *argv, bool trees, int (*each)(VALUE, VALUE, VALUE)) {
    VALUE all = argv[0];
    keeping keeping = {.self = self,
                       .leases = argv[1],
                       .now = argv[3],
                       .done = rb_hash_new(),
                       .now_ms = NUM2LL(argv[3]),
                       .latest = NUM2DBL(argv[2]),
                       .trees = trees,
                       .wrong_key = Qnil};

    glue_check_hash(all, "entries");
    glue_check_hash(argv[1], "leases");
    glue_tags_take(argv[4], &keeping.tags);
    glue_tags_into(&keeping.extra, &keeping.tags, argv[5]);
    rb_hash_foreach(all, each, (VALUE)&keeping);
    RB_GC_GUARD(keeping.tags.packed);
    RB_GC_GUARD(keeping.done);
    if (keeping.wrong != LARDER_OK) {
        glue_raise_for_key(keeping.wrong, keeping.wrong_key); /* all others were stored */
    }
    return keeping.done;
}

/* keep_copies(entries, leases, latest, now, tags, stamp, trees) */
static VALUE keep_copies(int argc, VALUE *argv, VALUE self) {
    rb_check_arity(argc, 7, 7);
    return visit(self, argv, RTEST(argv[6]), keep_entry);
}

/* keep_strings(payloads, leases, latest, now, tags, stamp) */
static VALUE keep_strings(int argc, VALUE *argv, VALUE self) {
    rb_check_arity(argc, 6, 6);
    return visit(self, argv, false, keep_string);
}

void copies_init(VALUE store_module) {
    VALUE records = rb_const_get(store_module, rb_intern("Records"));

    id_value = rb_intern("value");
    id_version = rb_intern("version");
    id_expires_at = rb_intern("expires_at");
    rb_define_method(records, "keep_copies", keep_copies, -1);
    rb_define_method(records, "keep_strings", keep_strings, -1);
}
