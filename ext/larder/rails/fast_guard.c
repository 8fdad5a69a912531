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
#include "base/errors.h"
#include "rails/fast_clock.h"
#include "rails/fast_instrumentation.h"
#include "rails/fast_log.h"

#define MAX_CLASSES 16
typedef struct {
    VALUE classes[MAX_CLASSES];
    unsigned count;
} class_list;
static class_list known;              /* stores whose methods are all as we know them */
static class_list known_steps;        /* those whose keys, versions and options are made as we know it */
static VALUE pinned[4 * MAX_CLASSES]; /* every class that was ever among them: compaction must not move it */
static unsigned pinned_count;
static unsigned long ticket; /* of the latest check of methods */

#define CHECK_EVERY_MS 1000
static int64_t checked_ms; /* when everything was last checked, by the coarse clock */
static VALUE fast_module = Qnil;
static ID id_check;

static inline bool holds(const class_list *list, VALUE klass) {
    for (unsigned i = 0; i < list->count; i++) {
        if (list->classes[i] == klass) {
            return true;
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
    if (fast_instrumentation_wanted(FAST_EVENT_OLD_PAYLOADS) || !holds(&known, RBASIC_CLASS(self)) ||
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

bool fast_guard_takes_steps(VALUE self) {
    check_if_due();
    return holds(&known_steps, RBASIC_CLASS(self));
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

static void fill(class_list *list, VALUE classes) {
    glue_check_array(classes, "classes");
    list->count = 0;
    for (long i = 0; i < RARRAY_LEN(classes) && list->count < MAX_CLASSES; i++) {
        if (pin(RARRAY_AREF(classes, i))) {
            list->classes[list->count++] = RARRAY_AREF(classes, i);
        }
    }
}

/* FastPath._begin_method_check */
static VALUE begin_check(VALUE self) {
    (void)self;
    known.count = known_steps.count = 0;
    return ULONG2NUM(++ticket);
}

/* FastPath._end_method_check(ticket, classes, step_classes): the stores that may take it, and those whose steps
 * may be taken in C; none turns it off. */
static VALUE end_check(VALUE self, VALUE given, VALUE classes, VALUE step_classes) {
    if (NUM2ULONG(given) == ticket) {
        fill(&known, classes);
        fill(&known_steps, step_classes);
    }
    return self;
}

static VALUE is_enabled(VALUE self, VALUE klass) {
    (void)self;
    return holds(&known, klass) ? Qtrue : Qfalse;
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

    fast_module = module;
    rb_gc_register_mark_object(module);
    id_check = rb_intern("check");
    rb_define_private_method(singleton, "_begin_method_check", begin_check, 0);
    rb_define_private_method(singleton, "_end_method_check", end_check, 3);
    rb_define_method(singleton, "enabled?", is_enabled, 1);
    rb_define_private_method(singleton, "_passes?", passes, 1);
    rb_define_private_method(singleton, "_singleton_class?", has_singleton_class, 1);
}
