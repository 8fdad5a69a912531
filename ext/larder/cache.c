/*
 * cache.c — the object: its handle, how calls leave the GVL, open and close.
 *
 * Everything here runs with the GVL except the bodies named run_*. A handle is
 * one reference of the engine's; larder_close() must not meet a call that is
 * inside on the same reference. With the GVL held no two calls overlap, so only
 * calls without it are counted: a close that finds some inside marks the object
 * closed for everyone and leaves the engine's close to the last of them.
 *
 * rb_nogvl() is always called with RB_NOGVL_INTR_FAIL: it then raises nothing
 * and runs no signal handler, before or after, so that no cleanup can be
 * skipped. Interrupts are served where nothing is held.
 */
#include "glue.h"

#include <pthread.h>
#include <ruby/thread.h>
#include <stdio.h>
#include <string.h>

typedef struct cache {
    larder *engine;      /* NULL: closed, or not opened */
    unsigned in_flight;  /* calls inside the engine without the GVL */
    unsigned fork_epoch; /* of the process that counted in_flight */
    bool closing;        /* closed for Ruby; the last call inside closes the engine's handle */
    bool lazy;           /* attaches at its first call, in a thread of its own */
    bool strict;         /* each call that finds it unattached raises */
    bool required;       /* the same before anything is done, also where it is being attached */
    bool was_attached;
    bool told;               /* of the failure below */
    larder_error failure;    /* why it could not attach; OK: it could, or has not tried */
    int64_t locked_since_ms; /* another process has been opening the file since then; 0: none is */
} cache;

/* Raised in a forked child, where the threads that were inside do not exist. */
static unsigned fork_epoch;

static void after_fork_in_child(void) { fork_epoch++; }

void glue_cache_init(void) { pthread_atfork(NULL, NULL, after_fork_in_child); }

/* No one can be inside: a thread that is holds the object on its stack. */
static void cache_free(void *data) {
    cache *self = data;

    larder_close(self->engine);
    xfree(self);
}

/* The mapped file is shared and not this process' memory. */
static size_t cache_memsize(const void *data) {
    (void)data;
    return sizeof(cache);
}

/*
 * Freed at once and write-barrier protected, because no VALUE is inside. Not
 * FROZEN_SHAREABLE: in_flight and closing rely on one lock, and every Ractor has
 * its own. Ractors open the file each for itself and share the engine's handle.
 */
const rb_data_type_t glue_cache_type = {
    .wrap_struct_name = "Larder::Cache",
    .function = {.dmark = NULL, .dfree = cache_free, .dsize = cache_memsize},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static cache *cache_of(VALUE self) { return rb_check_typeddata(self, &glue_cache_type); }

static larder *engine_of(const cache *self) {
    if (self->engine == NULL || self->closing) {
        glue_raise(LARDER_CLOSED);
    }
    return self->engine;
}

larder *glue_engine_if_open(VALUE object) {
    if (!glue_is(object, &glue_cache_type)) {
        return NULL;
    }
    const cache *self = RTYPEDDATA_DATA(object);
    return self->closing ? NULL : self->engine;
}

/* ---- without the GVL ---- */

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

static void run_close(larder *engine, void *arg) {
    (void)arg;
    larder_close(engine);
}

/* Closing may write the file back, which takes as long as the disk does. */
static void close_engine(cache *self) {
    struct released call = {run_close, self->engine, NULL, false};

    self->engine = NULL;
    self->closing = false;
    rb_nogvl(run_released, &call, NULL, NULL, RB_NOGVL_INTR_FAIL);
    if (!call.done) { /* an interrupt was pending: it must wait, for nobody else has the handle now */
        run_released(&call);
    }
}

static unsigned calls_inside(cache *self) {
    if (self->fork_epoch != fork_epoch) {
        self->fork_epoch = fork_epoch;
        self->in_flight = 0;
    }
    return self->in_flight;
}

/* Once, whatever interrupts come. */
static void call_released(VALUE object, void (*run)(larder *engine, void *arg), void *arg) {
    cache *self = cache_of(object);

    for (;;) {
        struct released call = {run, NULL, arg, false};

        rb_thread_check_ints(); /* as any blocking call does; may run a handler that closes */
        call.engine = engine_of(self);
        self->in_flight = calls_inside(self) + 1;
        rb_nogvl(run_released, &call, NULL, NULL, RB_NOGVL_INTR_FAIL);
        if (--self->in_flight == 0 && self->closing) {
            close_engine(self);
        }
        if (call.done) {
            break;
        }
    }
    RB_GC_GUARD(object);
}

void glue_call_released(VALUE object, void (*run)(larder *engine, void *arg), void *arg) {
    glue_engine_to_change(object);
    call_released(object, run, arg);
}

/* ---- attaching ---- */

#define WAIT_MS 1000            /* for another opener */
#define LOCKED_TOO_LONG_MS 5000 /* nobody makes or closes a file for so long: that is to be told */

static void run_attach(larder *engine, void *arg) {
    larder_error *error = arg;

    error->status = larder_attach(engine, WAIT_MS, error);
}

/* Another process that makes or closes the file is done soon: that is no failure before it lasts, unless
 * the file is required. */
static bool is_failure(cache *self, larder_status status) {
    int64_t now_ms = glue_clock_ms(CLOCK_MONOTONIC);

    if (status != LARDER_LOCKED || self->required) {
        self->locked_since_ms = 0;
        return status != LARDER_OK;
    }
    if (self->locked_since_ms == 0) {
        self->locked_since_ms = now_ms;
    }
    return now_ms - self->locked_since_ms >= LOCKED_TOO_LONG_MS;
}

/* Without the GVL: it may make a file. */
VALUE glue_cache_attach(VALUE object) {
    cache *self = cache_of(object);
    larder_error error;

    call_released(object, run_attach, &error);
    if (error.status == LARDER_OK) {
        self->failure.status = LARDER_OK;
        self->locked_since_ms = 0;
    } else if (is_failure(self, error.status)) {
        self->told = self->told && self->failure.status == error.status;
        self->failure = error;
    }
    return Qnil;
}

static void attach(VALUE object, cache *self) {
    larder *engine = engine_of(self);

    if (larder_attached(engine) == 0 || (self->strict && larder_attached(engine) < 0)) {
        if (self->lazy) {
            rb_funcall(object, rb_intern("attach_in_background"), 0);
        } else {
            glue_cache_attach(object);
        }
    }
    if (self->lazy && !self->was_attached && larder_attached(engine_of(self)) == 1) {
        self->was_attached = true;
        rb_funcall(object, rb_intern("attached"), 0);
    }
}

/* With what stands in the way, and the command that mends it. */
NORETURN(static void raise_unattached(VALUE object, const larder_error *error));

static void raise_unattached(VALUE object, const larder_error *error) {
    VALUE exception = glue_open_error(error, larder_path(engine_of(cache_of(object))));

    rb_exc_raise(rb_funcall(object, rb_intern("explained"), 1, exception));
}

larder *glue_engine_to_change(VALUE object) {
    cache *self = cache_of(object);

    if (larder_attached(engine_of(self)) != 1 || (self->lazy && !self->was_attached)) {
        attach(object, self);
        if (self->required && larder_attached(engine_of(self)) != 1) {
            static const larder_error underway = {.status = LARDER_LOCKED};
            raise_unattached(object, self->failure.status == LARDER_OK ? &underway : &self->failure);
        }
    }
    return engine_of(self);
}

larder *glue_engine(VALUE object) {
    cache *self = cache_of(object);
    larder *engine = glue_engine_to_change(object);

    if (self->lazy && self->failure.status != LARDER_OK && (self->strict || !self->told) &&
        larder_attached(engine) != 1) {
        self->told = true;
        raise_unattached(object, &self->failure);
    }
    return engine;
}

void glue_raise_unless_attached(VALUE object, VALUE key) {
    cache *self = cache_of(object);
    larder_error error = self->failure;

    if (self->engine == NULL || larder_attached(self->engine) == 1) { /* also one that another thread is closing */
        return;
    }
    /* another object of the same file may have made the attempt */
    if (error.status == LARDER_OK && larder_last_failure(self->engine, &error) == LARDER_OK) {
        return;
    }
    self->told = true;
    if (!NIL_P(key)) {
        long shown = RSTRING_LEN(key) < GLUE_SHOWN_KEY_BYTES ? RSTRING_LEN(key) : GLUE_SHOWN_KEY_BYTES;
        char reason[sizeof error.detail];
        memcpy(reason, error.detail, sizeof reason);
        snprintf(error.detail, sizeof error.detail, "%.*s could not be changed: %s", (int)shown, RSTRING_PTR(key),
                 reason);
    }
    raise_unattached(object, &error);
}

/* ---- arguments ---- */

void glue_check_string(VALUE object, const char *what) {
    if (!RB_TYPE_P(object, T_STRING)) {
        rb_raise(rb_eTypeError, "%s must be a String, got %" PRIsVALUE, what, rb_obj_class(object));
    }
}

void glue_check_array(VALUE object, const char *what) {
    if (!RB_TYPE_P(object, T_ARRAY)) {
        rb_raise(rb_eTypeError, "%s must be an Array, got %" PRIsVALUE, what, rb_obj_class(object));
    }
}

larder_call glue_call(VALUE now) { return (larder_call){.now_ms = NIL_P(now) ? 0 : NUM2LL(now)}; }

/* ---- open and close ---- */

enum { OPEN_NOW, OPEN_EXISTING, OPEN_LAZILY, OPEN_LAZILY_AND_STRICTLY, OPEN_LAZILY_BUT_REQUIRED };
#define OPEN_WAIT_MS 5000

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
 * has it there, and collecting the object there closes it.
 */
VALUE glue_cache_open(VALUE klass, VALUE path, VALUE size, VALUE lock_timeout_ms, VALUE mode) {
    cache *self;
    VALUE object = TypedData_Make_Struct(klass, cache, &glue_cache_type, self);
    VALUE frozen = rb_str_new_frozen(path);
    struct opening opening = {.path = StringValueCStr(frozen), .engine = &self->engine};

    opening.options.size_bytes = NUM2ULL(size);
    opening.options.lock_timeout_ms = NUM2UINT(lock_timeout_ms);
    opening.options.existing = FIX2INT(mode) == OPEN_EXISTING;
    opening.options.attach_later = 1; /* never in a call that has the GVL: see attach() */
    opening.lazy = self->lazy = FIX2INT(mode) >= OPEN_LAZILY;
    self->strict = FIX2INT(mode) >= OPEN_LAZILY_AND_STRICTLY;
    self->required = FIX2INT(mode) == OPEN_LAZILY_BUT_REQUIRED;
    self->fork_epoch = fork_epoch;
    for (;;) {
        struct released call = {run_open, NULL, &opening, false};

        rb_thread_check_ints();
        rb_nogvl(run_released, &call, NULL, NULL, RB_NOGVL_INTR_FAIL);
        if (call.done) {
            break;
        }
    }
    if (opening.status != LARDER_OK) {
        if (self->engine != NULL) {
            close_engine(self);
        }
        glue_raise_open(&opening.error, opening.path);
    }
    RB_GC_GUARD(frozen);
    return object;
}

VALUE glue_cache_close(VALUE object) {
    cache *self = cache_of(object);

    if (calls_inside(self) > 0) {
        self->closing = true;
    } else if (self->engine !=
               NULL) { /* also where the parent was closing and its last call is not in this child */
        close_engine(self);
    }
    RB_GC_GUARD(object);
    return Qnil;
}

VALUE glue_cache_is_closed(VALUE self) {
    const cache *data = cache_of(self);
    return data->engine == NULL || data->closing ? Qtrue : Qfalse;
}

VALUE glue_cache_size(VALUE self) { return ULL2NUM(larder_size(glue_engine(self))); }

VALUE glue_cache_max_pinned(VALUE self) { return SIZET2NUM(larder_max_pinned(glue_engine(self))); }

VALUE glue_cache_max_value(VALUE self) { return SIZET2NUM(larder_max_value(glue_engine(self))); }
