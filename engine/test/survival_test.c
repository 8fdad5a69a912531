/*
 * survival_test.c — kills and stops processes at random while others read and write the same file.
 *
 * The ledger (ledger.h) tells which values may be seen. It runs for LARDER_SURVIVE_SECONDS (default 3).
 */
#include "survival_work.h"

enum { PARENT = OWNERS - 1, MOST_TIMES = 200000 };

static double seconds_wanted(void) {
    const char *told = getenv("LARDER_SURVIVE_SECONDS");
    double seconds = told ? atof(told) : 3;
    return seconds > 0.1 ? seconds : 0.1;
}

typedef struct {
    larder *cache;
    pid_t pids[WORKERS];
    uint64_t seed, beats[WORKERS];
    int64_t seen_at[WORKERS];
    char probes[256][16]; /* a key in each shard */
    unsigned kills;
    unsigned count;
    int64_t *times; /* until every shard could be written again */
} play;

static void start_worker(play *p, int me) {
    uint64_t seed = next_random(&p->seed);
    pid_t pid = fork_child();
    if (pid == 0) {
        work(p->cache, me, seed);
    }
    p->pids[me] = pid;
    p->seen_at[me] = now_us();
}

static void begin(play *p, bool with_room, uint64_t seed) {
    memset(p, 0, sizeof *p);
    roomy = with_room;
    p->seed = seed;
    p->times = calloc(MOST_TIMES, sizeof *p->times);
    book = shared_memory(sizeof *book);
    p->cache = open_cache(with_room ? 64 << 20 : 4 << 20);
    for (uint32_t shard = 0, found = 0; p->cache && found < p->cache->core->map->super.shard_count; shard = 0) {
        for (int i = 0; found < p->cache->core->map->super.shard_count; i++) {
            char name[16];
            int bytes = snprintf(name, sizeof name, "probe %d", i);
            lard_hash hash = lard_hash_key(p->cache->core->map, name, (size_t)bytes, false);
            shard = lard_hash_shard(p->cache->core->map, &hash);
            if (!p->probes[shard][0]) {
                memcpy(p->probes[shard], name, sizeof name);
                found++;
            }
        }
    }
    for (int i = 0; i < WORKERS; i++) {
        start_worker(p, i);
    }
}

/* How long until a value could be stored in every shard; -1 where that did not come about. */
static int64_t time_to_write_everywhere(play *p) {
    int64_t start = now_us();
    for (uint32_t shard = 0; shard < p->cache->core->map->super.shard_count; shard++) {
        while (set(p->cache, p->probes[shard], "probe") != LARDER_OK) {
            if (now_us() - start > LONGEST_MS * 1000ll) {
                return -1;
            }
        }
    }
    return now_us() - start;
}

/* False where a worker ended by itself, stands still, or saw what it must not see. */
static bool all_well(play *p) {
    for (int i = 0; i < WORKERS; i++) {
        int status;
        if (waitpid(p->pids[i], &status, WNOHANG) == p->pids[i]) {
            fprintf(stderr, "  worker %d ended by itself: status %x\n", i, status);
            p->pids[i] = 0;
            return false;
        }
        uint64_t beats = READ(book->beats[i]);
        if (beats != p->beats[i]) {
            p->beats[i] = beats;
            p->seen_at[i] = now_us();
        } else if (now_us() - p->seen_at[i] > LONGEST_MS * 1000ll) {
            fprintf(stderr, "  worker %d hangs\n", i);
            return false;
        }
    }
    if (READ(book->wrong)) {
        fprintf(stderr, "  %llu wrong: %s\n", (unsigned long long)book->wrong, book->first);
        return false;
    }
    return true;
}

static void kill_one(play *p, int which) {
    kill(p->pids[which], SIGKILL);
    wait_for(p->pids[which]);
    p->pids[which] = 0;
    p->kills++;
}

static void end_all(play *p) {
    for (int i = 0; i < WORKERS; i++) {
        if (p->pids[i] > 0) {
            kill(p->pids[i], SIGCONT);
            kill_one(p, i);
        }
    }
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void finish(play *p) {
    larder_stats stats;
    char name[32];
    CHECK(all_well(p));
    for (int owner = 0; owner < OWNERS; owner++) {
        for (int key = 0; key < KEYS; key++) {
            look_up(p->cache, owner, key);
        }
    }
    CHECK(sound(p->cache));
    CHECK(larder_get_stats(p->cache, &stats) == LARDER_OK);
    CHECK(READ(book->wrong) == 0, "%s", book->first);
    uint64_t ops = 0;
    for (int i = 0; i < WORKERS; i++) {
        ops += book->beats[i];
    }
    qsort(p->times, p->count, sizeof *p->times, by_size);
    printf("  %u killed, %llu repairs, %llu resets, %llu calls, %llu refused, %llu lost", p->kills,
           (unsigned long long)stats.repairs, (unsigned long long)stats.resets, (unsigned long long)ops,
           (unsigned long long)book->refused, (unsigned long long)book->lost);
    if (p->count) {
        printf("; writing everywhere again after %.2f ms (median), %.2f (p99), %.2f (longest)",
               (double)p->times[p->count / 2] / 1000, (double)p->times[p->count * 99 / 100] / 1000,
               (double)p->times[p->count - 1] / 1000);
        CHECK(p->times[p->count / 2] < 150000, "median of %u: the lock's 200 ms were waited for", p->count);
    }
    printf("\n");
    CHECK(book->found > 100, "%llu values were seen", (unsigned long long)book->found);
    if (roomy) {
        CHECK(book->lost <= p->kills + stats.evictions, "%llu lost by %u killed", (unsigned long long)book->lost,
              p->kills);
        for (int key = 0; key < SHARED && !stats.evictions; key++) { /* an evicted one began at 0 again */
            key_text(name, "shared", 0, key);
            const char *have = get(p->cache, name);
            uint64_t number = have ? strtoull(have, NULL, 10) : 0;
            CHECK(number >= book->shared_acked[key] && number <= book->shared_begun[key],
                  "%s: %llu, not %llu to %llu", name, (unsigned long long)number,
                  (unsigned long long)book->shared_acked[key], (unsigned long long)book->shared_begun[key]);
        }
    }
    if (p->kills > 300) {
        CHECK(stats.repairs > 0, "of %u killed none held a lock", p->kills);
    }
}

static void kill_at_random(play *p, double seconds) {
    int64_t until = now_us() + (int64_t)(seconds * 1e6);
    while (now_us() < until) {
        sleep_us(500 + (unsigned)(next_random(&p->seed) % 5000));
        CHECK(all_well(p));
        int which = (int)(next_random(&p->seed) % WORKERS);
        kill_one(p, which);
        int64_t time = time_to_write_everywhere(p);
        CHECK(time >= 0, "a shard could not be written for %d ms", LONGEST_MS);
        if (p->count < MOST_TIMES) {
            p->times[p->count++] = time;
        }
        start_worker(p, which);
        if (p->kills % 32 == 0) {
            CHECK(sound(p->cache), "after %u killed", p->kills);
        }
    }
}

static void killed(bool with_room, double seconds) {
    static play p;
    int before = test_failures;
    begin(&p, with_room, with_room ? 11 : 12);
    CHECK(p.cache);
    kill_at_random(&p, seconds);
    bool went_well = test_failures == before;
    end_all(&p);
    if (went_well) {
        finish(&p);
    }
    larder_close(p.cache);
    munmap(book, sizeof *book);
    free(p.times);
}

static void killed_where_there_is_room(void) { killed(true, seconds_wanted() * 0.35); }
static void killed_in_a_full_cache(void) { killed(false, seconds_wanted() * 0.35); }

/* While one is stopped: all keys are read, own keys are stored or refused, and deletes hold. */
static void go_on_beside_a_stopped_one(play *p) {
    for (int key = 0; key < KEYS; key++) {
        for (int owner = 0; owner < OWNERS; owner++) {
            look_up(p->cache, owner, key);
        }
        int64_t start = now_us();
        larder_status status = store_own(p->cache, PARENT, key);
        CHECK(status == LARDER_OK || status == LARDER_BUSY, "%s", larder_status_name(status));
        CHECK(now_us() - start < LONGEST_MS * 1000ll);
        if (status == LARDER_BUSY) {
            CHECK(look_up(p->cache, PARENT, key) == 0, "a refused overwrite left a value");
        }
        if (key % 2) {
            delete_own(p->cache, PARENT, key);
            CHECK(look_up(p->cache, PARENT, key) == 0, "a deleted value was there");
        }
    }
}

static void stopped_at_random(void) {
    static play p;
    int64_t until = now_us() + (int64_t)(seconds_wanted() * 0.3e6);
    unsigned stops = 0;
    int before = test_failures;
    begin(&p, false, 13);
    CHECK(p.cache);
    p.cache->core->lock_timeout_ms = 5;
    while (now_us() < until && test_failures == before) {
        sleep_us(200 + (unsigned)(next_random(&p.seed) % 1500));
        int which = (int)(next_random(&p.seed) % WORKERS), status;
        kill(p.pids[which], SIGSTOP);
        waitpid(p.pids[which], &status, WUNTRACED);
        stops++;
        go_on_beside_a_stopped_one(&p);
        if (next_random(&p.seed) % 16 == 0) { /* and one that dies while it is stopped */
            kill_one(&p, which);
            start_worker(&p, which);
        } else {
            kill(p.pids[which], SIGCONT);
        }
        if (!all_well(&p)) {
            test_failures++;
        }
    }
    bool went_well = test_failures == before;
    end_all(&p);
    if (went_well) {
        printf("  %u stopped; %llu stores were refused meanwhile\n", stops, (unsigned long long)book->refused);
        finish(&p);
    }
    larder_close(p.cache);
    munmap(book, sizeof *book);
    free(p.times);
}

static const test_case tests[] = {
    TEST(killed_where_there_is_room, "processes killed at random cost no value, no number and no time"),
    TEST(killed_in_a_full_cache, "processes killed at random while the cache evicts leave no wrong value"),
    TEST(stopped_at_random, "processes stopped at random keep no one from reading, deleting and storing"),
};
RUN("survival", tests)
