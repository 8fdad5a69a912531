/*
 * fast_path.h — Larder::Store::FastPath: what the Rails store's fetch, read, write,
 * their multi forms, delete and exist? do in C where a call is common and simple.
 *
 * Any other call goes to the next method of the same name, in lib/larder/store/ or in
 * ActiveSupport::Cache::Store, by rb_call_super(), before anything was changed. That
 * ordinary path handles every case, reports every failure, and decides where
 * the two could differ. So nothing here raises, except what the caller's block raises.
 *
 * Suggested reading order: fast_guard.c (may a call take the fast path?),
 * fast_key.c and fast_options.c (which calls are simple), fast_entry.c (one entry),
 * fast_path.c, fast_event.c, fast_multi.c.
 */
#ifndef LARDER_FAST_PATH_H
#define LARDER_FAST_PATH_H

#include <ruby.h>

void fast_path_init(VALUE store_module);

#endif
