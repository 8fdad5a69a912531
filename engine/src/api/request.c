/*
 * request.c — the beginning of each store: its arguments are checked, and the map is chosen.
 */
#include "api/request.h"
#include "base/hash.h"
#include "file/map.h"
#include "file/use.h"
#include "handle/enter.h"
#include "handle/pending.h"
#include "item/drop.h"
#include "item/expiry.h"
#include "item/put.h"

static bool is_known(const larder_store *store) {
    return (store->reserved[0] | store->reserved[1]) == 0 && store->mode <= LARDER_REPLACE && store->pin <= 1;
}

larder_status lard_request_begin_store(larder *cache, const larder_store *request, lard_condition condition,
                                       const larder_call *call, lard_record_spec *spec, lard_map **map) {
    larder_status status =
        request ? lard_request_check_key(cache, request->key, request->key_bytes, call) : LARDER_INVALID;
    if (status != LARDER_OK || (!request->value && request->value_bytes) || !is_known(request)) {
        return status != LARDER_OK ? status : LARDER_INVALID;
    }
    *spec = (lard_record_spec){
        .key = request->key,
        .key_bytes = request->key_bytes,
        .value = request->value ? request->value : "",
        .value_bytes = request->value_bytes,
        .type = LARD_TYPE_PLAIN,
        .flags = request->flags,
        .pin = request->pin ? LARD_PINNED : 0,
    };
    if (request->ttl_ms >= 0 && !lard_expiry_from_ttl(request->ttl_ms, lard_now(call), &spec->expiry_ms)) {
        return LARDER_INVALID;
    }
    *map = lard_enter_to_write(cache, call ? call->now_ms : 0);
    if (*map) {
        return LARDER_OK;
    }
    lard_map *reachable = lard_enter_unattached(cache);
    if (!reachable && lard_put_overwrites(condition) &&
        !lard_pending_note(cache, request->key, request->key_bytes)) {
        return lard_request_begin_store(cache, request, condition, call, spec, map); /* attached meanwhile */
    }
    if (reachable && lard_put_overwrites(condition)) {
        lard_hash hash = lard_hash_key(reachable, request->key, request->key_bytes, false);
        lard_drop(reachable, &hash, request->key, request->key_bytes, lard_now(call));
        lard_map_outcome(reachable, LARDER_OK);
        lard_use_mark_dirty(reachable);
    }
    return lard_enter_failure(cache);
}
