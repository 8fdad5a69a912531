/*
 * write.c — natives that change items: _set (also add and replace), _set_multi,
 * _cas, the same three for records with flags, _increment, _touch, _delete,
 * _delete_multi.
 *
 * A writer first tries with the GVL held, which almost always succeeds at once.
 * Where a lock is taken, or much is to be copied, it goes again without the GVL,
 * on frozen Strings that share the caller's bytes: a later change of the
 * caller's String copies it first, and freezing copies no large value.
 */
#include "glue.h"

typedef struct write {
    larder_status (*perform)(larder *engine, struct write *write);
    larder_store store; /* the key of all kinds; value, ttl and mode of stores */
    const void *expected;
    size_t expected_bytes;
    int64_t delta;
    int64_t initial;
    int64_t sum;
    larder_call call;
    larder_status status;
} write_t;

static larder_status perform_set(larder *engine, write_t *write) {
    return larder_set(engine, &write->store, &write->call);
}

static larder_status perform_cas(larder *engine, write_t *write) {
    return larder_cas(engine, &write->store, write->expected, write->expected_bytes, &write->call);
}

static larder_status perform_increment(larder *engine, write_t *write) {
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
static size_t aim(write_t *write, VALUE key, VALUE value, VALUE expected) {
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

/* A refusal for want of a file is raised with the reason. */
static larder_status told(VALUE self, larder_status status, VALUE key) {
    if (status != LARDER_OK && status != LARDER_MISS && status != LARDER_NOT_STORED) {
        glue_raise_unless_attached(self, key);
    }
    return status;
}

static larder_status perform(VALUE self, write_t *write, VALUE key, VALUE value, VALUE expected) {
    larder *engine = glue_engine_to_change(self);

    if (aim(write, key, value, expected) < GLUE_RELEASE_BYTES) {
        write->call.flags = LARDER_CALL_TRY;
        write->status = write->perform(engine, write);
        if (write->status != LARDER_BUSY) {
            return told(self, write->status, key);
        }
        write->call.flags = 0;
    }
    key = rb_str_new_frozen(key);
    if (!NIL_P(value)) {
        value = rb_str_new_frozen(value);
    }
    if (!NIL_P(expected)) {
        expected = rb_str_new_frozen(expected);
    }
    aim(write, key, value, expected);
    glue_call_released(self, run_write, write);
    RB_GC_GUARD(key);
    RB_GC_GUARD(value);
    RB_GC_GUARD(expected);
    return told(self, write->status, key);
}

/* The answer of a store: true, or false where its condition did not hold or it was refused. Who wants an item kept
 * is told where there is no room. */
static VALUE stored(larder_status status, VALUE key, bool pin) {
    if (status == LARDER_OK) {
        return Qtrue;
    }
    if (status == LARDER_FULL && pin) {
        glue_raise_for_key(status, key);
    }
    if (status == LARDER_NOT_STORED || status == LARDER_MISS || glue_is_refusal(status)) {
        return Qfalse;
    }
    glue_raise_for_key(status, key);
}

/* Added to the mode: larder_store.pin. lib/larder/cache.rb calls it PIN. */
#define MODE_PIN 4u

static VALUE set(VALUE self, write_t *write, VALUE key, VALUE value, VALUE ttl_ms, VALUE mode) {
    glue_check_string(key, "key");
    glue_check_string(value, "value");
    write->store.ttl_ms = NUM2LL(ttl_ms);
    write->store.mode = (uint8_t)(NUM2UINT(mode) & ~MODE_PIN);
    write->store.pin = (NUM2UINT(mode) & MODE_PIN) != 0;
    return stored(perform(self, write, key, value, Qnil), key, write->store.pin);
}

VALUE glue_cache_set(VALUE self, VALUE key, VALUE value, VALUE ttl_ms, VALUE mode, VALUE now) {
    write_t write = {.perform = perform_set, .call = glue_call(now)};

    return set(self, &write, key, value, ttl_ms, mode);
}

VALUE glue_cache_set_record(VALUE self, VALUE key, VALUE record, VALUE only_absent, VALUE now) {
    write_t write = {.perform = perform_set, .call = glue_call(now)};

    glue_check_array(record, "record");
    write.store.flags = (uint8_t)NUM2UINT(rb_ary_entry(record, 1));
    return set(self, &write, key, rb_ary_entry(record, 0), rb_ary_entry(record, 2),
               INT2FIX(RTEST(only_absent) ? LARDER_ADD : LARDER_SET));
}

static VALUE swap(VALUE self, write_t *write, VALUE key, VALUE expected, VALUE value) {
    glue_check_string(key, "key");
    glue_check_string(expected, "expected");
    glue_check_string(value, "value");
    return stored(perform(self, write, key, value, expected), key, write->store.pin);
}

VALUE glue_cache_cas(VALUE self, VALUE key, VALUE expected, VALUE value, VALUE ttl_ms, VALUE pin, VALUE now) {
    write_t write = {.perform = perform_cas, .call = glue_call(now)};

    write.store.ttl_ms = NUM2LL(ttl_ms);
    write.store.pin = RTEST(pin);
    return swap(self, &write, key, expected, value);
}

VALUE glue_cache_cas_record(VALUE self, VALUE key, VALUE expected, VALUE record, VALUE now) {
    write_t write = {.perform = perform_cas, .call = glue_call(now)};

    glue_check_array(expected, "expected");
    glue_check_array(record, "record");
    write.store.expected_flags = (uint8_t)NUM2UINT(rb_ary_entry(expected, 1));
    write.store.expected_expires_at_ms = NUM2LL(rb_ary_entry(expected, 2));
    write.store.flags = (uint8_t)NUM2UINT(rb_ary_entry(record, 1));
    write.store.ttl_ms = NUM2LL(rb_ary_entry(record, 2));
    return swap(self, &write, key, rb_ary_entry(expected, 0), rb_ary_entry(record, 0));
}

VALUE glue_cache_touch(VALUE self, VALUE key, VALUE ttl_ms, VALUE now) {
    write_t write = {.perform = perform_touch, .call = glue_call(now)};

    glue_check_string(key, "key");
    write.store.ttl_ms = NUM2LL(ttl_ms);
    return stored(perform(self, &write, key, Qnil, Qnil), key, false);
}

VALUE glue_cache_increment(VALUE self, VALUE key, VALUE delta, VALUE initial, VALUE ttl_ms, VALUE now) {
    write_t write = {.perform = perform_increment, .call = glue_call(now)};
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

/* ---- many pairs ---- */

struct released_stores {
    larder_store *stores;
    size_t count;
    larder_call call;
};

/* What is stored under one key: in an Array, four elements one after the other. */
enum { ROW_KEY, ROW_VALUE, ROW_FLAGS, ROW_TTL, ROW_WIDTH };

static void run_set_multi(larder *engine, void *arg) {
    struct released_stores *multi = arg;

    larder_set_multi(engine, multi->stores, multi->count, NULL, &multi->call);
}

/* Points each store at the Strings of its row. Returns the bytes of the values. */
static size_t aim_stores(larder_store *stores, const VALUE *rows, size_t count) {
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        const VALUE *row = rows + ROW_WIDTH * i;
        stores[i] = (larder_store){.key = RSTRING_PTR(row[ROW_KEY]),
                                   .key_bytes = (size_t)RSTRING_LEN(row[ROW_KEY]),
                                   .value = RSTRING_PTR(row[ROW_VALUE]),
                                   .value_bytes = (size_t)RSTRING_LEN(row[ROW_VALUE]),
                                   .flags = (uint8_t)FIX2LONG(row[ROW_FLAGS]),
                                   .ttl_ms = (int64_t)FIX2LONG(row[ROW_TTL]),
                                   .mode = LARDER_SET,
                                   .status = LARDER_BUSY};
        bytes += stores[i].value_bytes;
    }
    return bytes;
}

/* Stores `count` rows and puts the status of each into `statuses`. `rows` is on the C stack. */
static void set_batch(VALUE self, volatile VALUE *rows, size_t count, larder_call call, larder_status *statuses) {
    larder_store stores[GLUE_BATCH];
    struct released_stores multi = {stores, 0, call};
    size_t waiting[GLUE_BATCH];
    larder *engine = glue_engine_to_change(self);

    if (aim_stores(stores, (const VALUE *)rows, count) < GLUE_RELEASE_BYTES) {
        call.flags = LARDER_CALL_TRY;
        larder_set_multi(engine, stores, count, NULL, &call);
    }
    for (size_t i = 0; i < count; i++) {
        statuses[i] = stores[i].status;
    }
    for (size_t i = 0; i < count; i++) {
        volatile VALUE *row = rows + ROW_WIDTH * i;
        if (statuses[i] != LARDER_BUSY) {
            continue;
        }
        row[ROW_KEY] = rb_str_new_frozen(row[ROW_KEY]);
        row[ROW_VALUE] = rb_str_new_frozen(row[ROW_VALUE]);
        aim_stores(&stores[multi.count], (const VALUE *)row, 1);
        waiting[multi.count++] = i;
    }
    if (multi.count == 0) {
        return;
    }
    glue_call_released(self, run_set_multi, &multi);
    for (size_t j = 0; j < multi.count; j++) {
        statuses[waiting[j]] = stores[j].status;
    }
}

/* Stores all rows of an Array that no other thread can see. Returns the keys of what was refused. */
static VALUE set_rows(VALUE self, VALUE rows, larder_call call) {
    VALUE refused = rb_ary_new();
    VALUE wrong_key = Qnil;
    larder_status wrong = LARDER_OK;

    for (long start = 0; start < RARRAY_LEN(rows); start += ROW_WIDTH * GLUE_BATCH) {
        volatile VALUE batch[ROW_WIDTH * GLUE_BATCH];
        larder_status statuses[GLUE_BATCH];
        size_t cells = 0;

        for (; cells < ROW_WIDTH * GLUE_BATCH && start + (long)cells < RARRAY_LEN(rows); cells++) {
            batch[cells] = RARRAY_AREF(rows, start + (long)cells);
        }
        set_batch(self, batch, cells / ROW_WIDTH, call, statuses);
        for (size_t i = 0; i < cells / ROW_WIDTH; i++) {
            VALUE key = RARRAY_AREF(rows, start + (long)(ROW_WIDTH * i));
            if (glue_is_refusal(statuses[i])) {
                rb_ary_push(refused, key);
            } else if (statuses[i] != LARDER_OK && wrong == LARDER_OK) {
                wrong = statuses[i];
                wrong_key = key;
            }
        }
        rb_thread_check_ints();
    }
    RB_GC_GUARD(rows);
    if (wrong != LARDER_OK) {
        glue_raise_unless_attached(self, wrong_key);
        /* every other row was stored, and the old values of the wrong ones are gone */
        glue_raise_for_key(wrong, wrong_key);
    }
    return refused;
}

static void add_row(VALUE rows, VALUE key, VALUE value, VALUE flags, VALUE ttl_ms) {
    glue_check_string(key, "key");
    glue_check_string(value, "value");
    Check_Type(flags, T_FIXNUM);
    Check_Type(ttl_ms, T_FIXNUM);
    rb_ary_push(rows, key);
    rb_ary_push(rows, value);
    rb_ary_push(rows, flags);
    rb_ary_push(rows, ttl_ms);
}

static VALUE hidden_rows(long count) {
    VALUE rows = rb_ary_new_capa(ROW_WIDTH * count);
    rb_obj_hide(rows); /* ObjectSpace could show it to another thread, which could shorten it */
    return rows;
}

struct pairs {
    VALUE rows;
    VALUE ttl_ms;
};

static int collect_pair(VALUE key, VALUE value, VALUE arg) {
    struct pairs *pairs = (struct pairs *)arg;
    add_row(pairs->rows, key, value, INT2FIX(0), pairs->ttl_ms);
    return ST_CONTINUE;
}

VALUE glue_cache_set_multi(VALUE self, VALUE hash, VALUE ttl_ms, VALUE now) {
    struct pairs pairs;

    if (!RB_TYPE_P(hash, T_HASH)) {
        rb_raise(rb_eTypeError, "pairs must be a Hash, got %" PRIsVALUE, rb_obj_class(hash));
    }
    pairs = (struct pairs){hidden_rows((long)RHASH_SIZE(hash)), ttl_ms};
    rb_hash_foreach(hash, collect_pair, (VALUE)&pairs);
    return set_rows(self, pairs.rows, glue_call(now));
}

static int collect_record(VALUE key, VALUE record, VALUE rows) {
    glue_check_array(record, "a record");
    add_row(rows, key, rb_ary_entry(record, 0), rb_ary_entry(record, 1), rb_ary_entry(record, 2));
    return ST_CONTINUE;
}

VALUE glue_cache_set_records(VALUE self, VALUE records, VALUE now) {
    VALUE rows;

    if (!RB_TYPE_P(records, T_HASH)) {
        rb_raise(rb_eTypeError, "records must be a Hash, got %" PRIsVALUE, rb_obj_class(records));
    }
    rows = hidden_rows((long)RHASH_SIZE(records));
    rb_hash_foreach(records, collect_record, rows);
    return set_rows(self, rows, glue_call(now));
}

/* ---- delete: takes no lock ---- */

static larder_status delete_one(VALUE self, VALUE key, const larder_call *call) {
    larder *engine = glue_engine_to_change(self);
    glue_check_string(key, "key");
    return larder_delete(engine, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), call);
}

static void check_delete(VALUE self, larder_status status, VALUE key) {
    if (status != LARDER_OK && status != LARDER_MISS) {
        glue_raise_unless_attached(self, key);
        glue_raise_for_key(status, key);
    }
}

VALUE glue_cache_delete(VALUE self, VALUE key, VALUE now) {
    larder_call call = glue_call(now);

    glue_check_string(key, "key");
    larder_status status = delete_one(self, key, &call);
    check_delete(self, status, key);
    return status == LARDER_OK ? Qtrue : Qfalse;
}

VALUE glue_cache_delete_multi(VALUE self, VALUE keys, VALUE now) {
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
