/*
 * fast_log.c — would Rails write a debug line for an operation?
 *
 * Rails asks its logger at each operation, which takes longer than a hit: loggers
 * broadcast to others, and levels may differ by thread and fiber. The levels of
 * loggers whose methods are Ruby's and Rails' own are read here; any other is asked.
 */
#include "rails/fast_log.h"
#include "base/arguments.h"

#define MAX_LEAVES 8

static VALUE logger = Qnil;       /* of all stores */
static bool is_unknown = true;    /* until the end of a check, see fast_guard.c */
static bool is_broadcast;         /* an ActiveSupport::BroadcastLogger with its own methods */
static VALUE logger_class = Qnil; /* of a broadcast, at the time of the check */
static struct {
    VALUE logger;
    VALUE klass; /* at the time of the check: another one means that methods were added to this logger */
} leaves[MAX_LEAVES];
static unsigned leaf_count;

static ID id_silence, id_debug, id_broadcasts, id_level, id_level_override, id_local_level_key, id_state;

/* An override of the level for a thread or fiber, which ActiveSupport keeps with it. */
static bool lowers_level(VALUE context, VALUE key) {
    VALUE state = rb_attr_get(context, id_state);

    if (NIL_P(state)) {
        return false;
    }
    if (!RB_TYPE_P(state, T_HASH)) {
        return true;
    }
    VALUE level = rb_hash_lookup2(state, key, Qnil);
    return !NIL_P(level) && !(FIXNUM_P(level) && FIX2LONG(level) > 0);
}

/* Is its level above DEBUG, which is 0, here and now? */
static bool is_quiet_leaf(VALUE leaf) {
    VALUE level = rb_attr_get(leaf, id_level);
    VALUE override = rb_attr_get(leaf, id_level_override);
    VALUE key = rb_attr_get(leaf, id_local_level_key);

    return FIXNUM_P(level) && FIX2LONG(level) > 0 &&
           (NIL_P(override) || (RB_TYPE_P(override, T_HASH) && RHASH_SIZE(override) == 0)) &&
           (NIL_P(key) || (!lowers_level(rb_thread_current(), key) && !lowers_level(rb_fiber_current(), key)));
}

static bool is_known_leaf(VALUE given) {
    for (unsigned i = 0; i < leaf_count; i++) {
        if (leaves[i].logger == given) {
            return leaves[i].klass == RBASIC_CLASS(given);
        }
    }
    return false;
}

static bool is_quiet(void) {
    if (!is_broadcast) {
        return is_known_leaf(logger) && is_quiet_leaf(logger);
    }
    if (RBASIC_CLASS(logger) != logger_class) {
        return false;
    }
    VALUE broadcasts = rb_attr_get(logger, id_broadcasts);
    if (!RB_TYPE_P(broadcasts, T_ARRAY)) {
        return false;
    }
    for (long i = 0; i < RARRAY_LEN(broadcasts); i++) {
        VALUE leaf = RARRAY_AREF(broadcasts, i);
        if (!is_known_leaf(leaf) || !is_quiet_leaf(leaf)) {
            return false;
        }
    }
    return true;
}

bool fast_log_wanted(VALUE store) {
    return is_unknown || (!NIL_P(logger) && !is_quiet() && RTEST(rb_funcall(logger, id_debug, 0)) &&
                          !RTEST(rb_attr_get(store, id_silence)));
}

void fast_log_forget(void) { is_unknown = true; }

void fast_log_know(VALUE given, bool broadcast, VALUE loggers) {
    glue_check_array(loggers, "loggers");
    leaf_count = 0;
    for (long i = 0; i < RARRAY_LEN(loggers) && leaf_count < MAX_LEAVES; i++) {
        VALUE leaf = RARRAY_AREF(loggers, i);
        leaves[leaf_count].klass = RBASIC_CLASS(leaf);
        leaves[leaf_count++].logger = leaf;
    }
    is_broadcast = broadcast;
    logger_class = is_broadcast ? RBASIC_CLASS(given) : Qnil;
    logger = RTEST(given) ? given : Qnil;
    is_unknown = false;
}

static VALUE is_log_wanted(VALUE self, VALUE store) {
    (void)self;
    return fast_log_wanted(store) ? Qtrue : Qfalse;
}

/* Marks what is compared by address, so that compaction does not move it. */
static void mark(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < leaf_count; i++) {
        rb_gc_mark(leaves[i].logger);
        rb_gc_mark(leaves[i].klass);
    }
    rb_gc_mark(logger_class);
}

static const rb_data_type_t marker_type = {
    .wrap_struct_name = "Larder::Store::FastPath loggers",
    .function = {.dmark = mark},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

void fast_log_init(VALUE module) {
    id_silence = rb_intern("@silence");
    id_debug = rb_intern("debug?");
    id_broadcasts = rb_intern("@broadcasts");
    id_level = rb_intern("@level");
    id_level_override = rb_intern("@level_override");
    id_local_level_key = rb_intern("@local_level_key");
    id_state = rb_intern("@active_support_execution_state");
    rb_gc_register_address(&logger);
    rb_gc_register_mark_object(TypedData_Wrap_Struct(rb_cObject, &marker_type, &leaves));
    rb_define_private_method(rb_singleton_class(module), "_log_wanted?", is_log_wanted, 1);
}
