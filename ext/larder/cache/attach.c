/*
 * attach.c — the engine's handle for a call, attached to its file if possible; _attach, _attached? and _pending.
 *
 * A lazy cache attaches in a thread of its own, which its Ruby method `await_file` starts and waits for. Other
 * caches attach within the call.
 */
#include "cache/attach.h"
#include "base/errors.h"

#include <stdio.h>
#include <string.h>

#define WAIT_MS 5000 /* for another opener */

struct attempt {
    uint32_t wait_ms;
    larder_error error;
};

static void run_attach(larder *engine, void *arg) {
    struct attempt *attempt = arg;

    attempt->error.status = larder_attach(engine, attempt->wait_ms, &attempt->error);
}

/* Without the GVL, as it may create the file. A failure is raised by the next call that needs the file. After one
 * whole wait for another opener, further attempts do not wait until the handle is attached. */
static VALUE cache_attach(VALUE cache) {
    glue_handle *handle = glue_handle_of(cache);
    struct attempt attempt = {.wait_ms = handle->failure.status == LARDER_LOCKED ? 0 : WAIT_MS};

    glue_handle_call_released(cache, run_attach, &attempt);
    handle->reported = handle->reported && handle->failure.status == attempt.error.status;
    handle->failure = attempt.error;
    return Qnil;
}

static VALUE cache_is_attached(VALUE cache) {
    return larder_attached(glue_handle_engine(glue_handle_of(cache))) == 1 ? Qtrue : Qfalse;
}

/* How many changes wait for the file, none of a closed cache; -1: a change of all keys. */
static VALUE cache_pending(VALUE cache) {
    larder *engine = glue_handle_engine_or_null(cache);
    uint32_t count = engine ? larder_pending(engine) : 0;

    return count == LARDER_ALL_PENDING ? INT2FIX(-1) : UINT2NUM(count);
}

static void attach(VALUE cache, glue_handle *handle) {
    larder *engine = glue_handle_engine(handle);

    if (larder_attached(engine) == 0 || (handle->strict && larder_attached(engine) < 0)) {
        if (handle->lazy) {
            rb_funcall(cache, rb_intern("await_file"), 0);
        } else {
            glue_check_deep_stack();
            cache_attach(cache);
        }
    }
    if (handle->lazy && !handle->was_attached && larder_attached(glue_handle_engine(handle)) == 1) {
        handle->was_attached = true;
        rb_funcall(cache, rb_intern("attached"), 0);
    }
}

/* LOCKED: the attempt is still under way. Another object of the same file may have made the last attempt. */
static larder_error why_unattached(const glue_handle *handle) {
    larder_error error = handle->failure;

    if (error.status == LARDER_OK && larder_last_failure(handle->engine, &error) == LARDER_OK) {
        error.status = LARDER_LOCKED;
    }
    return error;
}

NORETURN(static void raise_unattached(VALUE cache, const larder_error *error));

/* `explained` adds the cause in the file system and the command that solves it. */
static void raise_unattached(VALUE cache, const larder_error *error) {
    VALUE exception = glue_open_error(error, larder_path(glue_handle_engine(glue_handle_of(cache))));

    rb_exc_raise(rb_funcall(cache, rb_intern("explained"), 1, exception));
}

/* Attaches if necessary and possible. False: it is not attached. Raises if the file is required then. */
static bool ensure_attached(VALUE cache, glue_handle *handle) {
    glue_check_stack();
    if (RB_LIKELY(larder_attached(glue_handle_engine(handle)) == 1 && (!handle->lazy || handle->was_attached))) {
        return true;
    }
    attach(cache, handle);
    bool attached = larder_attached(glue_handle_engine(handle)) == 1;
    if (!attached && handle->required) {
        larder_error error = why_unattached(handle);
        raise_unattached(cache, &error);
    }
    return attached;
}

larder *glue_attach_to_change(VALUE cache) {
    glue_handle *handle = glue_handle_of(cache);

    ensure_attached(cache, handle);
    return glue_handle_engine(handle);
}

larder *glue_attach_to_read(VALUE cache) {
    glue_handle *handle = glue_handle_of(cache);

    if (!ensure_attached(cache, handle) && handle->lazy && (handle->strict || !handle->reported)) {
        larder_error error = why_unattached(handle);
        handle->reported = true;
        raise_unattached(cache, &error);
    }
    return glue_handle_engine(handle);
}

bool glue_attached_again(VALUE cache) {
    glue_handle *handle = glue_handle_of(cache);

    if (handle->engine == NULL || larder_attached(handle->engine) != 0) {
        return false;
    }
    attach(cache, handle);
    return larder_attached(glue_handle_engine(handle)) == 1;
}

void glue_attach_and_call_released(VALUE cache, void (*run)(larder *engine, void *arg), void *arg) {
    glue_attach_to_change(cache);
    glue_handle_call_released(cache, run, arg);
}

void glue_raise_unless_attached(VALUE cache, VALUE key) {
    glue_handle *handle = glue_handle_of(cache);
    larder_error error;

    if (handle->engine == NULL || larder_attached(handle->engine) == 1) { /* also one that another thread closes */
        return;
    }
    error = why_unattached(handle);
    handle->reported = true;
    if (!NIL_P(key)) {
        long shown = RSTRING_LEN(key) < GLUE_SHOWN_KEY_BYTES ? RSTRING_LEN(key) : GLUE_SHOWN_KEY_BYTES;
        char reason[sizeof error.detail];
        memcpy(reason, error.detail, sizeof reason);
        snprintf(error.detail, sizeof error.detail, "%.*s could not be changed%s%s", (int)shown, RSTRING_PTR(key),
                 *reason ? ": " : "", reason);
    }
    rb_funcall(cache, rb_intern("keep_pending"), 0);
    raise_unattached(cache, &error);
}

void glue_attach_init(VALUE cache_class) {
    rb_define_private_method(cache_class, "_attach", cache_attach, 0);
    rb_define_private_method(cache_class, "_attached?", cache_is_attached, 0);
    rb_define_private_method(cache_class, "_pending", cache_pending, 0);
}
