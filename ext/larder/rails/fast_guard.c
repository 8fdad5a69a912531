/*
 * fast_guard.c — may a call of a store take the fast path?
 *
 * The conditions are flags: here the classes of stores with the steps that C may take
 * for them, in fast_clock.c whether Time.now is Ruby's own, in fast_instrumentation.c
 * the events with subscribers, in fast_log.c the loggers. Larder::Store::FastPath
 * finds them out in a check of everything, which the first call after a second makes.
 * Its watchers report changes that have to take effect at once: the next call then
 * makes a check.
 *
 * A check takes a while, in which other threads run, make changes and check. So its
 * beginning turns the fast path off and takes a ticket, and its result counts only
 * if nothing was reported and no later check has begun. All of it runs under the GVL.
 */
#include "rails/fast_guard.h"
#include "base/constants.h"
#include "base/errors.h"
#include "rails/fast_clock.h"
#include "rails/fast_instrumentation.h"
#include "rails/fast_log.h"

#define MAX_CLASSES 16
static struct {
    VALUE class;
    unsigned steps; /* bits */
} known[MAX_CLASSES];
static unsigned known_count;
static VALUE pinned[4 * MAX_CLASSES]; /* every class that was ever among them: compaction must not move it */
static unsigned pinned_count;
static unsigned long ticket; /* of the latest check or change */

#define CHECK_EVERY_MS 1000
#define NEVER INT64_MIN
static int64_t checked_ms = NEVER; /* when everything was last checked, by the coarse clock */
static VALUE fast_module = Qnil;
static ID id_check;

static inline bool has_step(VALUE class, unsigned step) {
    for (unsigned i = 0; i < known_count; i++) {
        if (known[i].class == class) {
            return (known[i].steps & step) != 0;
        }
    }
    return false;
}

/* Also if the clock was set back. The time is noted before, as other threads call during the check, and after, as
 * a check may take longer than the time between two of them. */
static void check_if_due(void) {
    if (RB_UNLIKELY((uint64_t)fast_clock_coarse_ms - (uint64_t)checked_ms >= CHECK_EVERY_MS)) {
        checked_ms = fast_clock_coarse_ms;
        rb_funcall(fast_module, id_check, 0);
        fast_clock_tick();
        if (checked_ms != NEVER) {
            checked_ms = fast_clock_coarse_ms;
        }
    }
}

bool fast_guard_passes(VALUE self, fast_store *store) {
    glue_check_stack();
    fast_clock_tick();
    check_if_due();
    if (fast_instrumentation_wanted(FAST_EVENT_OLD_PAYLOADS) || !has_step(RBASIC_CLASS(self), FAST_STEP_CALL) ||
        fast_log_wanted(self)) {
        return false;
    }
    const fast_handle *handle = fast_handle_of(self);
    if (handle == NULL) {
        return false;
    }
    store->self = self;
    store->handle = *handle;
    larder *engine = fast_handle_engine(store);
    return engine != NULL && larder_attached(engine) == 1; /* the ordinary path attaches it, without the GVL */
}

bool fast_guard_takes(VALUE self, enum fast_step step) {
    check_if_due();
    return has_step(RBASIC_CLASS(self), step);
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

/* [class, bits of its steps] */
static void add(VALUE pair) {
    glue_check_array(pair, "a class and its steps");
    VALUE class = rb_ary_entry(pair, 0);
    unsigned steps = NUM2UINT(rb_ary_entry(pair, 1));

    if (known_count < MAX_CLASSES && pin(class)) {
        known[known_count].class = class;
        known[known_count++].steps = steps;
    }
}

/* Until the end of the next check, Rails is asked for everything. */
static void turn_off(void) {
    ticket++;
    known_count = 0;
    fast_instrumentation_subscribed = ~0u;
    fast_clock_is_real = false;
    fast_log_forget();
}

/* FastPath.changed: something may have changed that has to take effect at once. */
static VALUE changed(VALUE self) {
    turn_off();
    checked_ms = NEVER;
    return self;
}

/* FastPath._begin_check */
static VALUE begin_check(VALUE self) {
    (void)self;
    turn_off();
    return ULONG2NUM(ticket);
}

/* FastPath._end_check(ticket, [[class, bits of its steps], …], events, [logger, is it a broadcast?, loggers], is
 * Time.now Ruby's own?) */
static VALUE end_check(VALUE self, VALUE given, VALUE classes, VALUE events, VALUE log, VALUE time_is_real) {
    unsigned subscribed = NUM2UINT(events);

    glue_check_array(classes, "classes");
    glue_check_array(log, "a logger");
    if (NUM2ULONG(given) != ticket) {
        return self;
    }
    fast_log_know(rb_ary_entry(log, 0), RTEST(rb_ary_entry(log, 1)), rb_ary_entry(log, 2));
    fast_instrumentation_subscribed = subscribed;
    fast_clock_is_real = RTEST(time_is_real);
    for (long i = 0; i < RARRAY_LEN(classes); i++) {
        add(RARRAY_AREF(classes, i));
    }
    return self;
}

/* FastPath.enabled?(class) */
static VALUE is_enabled(VALUE self, VALUE class) {
    (void)self;
    fast_clock_tick();
    check_if_due();
    return has_step(class, FAST_STEP_CALL) ? Qtrue : Qfalse;
}

/* FastPath._passes?(store): would a simple call be answered in C? */
static VALUE passes(VALUE self, VALUE store) {
    fast_store unused;

    (void)self;
    return fast_guard_passes(store, &unused) ? Qtrue : Qfalse;
}

/* Without making one, which would be a change. */
static VALUE has_singleton_class(VALUE self, VALUE store) {
    (void)self;
    return RBASIC_CLASS(store) == rb_obj_class(store) ? Qfalse : Qtrue;
}

void fast_guard_init(VALUE module) {
    VALUE singleton = rb_singleton_class(module);
    VALUE steps = rb_hash_new();

#define DEFINE_STEP(name, text, bit) rb_hash_aset(steps, ID2SYM(rb_intern(text)), INT2FIX(bit));
    FAST_STEP_LIST(DEFINE_STEP)
#undef DEFINE_STEP
    glue_private_const(module, "STEPS", rb_obj_freeze(steps));
    fast_module = module;
    rb_gc_register_mark_object(module);
    id_check = rb_intern("check");
    rb_define_method(singleton, "changed", changed, 0);
    rb_define_private_method(singleton, "_begin_check", begin_check, 0);
    rb_define_private_method(singleton, "_end_check", end_check, 5);
    rb_define_method(singleton, "enabled?", is_enabled, 1);
    rb_define_private_method(singleton, "_passes?", passes, 1);
    rb_define_private_method(singleton, "_singleton_class?", has_singleton_class, 1);
}
