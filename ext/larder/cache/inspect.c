/*
 * inspect.c — native methods for people who look at a cache: _item, _scan_items, _scan_leases, _scan_progress.
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
    VALUE members[] = {
        key,
        ULL2NUM(item->size_bytes),
        moment(plain_end_ms(item)),
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

typedef larder_status scan_function(larder *engine, uint64_t *cursor, const void *prefix, size_t prefix_bytes,
                                    void *buffer, size_t buffer_bytes, size_t *count, size_t *used,
                                    const larder_call *call);

struct scan {
    scan_function *function;
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

    scan->status = scan->function(engine, &scan->cursor, scan->prefix, scan->prefix_bytes, scan->buffer,
                                  SCAN_BYTES, &scan->count, &scan->used, &scan->call);
}

/* Makes an object of a key and of what the walk knows of it. */
typedef VALUE make_function(VALUE result_class, VALUE key, const void *details);

static VALUE make_item(VALUE item_class, VALUE key, const void *details) {
    larder_details aligned;

    memcpy(&aligned, details, sizeof(aligned));
    return item_of(item_class, key, &aligned);
}

/* A Larder::Cache::Lease, whose members these are. */
static VALUE make_lease(VALUE lease_class, VALUE key, const void *details) {
    larder_leased leased;

    memcpy(&leased, details, sizeof(leased));
    VALUE members[] = {key, DBL2NUM((double)leased.age_ms / 1000), DBL2NUM((double)leased.left_ms / 1000),
                       UINT2NUM(leased.pid), leased.has_value ? Qtrue : Qfalse};
    return rb_class_new_instance((int)(sizeof members / sizeof *members), members, lease_class);
}

static VALUE objects_of(const struct scan *scan, VALUE result_class, size_t details_bytes, make_function *make) {
    VALUE objects = rb_ary_new_capa((long)scan->count);
    const char *at = scan->buffer;

    for (size_t i = 0; i < scan->count; i++) {
        uint32_t bytes;
        const char *details = at + sizeof(bytes);

        memcpy(&bytes, at, sizeof(bytes));
        at = details + details_bytes;
        rb_ary_push(objects, make(result_class, rb_str_new(at, (long)bytes), details));
        at += bytes;
    }
    return objects;
}

/* Returns [next cursor, objects]; the cursor is nil when the walk is over. */
static VALUE walk(VALUE self, VALUE cursor, VALUE prefix, struct scan *scan, VALUE result_class,
                  size_t details_bytes, make_function *make) {
    VALUE holder = Qnil;
    VALUE result;

    scan->cursor = NUM2ULL(cursor);
    glue_check_string(prefix, "prefix");
    prefix = rb_str_new_frozen(prefix);
    scan->prefix = RSTRING_PTR(prefix);
    scan->prefix_bytes = (size_t)RSTRING_LEN(prefix);
    scan->buffer = ALLOCV_N(char, holder, SCAN_BYTES);
    do {
        glue_attach_and_call_released(self, run_scan, scan);
    } while (scan->status != LARDER_OK && glue_attached_again(self));
    if (scan->status != LARDER_OK) {
        glue_raise_unless_attached(self, Qnil);
        glue_raise(scan->status);
    }
    result = rb_assoc_new(scan->cursor == 0 ? Qnil : ULL2NUM(scan->cursor),
                          objects_of(scan, result_class, details_bytes, make));
    ALLOCV_END(holder);
    RB_GC_GUARD(prefix);
    return result;
}

static VALUE cache_scan_items(VALUE self, VALUE item_class, VALUE cursor, VALUE prefix, VALUE now) {
    struct scan scan = {.function = larder_scan_details, .call = glue_call(now)};

    return walk(self, cursor, prefix, &scan, item_class, sizeof(larder_details), make_item);
}

static VALUE cache_scan_leases(VALUE self, VALUE lease_class, VALUE cursor, VALUE prefix) {
    struct scan scan = {.function = larder_scan_leases, .call = glue_call(Qnil)};

    return walk(self, cursor, prefix, &scan, lease_class, sizeof(larder_leased), make_lease);
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
    rb_define_private_method(cache_class, "_scan_leases", cache_scan_leases, 3);
}
