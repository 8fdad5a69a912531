/*
 * lease.c — leases: who computes the value of a key, so that others need not (single flight).
 *
 * A lease is in an extended record under the key itself: a placeholder, or the old value. Each change here reads
 * the record without a lock, decides, and stores only over the slot that was read. So deletes, clears and other
 * writers, which know nothing of leases, end them. Eviction may move the record, which changes its slot: then the
 * change is repeated, for the token is still there. See docs/adr/0030-single-flight.md.
 *
 * Callers that wait sleep on a word of the hints, whose lowest bit says that somebody does, so that a store need
 * not ask the kernel for each key. The word is only advice: a process in another container has another one, so
 * they look at the lease again every 20 ms.
 *
 * The time of a lease is not the caller's: see lard_extension_leased_ms.
 */
#include "item/lease.h"
#include "base/clock.h"
#include "base/count.h"
#include "base/futex.h"
#include "base/key.h"
#include "base/reads.h"
#include "file/map.h"
#include "item/drop.h"
#include "item/extended.h"
#include "item/identity.h"
#include "item/lookup.h"
#include "item/put.h"
#include "proc/process.h"

#define ATTEMPTS 64
#define LOOK_MS 20 /* how often those who wait look */
#define AWAITED 1u /* of the word */

/* The word that is raised, by 2, when a lease of the key is stored or ended. */
static uint32_t *ended_word(lard_map *map, const lard_key *key) {
    lard_shard_hints *hints = lard_reads_hints(&map->dircache[lard_hash_shard(map, &key->hash)]);
    return &hints->leases_ended[key->hash.fingerprint % LARD_LEASE_WORDS];
}

static void wake(lard_map *map, const lard_key *key) {
    uint32_t *word = ended_word(map, key);
    uint32_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &before, (before & ~AWAITED) + 2, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
    }
    if (before & AWAITED) {
        lard_futex_wake_all(word);
    }
}

/* Has the record that was found a lease whose owner may still store? */
static bool is_leased(const lard_core *cache, const lard_map *map, const lard_hit *hit) {
    return hit->slot && lard_extension_leased_ms(&hit->extension) > 0 &&
           lard_process_alive(cache, map, lard_process_owner_of(hit->extension.token));
}

static bool has_lease(const lard_hit *hit, const uint64_t token[2]) {
    return hit->slot && lard_extension_has_token(&hit->extension, token);
}

static void describe(const lard_hit *hit, larder_lease *lease) {
    lease->token[0] = hit->extension.token[0];
    lease->token[1] = hit->extension.token[1];
    lease->left_ms = lard_extension_leased_ms(&hit->extension);
    lease->process = lard_process_owner_of(hit->extension.token);
}

/* What an old value becomes while its key is leased. A counter, which changes in place, is not kept; a pinned one
 * is not leased. */
static void put_beside(const lard_hit *hit, larder_status found, int64_t lease_ms, lard_extension *extension) {
    bool has_value = found == LARDER_OK && (hit->type == LARD_TYPE_PLAIN || hit->type == LARD_TYPE_HEAD);
    lard_extension_init(extension, 0, 0);
    if (has_value && LARD_WORD0_TYPE(hit->info.word0) == LARD_TYPE_EXTENDED) {
        *extension = hit->extension;
    }
    extension->kind = has_value ? hit->type : 0;
    extension->fields |= LARD_FIELD_LEASE;
    extension->lease_began_ms = lard_clock_boot_ms();
    extension->lease_ms = lease_ms;
}

/* NOT_STORED and *changed: try again. */
static larder_status take_once(lard_core *cache, lard_map *map, const lard_key *key, int64_t lease_ms,
                               larder_lease *lease, bool *changed, const larder_call *call) {
    larder_item item = {0};
    lard_hit hit;
    int64_t now_ms = lard_clock_of_call(call);
    larder_status found = lard_lookup(cache, map, key, NULL, NULL, 0, &item, &hit, now_ms);
    if (is_leased(cache, map, &hit)) {
        describe(&hit, lease);
        return LARDER_LEASED;
    }
    if (found == LARDER_OK && item.staleness == LARDER_FRESH) {
        uint64_t record = lard_identity_of_record(map, key, &hit);
        if (lease->over != record) {
            lease->over = record;
            return LARDER_NOT_STORED;
        }
    }
    lard_extension extension;
    bool stays = found == LARDER_OK && item.is_pinned && item.staleness == LARDER_FRESH;
    put_beside(&hit, found, lease_ms, &extension);
    lard_process_new_id(cache, &key->hash, extension.token);
    larder_status status = stays && !extension.kind
                               ? LARDER_VALUE_TOO_LARGE
                               : lard_extended_rewrite(cache, map, key, &hit, &extension, &item, now_ms, call);
    if (status == LARDER_VALUE_TOO_LARGE && !stays) { /* value and lease together: the value goes */
        extension.kind = 0;
        extension.fields = LARD_FIELD_LEASE;
        extension.tag_count = 0;
        status = lard_extended_rewrite(cache, map, key, &hit, &extension, &item, now_ms, call);
    }
    if (status == LARDER_OK) {
        hit.extension = extension;
        describe(&hit, lease);
        lard_count(cache, LARD_STAT_leases, 1);
    }
    *changed = status == LARDER_NOT_STORED;
    return status;
}

larder_status lard_lease_take(lard_core *cache, lard_map *map, const lard_key *key, int64_t lease_ms,
                              larder_lease *lease, const larder_call *call) {
    larder_status status = LARDER_BUSY;
    bool changed = true;
    for (int i = 0; changed && i < ATTEMPTS; i++) {
        changed = false;
        status = take_once(cache, map, key, lease_ms, lease, &changed, call);
    }
    return changed ? LARDER_BUSY : status;
}

larder_status lard_lease_store(lard_core *cache, lard_map *map, const lard_write_op *op, const uint64_t token[2],
                               const larder_call *call) {
    larder_status status = LARDER_NOT_STORED;
    for (int i = 0; i < ATTEMPTS && status == LARDER_NOT_STORED; i++) {
        lard_hit hit;
        lard_lookup(cache, map, op->key, NULL, NULL, 0, NULL, &hit, op->now_ms);
        if (!has_lease(&hit, token)) {
            lard_count(cache, LARD_STAT_lost_leases, 1);
            return LARDER_NOT_STORED;
        }
        lard_write_op once = *op;
        lard_extension extension;
        if (op->spec.extension) {
            extension = *op->spec.extension;
            once.spec.extension = &extension;
        }
        once.condition = LARD_IF_SLOT;
        once.expected_slot = hit.slot_value;
        status = lard_put(cache, map, &once, call);
        if (status == LARDER_OK && hit.type == 0) { /* the reads of a placeholder are not the value's */
            lard_reads_set(hit.reads, hit.slot, 0);
        }
    }
    if (status == LARDER_OK) {
        wake(map, op->key);
    } else if (status != LARDER_NOT_STORED && !lard_put_is_tried(status, call)) {
        lard_lease_end(cache, map, op->key, token, false, 0, call);
    }
    return status;
}

/* NOT_STORED and *changed: try again. */
static larder_status end_once(lard_core *cache, lard_map *map, const lard_key *key, const uint64_t token[2],
                              bool keep, int64_t fresh_until_ms, bool *changed, const larder_call *call) {
    larder_item item = {0};
    lard_hit hit;
    int64_t now_ms = lard_clock_of_call(call);
    larder_status found = lard_lookup(cache, map, key, NULL, NULL, 0, &item, &hit, now_ms);
    if (!has_lease(&hit, token)) {
        return LARDER_NOT_STORED;
    }
    larder_status status;
    if (keep && found == LARDER_OK) {
        lard_extension extension = hit.extension;
        extension.fields &= ~LARD_FIELD_LEASE;
        if ((extension.fields & LARD_FIELD_FRESH) && extension.fresh_until_ms < fresh_until_ms) {
            extension.fresh_until_ms = fresh_until_ms;
        }
        status = lard_extended_rewrite(cache, map, key, &hit, &extension, &item, now_ms, call);
    } else {
        status = lard_map_outcome(map, lard_drop_record(map, key, hit.slot_value) ? LARDER_OK : LARDER_NOT_STORED);
    }
    *changed = status == LARDER_NOT_STORED;
    return status;
}

static larder_status end(lard_core *cache, lard_map *map, const lard_key *key, const uint64_t token[2], bool keep,
                         int64_t fresh_until_ms, const larder_call *call) {
    larder_status status = LARDER_BUSY;
    bool changed = true;
    for (int i = 0; changed && i < ATTEMPTS; i++) {
        changed = false;
        status = end_once(cache, map, key, token, keep, fresh_until_ms, &changed, call);
    }
    return changed ? LARDER_BUSY : status;
}

larder_status lard_lease_end(lard_core *cache, lard_map *map, const lard_key *key, const uint64_t token[2],
                             bool keep, int64_t fresh_until_ms, const larder_call *call) {
    larder_status status = end(cache, map, key, token, keep, fresh_until_ms, call);
    if (lard_put_is_tried(status, call)) {
        return status;
    }
    if (keep && status != LARDER_OK && status != LARDER_NOT_STORED) { /* dropping the old value needs no lock */
        end(cache, map, key, token, false, 0, call);
    }
    wake(map, key);
    return status;
}

larder_status lard_lease_wait(lard_core *cache, lard_map *map, const lard_key *key, const uint64_t token[2],
                              uint32_t wait_ms, const larder_call *call) {
    uint32_t *word = ended_word(map, key);
    uint32_t before = __atomic_or_fetch(word, AWAITED, __ATOMIC_SEQ_CST);
    int64_t now_ms = lard_clock_of_call(call);
    lard_hit hit;
    lard_lookup(cache, map, key, NULL, NULL, 0, NULL, &hit, now_ms);
    if (!has_lease(&hit, token) || !is_leased(cache, map, &hit)) {
        return LARDER_OK;
    }
    lard_futex_wait(word, before, wait_ms < LOOK_MS ? wait_ms : LOOK_MS);
    return LARDER_LEASED;
}
