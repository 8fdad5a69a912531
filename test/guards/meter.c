/*
 * meter.c — lets a Ruby script say to callgrind what to count. Built by instruction_counts.rb
 * into a library that the script requires; does nothing outside of valgrind.
 */
#include <ruby.h>
#include <valgrind/callgrind.h>

static VALUE meter_start(VALUE self) {
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    return self;
}

/* Dumps what was executed since start, under a name. */
static VALUE meter_stop(VALUE self, VALUE name) {
    CALLGRIND_DUMP_STATS_AT(StringValueCStr(name));
    CALLGRIND_STOP_INSTRUMENTATION;
    return self;
}

static VALUE meter_running(VALUE self) {
    (void)self;
    return RUNNING_ON_VALGRIND ? Qtrue : Qfalse;
}

void Init_meter(void);
void Init_meter(void) {
    VALUE meter = rb_define_module("Meter");
    rb_define_singleton_method(meter, "start", meter_start, 0);
    rb_define_singleton_method(meter, "stop", meter_stop, 1);
    rb_define_singleton_method(meter, "running?", meter_running, 0);
}
