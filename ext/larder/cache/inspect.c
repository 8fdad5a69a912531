/*
 * inspect.c — native methods for people who look at a cache: _item, _scan_items, _scan_progress.
 *
 * None is counted as a read. They show the items of each configuration.
 */
#include "cache/inspect.h"
#include "base/arguments.h"
#include "base/errors.h"
#include "cache/attach.h"
#include "value/plain.h"

#include <string.h>

/* Items of one _scan_items are collected in this much memory. */
#define SCAN_BYTES ((size_t)64 * 1024)

/* nil: never. */
static VALUE moment(int64_t unix_ms) { return unix_ms ? LL2NUM(unix_ms) : Qnil; }

/* A Larder::Cache::Item, whose members these are. */
static VALUE item_of(VALUE item_class, VALUE key, const larder_details *details) {
    const larder_item *item = &details->item;
    int64_t expires_at_ms =
        item->fresh_until_ms ? item->fresh_until_ms : plain_expires_at_ms(item->flags, item->expires_at_ms);
    VALUE members[] = {
        key,
        ULL2NUM(item->size_bytes),
        moment(expires_at_ms),
        moment(item->expires_at_ms),
        LL2NUM(details->stored_after_ms),
        UINT2NUM(details->reads),
        UINT2NUM(details->tag_count),
        item->compute_ms ? UINT2NUM(item->compute_ms) : Qnil,
        UINT2NUM(item->flags),
        item->is_counter ? Qtrue : Qfalse,
        item->is_pinned ? Qtrue : Qfalse,
        item->staleness == LARDER_STALE_LEASED ? Qtrue : Qfalse,
    };
    return rb_class_new_instance((int)(sizeof members / sizeof *members), members, item_class);
}

/* ---- one item ---- */

static void *allocate(void *context, size_t bytes, uint8_t flags) {
    VALUE *value = context;

    (void)flags;
    *value = rb_str_new(NULL, (long)bytes);
    return RSTRING_PTR(*value);
}

/* [item, value]; the value is nil unless it is asked for. nil: the key is absent. */
static VALUE cache_item(VALUE self, VALUE item_class, VALUE key, VALUE now, VALUE with_value) {
    larder_call call = glue_call(now);
    larder_details details;
    char none[8];
    VALUE value = Qnil;
    larder_allocator more = {allocate, &value};
    larder_status status;

    glue_check_string(key, "key");
    key = rb_str_new_frozen(key);
    larder *engine = glue_attach_to_read(self);
    status = larder_inspect(engine, RSTRING_PTR(key), (size_t)RSTRING_LEN(key), RTEST(with_value) ? none : NULL, 0,
                            &more, &details, &call);
    if (status == LARDER_MISS) {
        return Qnil;
    }
    if (status != LARDER_OK) {
        glue_raise_for_key(status, key);
    }
    if (RTEST(with_value)) {
        if (NIL_P(value)) {
            value = rb_str_new(NULL, 0);
        }
        rb_str_set_len(value, (long)details.item.size_bytes); /* an earlier value may have been longer */
    }
    return rb_assoc_new(item_of(item_class, key, &details), value);
}

/* ---- a walk ---- */

struct scan {
    uint64_t cursor;
    const char *prefix;
    size_t prefix_bytes;
    char *buffer;
    size_t count;
    size_t used;
    larder_call call;
    larder_status status;
};

static void run_scan(larder *engine, void *arg) {
    struct scan *scan = arg;

    scan->status = larder_scan_details(engine, &scan->cursor, scan->prefix, scan->prefix_bytes, scan->buffer,
                                       SCAN_BYTES, &scan->count, &scan->used, &scan->call);
}

static VALUE items_of(const struct scan *scan, VALUE item_class) {
    VALUE items = rb_ary_new_capa((long)scan->count);
    const char *at = scan->buffer;

    for (size_t i = 0; i < scan->count; i++) {
        uint32_t bytes;
        larder_details details;

        memcpy(&bytes, at, sizeof(bytes));
        memcpy(&details, at + sizeof(bytes), sizeof(details));
        at += sizeof(bytes) + sizeof(details);
        rb_ary_push(items, item_of(item_class, rb_str_new(at, (long)bytes), &details));
        at += bytes;
    }
    return items;
}

/* Returns [next cursor, items]; the cursor is nil when the walk is over. */
static VALUE cache_scan_items(VALUE self, VALUE item_class, VALUE cursor, VALUE prefix, VALUE now) {
    VALUE holder = Qnil;
    VALUE result;
    struct scan scan = {.cursor = NUM2ULL(cursor), .call = glue_call(now)};

    glue_check_string(prefix, "prefix");
    prefix = rb_str_new_frozen(prefix);
    scan.prefix = RSTRING_PTR(prefix);
    scan.prefix_bytes = (size_t)RSTRING_LEN(prefix);
    scan.buffer = ALLOCV_N(char, holder, SCAN_BYTES);
    do {
        glue_attach_and_call_released(self, run_scan, &scan);
    } while (scan.status != LARDER_OK && glue_attached_again(self));
    if (scan.status != LARDER_OK) {
        glue_raise_unless_attached(self, Qnil);
        glue_raise(scan.status);
    }
    result = rb_assoc_new(scan.cursor == 0 ? Qnil : ULL2NUM(scan.cursor), items_of(&scan, item_class));
    ALLOCV_END(holder);
    RB_GC_GUARD(prefix);
    return result;
}

struct progress {
    uint64_t cursor;
    uint32_t passed_ppm;
    larder_status status;
};

static void find_progress(larder *engine, void *arg) {
    struct progress *progress = arg;

    progress->status = larder_scan_progress(engine, progress->cursor, &progress->passed_ppm);
}

/* Millionths of the walk that are behind the cursor. */
static VALUE cache_scan_progress(VALUE self, VALUE cursor) {
    struct progress progress = {.cursor = NUM2ULL(cursor)};

    do {
        glue_attach_and_call_released(self, find_progress, &progress);
    } while (progress.status != LARDER_OK && glue_attached_again(self));
    if (progress.status != LARDER_OK) {
        glue_raise_unless_attached(self, Qnil);
        glue_raise(progress.status);
    }
    return UINT2NUM(progress.passed_ppm);
}

void glue_inspect_init(VALUE cache_class) {
    rb_define_private_method(cache_class, "_item", cache_item, 4);
    rb_define_private_method(cache_class, "_scan_items", cache_scan_items, 4);
    rb_define_private_method(cache_class, "_scan_progress", cache_scan_progress, 1);
}
