/*
 * handle.h — the C struct of a Larder::Cache, and calls of the engine without the GVL.
 *
 * Rules of all files here
 *   - No VALUE is kept in C memory beyond a call, so nothing needs marking.
 *   - The engine gets plain bytes and never calls Ruby, except for the memory of a
 *     long value (larder_get_allocated). Between taking a pointer into a String
 *     and the engine call that uses it, nothing is raised or allocated: under the
 *     GVL no other thread can change the String before the call has ended.
 *   - A call that may wait or copy much leaves the GVL. It then reads frozen
 *     Strings that are on this C stack, which garbage collection neither frees nor
 *     moves.
 *   - Keywords, defaults and ranges of numbers belong to Ruby: lib/larder/bytes/cache.rb
 *     and lib/larder/options.rb.
 */
#ifndef LARDER_HANDLE_H
#define LARDER_HANDLE_H

#include "base/arguments.h"

/* Copies of values from this size on are made without the GVL. */
#define GLUE_RELEASE_BYTES ((size_t)256 * 1024)

/* Keys or pairs handed to the engine at a time by the multi methods. */
#define GLUE_BATCH 64

/* A value up to the first size is read onto the C stack. A longer one is copied once, into a String of its size,
 * unless it is an Array or Hash, whose bytes are not needed afterwards: up to the second size, or the third in a
 * batch. */
#define GLUE_SHORT_BYTES 512
#define GLUE_STACK_BYTES 4096
#define GLUE_BATCH_VALUE_BYTES 1024

typedef struct glue_handle {
    larder *engine;       /* NULL: closed, or not opened */
    unsigned in_flight;   /* calls inside the engine without the GVL */
    unsigned fork_number; /* of the process that counted in_flight */
    bool closing;         /* closed for Ruby; the last call inside closes the engine's handle */
    bool lazy;            /* attaches at its first call, in a thread of its own */
    bool strict;          /* each call that finds it unattached raises */
    bool required;        /* as strict, before anything is done, also while it is being attached */
    bool was_attached;
    bool reported;        /* the failure below was raised */
    larder_error failure; /* why it could not attach; OK: it could, or has not tried */
} glue_handle;

#pragma GCC visibility push(hidden)
extern const rb_data_type_t glue_handle_type;
#pragma GCC visibility pop

void glue_handle_init(void);

/* The empty struct of a new object. */
VALUE glue_handle_make(VALUE klass, glue_handle **handle);

/* Raises TypeError where `object` is no Larder::Cache. */
static inline glue_handle *glue_handle_of(VALUE object) { return rb_check_typeddata(object, &glue_handle_type); }

/* The engine's handle, attached or not; raises ClosedError. */
larder *glue_handle_engine(const glue_handle *handle);

/* The same, or NULL: closed, or no Larder::Cache. */
static inline larder *glue_handle_engine_or_null(VALUE object) {
    if (!glue_is(object, &glue_handle_type)) {
        return NULL;
    }
    const glue_handle *handle = (const glue_handle *)RTYPEDDATA_DATA(object);
    return handle->closing ? NULL : handle->engine;
}

/* Calls `run`, which must not touch Ruby, without the GVL. False: it was not called, as an interrupt is pending.
 */
bool glue_without_gvl(void (*run)(larder *engine, void *arg), larder *engine, void *arg);

/*
 * The same with the engine's handle, exactly once, and counted, so that a close waits for it. Raises ClosedError,
 * or what another thread raised in this one, before the call but never after it: once `run` has run, this returns.
 */
void glue_handle_call_released(VALUE object, void (*run)(larder *engine, void *arg), void *arg);

/* Closes the engine's handle: now, or after the last call that is inside. */
void glue_handle_close(glue_handle *handle);

#endif
