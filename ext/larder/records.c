/*
 * records.c — natives for the Rails store's ordinary path: entries with the flags
 * that plain values have. _get_entry, _get_multi_entries, _get_record,
 * _plain_record and _bytes_terms; what stores them is in write.c.
 *
 * What an entry is read as: a String where its bytes are someone else's (Rails'
 * coder, a raw value, a counter), or [value, expires_at, version] of a plain one.
 */
#include "plain.h"

#include <math.h>

/*
 * Unix ms as the least number of seconds whose whole ms are as many. Rails compares it with Time.now.to_f, the
 * engine and the fast path compare the whole ms of that, and all of them must find an entry expired at once.
 */
static double seconds_of(int64_t ms) {
    double seconds = (double)ms / 1000.0;

    for (unsigned i = 0; i < 4 && floor(seconds * 1000.0) < (double)ms; i++) {
        seconds = nextafter(seconds, HUGE_VAL);
    }
    for (unsigned i = 0; i < 4 && floor(nextafter(seconds, -HUGE_VAL) * 1000.0) >= (double)ms; i++) {
        seconds = nextafter(seconds, -HUGE_VAL);
    }
    return seconds;
}

static VALUE entry_of(VALUE bytes, const larder_item *item) {
    if (PLAIN_KIND(item->flags) == PLAIN_NONE) {
        return bytes;
    }
    int64_t expires_at_ms = plain_expires_at_ms(item->flags, item->expires_at_ms);
    VALUE expires_at = expires_at_ms ? DBL2NUM(seconds_of(expires_at_ms)) : Qnil;
    VALUE version = item->flags & PLAIN_EMPTY_VERSION ? rb_utf8_str_new("", 0) : Qnil;
    VALUE value = plain_load_string(item->flags, bytes);

    return value == Qundef ? Qnil : rb_ary_new_from_args(3, value, expires_at, version);
}

VALUE glue_cache_get_entry(VALUE self, VALUE key, VALUE now) {
    larder_call call = glue_call(now);
    larder_item item;
    VALUE bytes = glue_get(self, key, &item, &call);

    return NIL_P(bytes) ? Qnil : entry_of(bytes, &item);
}

VALUE glue_cache_get_multi_entries(VALUE self, VALUE keys, VALUE now) {
    larder_call call = glue_call(now);

    return glue_get_multi(self, keys, &call, entry_of);
}

/* As _cas_record expects it. */
VALUE glue_cache_get_record(VALUE self, VALUE key, VALUE now) {
    larder_call call = glue_call(now);
    larder_item item;
    VALUE bytes = glue_get(self, key, &item, &call);

    return NIL_P(bytes) ? Qnil : rb_ary_new_from_args(3, bytes, UINT2NUM(item.flags), LL2NUM(item.expires_at_ms));
}

/* What _get_entry would have answered for a record that was read. */
VALUE glue_cache_entry_of(VALUE self, VALUE record) {
    larder_item item = {0};

    (void)self;
    glue_check_array(record, "record");
    glue_check_string(rb_ary_entry(record, 0), "bytes");
    item.flags = (uint8_t)NUM2UINT(rb_ary_entry(record, 1));
    item.expires_at_ms = NUM2LL(rb_ary_entry(record, 2));
    return entry_of(rb_str_dup(rb_ary_entry(record, 0)), &item);
}

static bool is_empty(VALUE version) { return RB_TYPE_P(version, T_STRING) && RSTRING_LEN(version) == 0; }

static double seconds(VALUE given) { return NIL_P(given) ? 0.0 : NUM2DBL(given); }

/*
 * [bytes, flags, ttl_ms] of a plain value as an entry that expires at `expires_at` (Unix seconds or nil) and was
 * given `expires_in` and `race` (seconds or nil); nil where the entry is for a coder. Arrays, Hashes and objects
 * are plain where `trees` says so.
 */
VALUE glue_plain_record(VALUE self, VALUE value, VALUE expires_at, VALUE expires_in, VALUE race, VALUE version,
                        VALUE now, VALUE trees) {
    plain_life life = {seconds(expires_in), seconds(race)};
    double expiry = seconds(expires_at);
    plain_value plain;
    uint8_t flags;
    int64_t ttl_ms;

    (void)self;
    if (!(NIL_P(version) || is_empty(version)) ||
        !(plain_from(value, &plain) || (RTEST(trees) && plain_from_tree(value, &plain))) ||
        !plain_terms(&plain, NIL_P(expires_at) ? NULL : &expiry, &life, !NIL_P(version), NUM2LL(now), &flags,
                     &ttl_ms)) {
        return Qnil;
    }
    VALUE bytes = plain.tree;
    if (NIL_P(bytes)) {
        bytes = RB_TYPE_P(value, T_STRING) ? value : rb_str_new(plain.bytes, (long)plain.size_bytes);
    }
    RB_GC_GUARD(value);
    return rb_ary_new_from_args(3, bytes, UINT2NUM(flags), LL2NUM(ttl_ms));
}

/*
 * [flags, ttl_ms] of the record of an entry that a coder dumped, which was given `expires_in` and `race` (seconds
 * or nil). Where no grace of the table is long enough, the record alone knows when it goes.
 */
VALUE glue_bytes_terms(VALUE self, VALUE expires_in, VALUE race, VALUE now) {
    static const plain_value bytes = {.kind = PLAIN_NONE};
    plain_life life = {seconds(expires_in), seconds(race)};
    int64_t now_ms = NUM2LL(now);
    double expiry = (double)now_ms / 1000.0 + life.expires_in;
    uint8_t flags;
    int64_t ttl_ms;

    (void)self;
    if (!plain_terms(&bytes, NIL_P(expires_in) ? NULL : &expiry, &life, false, now_ms, &flags, &ttl_ms)) {
        flags = 0;
        ttl_ms = plain_kept_ms(&life);
    }
    return rb_assoc_new(UINT2NUM(flags), LL2NUM(ttl_ms));
}
