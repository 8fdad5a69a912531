/*
 * records.c — Larder::Store::Records: entries of the Rails store's ordinary path.
 *
 * A record is [bytes, flags, ttl_ms] when stored, with stale_ms and compute_ms behind if it is kept when it is
 * stale, and tags and a stamp behind those if it has tags; and [bytes, flags, expires_at_ms, identity] when read.
 * An entry is [value, expires_at, version] of a plain value, with true behind if it is kept when it is stale, and
 * a String of any other: the bytes of Rails' coder, a raw value, a counter. Of such bytes that are kept it is
 * [bytes, expires_at].
 */
#include "rails/records.h"
#include "base/arguments.h"
#include "cache/attach.h"
#include "cache/lease.h"
#include "cache/read.h"
#include "cache/tags.h"
#include "cache/write.h"
#include "cache/write_multi.h"
#include "rails/fast_entry.h"
#include "value/plain.h"

#include <math.h>

static ID id_cache;

/*
 * The least number of seconds that is that many whole ms. Rails compares it with Time.now.to_f, the engine and the
 * fast path compare the whole ms of that, and all of them must find an entry expired at the same moment.
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
    plain_stored stored;

    if (PLAIN_KIND(item->flags) == PLAIN_NONE) {
        return item->fresh_until_ms ? rb_assoc_new(bytes, DBL2NUM(seconds_of(item->fresh_until_ms))) : bytes;
    }
    if (!plain_split(item->flags, RSTRING_PTR(bytes), (size_t)RSTRING_LEN(bytes), &stored)) {
        return Qnil;
    }
    VALUE version = stored.version == NULL ? Qnil : rb_utf8_str_new(stored.version, (long)stored.version_bytes);
    int64_t expires_at_ms = plain_end_ms(item);
    VALUE expires_at = expires_at_ms ? DBL2NUM(seconds_of(expires_at_ms)) : Qnil;
    rb_str_set_len(bytes, (long)stored.size_bytes);
    VALUE value = plain_load_string(stored.flags, bytes);

    if (value == Qundef) {
        return Qnil;
    }
    return item->fresh_until_ms ? rb_ary_new_from_args(4, value, expires_at, version, Qtrue)
                                : rb_ary_new_from_args(3, value, expires_at, version);
}

VALUE records_cache(VALUE self) { return rb_ivar_get(self, id_cache); }

static VALUE get_entry(VALUE self, VALUE key, VALUE now) {
    larder_call call = glue_call(now);
    larder_item item;
    VALUE bytes = glue_get(records_cache(self), key, &item, &call);

    return NIL_P(bytes) ? Qnil : entry_of(bytes, &item);
}

/* Also of an entry that is stale. */
static VALUE get_kept_entry(VALUE self, VALUE key, VALUE now) {
    larder_call call = glue_call(now);
    larder_item item = {0};

    call.flags = LARDER_CALL_STALE;
    VALUE bytes = glue_get(records_cache(self), key, &item, &call);
    return NIL_P(bytes) ? Qnil : entry_of(bytes, &item);
}

static VALUE is_early(VALUE self, VALUE key, VALUE now) {
    larder_call call = glue_call(now);
    larder_item item;

    glue_check_string(key, "key");
    larder *engine = glue_attach_to_read(records_cache(self));
    return larder_exists(engine, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), &item, &call) == LARDER_OK &&
                   fast_entry_is_early(&item, NUM2LL(now))
               ? Qtrue
               : Qfalse;
}

static VALUE get_entries(VALUE self, VALUE keys, VALUE now) {
    larder_call call = glue_call(now);

    return glue_get_multi(records_cache(self), keys, &call, entry_of);
}

static VALUE get_kept_entries(VALUE self, VALUE keys, VALUE now) {
    larder_call call = glue_call(now);

    call.flags = LARDER_CALL_STALE;
    return glue_get_multi(records_cache(self), keys, &call, entry_of);
}

static VALUE get_record(VALUE self, VALUE key, VALUE now) {
    larder_call call = glue_call(now);
    larder_item item;
    uint64_t identity;
    VALUE bytes = glue_get_to_swap(records_cache(self), key, &item, &identity, &call);

    if (NIL_P(bytes)) {
        return Qnil;
    }
    int64_t expires_at_ms = item.fresh_until_ms ? item.fresh_until_ms : item.expires_at_ms;
    return rb_ary_new_from_args(4, bytes, UINT2NUM(item.flags), LL2NUM(expires_at_ms), ULL2NUM(identity));
}

static VALUE entry_of_record(VALUE self, VALUE record) {
    larder_item item = {0};

    (void)self;
    glue_check_array(record, "record");
    glue_check_string(rb_ary_entry(record, 0), "bytes");
    item.flags = (uint8_t)NUM2UINT(rb_ary_entry(record, 1));
    item.expires_at_ms = NUM2LL(rb_ary_entry(record, 2));
    VALUE bytes = rb_ary_entry(record, 0);
    VALUE copy = rb_str_new(RSTRING_PTR(bytes), RSTRING_LEN(bytes));
    RB_GC_GUARD(bytes); /* the record alone would let compaction move it */
    return entry_of(copy, &item);
}

/* All but key and value of the store of a record. */
static larder_store terms_of(VALUE record) {
    glue_check_array(record, "record");
    return (larder_store){.flags = (uint8_t)NUM2UINT(rb_ary_entry(record, 1)),
                          .ttl_ms = NUM2LL(rb_ary_entry(record, 2))};
}

enum { KEPT = 5, TAGGED = 7 }; /* elements */

/* What only some records have; with `tags`, which must stay on the C stack. */
static larder_extra extra_of(VALUE record, glue_tags *tags) {
    larder_extra extra = {0};

    tags->packed = Qnil;
    if (RARRAY_LEN(record) >= KEPT) {
        extra.stale_ms = NUM2LL(rb_ary_entry(record, 3));
        extra.compute_ms = (uint32_t)NUM2UINT(rb_ary_entry(record, 4));
    }
    if (RARRAY_LEN(record) >= TAGGED) {
        glue_tags_take(rb_ary_entry(record, 5), tags);
        glue_tags_into(&extra, tags, rb_ary_entry(record, 6));
    }
    return extra;
}

/* The record of an entry that is kept for stale_ms after it has expired. */
static VALUE kept(VALUE self, VALUE record, VALUE stale_ms, VALUE compute_ms) {
    larder_store terms = terms_of(record);

    (void)self;
    plain_without_grace(&terms.flags, &terms.ttl_ms);
    return rb_ary_new_from_args(KEPT, rb_ary_entry(record, 0), UINT2NUM(terms.flags), LL2NUM(terms.ttl_ms),
                                stale_ms, compute_ms);
}

/* The record of an entry that has tags, and begins from the stamp. */
static VALUE tagged(VALUE self, VALUE record, VALUE tags, VALUE stamp) {
    glue_check_array(record, "record");
    VALUE all = rb_ary_dup(record);

    (void)self;
    while (RARRAY_LEN(all) < KEPT) {
        rb_ary_push(all, INT2FIX(0));
    }
    rb_ary_push(all, tags);
    rb_ary_push(all, stamp);
    return all;
}

/* `lease` may be NULL. */
static VALUE store(VALUE self, VALUE key, VALUE record, VALUE now, larder_mode mode, const larder_lease *lease) {
    larder_store terms = terms_of(record);
    glue_tags tags;
    larder_extra extra = extra_of(record, &tags);

    extra.lease = lease;
    terms.mode = (uint8_t)mode;
    terms.extra = lease || RARRAY_LEN(record) >= KEPT ? &extra : NULL;
    VALUE answer = glue_set(records_cache(self), key, rb_ary_entry(record, 0), &terms, now);
    RB_GC_GUARD(tags.packed);
    return answer;
}

static VALUE set(VALUE self, VALUE key, VALUE record, VALUE now) {
    return store(self, key, record, now, LARDER_SET, NULL);
}

static VALUE add(VALUE self, VALUE key, VALUE record, VALUE now) {
    return store(self, key, record, now, LARDER_ADD, NULL);
}

/* A set that stores only while the key has the lease. */
static VALUE set_leased(VALUE self, VALUE key, VALUE record, VALUE now, VALUE lease) {
    larder_lease held = glue_lease_of(lease);

    return store(self, key, record, now, LARDER_SET, &held);
}

static VALUE lease(VALUE self, VALUE key, VALUE lease_ms, VALUE over, VALUE now) {
    return glue_lease_take(records_cache(self), key, lease_ms, over, now);
}

static VALUE leases(VALUE self, VALUE keys, VALUE lease_ms, VALUE now) {
    return glue_leases_take(records_cache(self), keys, lease_ms, now);
}

static VALUE lease_wait(VALUE self, VALUE key, VALUE lease, VALUE wait_ms, VALUE now) {
    return glue_lease_wait(records_cache(self), key, lease, wait_ms, now);
}

/* Counts what a caller did, see larder_count_deed(). */
static VALUE count_deed(VALUE self, VALUE deed, VALUE key) {
    glue_check_string(key, "key");
    larder_count_deed(glue_handle_engine_or_null(records_cache(self)), (larder_deed)NUM2INT(deed),
                      RSTRING_PTR(key), (size_t)RSTRING_LEN(key));
    RB_GC_GUARD(key);
    return self;
}

/* Counts a read of the key in another way, see larder_recount(). */
static VALUE recount(VALUE self, VALUE key, VALUE from, VALUE to) {
    glue_check_string(key, "key");
    larder_recount(glue_handle_engine_or_null(records_cache(self)), RSTRING_PTR(key), (size_t)RSTRING_LEN(key),
                   (larder_read)NUM2INT(from), (larder_read)NUM2INT(to));
    RB_GC_GUARD(key);
    return self;
}

static VALUE lease_end(VALUE self, VALUE key, VALUE lease, VALUE fresh_ms, VALUE now) {
    return glue_lease_end(records_cache(self), key, lease, fresh_ms, now);
}

static VALUE cas(VALUE self, VALUE key, VALUE read, VALUE record, VALUE now) {
    larder_store terms = terms_of(record);
    glue_tags tags;
    larder_extra extra = extra_of(record, &tags);

    glue_check_array(read, "a record that was read");
    terms.extra = RARRAY_LEN(record) >= KEPT ? &extra : NULL;
    VALUE answer =
        glue_swap(records_cache(self), key, NUM2ULL(rb_ary_entry(read, 3)), rb_ary_entry(record, 0), &terms, now);
    RB_GC_GUARD(tags.packed);
    return answer;
}

static int collect_record(VALUE key, VALUE record, VALUE rows) {
    glue_check_array(record, "a record");
    glue_rows_add(rows, key, rb_ary_entry(record, 0), rb_ary_entry(record, 1), rb_ary_entry(record, 2));
    return ST_CONTINUE;
}

static VALUE set_multi(VALUE self, VALUE records, VALUE now) {
    glue_check_hash(records, "records");
    VALUE rows = glue_rows_new((long)RHASH_SIZE(records));
    rb_hash_foreach(records, collect_record, rows);
    return glue_rows_store(records_cache(self), rows, now);
}

static double seconds(VALUE given) { return NIL_P(given) ? 0.0 : NUM2DBL(given); }

bool records_take_plain(VALUE value, const double *expires_at, const plain_life *life, VALUE version,
                        int64_t now_ms, bool trees, plain_value *taken, larder_store *terms) {
    if (!(NIL_P(version) || plain_is_version(version)) ||
        !(plain_from(value, taken) || (trees && plain_from_tree(value, taken)))) {
        return false;
    }
    bool has_version = !NIL_P(version) && RSTRING_LEN(version) > 0;
    if (has_version) {
        plain_add_version(taken, version);
    }
    return plain_terms(taken, expires_at, life, !NIL_P(version) && !has_version, now_ms, &terms->flags,
                       &terms->ttl_ms);
}

/* plain(value, expires_at, expires_in, race_condition_ttl, version, now, trees) */
static VALUE plain(int argc, VALUE *argv, VALUE self) {
    rb_check_arity(argc, 7, 7);
    VALUE value = argv[0], expires_at = argv[1];
    plain_life life = {seconds(argv[2]), seconds(argv[3])};
    double expiry = seconds(expires_at);
    plain_value taken;
    larder_store terms;

    (void)self;
    if (!records_take_plain(value, NIL_P(expires_at) ? NULL : &expiry, &life, argv[4], NUM2LL(argv[5]),
                            RTEST(argv[6]), &taken, &terms)) {
        return Qnil;
    }
    VALUE bytes = plain_bytes(value, &taken);
    RB_GC_GUARD(value);
    return rb_ary_new_from_args(3, bytes, UINT2NUM(terms.flags), LL2NUM(terms.ttl_ms));
}

static VALUE terms(VALUE self, VALUE expires_in, VALUE race, VALUE now) {
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

void records_init(VALUE store_module) {
    VALUE records = rb_define_class_under(store_module, "Records", rb_cObject);

    id_cache = rb_intern("@cache");
    rb_define_method(records, "get_entry", get_entry, 2);
    rb_define_method(records, "get_kept_entry", get_kept_entry, 2);
    rb_define_method(records, "kept", kept, 3);
    rb_define_method(records, "tagged", tagged, 3);
    rb_define_method(records, "early?", is_early, 2);
    rb_define_method(records, "get_entries", get_entries, 2);
    rb_define_method(records, "get_kept_entries", get_kept_entries, 2);
    rb_define_method(records, "get", get_record, 2);
    rb_define_method(records, "entry_of", entry_of_record, 1);
    rb_define_method(records, "set", set, 3);
    rb_define_method(records, "add", add, 3);
    rb_define_method(records, "cas", cas, 4);
    rb_define_method(records, "set_leased", set_leased, 4);
    rb_define_method(records, "lease", lease, 4);
    rb_define_method(records, "leases", leases, 3);
    rb_define_method(records, "lease_wait", lease_wait, 4);
    rb_define_method(records, "lease_end", lease_end, 4);
    rb_define_method(records, "count_deed", count_deed, 2);
    rb_define_method(records, "recount", recount, 3);
    rb_define_const(records, "UNCOUNTED", INT2FIX(LARDER_READ_UNCOUNTED));
    rb_define_const(records, "MISS", INT2FIX(LARDER_READ_MISS));
    rb_define_const(records, "HIT", INT2FIX(LARDER_READ_HIT));
    rb_define_const(records, "STALE", INT2FIX(LARDER_READ_STALE));
    rb_define_const(records, "WAITED", INT2FIX(LARDER_WAITED));
    rb_define_const(records, "REFRESHED", INT2FIX(LARDER_REFRESHED));
    rb_define_const(records, "COMPUTED_ALONE", INT2FIX(LARDER_COMPUTED_ALONE));
    rb_define_const(records, "TAKEN", INT2FIX(LARDER_OK));
    rb_define_const(records, "LEASED", INT2FIX(LARDER_LEASED));
    rb_define_const(records, "PRESENT", INT2FIX(LARDER_NOT_STORED));
    rb_define_method(records, "set_multi", set_multi, 2);
    rb_define_method(records, "plain", plain, -1);
    rb_define_method(records, "terms", terms, 3);
}
