/*
 * lease.h — leases of keys (single flight), see larder_lease_take() in larder.h.
 *
 * To Ruby a lease is a binary String with the bytes of its struct.
 */
#ifndef LARDER_LEASE_H
#define LARDER_LEASE_H

#include <ruby.h>

#include "larder.h"

/* [status, lease]: status is LARDER_OK, LEASED or NOT_STORED as an Integer. nil: no lease can be stored. `over` is
 * nil or the lease that a NOT_STORED answered. Waits for a lock without the GVL, as does glue_lease_end. */
VALUE glue_lease_take(VALUE cache, VALUE key, VALUE lease_ms, VALUE over, VALUE now);

/* A Hash of leases: of each key that no other caller has leased, whether or not it has a value. Waits for no lock:
 * a key in a shard whose lock is taken gets none. */
VALUE glue_leases_take(VALUE cache, VALUE keys, VALUE lease_ms, VALUE now);

/* Has the lease ended? Waits for that up to `wait_ms`, at most 20 ms, without the GVL. */
VALUE glue_lease_wait(VALUE cache, VALUE key, VALUE lease, VALUE wait_ms, VALUE now);

/* True: it was this lease that ended. An old value is fresh for `fresh_ms` from now. */
VALUE glue_lease_end(VALUE cache, VALUE key, VALUE lease, VALUE fresh_ms, VALUE now);

/* Copies the lease out of its String. Raises TypeError. */
larder_lease glue_lease_of(VALUE lease);

#endif
