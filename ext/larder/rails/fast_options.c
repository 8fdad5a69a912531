/*
 * fast_options.c — the options of a call, read from the Hash.
 *
 * The store's own options are read at each call, as Rails does: an application may
 * change them. Larder::Store::Options says what is done here with each option of
 * calls. A call with any other option, or with one that it lists as :ordinary, goes
 * to the ordinary path.
 */
#include "rails/fast_options.h"
#include "base/arguments.h"

#include <math.h>

/* The ways to take an option: name here, and in the table of options. Those up to JITTER have one
 * option each, of the same name. */
#define KINDS(X)                                                                             \
    X(NAMESPACE, "namespace")                                                                \
    X(RACE, "race_condition_ttl")                                                            \
    X(VERSION, "version")                                                                    \
    X(RAW, "raw")                                                                            \
    X(EXPIRES_IN, "expires_in")                                                              \
    X(COMPRESS, "compress")                                                                  \
    X(COMPRESS_THRESHOLD, "compress_threshold")                                              \
    X(SINGLE_FLIGHT, "single_flight")                                                        \
    X(TAGS, "tags")                                                                          \
    X(SKIP_NIL, "skip_nil")                                                                  \
    X(STALE, "stale_while_revalidate")                                                       \
    X(EARLY, "early_refresh")                                                                \
    X(JITTER, "jitter")                                                                      \
    X(KEEPS, "keeps")     /* seconds: an entry is kept for that time after it has expired */ \
    X(SECONDS, "seconds") /* of a miss, which Ruby computes: they only have to be seconds */ \
    X(OFF, "off")         /* simple if it is false or nil */                                 \
    X(ORDINARY, "ordinary")

enum kind {
#define KIND(name, text) KIND_##name,
    KINDS(KIND)
#undef KIND
        KIND_COUNT
};

static VALUE kind_names[KIND_COUNT];

#define MAX_OPTIONS 64
static struct {
    VALUE name;
    enum kind kind;
} known[MAX_OPTIONS]; /* those of calls */
static unsigned known_count;

static ID id_value, id_options, id_default, id_default_proc;
static VALUE duration_class, write_options_class, sym_tags;

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

/* True, or a value that counts as false. */
static bool is_switch(VALUE value) { return value == Qtrue || !RTEST(value); }

/* False: the ordinary path has to see the value. */
static bool take(struct taking *taking, enum kind kind, VALUE value) {
    fast_options *options = taking->options;
    double given = 0.0;

    switch (kind) {
    case KIND_EXPIRES_IN:
        return take_life(value, &options->life.expires_in);
    case KIND_NAMESPACE:
        options->namespace = RTEST(value) ? value : Qnil;
        return true;
    case KIND_COMPRESS:
        options->compress = RTEST(value);
        return true;
    case KIND_COMPRESS_THRESHOLD: /* so that a number is not compressed */
        return FIXNUM_P(value) && FIX2LONG(value) > (long)sizeof(uint64_t);
    case KIND_SINGLE_FLIGHT:
        options->single_flight = value == Qtrue;
        options->single_flight_of_call = options->single_flight && taking->of_call;
        return is_switch(value);
    case KIND_TAGS:
        options->tagged = RTEST(value);
        return true;
    case KIND_RACE:
        return take_life(value, &options->life.race);
    case KIND_SKIP_NIL:
        options->skip_nil = RTEST(value);
        return true;
    case KIND_VERSION:
        options->version = RTEST(value) ? value : Qnil;
        return true;
    case KIND_RAW:
        options->raw = RTEST(value);
        return true; /* has no effect without a second level */
    case KIND_STALE:
        options->keeps |= !NIL_P(value);
        options->stale_of_call = taking->of_call && !NIL_P(value);
        return take_life(value, &options->stale);
    case KIND_EARLY:
        options->early = value == Qtrue;
        options->keeps |= options->early;
        return is_switch(value);
    case KIND_JITTER: /* the entry's time is changed where entries are kept */
        options->keeps |= !NIL_P(value);
        return take_life(value, &given) && given <= 1.0;
    case KIND_KEEPS:
        options->keeps |= !NIL_P(value);
        return take_life(value, &given);
    case KIND_SECONDS:
        return take_life(value, &given);
    case KIND_OFF:
        return !RTEST(value);
    case KIND_ORDINARY:
    case KIND_COUNT:
        break;
    }
    return false;
}

/* Options of the constructor alone are in the store's Hash, too, and so are unknown ones: they concern no call. */
static bool take_named(struct taking *taking, VALUE name, VALUE value) {
    for (unsigned i = 0; i < known_count; i++) {
        if (known[i].name == name) {
            return take(taking, known[i].kind, value);
        }
    }
    return !taking->of_call;
}

static int take_pair(VALUE name, VALUE value, VALUE arg) {
    struct taking *taking = (struct taking *)arg;

    taking->simple = take_named(taking, name, value);
    return taking->simple ? ST_CONTINUE : ST_STOP;
}

/* Takes every option of a Hash. Looking up the usual ones costs a fifth of a walk over the Hash, which is made
 * only if others remain. */
static bool take_all(struct taking *taking, VALUE hash) {
    static const enum kind of_store[] = {KIND_COMPRESS,  KIND_COMPRESS_THRESHOLD, KIND_EXPIRES_IN,
                                         KIND_NAMESPACE, KIND_SINGLE_FLIGHT,      KIND_TAGS};
    static const enum kind of_call[] = {KIND_EXPIRES_IN, KIND_SINGLE_FLIGHT,      KIND_TAGS,
                                        KIND_COMPRESS,   KIND_COMPRESS_THRESHOLD, KIND_NAMESPACE};
    const enum kind *usual = taking->of_call ? of_call : of_store;
    size_t left = RHASH_SIZE(hash);

    for (size_t i = 0; left && i < sizeof of_call / sizeof *of_call; i++) {
        VALUE value = rb_hash_lookup2(hash, kind_names[usual[i]], Qundef);
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
    VALUE expires_in = count == 1 ? rb_hash_lookup2(call_options, kind_names[KIND_EXPIRES_IN], Qundef) : Qundef;

    if (expires_in != Qundef) {
        rb_hash_aset(hash, kind_names[KIND_EXPIRES_IN], expires_in);
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

bool fast_options_have_tags(VALUE hash) { return RTEST(rb_hash_lookup2(hash, sym_tags, Qnil)); }

/* FastPath._classes(duration, write_options) */
static VALUE set_classes(VALUE self, VALUE duration, VALUE write_options) {
    duration_class = duration;
    write_options_class = write_options;
    rb_gc_register_mark_object(duration);
    rb_gc_register_mark_object(write_options);
    return self;
}

static enum kind kind_named(VALUE name) {
    for (unsigned kind = 0; kind < KIND_COUNT; kind++) {
        if (kind_names[kind] == name) {
            return (enum kind)kind;
        }
    }
    rb_raise(rb_eArgError, "C knows no kind %+" PRIsVALUE " of options", name);
}

/* FastPath._options([[name, kind], …]): the options of calls. */
static VALUE set_options(VALUE self, VALUE options) {
    glue_check_array(options, "options");
    if (RARRAY_LEN(options) > MAX_OPTIONS) {
        rb_raise(rb_eArgError, "more than %d options", MAX_OPTIONS);
    }
    known_count = 0;
    for (unsigned kind = 0; kind < KIND_COUNT; kind++) { /* the common ones are found first */
        for (long i = 0; i < RARRAY_LEN(options); i++) {
            VALUE pair = RARRAY_AREF(options, i);

            glue_check_array(pair, "an option and its kind");
            if (kind_named(rb_ary_entry(pair, 1)) == kind) {
                known[known_count].kind = (enum kind)kind;
                known[known_count++].name = ID2SYM(rb_sym2id(rb_ary_entry(pair, 0))); /* never collected */
            }
        }
    }
    return self;
}

void fast_options_init(VALUE module) {
    id_value = rb_intern("@value");
    id_options = rb_intern("@options");
    id_default = rb_intern("default");
    id_default_proc = rb_intern("default_proc");
    sym_tags = ID2SYM(rb_intern("tags"));
#define NAME_KIND(name, text) kind_names[KIND_##name] = ID2SYM(rb_intern(text));
    KINDS(NAME_KIND)
#undef NAME_KIND
    rb_define_private_method(rb_singleton_class(module), "_classes", set_classes, 2);
    rb_define_private_method(rb_singleton_class(module), "_options", set_options, 1);
}
