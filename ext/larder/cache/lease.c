/*
 * lease.c — takes, awaits and ends leases of keys.
 */
#include "cache/lease.h"
#include "base/arguments.h"
#include "base/errors.h"
#include "cache/attach.h"

#include <string.h>

typedef struct leasing {
    const void *key;
    size_t key_bytes;
    larder_lease lease;
    int64_t ms; /* the length of the lease, of the wait, or of the time in which the old value is fresh */
    larder_call call;
    larder_status status;
} leasing;

larder_lease glue_lease_of(VALUE lease) {
    larder_lease copy;

    glue_check_string(lease, "lease");
    if ((size_t)RSTRING_LEN(lease) != sizeof copy) {
        rb_raise(rb_eTypeError, "lease has %ld bytes; it is what a call of lease answered", RSTRING_LEN(lease));
    }
    memcpy(&copy, RSTRING_PTR(lease), sizeof copy);
    return copy;
}

static VALUE string_of(const larder_lease *lease) {
    return rb_obj_freeze(rb_str_new((const char *)lease, sizeof *lease));
}

static void run_take(larder *engine, void *arg) {
    leasing *one = arg;

    one->status = larder_lease_take(engine, one->key, one->key_bytes, one->ms, &one->lease, &one->call);
}

static void run_wait(larder *engine, void *arg) {
    leasing *one = arg;

    one->status = larder_lease_wait(engine, one->key, one->key_bytes, &one->lease, (uint32_t)one->ms, &one->call);
}

static void run_end(larder *engine, void *arg) {
    leasing *one = arg;

    one->status = larder_lease_end(engine, one->key, one->key_bytes, &one->lease, one->ms, &one->call);
}

static void point_to(leasing *one, VALUE key) {
    one->key = RSTRING_PTR(key);
    one->key_bytes = (size_t)RSTRING_LEN(key);
}

/* With the GVL, as a try call. */
static void try(larder *engine, VALUE key, void (*run)(larder *engine, void *arg), leasing *one) {
    point_to(one, key);
    one->call.flags = LARDER_CALL_TRY;
    run(engine, one);
    one->call.flags = 0;
}

/* Tries it. If the lock of the key's shard is taken, waits for it without the GVL. */
static void perform(VALUE cache, VALUE key, void (*run)(larder *engine, void *arg), leasing *one) {
    try(glue_attach_to_change(cache), key, run, one);
    if (one->status == LARDER_BUSY) {
        key = rb_str_new_frozen(key);
        point_to(one, key);
        glue_attach_and_call_released(cache, run, one);
        RB_GC_GUARD(key);
    }
}

VALUE glue_lease_take(VALUE cache, VALUE key, VALUE lease_ms, VALUE over, VALUE now) {
    leasing one = {.ms = NUM2LL(lease_ms), .call = glue_call(now)};

    glue_check_string(key, "key");
    if (!NIL_P(over)) {
        one.lease = glue_lease_of(over);
    }
    perform(cache, key, run_take, &one);
    if (one.status == LARDER_OK || one.status == LARDER_LEASED || one.status == LARDER_NOT_STORED) {
        return rb_assoc_new(INT2FIX(one.status), string_of(&one.lease));
    }
    if (one.status == LARDER_INVALID || one.status == LARDER_KEY_TOO_LONG) {
        glue_raise_for_key(one.status, key);
    }
    return Qnil;
}

VALUE glue_leases_take(VALUE cache, VALUE keys, VALUE lease_ms, VALUE now) {
    VALUE taken = rb_hash_new();
    leasing one = {.ms = NUM2LL(lease_ms), .call = glue_call(now)};

    glue_check_array(keys, "keys");
    larder *engine = glue_attach_to_change(cache);
    for (long i = 0; i < RARRAY_LEN(keys); i++) {
        VALUE key = rb_ary_entry(keys, i);

        glue_check_string(key, "key");
        one.lease = (larder_lease){{0, 0}, 0, 0, 0, 0};
        try(engine, key, run_take, &one);
        if (one.status == LARDER_NOT_STORED) {
            try(engine, key, run_take, &one);
        }
        if (one.status == LARDER_OK) {
            rb_hash_aset(taken, glue_hash_key(key), string_of(&one.lease));
        }
    }
    return taken;
}

VALUE glue_lease_wait(VALUE cache, VALUE key, VALUE lease, VALUE wait_ms, VALUE now) {
    leasing one = {.lease = glue_lease_of(lease), .ms = NUM2UINT(wait_ms), .call = glue_call(now)};

    glue_check_string(key, "key");
    key = rb_str_new_frozen(key);
    point_to(&one, key);
    glue_handle_call_released(cache, run_wait, &one);
    RB_GC_GUARD(key);
    return one.status == LARDER_LEASED ? Qfalse : Qtrue;
}

VALUE glue_lease_end(VALUE cache, VALUE key, VALUE lease, VALUE fresh_ms, VALUE now) {
    leasing one = {.lease = glue_lease_of(lease), .ms = NUM2LL(fresh_ms), .call = glue_call(now)};

    glue_check_string(key, "key");
    perform(cache, key, run_end, &one);
    return one.status == LARDER_OK ? Qtrue : Qfalse;
}
