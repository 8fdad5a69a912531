/*
 * attach.c — the engine's handle for a call, attached to its file if that may be; and _attach.
 *
 * A cache that was opened lazily has a thread of its own attach it, which its Ruby
 * method `attach_in_background` starts. Others attach within the call.
 */
#include "cache/attach.h"
#include "base/clock.h"
#include "base/errors.h"

#include <stdio.h>
#include <string.h>

#define WAIT_MS 1000            /* for another opener */
#define LOCKED_TOO_LONG_MS 5000 /* from then on it is a failure that another process makes or closes the file */

static void run_attach(larder *engine, void *arg) {
    larder_error *error = arg;

    error->status = larder_attach(engine, WAIT_MS, error);
}

/* Another process that makes or closes the file is done soon: that is no failure at first, unless the file is
 * required. */
static bool is_failure(glue_handle *handle, larder_status status) {
    int64_t now_ms = glue_clock_ms(CLOCK_MONOTONIC);

    if (status != LARDER_LOCKED || handle->required) {
        handle->locked_since_ms = 0;
        return status != LARDER_OK;
    }
    if (handle->locked_since_ms == 0) {
        handle->locked_since_ms = now_ms;
    }
    return now_ms - handle->locked_since_ms >= LOCKED_TOO_LONG_MS;
}

/* Without the GVL, as it may make a file. Why it could not is raised by the next call that needs the file. True:
 * another process makes or closes it, and is soon done. */
static VALUE cache_attach(VALUE cache) {
    glue_handle *handle = glue_handle_of(cache);
    larder_error error;

    glue_handle_call_released(cache, run_attach, &error);
    if (error.status == LARDER_OK) {
        handle->failure.status = LARDER_OK;
        handle->locked_since_ms = 0;
    } else if (is_failure(handle, error.status)) {
        handle->reported = handle->reported && handle->failure.status == error.status;
        handle->failure = error;
    } else {
        return Qtrue;
    }
    return Qnil;
}

static void attach(VALUE cache, glue_handle *handle) {
    larder *engine = glue_handle_engine(handle);

    if (larder_attached(engine) == 0 || (handle->strict && larder_attached(engine) < 0)) {
        if (handle->lazy) {
            rb_funcall(cache, rb_intern("attach_in_background"), 0);
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

NORETURN(static void raise_unattached(VALUE cache, const larder_error *error));

/* `explained` adds the cause in the file system and the command that solves it. */
static void raise_unattached(VALUE cache, const larder_error *error) {
    VALUE exception = glue_open_error(error, larder_path(glue_handle_engine(glue_handle_of(cache))));

    rb_exc_raise(rb_funcall(cache, rb_intern("explained"), 1, exception));
}

larder *glue_attach_to_change(VALUE cache) {
    glue_handle *handle = glue_handle_of(cache);

    glue_check_stack();
    if (larder_attached(glue_handle_engine(handle)) != 1 || (handle->lazy && !handle->was_attached)) {
        attach(cache, handle);
        if (handle->required && larder_attached(glue_handle_engine(handle)) != 1) {
            static const larder_error underway = {.status = LARDER_LOCKED};
            raise_unattached(cache, handle->failure.status == LARDER_OK ? &underway : &handle->failure);
        }
    }
    return glue_handle_engine(handle);
}

larder *glue_attach_to_read(VALUE cache) {
    glue_handle *handle = glue_handle_of(cache);
    larder *engine = glue_attach_to_change(cache);

    if (handle->lazy && handle->failure.status != LARDER_OK && (handle->strict || !handle->reported) &&
        larder_attached(engine) != 1) {
        handle->reported = true;
        raise_unattached(cache, &handle->failure);
    }
    return engine;
}

void glue_attach_and_call_released(VALUE cache, void (*run)(larder *engine, void *arg), void *arg) {
    glue_attach_to_change(cache);
    glue_handle_call_released(cache, run, arg);
}

void glue_raise_unless_attached(VALUE cache, VALUE key) {
    glue_handle *handle = glue_handle_of(cache);
    larder_error error = handle->failure;

    if (handle->engine == NULL || larder_attached(handle->engine) == 1) { /* also one that another thread closes */
        return;
    }
    /* another object of the same file may have made the attempt */
    if (error.status == LARDER_OK && larder_last_failure(handle->engine, &error) == LARDER_OK) {
        return;
    }
    handle->reported = true;
    if (!NIL_P(key)) {
        long shown = RSTRING_LEN(key) < GLUE_SHOWN_KEY_BYTES ? RSTRING_LEN(key) : GLUE_SHOWN_KEY_BYTES;
        char reason[sizeof error.detail];
        memcpy(reason, error.detail, sizeof reason);
        snprintf(error.detail, sizeof error.detail, "%.*s could not be changed: %s", (int)shown, RSTRING_PTR(key),
                 reason);
    }
    raise_unattached(cache, &error);
}

void glue_attach_init(VALUE cache_class) { rb_define_private_method(cache_class, "_attach", cache_attach, 0); }
