/*
 * lease.h — leases: who computes the value of a key. larder.h has the contract.
 */
#ifndef LARD_LEASE_H
#define LARD_LEASE_H

#include "item/write.h"

larder_status lard_lease_take(lard_core *cache, lard_map *map, const lard_key *key, int64_t lease_ms,
                              larder_lease *lease, const larder_call *call);
/* Stores op->spec where the key has the lease. A refusal drops the lease and the old value. Wakes those who wait.
 */
larder_status lard_lease_store(lard_core *cache, lard_map *map, const lard_write_op *op, const uint64_t token[2],
                               const larder_call *call);
/* With `keep` the old value stays, and is fresh until then at least; a refusal drops it. Wakes those who wait. */
larder_status lard_lease_end(lard_core *cache, lard_map *map, const lard_key *key, const uint64_t token[2],
                             bool keep, int64_t fresh_until_ms, const larder_call *call);
larder_status lard_lease_wait(lard_core *cache, lard_map *map, const lard_key *key, const uint64_t token[2],
                              uint32_t wait_ms, const larder_call *call);

#endif
