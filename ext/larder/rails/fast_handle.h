/*
 * fast_handle.h — what a call of the fast path needs of its store, found by one look.
 */
#ifndef LARDER_FAST_HANDLE_H
#define LARDER_FAST_HANDLE_H

#include "cache/handle.h"

/* Held by the store in @fast. */
typedef struct fast_handle {
    VALUE cache;   /* its Larder::Cache */
    VALUE options; /* its @options */
    size_t max_key_bytes;
    bool plain_values; /* may a value be stored without asking a coder? */
    bool plain_trees;  /* also Arrays, Hashes and objects? */
    bool has_remote;   /* is a second level asked for what is missing, and told of writes? */
    bool needs_trust;  /* is that level asked for everything while its copies are not trusted? */
    bool listens;      /* and has this process begun to see to it that they are not trusted wrongly? */
} fast_handle;

/* For one call: the store with a copy of its handle, which may be replaced meanwhile. */
typedef struct fast_store {
    VALUE self;
    fast_handle handle;
} fast_store;

#pragma GCC visibility push(hidden)
extern const rb_data_type_t fast_handle_type;
extern VALUE fast_handle_last_store, fast_handle_last; /* the store that was asked last, and its handle */
extern ID fast_handle_id_options, fast_handle_id_fast;
#pragma GCC visibility pop

void fast_handle_init(VALUE module);

/* A new handle for a store whose @options were replaced; nil: Rails has to look them up. */
VALUE fast_handle_renew(VALUE store, VALUE object, VALUE options);

/* The handle of a store, or NULL: Rails has to look its options up. The last one is remembered, as reading a
 * second instance variable takes as long as all other checks. */
static inline const fast_handle *fast_handle_of(VALUE store) {
    VALUE options = rb_ivar_get(store, fast_handle_id_options);
    VALUE object = fast_handle_last;

    if (RB_UNLIKELY(store != fast_handle_last_store)) {
        object = rb_ivar_get(store, fast_handle_id_fast);
    }
    if (!glue_is(object, &fast_handle_type)) {
        return NULL;
    }
    if (RB_UNLIKELY(((const fast_handle *)RTYPEDDATA_DATA(object))->options != options)) {
        object = fast_handle_renew(store, object, options);
        if (NIL_P(object)) {
            return NULL;
        }
    }
    fast_handle_last_store = store;
    fast_handle_last = object;
    return (const fast_handle *)RTYPEDDATA_DATA(object);
}

/*
 * The engine's handle, or NULL where the cache was closed. Valid until Ruby runs again, when another thread may
 * close it: so it is asked for just before each use.
 */
static inline larder *fast_handle_engine(const fast_store *store) {
    return glue_handle_engine_or_null(store->handle.cache);
}

/* May the file answer, rather than the second level? */
static inline bool fast_handle_answers(const fast_store *store) {
    return !store->handle.needs_trust ||
           (store->handle.listens && larder_trusted(fast_handle_engine(store)) == LARDER_OK);
}

#endif
