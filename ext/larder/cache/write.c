/*
 * write.c — native methods that change items: _set (also add and replace), _cas,
 * _increment, _touch, _delete, _delete_multi; _set_tagged and _increment_tagged.
 *
 * A write is tried with the GVL held first, which nearly always succeeds. If the
 * lock is taken, or the value is large, it is made without the GVL, on frozen
 * Strings that share the caller's bytes: freezing copies no large value, and a
 * later change of the caller's String copies it first.
 */
#include "cache/write.h"
#include "base/constants.h"
#include "base/errors.h"
#include "cache/attach.h"
#include "cache/tags.h"

typedef struct write {
    larder_status (*perform)(larder *engine, struct write *write);
    larder_store store; /* all have a key, stores also a value, a TTL and a mode */
    const void *expected;
    size_t expected_bytes;
    uint64_t identity; /* of a swap */
    int64_t delta;
    int64_t initial;
    int64_t sum;
    const glue_tags *tags; /* of an increment; NULL: none */
    larder_call call;
    larder_status status;
} write_t;

static larder_status perform_set(larder *engine, write_t *write) {
    return larder_set(engine, &write->store, &write->call);
}

static larder_status perform_cas(larder *engine, write_t *write) {
    return larder_cas(engine, &write->store, write->expected, write->expected_bytes, &write->call);
}

static larder_status perform_swap(larder *engine, write_t *write) {
    return larder_swap(engine, &write->store, write->identity, &write->call);
}

static larder_status perform_increment(larder *engine, write_t *write) {
    if (write->tags) {
        return larder_increment_tagged(engine, write->store.key, write->store.key_bytes, write->delta,
                                       write->initial, write->store.ttl_ms, write->tags->list, write->tags->count,
                                       &write->sum, &write->call);
    }
    return larder_increment(engine, write->store.key, write->store.key_bytes, write->delta, write->initial,
                            write->store.ttl_ms, &write->sum, &write->call);
}

static larder_status perform_touch(larder *engine, write_t *write) {
    return larder_touch(engine, write->store.key, write->store.key_bytes, write->store.ttl_ms, &write->call);
}

static void run_write(larder *engine, void *arg) {
    write_t *write = arg;

    write->status = write->perform(engine, write);
}

/* Points the write at the bytes of the Strings; `value` and `expected` may be nil. Returns the bytes of both. */
static size_t set_pointers(write_t *write, VALUE key, VALUE value, VALUE expected) {
    write->store.key = RSTRING_PTR(key);
    write->store.key_bytes = (size_t)RSTRING_LEN(key);
    if (!NIL_P(value)) {
        write->store.value = RSTRING_PTR(value);
        write->store.value_bytes = (size_t)RSTRING_LEN(value);
    }
    if (!NIL_P(expected)) {
        write->expected = RSTRING_PTR(expected);
        write->expected_bytes = (size_t)RSTRING_LEN(expected);
    }
    return write->store.value_bytes + write->expected_bytes;
}

static larder_status perform_once(VALUE self, write_t *write, VALUE key, VALUE value, VALUE expected) {
    larder *engine = glue_attach_to_change(self);

    if (set_pointers(write, key, value, expected) < GLUE_RELEASE_BYTES) {
        write->call.flags = LARDER_CALL_TRY;
        write->status = write->perform(engine, write);
        write->call.flags = 0;
        if (write->status != LARDER_BUSY) {
            return write->status;
        }
    }
    key = rb_str_new_frozen(key);
    if (!NIL_P(value)) {
        value = rb_str_new_frozen(value);
    }
    if (!NIL_P(expected)) {
        expected = rb_str_new_frozen(expected);
    }
    set_pointers(write, key, value, expected);
    glue_attach_and_call_released(self, run_write, write);
    RB_GC_GUARD(key);
    RB_GC_GUARD(value);
    RB_GC_GUARD(expected);
    return write->status;
}

static bool is_refusal(larder_status status) {
    return status != LARDER_OK && status != LARDER_MISS && status != LARDER_NOT_STORED;
}

/* Raises the reason of a refusal because there is no file. */
static larder_status perform(VALUE self, write_t *write, VALUE key, VALUE value, VALUE expected) {
    larder_status status;

    do {
        status = perform_once(self, write, key, value, expected);
    } while (is_refusal(status) && glue_attached_again(self));
    if (is_refusal(status)) {
        glue_raise_unless_attached(self, key);
    }
    return status;
}

/* The answer of a store: true, or false where its condition did not hold or it was refused. A pinned item that
 * finds no room raises. `value` may be nil. */
static VALUE stored(larder_status status, VALUE self, VALUE key, VALUE value, bool pin) {
    if (status == LARDER_OK) {
        return Qtrue;
    }
    if (status == LARDER_VALUE_TOO_LARGE && !NIL_P(value)) {
        glue_raise_too_large(glue_handle_engine(glue_handle_of(self)), key,
                             (size_t)RSTRING_LEN(value) + (pin ? (size_t)RSTRING_LEN(key) : 0), pin);
    }
    if (pin && glue_is_full(status)) {
        glue_raise_for_key(status, key);
    }
    if (status == LARDER_NOT_STORED || status == LARDER_MISS || glue_is_refusal(status)) {
        return Qfalse;
    }
    glue_raise_for_key(status, key);
}

larder_status glue_set_status(VALUE cache, VALUE key, VALUE value, const larder_store *terms, VALUE now) {
    write_t write = {.perform = perform_set, .store = *terms, .call = glue_call(now)};

    glue_check_string(key, "key");
    glue_check_string(value, "value");
    return perform(cache, &write, key, value, Qnil);
}

VALUE glue_set(VALUE cache, VALUE key, VALUE value, const larder_store *terms, VALUE now) {
    return stored(glue_set_status(cache, key, value, terms, now), cache, key, value, terms->pin);
}

VALUE glue_swap(VALUE cache, VALUE key, uint64_t identity, VALUE value, const larder_store *terms, VALUE now) {
    write_t write = {.perform = perform_swap, .store = *terms, .identity = identity, .call = glue_call(now)};

    glue_check_string(key, "key");
    glue_check_string(value, "value");
    return stored(perform(cache, &write, key, value, Qnil), cache, key, value, terms->pin);
}

/* _set(key, value, ttl_ms, mode, pin, now) */
static VALUE cache_set(int argc, VALUE *argv, VALUE self) {
    rb_check_arity(argc, 6, 6);
    larder_store terms = {.ttl_ms = NUM2LL(argv[2]), .mode = (uint8_t)NUM2UINT(argv[3]), .pin = RTEST(argv[4])};

    return glue_set(self, argv[0], argv[1], &terms, argv[5]);
}

/* As _set, with tags and a stamp behind. */
static VALUE cache_set_tagged(int argc, VALUE *argv, VALUE self) {
    larder_extra extra = {0};
    glue_tags tags;

    rb_check_arity(argc, 8, 8);
    larder_store terms = {
        .ttl_ms = NUM2LL(argv[2]), .mode = (uint8_t)NUM2UINT(argv[3]), .pin = RTEST(argv[4]), .extra = &extra};
    glue_tags_take(argv[6], &tags);
    glue_tags_into(&extra, &tags, argv[7]);
    VALUE answer = glue_set(self, argv[0], argv[1], &terms, argv[5]);
    RB_GC_GUARD(tags.packed);
    return answer;
}

/* _cas(key, expected, value, ttl_ms, pin, now) */
static VALUE cache_cas(int argc, VALUE *argv, VALUE self) {
    rb_check_arity(argc, 6, 6);
    VALUE key = argv[0], expected = argv[1], value = argv[2];
    bool pin = RTEST(argv[4]);
    larder_store terms = {.ttl_ms = NUM2LL(argv[3]), .pin = pin, .expected_expires_at_ms = LARDER_ANY_EXPIRY};
    write_t write = {.perform = perform_cas, .store = terms, .call = glue_call(argv[5])};

    glue_check_string(key, "key");
    glue_check_string(expected, "expected");
    glue_check_string(value, "value");
    return stored(perform(self, &write, key, value, expected), self, key, value, pin);
}

static VALUE cache_touch(VALUE self, VALUE key, VALUE ttl_ms, VALUE now) {
    write_t write = {.perform = perform_touch, .call = glue_call(now)};

    glue_check_string(key, "key");
    write.store.ttl_ms = NUM2LL(ttl_ms);
    return stored(perform(self, &write, key, Qnil, Qnil), self, key, Qnil, false);
}

static VALUE increment(VALUE self, VALUE key, VALUE delta, VALUE initial, VALUE ttl_ms, VALUE now,
                       const glue_tags *tags) {
    write_t write = {.perform = perform_increment, .call = glue_call(now), .tags = tags};
    larder_status status;

    glue_check_string(key, "key");
    write.delta = NUM2LL(delta);
    write.initial = NUM2LL(initial);
    write.store.ttl_ms = NUM2LL(ttl_ms);
    status = perform(self, &write, key, Qnil, Qnil);
    if (status != LARDER_OK) {
        glue_raise_for_key(status, key);
    }
    return LL2NUM(write.sum);
}

static VALUE cache_increment(VALUE self, VALUE key, VALUE delta, VALUE initial, VALUE ttl_ms, VALUE now) {
    return increment(self, key, delta, initial, ttl_ms, now, NULL);
}

/* _increment_tagged(key, delta, initial, ttl_ms, now, tags) */
static VALUE cache_increment_tagged(int argc, VALUE *argv, VALUE self) {
    glue_tags tags;

    rb_check_arity(argc, 6, 6);
    glue_tags_take(argv[5], &tags);
    VALUE sum = increment(self, argv[0], argv[1], argv[2], argv[3], argv[4], &tags);
    RB_GC_GUARD(tags.packed);
    return sum;
}

/* ---- delete: takes no lock ---- */

static larder_status delete_one(VALUE self, VALUE key, const larder_call *call) {
    larder_status status;

    do {
        larder *engine = glue_attach_to_change(self);
        glue_check_string(key, "key");
        status = larder_delete(engine, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), call);
    } while (is_refusal(status) && glue_attached_again(self));
    return status;
}

static void check_delete(VALUE self, larder_status status, VALUE key) {
    if (status != LARDER_OK && status != LARDER_MISS) {
        glue_raise_unless_attached(self, key);
        glue_raise_for_key(status, key);
    }
}

static VALUE cache_delete(VALUE self, VALUE key, VALUE now) {
    larder_call call = glue_call(now);

    glue_check_string(key, "key");
    larder_status status = delete_one(self, key, &call);
    check_delete(self, status, key);
    return status == LARDER_OK ? Qtrue : Qfalse;
}

static VALUE cache_delete_multi(VALUE self, VALUE keys, VALUE now) {
    larder_call call = glue_call(now);
    larder_status wrong = LARDER_OK;
    VALUE wrong_key = Qnil;
    long deleted = 0;

    glue_check_array(keys, "keys");
    for (long i = 0; i < RARRAY_LEN(keys); i++) {
        glue_check_string(RARRAY_AREF(keys, i), "key");
    }
    for (long i = 0; i < RARRAY_LEN(keys); i++) { /* all of them, whatever happens to one */
        VALUE key = RARRAY_AREF(keys, i);
        larder_status status = delete_one(self, key, &call);
        deleted += status == LARDER_OK;
        if (status != LARDER_OK && status != LARDER_MISS && wrong == LARDER_OK) {
            wrong = status;
            wrong_key = key;
        }
        if (i % GLUE_BATCH == GLUE_BATCH - 1) {
            rb_thread_check_ints();
        }
    }
    check_delete(self, wrong, wrong_key);
    return LONG2NUM(deleted);
}

void glue_write_init(VALUE cache_class) {
    glue_private_const(cache_class, "SET", INT2FIX(LARDER_SET));
    glue_private_const(cache_class, "ADD", INT2FIX(LARDER_ADD));
    glue_private_const(cache_class, "REPLACE", INT2FIX(LARDER_REPLACE));
    rb_define_private_method(cache_class, "_set", cache_set, -1);
    rb_define_private_method(cache_class, "_set_tagged", cache_set_tagged, -1);
    rb_define_private_method(cache_class, "_cas", cache_cas, -1);
    rb_define_private_method(cache_class, "_increment", cache_increment, 5);
    rb_define_private_method(cache_class, "_increment_tagged", cache_increment_tagged, -1);
    rb_define_private_method(cache_class, "_touch", cache_touch, 3);
    rb_define_private_method(cache_class, "_delete", cache_delete, 2);
    rb_define_private_method(cache_class, "_delete_multi", cache_delete_multi, 2);
}
