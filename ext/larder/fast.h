/*
 * fast.h — the fast path: what the Rails store's fetch, read, write, their multi
 * forms, delete and exist? do in C where a call is common and simple.
 *
 * Suggested reading order: fast_guard.c (when the fast path may be taken at all),
 * fast_log.c, fast_key.c and fast_options.c (which calls are simple), fast_entry.c (one entry,
 * read or written), fast_path.c (fetch, read, write), fast_instrument.c, fast_multi.c.
 *
 * Whatever is not simple goes to the method of the same name in
 * ActiveSupport::Cache::Store, by rb_call_super(), before anything was changed:
 * the ordinary path in lib/larder/store/ is right in everything, reports every
 * failure, and decides wherever the two could differ. So nothing here raises but
 * what the caller's block raises.
 */
#ifndef LARDER_FAST_H
#define LARDER_FAST_H

#include "glue.h"
#include "plain.h"

/* ---- fast_guard.c ---- */

/* The events of ActiveSupport's cache that the fast path could owe to a subscriber, as bits. */
enum fast_events {
    FAST_READ = 1,
    FAST_FETCH_HIT = 2,
    FAST_GENERATE = 4,
    FAST_WRITE = 8,
    FAST_READ_MULTI = 16,
    FAST_WRITE_MULTI = 32,
    FAST_DELETE = 64,
    FAST_EXIST = 128,
    FAST_OLD_PAYLOADS = 256, /* somebody listens to any, and this Rails' payloads are not those C knows */
};

/* What is answered here, and the events for which a listener sends it to Rails: name, events. */
#define FAST_OPERATION_LIST(X)                                     \
    X(fetch, "fetch", FAST_FETCH_HIT | FAST_GENERATE | FAST_WRITE) \
    X(read, "read", FAST_OLD_PAYLOADS)                             \
    X(write, "write", FAST_WRITE)                                  \
    X(delete, "delete", FAST_DELETE)                               \
    X(exist, "exist?", FAST_EXIST)                                 \
    X(read_multi, "read_multi", FAST_READ_MULTI)                   \
    X(write_multi, "write_multi", FAST_WRITE_MULTI)                \
    X(fetch_multi, "fetch_multi", FAST_READ_MULTI | FAST_WRITE_MULTI)

enum {
#define FAST_EVENTS_OF(name, text, events) FAST_EVENTS_OF_##name = (events),
    FAST_OPERATION_LIST(FAST_EVENTS_OF)
#undef FAST_EVENTS_OF
};

typedef struct fast_store {
    VALUE self;
    VALUE cache;   /* its Larder::Cache */
    VALUE options; /* its @options */
    size_t max_key_bytes;
    bool plain_values;     /* may a value be stored without asking a coder? */
    bool plain_trees;      /* also Arrays, Hashes and objects? */
    bool instruments_read; /* somebody listens to FAST_READ, and that was not among the events asked for */
} fast_store;

void fast_guard_init(VALUE module);

/*
 * May a call that owes `events` be answered here: is the store's class as we know it, unpatched and without a
 * singleton class, does nobody listen to those events, and does nobody want the debug log? Fills `*store` where
 * so.
 */
bool fast_ready(VALUE self, unsigned events, fast_store *store);

/*
 * The engine's handle, or NULL where the cache was closed. Good until Ruby runs again, when another thread may
 * close it: so it is asked for just before each use.
 */
larder *fast_engine(const fast_store *store);

/* Seconds since 1970 as Rails sees them: Time.now where that was replaced (travel_to), the system's clock
 * otherwise. */
double fast_now(void);

/* The same as the engine counts it. */
int64_t fast_ms(double now);

/* What to hand to the engine for a read: 0, its own clock, unless Time.now was replaced. */
int64_t fast_read_time_ms(void);

/* Reads the cheap clock, which fast_has_passed() goes by: at the beginning of a call, as fast_ready() does, and
 * again before a read where Ruby has run since. */
void fast_tick(void);

/* Has this time (Unix ms) passed? `now_ms` as from fast_read_time_ms(). */
bool fast_has_passed(int64_t expires_at_ms, int64_t now_ms);

/* ---- fast_log.c ---- */

void fast_log_init(VALUE module);

/* Would Rails write a debug line for an operation of this store? */
bool fast_log_wanted(VALUE store);

/* ---- fast_options.c ---- */

typedef struct fast_options {
    VALUE namespace; /* nil or a String */
    plain_life life;
    bool skip_nil;
    bool compress;
} fast_options;

void fast_options_init(VALUE module);

/* Nothing, keywords, or a Hash without a default: for one that has, Rails finds options that no walk meets. */
bool fast_options_are_simple(VALUE call_options);

/* Is it exactly a Hash, and one without a default? */
bool fast_options_hold_all(VALUE options);

/* The store's options with the call's (nil or a Hash) over them. False where the call asks for more than is
 * simple. */
bool fast_options_merge(const fast_store *store, VALUE call_options, fast_options *options);

/* The same of a Hash that has all options of the store in it already, as fast_options_hash() makes one. */
bool fast_options_take(VALUE hash, fast_options *options);

/* The options as Rails' merged_options would answer, for a block to see: a Hash of the caller's own. */
VALUE fast_options_hash(const fast_store *store, VALUE call_options);

/* Puts the same into a Hash. */
void fast_options_into(const fast_store *store, VALUE call_options, VALUE hash);

/* A WriteOptions over such a Hash. */
VALUE fast_write_options(VALUE hash);

/* ---- fast_key.c ---- */

typedef struct fast_key {
    size_t bytes;
    bool is_list; /* a list's entries have the version "", others have none */
    char text[LARDER_MAX_KEY];
} fast_key;

/*
 * The key in the file for a name that is a String, a Symbol, a small Integer or an Array of them. False for any
 * other name, a blank one, one too long, or one of texts that do not go together.
 */
bool fast_key_expand(const fast_store *store, const fast_options *options, VALUE name, fast_key *key);

/* ---- fast_entry.c ---- */

enum fast_outcome {
    FAST_HIT,
    FAST_MISS,
    FAST_FALLBACK /* not simple: ask the ordinary path */
};

void fast_entry_init(VALUE module);

/* Reads what is neither expired nor of another version. What is expired is deleted. */
enum fast_outcome fast_entry_read(const fast_store *store, const fast_options *options, const fast_key *key,
                                  VALUE *value);

/* What was found under a key, as a String or on the stack. */
typedef struct fast_found {
    VALUE string; /* Qundef: see bytes */
    const char *bytes;
    larder_item item;
    int64_t now_ms; /* as it was read */
} fast_found;

/* The same for what another has read. */
enum fast_outcome fast_entry_decode(const fast_store *store, const fast_options *options, const fast_key *key,
                                    const fast_found *found, VALUE *value);

/* What an answer of Entries#value_found or #value_read means. What is expired is deleted. */
enum fast_outcome fast_entry_outcome(const fast_store *store, const fast_options *options, const fast_key *key,
                                     VALUE answer);

/*
 * Fills `*record` with the store of a value at `now` (fast_now()), whose bytes stay in the value or in `*plain`.
 * False where the value is not plain, has to be compressed, or is so large that its copy must not hold the GVL.
 */
bool fast_entry_prepare(const fast_store *store, const fast_options *options, const fast_key *key, double now,
                        VALUE value, plain_value *plain, larder_store *record);

/* Stores, and answers what Rails' write does; Qundef: ask the ordinary path. */
VALUE fast_entry_write(const fast_store *store, const fast_options *options, const fast_key *key, VALUE value);

/* Is there a live entry? A plain one is not read, for another its expiry lies in bytes of Rails' coder. */
enum fast_outcome fast_entry_exists(const fast_store *store, const fast_key *key);

/* ---- fast_instrument.c ---- */

void fast_instrument_init(VALUE module);

/* fast_entry_read() inside Rails' event, never FAST_FALLBACK. The call must have no race_condition_ttl. */
enum fast_outcome fast_instrumented_read(const fast_store *store, const fast_options *options, const fast_key *key,
                                         VALUE call_options, bool is_fetch, VALUE *value);

/* ---- fast_path.c, fast_multi.c ---- */

void fast_path_init(VALUE larder_module);

/* The method of the same name that would have run without ours, with the same arguments, keywords and block. */
VALUE fast_super(int argc, VALUE *argv);

void fast_multi_init(void);
VALUE fast_read_multi(int argc, VALUE *argv, VALUE self);
VALUE fast_write_multi(int argc, VALUE *argv, VALUE self);
VALUE fast_fetch_multi(int argc, VALUE *argv, VALUE self);

#endif
