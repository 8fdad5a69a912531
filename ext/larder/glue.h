/*
 * glue.h — what the files of the Ruby binding share.
 *
 * Suggested reading order: init.c (what Ruby sees), cache.c (the object, its
 * handle, and how a call leaves the GVL), errors.c (status to exception), then
 * read.c, write.c and upkeep.c, one native method after the other.
 *
 * Rules of the binding
 *   - No VALUE is kept in C memory beyond a call, so nothing needs marking.
 *   - The engine is called with plain bytes, never calls Ruby, and nothing is
 *     raised or allocated between taking a pointer into a String and the engine
 *     call that uses it: under the GVL nobody can change the String meanwhile.
 *   - A call that may wait or copy much leaves the GVL. Whatever it reads then
 *     belongs to frozen Strings on this C stack, which garbage collection
 *     neither frees nor moves.
 *   - Keywords, defaults, ranges of numbers and most messages belong to Ruby:
 *     lib/larder/cache.rb and lib/larder/options.rb.
 */
#ifndef LARDER_GLUE_H
#define LARDER_GLUE_H

#include <ruby.h>
#include <stdbool.h>
#include <time.h>

#include "larder.h"

/* Copies of values from this size on are made without the GVL. */
#define GLUE_RELEASE_BYTES ((size_t)256 * 1024)

/* Keys or pairs handed to the engine at a time by the multi methods. */
#define GLUE_BATCH 64

/* Bytes of a key that a message shows. */
#define GLUE_SHOWN_KEY_BYTES 48

/* Milliseconds of a clock. */
static inline int64_t glue_clock_ms(clockid_t id) {
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Is it of that type? As rb_typeddata_is_kind_of(), for types without parents, and without a call. */
static inline bool glue_is(VALUE object, const rb_data_type_t *type) {
    return RB_TYPE_P(object, T_DATA) && RTYPEDDATA_P(object) && RTYPEDDATA_TYPE(object) == type;
}

/* ---- errors.c ---- */

/* What a caller would handle differently, with the constants below Larder. Result is no error. errors.c has which
 * status is of which class. */
#define GLUE_ERROR_CLASSES(X)      \
    X(Result, "Error")             \
    X(Argument, "InvalidArgument") \
    X(Number, "NotANumber")        \
    X(Busy, "BusyError")           \
    X(Full, "FullError")           \
    X(Closed, "ClosedError")       \
    X(Damaged, "DamagedError")     \
    X(Open, "OpenError")

void glue_errors_init(VALUE larder_module);

/* Is it a store that was refused, and dropped the old value: busy, full or damaged? */
bool glue_is_refusal(larder_status status);

/* Is it a wrong argument? */
bool glue_is_argument(larder_status status);

NORETURN(void glue_raise(larder_status status));

/* The same for a call about one key: the message tells its bytes where they matter. */
NORETURN(void glue_raise_for_key(larder_status status, VALUE key));

/* The exception, and the same raised. */
VALUE glue_open_error(const larder_error *error, const char *path);
NORETURN(void glue_raise_open(const larder_error *error, const char *path));

/* ---- cache.c ---- */

extern const rb_data_type_t glue_cache_type;

void glue_cache_init(void);

/* The engine's handle of an open cache, attached if that may be: leaves the GVL for it. Raises ClosedError, and
 * OpenError where a lazy one cannot attach, once. Not with pointers into Strings at hand. */
larder *glue_engine(VALUE self);

/* The same for calls that change something: they are made in any case, for the engine remembers what it cannot
 * apply, and raise what the engine answers. Where the file is required they are not made: this raises. */
larder *glue_engine_to_change(VALUE self);

/* Raises OpenError, which names the key (nil: all keys), where the cache is lazy and could not be attached. */
void glue_raise_unless_attached(VALUE self, VALUE key);

/* The same, or NULL: closed, or no Larder::Cache at all. */
larder *glue_engine_if_open(VALUE object);

/*
 * Calls `run` with the handle and without the GVL, once. `run` must not touch
 * Ruby. Raises ClosedError, or what another thread raised in this one, before
 * the call but never after it: once `run` has run, this returns.
 */
void glue_call_released(VALUE self, void (*run)(larder *engine, void *arg), void *arg);

/* Raises TypeError, naming `what` and the class, unless `object` is a String. */
void glue_check_string(VALUE object, const char *what);

/* Raises TypeError unless `object` is an Array. */
void glue_check_array(VALUE object, const char *what);

/* `now` is nil or Unix milliseconds. */
larder_call glue_call(VALUE now);

VALUE glue_cache_open(VALUE klass, VALUE path, VALUE size, VALUE lock_timeout_ms, VALUE mode);
VALUE glue_cache_attach(VALUE self); /* nil; why it could not is raised by the next call that needs the file */
VALUE glue_cache_close(VALUE self);
VALUE glue_cache_is_closed(VALUE self);
VALUE glue_cache_size(VALUE self);
VALUE glue_cache_max_value(VALUE self);
VALUE glue_cache_max_pinned(VALUE self);

/* ---- read.c ---- */

/* The bytes under a key as a binary String, nil for a miss; raises for the rest. */
VALUE glue_get(VALUE cache, VALUE key, larder_item *item, const larder_call *call);

/* What a String of bytes becomes in the Hash of glue_get_multi(); nil: nothing. */
typedef VALUE (*glue_decoder)(VALUE bytes, const larder_item *item);

/* A Hash of what was found of an Array of keys; `decode` may be NULL. */
VALUE glue_get_multi(VALUE cache, VALUE keys, const larder_call *call, glue_decoder decode);

VALUE glue_cache_get(VALUE self, VALUE key, VALUE now);
VALUE glue_cache_get_multi(VALUE self, VALUE keys, VALUE now);
VALUE glue_cache_exist(VALUE self, VALUE key, VALUE now);
VALUE glue_cache_ttl(VALUE self, VALUE key, VALUE now);

/* ---- write.c ---- */

VALUE glue_cache_set(VALUE self, VALUE key, VALUE value, VALUE ttl_ms, VALUE mode, VALUE now);
VALUE glue_cache_set_multi(VALUE self, VALUE hash, VALUE ttl_ms, VALUE now);
VALUE glue_cache_cas(VALUE self, VALUE key, VALUE expected, VALUE value, VALUE ttl_ms, VALUE pin, VALUE now);
VALUE glue_cache_increment(VALUE self, VALUE key, VALUE delta, VALUE initial, VALUE ttl_ms, VALUE now);
VALUE glue_cache_touch(VALUE self, VALUE key, VALUE ttl_ms, VALUE now);
VALUE glue_cache_delete(VALUE self, VALUE key, VALUE now);
VALUE glue_cache_delete_multi(VALUE self, VALUE keys, VALUE now);

/* A record is [bytes, flags, ttl_ms] when stored and [bytes, flags, expires_at_ms] when read. */
VALUE glue_cache_set_record(VALUE self, VALUE key, VALUE record, VALUE only_absent, VALUE now);
VALUE glue_cache_set_records(VALUE self, VALUE records, VALUE now);
VALUE glue_cache_cas_record(VALUE self, VALUE key, VALUE expected, VALUE record, VALUE now);

/* ---- records.c ---- */

VALUE glue_cache_get_entry(VALUE self, VALUE key, VALUE now);
VALUE glue_cache_get_multi_entries(VALUE self, VALUE keys, VALUE now);
VALUE glue_cache_get_record(VALUE self, VALUE key, VALUE now);
VALUE glue_cache_entry_of(VALUE self, VALUE record);
VALUE glue_plain_record(VALUE self, VALUE value, VALUE expires_at, VALUE expires_in, VALUE race, VALUE version,
                        VALUE now, VALUE trees);
VALUE glue_bytes_terms(VALUE self, VALUE expires_in, VALUE race, VALUE now);

/* ---- upkeep.c ---- */

VALUE glue_cache_scan(VALUE self, VALUE cursor, VALUE prefix, VALUE now);
VALUE glue_cache_clear(VALUE self);
VALUE glue_cache_resize(VALUE self, VALUE size, VALUE keep);
VALUE glue_cache_prune(VALUE self, VALUE now);
VALUE glue_cache_stats(VALUE self);
VALUE glue_cache_pids(VALUE self);
VALUE glue_cache_process(VALUE self);
VALUE glue_cache_process_lives(VALUE self, VALUE process);
VALUE glue_cache_verify(VALUE self);

/* ---- json_check.c ---- */

void json_check_init(VALUE larder_module);

#endif
