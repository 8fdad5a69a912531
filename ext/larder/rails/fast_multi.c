/*
 * fast_multi.c — read_multi, write_multi and fetch_multi of the Rails store, up to
 * GLUE_BATCH keys at a time by the engine's multi forms.
 */
#include "rails/fast_multi.h"
#include "base/arguments.h"
#include "base/errors.h"
#include "cache/read.h"
#include "rails/fast_clock.h"
#include "rails/fast_event.h"
#include "rails/fast_guard.h"
#include "rails/fast_super.h"

#include <string.h>

/* Room for the keys of a batch: some hundred bytes each, and always for one. */
#define KEY_ARENA_BYTES ((size_t)16 * 1024)

static ID id_write_multi, id_fetch_missing, id_keys, id_read_multi_entries, id_read_remote_multi;
static ID id_write_values, id_store_records;
static VALUE sym_hits, sym_namespace, sym_super_operation, sym_fetch_multi;

typedef struct batch {
    fast_store store;
    fast_options options;
    fast_key key; /* the last one expanded */
    size_t count;
    size_t arena_used;
    bool is_list[GLUE_BATCH], has_objects[GLUE_BATCH];
    VALUE names[GLUE_BATCH];
    bool is_whole; /* is the ordinary path to read all names if one is missing? */
    VALUE missing; /* keys by name; nil: no second level is to be asked for them */
    char arena[KEY_ARENA_BYTES];
} batch;

static bool begin(batch *batch, VALUE self, VALUE options) {
    batch->count = batch->arena_used = 0;
    batch->is_whole = false;
    return fast_options_are_simple(options) && fast_guard_passes(self, &batch->store) &&
           fast_options_merge(batch->store.handle.options, options, &batch->options) &&
           !(batch->store.handle.has_remote && (batch->options.raw || !fast_handle_answers(&batch->store)));
}

/* Is what is written an ordinary record? */
static bool is_simple_write(const batch *batch) {
    return !batch->options.keeps && !batch->options.tagged && NIL_P(batch->options.namespace) &&
           !batch->store.handle.has_remote;
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
    batch->is_list[batch->count] = batch->key.is_list;
    batch->has_objects[batch->count] = batch->key.has_objects;
    batch->names[batch->count++] = batch->key.name;
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

/* Makes the key of a lookup the last one expanded. */
static void restore_key(batch *batch, const larder_lookup *lookup, size_t i) {
    memcpy(batch->key.text, lookup->key, lookup->key_bytes);
    batch->key.bytes = lookup->key_bytes;
    batch->key.is_list = batch->is_list[i];
    batch->key.has_objects = batch->has_objects[i];
    batch->key.name = batch->names[i];
}

/* A lookup whose item is not the answer becomes a miss. */
static enum fast_outcome decode_lookup(batch *batch, larder_lookup *lookup, size_t i, VALUE string, int64_t now_ms,
                                       VALUE *value) {
    fast_found found = {string, lookup->buffer, lookup->item, now_ms};

    if (lookup->status != LARDER_OK) {
        return lookup->status == LARDER_MISS ? FAST_MISS : FAST_FALLBACK;
    }
    restore_key(batch, lookup, i);
    enum fast_outcome outcome = fast_entry_decode(&batch->store, &batch->options, &batch->key, &found, value);
    if (RB_UNLIKELY(outcome == FAST_MISS)) {
        fast_entry_recount(&batch->store, &batch->key, LARDER_READ_HIT, FAST_MISS);
        lookup->status = LARDER_MISS;
    }
    return outcome;
}

/* The ordinary path reads all of them again. */
static void uncount(batch *batch, const larder_lookup *lookups) {
    for (size_t i = 0; i < batch->count; i++) {
        larder_read counted = lookups[i].status == LARDER_OK     ? LARDER_READ_HIT
                              : lookups[i].status == LARDER_MISS ? LARDER_READ_MISS
                                                                 : LARDER_READ_UNCOUNTED;
        restore_key(batch, &lookups[i], i);
        fast_entry_recount(&batch->store, &batch->key, counted, FAST_FALLBACK);
    }
}

/* The same for the names of earlier batches. `found` has those that were hits, and places of `missing`. */
static __attribute__((noinline, cold)) void uncount_earlier(batch *batch, int count, const VALUE *names,
                                                            VALUE found) {
    for (int i = 0; i < count; i++) {
        bool is_hit = rb_hash_lookup2(found, names[i], Qundef) != Qundef &&
                      (NIL_P(batch->missing) || rb_hash_lookup2(batch->missing, names[i], Qundef) == Qundef);
        if (expand(batch, names[i])) {
            fast_entry_recount(&batch->store, &batch->key, is_hit ? LARDER_READ_HIT : LARDER_READ_MISS,
                               FAST_FALLBACK);
        }
    }
}

static VALUE missing_key(batch *batch, const larder_lookup *lookup, size_t i) {
    restore_key(batch, lookup, i);
    return glue_hash_key(fast_key_string(&batch->key, batch->options.namespace));
}

/* Reads names up to a full batch from `*next` on into `found`. False: the ordinary path has to. */
static bool read_batch(batch *batch, int count, const VALUE *names, int *next, char *buffers, VALUE found) {
    larder_lookup lookups[GLUE_BATCH];
    glue_rooms rooms;
    int first = *next;
    larder_call call = {.now_ms = fast_clock_read_ms()};

    glue_check_stack(); /* below the frame of this */
    fast_clock_tick();  /* other threads may have run since the last batch */
    batch->count = batch->arena_used = 0;
    for (; *next < count && !is_full(batch); ++*next) {
        if (!expand(batch, names[*next])) {
            return false;
        }
        larder_lookup *lookup = &lookups[batch->count];
        *lookup = (larder_lookup){.key_bytes = batch->key.bytes};
        glue_rooms_for(&rooms, batch->count, buffers + batch->count * GLUE_BATCH_VALUE_BYTES, lookup);
        lookup->key = keep_key(batch);
    }
    if (larder_get_multi(fast_handle_engine(&batch->store), lookups, batch->count, &call) != LARDER_OK) {
        return false;
    }

    for (size_t i = 0; i < batch->count; i++) {
        VALUE name = glue_hash_key(names[first + (int)i]), value;
        enum fast_outcome outcome =
            decode_lookup(batch, &lookups[i], i, rooms.room[i].string, call.now_ms, &value);
        if (RB_LIKELY(outcome == FAST_HIT)) {
            rb_hash_aset(found, name, value);
        } else if (outcome == FAST_FALLBACK || batch->is_whole) {
            uncount(batch, lookups);
            return false;
        } else if (!NIL_P(batch->missing)) {
            rb_hash_aset(batch->missing, name, missing_key(batch, &lookups[i], i));
            rb_hash_aset(found, name, Qnil); /* its place in the order */
        }
    }
    return true;
}

struct filling {
    VALUE remote, found;
};

static int fill_place(VALUE name, VALUE key, VALUE arg) {
    const struct filling *filling = (struct filling *)arg;
    VALUE value = rb_hash_lookup2(filling->remote, name, Qundef);

    (void)key;
    if (value == Qundef) {
        rb_hash_delete(filling->found, name);
    } else {
        rb_hash_aset(filling->found, name, value);
    }
    return ST_CONTINUE;
}

/* Adds what the second level has of the names that are missing, and removes the others. */
static void read_remote(const batch *batch, VALUE call_options, VALUE found) {
    VALUE options = fast_options_hash(batch->store.handle.options, call_options);
    struct filling filling = {rb_funcall(batch->store.self, id_read_remote_multi, 2, batch->missing, options),
                              found};

    rb_hash_foreach(batch->missing, fill_place, (VALUE)&filling);
}

/* A Hash of what was found; Qundef: the ordinary path has to read. */
static VALUE read_names(batch *batch, int count, const VALUE *names, VALUE call_options) {
    VALUE found = rb_hash_new();
    VALUE holder = Qnil;
    size_t slots = count < GLUE_BATCH ? (size_t)count : GLUE_BATCH;
    char *buffers = ALLOCV_N(char, holder, slots *GLUE_BATCH_VALUE_BYTES);
    bool simple = true;

    batch->options.life.race = 0.0; /* has no effect on a read_multi */
    batch->missing = batch->store.handle.has_remote ? rb_hash_new() : Qnil;
    for (int next = 0; next < count && simple;) {
        int first = next;
        simple = read_batch(batch, count, names, &next, buffers, found);
        if (!simple) {
            uncount_earlier(batch, first, names, found);
        }
        rb_thread_check_ints();
    }
    ALLOCV_END(holder);
    if (simple && !NIL_P(batch->missing) && RHASH_SIZE(batch->missing) > 0) {
        read_remote(batch, call_options, found);
    }
    return simple ? found : Qundef;
}

/* ---- events ---- */

/* A multi form while its event is sent. */
struct event {
    batch *batch;
    VALUE call_options;
    int count;
    const VALUE *names;
    VALUE hash; /* to write, or with the options of a fetch_multi */
    VALUE writes;
    bool encodable; /* no key has had another encoding than UTF-8 */
};

static bool sends(unsigned event) { return RB_UNLIKELY(fast_instrumentation_wanted(event)); }

static VALUE key_of(struct event *event, VALUE name) {
    batch *batch = event->batch;

    if (!expand(batch, name) || !batch->key.is_utf8) {
        event->encodable = false;
        return Qnil;
    }
    return fast_key_string(&batch->key, batch->options.namespace);
}

/* What the event names: names, or keys as on Rails 8.0. */
static VALUE named(struct event *event, VALUE names) {
    VALUE keys = rb_ary_new_capa(RARRAY_LEN(names));

    if (!fast_event_has_keys) {
        return names;
    }
    for (long i = 0; i < RARRAY_LEN(names); i++) {
        rb_ary_push(keys, key_of(event, RARRAY_AREF(names, i)));
    }
    return keys;
}

static VALUE options_of(const struct event *event) {
    return fast_options_hash(event->batch->store.handle.options, event->call_options);
}

/* Reads, by the ordinary path where C cannot. */
static VALUE read_within(struct event *event) {
    VALUE found = read_names(event->batch, event->count, event->names, event->call_options);

    if (found == Qundef) {
        VALUE arguments[2] = {rb_ary_new_from_values(event->count, event->names), options_of(event)};
        found = rb_funcallv_kw(event->batch->store.self, id_read_multi_entries, 2, arguments, RB_PASS_KEYWORDS);
    }
    return found;
}

static void add_hits(struct event *event, VALUE found, VALUE payload) {
    rb_hash_aset(payload, sym_hits, named(event, rb_funcall(found, id_keys, 0)));
}

static VALUE read_multi_within(VALUE payload, void *context) {
    struct event *event = context;

    VALUE found = read_within(event);
    add_hits(event, found, payload);
    return found;
}

/* Sends an event of this name or these keys around the body; Qundef: the ordinary path has to. */
static VALUE send_about(struct event *event, enum fast_event_number number, VALUE key, fast_event_body *body) {
    if (!event->encodable) {
        return Qundef;
    }
    return fast_event_send(number, fast_event_payload(&event->batch->store, key, event->call_options), body,
                           event);
}

static VALUE fast_read_multi(int argc, VALUE *argv, VALUE self) {
    int count;
    VALUE options;
    batch batch;

    if (take_names(argc, argv, &count, &options) && begin(&batch, self, options) && !batch.options.stale_of_call) {
        VALUE found;
        if (sends(FAST_EVENT_READ_MULTI)) {
            struct event event = {
                .batch = &batch, .call_options = options, .count = count, .names = argv, .encodable = true};
            VALUE key = named(&event, rb_ary_new_from_values(count, argv));
            found = send_about(&event, FAST_EVENT_NUMBER_READ_MULTI, key, read_multi_within);
        } else {
            found = read_names(&batch, count, argv, options);
        }
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
    VALUE records; /* by key, as Records#set_multi takes them */
    bool simple;
};

static int add_record(VALUE name, VALUE value, VALUE arg) {
    struct writing *writing = (struct writing *)arg;
    batch *batch = writing->batch;
    VALUE version, record;

    writing->simple = expand(batch, name) && batch->key.is_utf8 &&
                      fast_key_version(&batch->key, batch->options.version, &version);
    if (writing->simple) {
        VALUE key = rb_obj_freeze(rb_utf8_str_new(batch->key.text, (long)batch->key.bytes));
        record = fast_entry_record(&batch->store, &batch->options, &batch->key, version, writing->now, value);
        writing->simple = record != Qundef;
        if (writing->simple) {
            rb_hash_aset(writing->records, key, record);
        }
    }
    return writing->simple ? ST_CONTINUE : ST_STOP;
}

/* Checks all pairs, then stores them. Qundef: one is not simple, and none was stored. */
static VALUE write_pairs(batch *batch, VALUE hash) {
    struct writing writing = {batch, fast_clock_now(), rb_hash_new(), true};

    rb_hash_foreach(hash, add_record, (VALUE)&writing);
    if (!writing.simple) {
        return Qundef;
    }
    VALUE stored =
        rb_funcall(batch->store.self, id_store_records, 2, writing.records, LL2NUM(fast_clock_ms(writing.now)));
    return RTEST(stored) ? hash : stored;
}

static VALUE write_multi_within(VALUE payload, void *context) {
    struct event *event = context;
    VALUE stored;

    (void)payload;
    stored = write_pairs(event->batch, event->hash);
    return stored != Qundef
               ? stored
               : rb_funcall(event->batch->store.self, id_write_values, 2, event->hash, options_of(event));
}

struct renaming {
    struct event *event;
    VALUE hash;
};

static int rename_pair(VALUE name, VALUE value, VALUE arg) {
    struct renaming *renaming = (struct renaming *)arg;

    rb_hash_aset(renaming->hash, key_of(renaming->event, name), value);
    return renaming->event->encodable ? ST_CONTINUE : ST_STOP;
}

/* The Hash that the event names: as given, or by keys as on Rails 8.0. */
static VALUE named_pairs(struct event *event) {
    struct renaming renaming = {event, event->hash};

    if (fast_event_has_keys) {
        renaming.hash = rb_hash_new();
        rb_hash_foreach(event->hash, rename_pair, (VALUE)&renaming);
    }
    return renaming.hash;
}

static VALUE fast_write_multi(int argc, VALUE *argv, VALUE self) {
    VALUE options = argc == 2 ? argv[1] : Qnil;
    batch batch;

    if ((argc == 1 || argc == 2) && RB_TYPE_P(argv[0], T_HASH) && RHASH_SIZE(argv[0]) > 0 &&
        begin(&batch, self, options) && is_simple_write(&batch)) {
        VALUE stored;
        if (sends(FAST_EVENT_WRITE_MULTI)) {
            struct event event = {.batch = &batch, .call_options = options, .hash = argv[0], .encodable = true};
            VALUE key = named_pairs(&event);
            stored = send_about(&event, FAST_EVENT_NUMBER_WRITE_MULTI, key, write_multi_within);
        } else {
            stored = write_pairs(&batch, argv[0]);
        }
        if (stored != Qundef) {
            return stored;
        }
    }
    return fast_super(argc, argv);
}

/* ---- fetch ---- */

static int drop_nil(VALUE name, VALUE value, VALUE arg) {
    (void)name;
    (void)arg;
    return NIL_P(value) ? ST_DELETE : ST_CONTINUE;
}

/* What the block of the calling method makes of the names that were not found, with single_flight. It is stored.
 */
static VALUE fetch_missing(struct event *event, VALUE found) {
    VALUE missing = rb_ary_new();

    for (int i = 0; i < event->count; i++) {
        if (rb_hash_lookup2(found, event->names[i], Qundef) == Qundef) {
            rb_ary_push(missing, event->names[i]);
        }
    }
    return RARRAY_LEN(missing) == 0
               ? found
               : rb_funcall(event->batch->store.self, id_fetch_missing, 3, missing, event->hash, rb_block_proc());
}

/* What was found, and what the block of the calling method makes of the rest, which `writes` gets. */
static VALUE complete(struct event *event, VALUE found) {
    if (RHASH_SIZE(found) == (size_t)event->count) {
        return found; /* in the order of the names */
    }
    VALUE ordered = rb_hash_new();
    bool in_flight = event->batch->options.single_flight;
    VALUE computed = in_flight ? fetch_missing(event, found) : found;

    for (int i = 0; i < event->count; i++) {
        VALUE name = event->names[i];
        VALUE value = rb_hash_lookup2(found, name, Qundef);
        if (value == Qundef && in_flight) {
            value = rb_hash_lookup(computed, name);
        } else if (value == Qundef) {
            value = rb_yield(name);
            rb_hash_aset(event->writes, glue_hash_key(name), value);
        }
        rb_hash_aset(ordered, glue_hash_key(name), value);
    }
    if (event->batch->options.skip_nil) {
        rb_hash_foreach(event->writes, drop_nil, Qnil);
    }
    return ordered;
}

/* Rails makes the keys of hits after the blocks, which may have given the store another namespace. */
static void look_at_namespace(struct event *event) {
    VALUE of_store = rb_hash_lookup2(event->batch->store.handle.options, sym_namespace, Qnil);
    VALUE namespace = rb_hash_lookup2(event->hash, sym_namespace, of_store);

    event->batch->options.namespace = RTEST(namespace) ? namespace : Qnil;
}

static VALUE fetch_multi_within(VALUE payload, void *context) {
    struct event *event = context;

    VALUE found = read_within(event);
    VALUE ordered = complete(event, found);
    if (fast_event_has_keys) {
        look_at_namespace(event);
    }
    add_hits(event, found, payload);
    rb_hash_aset(payload, sym_super_operation, sym_fetch_multi);
    return ordered;
}

static VALUE fast_fetch_multi(int argc, VALUE *argv, VALUE self) {
    int count;
    VALUE options, ordered;
    batch batch;

    if (!rb_block_given_p() || !take_names(argc, argv, &count, &options) || !begin(&batch, self, options) ||
        batch.options.tagged || (batch.options.keeps && (batch.options.early || sends(FAST_EVENT_READ_MULTI)))) {
        return fast_super(argc, argv);
    }
    struct event event = {.batch = &batch,
                          .call_options = options,
                          .count = count,
                          .names = argv,
                          .writes = rb_hash_new(),
                          .encodable = true};
    event.hash = options_of(&event);
    batch.is_whole = batch.options.keeps; /* of what is not fresh, an old value may be served */
    if (sends(FAST_EVENT_READ_MULTI)) {
        VALUE key = named(&event, rb_ary_new_from_values(count, argv));
        ordered = send_about(&event, FAST_EVENT_NUMBER_READ_MULTI, key, fetch_multi_within);
    } else {
        VALUE found = read_names(&batch, count, argv, options);
        ordered = found == Qundef ? Qundef : complete(&event, found);
    }
    if (ordered == Qundef) {
        return fast_super(argc, argv);
    }
    if (RHASH_SIZE(event.writes) > 0) {
        rb_funcall(self, id_write_multi, 2, event.writes, event.hash);
    }
    RB_GC_GUARD(event.hash);
    return ordered;
}

void fast_multi_init(VALUE module) {
    id_write_multi = rb_intern("write_multi");
    id_keys = rb_intern("keys");
    id_fetch_missing = rb_intern("fetch_missing");
    id_read_multi_entries = rb_intern("read_multi_entries");
    id_read_remote_multi = rb_intern("read_remote_multi");
    id_write_values = rb_intern("write_values");
    id_store_records = rb_intern("store_records");
    sym_hits = ID2SYM(rb_intern("hits"));
    sym_namespace = ID2SYM(rb_intern("namespace"));
    sym_super_operation = ID2SYM(rb_intern("super_operation"));
    sym_fetch_multi = ID2SYM(rb_intern("fetch_multi"));
    rb_define_method(module, "read_multi", fast_read_multi, -1);
    rb_define_method(module, "write_multi", fast_write_multi, -1);
    rb_define_method(module, "fetch_multi", fast_fetch_multi, -1);
}
