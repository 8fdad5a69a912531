/*
 * errors.c — the one place that turns a status of the engine into an exception.
 *
 * The exception classes are made by lib/larder/errors.rb, which is loaded first.
 * Which class a status has is the class column of LARDER_STATUS_LIST.
 */
#include "glue.h"

#include <ruby/encoding.h>
#include <string.h>

/* Bytes of a key that a message shows. */
#define SHOWN_KEY_BYTES 48

enum error_class {
#define CLASS_ENUM(name, constant) CLASS_##name,
    GLUE_ERROR_CLASSES(CLASS_ENUM)
#undef CLASS_ENUM
        CLASS_COUNT
};

static const unsigned char class_of_status[LARDER_STATUS_COUNT] = {
#define STATUS_CLASS(name, klass, text) [LARDER_##name] = CLASS_##klass,
    LARDER_STATUS_LIST(STATUS_CLASS)
#undef STATUS_CLASS
};

/* Written once, by glue_errors_init(). */
static VALUE exceptions[CLASS_COUNT];

void glue_errors_init(VALUE larder_module) {
#define FETCH_CLASS(name, constant)                                              \
    exceptions[CLASS_##name] = rb_const_get(larder_module, rb_intern(constant)); \
    rb_gc_register_mark_object(exceptions[CLASS_##name]);
    GLUE_ERROR_CLASSES(FETCH_CLASS)
#undef FETCH_CLASS
}

static enum error_class class_of(larder_status status) {
    return (unsigned)status < LARDER_STATUS_COUNT ? class_of_status[status] : CLASS_Result;
}

bool glue_is_refusal(larder_status status) {
    enum error_class klass = class_of(status);
    return klass == CLASS_Busy || klass == CLASS_Full || klass == CLASS_Damaged;
}

bool glue_is_argument(larder_status status) { return class_of(status) == CLASS_Argument; }

void glue_raise(larder_status status) { rb_raise(exceptions[class_of(status)], "%s", larder_status_text(status)); }

void glue_raise_for_key(larder_status status, VALUE key) {
    long bytes = RSTRING_LEN(key);
    VALUE shown = rb_str_inspect(rb_str_subseq(key, 0, bytes < SHOWN_KEY_BYTES ? bytes : SHOWN_KEY_BYTES));

    rb_raise(exceptions[class_of(status)], "%s: key %" PRIsVALUE "%s (%ld bytes)", larder_status_text(status),
             shown, bytes > SHOWN_KEY_BYTES ? "..." : "", bytes);
}

/* The detail names the offender, but where it is a call or a size, not always the path. */
void glue_raise_open(const larder_error *error, const char *path) {
    VALUE message = rb_str_new_cstr(error->detail);

    if (strstr(error->detail, path) == NULL) {
        rb_str_catf(message, "%s%s", RSTRING_LEN(message) > 0 ? ", " : "", path);
    }
    rb_str_catf(message, ": %s", larder_status_text(error->status));
    rb_enc_associate(message, rb_filesystem_encoding());
    rb_exc_raise(rb_exc_new_str(exceptions[class_of(error->status)], message));
}
