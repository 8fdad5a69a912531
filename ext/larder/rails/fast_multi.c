/*
 * fast_multi.c — read_multi, write_multi and fetch_multi of the Rails store, up to
 * GLUE_BATCH keys at a time by the engine's multi forms.
 */
#include "rails/fast_multi.h"
#include "rails/fast_clock.h"
#include "rails/fast_entry.h"
#include "rails/fast_guard.h"
#include "rails/super.h"

#include <string.h>

/* Room for the keys of a batch: some hundred bytes each, and always for one. */
#define KEY_ARENA_BYTES ((size_t)16 * 1024)

static ID id_write_multi;

typedef struct batch {
    fast_store store;
    fast_options options;
    fast_key key; /* the last one expanded */
    size_t count;
    size_t arena_used;
    bool is_list[GLUE_BATCH];
    char arena[KEY_ARENA_BYTES];
} batch;

static bool begin(batch *batch, VALUE self, unsigned events, VALUE options) {
    batch->count = batch->arena_used = 0;
    return fast_options_are_simple(options) && fast_guard_passes(self, events, &batch->store) &&
           fast_options_merge(batch->store.handle.options, options, &batch->options);
}

static bool expand(batch *batch, VALUE name) {
    return fast_key_expand(batch->store.handle.max_key_bytes, batch->options.namespace, name, &batch->key);
}

static bool is_full(const batch *batch) {
    return batch->count == GLUE_BATCH || batch->arena_used + LARDER_MAX_KEY > KEY_ARENA_BYTES;
}

/* Copies the last expanded key into the arena. */
static const char *keep_key(batch *batch) {
    char *kept = batch->arena + batch->arena_used;

    memcpy(kept, batch->key.text, batch->key.bytes);
    batch->arena_used += batch->key.bytes;
    batch->is_list[batch->count++] = batch->key.is_list;
    return kept;
}

/* ---- read ---- */

/* The names of a read_multi and, as its last argument, perhaps a Hash of options. */
static bool take_names(int argc, VALUE *argv, int *count, VALUE *options) {
    *count = argc;
    *options = Qnil;
    if (argc && RB_TYPE_P(argv[argc - 1], T_HASH)) {
        *options = argv[argc - 1];
        *count = argc - 1;
        return *count > 0;
    }
    return argc > 0;
}

static enum fast_outcome decode_lookup(batch *batch, const larder_lookup *lookup, size_t i, int64_t now_ms,
                                       VALUE *value) {
    fast_found found = {Qundef, lookup->buffer, lookup->item, now_ms};

    if (lookup->status == LARDER_MISS) {
        return FAST_MISS;
    }
    if (lookup->status != LARDER_OK && lookup->status != LARDER_BUFFER_TOO_SMALL) {
        return FAST_FALLBACK;
    }
    memcpy(batch->key.text, lookup->key, lookup->key_bytes);
    batch->key.bytes = lookup->key_bytes;
    batch->key.is_list = batch->is_list[i];
    return lookup->status == LARDER_OK
               ? fast_entry_decode(&batch->store, &batch->options, &batch->key, &found, value)
               : fast_entry_read(&batch->store, &batch->options, &batch->key, value);
}

/* Reads names up to a full batch from `*next` on into `found`. False: the ordinary path has to. */
static bool read_batch(batch *batch, int count, const VALUE *names, int *next, char *buffers, VALUE found) {
    larder_lookup lookups[GLUE_BATCH];
    int first = *next;
    larder_call call = {.now_ms = fast_clock_read_ms()};

    fast_clock_tick(); /* other threads may have run since the last batch */
    batch->count = batch->arena_used = 0;
    for (; *next < count && !is_full(batch); ++*next) {
        if (!expand(batch, names[*next])) {
            return false;
        }
        larder_lookup *lookup = &lookups[batch->count];
        *lookup = (larder_lookup){.key_bytes = batch->key.bytes,
                                  .buffer = buffers + batch->count * GLUE_BATCH_VALUE_BYTES,
                                  .buffer_bytes = GLUE_BATCH_VALUE_BYTES};
        lookup->key = keep_key(batch);
    }
    if (larder_get_multi(fast_handle_engine(&batch->store), lookups, batch->count, &call) != LARDER_OK) {
        return false;
    }

    for (size_t i = 0; i < batch->count; i++) {
        VALUE name = names[first + (int)i], value;
        switch (decode_lookup(batch, &lookups[i], i, call.now_ms, &value)) {
        case FAST_HIT:
            rb_hash_aset(found, name, value);
            break;
        case FAST_FALLBACK:
            return false;
        default:
            break;
        }
    }
    return true;
}

/* A Hash of what was found; Qundef: the ordinary path has to read. */
static VALUE read_names(batch *batch, int count, const VALUE *names) {
    VALUE found = rb_hash_new();
    VALUE holder = Qnil;
    size_t slots = count < GLUE_BATCH ? (size_t)count : GLUE_BATCH;
    char *buffers = ALLOCV_N(char, holder, slots *GLUE_BATCH_VALUE_BYTES);
    bool simple = true;

    batch->options.life.race = 0.0; /* has no effect on a read_multi */
    for (int next = 0; next < count && simple;) {
        simple = read_batch(batch, count, names, &next, buffers, found);
        rb_thread_check_ints();
    }
    ALLOCV_END(holder);
    return simple ? found : Qundef;
}

static VALUE fast_read_multi(int argc, VALUE *argv, VALUE self) {
    int count;
    VALUE options;
    batch batch;

    if (take_names(argc, argv, &count, &options) && begin(&batch, self, FAST_EVENTS_OF_read_multi, options)) {
        VALUE found = read_names(&batch, count, argv);
        if (found != Qundef) {
            return found;
        }
    }
    return fast_super(argc, argv);
}

/* ---- write ---- */

struct writing {
    batch *batch;
    double now;
    bool dry; /* only check whether all pairs are simple */
    bool simple;
    size_t pairs; /* seen in the dry run, and the bytes of the last batch of them */
    size_t batch_bytes;
    larder_store records[GLUE_BATCH];
    plain_value plains[GLUE_BATCH];
};

static void flush(struct writing *writing) {
    larder_call call = {.now_ms = fast_clock_ms(writing->now), .flags = LARDER_CALL_TRY};
    batch *batch = writing->batch;
    size_t stored = 0;

    larder_set_multi(fast_handle_engine(&batch->store), writing->records, batch->count, &stored, &call);
    writing->simple = stored == batch->count;
    batch->count = batch->arena_used = 0;
}

/* May a batch with one more value be copied with the GVL held? */
static bool is_short_batch(struct writing *writing, size_t value_bytes) {
    if (writing->pairs++ % GLUE_BATCH == 0) {
        writing->batch_bytes = 0;
    }
    writing->batch_bytes += value_bytes;
    return writing->batch_bytes < GLUE_RELEASE_BYTES;
}

static int write_pair(VALUE name, VALUE value, VALUE arg) {
    struct writing *writing = (struct writing *)arg;
    batch *batch = writing->batch;

    if (is_full(batch)) {
        flush(writing);
    }
    size_t i = batch->count;
    writing->simple = writing->simple && expand(batch, name) &&
                      fast_entry_prepare(&batch->store, &batch->options, &batch->key, writing->now, value,
                                         &writing->plains[i], &writing->records[i]);
    if (writing->simple && writing->dry) {
        writing->simple = is_short_batch(writing, writing->plains[i].size_bytes);
    } else if (writing->simple) {
        writing->records[i].key = keep_key(batch);
    }
    return writing->simple ? ST_CONTINUE : ST_STOP;
}

/* All pairs, or none where one is not simple. Between taking the bytes of a value and storing them, no Ruby runs.
 */
static bool write_pairs(batch *batch, VALUE hash) {
    struct writing writing = {.batch = batch, .now = fast_clock_now(), .dry = true, .simple = true};

    rb_hash_foreach(hash, write_pair, (VALUE)&writing);
    if (!writing.simple) {
        return false;
    }
    writing.dry = false;
    rb_hash_foreach(hash, write_pair, (VALUE)&writing);
    if (writing.simple && batch->count) {
        flush(&writing);
    }
    return writing.simple;
}

static VALUE fast_write_multi(int argc, VALUE *argv, VALUE self) {
    batch batch;

    if ((argc == 1 || argc == 2) && RB_TYPE_P(argv[0], T_HASH) && RHASH_SIZE(argv[0]) > 0 &&
        begin(&batch, self, FAST_EVENTS_OF_write_multi, argc == 2 ? argv[1] : Qnil) &&
        write_pairs(&batch, argv[0])) {
        return argv[0];
    }
    return fast_super(argc, argv);
}

/* ---- fetch ---- */

static int drop_nil(VALUE name, VALUE value, VALUE arg) {
    (void)name;
    (void)arg;
    return NIL_P(value) ? ST_DELETE : ST_CONTINUE;
}

static VALUE fast_fetch_multi(int argc, VALUE *argv, VALUE self) {
    int count;
    VALUE options, found;
    batch batch;

    if (!rb_block_given_p() || !take_names(argc, argv, &count, &options) ||
        !begin(&batch, self, FAST_EVENTS_OF_fetch_multi, options)) {
        return fast_super(argc, argv);
    }
    VALUE hash = fast_options_hash(batch.store.handle.options, options);
    found = read_names(&batch, count, argv);
    if (found == Qundef) {
        return fast_super(argc, argv);
    }
    VALUE ordered = rb_hash_new();
    VALUE writes = rb_hash_new();
    for (int i = 0; i < count; i++) {
        VALUE value = rb_hash_lookup2(found, argv[i], Qundef);
        if (value == Qundef) {
            value = rb_yield(argv[i]);
            rb_hash_aset(writes, argv[i], value);
        }
        rb_hash_aset(ordered, argv[i], value);
    }
    if (batch.options.skip_nil) {
        rb_hash_foreach(writes, drop_nil, Qnil);
    }
    if (RHASH_SIZE(writes) > 0) {
        rb_funcall(self, id_write_multi, 2, writes, hash);
    }
    return ordered;
}

void fast_multi_init(VALUE module) {
    id_write_multi = rb_intern("write_multi");
    rb_define_method(module, "read_multi", fast_read_multi, -1);
    rb_define_method(module, "write_multi", fast_write_multi, -1);
    rb_define_method(module, "fetch_multi", fast_fetch_multi, -1);
}
