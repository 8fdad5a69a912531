/*
 * init.c — loads the extension: each file defines the constants and native methods that it implements.
 *
 * A folder's files use only those folders that come before: base/ (arguments, clock,
 * errors), value/ (values as bytes), cache/ (Larder::Cache), rails/ (the Rails store).
 */
#include <ruby.h>

#include "base/attributes.h"
#include "base/errors.h"
#include "cache/attach.h"
#include "cache/inspect.h"
#include "cache/maintenance.h"
#include "cache/open.h"
#include "cache/read.h"
#include "cache/tags.h"
#include "cache/usage.h"
#include "cache/write.h"
#include "cache/write_multi.h"
#include "rails/copies.h"
#include "rails/fast_path.h"
#include "rails/records.h"
#include "value/json_check.h"
#include "value/tree_dump.h"
#include "value/tree_load.h"
#include "value/tree_objects.h"

RUBY_FUNC_EXPORTED void Init_larder(void);

static void init_values(VALUE larder_module) {
    VALUE tree_module = tree_objects_init(larder_module);

    tree_dump_init(tree_module);
    tree_load_init(tree_module);
    json_check_init(larder_module);
}

static void init_cache(VALUE larder_module) {
    VALUE cache = rb_define_class_under(larder_module, "Cache", rb_cObject);

    rb_undef_alloc_func(cache); /* Cache.open is the only way to make one; no new, dup or Marshal */
    rb_define_const(cache, "ENGINE_VERSION", rb_obj_freeze(rb_usascii_str_new_cstr(LARDER_VERSION)));
    rb_define_const(cache, "MAX_KEY", UINT2NUM(LARDER_MAX_KEY));
    rb_define_const(cache, "MAX_VALUE", UINT2NUM(LARDER_MAX_VALUE));
    rb_define_const(cache, "MIN_SIZE", ULL2NUM(LARDER_MIN_SIZE));
    rb_define_const(cache, "MAX_SIZE", ULL2NUM(LARDER_MAX_SIZE));
    rb_define_const(cache, "DEFAULT_SIZE", ULL2NUM(LARDER_DEFAULT_SIZE));
    rb_define_const(cache, "MAX_TRUST", UINT2NUM(LARDER_MAX_TRUST_MS / 1000));
    rb_define_const(cache, "MAX_TTL", LL2NUM(LARDER_MAX_TTL_MS / 1000));
    glue_handle_init();
    glue_open_init(cache);
    glue_attach_init(cache);
    glue_read_init(cache);
    glue_write_init(cache);
    glue_tags_init(cache);
    glue_write_multi_init(cache);
    glue_maintenance_init(cache);
    glue_usage_init(cache);
    glue_inspect_init(cache);
}

static void init_store(VALUE larder_module) {
    VALUE store = rb_define_module_under(larder_module, "Store");

    records_init(store);
    copies_init(store);
    fast_path_init(store);
}

void Init_larder(void) {
    VALUE larder_module;

#ifdef HAVE_RB_EXT_RACTOR_SAFE
    /* The engine is thread-safe. The variables of base/, value/ and cache/ are written while Larder is
     * loaded and in a fresh child only, but for the tables of value/tree_key.c, which Ractors may share. Those of
     * rails/ are of the main Ractor: a store has objects that others cannot use. */
    rb_ext_ractor_safe(true);
#endif
    larder_module = rb_define_module("Larder");
    glue_errors_init(larder_module);
    glue_attributes_init(larder_module);
    init_values(larder_module);
    init_cache(larder_module);
    init_store(larder_module);
}
