/*
 * fast_entry.c — one entry, read or written, with the GVL held throughout.
 *
 * A plain value is decoded here. Bytes of Rails' coder become a value by
 * Entries#value_found, which answers one of two markers where they are none.
 */
#include "fast.h"

/* A value up to this size costs one call of the engine. */
#define STACK_BYTES 4096

static ID id_value_found;
static VALUE marker_none, marker_expired;

/* The entry has expired: Rails' fetch may still want it, where it has a race_condition_ttl; else it goes. */
static enum fast_outcome drop_expired(const fast_store *store, const fast_options *options, const fast_key *key) {
    larder_call call = {0};

    if (options->life.race > 0.0) {
        return FAST_OTHERWISE;
    }
    call.now_ms = fast_read_time_ms();
    larder_delete(store->engine, key->text, key->bytes, &call);
    return FAST_MISS;
}

static enum fast_outcome decode_plain(const fast_store *store, const fast_options *options, const fast_key *key,
                                      const fast_found *found, VALUE *value) {
    const larder_item *item = &found->item;
    int64_t expires_at_ms = plain_expires_at_ms(item->flags, item->expires_at_ms);

    if (expires_at_ms && fast_has_passed(expires_at_ms, found->now_ms)) {
        return drop_expired(store, options, key);
    }
    *value = found->string == Qundef ? plain_load(item->flags, found->bytes, item->size_bytes)
                                     : plain_load_string(item->flags, found->string);
    return *value == Qundef ? FAST_MISS : FAST_HIT;
}

static enum fast_outcome decode_other(const fast_store *store, const fast_options *options, const fast_key *key,
                                      const fast_found *found, VALUE *value) {
    VALUE bytes = found->string == Qundef ? rb_str_new(found->bytes, (long)found->item.size_bytes) : found->string;
    VALUE version = key->is_list ? rb_utf8_str_new("", 0) : Qnil;

    *value = rb_funcall(store->self, id_value_found, 2, bytes, version);
    if (*value == marker_expired) {
        return drop_expired(store, options, key);
    }
    return *value == marker_none ? FAST_MISS : FAST_HIT;
}

bool fast_is_value(VALUE value) { return value != marker_none && value != marker_expired; }

enum fast_outcome fast_entry_decode(const fast_store *store, const fast_options *options, const fast_key *key,
                                    const fast_found *found, VALUE *value) {
    if (PLAIN_KIND(found->item.flags) == PLAIN_NONE) {
        return decode_other(store, options, key, found, value);
    }
    return decode_plain(store, options, key, found, value);
}

enum fast_outcome fast_entry_read(const fast_store *store, const fast_options *options, const fast_key *key,
                                  VALUE *value) {
    char buffer[STACK_BYTES];
    fast_found found = {.string = Qundef, .bytes = buffer, .now_ms = fast_read_time_ms()};
    larder_call call = {.now_ms = found.now_ms};
    larder_status status =
        larder_get(store->engine, key->text, key->bytes, buffer, sizeof buffer, &found.item, &call);

    if (status == LARDER_BUFFER_TOO_SMALL && found.item.size_bytes < GLUE_RELEASE_BYTES) {
        size_t capacity = found.item.size_bytes;
        found.string = rb_str_new(NULL, (long)capacity);
        status = larder_get(store->engine, key->text, key->bytes, RSTRING_PTR(found.string), capacity, &found.item,
                            &call);
        if (status == LARDER_OK) {
            rb_str_set_len(found.string, (long)found.item.size_bytes);
        }
    }
    if (status == LARDER_OK) {
        return fast_entry_decode(store, options, key, &found, value);
    }
    return status == LARDER_MISS ? FAST_MISS : FAST_OTHERWISE;
}

bool fast_entry_prepare(const fast_store *store, const fast_options *options, const fast_key *key, double now,
                        VALUE value, plain_value *plain, larder_store *record) {
    int64_t kept_until_ms = 0;
    uint8_t grace = 0;

    if (!store->plain_values || !plain_from(value, plain) || plain->size_bytes >= GLUE_RELEASE_BYTES ||
        (options->compress && plain->size_bytes > sizeof plain->number)) {
        return false;
    }
    if (options->life.expires_in > 0.0 &&
        !plain_keep(now + options->life.expires_in, &options->life, &grace, &kept_until_ms)) {
        return false;
    }
    *record = (larder_store){
        .key = key->text,
        .key_bytes = key->bytes,
        .value = plain->bytes,
        .value_bytes = plain->size_bytes,
        .flags = (uint8_t)((unsigned)plain->kind | grace | (key->is_list ? PLAIN_EMPTY_VERSION : 0u)),
        .ttl_ms = kept_until_ms ? kept_until_ms - fast_ms(now) : 0};
    return record->ttl_ms >= 0;
}

bool fast_entry_write(const fast_store *store, const fast_options *options, const fast_key *key, VALUE value) {
    double now =
        fast_now(); /* first: it may run Ruby, which must not come between taking bytes and storing them */
    larder_call call = {.now_ms = fast_ms(now), .flags = LARDER_CALL_TRY};
    plain_value plain;
    larder_store record;

    return fast_entry_prepare(store, options, key, now, value, &plain, &record) &&
           larder_set(store->engine, &record, &call) == LARDER_OK;
}

/* FastPath._markers(none, expired): what Entries#value_found answers for what is no value. */
static VALUE set_markers(VALUE self, VALUE none, VALUE expired) {
    marker_none = none;
    marker_expired = expired;
    rb_gc_register_mark_object(none);
    rb_gc_register_mark_object(expired);
    return self;
}

void fast_entry_init(VALUE module) {
    id_value_found = rb_intern("value_found");
    rb_define_private_method(rb_singleton_class(module), "_markers", set_markers, 2);
}
