/*
 * fast_guard.c — when the fast path may be taken: what Ruby has told this process
 * about patches, subscribers, the clock and the log.
 *
 * The flags here are written by Larder::Store::FastPath and its watchers
 * (lib/larder/store/fast_path.rb), at the moment of each change and under the
 * GVL, so that a call need not ask.
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
static unsigned heard = ~0u; /* events that somebody may listen to */
static bool real_time;       /* Time.now is Ruby's own */

static ID id_fast, id_now, id_to_f;

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

/* FastPath.handle(cache, options, max_key_size, plain_values, plain_trees); nil: Rails has to look the options up
 */
static VALUE make_handle(VALUE module, VALUE cache, VALUE options, VALUE max_key_size, VALUE plain_values,
                         VALUE plain_trees) {
    handle *self;
    VALUE object;

    (void)module;
    if (!fast_options_hold_all(options)) {
        return Qnil;
    }
    object = TypedData_Make_Struct(rb_cObject, handle, &handle_type, self);
    self->max_key_bytes = NUM2SIZET(max_key_size);
    if (self->max_key_bytes > LARDER_MAX_KEY) {
        self->max_key_bytes = LARDER_MAX_KEY;
    }
    self->plain_values = RTEST(plain_values);
    self->plain_trees = RTEST(plain_trees);
    RB_OBJ_WRITE(object, &self->cache, cache);
    RB_OBJ_WRITE(object, &self->options, options);
    return object;
}

static bool is_known(VALUE klass) {
    for (unsigned i = 0; i < class_count; i++) {
        if (classes[i] == klass) {
            return true;
        }
    }
    return false;
}

bool fast_ready(VALUE self, unsigned events, fast_store *store) {
    if ((heard & events) || !is_known(RBASIC_CLASS(self)) || fast_log_wanted(self)) {
        return false;
    }
    VALUE object = rb_ivar_get(self, id_fast);
    if (!rb_typeddata_is_kind_of(object, &handle_type)) {
        return false;
    }
    const handle *found = RTYPEDDATA_DATA(object);
    store->self = self;
    store->cache = found->cache;
    store->options = found->options;
    store->max_key_bytes = found->max_key_bytes;
    store->plain_values = found->plain_values;
    store->plain_trees = found->plain_trees;
    store->announces_read = (heard & FAST_READ) != 0;
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
#ifdef CLOCK_REALTIME_COARSE
        if (expires_at_ms > glue_clock_ms(CLOCK_REALTIME_COARSE) + COARSE_LAG_MS) {
            return false;
        }
#endif
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

/* FastPath._arm(classes): the stores that may take it; none turns it off. */
static VALUE arm(VALUE self, VALUE list) {
    glue_check_array(list, "classes");
    class_count = 0;
    for (long i = 0; i < RARRAY_LEN(list) && class_count < MOST_CLASSES; i++) {
        if (pin(RARRAY_AREF(list, i))) {
            classes[class_count++] = RARRAY_AREF(list, i);
        }
    }
    return self;
}

static VALUE is_armed(VALUE self, VALUE klass) {
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

static VALUE set_heard(VALUE self, VALUE events) {
    heard = NUM2UINT(events);
    return self;
}

static VALUE get_heard(VALUE self) {
    (void)self;
    return UINT2NUM(heard);
}

static VALUE set_real_time(VALUE self, VALUE is_real) {
    real_time = RTEST(is_real);
    return self;
}

void fast_guard_init(VALUE module) {
    VALUE singleton = rb_singleton_class(module);

    id_fast = rb_intern("@fast");
    id_now = rb_intern("now");
    id_to_f = rb_intern("to_f");
    rb_define_private_method(singleton, "_arm", arm, 1);
    rb_define_method(singleton, "armed?", is_armed, 1);
    rb_define_private_method(singleton, "_verdicts", verdicts, 1);
    rb_define_private_method(singleton, "_singleton_class?", has_singleton_class, 1);
    rb_define_private_method(singleton, "_log_wanted?", is_log_wanted, 1);
    rb_define_private_method(singleton, "_heard=", set_heard, 1);
    rb_define_method(singleton, "heard", get_heard, 0);
    rb_define_private_method(singleton, "_real_time=", set_real_time, 1);
    rb_define_method(singleton, "handle", make_handle, 5);
}
