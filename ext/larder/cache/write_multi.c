/*
 * write_multi.c — many pairs into a Larder::Cache: _set_multi.
 *
 * As in write.c, a batch is tried with the GVL held first; what finds a lock taken
 * is stored without the GVL.
 */
#include "cache/write_multi.h"
#include "base/errors.h"
#include "cache/attach.h"

struct released_stores {
    larder_store *stores;
    size_t count;
    larder_call call;
};

/* Four elements of the Array one after the other. */
enum { ROW_KEY, ROW_VALUE, ROW_FLAGS, ROW_TTL, ROW_WIDTH };

static void run_set_multi(larder *engine, void *arg) {
    struct released_stores *multi = arg;

    larder_set_multi(engine, multi->stores, multi->count, NULL, &multi->call);
}

/* Points each store at the Strings of its row. Returns the bytes of the values. */
static size_t set_pointers(larder_store *stores, const VALUE *rows, size_t count) {
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

/* Is the key among those of the first `count` stores? */
static bool is_key_of_any(const larder_store *stores, size_t count, VALUE key) {
    size_t bytes = (size_t)RSTRING_LEN(key);

    for (size_t j = 0; j < count; j++) {
        if (stores[j].key_bytes == bytes && memcmp(stores[j].key, RSTRING_PTR(key), bytes) == 0) {
            return true;
        }
    }
    return false;
}

/* Stores `count` rows and puts the status of each into `statuses`. `rows` is on the C stack. */
static void set_batch(VALUE self, volatile VALUE *rows, size_t count, larder_call call, larder_status *statuses) {
    larder_store stores[GLUE_BATCH];
    struct released_stores multi = {stores, 0, call};
    size_t waiting[GLUE_BATCH];
    larder *engine = glue_attach_to_change(self);

    if (set_pointers(stores, (const VALUE *)rows, count) < GLUE_RELEASE_BYTES) {
        call.flags = LARDER_CALL_TRY;
        larder_set_multi(engine, stores, count, NULL, &call);
    }
    for (size_t i = 0; i < count; i++) {
        statuses[i] = stores[i].status;
    }
    for (size_t i = 0; i < count; i++) {
        volatile VALUE *row = rows + ROW_WIDTH * i;
        if (statuses[i] != LARDER_BUSY && !is_key_of_any(stores, multi.count, row[ROW_KEY])) {
            continue; /* a row whose key waits in an earlier row is stored again after that: the last one wins */
        }
        row[ROW_KEY] = rb_str_new_frozen(row[ROW_KEY]);
        row[ROW_VALUE] = rb_str_new_frozen(row[ROW_VALUE]);
        set_pointers(&stores[multi.count], (const VALUE *)row, 1);
        waiting[multi.count++] = i;
    }
    if (multi.count == 0) {
        return;
    }
    glue_attach_and_call_released(self, run_set_multi, &multi);
    for (size_t j = 0; j < multi.count; j++) {
        statuses[waiting[j]] = stores[j].status;
    }
}

static bool are_stored(const larder_status *statuses, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (statuses[i] != LARDER_OK) {
            return false;
        }
    }
    return true;
}

VALUE glue_rows_store(VALUE cache, VALUE rows, VALUE now) {
    larder_call call = glue_call(now);
    VALUE refused = rb_ary_new();
    VALUE wrong_key = Qnil, wrong_value = Qnil;
    larder_status wrong = LARDER_OK;

    for (long start = 0; start < RARRAY_LEN(rows); start += ROW_WIDTH * GLUE_BATCH) {
        volatile VALUE batch[ROW_WIDTH * GLUE_BATCH];
        larder_status statuses[GLUE_BATCH];
        size_t cells = 0;

        for (; cells < ROW_WIDTH * GLUE_BATCH && start + (long)cells < RARRAY_LEN(rows); cells++) {
            batch[cells] = RARRAY_AREF(rows, start + (long)cells);
        }
        do {
            set_batch(cache, batch, cells / ROW_WIDTH, call, statuses);
        } while (!are_stored(statuses, cells / ROW_WIDTH) && glue_attached_again(cache));
        for (size_t i = 0; i < cells / ROW_WIDTH; i++) {
            VALUE key = RARRAY_AREF(rows, start + (long)(ROW_WIDTH * i));
            if (glue_is_refusal(statuses[i])) {
                rb_ary_push(refused, key);
            } else if (statuses[i] != LARDER_OK && wrong == LARDER_OK) {
                wrong = statuses[i];
                wrong_key = key;
                wrong_value = RARRAY_AREF(rows, start + (long)(ROW_WIDTH * i) + ROW_VALUE);
            }
        }
        rb_thread_check_ints();
    }
    RB_GC_GUARD(rows);
    if (wrong != LARDER_OK || RARRAY_LEN(refused) > 0) {
        glue_raise_unless_attached(cache, wrong != LARDER_OK ? wrong_key : RARRAY_AREF(refused, 0));
    }
    /* all other rows were stored, and the old values of the wrong ones are gone */
    if (wrong == LARDER_VALUE_TOO_LARGE) {
        glue_raise_too_large(glue_handle_engine(glue_handle_of(cache)), wrong_key,
                             (size_t)RSTRING_LEN(wrong_value), false);
    }
    if (wrong != LARDER_OK) {
        glue_raise_for_key(wrong, wrong_key);
    }
    return refused;
}

void glue_rows_add(VALUE rows, VALUE key, VALUE value, VALUE flags, VALUE ttl_ms) {
    glue_check_string(key, "key");
    glue_check_string(value, "value");
    Check_Type(flags, T_FIXNUM);
    Check_Type(ttl_ms, T_FIXNUM);
    rb_ary_push(rows, key);
    rb_ary_push(rows, value);
    rb_ary_push(rows, flags);
    rb_ary_push(rows, ttl_ms);
}

VALUE glue_rows_new(long count) {
    VALUE rows = rb_ary_new_capa(ROW_WIDTH * count);
    rb_obj_hide(rows);
    return rows;
}

struct pairs {
    VALUE rows;
    VALUE ttl_ms;
};

static int collect_pair(VALUE key, VALUE value, VALUE arg) {
    struct pairs *pairs = (struct pairs *)arg;
    glue_rows_add(pairs->rows, key, value, INT2FIX(0), pairs->ttl_ms);
    return ST_CONTINUE;
}

static VALUE cache_set_multi(VALUE self, VALUE hash, VALUE ttl_ms, VALUE now) {
    struct pairs pairs;

    glue_check_hash(hash, "pairs");
    pairs = (struct pairs){glue_rows_new((long)RHASH_SIZE(hash)), ttl_ms};
    rb_hash_foreach(hash, collect_pair, (VALUE)&pairs);
    return glue_rows_store(self, pairs.rows, now);
}

void glue_write_multi_init(VALUE cache_class) {
    rb_define_private_method(cache_class, "_set_multi", cache_set_multi, 3);
}
