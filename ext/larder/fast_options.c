/*
 * fast_options.c — the options of a call, read straight from the Hash.
 *
 * The store's own options are read anew at each call, as Rails reads them: an
 * application may change them. What is not named here is for the ordinary path.
 */
#include "fast.h"

#include <math.h>

static ID id_value, id_new;
static VALUE duration_class, write_options_class;
static VALUE sym_expires_in, sym_expires_at, sym_namespace, sym_race_condition_ttl, sym_skip_nil, sym_compress,
    sym_compress_threshold, sym_version, sym_raw, sym_force, sym_unless_exist, sym_expire_in, sym_expired_in;

/* Seconds, greater than 0, as a small Integer, Float or ActiveSupport::Duration of one. */
static bool take_seconds(VALUE given, double *seconds) {
    if (!RB_SPECIAL_CONST_P(given) && RBASIC_CLASS(given) == duration_class) {
        given = rb_ivar_get(given, id_value);
    }
    if (FIXNUM_P(given)) {
        *seconds = (double)FIX2LONG(given);
    } else if (RB_FLOAT_TYPE_P(given)) {
        *seconds = RFLOAT_VALUE(given);
    } else {
        return false;
    }
    return *seconds > 0.0 && isfinite(*seconds);
}

static bool take_life(VALUE given, double *seconds) {
    *seconds = 0.0;
    return NIL_P(given) || take_seconds(given, seconds);
}

static bool take_namespace(VALUE given, VALUE *namespace) {
    *namespace = given;
    return NIL_P(given) || (!RB_SPECIAL_CONST_P(given) && RBASIC_CLASS(given) == rb_cString);
}

struct taking {
    fast_options *options;
    bool of_call;
    bool simple;
    bool threshold; /* the call has :compress_threshold, which without :compress turns compression on */
    bool decided;   /* the call has :compress */
};

/* What changes nothing where it is nil or false. */
static bool is_switch(VALUE name) {
    return name == sym_raw || name == sym_force || name == sym_unless_exist || name == sym_version;
}

static bool take(struct taking *taking, VALUE name, VALUE value) {
    fast_options *options = taking->options;

    if (name == sym_expires_in) {
        return take_life(value, &options->life.expires_in);
    }
    if (name == sym_namespace) {
        return take_namespace(value, &options->namespace);
    }
    if (name == sym_race_condition_ttl) {
        return take_life(value, &options->life.race);
    }
    if (name == sym_skip_nil) {
        options->skip_nil = RTEST(value);
        return true;
    }
    if (name == sym_compress) {
        options->compress = RTEST(value);
        taking->decided |= taking->of_call;
        return true;
    }
    if (name == sym_compress_threshold) {
        taking->threshold |= taking->of_call;
        return true;
    }
    if (is_switch(name)) {
        return !RTEST(value);
    }
    if (taking->of_call) {
        return false;
    }
    return name != sym_expires_at && name != sym_expire_in && name != sym_expired_in;
}

static int take_pair(VALUE name, VALUE value, VALUE arg) {
    struct taking *taking = (struct taking *)arg;

    taking->simple = take(taking, name, value);
    return taking->simple ? ST_CONTINUE : ST_STOP;
}

bool fast_options_merge(const fast_store *store, VALUE call_options, fast_options *options) {
    struct taking taking = {.options = options, .simple = true};

    *options = (fast_options){.namespace = Qnil};
    rb_hash_foreach(store->options, take_pair, (VALUE)&taking);
    if (NIL_P(call_options) || !taking.simple) {
        return taking.simple;
    }
    if (!RB_TYPE_P(call_options, T_HASH)) {
        return false;
    }
    taking.of_call = true;
    rb_hash_foreach(call_options, take_pair, (VALUE)&taking);
    return taking.simple && (taking.decided || !taking.threshold);
}

static int put_pair(VALUE name, VALUE value, VALUE hash) {
    rb_hash_aset(hash, name, value);
    return ST_CONTINUE;
}

VALUE fast_options_hash(const fast_store *store, VALUE call_options) {
    VALUE hash = rb_hash_dup(store->options);

    if (!NIL_P(call_options)) {
        rb_hash_foreach(call_options, put_pair, hash);
    }
    return hash;
}

VALUE fast_write_options(VALUE hash) { return rb_funcall(write_options_class, id_new, 1, hash); }

/* FastPath._classes(duration, write_options) */
static VALUE set_classes(VALUE self, VALUE duration, VALUE write_options) {
    duration_class = duration;
    write_options_class = write_options;
    rb_gc_register_mark_object(duration);
    rb_gc_register_mark_object(write_options);
    return self;
}

void fast_options_init(VALUE module) {
    id_value = rb_intern("@value");
    id_new = rb_intern("new");
#define SYMBOL(name) sym_##name = ID2SYM(rb_intern(#name))
    SYMBOL(expires_in);
    SYMBOL(expires_at);
    SYMBOL(namespace);
    SYMBOL(race_condition_ttl);
    SYMBOL(skip_nil);
    SYMBOL(compress);
    SYMBOL(compress_threshold);
    SYMBOL(version);
    SYMBOL(raw);
    SYMBOL(force);
    SYMBOL(unless_exist);
    SYMBOL(expire_in);
    SYMBOL(expired_in);
#undef SYMBOL
    rb_define_private_method(rb_singleton_class(module), "_classes", set_classes, 2);
}
