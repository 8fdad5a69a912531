/*
 * fast_instrumentation.c — which events of ActiveSupport's cache have subscribers.
 */
#include "rails/fast_instrumentation.h"
#include "base/constants.h"

unsigned fast_instrumentation_subscribed = ~0u;

void fast_instrumentation_init(VALUE module) {
    VALUE events = rb_hash_new();

#define DEFINE_EVENT(name, operation, bit) \
    rb_hash_aset(events, rb_interned_str_cstr("cache_" operation ".active_support"), INT2FIX(bit));
    FAST_EVENT_LIST(DEFINE_EVENT)
#undef DEFINE_EVENT
    rb_hash_aset(events, rb_interned_str_cstr("stale.larder"), INT2FIX(FAST_EVENT_STALE));
    glue_private_const(module, "EVENTS", rb_obj_freeze(events));
    glue_private_const(module, "OLD_PAYLOADS", INT2FIX(FAST_EVENT_OLD_PAYLOADS));
}
