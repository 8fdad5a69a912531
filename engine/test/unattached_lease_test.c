/*
 * unattached_lease_test.c — checks stores under a lease, and leases that are given up, by a child that has a map
 * of the file but no process slot.
 */
#include "unattached.h"

/* The parent has taken all of these leases. */
enum {
    PLACEHOLDER,
    OVER_VALUE,
    TAG_DELETED,
    GIVEN_UP,
    EXPIRED,
    OVERWRITTEN,
    TAKEN_AGAIN,
    NOTED,
    NOTED_LATE,
    LEASES
};
static const char *const leased[LEASES] = {"placeholder", "over value",  "tag deleted", "given up",  "expired",
                                           "overwritten", "taken again", "noted",       "noted late"};
static larder_lease leases[LEASES];

static larder_status take(int which) {
    larder_lease *lease = &leases[which];
    *lease = (larder_lease){0};
    larder_status status = LARDER_NOT_STORED;
    for (int i = 0; i < 2 && status == LARDER_NOT_STORED; i++) {
        status = larder_lease_take(shared_cache, leased[which], strlen(leased[which]), 600000, lease, NULL);
    }
    return status;
}

static larder_status put_leased(int which, int64_t ttl_ms) {
    larder_extra extra = {.lease = &leases[which]};
    larder_store store = {.key = leased[which],
                          .key_bytes = strlen(leased[which]),
                          .value = "computed",
                          .value_bytes = 8,
                          .ttl_ms = ttl_ms,
                          .extra = &extra};
    return larder_set(shared_cache, &store, NULL);
}

static larder_status give_up(int which) {
    return larder_lease_end(shared_cache, leased[which], strlen(leased[which]), &leases[which], 1000, NULL);
}

static bool has_lease(int which) {
    return larder_lease_wait(shared_cache, leased[which], strlen(leased[which]), &leases[which], 0, NULL) ==
           LARDER_LEASED;
}

static uint64_t tag_misses(void) {
    larder_stats stats = {0};
    larder_get_stats(shared_cache, &stats);
    return stats.tag_misses;
}

static void store_under_leases(void) {
    for (int i = PLACEHOLDER; i <= TAKEN_AGAIN; i++) {
        CHILD_CHECK(is_refusal(i == GIVEN_UP ? give_up(i) : put_leased(i, i == EXPIRED ? -1 : 0)));
    }
    CHILD_CHECK(larder_pending(shared_cache) == 0);
    advance(&note->stage); /* 1: the parent looks, and holds the opener's lock */
    CHILD_CHECK(await(&note->stage, 2));
    CHILD_CHECK(put_leased(NOTED, 0) == LARDER_LOCKED && put_leased(NOTED, 0) == LARDER_LOCKED &&
                give_up(NOTED_LATE) == LARDER_LOCKED && larder_pending(shared_cache) == 2);
    advance(&note->stage); /* 3: the parent stores a newer value, and releases it */
    CHILD_CHECK(await(&note->stage, 4));
    CHILD_CHECK(larder_attach(shared_cache, 1000, NULL) == LARDER_OK && larder_pending(shared_cache) == 0);
    larder_close(shared_cache);
}

/* The stores are refused, so the old values must not stay, nor may others wait for it. */
static void leases_without_a_slot(void) {
    begin_explicitly(1 << 20);
    for (int i = 0; i < LEASES; i++) {
        CHECK(i == PLACEHOLDER || put(leased[i], "old", 0, i == TAG_DELETED ? tags : NULL) == LARDER_OK);
        CHECK(take(i) == LARDER_OK && has_lease(i), "%s", leased[i]);
    }
    larder_lease first = leases[TAKEN_AGAIN], second;
    CHECK(put(leased[OVERWRITTEN], "newer", 0, NULL) == LARDER_OK && give_up(TAKEN_AGAIN) == LARDER_OK);
    CHECK(larder_delete_tagged(shared_cache, tags, 1, NULL) == LARDER_OK && take(TAKEN_AGAIN) == LARDER_OK);
    second = leases[TAKEN_AGAIN];
    leases[TAKEN_AGAIN] = first;
    uint64_t counted = tag_misses();
    pid_t child = fork_child();
    if (child == 0) {
        store_under_leases();
        _exit(0);
    }
    leases[TAKEN_AGAIN] = second;
    CHECK(await(&note->stage, 1) && tag_misses() == counted, "the child counts nothing in the parent's row");
    for (int i = PLACEHOLDER; i <= EXPIRED; i++) {
        CHECK(!has_lease(i) && is(shared_cache, leased[i], NULL), "%s", leased[i]);
    }
    CHECK(is(shared_cache, leased[OVERWRITTEN], "newer") && has_lease(TAKEN_AGAIN));
    CHECK(is(shared_cache, leased[TAKEN_AGAIN], "old") && has_lease(NOTED) && hold_the_opener());
    advance(&note->stage);
    CHECK(await(&note->stage, 3) && has_lease(NOTED));
    CHECK(put(leased[NOTED_LATE], "newer", 0, NULL) == LARDER_OK);
    release_the_opener();
    advance(&note->stage);
    CHECK(exited_well(child) && !has_lease(NOTED) && is(shared_cache, leased[NOTED], NULL));
    CHECK(is(shared_cache, leased[NOTED_LATE], "newer") && sound(shared_cache));
    end();
}

static const test_case all_tests[] = {
    TEST(leases_without_a_slot,
         "a refusal without a slot ends the lease and the old value, and removes nothing newer"),
};
RUN("unattached_lease", all_tests)
