/*
 * usage.c — native methods about statistics by keyspace and by time: Cache._usage, Cache._keyspace_of,
 * _name_keyspaces, _keep_usage, count_failure. lib/larder/bytes/usage.rb gives what they return names.
 */
#include "cache/usage.h"
#include "base/arguments.h"
#include "base/errors.h"
#include "cache/attach.h"

#include <string.h>

#define COUNTS (0 LARDER_USAGE_LIST(ONE))
#define ONE(name, text) +1

static VALUE counts_of(const larder_usage_counts *counts) {
    VALUE numbers[COUNTS];
    int i = 0;

#define NUMBER(name, text) numbers[i++] = ULL2NUM(counts->name);
    LARDER_USAGE_LIST(NUMBER)
#undef NUMBER
    return rb_ary_new_from_values(COUNTS, numbers);
}

/* [row, name or nil, traffic, since when, counts] of keyspaces that have a row; the last is that of all others. */
static VALUE keyspaces_of(const larder_usage *usage) {
    VALUE list = rb_ary_new();

    for (int i = 0; i <= LARDER_KEYSPACES; i++) {
        const larder_keyspace *row = &usage->keyspaces[i];
        bool is_rest = i == LARDER_KEYSPACES;

        if (row->since_ms == 0 && !is_rest) {
            continue;
        }
        rb_ary_push(list, rb_ary_new_from_args(
                              5, INT2FIX(i), is_rest ? Qnil : rb_utf8_str_new(row->name, (long)row->name_bytes),
                              ULL2NUM(row->traffic), LL2NUM(row->since_ms), counts_of(&row->counts)));
    }
    return list;
}

/* [began, counts of the whole, counts by row of keyspaces] of buckets that have any. */
static VALUE buckets_of(const larder_bucket *buckets, int count) {
    VALUE list = rb_ary_new();

    for (int i = 0; i < count; i++) {
        const larder_bucket *bucket = &buckets[i];
        VALUE parts;

        if (bucket->began_ms == 0) {
            continue;
        }
        parts = rb_hash_new();
        for (int k = 0; k < LARDER_BUCKET_KEYSPACES; k++) {
            if (bucket->parts[k].keyspace >= 0) {
                rb_hash_aset(parts, INT2FIX(bucket->parts[k].keyspace), counts_of(&bucket->parts[k].counts));
            }
        }
        rb_ary_push(list, rb_ary_new_from_args(3, LL2NUM(bucket->began_ms), counts_of(&bucket->whole), parts));
    }
    return list;
}

/* [beginning of the key, length of the key, weight, error, seen, bytes of the value]. */
static VALUE keys_of(const larder_used_key *keys) {
    VALUE list = rb_ary_new();

    for (int i = 0; i < LARDER_USAGE_KEYS; i++) {
        const larder_used_key *key = &keys[i];
        uint32_t kept = key->key_bytes < sizeof(key->key) ? key->key_bytes : (uint32_t)sizeof(key->key);

        if (key->weight == 0) {
            continue;
        }
        rb_ary_push(list, rb_ary_new_from_args(6, rb_utf8_str_new(key->key, (long)kept), UINT2NUM(key->key_bytes),
                                               ULL2NUM(key->weight), ULL2NUM(key->error), LL2NUM(key->seen_ms),
                                               ULL2NUM(key->value_bytes)));
    }
    return list;
}

static VALUE texts_of(const char (*texts)[64], uint32_t count) {
    VALUE list = rb_ary_new();

    for (uint32_t i = 0; i < count; i++) {
        rb_ary_push(list, rb_utf8_str_new_cstr(texts[i]));
    }
    return list;
}

static VALUE rules_of(const larder_keyspace_rules *rules) {
    return rb_ary_new_from_args(3, rb_str_new((const char *)rules, sizeof(*rules)),
                                texts_of(rules->text, rules->namespaces),
                                texts_of(rules->text + LARDER_KEYSPACE_NAMESPACES, rules->patterns));
}

static VALUE all_of(const larder_usage *usage, bool hours) {
    return rb_ary_new_from_args(8, LL2NUM(usage->since_ms), LL2NUM(usage->changed_ms), keyspaces_of(usage),
                                buckets_of(usage->minutes, LARDER_MINUTES),
                                buckets_of(usage->hours, hours ? LARDER_HOURS : 0), keys_of(usage->hot),
                                keys_of(usage->heavy), rules_of(&usage->rules));
}

struct reading {
    const char *path;
    larder_usage *usage;
    larder_error error;
    larder_status status;
};

static void run_read(larder *none, void *arg) {
    struct reading *reading = arg;

    (void)none;
    reading->status = larder_get_usage(reading->path, reading->usage, &reading->error);
}

/* The statistics of the cache at a path, with or without the hours; nil: there are none. */
static VALUE cache_usage(VALUE klass, VALUE path, VALUE hours) {
    VALUE frozen = rb_str_new_frozen(path);
    VALUE holder = Qnil;
    VALUE result = Qnil;
    struct reading reading = {.path = StringValueCStr(frozen)};

    (void)klass;
    reading.usage = rb_alloc_tmp_buffer(&holder, (long)sizeof(*reading.usage));
    do {
        rb_thread_check_ints();
    } while (!glue_without_gvl(run_read, NULL, &reading));
    if (reading.status == LARDER_OK) {
        result = all_of(reading.usage, RTEST(hours));
    } else if (reading.status != LARDER_NOT_THERE) {
        glue_raise_open(&reading.error, reading.path);
    }
    rb_free_tmp_buffer(&holder);
    RB_GC_GUARD(frozen);
    return result;
}

/* The keyspace of a key by the rules that _usage returned, or nil: by none. */
static VALUE cache_keyspace_of(VALUE klass, VALUE rules, VALUE key) {
    char name[sizeof(((larder_keyspace *)0)->name)];
    larder_keyspace_rules copy;
    size_t bytes;

    (void)klass;
    glue_check_string(key, "key");
    memset(&copy, 0, sizeof(copy));
    if (!NIL_P(rules)) {
        glue_check_string(rules, "rules");
        memcpy(&copy, RSTRING_PTR(rules), RSTRING_LEN(rules) == sizeof(copy) ? sizeof(copy) : 0);
    }
    bytes = larder_keyspace_of(&copy, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), name);
    RB_GC_GUARD(key);
    return rb_utf8_str_new(name, (long)bytes);
}

/* Names a namespace (nil: none) and patterns. False: one is too long, or there are too many. */
static VALUE cache_name_keyspaces(VALUE self, VALUE name, VALUE patterns) {
    const char *texts[LARDER_KEYSPACE_PATTERNS];

    glue_check_array(patterns, "patterns");
    long count = RARRAY_LEN(patterns);
    bool all = count <= LARDER_KEYSPACE_PATTERNS;

    count = all ? count : LARDER_KEYSPACE_PATTERNS;
    for (long i = 0; i < count; i++) {
        VALUE pattern = rb_ary_entry(patterns, i);

        glue_check_string(pattern, "a pattern"); /* the Array keeps it, unlike what a to_str makes */
        texts[i] = StringValueCStr(pattern);
    }
    all = larder_name_keyspaces(glue_handle_engine(glue_handle_of(self)),
                                NIL_P(name) ? NULL : StringValueCStr(name), texts, (size_t)count) == LARDER_OK &&
          all;
    RB_GC_GUARD(patterns);
    RB_GC_GUARD(name);
    return all ? Qtrue : Qfalse;
}

struct keeping {
    uint32_t wait_ms;
    larder_error error;
    larder_status status;
};

static void run_keep(larder *engine, void *arg) {
    struct keeping *keeping = arg;

    keeping->status = larder_keep_usage(engine, keeping->wait_ms, &keeping->error);
}

/* Adds the counts of this process to the file: if that is due, or now. nil, or the error that prevented it. If it
 * is due, and another process adds its own, the next call does it. Raises ClosedError if `now`. */
static VALUE cache_keep_usage(VALUE self, VALUE now) {
    struct keeping keeping = {.wait_ms = RTEST(now) ? LARDER_USAGE_WAIT_MS : 0, .status = LARDER_OK};
    larder *engine = RTEST(now) ? glue_handle_engine(glue_handle_of(self)) : glue_handle_engine_or_null(self);

    if (!engine || (!RTEST(now) && !larder_usage_due(engine))) {
        return Qnil;
    }
    VALUE path = rb_str_new_cstr(larder_path(engine)); /* another thread may close the cache during the call */
    glue_handle_call_released(self, run_keep, &keeping);
    VALUE error = keeping.status == LARDER_OK || (keeping.status == LARDER_LOCKED && !RTEST(now))
                      ? Qnil
                      : glue_open_error(&keeping.error, RSTRING_PTR(path));
    RB_GC_GUARD(path);
    return error;
}

/* lib/larder/bytes/cache.rb documents it. */
static VALUE cache_count_failure(VALUE self) {
    larder_count_failure(glue_handle_engine_or_null(self));
    return self;
}

static VALUE names_of_counts(void) {
    VALUE names = rb_ary_new();

#define PUSH(name, text) rb_ary_push(names, ID2SYM(rb_intern(#name)));
    LARDER_USAGE_LIST(PUSH)
#undef PUSH
    return rb_ary_freeze(names);
}

void glue_usage_init(VALUE cache_class) {
    VALUE singleton = rb_singleton_class(cache_class);

    rb_define_const(cache_class, "USAGE_COUNTS", names_of_counts());
    rb_define_private_method(singleton, "_usage", cache_usage, 2);
    rb_define_private_method(singleton, "_keyspace_of", cache_keyspace_of, 2);
    rb_define_private_method(cache_class, "_name_keyspaces", cache_name_keyspaces, 2);
    rb_define_private_method(cache_class, "_keep_usage", cache_keep_usage, 1);
    rb_define_method(cache_class, "count_failure", cache_count_failure, 0);
}
