/*
 * fast_guard.c — may a call of a store take the fast path?
 *
 * The conditions are flags, here and in fast_clock.c, fast_instrumentation.c and
 * fast_log.c. Larder::Store::FastPath and its watchers set them at the moment of
 * each change, under the GVL, so that a call need not find out. What no watcher sees
 * is found when everything is checked again, by the first call after a second.
 *
 * A check takes a while, in which other threads run, make changes and check. So its
 * beginning turns the fast path off and takes a ticket, and its result counts only
 * if no later check has begun.
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
    unsigned taken; /* what of its calls: bits */
} known[MAX_CLASSES];
static unsigned known_count;
static VALUE pinned[4 * MAX_CLASSES]; /* every class that was ever among them: compaction must not move it */
static unsigned pinned_count;
static unsigned long ticket; /* of the latest check of methods */

#define CHECK_EVERY_MS 1000
static int64_t checked_ms; /* when everything was last checked, by the coarse clock */
static VALUE fast_module = Qnil;
static ID id_check;

static inline bool takes(VALUE class, unsigned taken) {
    for (unsigned i = 0; i < known_count; i++) {
        if (known[i].class == class) {
            return (known[i].taken & taken) != 0;
        }
    }
    return false;
}

/* Also if the clock was set back. The time is noted before, as other threads call meanwhile, and after, as a check
 * may take longer than the time between two of them. */
static void check_if_due(void) {
    if (RB_UNLIKELY((uint64_t)fast_clock_coarse_ms - (uint64_t)checked_ms >= CHECK_EVERY_MS)) {
        checked_ms = fast_clock_coarse_ms;
        rb_funcall(fast_module, id_check, 0);
        fast_clock_tick();
        checked_ms = fast_clock_coarse_ms;
    }
}

bool fast_guard_passes(VALUE self, fast_store *store) {
    glue_check_stack();
    fast_clock_tick();
    check_if_due();
    if (fast_instrumentation_wanted(FAST_EVENT_OLD_PAYLOADS) || !takes(RBASIC_CLASS(self), FAST_TAKEN_CALLS) ||
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

bool fast_guard_takes(VALUE self, enum fast_taken step) {
    check_if_due();
    return takes(RBASIC_CLASS(self), step);
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

/* [class, bits] */
static void add(VALUE pair) {
    glue_check_array(pair, "a class and its bits");
    VALUE class = rb_ary_entry(pair, 0);
    unsigned taken = NUM2UINT(rb_ary_entry(pair, 1));

    if (known_count < MAX_CLASSES && pin(class)) {
        known[known_count].class = class;
        known[known_count++].taken = taken;
    }
}

/* FastPath._begin_method_check */
static VALUE begin_check(VALUE self) {
    (void)self;
    known_count = 0;
    return ULONG2NUM(++ticket);
}

/* FastPath._end_method_check(ticket, classes): stores, each with the bits of what C may take; none turns it off.
 */
static VALUE end_check(VALUE self, VALUE given, VALUE classes) {
    glue_check_array(classes, "classes");
    if (NUM2ULONG(given) == ticket) {
        known_count = 0;
        for (long i = 0; i < RARRAY_LEN(classes); i++) {
            add(RARRAY_AREF(classes, i));
        }
    }
    return self;
}

static VALUE is_enabled(VALUE self, VALUE class) {
    (void)self;
    return takes(class, FAST_TAKEN_CALLS) ? Qtrue : Qfalse;
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
    VALUE taken = rb_hash_new();

#define DEFINE_TAKEN(name, method, bit) rb_hash_aset(taken, ID2SYM(rb_intern(method)), INT2FIX(bit));
    FAST_TAKEN_LIST(DEFINE_TAKEN)
#undef DEFINE_TAKEN
    glue_private_const(module, "TAKEN", rb_obj_freeze(taken));
    fast_module = module;
    rb_gc_register_mark_object(module);
    id_check = rb_intern("check");
    rb_define_private_method(singleton, "_begin_method_check", begin_check, 0);
    rb_define_private_method(singleton, "_end_method_check", end_check, 2);
    rb_define_method(singleton, "enabled?", is_enabled, 1);
    rb_define_private_method(singleton, "_passes?", passes, 1);
    rb_define_private_method(singleton, "_singleton_class?", has_singleton_class, 1);
}
