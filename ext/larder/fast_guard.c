/*
 * fast_guard.c — when the fast path may be taken: what Ruby has told this process
 * about patches, subscribers, the clock and the log.
 *
 * The flags here are written by Larder::Store::FastPath and its watchers
 * (lib/larder/store/fast_path.rb), at the moment of each change and under the
 * GVL, so that a call need not ask. What no watcher sees is found by a look at
 * everything, which a call makes where the last one was a second ago.
 */
#include "fast.h"

#include <math.h>
#include <time.h>

/* The coarse clock may be behind by a tick of the kernel: 10 ms at 100 Hz. */
#define COARSE_LAG_MS 20

#define MOST_CLASSES 16
static VALUE classes[MOST_CLASSES]; /* stores whose methods are all as we know them */
static unsigned class_count;
static VALUE pinned[4 * MOST_CLASSES]; /* every class that was ever among them: compaction must not move it */
static unsigned pinned_count;
static unsigned subscribed = ~0u; /* events that somebody may listen to */
static bool real_time;            /* Time.now is Ruby's own */

/* Looks take a while, in which other threads run, and make changes, and look. What is found counts only where
 * nobody has begun to look later; until then calls are the ordinary path's. The log's are in fast_log.c. */
static unsigned long methods_ticket, listeners_ticket, time_ticket;

#define LOOK_EVERY_MS 1000
static int64_t looked_ms; /* when somebody last looked at everything */
static int64_t tick_ms;   /* see fast_tick() */
static VALUE fast_module = Qnil;

static ID id_fast, id_options, id_now, id_to_f, id_look_again;

/* What a store's calls need, where one look finds it. The store holds it in @fast. */
typedef struct handle {
    VALUE cache;
    VALUE options;
    size_t max_key_bytes;
    bool plain_values, plain_trees;
} handle;

static void handle_mark(void *data) {
    const handle *self = data;

    rb_gc_mark(self->cache);
    rb_gc_mark(self->options);
}

/* Write-barrier protected: the two VALUEs are written once, with a barrier. */
static const rb_data_type_t handle_type = {
    .wrap_struct_name = "Larder::Store::FastPath handle",
    .function = {.dmark = handle_mark, .dfree = RUBY_DEFAULT_FREE},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

/* The store that was asked last, kept with its handle: to look for a second instance variable takes as long as all
 * else here. */
static VALUE last_store = Qnil, last_handle = Qnil;

static VALUE new_handle(VALUE cache, VALUE options, const handle *rest) {
    handle *self;
    VALUE object = TypedData_Make_Struct(rb_cObject, handle, &handle_type, self);

    self->max_key_bytes = rest->max_key_bytes;
    self->plain_values = rest->plain_values;
    self->plain_trees = rest->plain_trees;
    RB_OBJ_WRITE(object, &self->cache, cache);
    RB_OBJ_WRITE(object, &self->options, options);
    return object;
}

/* FastPath.handle(cache, options, max_key_size, plain_values, plain_trees); nil: Rails has to look the options up
 */
static VALUE make_handle(VALUE module, VALUE cache, VALUE options, VALUE max_key_size, VALUE plain_values,
                         VALUE plain_trees) {
    handle rest = {.max_key_bytes = NUM2SIZET(max_key_size),
                   .plain_values = RTEST(plain_values),
                   .plain_trees = RTEST(plain_trees)};

    (void)module;
    if (rest.max_key_bytes > LARDER_MAX_KEY) {
        rest.max_key_bytes = LARDER_MAX_KEY;
    }
    last_store = last_handle = Qnil; /* whose handle this may replace */
    return fast_options_hold_all(options) ? new_handle(cache, options, &rest) : Qnil;
}

/* A subclass, or whoever made a copy of a store, has set @options anew: it needs a handle of its own. */
static VALUE renewed(VALUE store, VALUE object, VALUE options) {
    if (RB_OBJ_FROZEN(store) || !fast_options_hold_all(options)) {
        return Qnil;
    }
    const handle *before = RTYPEDDATA_DATA(object);
    VALUE after = new_handle(before->cache, options, before);

    RB_GC_GUARD(object);
    return rb_ivar_set(store, id_fast, after);
}

/* The handle of a store, or NULL: Rails has to look its options up. */
static const handle *handle_of(VALUE store) {
    VALUE options = rb_ivar_get(store, id_options);
    VALUE object = last_handle;

    if (RB_UNLIKELY(store != last_store)) {
        object = rb_ivar_get(store, id_fast);
    }
    if (!glue_is(object, &handle_type)) {
        return NULL;
    }
    if (RB_UNLIKELY(((const handle *)RTYPEDDATA_DATA(object))->options != options)) {
        object = renewed(store, object, options);
        if (NIL_P(object)) {
            return NULL;
        }
    }
    last_store = store;
    last_handle = object;
    return RTYPEDDATA_DATA(object);
}

static bool is_known(VALUE klass) {
    for (unsigned i = 0; i < class_count; i++) {
        if (classes[i] == klass) {
            return true;
        }
    }
    return false;
}

void fast_tick(void) {
#ifdef CLOCK_REALTIME_COARSE
    tick_ms = glue_clock_ms(CLOCK_REALTIME_COARSE);
#else
    tick_ms = glue_clock_ms(CLOCK_REALTIME);
#endif
}

/* Also where the clock was set back. The time is noted before, for other threads call meanwhile, and after, for
 * what takes long must not be all that is done. */
static void look_if_due(void) {
    if (RB_UNLIKELY((uint64_t)tick_ms - (uint64_t)looked_ms >= LOOK_EVERY_MS)) {
        looked_ms = tick_ms;
        rb_funcall(fast_module, id_look_again, 0);
        fast_tick();
        looked_ms = tick_ms;
    }
}

bool fast_ready(VALUE self, unsigned events, fast_store *store) {
    fast_tick();
    look_if_due();
    if ((subscribed & events) || !is_known(RBASIC_CLASS(self)) || fast_log_wanted(self)) {
        return false;
    }
    const handle *found = handle_of(self);
    if (found == NULL) {
        return false;
    }
    store->self = self;
    store->cache = found->cache;
    store->options = found->options;
    store->max_key_bytes = found->max_key_bytes;
    store->plain_values = found->plain_values;
    store->plain_trees = found->plain_trees;
    store->instruments_read = (subscribed & FAST_READ) != 0;
    larder *engine = fast_engine(store);
    return engine != NULL &&
           larder_attached(engine) == 1; /* else the ordinary path attaches it, without the GVL */
}

larder *fast_engine(const fast_store *store) { return glue_engine_if_open(store->cache); }

double fast_now(void) {
    struct timespec now;

    if (!real_time) {
        return NUM2DBL(rb_funcall(rb_funcall(rb_cTime, id_now, 0), id_to_f, 0));
    }
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int64_t fast_ms(double now) {
    double now_ms = floor(now * 1000.0);

    return now_ms < 1.0 ? 1 : (int64_t)now_ms;
}

int64_t fast_read_time_ms(void) { return real_time ? 0 : fast_ms(fast_now()); }

bool fast_has_passed(int64_t expires_at_ms, int64_t now_ms) {
    if (now_ms == 0) {
        if (expires_at_ms > tick_ms + COARSE_LAG_MS) {
            return false;
        }
        now_ms = glue_clock_ms(CLOCK_REALTIME);
    }
    return expires_at_ms <= now_ms;
}

static bool pin(VALUE klass) {
    for (unsigned i = 0; i < pinned_count; i++) {
        if (pinned[i] == klass) {
            return true;
        }
    }
    if (pinned_count == sizeof pinned / sizeof *pinned) {
        return false;
    }
    rb_gc_register_mark_object(klass);
    pinned[pinned_count++] = klass;
    return true;
}

static VALUE look_at_methods(VALUE self) {
    (void)self;
    class_count = 0;
    return ULONG2NUM(++methods_ticket);
}

/* FastPath._enable(ticket, classes): the stores that may take it; none turns it off. */
static VALUE enable(VALUE self, VALUE ticket, VALUE list) {
    glue_check_array(list, "classes");
    if (NUM2ULONG(ticket) != methods_ticket) {
        return self;
    }
    class_count = 0;
    for (long i = 0; i < RARRAY_LEN(list) && class_count < MOST_CLASSES; i++) {
        if (pin(RARRAY_AREF(list, i))) {
            classes[class_count++] = RARRAY_AREF(list, i);
        }
    }
    return self;
}

static VALUE is_enabled(VALUE self, VALUE klass) {
    (void)self;
    return is_known(klass) ? Qtrue : Qfalse;
}

/* FastPath._verdicts(store): is a simple call of each operation answered here? By the question that calls ask. */
static VALUE verdicts(VALUE self, VALUE store) {
    VALUE hash = rb_hash_new();
    fast_store unused;

    (void)self;
#define FAST_VERDICT(name, text, events) \
    rb_hash_aset(hash, ID2SYM(rb_intern(text)), fast_ready(store, (events), &unused) ? Qtrue : Qfalse);
    FAST_OPERATION_LIST(FAST_VERDICT)
#undef FAST_VERDICT
    return hash;
}

/* Without making one, which would be a change. */
static VALUE has_singleton_class(VALUE self, VALUE store) {
    (void)self;
    return RBASIC_CLASS(store) == rb_obj_class(store) ? Qfalse : Qtrue;
}

static VALUE is_log_wanted(VALUE self, VALUE store) {
    (void)self;
    return fast_log_wanted(store) ? Qtrue : Qfalse;
}

static VALUE look_at_listeners(VALUE self) {
    (void)self;
    subscribed = ~0u;
    return ULONG2NUM(++listeners_ticket);
}

/* FastPath._subscribe(ticket, events) */
static VALUE subscribe(VALUE self, VALUE ticket, VALUE events) {
    unsigned found = NUM2UINT(events);

    if (NUM2ULONG(ticket) == listeners_ticket) {
        subscribed = found;
    }
    return self;
}

static VALUE get_subscribed(VALUE self) {
    (void)self;
    return UINT2NUM(subscribed);
}

static VALUE look_at_time(VALUE self) {
    (void)self;
    real_time = false;
    return ULONG2NUM(++time_ticket);
}

/* FastPath._go_by_clock(ticket, is Time.now Ruby's own?) */
static VALUE go_by_clock(VALUE self, VALUE ticket, VALUE is_real) {
    if (NUM2ULONG(ticket) == time_ticket) {
        real_time = RTEST(is_real);
    }
    return self;
}

void fast_guard_init(VALUE module) {
    VALUE singleton = rb_singleton_class(module);

    rb_gc_register_address(&last_store);
    rb_gc_register_address(&last_handle);
    fast_module = module;
    rb_gc_register_mark_object(module);
    id_fast = rb_intern("@fast");
    id_options = rb_intern("@options");
    id_look_again = rb_intern("look_again");
    id_now = rb_intern("now");
    id_to_f = rb_intern("to_f");
    rb_define_private_method(singleton, "_look_at_methods", look_at_methods, 0);
    rb_define_private_method(singleton, "_enable", enable, 2);
    rb_define_method(singleton, "enabled?", is_enabled, 1);
    rb_define_private_method(singleton, "_verdicts", verdicts, 1);
    rb_define_private_method(singleton, "_singleton_class?", has_singleton_class, 1);
    rb_define_private_method(singleton, "_log_wanted?", is_log_wanted, 1);
    rb_define_private_method(singleton, "_look_at_listeners", look_at_listeners, 0);
    rb_define_private_method(singleton, "_subscribe", subscribe, 2);
    rb_define_method(singleton, "subscribed", get_subscribed, 0);
    rb_define_private_method(singleton, "_look_at_time", look_at_time, 0);
    rb_define_private_method(singleton, "_go_by_clock", go_by_clock, 2);
    rb_define_method(singleton, "handle", make_handle, 5);
}
