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
static unsigned heard = ~0u; /* events that somebody may listen to */
static bool real_time;       /* Time.now is Ruby's own */
static VALUE store_class;

static ID id_cache, id_options, id_max_key_size, id_plain_values, id_logger, id_silence, id_debug, id_now, id_to_f;

static bool is_known(VALUE klass) {
    for (unsigned i = 0; i < class_count; i++) {
        if (classes[i] == klass) {
            return true;
        }
    }
    return false;
}

/* Would Rails log at this level? The logger is asked as Rails asks it: levels change, also for one thread. */
static bool wants_log(VALUE self) {
    VALUE logger = rb_cvar_get(store_class, id_logger);

    return RTEST(logger) && RTEST(rb_funcall(logger, id_debug, 0)) && !RTEST(rb_ivar_get(self, id_silence));
}

bool fast_ready(VALUE self, unsigned events, fast_store *store) {
    if ((heard & events) || !is_known(RBASIC_CLASS(self)) || wants_log(self)) {
        return false;
    }
    store->self = self;
    store->cache = rb_ivar_get(self, id_cache);
    store->engine = glue_engine_if_open(store->cache);
    store->options = rb_ivar_get(self, id_options);
    VALUE max_key = rb_ivar_get(self, id_max_key_size);
    if (store->engine == NULL || !RB_TYPE_P(store->options, T_HASH) || !FIXNUM_P(max_key)) {
        return false;
    }
    store->max_key_bytes = (size_t)FIX2LONG(max_key);
    store->plain_values = RTEST(rb_ivar_get(self, id_plain_values));
    return store->max_key_bytes <= LARDER_MAX_KEY;
}

static double clock_seconds(clockid_t id) {
    struct timespec now;

    clock_gettime(id, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double fast_now(void) {
    if (real_time) {
        return clock_seconds(CLOCK_REALTIME);
    }
    return NUM2DBL(rb_funcall(rb_funcall(rb_cTime, id_now, 0), id_to_f, 0));
}

int64_t fast_ms(double now) {
    double now_ms = floor(now * 1000.0);

    return now_ms < 1.0 ? 1 : (int64_t)now_ms;
}

int64_t fast_read_time_ms(void) { return real_time ? 0 : fast_ms(fast_now()); }

bool fast_has_passed(int64_t expires_at_ms, int64_t now_ms) {
#ifdef CLOCK_REALTIME_COARSE
    if (now_ms == 0 &&
        (double)expires_at_ms > clock_seconds(CLOCK_REALTIME_COARSE) * 1000.0 + (double)COARSE_LAG_MS) {
        return false;
    }
#endif
    return expires_at_ms <= (now_ms ? now_ms : fast_ms(clock_seconds(CLOCK_REALTIME)));
}

/* FastPath._arm(classes): the stores that may take it; none turns it off. */
static VALUE arm(VALUE self, VALUE list) {
    glue_check_array(list, "classes");
    class_count = 0;
    for (long i = 0; i < RARRAY_LEN(list) && class_count < MOST_CLASSES; i++) {
        rb_gc_register_mark_object(RARRAY_AREF(list, i)); /* compaction must not move it */
        classes[class_count++] = RARRAY_AREF(list, i);
    }
    return self;
}

static VALUE is_armed(VALUE self, VALUE klass) {
    (void)self;
    return is_known(klass) ? Qtrue : Qfalse;
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

static VALUE set_store_class(VALUE self, VALUE klass) {
    rb_gc_register_mark_object(klass);
    store_class = klass;
    return self;
}

void fast_guard_init(VALUE module) {
    VALUE singleton = rb_singleton_class(module);

    id_cache = rb_intern("@cache");
    id_options = rb_intern("@options");
    id_max_key_size = rb_intern("@max_key_size");
    id_plain_values = rb_intern("@plain_values");
    id_logger = rb_intern("@@logger");
    id_silence = rb_intern("@silence");
    id_debug = rb_intern("debug?");
    id_now = rb_intern("now");
    id_to_f = rb_intern("to_f");
    rb_define_private_method(singleton, "_arm", arm, 1);
    rb_define_method(singleton, "armed?", is_armed, 1);
    rb_define_private_method(singleton, "_heard=", set_heard, 1);
    rb_define_method(singleton, "heard", get_heard, 0);
    rb_define_private_method(singleton, "_real_time=", set_real_time, 1);
    rb_define_private_method(singleton, "_store_class=", set_store_class, 1);
}
