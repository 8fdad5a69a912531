/*
 * handle.c — the C struct of a Larder::Cache, and calls of the engine without the GVL.
 *
 * A handle is one reference of the engine's; larder_close() must not run while
 * another call is inside on the same reference. With the GVL held no two calls
 * overlap, so only calls without it are counted: a close that finds some inside
 * marks the object closed, and the last of them closes the engine's handle.
 *
 * rb_nogvl() is always called with RB_NOGVL_INTR_FAIL: it then raises nothing
 * and runs no signal handler, before or after, so that no cleanup can be
 * skipped. Interrupts are served where nothing is held.
 */
#include "cache/handle.h"
#include "base/errors.h"

#include <pthread.h>
#include <ruby/thread.h>

/* Raised in a forked child, where the threads that were inside do not exist. */
static unsigned fork_number;

static void after_fork_in_child(void) { fork_number++; }

void glue_handle_init(void) { pthread_atfork(NULL, NULL, after_fork_in_child); }

/* No call can be inside: a thread that is in one holds the object on its stack. */
static void handle_free(void *data) {
    glue_handle *handle = data;

    larder_close(handle->engine);
    xfree(handle);
}

/* The mapped file is shared and not this process' memory. */
static size_t handle_memsize(const void *data) {
    (void)data;
    return sizeof(glue_handle);
}

/*
 * Freed at once and write-barrier protected, because no VALUE is inside. Not
 * FROZEN_SHAREABLE: in_flight and closing rely on one lock, and every Ractor has
 * its own. Each Ractor opens the file for itself; they share the engine's handle.
 */
const rb_data_type_t glue_handle_type = {
    .wrap_struct_name = "Larder::Cache",
    .function = {.dmark = NULL, .dfree = handle_free, .dsize = handle_memsize},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

VALUE glue_handle_make(VALUE klass, glue_handle **handle) {
    VALUE object = TypedData_Make_Struct(klass, glue_handle, &glue_handle_type, *handle);

    (*handle)->fork_number = fork_number;
    return object;
}

larder *glue_handle_engine(const glue_handle *handle) {
    if (handle->engine == NULL || handle->closing) {
        glue_raise(LARDER_CLOSED);
    }
    return handle->engine;
}

struct released {
    void (*run)(larder *engine, void *arg);
    larder *engine;
    void *arg;
    bool done;
};

static void *run_released(void *data) {
    struct released *call = data;

    call->run(call->engine, call->arg);
    call->done = true;
    return NULL;
}

bool glue_without_gvl(void (*run)(larder *engine, void *arg), larder *engine, void *arg) {
    struct released call = {run, engine, arg, false};

    rb_nogvl(run_released, &call, NULL, NULL, RB_NOGVL_INTR_FAIL);
    return call.done;
}

static void run_close(larder *engine, void *arg) {
    (void)arg;
    larder_close(engine);
}

/* Closing may write the file back, which takes as long as the disk does. */
static void close_engine(glue_handle *handle) {
    larder *engine = handle->engine;

    handle->engine = NULL;
    handle->closing = false;
    if (!glue_without_gvl(run_close, engine, NULL)) { /* the interrupt must wait, for nobody else has it now */
        larder_close(engine);
    }
}

static unsigned calls_inside(glue_handle *handle) {
    if (handle->fork_number != fork_number) {
        handle->fork_number = fork_number;
        handle->in_flight = 0;
    }
    return handle->in_flight;
}

void glue_handle_close(glue_handle *handle) {
    if (calls_inside(handle) > 0) {
        handle->closing = true;
    } else if (handle->engine !=
               NULL) { /* also where the parent was closing: its last call is not in this child */
        close_engine(handle);
    }
}

void glue_handle_call_released(VALUE object, void (*run)(larder *engine, void *arg), void *arg) {
    glue_handle *handle = glue_handle_of(object);
    bool done = false;

    while (!done) {
        rb_thread_check_ints(); /* as any blocking call does; may run a handler that closes */
        larder *engine = glue_handle_engine(handle);
        handle->in_flight = calls_inside(handle) + 1;
        done = glue_without_gvl(run, engine, arg);
        if (--handle->in_flight == 0 && handle->closing) {
            close_engine(handle);
        }
    }
    RB_GC_GUARD(object);
}
