/*
 * fast_clock.c — what time it is for the fast path, and whether Time.now is Ruby's own.
 */
#include "rails/fast_clock.h"

#include <math.h>

bool fast_clock_is_real;
int64_t fast_clock_coarse_ms;

static ID id_now, id_to_f;

double fast_clock_now(void) {
    struct timespec now;

    if (!fast_clock_is_real) {
        return NUM2DBL(rb_funcall(rb_funcall(rb_cTime, id_now, 0), id_to_f, 0));
    }
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int64_t fast_clock_ms(double now) {
    double now_ms = floor(now * 1000.0);

    return now_ms < 1.0 ? 1 : (int64_t)now_ms;
}

/* Larder::Store::Clock.now: Unix seconds, as Rails sees them */
static VALUE now(VALUE self) {
    (void)self;
    return DBL2NUM(fast_clock_now());
}

/* Larder::Store::Clock.now_ms: the same in milliseconds, as the engine counts it */
static VALUE now_ms(VALUE self) {
    (void)self;
    return LL2NUM(fast_clock_ms(fast_clock_now()));
}

void fast_clock_init(VALUE store_module) {
    VALUE clock = rb_define_module_under(store_module, "Clock");

    rb_define_singleton_method(clock, "now", now, 0);
    rb_define_singleton_method(clock, "now_ms", now_ms, 0);
    id_now = rb_intern("now");
    id_to_f = rb_intern("to_f");
}
