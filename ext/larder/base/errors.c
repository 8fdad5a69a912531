/*
 * errors.c — exceptions for the engine's status codes.
 *
 * The exception classes are defined by lib/larder/bytes/errors.rb, which is loaded first.
 * STATUS_CLASSES says which class a status has; one that is missing there does not
 * compile.
 */
#include "base/errors.h"

#include <errno.h>
#include <ruby/encoding.h>
#include <string.h>

/* Bytes that a message shows of a path that is too long. */
#define SHOWN_PATH_BYTES 200

/* The classes, with their constants in Larder. A result is no error. */
#define ERROR_CLASSES(X)           \
    X(Result, "Error")             \
    X(Argument, "InvalidArgument") \
    X(Number, "NotANumber")        \
    X(Busy, "BusyError")           \
    X(Full, "FullError")           \
    X(Closed, "ClosedError")       \
    X(Damaged, "DamagedError")     \
    X(Open, "OpenError")

/* Each status of larder.h and its class. */
#define STATUS_CLASSES(X)        \
    X(OK, Result)                \
    X(MISS, Result)              \
    X(NOT_STORED, Result)        \
    X(BUFFER_TOO_SMALL, Result)  \
    X(INVALID, Argument)         \
    X(KEY_TOO_LONG, Argument)    \
    X(VALUE_TOO_LARGE, Argument) \
    X(NOT_A_NUMBER, Number)      \
    X(OVERFLOW, Number)          \
    X(BUSY, Busy)                \
    X(FULL, Full)                \
    X(CLOSED, Closed)            \
    X(DAMAGED, Damaged)          \
    X(SUPERSEDED, Damaged)       \
    X(SIZE_TOO_SMALL, Open)      \
    X(SIZE_TOO_LARGE, Open)      \
    X(PATH_TOO_LONG, Open)       \
    X(NOT_THERE, Open)           \
    X(UNFIT, Open)               \
    X(NOT_LARDER, Open)          \
    X(NEWER_VERSION, Open)       \
    X(NOT_REGULAR, Open)         \
    X(NOT_OWNER, Open)           \
    X(UNSAFE_MODE, Open)         \
    X(NETWORK_FS, Open)          \
    X(NO_SPACE, Open)            \
    X(NO_SLOT, Open)             \
    X(IN_USE, Open)              \
    X(LOCKED, Open)              \
    X(NO_MEMORY, Open)           \
    X(SYSTEM, Open)              \
    X(PIN_FULL, Full)            \
    X(FILE_LIMIT, Open)          \
    X(LEASED, Result)            \
    X(NO_CONFIGURATION, Full)

enum error_class {
#define CLASS_ENUM(name, constant) CLASS_##name,
    ERROR_CLASSES(CLASS_ENUM)
#undef CLASS_ENUM
        CLASS_COUNT
};

enum {
#define NAME_CLASS(status, klass) CLASS_OF_##status = CLASS_##klass,
    STATUS_CLASSES(NAME_CLASS)
#undef NAME_CLASS
};

static const unsigned char class_of_status[LARDER_STATUS_COUNT] = {
#define STATUS_CLASS(name, text) [LARDER_##name] = CLASS_OF_##name,
    LARDER_STATUS_LIST(STATUS_CLASS)
#undef STATUS_CLASS
};

static VALUE exceptions[CLASS_COUNT];

void glue_check_stack(void) {
    if (RB_UNLIKELY(ruby_stack_check())) {
        rb_exc_raise(rb_exc_new_cstr(rb_eSysStackError, "stack level too deep"));
    }
}

/* Its frame touches each of its pages, so that what is missing shows here, where nothing is locked. */
__attribute__((noinline)) void glue_check_deep_stack(void) {
    volatile char room[48 * 1024];

    for (size_t i = sizeof room; i > 0; i -= 4096) {
        room[i - 1] = 0;
    }
    glue_check_stack();
}

void glue_errors_init(VALUE larder_module) {
#define FETCH_CLASS(name, constant)                                              \
    exceptions[CLASS_##name] = rb_const_get(larder_module, rb_intern(constant)); \
    rb_gc_register_mark_object(exceptions[CLASS_##name]);
    ERROR_CLASSES(FETCH_CLASS)
#undef FETCH_CLASS
}

static enum error_class class_of(larder_status status) {
    return (unsigned)status < LARDER_STATUS_COUNT ? class_of_status[status] : CLASS_Result;
}

bool glue_is_refusal(larder_status status) {
    enum error_class klass = class_of(status);
    return klass == CLASS_Busy || klass == CLASS_Full || klass == CLASS_Damaged;
}

bool glue_is_too_long(larder_status status) {
    return status == LARDER_KEY_TOO_LONG || status == LARDER_VALUE_TOO_LARGE;
}

bool glue_is_full(larder_status status) { return class_of(status) == CLASS_Full; }

void glue_raise(larder_status status) { rb_raise(exceptions[class_of(status)], "%s", larder_status_text(status)); }

/* How many of the first `most` bytes are whole characters; `most` where the bytes are no text. */
static long whole_characters(const char *bytes, long length, long most, rb_encoding *encoding) {
    if (length <= most) {
        return length;
    }
    long whole = rb_enc_left_char_head(bytes, bytes + most, bytes + length, encoding) - bytes;
    return most - whole < rb_enc_mbmaxlen(encoding) ? whole : most;
}

NORETURN(static void raise_for_key(larder_status status, VALUE message, VALUE key));

static void raise_for_key(larder_status status, VALUE message, VALUE key) {
    long bytes = RSTRING_LEN(key);
    long whole = whole_characters(RSTRING_PTR(key), bytes, GLUE_SHOWN_KEY_BYTES, rb_enc_get(key));
    VALUE shown = rb_str_inspect(rb_str_subseq(key, 0, whole));

    rb_raise(exceptions[class_of(status)], "%" PRIsVALUE ": key %" PRIsVALUE "%s (%ld bytes)", message, shown,
             bytes > whole ? "..." : "", bytes);
}

void glue_raise_for_key(larder_status status, VALUE key) {
    raise_for_key(status, rb_utf8_str_new_cstr(larder_status_text(status)), key);
}

void glue_raise_too_large(const larder *engine, VALUE key, size_t bytes, bool pin) {
    size_t limit = pin ? larder_max_pinned(engine) : larder_max_value(engine);
    const char *remedy = pin                        ? "; store it in parts, or not pinned"
                         : limit < LARDER_MAX_VALUE ? "; enlarge the file (larder resize)"
                                                    : "; store it in parts";

    raise_for_key(LARDER_VALUE_TOO_LARGE,
                  rb_sprintf("the value is larger than the cache takes: it has %" PRIuSIZE " bytes%s, and %s is "
                             "%" PRIuSIZE "%s",
                             bytes, pin ? " with its key" : "", pin ? "max_pinned" : "max_value", limit, remedy),
                  key);
}

/* As UTF-8, whatever the locale is. Bytes that are not UTF-8, and control characters, are written as \xNN. */
static void append_text(VALUE message, const char *text, long length) {
    const char *end = text + length;

    for (const char *at = text; at < end;) {
        int found = rb_enc_precise_mbclen(at, end, rb_utf8_encoding());
        if (MBCLEN_CHARFOUND_P(found) && (unsigned char)*at >= ' ' && *at != 0x7f) {
            rb_str_cat(message, at, MBCLEN_CHARFOUND_LEN(found));
            at += MBCLEN_CHARFOUND_LEN(found);
        } else {
            rb_str_catf(message, "\\x%02X", (unsigned char)*at++);
        }
    }
}

/* The same for at most `most` bytes of it. */
static void append_start(VALUE message, const char *text, long most) {
    long length = (long)strlen(text);
    long whole = whole_characters(text, length, most, rb_utf8_encoding());

    append_text(message, text, whole);
    if (whole < length) {
        rb_str_cat_cstr(message, "...");
    }
}

/* What helps where a limit refused a system call; else the status says what is wrong. */
static const char *remedy_for(const larder_error *error) {
    int code = error->status == LARDER_SYSTEM ? error->system_errno : 0;

    return code == EMFILE   ? "close some, or raise this process's limit (ulimit -n)"
           : code == ENFILE ? "close some, or raise the machine's limit (sysctl fs.file-max)"
           : code == ENOMEM ? "free some, or raise the limit of this process (ulimit -v) or of its container"
                            : larder_status_text(error->status);
}

/* The detail names the offender, which may be a call or a size, and may be cut: then the path is added. */
VALUE glue_open_error(const larder_error *error, const char *path) {
    VALUE message = rb_utf8_str_new_cstr("");

    if (error->status == LARDER_PATH_TOO_LONG) {
        append_start(message, path, SHOWN_PATH_BYTES);
    } else if (error->detail[0] == '\0' || strlen(error->detail) == sizeof error->detail - 1) {
        append_text(message, path, (long)strlen(path));
        if (error->system_errno != 0) {
            rb_str_catf(message, ": %s", strerror(error->system_errno));
        }
    } else {
        append_text(message, error->detail, (long)strlen(error->detail));
        if (strstr(error->detail, path) == NULL) {
            rb_str_cat_cstr(message, ", ");
            append_text(message, path, (long)strlen(path));
        }
    }
    rb_str_catf(message, ": %s", remedy_for(error));
    return rb_exc_new_str(exceptions[class_of(error->status)], message);
}

void glue_raise_open(const larder_error *error, const char *path) { rb_exc_raise(glue_open_error(error, path)); }
