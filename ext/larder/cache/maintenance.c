/*
 * maintenance.c — native methods about the whole file: _scan, _clear, _resize, _prune, _verify, _stats,
 * _other_sizes, _trust, and its processes.
 *
 * The first five may walk the file or take every shard lock in turn, so they run
 * without the GVL.
 */
#include "cache/maintenance.h"
#include "base/constants.h"
#include "base/errors.h"
#include "cache/attach.h"

#include <string.h>

/* Keys of one _scan are collected in this much memory. */
#define SCAN_BYTES ((size_t)64 * 1024)

static void raise_unless_ok(VALUE self, larder_status status) {
    if (status != LARDER_OK) {
        glue_raise_unless_attached(self, Qnil);
        glue_raise(status);
    }
}

/* ---- scan ---- */

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

    scan->status = larder_scan(engine, &scan->cursor, scan->prefix, scan->prefix_bytes, scan->buffer, SCAN_BYTES,
                               &scan->count, &scan->used, &scan->call);
}

/* Each key is a native 32-bit length and its bytes. */
static VALUE keys_of(const struct scan *scan) {
    VALUE keys = rb_ary_new_capa((long)scan->count);
    const char *at = scan->buffer;

    for (size_t i = 0; i < scan->count; i++) {
        uint32_t bytes;

        memcpy(&bytes, at, sizeof(bytes));
        rb_ary_push(keys, rb_str_new(at + sizeof(bytes), (long)bytes));
        at += sizeof(bytes) + bytes;
    }
    return keys;
}

/* Returns [next cursor, keys]; the cursor is nil when the scan is over. */
static VALUE cache_scan(VALUE self, VALUE cursor, VALUE prefix, VALUE now, VALUE all) {
    VALUE holder = Qnil;
    VALUE result;
    struct scan scan = {.cursor = NUM2ULL(cursor), .call = glue_call(now)};

    scan.call.flags = RTEST(all) ? LARDER_CALL_STALE : 0;
    glue_check_string(prefix, "prefix");
    prefix = rb_str_new_frozen(prefix);
    scan.prefix = RSTRING_PTR(prefix);
    scan.prefix_bytes = (size_t)RSTRING_LEN(prefix);
    scan.buffer = ALLOCV_N(char, holder, SCAN_BYTES);
    do {
        glue_attach_and_call_released(self, run_scan, &scan);
    } while (scan.status != LARDER_OK && glue_attached_again(self));
    raise_unless_ok(self, scan.status);
    result = rb_assoc_new(scan.cursor == 0 ? Qnil : ULL2NUM(scan.cursor), keys_of(&scan));
    ALLOCV_END(holder);
    RB_GC_GUARD(prefix);
    return result;
}

/* ---- clear ---- */

static void run_clear(larder *engine, void *arg) { *(larder_status *)arg = larder_clear(engine); }

static VALUE cache_clear(VALUE self) {
    larder_status status;

    do {
        glue_attach_and_call_released(self, run_clear, &status);
    } while (status != LARDER_OK && glue_attached_again(self));
    raise_unless_ok(self, status);
    return self;
}

/* ---- trust ---- */

/* Ms, and those of the two clocks that it counts from, or nil. */
static VALUE cache_trust(VALUE self, VALUE for_ms, VALUE monotonic_ms, VALUE wall_ms) {
    larder_moment since = {0};
    if (!NIL_P(monotonic_ms)) {
        since = (larder_moment){.monotonic_ms = NUM2LL(monotonic_ms), .wall_ms = NUM2LL(wall_ms)};
    }
    raise_unless_ok(
        self, larder_trust(glue_attach_to_change(self), NUM2UINT(for_ms), NIL_P(monotonic_ms) ? NULL : &since));
    return Qtrue;
}

static VALUE cache_trusted(VALUE self) {
    return larder_trusted(glue_attach_to_read(self)) == LARDER_OK ? Qtrue : Qfalse;
}

/* ---- resize, prune ---- */

struct resize {
    uint64_t size_bytes;
    uint32_t keep; /* LARDER_KEEP_* */
    larder_error error;
    larder_status status;
};

static void run_resize(larder *engine, void *arg) {
    struct resize *resize = arg;

    resize->status = larder_resize(engine, resize->size_bytes, resize->keep, &resize->error);
}

static VALUE cache_resize(VALUE self, VALUE size, VALUE keep) {
    struct resize resize = {.size_bytes = NUM2ULL(size), .keep = NUM2UINT(keep)};

    glue_check_deep_stack();
    glue_attach_and_call_released(self, run_resize, &resize);
    if (resize.status != LARDER_OK) {
        glue_raise_open(&resize.error, larder_path(glue_attach_to_read(self)));
    }
    return self;
}

struct prune {
    uint64_t dropped;
    larder_call call;
    larder_status status;
};

static void run_prune(larder *engine, void *arg) {
    struct prune *prune = arg;

    prune->status = larder_prune(engine, &prune->dropped, &prune->call);
}

static VALUE cache_prune(VALUE self, VALUE now) {
    struct prune prune = {.call = glue_call(now)};

    glue_attach_and_call_released(self, run_prune, &prune);
    raise_unless_ok(self, prune.status);
    return ULL2NUM(prune.dropped);
}

/* ---- stats, verify ---- */

static void put(VALUE hash, const char *name, VALUE value) { rb_hash_aset(hash, ID2SYM(rb_intern(name)), value); }

static VALUE cache_stats(VALUE self) {
    VALUE hash = rb_hash_new();
    larder_stats stats;
    larder_status status;

    do {
        status = larder_get_stats(glue_attach_to_read(self), &stats);
    } while (status != LARDER_OK && glue_attached_again(self));
    raise_unless_ok(self, status);
#define PUT_STAT(name, text) put(hash, #name, ULL2NUM(stats.name));
    LARDER_STATS_LIST(PUT_STAT)
#undef PUT_STAT
    return hash;
}

static VALUE other_size_hash(const larder_other_size *size) {
    VALUE hash = rb_hash_new();

    put(hash, "per_cent", UINT2NUM(size->per_cent));
    put(hash, "hits_ppm", size->is_known ? UINT2NUM(size->hits_ppm) : Qnil);
    put(hash, "error_ppm", size->is_known ? UINT2NUM(size->error_ppm) : Qnil);
    put(hash, "reads", ULL2NUM(size->reads));
    return hash;
}

static VALUE cache_other_sizes(VALUE self) {
    VALUE hash = rb_hash_new(), list = rb_ary_new();
    larder_other_sizes found;
    larder_status status;

    do {
        status = larder_get_other_sizes(glue_attach_to_read(self), &found);
    } while (status != LARDER_OK && glue_attached_again(self));
    raise_unless_ok(self, status);
    put(hash, "size_bytes", ULL2NUM(found.size_bytes));
    put(hash, "hits", ULL2NUM(found.hits));
    put(hash, "reads", ULL2NUM(found.reads));
    put(hash, "evicts", found.evicts ? Qtrue : Qfalse);
    put(hash, "needed_bytes", found.needed_bytes ? ULL2NUM(found.needed_bytes) : Qnil);
    for (unsigned i = 0; i < LARDER_OTHER_SIZES; i++) {
        rb_ary_push(list, other_size_hash(&found.sizes[i]));
    }
    put(hash, "sizes", list);
    return hash;
}

/* More than any file has process slots. */
#define MAX_PIDS 4096

static VALUE cache_pids(VALUE self) {
    uint32_t pids[MAX_PIDS];
    size_t count = larder_get_pids(glue_attach_to_read(self), pids, MAX_PIDS);
    VALUE list = rb_ary_new();

    for (size_t i = 0; i < count && i < MAX_PIDS; i++) {
        rb_ary_push(list, UINT2NUM(pids[i]));
    }
    return list;
}

static VALUE cache_process(VALUE self) { return UINT2NUM(larder_process(glue_attach_to_read(self))); }

static VALUE cache_process_lives(VALUE self, VALUE process) {
    return larder_process_lives(glue_attach_to_read(self), NUM2UINT(process)) ? Qtrue : Qfalse;
}

struct verify {
    larder_report report;
    larder_status status;
};

static void run_verify(larder *engine, void *arg) {
    struct verify *verify = arg;

    verify->status = larder_verify(engine, &verify->report);
}

static VALUE cache_verify(VALUE self) {
    VALUE hash = rb_hash_new();
    struct verify verify;

    glue_attach_and_call_released(self, run_verify, &verify);
    raise_unless_ok(self, verify.status);
    put(hash, "items", ULL2NUM(verify.report.items));
    put(hash, "records", ULL2NUM(verify.report.records));
    put(hash, "problems", ULL2NUM(verify.report.problems));
    put(hash, "stale_bytes", ULL2NUM(verify.report.stale_bytes));
    put(hash, "first", verify.report.first[0] == '\0' ? Qnil : rb_utf8_str_new_cstr(verify.report.first));
    return hash;
}

void glue_maintenance_init(VALUE cache_class) {
    glue_private_const(cache_class, "KEEP_NONE", INT2FIX(LARDER_KEEP_NONE));
    glue_private_const(cache_class, "KEEP_SOME", INT2FIX(LARDER_KEEP_SOME));
    glue_private_const(cache_class, "KEEP_ALL", INT2FIX(LARDER_KEEP_ALL));
    glue_private_const(cache_class, "KEEP_TRIAL", INT2FIX(LARDER_KEEP_TRIAL));
    rb_define_private_method(cache_class, "_scan", cache_scan, 4);
    rb_define_private_method(cache_class, "_clear", cache_clear, 0);
    rb_define_private_method(cache_class, "_trust", cache_trust, 3);
    rb_define_method(cache_class, "trusted?", cache_trusted, 0);
    rb_define_private_method(cache_class, "_resize", cache_resize, 2);
    rb_define_private_method(cache_class, "_prune", cache_prune, 1);
    rb_define_private_method(cache_class, "_stats", cache_stats, 0);
    rb_define_private_method(cache_class, "_other_sizes", cache_other_sizes, 0);
    rb_define_private_method(cache_class, "_verify", cache_verify, 0);
    rb_define_method(cache_class, "pids", cache_pids, 0);
    rb_define_method(cache_class, "process", cache_process, 0);
    rb_define_method(cache_class, "process_lives?", cache_process_lives, 1);
}
