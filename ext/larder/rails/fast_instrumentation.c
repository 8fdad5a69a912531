/*
 * fast_instrumentation.c — which events of ActiveSupport's cache have subscribers.
 *
 * Larder::Store::FastPath says so at the moment of each change.
 */
#include "rails/fast_instrumentation.h"
#include "base/constants.h"

unsigned fast_instrumentation_subscribed = ~0u;

static unsigned long ticket; /* of the latest check, see fast_guard.c */

/* FastPath._begin_subscriber_check */
static VALUE begin_check(VALUE self) {
    (void)self;
    fast_instrumentation_subscribed = ~0u;
    return ULONG2NUM(++ticket);
}

/* FastPath._end_subscriber_check(ticket, events) */
static VALUE end_check(VALUE self, VALUE given, VALUE events) {
    unsigned found = NUM2UINT(events);

    if (NUM2ULONG(given) == ticket) {
        fast_instrumentation_subscribed = found;
    }
    return self;
}

static VALUE subscribed(VALUE self) {
    (void)self;
    return UINT2NUM(fast_instrumentation_subscribed);
}

void fast_instrumentation_init(VALUE module) {
    VALUE singleton = rb_singleton_class(module);
    VALUE events = rb_hash_new();

#define DEFINE_EVENT(name, operation, bit) \
    rb_hash_aset(events, rb_interned_str_cstr("cache_" operation ".active_support"), INT2FIX(bit));
    FAST_EVENT_LIST(DEFINE_EVENT)
#undef DEFINE_EVENT
    rb_hash_aset(events, rb_interned_str_cstr("stale.larder"), INT2FIX(FAST_EVENT_STALE));
    glue_private_const(module, "EVENTS", rb_obj_freeze(events));
    glue_private_const(module, "OLD_PAYLOADS", INT2FIX(FAST_EVENT_OLD_PAYLOADS));
    rb_define_private_method(singleton, "_begin_subscriber_check", begin_check, 0);
    rb_define_private_method(singleton, "_end_subscriber_check", end_check, 2);
    rb_define_method(singleton, "subscribed", subscribed, 0);
}
