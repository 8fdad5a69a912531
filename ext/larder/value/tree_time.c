/*
 * tree_time.c — Times as parts, and of parts, without Larder::Tree, which knows more of them.
 */
#include "value/tree_time.h"

#include <limits.h>
#include <ruby/encoding.h>
#include <time.h>

enum { UTC = INT_MAX - 1, LOCAL = INT_MAX, MAX_ZONE_BYTES = 64 }; /* the first two are rb_time_timespec_new()'s */

static ID id_subsec, id_to_i, id_utc_offset, id_utc_p, id_zone;

static VALUE asked(VALUE time, ID method) { return rb_funcallv(time, method, 0, NULL); }

/* Is it a part of a second in nanoseconds? */
static bool is_nanoseconds(VALUE part) {
    if (FIXNUM_P(part)) {
        return true;
    }
    VALUE denominator = RB_TYPE_P(part, T_RATIONAL) ? rb_rational_den(part) : Qnil;
    return FIXNUM_P(denominator) && 1000000000 % FIX2LONG(denominator) == 0;
}

/* The name of a zone, as Ruby's own for local time are. */
static bool is_zone(VALUE zone) {
    return RB_TYPE_P(zone, T_STRING) && RSTRING_LEN(zone) > 0 && RSTRING_LEN(zone) <= MAX_ZONE_BYTES &&
           rb_enc_str_asciionly_p(zone);
}

bool tree_time_parts(VALUE time, VALUE parts[TREE_TIME_PARTS]) {
    parts[0] = asked(time, id_to_i);
    parts[2] = parts[3] = Qnil;
    if (!FIXNUM_P(parts[0]) || rb_ivar_count(time) || !is_nanoseconds(asked(time, id_subsec))) {
        return false;
    }
    parts[1] = LONG2FIX(rb_time_timespec(time).tv_nsec);
    if (RTEST(asked(time, id_utc_p))) {
        return true;
    }
    parts[2] = asked(time, id_utc_offset);
    parts[3] = asked(time, id_zone);
    return FIXNUM_P(parts[2]) && is_zone(parts[3]);
}

/* Local time is the process's own: elsewhere the zone has another name, or the hour another. */
static VALUE local_time(const struct timespec *at, VALUE offset, VALUE zone) {
    VALUE time = rb_time_timespec_new(at, LOCAL);

    return asked(time, id_utc_offset) == offset && RTEST(rb_equal(asked(time, id_zone), zone)) ? time : Qundef;
}

VALUE tree_time_made(const VALUE parts[TREE_TIME_PARTS]) {
    VALUE offset = parts[2], zone = parts[3];
    struct timespec at;

    if (!FIXNUM_P(parts[0]) || !FIXNUM_P(parts[1])) {
        return Qundef;
    }
    at.tv_sec = FIX2LONG(parts[0]);
    at.tv_nsec = FIX2LONG(parts[1]);
    if (at.tv_nsec < 0 || at.tv_nsec > 999999999) {
        return Qundef;
    }
    if (NIL_P(offset)) {
        return rb_time_timespec_new(&at, UTC);
    }
    return FIXNUM_P(offset) && RB_TYPE_P(zone, T_STRING) ? local_time(&at, offset, zone) : Qundef;
}

void tree_time_init(void) {
    id_subsec = rb_intern("subsec");
    id_to_i = rb_intern("to_i");
    id_utc_offset = rb_intern("utc_offset");
    id_utc_p = rb_intern("utc?");
    id_zone = rb_intern("zone");
}
