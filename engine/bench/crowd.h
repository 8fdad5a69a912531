/*
 * crowd.h — the calls of contest.h in several processes, while one more verifies and prunes the cache: see
 * tails.c.
 */
#ifndef LARD_BENCH_CROWD_H
#define LARD_BENCH_CROWD_H

#include "contest.h"

#define MOST_WORKERS 4
#define CROWD_TURN 16
#define LONG_BYTES 1000 /* of the values that are evicted */
#define WORKER_KEYS 2000000u
#define RECENT 20000u

enum { CROWD_SET, CROWD_GET, CROWD_BARE, CROWD_IDLE, CALLS };
static const char *const call_names[] = {"set", "get", "bare append", "idle"};
static const int crowds[] = {1, MOST_WORKERS};
#define CROWDS 2

static struct {
    volatile uint32_t stop;
    volatile uint64_t start_ns, end_ns;
    uint64_t verified, hits, gets;
    bench_histogram times[MOST_WORKERS][CALLS];
} * crowd; /* shared by the forked */

static void get(contest *on, uint64_t number, unsigned char *value) {
    char key[KEY_BYTES];
    bench_key(key, number);
    if (larder_get(on->cache, key, KEY_BYTES, value, LONG_BYTES, NULL, NULL) == LARDER_OK) {
        if (!bench_is_value(value, LONG_BYTES, number)) {
            bench_die("key %lu has a wrong value", (unsigned long)number);
        }
        __atomic_add_fetch(&crowd->hits, 1, __ATOMIC_RELAXED);
    }
    __atomic_add_fetch(&crowd->gets, 1, __ATOMIC_RELAXED);
}

static uint64_t crowd_call(contest *on, int which, uint64_t number, unsigned char *value) {
    static const int contenders[] = {[CROWD_SET] = LARDER, [CROWD_BARE] = BARE, [CROWD_IDLE] = IDLE};
    if (which != CROWD_GET) {
        return call(on, contenders[which], number, value);
    }
    uint64_t start = bench_now_ns();
    get(on, number, value);
    return bench_now_ns() - start;
}

static void crowd_worker(contest *on, int self) {
    unsigned char value[LONG_BYTES];
    uint64_t chance = 88172645463325252u + (uint64_t)self * 7919, first = (uint64_t)(self + 1) * WORKER_KEYS;
    bench_pin(self);
    on->key = first;
    while (bench_now_ns() < crowd->start_ns) {
    }
    for (unsigned number = 0; number < CALLS || bench_now_ns() < crowd->end_ns; number++) {
        int which = (int)(number % CALLS);
        for (uint64_t j = 0; j < CROWD_TURN; j++) {
            uint64_t stored = on->key - first, recent = stored < RECENT ? stored : RECENT;
            memset(value, 'v', VALUE_BYTES);
            if (which == CROWD_GET && recent == 0) {
                continue;
            }
            uint64_t key = which == CROWD_GET ? on->key - 1 - bench_random(&chance) % recent : on->key;
            bench_record(&crowd->times[self][which], crowd_call(on, which, key, value));
            on->key += which == CROWD_SET;
        }
        if (on->key - first >= WORKER_KEYS - CROWD_TURN) {
            on->key = first;
        }
    }
    _exit(0);
}

static void upkeep(larder *cache) {
    larder_report report;
    while (!crowd->stop) {
        if (larder_verify(cache, &report) != LARDER_OK || report.problems) {
            bench_die("verify: %s", report.first);
        }
        larder_prune(cache, NULL, NULL);
        crowd->verified++;
    }
    _exit(0);
}

/* A round of `count` workers; what they measured is in crowd->times. */
static void run_crowd(int count) {
    contest on[MOST_WORKERS];
    pid_t workers[MOST_WORKERS];
    char name[20];
    crowd->stop = 0;
    memset(crowd->times, 0, sizeof crowd->times);
    larder *cache = bench_open(bench_path("tails.larder"), FILE_BYTES);
    bench_fill(cache, 0, FILE_BYTES / LONG_BYTES, LONG_BYTES);
    for (int i = 0; i < count; i++) {
        memset(&on[i], 0, sizeof on[i]);
        on[i].cache = cache;
        snprintf(name, sizeof name, "bare-%d", i);
        begin_bare(&on[i], bench_path(name), FILE_BYTES / MOST_WORKERS);
    }
    crowd->start_ns = bench_now_ns() + 20000000;
    crowd->end_ns = crowd->start_ns + (uint64_t)(bench_given.seconds * 1e9);
    pid_t keeper = bench_fork();
    if (keeper == 0) {
        bench_pin(count);
        upkeep(cache);
    }
    for (int i = 0; i < count; i++) {
        workers[i] = bench_fork();
        if (workers[i] == 0) {
            crowd_worker(&on[i], i);
        }
    }
    for (int i = 0; i < count; i++) {
        bench_wait_well(workers[i]);
    }
    crowd->stop = 1;
    bench_wait_well(keeper);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "bare-%d", i);
        end_bare(&on[i], bench_path(name));
    }
    unlink(bench_path("tails.larder"));
    larder_close(cache);
    unlink(bench_path("tails.larder.lock"));
}

static void measure_crowds(void) {
    static const struct {
        const char *name;
        double fraction;
    } tail[] = {{"p50", 0.5}, {"p99.9", 0.999}, {"p99.99", 0.9999}};
    enum { TAIL = 3 };
    static double found[CROWDS][CALLS][TAIL][MOST_ROUNDS], ratio[CROWDS][CALLS][TAIL][MOST_ROUNDS];
    static bench_histogram all;
    char name[120], who[30];
    crowd = bench_shared(sizeof *crowd);
    for (int r = 0; r < bench_given.rounds; r++) {
        for (int c = 0; c < CROWDS; c++) {
            run_crowd(crowds[c]);
            for (int w = 0; w < CALLS; w++) {
                memset(&all, 0, sizeof all);
                for (int i = 0; i < crowds[c]; i++) {
                    bench_merge(&all, &crowd->times[i][w]);
                }
                for (int t = 0; t < TAIL; t++) {
                    found[c][w][t][r] = bench_quantile(&all, tail[t].fraction) / 1000;
                }
            }
            for (int w = 0; w < CALLS; w++) {
                for (int t = 0; t < TAIL; t++) {
                    ratio[c][w][t][r] = found[c][w][t][r] / found[c][CROWD_BARE][t][r];
                }
            }
        }
    }
    bench_heading("with upkeep in another process");
    for (int c = 0; c < CROWDS; c++) {
        snprintf(who, sizeof who, "%d process%s", crowds[c], crowds[c] > 1 ? "es" : "");
        for (int w = 0; w < CALLS; w++) {
            for (int t = 0; t < TAIL; t++) {
                snprintf(name, sizeof name, "%s %s, %s", call_names[w], tail[t].name, who);
                bench_figure(name, "us", found[c][w][t], bench_given.rounds);
                if (w < CROWD_BARE) {
                    snprintf(name, sizeof name, "%s as bare append, %s, %s", call_names[w], tail[t].name, who);
                    bench_figure(name, "x", ratio[c][w][t], bench_given.rounds);
                }
            }
        }
    }
    bench_number("verifications and prunes during these calls", "", (double)crowd->verified);
    bench_number("hits of these gets", "%", 100.0 * (double)crowd->hits / (double)crowd->gets);
    munmap(crowd, sizeof *crowd);
}

#endif
