/*
 * request.c — checks the arguments of a store and chooses the map to store into.
 */
#include "api/request.h"
#include "handle/enter.h"
#include "handle/unattached.h"
#include "item/expiry.h"
#include "item/extended.h"
#include "item/put.h"
#include "item/tagged.h"

bool lard_request_knows_tags(const larder_tag *tags, size_t count) {
    bool known = tags || !count;
    for (size_t i = 0; known && i < count; i++) {
        known = tags[i].text || !tags[i].bytes;
    }
    return known;
}

static __attribute__((noinline)) bool knows_extra(const larder_store *store) {
    const larder_extra *extra = store->extra;
    return (extra->reserved[0] | extra->reserved[1]) == 0 && extra->stale_ms >= 0 &&
           extra->stale_ms <= LARDER_MAX_TTL_MS && extra->tag_count <= LARDER_MAX_TAGS &&
           lard_request_knows_tags(extra->tags, extra->tag_count) &&
           (!extra->lease || (store->mode == LARDER_SET && !extra->lease->reserved));
}

larder_status lard_request_check_store(const larder *cache, const larder_store *store, const larder_call *call) {
    if (LARD_UNLIKELY(!store)) {
        return LARDER_INVALID;
    }
    larder_status status = lard_request_check_key(cache, store->key, store->key_bytes, call);
    bool known = store->reserved == 0 && store->mode <= LARDER_REPLACE && store->pin <= 1 &&
                 (LARD_LIKELY(!store->extra) || knows_extra(store));
    return status == LARDER_OK && (!known || (!store->value && store->value_bytes)) ? LARDER_INVALID : status;
}

larder_status lard_request_op(const larder_store *store, int64_t now_ms, lard_write_op *op) {
    static const lard_condition conditions[] = {LARD_IF_ANY, LARD_IF_ABSENT, LARD_IF_PRESENT};
    *op = (lard_write_op){
        .spec = {.value = store->value ? store->value : "",
                 .value_bytes = store->value_bytes,
                 .type = LARD_TYPE_PLAIN,
                 .flags = store->flags,
                 .pin = store->pin ? LARD_PINNED : 0},
        .condition = conditions[store->mode],
        .now_ms = now_ms,
    };
    return store->ttl_ms < 0 || lard_expiry_from_ttl(store->ttl_ms, now_ms, &op->spec.expiry_ms) ? LARDER_OK
                                                                                                 : LARDER_INVALID;
}

void lard_request_extend(larder *cache, lard_map *map, const larder_extra *extra, lard_write_op *op,
                         lard_extension *extension, const larder_call *call) {
    lard_extension_init(extension, LARD_TYPE_PLAIN, extra->compute_ms);
    op->spec.expiry_ms = (uint64_t)lard_extended_expiry(op->spec.expiry_ms, extra->stale_ms, extension);
    if (extra->tag_count) {
        op->origin = lard_tagged_extend(cache->core, map, extra, extension, call);
    }
    if (extension->fields || extension->compute_ms) {
        op->spec.type = LARD_TYPE_EXTENDED;
        op->spec.extension = extension;
    }
}

static __attribute__((noinline)) lard_map *enter_unattached(larder *cache, const larder_store *store,
                                                            lard_condition condition, int64_t now_ms,
                                                            larder_status *status) {
    const larder_lease *lease = store->extra ? store->extra->lease : NULL;
    const lard_removal removal = lease ? lard_pending_of_lease(store->key, store->key_bytes, lease->token)
                                       : lard_pending_of_key(store->key, store->key_bytes);
    if (lard_put_overwrites(condition) && !lard_unattached_remove(cache->core, &removal, false, now_ms, status)) {
        return lard_request_enter(cache, store, condition, now_ms, status); /* another thread has attached it */
    }
    *status = lard_enter_failure(cache->core);
    return NULL;
}

lard_map *lard_request_enter(larder *cache, const larder_store *store, lard_condition condition, int64_t now_ms,
                             larder_status *status) {
    lard_map *map = lard_enter_to_write(cache->core, now_ms);
    return LARD_LIKELY(map != NULL) ? map : enter_unattached(cache, store, condition, now_ms, status);
}
