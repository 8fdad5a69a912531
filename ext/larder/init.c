/*
 * init.c — what Ruby sees: the constants and the private natives of Larder::Cache.
 * Their keywords, checks and documentation are in lib/larder/cache.rb. The Rails
 * store's are defined in fast_path.c.
 */
#include "fast.h"
#include "tree.h"

RUBY_FUNC_EXPORTED void Init_larder(void);

void Init_larder(void) {
    VALUE larder_module, cache;

#ifdef HAVE_RB_EXT_RACTOR_SAFE
    /* The engine is thread-safe, and the binding's variables are written by Init and in a fresh child only. */
    rb_ext_ractor_safe(true);
#endif
    larder_module = rb_define_module("Larder");
    cache = rb_define_class_under(larder_module, "Cache", rb_cObject);
    rb_undef_alloc_func(cache); /* Cache.open is the only way to make one; no new, dup or Marshal */
    glue_errors_init(larder_module);
    glue_cache_init();
    tree_init(larder_module);
    json_check_init(larder_module);
    fast_path_init(larder_module);

    rb_define_const(cache, "ENGINE_VERSION", rb_obj_freeze(rb_usascii_str_new_cstr(LARDER_VERSION)));
    rb_define_const(cache, "MAX_KEY", UINT2NUM(LARDER_MAX_KEY));
    rb_define_const(cache, "MAX_VALUE", UINT2NUM(LARDER_MAX_VALUE));
    rb_define_const(cache, "MIN_SIZE", ULL2NUM(LARDER_MIN_SIZE));
    rb_define_const(cache, "MAX_SIZE", ULL2NUM(LARDER_MAX_SIZE));
    rb_define_const(cache, "DEFAULT_SIZE", ULL2NUM(LARDER_DEFAULT_SIZE));
    rb_define_const(cache, "MAX_TTL", LL2NUM(LARDER_MAX_TTL_MS / 1000));

    rb_define_private_method(rb_singleton_class(cache), "_open", glue_cache_open, 4);
    rb_define_method(cache, "close", glue_cache_close, 0);
    rb_define_method(cache, "closed?", glue_cache_is_closed, 0);
    rb_define_method(cache, "size", glue_cache_size, 0);
    rb_define_method(cache, "max_value", glue_cache_max_value, 0);
    rb_define_method(cache, "max_pinned", glue_cache_max_pinned, 0);

    rb_define_private_method(cache, "_attach", glue_cache_attach, 0);
    rb_define_private_method(cache, "_get", glue_cache_get, 2);
    rb_define_private_method(cache, "_get_multi", glue_cache_get_multi, 2);
    rb_define_private_method(cache, "_exist", glue_cache_exist, 2);
    rb_define_private_method(cache, "_resize", glue_cache_resize, 2);
    rb_define_method(cache, "pids", glue_cache_pids, 0);
    rb_define_private_method(cache, "_process", glue_cache_process, 0);
    rb_define_private_method(cache, "_process_lives?", glue_cache_process_lives, 1);
    rb_define_private_method(cache, "_ttl", glue_cache_ttl, 2);

    rb_define_private_method(cache, "_set", glue_cache_set, 5);
    rb_define_private_method(cache, "_set_multi", glue_cache_set_multi, 3);
    rb_define_private_method(cache, "_cas", glue_cache_cas, 6);
    rb_define_private_method(cache, "_increment", glue_cache_increment, 5);
    rb_define_private_method(cache, "_touch", glue_cache_touch, 3);
    rb_define_private_method(cache, "_delete", glue_cache_delete, 2);
    rb_define_private_method(cache, "_delete_multi", glue_cache_delete_multi, 2);

    rb_define_private_method(cache, "_get_entry", glue_cache_get_entry, 2);
    rb_define_private_method(cache, "_get_multi_entries", glue_cache_get_multi_entries, 2);
    rb_define_private_method(cache, "_get_record", glue_cache_get_record, 2);
    rb_define_private_method(cache, "_entry_of", glue_cache_entry_of, 1);
    rb_define_private_method(cache, "_set_record", glue_cache_set_record, 4);
    rb_define_private_method(cache, "_set_records", glue_cache_set_records, 2);
    rb_define_private_method(cache, "_cas_record", glue_cache_cas_record, 4);
    rb_define_private_method(cache, "_plain_record", glue_plain_record, 7);
    rb_define_private_method(cache, "_bytes_terms", glue_bytes_terms, 3);

    rb_define_private_method(cache, "_scan", glue_cache_scan, 3);
    rb_define_private_method(cache, "_clear", glue_cache_clear, 0);
    rb_define_private_method(cache, "_prune", glue_cache_prune, 1);
    rb_define_private_method(cache, "_stats", glue_cache_stats, 0);
    rb_define_private_method(cache, "_verify", glue_cache_verify, 0);
}
