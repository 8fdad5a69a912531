/*
 * fast_handle.c — what a call of the fast path needs of its store, found by one look.
 */
#include "rails/fast_handle.h"
#include "rails/fast_options.h"

VALUE fast_handle_last_store = Qnil, fast_handle_last = Qnil;
ID fast_handle_id_options, fast_handle_id_fast;

static void handle_mark(void *data) {
    const fast_handle *handle = data;

    rb_gc_mark(handle->cache);
    rb_gc_mark(handle->options);
}

/* Write-barrier protected: the two VALUEs are written once, with a barrier. */
const rb_data_type_t fast_handle_type = {
    .wrap_struct_name = "Larder::Store::FastPath handle",
    .function = {.dmark = handle_mark, .dfree = RUBY_DEFAULT_FREE},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE new_handle(const fast_handle *terms) {
    fast_handle *handle;
    VALUE object = TypedData_Make_Struct(rb_cObject, fast_handle, &fast_handle_type, handle);

    handle->max_key_bytes = terms->max_key_bytes;
    handle->plain_values = terms->plain_values;
    handle->plain_trees = terms->plain_trees;
    handle->has_remote = terms->has_remote;
    handle->needs_trust = terms->needs_trust;
    handle->listens = terms->listens;
    RB_OBJ_WRITE(object, &handle->cache, terms->cache);
    RB_OBJ_WRITE(object, &handle->options, terms->options);
    return object;
}

/* FastPath.attach(store, cache, options, max_key_size, plain_values, plain_trees, has_remote, needs_trust) sets
 * @fast; to nil where Rails has to look the options up. */
static VALUE attach(int argc, VALUE *argv, VALUE module) {
    rb_check_arity(argc, 8, 8);
    VALUE store = argv[0], options = argv[2];
    fast_handle terms = {.cache = argv[1],
                         .options = options,
                         .max_key_bytes = NUM2SIZET(argv[3]),
                         .plain_values = RTEST(argv[4]),
                         .plain_trees = RTEST(argv[5]),
                         .has_remote = RTEST(argv[6]),
                         .needs_trust = RTEST(argv[7])};

    if (terms.max_key_bytes > LARDER_MAX_KEY) {
        terms.max_key_bytes = LARDER_MAX_KEY;
    }
    rb_ivar_set(store, fast_handle_id_fast, fast_options_hold_all(options) ? new_handle(&terms) : Qnil);
    if (store == fast_handle_last_store) {
        fast_handle_last_store = fast_handle_last = Qnil;
    }
    return module;
}

/* FastPath.listens(store, yes): may copies that are trusted be answered? */
static VALUE set_listens(VALUE module, VALUE store, VALUE yes) {
    VALUE object = rb_ivar_get(store, fast_handle_id_fast);

    if (glue_is(object, &fast_handle_type)) {
        ((fast_handle *)RTYPEDDATA_DATA(object))->listens = RTEST(yes);
    }
    return module;
}

/* A subclass, or whoever made a copy of a store, has set @options anew: it needs a handle of its own. */
VALUE fast_handle_renew(VALUE store, VALUE object, VALUE options) {
    if (RB_OBJ_FROZEN(store) || !fast_options_hold_all(options)) {
        return Qnil;
    }
    fast_handle terms = *(const fast_handle *)RTYPEDDATA_DATA(object);
    terms.options = options;
    VALUE after = new_handle(&terms);

    RB_GC_GUARD(object);
    return rb_ivar_set(store, fast_handle_id_fast, after);
}

void fast_handle_init(VALUE module) {
    rb_gc_register_address(&fast_handle_last_store);
    rb_gc_register_address(&fast_handle_last);
    fast_handle_id_fast = rb_intern("@fast");
    fast_handle_id_options = rb_intern("@options");
    rb_define_method(rb_singleton_class(module), "attach", attach, -1);
    rb_define_method(rb_singleton_class(module), "listens", set_listens, 2);
}
