/*
 * open.c — opening and closing a Larder::Cache: _open, _close, closed?, size, _known_size, max_value, max_pinned.
 */
#include "cache/open.h"
#include "base/errors.h"
#include "cache/attach.h"

/* How long a cache that is not lazy waits for another process that opens the file. */
#define OPEN_WAIT_MS 5000

static VALUE sym_strict, sym_required;

struct opening {
    const char *path;
    bool lazy;
    larder_options options;
    larder **engine;
    larder_error error;
    larder_status status;
};

static void run_open(larder *none, void *arg) {
    struct opening *opening = arg;

    (void)none;
    opening->status = larder_open(opening->path, &opening->options, opening->engine, &opening->error);
    if (opening->status == LARDER_OK && !opening->lazy && !larder_size(*opening->engine)) {
        opening->status = larder_attach(*opening->engine, OPEN_WAIT_MS, &opening->error);
    }
}

/*
 * Making the file reserves its blocks and may wait for another process that makes it. The engine hands out the
 * handle while no one can fork, and right into the object: a child that was forked by another thread meanwhile
 * has it there, and collecting the object there closes it. `numbers` are the bytes, the ms of the lock timeout,
 * the configuration, and whether statistics by keyspace are kept.
 */
static VALUE cache_open(VALUE klass, VALUE path, VALUE numbers, VALUE create, VALUE lazy) {
    glue_handle *handle;
    VALUE object = glue_handle_make(klass, &handle);
    VALUE frozen = rb_str_new_frozen(path);
    struct opening opening = {.path = StringValueCStr(frozen), .lazy = RTEST(lazy), .engine = &handle->engine};

    glue_check_deep_stack();
    Check_Type(numbers, T_ARRAY);
    opening.options.size_bytes = NUM2ULL(rb_ary_entry(numbers, 0));
    opening.options.lock_timeout_ms = NUM2UINT(rb_ary_entry(numbers, 1));
    opening.options.existing = !RTEST(create);
    opening.options.attach_later = 1; /* never in a call that has the GVL */
    opening.options.keep_newer = lazy == sym_required;
    opening.options.configuration = NUM2ULL(rb_ary_entry(numbers, 2));
    opening.options.statistics = RTEST(rb_ary_entry(numbers, 3));
    handle->lazy = RTEST(lazy);
    handle->required = lazy == sym_required;
    handle->strict = handle->required || lazy == sym_strict;
    do {
        rb_thread_check_ints();
    } while (!glue_without_gvl(run_open, NULL, &opening));
    if (opening.status != LARDER_OK) {
        glue_handle_close(handle);
        glue_raise_open(&opening.error, opening.path);
    }
    RB_GC_GUARD(frozen);
    return object;
}

static VALUE cache_close(VALUE object) {
    glue_check_deep_stack();
    glue_handle_close(glue_handle_of(object));
    RB_GC_GUARD(object);
    return Qnil;
}

static VALUE cache_is_closed(VALUE object) {
    const glue_handle *handle = glue_handle_of(object);

    return handle->engine == NULL || handle->closing ? Qtrue : Qfalse;
}

static VALUE cache_size(VALUE cache) { return ULL2NUM(larder_size(glue_attach_to_read(cache))); }

/* The same, 0 where none was opened yet, without a look at the file: never raises for it. */
static VALUE cache_known_size(VALUE cache) {
    return ULL2NUM(larder_size(glue_handle_engine(glue_handle_of(cache))));
}

static VALUE cache_max_value(VALUE cache) { return SIZET2NUM(larder_max_value(glue_attach_to_read(cache))); }

static VALUE cache_max_pinned(VALUE cache) { return SIZET2NUM(larder_max_pinned(glue_attach_to_read(cache))); }

void glue_open_init(VALUE cache_class) {
    sym_strict = ID2SYM(rb_intern("strict"));
    sym_required = ID2SYM(rb_intern("required"));
    rb_define_private_method(rb_singleton_class(cache_class), "_open", cache_open, 4);
    rb_define_private_method(cache_class, "_close", cache_close, 0);
    rb_define_method(cache_class, "closed?", cache_is_closed, 0);
    rb_define_private_method(cache_class, "_known_size", cache_known_size, 0);
    rb_define_method(cache_class, "size", cache_size, 0);
    rb_define_method(cache_class, "max_value", cache_max_value, 0);
    rb_define_method(cache_class, "max_pinned", cache_max_pinned, 0);
}
