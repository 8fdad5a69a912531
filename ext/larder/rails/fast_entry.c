/*
 * fast_entry.c — one entry, read or written.
 *
 * A plain value, also an Array or Hash, is encoded and decoded here. Any other is
 * dumped by Rails' coder in NativeCalls#store_dumped, and loaded in NativeCalls#value_found,
 * which answers NONE or EXPIRED if there is no value.
 */
#include "rails/fast_entry.h"
#include "cache/read.h"
#include "rails/fast_clock.h"
#include "rails/fast_instrumentation.h"

#include <math.h>

static ID id_value_found, id_value_kept, id_store_dumped, id_store_bytes;
static VALUE none, expired;

/* Deletes an entry that has expired, unless it is left to Rails' fetch because of a race_condition_ttl, or to the
 * caller that computes the next under a lease. */
static enum fast_outcome drop_expired(const fast_store *store, const fast_options *options, const fast_key *key) {
    larder_call call = {0};

    if (options->life.race > 0.0) {
        return FAST_FALLBACK;
    }
    if (options->keeps) {
        return FAST_MISS;
    }
    call.now_ms = fast_clock_read_ms();
    larder_delete(fast_handle_engine(store), key->text, key->bytes, &call); /* refuses a NULL */
    return FAST_MISS;
}

/* A probability of 1 at the expiry, and the less the longer that is away, in units of the time that the value
 * takes to compute (XFetch: Vattani, Chierichetti, Lowenstein, "Optimal Probabilistic Cache Stampede Prevention",
 * 2015). */
bool fast_entry_is_early(const larder_item *item, int64_t now_ms) {
    int64_t expires_at_ms = item->fresh_until_ms ? item->fresh_until_ms : item->expires_at_ms;

    return item->compute_ms && expires_at_ms &&
           (double)(expires_at_ms - now_ms) < -log(1.0 - rb_random_real(rb_cRandom)) * (double)item->compute_ms;
}

/* Is a stale entry, or one that soon will be, a hit? FAST_STALE, FAST_EARLY: of the caller that computes the next,
 * or that has to send an event. */
static enum fast_outcome judge_age(const fast_options *options, const larder_item *item, int64_t now_ms) {
    if (item->staleness != LARDER_FRESH) {
        return (double)(now_ms - item->fresh_until_ms) >= options->stale * 1000.0 ? FAST_MISS
               : item->staleness == LARDER_STALE_LEASED && !fast_instrumentation_wanted(FAST_EVENT_STALE)
                   ? FAST_HIT
                   : FAST_STALE;
    }
    return options->early && fast_entry_is_early(item, now_ms) ? FAST_EARLY : FAST_HIT;
}

/* Has the entry of a plain value expired? Its record lives longer. */
static bool has_expired(const larder_item *item, int64_t now_ms) {
    int64_t expires_at_ms = plain_expires_at_ms(item->flags, item->expires_at_ms);

    return expires_at_ms && fast_clock_has_passed(expires_at_ms, now_ms);
}

/* Finds the value in what was found, FAST_HIT, if its version is the one asked for. Rails asks for that after it
 * has read. Ruby may run. */
static __attribute__((noinline)) enum fast_outcome match_version(const fast_options *options, const fast_key *key,
                                                                 const fast_found *found, plain_stored *stored) {
    VALUE version;
    bool matches;

    if (!fast_key_version(key, options->version, &version)) {
        return FAST_FALLBACK;
    }
    const char *bytes = found->string == Qundef ? found->bytes : RSTRING_PTR(found->string);
    matches = plain_split(found->item.flags, bytes, found->item.size_bytes, stored) &&
              !plain_is_mismatched(stored, version);
    RB_GC_GUARD(version);
    return matches ? FAST_HIT : FAST_MISS;
}

static enum fast_outcome decode_plain(const fast_store *store, const fast_options *options, const fast_key *key,
                                      const fast_found *found, VALUE *value) {
    const larder_item *item = &found->item;
    plain_stored stored = {.flags = item->flags, .size_bytes = item->size_bytes};

    if (has_expired(item, found->now_ms)) {
        return drop_expired(store, options, key);
    }
    /* An empty version, of a flat list, mismatches none but another. */
    if (RB_UNLIKELY(key->has_objects || !NIL_P(options->version) || PLAIN_KIND(item->flags) == PLAIN_VERSIONED)) {
        enum fast_outcome outcome = match_version(options, key, found, &stored);
        if (outcome != FAST_HIT) {
            return outcome;
        }
    }
    if (found->string == Qundef) {
        *value = plain_load(stored.flags, found->bytes, stored.size_bytes);
    } else {
        rb_str_set_len(found->string, (long)stored.size_bytes);
        *value = plain_load_string(stored.flags, found->string);
    }
    return *value == Qundef ? FAST_MISS : FAST_HIT;
}

static enum fast_outcome decode_other(const fast_store *store, const fast_options *options, const fast_key *key,
                                      const fast_found *found, VALUE *value) {
    long size_bytes = (long)found->item.size_bytes;
    VALUE bytes = found->string;
    VALUE version;

    if (bytes == Qundef) {
        bytes = rb_str_new(found->bytes, size_bytes);
    } else {
        rb_str_set_len(bytes, size_bytes);
    }
    if (!fast_key_version(key, options->version, &version)) {
        return FAST_FALLBACK;
    }
    *value =
        rb_funcall(store->self, found->item.fresh_until_ms ? id_value_kept : id_value_found, 2, bytes, version);
    return fast_entry_outcome(store, options, key, *value);
}

enum fast_outcome fast_entry_outcome(const fast_store *store, const fast_options *options, const fast_key *key,
                                     VALUE answer) {
    if (answer == expired) {
        return drop_expired(store, options, key);
    }
    return answer == none ? FAST_MISS : FAST_HIT;
}

void fast_entry_recount(const fast_store *store, const fast_key *key, larder_read counted,
                        enum fast_outcome outcome) {
    larder_read read = outcome == FAST_FALLBACK ? LARDER_READ_UNCOUNTED
                       : outcome == FAST_MISS   ? LARDER_READ_MISS
                                                : counted;

    if (read != counted) {
        larder_recount(fast_handle_engine(store), key->text, key->bytes, counted, read);
    }
}

enum fast_outcome fast_entry_decode(const fast_store *store, const fast_options *options, const fast_key *key,
                                    const fast_found *found, VALUE *value) {
    if (PLAIN_KIND(found->item.flags) == PLAIN_NONE) {
        return decode_other(store, options, key, found, value);
    }
    return decode_plain(store, options, key, found, value);
}

/* The outcome of a read that found no answer. The ordinary path of a store with a second level reads again, so the
 * read is not counted here. `counted`: how the engine has counted it. */
static __attribute__((noinline)) enum fast_outcome without_answer(const fast_store *store, const fast_key *key,
                                                                  larder_read counted, enum fast_outcome outcome) {
    if (outcome == FAST_MISS && store->handle.has_remote) {
        outcome = FAST_FALLBACK;
    }
    fast_entry_recount(store, key, counted, outcome);
    return outcome;
}

static larder_read counted_as(const larder_item *item) {
    return item->staleness == LARDER_FRESH ? LARDER_READ_HIT : LARDER_READ_STALE;
}

static inline __attribute__((always_inline)) enum fast_outcome
read_one(char buffer[GLUE_STACK_BYTES], const fast_store *store, const fast_options *options, const fast_key *key,
         fast_found *found, uint32_t flags, VALUE *value) {
    glue_room room = {Qundef, buffer, GLUE_STACK_BYTES};
    larder_allocator more = {glue_allocate, &room};
    larder_call call = {.now_ms = found->now_ms = fast_clock_read_ms(), .flags = flags};
    larder_status status = larder_get_allocated(fast_handle_engine(store), key->text, key->bytes, buffer,
                                                GLUE_SHORT_BYTES, &more, &found->item, &call);

    found->string = room.string;
    found->bytes = buffer;
    if (RB_LIKELY(status == LARDER_OK)) {
        enum fast_outcome outcome = fast_entry_decode(store, options, key, found, value);
        return RB_LIKELY(outcome == FAST_HIT) ? FAST_HIT
                                              : without_answer(store, key, counted_as(&found->item), outcome);
    }
    return status == LARDER_MISS ? without_answer(store, key, LARDER_READ_MISS, FAST_MISS) : FAST_FALLBACK;
}

enum fast_outcome fast_entry_read(const fast_store *store, const fast_options *options, const fast_key *key,
                                  VALUE *value) {
    char buffer[GLUE_STACK_BYTES];
    fast_found found;

    return read_one(buffer, store, options, key, &found, 0, value);
}

enum fast_outcome fast_entry_read_kept(const fast_store *store, const fast_options *options, const fast_key *key,
                                       VALUE *value) {
    char buffer[GLUE_STACK_BYTES];
    fast_found found;
    uint32_t flags = options->stale > 0.0 ? LARDER_CALL_STALE : 0;
    enum fast_outcome outcome = read_one(buffer, store, options, key, &found, flags, value);

    if (outcome != FAST_HIT) {
        return outcome;
    }
    if (store->handle.has_remote && found.item.staleness != LARDER_FRESH) { /* that level may have a fresh one */
        return without_answer(store, key, LARDER_READ_STALE, FAST_FALLBACK);
    }
    outcome = judge_age(options, &found.item, found.now_ms ? found.now_ms : fast_clock_ms(fast_clock_now()));
    return outcome == FAST_MISS ? without_answer(store, key, LARDER_READ_STALE, FAST_MISS) : outcome;
}

/* The store of a plain value at `now`, under the version (nil or a String); false: the ordinary path has to decide
 * how long it lives. */
static bool fill_record(const fast_options *options, const fast_key *key, VALUE version, double now,
                        plain_value *plain, larder_store *record) {
    double expires_at = now + options->life.expires_in;
    bool has_version = !NIL_P(version) && RSTRING_LEN(version) > 0;
    uint8_t flags;
    int64_t ttl_ms;

    if (has_version) {
        plain_add_version(plain, version);
    }
    if (!plain_terms(plain, options->life.expires_in > 0.0 ? &expires_at : NULL, &options->life,
                     !NIL_P(version) && !has_version, fast_clock_ms(now), &flags, &ttl_ms)) {
        return false;
    }
    *record = (larder_store){.key = key->text,
                             .key_bytes = key->bytes,
                             .value = plain->bytes,
                             .value_bytes = plain->size_bytes,
                             .flags = flags,
                             .ttl_ms = ttl_ms};
    return ttl_ms >= 0;
}

/* Fills `*record` with the store of a plain value, whose bytes are in it or in `*plain`. False: it is not plain,
 * or has to be compressed. */
static bool prepare(const fast_store *store, const fast_options *options, const fast_key *key, VALUE version,
                    double now, VALUE value, plain_value *plain, larder_store *record) {
    plain->kind = PLAIN_NONE;
    if (!store->handle.plain_values ||
        !(plain_from(value, plain) ||
          (store->handle.plain_trees && !options->compress && plain_from_tree(value, plain)))) {
        return false;
    }
    return !(options->compress && plain->size_bytes > sizeof plain->number) &&
           fill_record(options, key, version, now, plain, record);
}

VALUE fast_entry_record(const fast_store *store, const fast_options *options, const fast_key *key, VALUE version,
                        double now, VALUE value) {
    plain_value plain = {.holder = Qnil};
    larder_store record;

    if (!prepare(store, options, key, version, now, value, &plain, &record)) {
        return Qundef;
    }
    return rb_ary_new_from_args(3, plain_bytes(value, &plain), UINT2NUM(record.flags), LL2NUM(record.ttl_ms));
}

/* NativeCalls#store_bytes takes what is large, is stored in parts, or finds the lock taken: it releases the GVL. A
 * namespace is a tag, see Store::Tags. */
static VALUE store_record(const fast_store *store, const fast_key *key, VALUE value, const plain_value *plain,
                          larder_store *record, int64_t now_ms) {
    larder_call call = {.now_ms = now_ms, .flags = LARDER_CALL_TRY};
    const larder_tag namespace = {key->text, key->namespace_bytes};
    const larder_extra extra = {.tags = &namespace, .tag_count = 1};

    record->extra = key->namespace_bytes ? &extra : NULL;
    if (plain->size_bytes < GLUE_RELEASE_BYTES &&
        larder_set(fast_handle_engine(store), record, &call) == LARDER_OK) {
        return Qtrue;
    }
    if (!key->is_utf8 || key->namespace_bytes) { /* a report may have the key */
        return Qundef;
    }
    return rb_funcall(store->self, id_store_bytes, 5, rb_utf8_str_new(key->text, (long)key->bytes),
                      plain_bytes(value, plain), UINT2NUM(record->flags), LL2NUM(record->ttl_ms), LL2NUM(now_ms));
}

/* A value for the store's coder. May run any Ruby. */
static VALUE write_dumped(const fast_store *store, const fast_options *options, const fast_key *key, VALUE version,
                          VALUE value, double now) {
    const plain_life *life = &options->life;
    VALUE text = rb_utf8_str_new(key->text, (long)key->bytes);
    VALUE expires_at = life->expires_in > 0.0 ? DBL2NUM(now + life->expires_in) : Qnil;
    VALUE expires_in = life->expires_in > 0.0 ? DBL2NUM(life->expires_in) : Qnil;
    VALUE race = life->race > 0.0 ? DBL2NUM(life->race) : Qnil;

    return rb_funcall(store->self, id_store_dumped, 7, text, value, version, expires_at, expires_in, race,
                      LL2NUM(fast_clock_ms(now)));
}

VALUE fast_entry_store(const fast_store *store, const fast_options *options, const fast_key *key, VALUE version,
                       VALUE value) {
    plain_value plain = {.holder = Qnil};
    larder_store record;
    VALUE answer = Qundef;
    double now = fast_clock_now(); /* first: no Ruby runs between taking bytes and storing them */

    if (store->handle.has_remote) {
        return Qundef;
    }
    if (prepare(store, options, key, version, now, value, &plain, &record)) {
        answer = store_record(store, key, value, &plain, &record, fast_clock_ms(now));
    } else if (store->handle.plain_values && !options->compress && plain.kind == PLAIN_NONE && key->is_utf8 &&
               !key->namespace_bytes) {
        answer = write_dumped(store, options, key, version, value, now);
    }
    RB_GC_GUARD(plain.holder);
    RB_GC_GUARD(version);
    return answer;
}

VALUE fast_entry_write(const fast_store *store, const fast_options *options, const fast_key *key, VALUE value) {
    VALUE version;

    return fast_key_version(key, options->version, &version)
               ? fast_entry_store(store, options, key, version, value)
               : Qundef;
}

VALUE fast_entry_delete(const fast_store *store, const fast_key *key) {
    larder_call call = {.now_ms = fast_clock_read_ms()};

    if (store->handle.has_remote) {
        return Qundef;
    }
    larder_status status = larder_delete(fast_handle_engine(store), key->text, key->bytes, &call);

    return status == LARDER_OK ? Qtrue : status == LARDER_MISS ? Qfalse : Qundef;
}

VALUE fast_entry_exists(const fast_store *store, const fast_options *options, const fast_key *key) {
    larder_call call = {.now_ms = fast_clock_read_ms()};
    larder_item item;
    larder_status status = larder_exists(fast_handle_engine(store), key->text, key->bytes, &item, &call);

    if (status != LARDER_OK) {
        return status == LARDER_MISS && !store->handle.has_remote ? Qfalse : Qundef;
    }
    if (!plain_is_loadable(item.flags, item.size_bytes) || key->has_objects || !NIL_P(options->version)) {
        return Qundef;
    }
    return !has_expired(&item, call.now_ms) ? Qtrue : store->handle.has_remote ? Qundef : Qfalse;
}

static VALUE define_marker(VALUE module, const char *name) {
    VALUE marker = rb_obj_freeze(rb_obj_alloc(rb_cObject));

    rb_gc_register_mark_object(marker);
    rb_define_const(module, name, marker);
    return marker;
}

void fast_entry_init(VALUE module) {
    id_value_found = rb_intern("value_found");
    id_value_kept = rb_intern("value_kept");
    id_store_dumped = rb_intern("store_dumped");
    id_store_bytes = rb_intern("store_bytes");
    none = define_marker(module, "NONE");
    expired = define_marker(module, "EXPIRED");
}
