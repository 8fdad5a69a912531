/*
 * fast_options.c — the options of a call, read from the Hash.
 *
 * The store's own options are read at each call, as Rails does: an application may
 * change them. An option that is not named here sends the call to the ordinary path.
 */
#include "rails/fast_options.h"

#include <math.h>

static ID id_value, id_options, id_default, id_default_proc;
static VALUE duration_class, write_options_class;
static VALUE sym_expires_in, sym_expires_at, sym_namespace, sym_race_condition_ttl, sym_skip_nil, sym_compress,
    sym_compress_threshold, sym_version, sym_raw, sym_force, sym_unless_exist, sym_expire_in, sym_expired_in,
    sym_single_flight, sym_wait, sym_lease, sym_stale_while_revalidate, sym_stale_if_error, sym_early_refresh,
    sym_jitter, sym_tags, sym_soft_timeout;

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

struct taking {
    fast_options *options;
    bool of_call;
    bool simple;
};

/* An option that has no effect if it is nil or false. */
static bool is_switch(VALUE name) { return name == sym_force || name == sym_unless_exist; }

/* Options of a miss, of a write, or of what is stale. False: it is none of them. */
static __attribute__((noinline)) bool take_miss_option(struct taking *taking, VALUE name, VALUE value,
                                                       bool *taken) {
    fast_options *options = taking->options;
    double given = 0.0;

    *taken = true;
    if (name == sym_single_flight) {
        options->single_flight = value == Qtrue;
        options->single_flight_of_call = options->single_flight && taking->of_call;
        *taken = value == Qtrue || !RTEST(value);
    } else if (name == sym_stale_while_revalidate) {
        options->keeps |= !NIL_P(value);
        options->stale_of_call = taking->of_call && !NIL_P(value);
        *taken = take_life(value, &options->stale);
    } else if (name == sym_early_refresh) {
        options->early = value == Qtrue;
        options->keeps |= options->early;
        *taken = value == Qtrue || !RTEST(value);
    } else if (name == sym_stale_if_error || name == sym_jitter) {
        options->keeps |= !NIL_P(value);
        *taken = take_life(value, &given) && (name != sym_jitter || given <= 1.0);
    } else if (name == sym_tags) {
        options->tagged = RTEST(value);
    } else if (name == sym_wait || name == sym_lease || name == sym_soft_timeout) {
        *taken = take_life(value, &given);
    } else {
        return false;
    }
    return true;
}

static bool take(struct taking *taking, VALUE name, VALUE value) {
    fast_options *options = taking->options;

    if (name == sym_expires_in) {
        return take_life(value, &options->life.expires_in);
    }
    if (name == sym_namespace) {
        options->namespace = RTEST(value) ? value : Qnil;
        return true;
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
        return true;
    }
    if (name == sym_compress_threshold) {
        return FIXNUM_P(value) && FIX2LONG(value) > (long)sizeof(uint64_t); /* so a number is not compressed */
    }
    if (name == sym_version) {
        options->version = RTEST(value) ? value : Qnil;
        return true;
    }
    if (is_switch(name)) {
        return !RTEST(value);
    }
    if (name == sym_raw) { /* has no effect without a second level */
        options->raw = RTEST(value);
        return true;
    }
    bool taken;
    if (take_miss_option(taking, name, value, &taken)) {
        return taken;
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

/* Takes every option of a Hash. Looking up the usual ones costs a fifth of a walk over the Hash, which is made
 * only if others remain. */
static bool take_all(struct taking *taking, VALUE hash) {
    const VALUE of_store[] = {sym_compress,  sym_compress_threshold, sym_expires_in,
                              sym_namespace, sym_single_flight,      sym_tags};
    const VALUE of_call[] = {sym_expires_in, sym_single_flight,      sym_tags,
                             sym_compress,   sym_compress_threshold, sym_namespace};
    const VALUE *usual = taking->of_call ? of_call : of_store;
    size_t left = RHASH_SIZE(hash);

    for (size_t i = 0; left && i < sizeof of_call / sizeof *of_call; i++) {
        VALUE value = rb_hash_lookup2(hash, usual[i], Qundef);
        if (value != Qundef) {
            if (!take(taking, usual[i], value)) {
                return false;
            }
            left--;
        }
    }
    taking->simple = true;
    if (left) {
        rb_hash_foreach(hash, take_pair, (VALUE)taking);
    }
    return taking->simple;
}

static bool take_call(struct taking *taking, VALUE hash) {
    taking->of_call = true;
    return take_all(taking, hash);
}

bool fast_options_merge(VALUE store_options, VALUE call_options, fast_options *options) {
    struct taking taking = {.options = options};

    *options = (fast_options){.namespace = Qnil, .version = Qnil};
    if (!take_all(&taking, store_options)) {
        return false;
    }
    if (NIL_P(call_options)) {
        return true;
    }
    return RB_TYPE_P(call_options, T_HASH) && take_call(&taking, call_options);
}

bool fast_options_take(VALUE hash, fast_options *options) {
    struct taking taking = {.options = options};

    *options = (fast_options){.namespace = Qnil, .version = Qnil};
    return take_call(&taking, hash);
}

bool fast_options_hold_all(VALUE options) {
    return !RB_SPECIAL_CONST_P(options) && RBASIC_CLASS(options) == rb_cHash &&
           NIL_P(rb_funcall(options, id_default_proc, 0)) && NIL_P(rb_funcall(options, id_default, 0));
}

bool fast_options_are_simple(VALUE call_options) {
    return NIL_P(call_options) || rb_keyword_given_p() || fast_options_hold_all(call_options);
}

static int put_pair(VALUE name, VALUE value, VALUE hash) {
    rb_hash_aset(hash, name, value);
    return ST_CONTINUE;
}

static void put_call(VALUE call_options, VALUE hash) {
    size_t count = NIL_P(call_options) ? 0 : RHASH_SIZE(call_options);
    VALUE expires_in = count == 1 ? rb_hash_lookup2(call_options, sym_expires_in, Qundef) : Qundef;

    if (expires_in != Qundef) {
        rb_hash_aset(hash, sym_expires_in, expires_in);
    } else if (count) {
        rb_hash_foreach(call_options, put_pair, hash);
    }
}

VALUE fast_options_hash(VALUE store_options, VALUE call_options) {
    VALUE hash = rb_hash_dup(store_options);

    put_call(call_options, hash);
    return hash;
}

void fast_options_into(VALUE store_options, VALUE call_options, VALUE hash) {
    rb_hash_foreach(store_options, put_pair, hash);
    put_call(call_options, hash);
}

/* As WriteOptions.new(hash), whose initialize sets the same variable. */
VALUE fast_options_writable(VALUE hash) {
    VALUE options = rb_obj_alloc(write_options_class);

    rb_ivar_set(options, id_options, hash);
    return options;
}

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
    id_options = rb_intern("@options");
    id_default = rb_intern("default");
    id_default_proc = rb_intern("default_proc");
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
    SYMBOL(single_flight);
    SYMBOL(wait);
    SYMBOL(lease);
    SYMBOL(stale_while_revalidate);
    SYMBOL(stale_if_error);
    SYMBOL(early_refresh);
    SYMBOL(jitter);
    SYMBOL(tags);
    SYMBOL(soft_timeout);
#undef SYMBOL
    rb_define_private_method(rb_singleton_class(module), "_classes", set_classes, 2);
}
