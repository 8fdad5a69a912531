/*
 * read.c — native methods that read: _get, _get_multi, _exist, _ttl.
 *
 * Short values are copied to the C stack and then into a String of their size;
 * longer ones into a String of their size at once; the longest without the GVL.
 */
#include "cache/read.h"
#include "base/arguments.h"
#include "base/clock.h"
#include "base/errors.h"
#include "cache/attach.h"
#include "value/plain.h"

#include <math.h>

struct released_get {
    const char *key;
    size_t key_bytes;
    char *buffer;
    size_t buffer_bytes;
    larder_item item;
    uint64_t *identity; /* NULL: not asked for */
    const larder_call *call;
    larder_status status;
};

static void run_get(larder *engine, void *arg) {
    struct released_get *get = arg;

    get->status = get->identity ? larder_get_to_swap(engine, get->key, get->key_bytes, get->buffer,
                                                     get->buffer_bytes, NULL, &get->item, get->identity, get->call)
                                : larder_get(engine, get->key, get->key_bytes, get->buffer, get->buffer_bytes,
                                             &get->item, get->call);
}

/* `key` is frozen. `value` is locked during the call, as another thread could find it by ObjectSpace. */
static larder_status get_released(VALUE self, VALUE key, VALUE value, larder_item *item, uint64_t *identity,
                                  const larder_call *call) {
    struct released_get get = {.key = RSTRING_PTR(key),
                               .key_bytes = (size_t)RSTRING_LEN(key),
                               .buffer = RSTRING_PTR(value),
                               .buffer_bytes = (size_t)RSTRING_LEN(value),
                               .identity = identity,
                               .call = call};

    rb_str_locktmp(value);
    glue_attach_and_call_released(self, run_get, &get);
    rb_str_unlocktmp(value);
    RB_GC_GUARD(key);
    *item = get.item;
    return get.status;
}

/* Reads a value without the GVL. Other processes may replace or delete it during the call. nil: a miss. */
static VALUE get_large(VALUE self, VALUE key, larder_item *item, uint64_t *identity, const larder_call *call) {
    key = rb_str_new_frozen(key);
    for (;;) {
        size_t size_bytes = item->size_bytes;
        VALUE value = rb_str_new(NULL, (long)size_bytes);
        larder_status status = get_released(self, key, value, item, identity, call);

        if (status == LARDER_OK) {
            if (item->size_bytes < size_bytes) {
                rb_str_resize(value, (long)item->size_bytes);
            }
            return value;
        }
        rb_str_resize(value, 0); /* free it now: it may be large */
        if (status == LARDER_MISS) {
            return Qnil;
        }
        if (status != LARDER_BUFFER_TOO_SMALL) { /* it grew, so this ends at the largest value */
            glue_raise_for_key(status, key);
        }
    }
}

void *glue_allocate(void *context, size_t bytes, uint8_t flags) {
    glue_room *room = context;

    if (bytes >= GLUE_RELEASE_BYTES) {
        return NULL;
    }
    if (bytes <= room->bytes && PLAIN_KIND(flags) == PLAIN_TREE) {
        room->string = Qundef;
        return room->buffer;
    }
    room->string = rb_str_new(NULL, (long)bytes);
    return RSTRING_PTR(room->string);
}

/* The value that was read; nil: a miss. */
static VALUE value_in(const glue_room *room, VALUE self, VALUE key, larder_status status, larder_item *item,
                      uint64_t *identity, const larder_call *call) {
    switch (status) {
    case LARDER_OK:
        if (room->string == Qundef) {
            return rb_str_new(room->buffer, (long)item->size_bytes);
        }
        rb_str_set_len(room->string, (long)item->size_bytes);
        return room->string;
    case LARDER_MISS:
        return Qnil;
    case LARDER_BUFFER_TOO_SMALL:
        return get_large(self, key, item, identity, call);
    default:
        glue_raise_for_key(status, key);
    }
}

static inline VALUE get(VALUE self, VALUE key, larder_item *item, uint64_t *identity, const larder_call *call) {
    char buffer[GLUE_SHORT_BYTES];
    glue_room room = {Qundef, buffer, sizeof buffer};
    larder_allocator more = {glue_allocate, &room};

    glue_check_string(key, "key");
    larder *engine = glue_attach_to_read(self);
    const char *bytes = RSTRING_PTR(key);
    size_t size_bytes = (size_t)RSTRING_LEN(key);
    larder_status status =
        identity
            ? larder_get_to_swap(engine, bytes, size_bytes, buffer, sizeof buffer, &more, item, identity, call)
            : larder_get_allocated(engine, bytes, size_bytes, buffer, sizeof buffer, &more, item, call);
    RB_GC_GUARD(key); /* garbage may be collected in the call */
    return value_in(&room, self, key, status, item, identity, call);
}

VALUE glue_get(VALUE self, VALUE key, larder_item *item, const larder_call *call) {
    return get(self, key, item, NULL, call);
}

VALUE glue_get_to_swap(VALUE self, VALUE key, larder_item *item, uint64_t *identity, const larder_call *call) {
    return get(self, key, item, identity, call);
}

static VALUE cache_get(VALUE self, VALUE key, VALUE now) {
    larder_call call = glue_call(now);
    larder_item item;

    return glue_get(self, key, &item, &call);
}

/* `keys` are on the C stack, so that they stay whatever happens to the Array. */
static void get_batch(VALUE self, const VALUE *keys, size_t count, char *arena, const larder_call *call,
                      glue_decoder decode, VALUE found) {
    larder_lookup lookups[GLUE_BATCH];
    glue_rooms rooms;
    larder *engine = glue_attach_to_read(self);

    for (size_t i = 0; i < count; i++) {
        lookups[i] = (larder_lookup){.key = RSTRING_PTR(keys[i]), .key_bytes = (size_t)RSTRING_LEN(keys[i])};
        glue_rooms_for(&rooms, i, arena + i * GLUE_BATCH_VALUE_BYTES, &lookups[i]);
    }
    larder_get_multi(engine, lookups, count, call);

    for (size_t i = 0; i < count; i++) {
        larder_lookup *lookup = &lookups[i];
        VALUE value = value_in(&rooms.room[i], self, keys[i], lookup->status, &lookup->item, NULL, call);

        if (!NIL_P(value) && decode != NULL) {
            value = decode(value, &lookup->item);
        }
        if (!NIL_P(value)) {
            rb_hash_aset(found, glue_hash_key(keys[i]), value);
        }
    }
}

VALUE glue_get_multi(VALUE self, VALUE keys, const larder_call *call, glue_decoder decode) {
    VALUE found = rb_hash_new();
    VALUE holder = Qnil;
    char *arena;
    size_t slots, arena_bytes;

    glue_check_array(keys, "keys");
    slots = RARRAY_LEN(keys) < GLUE_BATCH ? (size_t)RARRAY_LEN(keys) : GLUE_BATCH;
    arena_bytes = slots * GLUE_BATCH_VALUE_BYTES + 1;
    arena = ALLOCV_N(char, holder, arena_bytes);
    for (long start = 0; start < RARRAY_LEN(keys); start += GLUE_BATCH) {
        volatile VALUE batch[GLUE_BATCH];
        size_t count = 0;

        for (; count < slots && start + (long)count < RARRAY_LEN(keys); count++) {
            batch[count] = RARRAY_AREF(keys, start + (long)count);
            glue_check_string(batch[count], "key");
        }
        get_batch(self, (const VALUE *)batch, count, arena, call, decode, found);
        rb_thread_check_ints();
    }
    ALLOCV_END(holder);
    RB_GC_GUARD(keys);
    return found;
}

static VALUE cache_get_multi(VALUE self, VALUE keys, VALUE now) {
    larder_call call = glue_call(now);

    return glue_get_multi(self, keys, &call, NULL);
}

static VALUE cache_exist(VALUE self, VALUE key, VALUE now) {
    larder_call call = glue_call(now);
    larder_status status;

    glue_check_string(key, "key");
    larder *engine = glue_attach_to_read(self);
    status = larder_exists(engine, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), NULL, &call);
    if (status != LARDER_OK && status != LARDER_MISS) {
        glue_raise_for_key(status, key);
    }
    return status == LARDER_OK ? Qtrue : Qfalse;
}

static VALUE cache_ttl(VALUE self, VALUE key, VALUE now) {
    larder_call call = glue_call(now);
    larder_item item;
    larder_status status;
    int64_t left_ms;

    glue_check_string(key, "key");
    if (call.now_ms == 0) { /* the same for the engine's decision and for the difference */
        call.now_ms = glue_clock_ms(CLOCK_REALTIME);
    }
    larder *engine = glue_attach_to_read(self);
    status = larder_exists(engine, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), &item, &call);
    if (status == LARDER_MISS) {
        return Qnil;
    }
    if (status != LARDER_OK) {
        glue_raise_for_key(status, key);
    }
    if (item.expires_at_ms == 0) {
        return DBL2NUM(HUGE_VAL);
    }
    left_ms = plain_end_ms(&item) - call.now_ms;
    return left_ms > 0 ? DBL2NUM((double)left_ms / 1000.0) : Qnil;
}

void glue_read_init(VALUE cache_class) {
    rb_define_private_method(cache_class, "_get", cache_get, 2);
    rb_define_private_method(cache_class, "_get_multi", cache_get_multi, 2);
    rb_define_private_method(cache_class, "_exist", cache_exist, 2);
    rb_define_private_method(cache_class, "_ttl", cache_ttl, 2);
}
