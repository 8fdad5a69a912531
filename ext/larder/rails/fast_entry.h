/*
 * fast_entry.h — one entry, read or written.
 */
#ifndef LARDER_FAST_ENTRY_H
#define LARDER_FAST_ENTRY_H

#include "rails/fast_handle.h"
#include "rails/fast_key.h"
#include "rails/fast_options.h"

enum fast_outcome {
    FAST_HIT,
    FAST_STALE, /* a hit, after which the value is to be computed again, as it has expired */
    FAST_EARLY, /* the same before it expires */
    FAST_MISS,
    FAST_FALLBACK /* not simple: ask the ordinary path */
};

void fast_entry_init(VALUE module);

/* Reads an entry that has not expired and is of the key's version. One that has expired is deleted. Of a store
 * with a second level, never FAST_MISS, nor is anything written, deleted or absent: the ordinary path asks that
 * level. */
enum fast_outcome fast_entry_read(const fast_store *store, const fast_options *options, const fast_key *key,
                                  VALUE *value);

/* The same with options->keeps: also an entry that is as stale as the options allow. */
enum fast_outcome fast_entry_read_kept(const fast_store *store, const fast_options *options, const fast_key *key,
                                       VALUE *value);

/* Is the value to be computed again before it expires? By chance, see early_refresh. */
bool fast_entry_is_early(const larder_item *item, int64_t now_ms);

/* What was found under a key, as a String or on the stack. */
typedef struct fast_found {
    VALUE string; /* Qundef: see bytes */
    const char *bytes;
    larder_item item;
    int64_t now_ms; /* as it was read */
} fast_found;

/* The same for what the caller has read. */
enum fast_outcome fast_entry_decode(const fast_store *store, const fast_options *options, const fast_key *key,
                                    const fast_found *found, VALUE *value);

/* Counts a read that the engine has counted in one way by its outcome. After FAST_FALLBACK the ordinary path reads
 * and counts again. */
void fast_entry_recount(const fast_store *store, const fast_key *key, larder_read counted,
                        enum fast_outcome outcome);

/* The meaning of an answer of NativeCalls#value_found or #value_read. An entry that has expired is deleted. */
enum fast_outcome fast_entry_outcome(const fast_store *store, const fast_options *options, const fast_key *key,
                                     VALUE answer);

/*
 * The record of a value at `now` (fast_clock_now()) under a version (fast_key_version()), as Records#set_multi
 * takes it: [bytes, flags, ttl_ms]. Qundef: the value is not plain, or has to be compressed.
 */
VALUE fast_entry_record(const fast_store *store, const fast_options *options, const fast_key *key, VALUE version,
                        double now, VALUE value);

/* Stores, and answers what Rails' write does; Qundef: ask the ordinary path. */
VALUE fast_entry_write(const fast_store *store, const fast_options *options, const fast_key *key, VALUE value);

/* The same under a version (fast_key_version()). */
VALUE fast_entry_store(const fast_store *store, const fast_options *options, const fast_key *key, VALUE version,
                       VALUE value);

/* Deletes, and answers what Rails' delete does; Qundef: ask the ordinary path. */
VALUE fast_entry_delete(const fast_store *store, const fast_key *key);

/* Answers what Rails' exist? does; Qundef, also for what is not plain or has a version: ask the ordinary path. */
VALUE fast_entry_exists(const fast_store *store, const fast_options *options, const fast_key *key);

#endif
