/*
 * request.h — the arguments of the operations of larder.h.
 */
#ifndef LARD_REQUEST_H
#define LARD_REQUEST_H

#include "item/write.h"

/* What is reserved is zero, or of a later version of larder.h, whose meaning is not known here. */
static inline bool lard_request_knows_call(const larder_call *call) {
    return !call || ((call->flags & ~LARDER_CALL_TRY) | call->reserved) == 0;
}
static inline larder_status lard_request_check_key(const larder *cache, const void *key, size_t key_bytes,
                                                   const larder_call *call) {
    if (LARD_UNLIKELY(!cache || (!key && key_bytes) || !lard_request_knows_call(call))) {
        return LARDER_INVALID;
    }
    return LARD_LIKELY(key_bytes <= LARDER_MAX_KEY) ? LARDER_OK : LARDER_KEY_TOO_LONG;
}
/* OK, or what is wrong with a store. */
larder_status lard_request_check_store(const larder *cache, const larder_store *store, const larder_call *call);
/* The record and condition of a store that was checked, without its key; INVALID where its TTL is out of range. */
larder_status lard_request_op(const larder_store *store, int64_t now_ms, lard_write_op *op);
/* The map to store into. Where there is none: NULL, *status says why, and the key's old value is dropped, or noted
 * to be dropped, where the condition overwrites. */
lard_map *lard_request_enter(larder *cache, const larder_store *store, lard_condition condition, int64_t now_ms,
                             larder_status *status);

#endif
