/*
 * request.h — the arguments of the operations of larder.h.
 */
#ifndef LARD_REQUEST_H
#define LARD_REQUEST_H

#include "item/write.h"
#include "segment/record.h"

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
/* Checks a store and makes its record's spec; *map is the map to store into. */
larder_status lard_request_begin_store(larder *cache, const larder_store *request, lard_condition condition,
                                       const larder_call *call, lard_record_spec *spec, lard_map **map);

#endif
