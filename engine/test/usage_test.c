/*
 * usage_test.c — checks the statistics by keyspace and by time: what is counted, and that nothing that happens to
 * their file harms the cache.
 */
#include "children.h"
#include "mounts.h"

#include <pthread.h>
#include <sys/file.h>
#include <sys/resource.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

static larder *cache;
static larder_usage usage;

static const char *path(void) { return test_path("t.larder"); }
static const char *sidecar(void) { return test_path("t.larder.stats"); }

static larder *open_counted(uint64_t size_bytes) {
    larder *opened = NULL;
    larder_options options = {.size_bytes = size_bytes, .statistics = 1};
    return larder_open(path(), &options, &opened, NULL) == LARDER_OK ? opened : NULL;
}

static larder_status load(void) { return larder_get_usage(path(), &usage, NULL); }

static const larder_keyspace *keyspace(const char *name) {
    for (unsigned i = 0; i < LARDER_KEYSPACES; i++) {
        if (usage.keyspaces[i].name_bytes == strlen(name) &&
            memcmp(usage.keyspaces[i].name, name, strlen(name)) == 0) {
            return &usage.keyspaces[i];
        }
    }
    return NULL;
}

static larder_usage_counts counts(const char *name) {
    const larder_keyspace *found = keyspace(name);
    return found ? found->counts : (larder_usage_counts){0};
}

static larder_usage_counts last_minute(void) {
    larder_usage_counts whole = {0};
    for (unsigned i = 0; i < 2; i++) { /* the minute may have ended in between */
        whole.hits += usage.minutes[i].whole.hits;
        whole.misses += usage.minutes[i].whole.misses;
        whole.stores += usage.minutes[i].whole.stores;
        whole.evictions += usage.minutes[i].whole.evictions;
    }
    return whole;
}

/* No further from it than four standard errors. */
static bool is_within(uint64_t count, uint64_t real, uint64_t variance) {
    double off = (double)count - (double)real;
    return off * off <= 16 * (double)variance;
}

static void few_calls_are_counted_exactly(void) {
    cache = open_counted(1 << 20);
    for (int i = 0; i < 10; i++) {
        get(cache, "users/1");
    }
    set(cache, "users/1", "12345");
    set(cache, "views/products/_row:0a1b/products/1", "<li>");
    for (int i = 0; i < 7; i++) {
        get(cache, "users/1");
    }
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    larder_usage_counts users = counts("users"), row = counts("views/products/_row");
    CHECK(users.misses == 10 && users.hits == 7 && users.stores == 1, "%d, %d, %d", (int)users.misses,
          (int)users.hits, (int)users.stores);
    CHECK(users.stored_bytes == 5 && users.read_variance == 0 && users.store_variance == 0);
    CHECK(users.computes == 1, "the last of the misses came before a store");
    CHECK(row.stores == 1 && row.hits + row.misses == 0);
    larder_usage_counts whole = last_minute();
    CHECK(whole.hits == 7 && whole.misses == 10 && whole.stores == 2);
    CHECK(usage.since_ms > 0 && usage.changed_ms >= usage.since_ms);
    larder_close(cache);
}

static void many_calls_are_counted_within_the_error_that_is_given(void) {
    char key[32];
    const int reads = 200000;
    cache = open_counted(4 << 20);
    set(cache, "hot/1", "value");
    for (int i = 0; i < reads; i++) { /* one of four reads hits */
        snprintf(key, sizeof key, i % 4 ? "cold/%d" : "hot/1", i);
        get(cache, key);
    }
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    larder_usage_counts hot = counts("hot"), cold = counts("cold");
    CHECK(hot.read_variance > 0 && is_within(hot.hits, reads / 4, hot.read_variance), "%d hits, variance %.0f",
          (int)hot.hits, (double)hot.read_variance);
    CHECK(hot.read_variance < (uint64_t)reads / 4 * reads / 4 / 100, "an error of less than a tenth");
    CHECK(is_within(cold.misses, reads / 4 * 3, cold.read_variance) && cold.hits == 0, "%d misses",
          (int)cold.misses);
    CHECK(last_minute().hits == (uint64_t)reads / 4, "the counts of the whole cache are exact");
    larder_close(cache);
}

static void a_new_period_counts_exactly_again(void) {
    char key[32];
    cache = open_counted(1 << 20);
    for (int i = 0; i < 10000; i++) {
        snprintf(key, sizeof key, "many/%d", i);
        get(cache, key);
    }
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    uint64_t variance = counts("many").read_variance;
    get(cache, "many/1"); /* has the weight of the reads that were skipped before */
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    CHECK(counts("many").read_variance - variance < 256 * 255);
    for (int i = 0; i < 20; i++) {
        get(cache, "few/1");
    }
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    CHECK(counts("few").misses == 20 && counts("few").read_variance == 0);
    larder_close(cache);
}

static void it_is_due_when_something_was_counted_and_a_second_has_passed(void) {
    cache = open_counted(1 << 20);
    CHECK(!larder_usage_due(cache) && !larder_usage_due(NULL));
    get(cache, "users/1");
    CHECK(larder_usage_due(cache) && larder_keep_usage(cache, 0, NULL) == LARDER_OK && !larder_usage_due(cache));
    get(cache, "users/1");
    CHECK(!larder_usage_due(cache), "not twice in a second");
    int64_t until_ms = lard_clock_monotonic_ms() + 20000;
    while (!larder_usage_due(cache) && lard_clock_monotonic_ms() < until_ms) {
        sleep_us(20000);
    }
    CHECK(larder_usage_due(cache));
    larder_close(cache);
}

static larder_usage_counts minute_at(int64_t at_ms) {
    for (unsigned i = 0; i < LARDER_MINUTES; i++) {
        if (usage.minutes[i].began_ms == at_ms - at_ms % 60000) {
            return usage.minutes[i].whole;
        }
    }
    return (larder_usage_counts){0};
}

static void calls_are_counted_in_their_minutes_whenever_they_are_added(void) {
    const int64_t minute = 60000;
    cache = open_counted(1 << 20);
    get(cache, "users/1");
    lard_sampler *sampler = cache->core->sampler;
    int64_t now_ms = lard_clock_ms();
    sampler->now.began_ms = sampler->now.ended_ms = now_ms - 3 * minute; /* as if it had been three minutes ago */
    for (int i = 0; i < 20; i++) {
        get(cache, "users/1");
    }
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    uint64_t before = minute_at(now_ms - 3 * minute).misses; /* with the call that noticed that a minute is over */
    CHECK(before == 2, "%d", (int)before);
    CHECK(last_minute().misses == 19 && counts("users").misses == 21);
    larder_close(cache);
}

static void the_calls_of_a_long_period_are_spread_over_its_minutes(void) {
    const int64_t minute = 60000;
    cache = open_counted(1 << 20);
    for (int i = 0; i < 100; i++) {
        get(cache, "users/1");
    }
    lard_sampler *sampler = cache->core->sampler;
    int64_t now_ms = lard_clock_ms();
    sampler->now.began_ms = now_ms - 3 * minute;
    sampler->now.ended_ms = now_ms;
    sampler->before.began_ms = sampler->before.ended_ms = now_ms - 4 * minute;
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    uint64_t sum = 0;
    for (int i = 0; i <= 4; i++) {
        uint64_t misses = minute_at(now_ms - i * minute).misses;
        CHECK(misses == 0 || misses == 20 || misses == 25, "%d", (int)misses);
        sum += misses;
    }
    CHECK(sum == 100 && counts("users").misses == 100, "%d", (int)sum);
    larder_close(cache);
}

static void rules_of_processes_are_joined(void) {
    static const char *const first[] = {"products/*/price"}, *const second[] = {"reports/*"};
    cache = open_counted(1 << 20);
    CHECK(larder_name_keyspaces(cache, "shop", first, 1) == LARDER_OK);
    larder_close(cache);
    cache = open_counted(1 << 20);
    CHECK(larder_name_keyspaces(cache, "blog", second, 1) == LARDER_OK);
    larder_close(cache);
    CHECK(load() == LARDER_OK && usage.rules.namespaces == 2 && usage.rules.patterns == 2);
}

static void a_try_call_leaves_the_file_to_others_at_first(void) {
    const larder_call call = {.flags = LARDER_CALL_TRY};
    const larder_store store = {.key = "users/1", .key_bytes = 7, .value = "value", .value_bytes = 5};
    cache = open_counted(1 << 20);
    CHECK(larder_set(cache, &store, &call) == LARDER_OK && load() == LARDER_NOT_THERE && larder_usage_due(cache));
    cache->core->sampler->next_fold_ms -= 5000; /* as if it had waited for so long */
    CHECK(larder_set(cache, &store, &call) == LARDER_OK && load() == LARDER_OK && counts("users").stores == 2);
    larder_close(cache);
    unlink(sidecar());
    cache = open_counted(1 << 20);
    CHECK(larder_set(cache, &store, NULL) == LARDER_OK && load() == LARDER_OK);
    larder_close(cache);
}

static void a_batch_counts_each_of_its_keys(void) {
    larder_lookup lookups[40];
    char keys[40][16];
    cache = open_counted(1 << 20);
    memset(lookups, 0, sizeof lookups);
    for (int i = 0; i < 40; i++) {
        snprintf(keys[i], sizeof keys[i], i % 2 ? "odd/%d" : "even/%d", i);
        lookups[i].key = keys[i];
        lookups[i].key_bytes = strlen(keys[i]);
    }
    larder_get_multi(cache, lookups, 40, NULL);
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    CHECK(counts("odd").misses == 20 && counts("even").misses == 20);
    larder_close(cache);
}

static void evictions_are_counted_with_their_age(void) {
    static char value[2000];
    char key[32];
    cache = open_counted(1 << 20);
    for (int i = 0; i < 20000; i++) {
        snprintf(key, sizeof key, "pages/%d", i);
        set_bytes(cache, key, value, sizeof value, 0);
    }
    larder_stats all;
    larder_get_stats(cache, &all);
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    larder_usage_counts pages = counts("pages");
    CHECK(all.evictions > 15000 && is_within(pages.evictions, all.evictions, pages.eviction_variance), "%d of %d",
          (int)pages.evictions, (int)all.evictions);
    CHECK(pages.evicted_age_ms / pages.evictions < 60000, "a mean age of %d ms",
          (int)(pages.evicted_age_ms / pages.evictions));
    larder_close(cache);
}

static void names_are_made_by_rules(void) {
    static const struct {
        const char *key, *name;
    } cases[] = {
        {"users/17", "users"},
        {"users:17/photo", "users"},
        {"shop:users/17", "users"},
        {"shop:", ""},
        {"shopper:1", "shopper"},
        {"views/products/_row:0a1b2c/products/1-2", "views/products/_row"},
        {"views/banner", "views/banner"},
        {"views/banner/en", "views/banner"},
        {"settings", "settings"},
        {"user_17", "user_*"},
        {"user_17/photo", "user_*"},
        {"report_1", "report_*"},
        {"7/daily", "*"},
        {"s3/bucket", "s3"},
        {"sha256/0a1b", "sha*"},
        {"v2/users/1", "v2"},
        {"20261129", "*"},
        {"/users/1", "users"},
        {"", ""},
        {"products/17/price", "products/*/price"},
        {"products/17/name", "products"},
        {"reports:2026:daily", "reports:*:daily"},
        {"reports:2026/daily", "reports"},
    };
    static const char *const patterns[] = {"products/*/price", "reports:*:daily"};
    cache = open_counted(1 << 20);
    CHECK(larder_name_keyspaces(cache, "shop", patterns, 2) == LARDER_OK);
    set(cache, "shop:users/1", "value");
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    CHECK(counts("users").stores == 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[60];
        size_t bytes = larder_keyspace_of(&usage.rules, cases[i].key, strlen(cases[i].key), name);
        CHECK(bytes == strlen(cases[i].name) && memcmp(name, cases[i].name, bytes) == 0, "%s: %.*s", cases[i].key,
              (int)bytes, name);
    }
    char long_key[200], name[60];
    memset(long_key, 'x', sizeof long_key);
    CHECK(larder_keyspace_of(NULL, long_key, sizeof long_key, name) == 60);
    larder_close(cache);
}

static void bad_rules_are_refused(void) {
    char text[80];
    const char *pattern = text;
    memset(text, 'a', 64);
    text[64] = '\0';
    cache = open_counted(1 << 20);
    CHECK(larder_name_keyspaces(cache, text, NULL, 0) == LARDER_INVALID, "too long");
    CHECK(larder_name_keyspaces(cache, "", NULL, 0) == LARDER_INVALID);
    CHECK(larder_name_keyspaces(cache, NULL, &pattern, 1) == LARDER_INVALID);
    CHECK(larder_name_keyspaces(cache, NULL, NULL, 1) == LARDER_INVALID);
    for (int i = 0; i < LARDER_KEYSPACE_PATTERNS; i++) {
        snprintf(text, sizeof text, "pattern-%d", i);
        CHECK(larder_name_keyspaces(cache, NULL, &pattern, 1) == LARDER_OK);
    }
    CHECK(larder_name_keyspaces(cache, NULL, &pattern, 1) == LARDER_OK, "it is known");
    text[0] = 'P';
    CHECK(larder_name_keyspaces(cache, NULL, &pattern, 1) == LARDER_INVALID, "there are too many");
    larder_close(cache);
    cache = open_cache(1 << 20);
    CHECK(larder_name_keyspaces(cache, "shop", NULL, 0) == LARDER_INVALID, "it has no statistics");
    larder_close(cache);
}

static void keyspaces_with_most_traffic_keep_their_rows(void) {
    char key[32];
    cache = open_counted(1 << 20);
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < 4; i++) {
            snprintf(key, sizeof key, "often-%c/1", 'a' + i);
            get(cache, key);
        }
        for (int i = 0; i < 80; i++) { /* names that come once */
            snprintf(key, sizeof key, "once-%c%c-%c/1", 'a' + round, 'a' + i / 26, 'a' + i % 26);
            get(cache, key);
        }
        CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK);
    }
    CHECK(load() == LARDER_OK);
    uint64_t misses = usage.keyspaces[LARDER_KEYSPACES].counts.misses;
    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "often-%c", 'a' + i);
        CHECK(counts(key).misses == 30, "%s: %d", key, (int)counts(key).misses);
    }
    for (unsigned i = 0; i < LARDER_KEYSPACES; i++) {
        misses += usage.keyspaces[i].counts.misses;
    }
    CHECK(misses == 30 * 84, "no read is lost: %d", (int)misses);
    larder_close(cache);
}

static void hot_and_heavy_keys_are_found(void) {
    static char value[100000];
    char key[32];
    cache = open_counted(4 << 20);
    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof key, "key/%d", i % 300);
        set_bytes(cache, key, value, i % 300 == 7 ? sizeof value : 10, 0);
        get(cache, key);
        get(cache, "key/42");
    }
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    const larder_used_key *hot = usage.hot, *heavy = usage.heavy;
    for (unsigned i = 0; i < LARDER_USAGE_KEYS; i++) {
        hot = usage.hot[i].weight > hot->weight ? &usage.hot[i] : hot;
        heavy = usage.heavy[i].weight > heavy->weight ? &usage.heavy[i] : heavy;
    }
    CHECK(hot->key_bytes == 6 && memcmp(hot->key, "key/42", 6) == 0, "%.20s", hot->key);
    CHECK(hot->weight - hot->error < 4500 && hot->weight > 1500, "%d", (int)hot->weight);
    CHECK(heavy->key_bytes == 5 && memcmp(heavy->key, "key/7", 5) == 0 && heavy->weight == sizeof value, "%.20s",
          heavy->key);
    larder_close(cache);
}

static void statistics_survive_a_clear_a_resize_and_a_restart(void) {
    cache = open_counted(1 << 20);
    set(cache, "users/1", "value");
    larder_keep_usage(cache, 0, NULL);
    CHECK(larder_clear(cache) == LARDER_OK && larder_resize(cache, 2 << 20, LARDER_KEEP_NONE, NULL) == LARDER_OK);
    set(cache, "users/1", "value");
    larder_close(cache);
    cache = open_counted(1 << 20);
    set(cache, "users/1", "value");
    larder_close(cache);
    CHECK(load() == LARDER_OK && counts("users").stores == 3 && last_minute().stores == 3, "%d, %d",
          (int)counts("users").stores, (int)last_minute().stores);
}

static void processes_add_to_one_file_and_a_child_counts_for_itself(void) {
    pid_t pids[4];
    cache = open_counted(1 << 20);
    for (int i = 0; i < 5; i++) {
        set(cache, "parent/1", "value");
    }
    for (int i = 0; i < 4; i++) {
        if ((pids[i] = fork_child()) == 0) {
            for (int j = 0; j < 10; j++) {
                CHILD_CHECK(set(cache, "child/1", "value") == LARDER_OK);
            }
            larder_status status;
            while ((status = larder_keep_usage(cache, 0, NULL)) == LARDER_LOCKED) {
                sleep_us(1000);
            }
            CHILD_CHECK(status == LARDER_OK);
            _exit(0);
        }
    }
    for (int i = 0; i < 4; i++) {
        CHECK(exited_well(pids[i]));
    }
    larder_close(cache);
    CHECK(load() == LARDER_OK && counts("child").stores == 40 && counts("parent").stores == 5, "%d, %d",
          (int)counts("child").stores, (int)counts("parent").stores);
    CHECK(last_minute().stores == 45, "%d", (int)last_minute().stores);
}

static void a_child_closes_the_file_to_which_its_parent_was_adding(void) {
    larder_error error;
    cache = open_counted(1 << 20);
    set(cache, "users/1", "value");
    lard_sampler *sampler = cache->core->sampler;
    CHECK(lard_sidecar_open(sampler->scratch, path(), &error) == LARDER_OK);
    sampler->folding = 1;
    int fd = sampler->scratch->fd;
    pid_t pid = fork_child();
    if (pid == 0) {
        CHILD_CHECK(fcntl(fd, F_GETFD) != -1 && set(cache, "users/1", "value") == LARDER_OK);
        CHILD_CHECK(fcntl(fd, F_GETFD) == -1);
        CHILD_CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_LOCKED);
        _exit(0);
    }
    CHECK(exited_well(pid));
    lard_sidecar_close(sampler->scratch);
    sampler->folding = 0;
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK && counts("users").stores == 1);
    larder_close(cache);
}

static void a_process_that_is_killed_while_it_writes_harms_nothing(void) {
    cache = open_counted(1 << 20);
    set(cache, "users/1", "value");
    for (int round = 0; round < 30; round++) {
        pid_t pid = fork_child();
        if (pid == 0) {
            for (;;) {
                set(cache, "users/1", "value");
                larder_keep_usage(cache, 0, NULL);
            }
        }
        sleep_us(500 + (unsigned)round * 97);
        kill(pid, SIGKILL);
        CHECK(waitpid(pid, NULL, 0) == pid);
        CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK, "no lock stays");
    }
    CHECK(is(cache, "users/1", "value"));
    larder_close(cache);
}

static void write_file(const char *text, size_t bytes) {
    int fd = open(sidecar(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (write(fd, text, bytes) != (ssize_t)bytes) {
        fprintf(stderr, "  not written\n");
    }
    close(fd);
}

static larder_status keep(larder_error *error) {
    set(cache, "users/1", "value");
    return larder_keep_usage(cache, 0, error);
}

static void a_torn_write_of_the_table_loses_one_row(void) {
    char key[32];
    larder_error error;
    cache = open_counted(1 << 20);
    for (int i = 0; i < 50; i++) {
        snprintf(key, sizeof key, "%c%c/1", 'a' + i / 26, 'a' + i % 26);
        set(cache, key, "value");
    }
    CHECK(larder_keep_usage(cache, 0, &error) == LARDER_OK);
    int fd = open(sidecar(), O_RDWR);
    CHECK(pwrite(fd, "torn", 4, 4096 + 8 + 20 * 224 + 100) == 4);
    close(fd);
    CHECK(load() == LARDER_OK);
    unsigned kept = 0;
    for (unsigned i = 0; i < LARDER_KEYSPACES; i++) {
        kept += usage.keyspaces[i].counts.stores == 1;
    }
    CHECK(kept == 49, "%u", kept);
    set(cache, "aa/1", "value");
    CHECK(larder_keep_usage(cache, 0, &error) == LARDER_OK && load() == LARDER_OK && counts("aa").stores == 2);
    larder_close(cache);
}

static void a_file_that_is_none_of_statistics_is_left_alone(void) {
    larder_error error;
    char content[16];
    cache = open_counted(1 << 20);
    write_file("someone's file\n", 15);
    CHECK(keep(&error) == LARDER_NOT_LARDER && load() == LARDER_NOT_LARDER);
    int fd = open(sidecar(), O_RDONLY);
    CHECK(read(fd, content, sizeof content) == 15 && memcmp(content, "someone's file\n", 15) == 0);
    close(fd);
    write_file("note\n", 5);
    CHECK(keep(&error) == LARDER_NOT_LARDER && load() == LARDER_NOT_LARDER,
          "also if it is shorter than the magic");
    unlink(sidecar());
    CHECK(mkdir(sidecar(), 0700) == 0 && keep(&error) != LARDER_OK && load() != LARDER_OK);
    CHECK(rmdir(sidecar()) == 0 && mkfifo(sidecar(), 0600) == 0);
    CHECK(keep(&error) == LARDER_NOT_REGULAR && load() == LARDER_NOT_REGULAR, "it does not wait for the pipe");
    CHECK(unlink(sidecar()) == 0 && symlink("/etc/hostname", sidecar()) == 0);
    CHECK(keep(&error) == LARDER_NOT_REGULAR && load() == LARDER_NOT_REGULAR);
    unlink(sidecar());
    CHECK(is(cache, "users/1", "value") && keep(&error) == LARDER_OK && load() == LARDER_OK);
    CHECK(chmod(sidecar(), 0666) == 0 && keep(&error) == LARDER_UNSAFE_MODE && load() == LARDER_UNSAFE_MODE);
    larder_close(cache);
}

static void a_failure_of_a_set_is_reported_by_the_next_keep(void) {
    larder_error error;
    cache = open_counted(1 << 20);
    CHECK(keep(&error) == LARDER_OK && !larder_usage_due(cache));
    write_file("someone's file\n", 15);
    cache->core->sampler->next_fold_ms = 0;
    CHECK(set(cache, "users/1", "value") == LARDER_OK);
    CHECK(larder_usage_due(cache) == 1, "the set has tried, and could not say why it failed");
    CHECK(larder_keep_usage(cache, 0, &error) == LARDER_NOT_LARDER && strstr(error.detail, "no statistics"));
    CHECK(!larder_usage_due(cache), "it is reported once");
    larder_close(cache);
}

static void one_whose_header_was_not_written_is_made_again(void) {
    static const char zeros[4096];
    larder_error error;
    cache = open_counted(1 << 20);
    CHECK(keep(&error) == LARDER_OK && load() == LARDER_OK);
    for (int i = 0; i < 2; i++) {
        int fd = open(sidecar(), O_RDWR);
        CHECK(pwrite(fd, zeros, sizeof zeros, 0) == sizeof zeros);
        CHECK(i == 0 || pwrite(fd, "\1", 1, 40) == 1);
        close(fd);
        CHECK(load() == (i == 0 ? LARDER_NOT_THERE : LARDER_NOT_LARDER), "%d", i);
        CHECK(keep(&error) == (i == 0 ? LARDER_OK : LARDER_NOT_LARDER), "%d", i);
    }
    struct stat info; /* a longer file, such as a disk image, is another program's */
    CHECK(truncate(sidecar(), 0) == 0 && truncate(sidecar(), 4 << 20) == 0);
    CHECK(load() == LARDER_NOT_LARDER && keep(&error) == LARDER_NOT_LARDER);
    CHECK(stat(sidecar(), &info) == 0 && info.st_size == 4 << 20);
    larder_close(cache);
}

static void flipped_bits_and_a_short_file_lose_counts_and_nothing_else(void) {
    larder_error error;
    struct stat info;
    cache = open_counted(1 << 20);
    CHECK(keep(&error) == LARDER_OK && stat(sidecar(), &info) == 0 && info.st_size < 4 << 20);
    for (off_t at = 0; at < info.st_size; at += at < 40000 ? 353 : 19973) {
        int fd = open(sidecar(), O_RDWR);
        unsigned char byte;
        CHECK(pread(fd, &byte, 1, at) == 1);
        byte ^= 1u << (at & 7);
        CHECK(pwrite(fd, &byte, 1, at) == 1);
        close(fd);
        larder_status status = load();
        CHECK(status == LARDER_OK || status == LARDER_NOT_THERE || status == LARDER_NOT_LARDER, "%d", (int)status);
        if (status == LARDER_NOT_LARDER) {
            unlink(sidecar());
        }
        CHECK(keep(&error) == LARDER_OK, "%d: %s", (int)at, error.detail);
    }
    CHECK(truncate(sidecar(), 5000) == 0 && load() == LARDER_OK && keep(&error) == LARDER_OK);
    CHECK(truncate(sidecar(), 0) == 0 && load() == LARDER_NOT_THERE && keep(&error) == LARDER_OK &&
          load() == LARDER_OK);
    CHECK(is(cache, "users/1", "value"));
    larder_close(cache);
}

static void failures_are_counted_in_their_minute_and_in_the_row_of_all_others(void) {
    cache = open_counted(1 << 20);
    set(cache, "users/1", "1");
    for (int i = 0; i < 300; i++) {
        larder_count_failure(cache);
    }
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    CHECK(usage.keyspaces[LARDER_KEYSPACES].counts.failures == 300 && counts("users").failures == 0);
    CHECK(usage.minutes[0].whole.failures + usage.minutes[1].whole.failures == 300);
    CHECK(usage.minutes[0].whole.stores + usage.minutes[1].whole.stores == 1);
    larder_count_failure(cache);
    larder_close(cache);
    CHECK(load() == LARDER_OK && usage.keyspaces[LARDER_KEYSPACES].counts.failures == 301, "close adds it");
    larder_count_failure(NULL);
}

static void a_failure_without_a_file_is_added_when_there_is_one(void) {
    larder_options options = {.size_bytes = 1 << 20, .statistics = 1, .attach_later = 1};
    CHECK(mkdir(path(), 0700) == 0, "a directory is in the place of the file");
    CHECK(larder_open(path(), &options, &cache, NULL) == LARDER_OK);
    CHECK(larder_attach(cache, 0, NULL) != LARDER_OK);
    larder_count_failure(cache);
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_NOT_THERE);
    CHECK(rmdir(path()) == 0);
    sleep(2); /* an attempt has failed, and the next one comes a second later */
    CHECK(larder_attach(cache, 5000, NULL) == LARDER_OK);
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    CHECK(usage.keyspaces[LARDER_KEYSPACES].counts.failures == 1);
    larder_close(cache);
}

static void random_blocks_with_valid_checksums_harm_no_reader(void) {
    larder_error error;
    struct stat info;
    uint64_t random = 88172645463325252ull;
    cache = open_counted(1 << 20);
    CHECK(keep(&error) == LARDER_OK && stat(sidecar(), &info) == 0);
    lard_sidecar *file = calloc(1, sizeof *file);
    for (int round = 0; round < 20; round++) {
        CHECK(lard_sidecar_open(file, path(), &error) == LARDER_OK);
        for (size_t i = 0; i < (sizeof file->table + sizeof file->sketches) / 8; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            ((uint64_t *)&file->table)[i] = random;
        }
        for (size_t i = 2; i < sizeof file->group / 8; i++) {
            ((uint64_t *)&file->group)[i] = random * i;
        }
        int64_t now_ms = lard_clock_ms();
        file->group.began_ms = now_ms - now_ms % 60000;
        lard_sidecar_write_table(file);
        lard_sidecar_write(file, &file->sketches, sizeof file->sketches, lard_sidecar_sketches_at());
        lard_sidecar_write(file, &file->group, sizeof file->group, lard_sidecar_minute_at(now_ms));
        lard_sidecar_close(file);
        CHECK(load() == LARDER_OK && keep(&error) == LARDER_OK && load() == LARDER_OK);
        for (unsigned i = 0; i < LARDER_KEYSPACES; i++) {
            CHECK(usage.keyspaces[i].name_bytes <= sizeof usage.keyspaces[i].name);
        }
    }
    free(file);
    larder_close(cache);
}

/* Opens the sidecar and holds its lock. */
static int hold_sidecar(void) {
    int fd = open(sidecar(), O_RDWR);
    return fd >= 0 && flock(fd, LOCK_EX) == 0 ? fd : -1;
}

static void while_another_process_writes_nobody_waits(void) {
    larder_error error;
    cache = open_counted(1 << 20);
    CHECK(keep(&error) == LARDER_OK);
    int fd = hold_sidecar();
    CHECK(fd >= 0);
    CHECK(keep(&error) == LARDER_LOCKED && load() == LARDER_OK && counts("users").stores == 1);
    close(fd);
    CHECK(keep(&error) == LARDER_OK && load() == LARDER_OK && counts("users").stores == 3, "nothing was lost");
    larder_close(cache);
}

enum { ENDING = 32 };

static void processes_that_end_together_lose_no_counts(void) {
    pid_t pids[ENDING];
    uint32_t *ready = shared_memory(8), *ends = ready + 1;
    cache = open_counted(1 << 20);
    set(cache, "parent/1", "value");
    for (int i = 0; i < ENDING; i++) {
        if ((pids[i] = fork_child()) == 0) {
            CHILD_CHECK(is(cache, "parent/1", "value")); /* a read adds nothing to the file */
            __atomic_add_fetch(ready, 1, __ATOMIC_SEQ_CST);
            while (!__atomic_load_n(ends, __ATOMIC_SEQ_CST)) {
                sleep_us(200);
            }
            larder_close(cache);
            _exit(0);
        }
    }
    for (int i = 0; i < 20000 && __atomic_load_n(ready, __ATOMIC_SEQ_CST) < ENDING; i++) {
        sleep_us(1000);
    }
    __atomic_store_n(ends, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < ENDING; i++) {
        CHECK(exited_well(pids[i]));
    }
    larder_close(cache);
    munmap(ready, 8);
    CHECK(load() == LARDER_OK && last_minute().hits == ENDING, "%d", (int)last_minute().hits);
}

static void *release_soon(void *fd) {
    sleep_us(200000);
    close(*(int *)fd);
    return NULL;
}

static void a_close_waits_until_another_process_has_written(void) {
    larder_error error;
    pthread_t releasing;
    cache = open_counted(1 << 20);
    CHECK(keep(&error) == LARDER_OK && set(cache, "users/1", "value") == LARDER_OK);
    int fd = hold_sidecar();
    CHECK(fd >= 0);
    CHECK(pthread_create(&releasing, NULL, release_soon, &fd) == 0);
    larder_close(cache);
    pthread_join(releasing, NULL);
    CHECK(load() == LARDER_OK && counts("users").stores == 2, "%d", (int)counts("users").stores);
}

static void a_close_ends_although_another_process_never_gives_up_the_lock(void) {
    larder_error error;
    cache = open_counted(1 << 20);
    CHECK(keep(&error) == LARDER_OK && set(cache, "users/1", "value") == LARDER_OK);
    int fd = hold_sidecar();
    CHECK(fd >= 0);
    CHECK(larder_keep_usage(cache, 20, &error) == LARDER_LOCKED && strstr(error.detail, "t.larder.stats"));
    larder_close(cache);
    close(fd);
    CHECK(load() == LARDER_OK && counts("users").stores == 1, "%d", (int)counts("users").stores);
}

static void a_limit_of_file_sizes_stops_the_statistics_alone(void) {
    pid_t pid = fork_child();
    if (pid == 0) {
        larder_error error;
        cache = open_counted(1 << 20);
        CHILD_CHECK(set(cache, "users/1", "value") == LARDER_OK);
        struct rlimit limit = {64 << 10, 64 << 10};
        CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        CHILD_CHECK(larder_keep_usage(cache, 0, &error) == LARDER_FILE_LIMIT);
        CHILD_CHECK(is(cache, "users/1", "value"));
        _exit(0);
    }
    CHECK(exited_well(pid));
}

#define NOBODY 65534

static void count_on_a_full_disk(void *unused) {
    larder_error error;
    (void)unused;
    if (!mounts_of_its_own(NULL) || mount("tmpfs", test_directory, "tmpfs", 0, "size=1600k,mode=700") != 0) {
        printf("  skipped, needs root to mount a small tmpfs: a full disk\n");
        return;
    }
    cache = open_counted(1 << 20);
    CHILD_CHECK(cache && set(cache, "users/1", "value") == LARDER_OK);
    CHILD_CHECK(larder_keep_usage(cache, 0, &error) != LARDER_OK && error.system_errno == ENOSPC);
    CHILD_CHECK(is(cache, "users/1", "value") && set(cache, "users/2", "value") == LARDER_OK);
    struct stat info;
    CHILD_CHECK(stat(sidecar(), &info) == 0 && info.st_blocks == 0);
    larder_close(cache);
}

static void on_a_full_disk_the_cache_works_without_statistics(void) {
    CHECK(in_child(count_on_a_full_disk, NULL));
}

static void count_where_no_file_can_be_made(void *unused) {
    larder_error error;
    (void)unused;
    if (geteuid() == 0) {
        CHILD_CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    }
    cache = open_counted(1 << 20);
    CHILD_CHECK(cache && set(cache, "users/1", "value") == LARDER_OK && is(cache, "users/1", "value"));
    CHILD_CHECK(larder_keep_usage(cache, 0, &error) == LARDER_SYSTEM && error.system_errno == EACCES);
    CHILD_CHECK(strstr(error.detail, "t.larder.stats") != NULL);
    larder_close(cache);
}

static void a_directory_may_be_read_only(void) {
    cache = open_cache(1 << 20);
    larder_close(cache);
    if (geteuid() == 0) {
        CHECK(chown(path(), NOBODY, NOBODY) == 0 && chown(test_path("t.larder.lock"), NOBODY, NOBODY) == 0 &&
              chown(test_directory, NOBODY, NOBODY) == 0);
    }
    CHECK(chmod(test_directory, 0500) == 0);
    bool well = in_child(count_where_no_file_can_be_made, NULL);
    CHECK(chmod(test_directory, 0700) == 0 && well);
}

static void root_leaves_the_file_to_the_owner_of_the_directory(void) {
    struct stat info;
    if (geteuid() != 0) {
        printf("  skipped, needs root: files for another owner\n");
        return;
    }
    CHECK(chown(test_directory, NOBODY, NOBODY) == 0);
    cache = open_counted(1 << 20);
    set(cache, "users/1", "value");
    larder_close(cache);
    CHECK(stat(sidecar(), &info) == 0 && info.st_uid == NOBODY && (info.st_mode & 07777) == 0600);
    CHECK(chown(sidecar(), 1, 1) == 0 && load() == LARDER_NOT_OWNER);
    cache = open_counted(1 << 20);
    set(cache, "users/1", "value");
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_NOT_OWNER && is(cache, "users/1", "value"));
    larder_close(cache);
}

#ifdef __linux__
static void count_without_the_right_to_give(void *unused) {
    struct {
        uint32_t version;
        int pid;
    } header = {.version = 0x20080522}; /* as in linux/capability.h, which musl does not bring */
    struct {
        uint32_t effective, permitted, inheritable;
    } rights[2];
    larder_error error;
    (void)unused;
    CHILD_CHECK(syscall(SYS_capget, &header, rights) == 0);
    rights[0].effective &= ~1u; /* CAP_CHOWN */
    CHILD_CHECK(syscall(SYS_capset, &header, rights) == 0);
    cache = open_counted(1 << 20);
    CHILD_CHECK(cache && set(cache, "users/1", "value") == LARDER_OK);
    CHILD_CHECK(larder_keep_usage(cache, 0, &error) == LARDER_SYSTEM && error.system_errno == EPERM);
    larder_close(cache);
}

static void root_that_may_give_no_files_makes_none(void) {
    if (geteuid() != 0) {
        printf("  skipped, needs root: files for another owner\n");
        return;
    }
    CHECK(chown(test_directory, NOBODY, NOBODY) == 0 && (cache = open_cache(1 << 20)) != NULL);
    larder_close(cache);
    CHECK(in_child(count_without_the_right_to_give, NULL));
    CHECK(access(sidecar(), F_OK) != 0);
}
#endif

static void *reads_of_a_thread(void *unused) {
    char value[8];
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        larder_get(cache, "users/1", 7, value, sizeof value, NULL, NULL);
        if (i % 1000 == 0) {
            larder_keep_usage(cache, 0, NULL);
        }
    }
    return NULL;
}

static void threads_count_together(void) {
    pthread_t threads[4];
    cache = open_counted(1 << 20);
    set(cache, "users/1", "value");
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, reads_of_a_thread, NULL) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(larder_keep_usage(cache, 0, NULL) == LARDER_OK && load() == LARDER_OK);
    uint64_t hits = counts("users").hits;
    /* A weight that four threads are at once at is lost, or counted by each. */
    CHECK(hits > 80000 / 4 && hits < 80000 * 4, "%d of 80000", (int)hits);
    larder_close(cache);
}

static void a_close_makes_no_file_where_the_cache_was_removed(void) {
    larder_error error;
    cache = open_counted(1 << 20);
    CHECK(keep(&error) == LARDER_OK && is(cache, "users/1", "value"));
    CHECK(unlink(path()) == 0 && unlink(sidecar()) == 0 && unlink(test_path("t.larder.lock")) == 0);
    larder_close(cache);
    CHECK(access(sidecar(), F_OK) != 0);
}

static void a_cache_without_statistics_makes_no_file(void) {
    cache = open_cache(1 << 20);
    set(cache, "users/1", "value");
    larder_close(cache);
    CHECK(access(sidecar(), F_OK) != 0 && load() == LARDER_NOT_THERE);
    CHECK(larder_get_usage("", &usage, NULL) == LARDER_INVALID &&
          larder_get_usage(path(), NULL, NULL) == LARDER_INVALID);
    CHECK(larder_keep_usage(NULL, 0, NULL) == LARDER_INVALID);
}

static const test_case tests[] = {
    TEST(few_calls_are_counted_exactly, "few calls are counted exactly"),
    TEST(many_calls_are_counted_within_the_error_that_is_given, "many calls are counted within the given error"),
    TEST(a_new_period_counts_exactly_again, "a new period counts exactly again"),
    TEST(it_is_due_when_something_was_counted_and_a_second_has_passed,
         "counts are due a second after the last ones"),
    TEST(calls_are_counted_in_their_minutes_whenever_they_are_added, "calls are counted in their minutes"),
    TEST(the_calls_of_a_long_period_are_spread_over_its_minutes, "a long period is spread over its minutes"),
    TEST(rules_of_processes_are_joined, "the rules of processes are joined"),
    TEST(a_try_call_leaves_the_file_to_others_at_first, "a try call leaves the file to others at first"),
    TEST(a_batch_counts_each_of_its_keys, "a batch counts each of its keys"),
    TEST(evictions_are_counted_with_their_age, "evictions are counted with their age"),
    TEST(names_are_made_by_rules, "the names of keyspaces are made by rules"),
    TEST(bad_rules_are_refused, "bad rules are refused, and the others added"),
    TEST(keyspaces_with_most_traffic_keep_their_rows, "keyspaces with most traffic keep their rows"),
    TEST(hot_and_heavy_keys_are_found, "the most read key and the largest value are found"),
    TEST(statistics_survive_a_clear_a_resize_and_a_restart, "statistics survive a clear, a resize and a restart"),
    TEST(processes_add_to_one_file_and_a_child_counts_for_itself,
         "processes add to one file; a child counts its own"),
    TEST(a_child_closes_the_file_to_which_its_parent_was_adding,
         "a child closes the file to which its parent adds"),
    TEST(a_process_that_is_killed_while_it_writes_harms_nothing, "a process that is killed while it writes"),
    TEST(a_torn_write_of_the_table_loses_one_row, "a torn write of the table loses one row"),
    TEST(a_file_that_is_none_of_statistics_is_left_alone, "a file that holds no statistics is left alone"),
    TEST(a_failure_of_a_set_is_reported_by_the_next_keep, "the failure of a set is returned by the next keep"),
    TEST(one_whose_header_was_not_written_is_made_again, "a file whose header is zeros is made again"),
    TEST(flipped_bits_and_a_short_file_lose_counts_and_nothing_else, "flipped bits and a short file lose counts"),
    TEST(failures_are_counted_in_their_minute_and_in_the_row_of_all_others, "failures are counted"),
    TEST(a_failure_without_a_file_is_added_when_there_is_one,
         "a failure without a file is added when there is one"),
    TEST(random_blocks_with_valid_checksums_harm_no_reader, "random blocks with valid checksums harm no reader"),
    TEST(while_another_process_writes_nobody_waits, "while another process writes, no caller waits"),
    TEST(processes_that_end_together_lose_no_counts, "processes that end together lose no counts"),
    TEST(a_close_waits_until_another_process_has_written, "a close waits until another process has written"),
    TEST(a_close_ends_although_another_process_never_gives_up_the_lock,
         "a close ends although another process never gives up the lock"),
    TEST(a_limit_of_file_sizes_stops_the_statistics_alone, "a limit of file sizes stops the statistics alone"),
    TEST(on_a_full_disk_the_cache_works_without_statistics, "on a full disk the cache works without statistics"),
    TEST(a_directory_may_be_read_only, "in a directory that is read-only there are no statistics"),
    TEST(root_leaves_the_file_to_the_owner_of_the_directory, "root leaves the file to the owner of the directory"),
#ifdef __linux__
    TEST(root_that_may_give_no_files_makes_none, "root that may give no files to that owner makes none"),
#endif
    TEST(threads_count_together, "threads count together"),
    TEST(a_close_makes_no_file_where_the_cache_was_removed, "a close makes no file where the cache was removed"),
    TEST(a_cache_without_statistics_makes_no_file, "a cache without statistics makes no file"),
};
RUN("usage", tests)
