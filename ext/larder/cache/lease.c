/*
 * lease.c — takes, awaits and ends leases of keys.
 */
#include "cache/lease.h"
#include "base/arguments.h"
#include "base/errors.h"
#include "cache/attach.h"

#include <string.h>

typedef struct waiting {
    const void *key;
    size_t key_bytes;
    larder_lease lease;
    uint32_t wait_ms;
    larder_call call;
    larder_status status;
} waiting;

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

VALUE glue_lease_take(VALUE cache, VALUE key, VALUE lease_ms, VALUE over, VALUE now) {
    larder_call call = glue_call(now);
    larder_lease lease = {{0, 0}, 0, 0, 0, 0};
    int64_t ms = NUM2LL(lease_ms);

    glue_check_string(key, "key");
    if (!NIL_P(over)) {
        lease = glue_lease_of(over);
    }
    larder *engine = glue_attach_to_change(cache);
    larder_status status =
        larder_lease_take(engine, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), ms, &lease, &call);
    if (status == LARDER_OK || status == LARDER_LEASED || status == LARDER_NOT_STORED) {
        return rb_assoc_new(INT2FIX(status), string_of(&lease));
    }
    if (status == LARDER_INVALID || status == LARDER_KEY_TOO_LONG) {
        glue_raise_for_key(status, key);
    }
    return Qnil;
}

VALUE glue_leases_take(VALUE cache, VALUE keys, VALUE lease_ms, VALUE now) {
    VALUE taken = rb_hash_new();
    larder_call call = glue_call(now);
    int64_t ms = NUM2LL(lease_ms);

    glue_check_array(keys, "keys");
    larder *engine = glue_attach_to_change(cache);
    for (long i = 0; i < RARRAY_LEN(keys); i++) {
        VALUE key = rb_ary_entry(keys, i);
        larder_lease lease = {{0, 0}, 0, 0, 0, 0};

        glue_check_string(key, "key");
        const char *bytes = RSTRING_PTR(key);
        size_t size = (size_t)RSTRING_LEN(key);
        larder_status status = larder_lease_take(engine, bytes, size, ms, &lease, &call);
        if (status == LARDER_NOT_STORED) {
            status = larder_lease_take(engine, bytes, size, ms, &lease, &call);
        }
        if (status == LARDER_OK) {
            rb_hash_aset(taken, glue_hash_key(key), string_of(&lease));
        }
    }
    return taken;
}

static void run_wait(larder *engine, void *arg) {
    waiting *wait = arg;

    wait->status = larder_lease_wait(engine, wait->key, wait->key_bytes, &wait->lease, wait->wait_ms, &wait->call);
}

VALUE glue_lease_wait(VALUE cache, VALUE key, VALUE lease, VALUE wait_ms, VALUE now) {
    waiting wait = {.lease = glue_lease_of(lease), .wait_ms = NUM2UINT(wait_ms), .call = glue_call(now)};

    glue_check_string(key, "key");
    key = rb_str_new_frozen(key);
    wait.key = RSTRING_PTR(key);
    wait.key_bytes = (size_t)RSTRING_LEN(key);
    glue_handle_call_released(cache, run_wait, &wait);
    RB_GC_GUARD(key);
    return wait.status == LARDER_LEASED ? Qfalse : Qtrue;
}

VALUE glue_lease_end(VALUE cache, VALUE key, VALUE lease, VALUE fresh_ms, VALUE now) {
    larder_call call = glue_call(now);
    larder_lease ended = glue_lease_of(lease);
    int64_t ms = NUM2LL(fresh_ms);

    glue_check_string(key, "key");
    larder *engine = glue_attach_to_change(cache);
    return larder_lease_end(engine, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), &ended, ms, &call) == LARDER_OK
               ? Qtrue
               : Qfalse;
}
