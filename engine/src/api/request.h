/*
 * request.h — checks the arguments of the operations of larder.h.
 */
#ifndef LARD_REQUEST_H
#define LARD_REQUEST_H

#include "item/write.h"

/* False if a reserved field is not zero: it may come from a later version of larder.h, with a meaning unknown
 * here. */
static inline bool lard_request_knows_call(const larder_call *call) {
    return !call || ((call->flags & ~(LARDER_CALL_TRY | LARDER_CALL_STALE)) | call->reserved) == 0;
}
static inline larder_status lard_request_check_key(const larder *cache, const void *key, size_t key_bytes,
                                                   const larder_call *call) {
    if (LARD_UNLIKELY(!cache || (!key && key_bytes) || !lard_request_knows_call(call))) {
        return LARDER_INVALID;
    }
    return LARD_LIKELY(key_bytes <= LARDER_MAX_KEY) ? LARDER_OK : LARDER_KEY_TOO_LONG;
}
/* Has each a text, or no bytes? */
bool lard_request_knows_tags(const larder_tag *tags, size_t count);
/* OK, or the error in the store's arguments. */
larder_status lard_request_check_store(const larder *cache, const larder_store *store, const larder_call *call);
/* Fills *op with the record spec and condition of a checked store, without its key. INVALID: its TTL is out of
 * range.
 */
larder_status lard_request_op(const larder_store *store, int64_t now_ms, lard_write_op *op);
/* Gives the op of a store what store->extra asks for; *extension lives as long as the op. */
void lard_request_extend(larder *cache, lard_map *map, const larder_extra *extra, lard_write_op *op,
                         lard_extension *extension, const larder_call *call);
/* The map to store into. If there is none: NULL, and *status says why. Then, if the condition overwrites, the
 * key's old value is dropped, under a lease if the key still has it, or noted as a pending delete. */
lard_map *lard_request_enter(larder *cache, const larder_store *store, lard_condition condition, int64_t now_ms,
                             larder_status *status);

#endif
