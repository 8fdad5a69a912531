/*
 * clock_test.c — checks leases, trust and periodic work while the wall clock is set, the machine is suspended or
 * boots again, a checkpoint is restored, no clock can be read, and while a caller travels in time.
 * clock_gettime is wrapped: each clock is the system's, and some time on.
 */
#include "children.h"

enum { SIZE = 1 << 20, LEASE_MS = 5000, SECOND = 1000, HOUR = 3600 * SECOND, DAY = 24 * HOUR };

static int64_t wall_ms, monotonic_ms, boot_ms; /* how far each clock is on */
static bool is_forbidden;                      /* to read a clock, as by a sandbox */
static larder *cache;

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t) {
    if (is_forbidden) {
        errno = EPERM;
        return -1;
    }
    int code = __real_clock_gettime(id, t);
    bool is_wall = id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
    int64_t on_ms = is_wall ? wall_ms : id == CLOCK_BOOTTIME ? boot_ms : monotonic_ms;
    int64_t ns = t->tv_nsec + on_ms % SECOND * 1000000;
    t->tv_sec += on_ms / SECOND + (ns < 0 ? -1 : ns / 1000000000);
    t->tv_nsec = ns < 0 ? ns + 1000000000 : ns % 1000000000;
    return code;
}

static void pass(int64_t ms) {
    wall_ms += ms;
    monotonic_ms += ms;
    boot_ms += ms;
}

static void suspend(int64_t ms) {
    wall_ms += ms;
    boot_ms += ms;
}

static void set_wall_clock(int64_t by_ms) { wall_ms += by_ms; }

static void begin(void) {
    wall_ms = monotonic_ms = boot_ms = HOUR;
    cache = open_cache(SIZE);
    larder_clear(cache);
}

static larder_status take(larder_lease *lease, const larder_call *call) {
    *lease = (larder_lease){{0, 0}, 0, 0, 0, 0};
    return larder_lease_take(cache, "k", 1, LEASE_MS, lease, call);
}

static larder_status put_leased(const char *value, const larder_lease *lease) {
    larder_extra extra = {.lease = lease};
    larder_store store = {
        .key = "k", .key_bytes = 1, .value = value, .value_bytes = strlen(value), .extra = &extra};
    return larder_set(cache, &store, NULL);
}

static bool is_leased(const larder_lease *lease) {
    larder_lease other;
    return larder_lease_wait(cache, "k", 1, lease, 0, NULL) == LARDER_LEASED &&
           take(&other, NULL) == LARDER_LEASED && other.left_ms > 0 && other.left_ms <= LEASE_MS;
}

static const int64_t steps_ms[] = {HOUR, -HOUR, LEASE_MS, -LEASE_MS, 10 * SECOND, -10ll * 365 * DAY};
#define STEPS (sizeof steps_ms / sizeof *steps_ms)

/* Neither ends a step of the wall clock a lease, nor does it make it last longer. */
static void a_lease_does_not_follow_the_wall_clock(void) {
    for (size_t i = 0; i < STEPS; i++) {
        larder_lease lease, next;
        begin();
        CHECK(take(&lease, NULL) == LARDER_OK);
        set_wall_clock(steps_ms[i]);
        CHECK(is_leased(&lease), "step %d", (int)i);
        pass(LEASE_MS - SECOND);
        CHECK(is_leased(&lease), "step %d", (int)i);
        pass(SECOND);
        CHECK(larder_lease_wait(cache, "k", 1, &lease, 0, NULL) == LARDER_OK, "step %d", (int)i);
        CHECK(take(&next, NULL) == LARDER_OK && put_leased("late", &lease) == LARDER_NOT_STORED);
        set_wall_clock(-steps_ms[i]);
        CHECK(is_leased(&next) && put_leased("computed", &next) == LARDER_OK && is(cache, "k", "computed"));
        larder_close(cache);
    }
}

/* A caller that travels in time asks for another time of expiry, not for another time of the lease. */
static void a_lease_does_not_follow_the_time_of_a_call(void) {
    static const int64_t times_ms[] = {1,  1000000000000, 3000000000000, LARDER_MAX_EXPIRY_MS, INT64_MAX,
                                       -1, INT64_MIN};
    for (size_t i = 0; i < sizeof times_ms / sizeof *times_ms; i++) {
        const larder_call there = {.now_ms = times_ms[i]};
        larder_lease lease, other;
        begin();
        CHECK(take(&lease, &there) == LARDER_OK && is_leased(&lease), "%lld", (long long)times_ms[i]);
        CHECK(take(&other, &there) == LARDER_LEASED && other.left_ms > 0 && other.left_ms <= LEASE_MS);
        CHECK(larder_lease_wait(cache, "k", 1, &lease, 0, &there) == LARDER_LEASED);
        CHECK(put_leased("computed", &lease) == LARDER_OK && is(cache, "k", "computed"));
        CHECK(larder_delete(cache, "k", 1, NULL) == LARDER_OK && take(&lease, NULL) == LARDER_OK);
        CHECK(take(&other, &there) == LARDER_LEASED, "%lld", (long long)times_ms[i]);
        larder_close(cache);
    }
}

static void a_lease_counts_the_time_of_a_suspended_machine(void) {
    larder_lease lease, next;
    begin();
    CHECK(take(&lease, NULL) == LARDER_OK);
    suspend(LEASE_MS - SECOND);
    CHECK(is_leased(&lease));
    suspend(SECOND);
    CHECK(larder_lease_wait(cache, "k", 1, &lease, 0, NULL) == LARDER_OK && take(&next, NULL) == LARDER_OK);
    CHECK(put_leased("late", &lease) == LARDER_NOT_STORED && put_leased("computed", &next) == LARDER_OK);
    larder_close(cache);
}

/* The boot clock begins again at a boot, and has another zero in another time namespace. */
static void a_lease_of_another_boot_lasts_no_longer(void) {
    static const int64_t others_ms[] = {-HOUR, -LEASE_MS, -1, 1, LEASE_MS - 1, LEASE_MS, HOUR};
    for (size_t i = 0; i < sizeof others_ms / sizeof *others_ms; i++) {
        larder_lease lease, next;
        begin();
        CHECK(take(&lease, NULL) == LARDER_OK);
        boot_ms += others_ms[i];
        pass(LEASE_MS);
        CHECK(larder_lease_wait(cache, "k", 1, &lease, 0, NULL) == LARDER_OK || others_ms[i] < 0);
        pass(LEASE_MS);
        CHECK(take(&next, NULL) == LARDER_OK, "%lld ms", (long long)others_ms[i]);
        CHECK(put_leased("computed", &next) == LARDER_OK && is(cache, "k", "computed"));
        larder_close(cache);
    }
}

/* A stale value says whether it is being computed again. */
static void a_stale_value_is_leased_as_long(void) {
    larder_extra extra = {.stale_ms = DAY};
    larder_store store = {
        .key = "k", .key_bytes = 1, .value = "old", .value_bytes = 3, .ttl_ms = SECOND, .extra = &extra};
    const larder_call stale = {.flags = LARDER_CALL_STALE};
    larder_lease lease;
    larder_item item;
    char out[8];
    begin();
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
    pass(2 * SECOND);
    CHECK(take(&lease, NULL) == LARDER_OK);
    set_wall_clock(HOUR);
    CHECK(larder_get(cache, "k", 1, out, sizeof out, &item, &stale) == LARDER_OK &&
          item.staleness == LARDER_STALE_LEASED);
    pass(LEASE_MS);
    CHECK(larder_get(cache, "k", 1, out, sizeof out, &item, &stale) == LARDER_OK &&
          item.staleness == LARDER_STALE);
    larder_close(cache);
}

/* The wall clock decides what makes room. A placeholder whose owner computes stays. */
static void a_placeholder_outlives_a_step_of_the_wall_clock(void) {
    larder_lease lease;
    uint64_t dropped;
    begin();
    CHECK(take(&lease, NULL) == LARDER_OK);
    set_wall_clock(HOUR);
    CHECK(larder_prune(cache, &dropped, NULL) == LARDER_OK && dropped == 0 && is_leased(&lease));
    CHECK(put_leased("computed", &lease) == LARDER_OK && is(cache, "k", "computed"));
    CHECK(larder_delete(cache, "k", 1, NULL) == LARDER_OK && take(&lease, NULL) == LARDER_OK);
    pass(2 * DAY);
    CHECK(larder_prune(cache, &dropped, NULL) == LARDER_OK && dropped == 1, "one that was left there goes");
    larder_close(cache);
}

enum { TRUST_MS = 10 * SECOND, OVER_MS = TRUST_MS + LARD_COARSE_LAG_MS };

static bool is_trusted(void) { return larder_trusted(cache) == LARDER_OK; }

static bool trust(void) { return larder_trust(cache, TRUST_MS, NULL) == LARDER_OK && is_trusted(); }

static void trust_ends_where_a_clock_was_set(void) {
    static const int64_t far_ms[] = {HOUR, -HOUR, OVER_MS, 10 * DAY, -10 * DAY};
    for (size_t i = 0; i < sizeof far_ms / sizeof *far_ms; i++) {
        begin();
        CHECK(trust());
        set_wall_clock(far_ms[i]);
        CHECK(!is_trusted(), "step %d", (int)i);
        CHECK(trust(), "a listener renews it");
        pass(OVER_MS);
        CHECK(!is_trusted());
        larder_close(cache);
    }
}

/* A short step, such as a leap second, does not make it last longer. */
static void a_short_step_makes_trust_no_longer(void) {
    for (int64_t step_ms = -3 * SECOND; step_ms <= 3 * SECOND; step_ms += SECOND) {
        begin();
        CHECK(trust());
        set_wall_clock(step_ms);
        CHECK(is_trusted());
        pass(OVER_MS);
        CHECK(!is_trusted(), "%lld ms", (long long)step_ms);
        larder_close(cache);
    }
}

static void trust_counts_the_time_of_a_suspended_machine(void) {
    begin();
    CHECK(trust());
    suspend(OVER_MS);
    CHECK(!is_trusted() && trust());
    suspend(TRUST_MS / 2);
    CHECK(is_trusted());
    suspend(OVER_MS / 2);
    CHECK(!is_trusted());
    larder_close(cache);
}

static void trust_ends_at_a_boot(void) {
    begin();
    CHECK(trust());
    pass(SECOND);
    monotonic_ms = boot_ms = 0;
    wall_ms += HOUR; /* the machine was off */
    CHECK(!is_trusted());
    wall_ms -= HOUR;
    CHECK(!is_trusted(), "also where the wall clock stood still");
    larder_close(cache);
}

/* The times of periodic work survive a clock that goes back or cannot be read. */

static void restore_a_checkpoint_in_a_younger_boot(void) { monotonic_ms -= HOUR; }
static void forbid_clocks(void) { is_forbidden = true; }

static void (*const mishaps[])(void) = {restore_a_checkpoint_in_a_younger_boot, forbid_clocks};
#define MISHAPS (sizeof mishaps / sizeof *mishaps)

static void end(void) {
    is_forbidden = false;
    larder_close(cache);
}

static void a_moment_is_due_where_the_clock_went_back(void) {
    static const struct {
        int64_t now_ms, moment_ms;
        bool is_due;
    } rows[] = {{DAY, DAY - 1, true},
                {DAY, DAY, true},
                {DAY, DAY + 1, false},
                {DAY, DAY + SECOND, false},
                {DAY, 0, true},
                {1, DAY, true},
                {DAY, DAY + SECOND + 1, true},
                {0, 1, false},
                {-DAY, SECOND, true},
                {-DAY, -DAY, true},
                {-DAY, 1 - DAY, false},
                {INT64_MIN, INT64_MAX, true},
                {INT64_MAX, INT64_MIN, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(lard_clock_is_due(rows[i].now_ms, rows[i].moment_ms, SECOND) == rows[i].is_due, "row %d", (int)i);
    }
}

static void a_removed_file_is_noticed(void) {
    for (size_t i = 0; i < MISHAPS; i++) {
        begin();
        CHECK(set(cache, "k", "of the removed file") == LARDER_OK && unlink(test_path("t.larder")) == 0);
        mishaps[i]();
        CHECK(larder_delete(cache, "k", 1, NULL) == LARDER_MISS && is(cache, "k", NULL), "mishap %d", (int)i);
        CHECK(set(cache, "k", "new") == LARDER_OK && lard_map_is_at(cache->core->map, test_path("t.larder")));
        end();
    }
}

static void a_cache_that_could_not_attach_tries_again(void) {
    for (size_t i = 0; i < MISHAPS; i++) {
        begin();
        CHECK(unlink(test_path("t.larder")) == 0 && mkdir(test_path("t.larder"), 0700) == 0);
        pass(SECOND);
        larder_status refused = set(cache, "k", "refused");
        CHECK(refused != LARDER_OK && rmdir(test_path("t.larder")) == 0, "%s", larder_status_name(refused));
        mishaps[i]();
        CHECK(set(cache, "k", "stored") == LARDER_OK && is(cache, "k", "stored"), "mishap %d", (int)i);
        end();
    }
}

static void statistics_are_added(void) {
    for (size_t i = 0; i < MISHAPS; i++) {
        larder_options options = {.size_bytes = SIZE, .statistics = true};
        wall_ms = monotonic_ms = boot_ms = HOUR;
        CHECK(larder_open(test_path("t.larder"), &options, &cache, NULL) == LARDER_OK);
        CHECK(set(cache, "k", "v") == LARDER_OK && larder_keep_usage(cache, 0, NULL) == LARDER_OK);
        CHECK(is(cache, "k", "v") && !larder_usage_due(cache));
        mishaps[i]();
        CHECK(larder_usage_due(cache), "mishap %d", (int)i);
        end();
    }
}

/* How many times between a miss and a store were counted, where the clock could be read at one, both or neither.
 */
static uint64_t times_counted(bool at_miss, bool at_store) {
    static larder_usage usage;
    uint64_t sum = 0;
    is_forbidden = !at_miss;
    bool is_missed = is(cache, "k", NULL);
    is_forbidden = !at_store;
    bool is_stored = set(cache, "k", "v") == LARDER_OK;
    is_forbidden = false;
    if (!is_missed || !is_stored || larder_keep_usage(cache, 0, NULL) != LARDER_OK ||
        larder_get_usage(test_path("t.larder"), &usage, NULL) != LARDER_OK) {
        return UINT64_MAX;
    }
    for (unsigned i = 0; i <= LARDER_KEYSPACES; i++) {
        sum += usage.keyspaces[i].counts.computes;
    }
    return sum;
}

/* The machine has just booted: the time since its boot would pass for one of a computation. */
static void a_time_is_counted_between_two_readings(void) {
    for (int at_miss = 0; at_miss < 2; at_miss++) {
        for (int at_store = 0; at_store < 2; at_store++) {
            larder_options options = {.size_bytes = SIZE, .statistics = true};
            monotonic_ms = 0;
            monotonic_ms = SECOND - lard_clock_monotonic_ms();
            CHECK(larder_open(test_path("t.larder"), &options, &cache, NULL) == LARDER_OK);
            uint64_t counted = times_counted(at_miss, at_store);
            CHECK(counted == (at_miss && at_store), "%d and %d: %d", at_miss, at_store, (int)counted);
            larder_close(cache);
            CHECK(unlink(test_path("t.larder")) == 0 && unlink(test_path("t.larder.stats")) == 0);
        }
    }
}

static const test_case tests[] = {
    TEST(a_lease_does_not_follow_the_wall_clock, "a lease does not follow the wall clock"),
    TEST(a_lease_does_not_follow_the_time_of_a_call, "a lease does not follow the time that a call comes with"),
    TEST(a_lease_counts_the_time_of_a_suspended_machine, "a lease counts the time of a suspended machine"),
    TEST(a_lease_of_another_boot_lasts_no_longer, "a lease of another boot lasts for its length at most"),
    TEST(a_stale_value_is_leased_as_long, "a stale value is leased as long as its lease lasts"),
    TEST(a_placeholder_outlives_a_step_of_the_wall_clock, "a placeholder outlives a step of the wall clock"),
    TEST(trust_ends_where_a_clock_was_set, "trust ends where the wall clock was set, until it is renewed"),
    TEST(a_short_step_makes_trust_no_longer, "a short step of the wall clock makes trust no longer"),
    TEST(trust_counts_the_time_of_a_suspended_machine, "trust counts the time of a suspended machine"),
    TEST(trust_ends_at_a_boot, "trust ends at a boot"),
    TEST(a_moment_is_due_where_the_clock_went_back, "a moment is due where the clock went back"),
    TEST(a_removed_file_is_noticed, "a removed file is noticed, whatever happens to the clock"),
    TEST(a_cache_that_could_not_attach_tries_again,
         "a cache that could not attach tries again, whatever the clock"),
    TEST(statistics_are_added, "statistics are added to the others', whatever the clock"),
    TEST(a_time_is_counted_between_two_readings,
         "the time of a computation is counted between two readings of a clock"),
};
RUN("clocks", tests)
