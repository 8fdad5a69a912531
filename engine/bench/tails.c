/*
 * tails.c — measures how long the slowest stores take, beside a bare append to a mapped file.
 *
 *   build/bench-tails [--rounds N] [--seconds S] [--directory DIR] [--json]
 *
 * The bare append copies the same bytes (header, key, value) to the end of a file of the same size, which is made,
 * reserved and mapped in the same way. No store into a mapped file can be faster than its slowest calls, which
 * include page faults and write-back. The longer a call is, the more likely the machine interrupts it: "idle" only
 * reads the clock for SPIN_NS, about as long as a set takes, so its tail is that of the machine alone. The three
 * take turns of 256 calls, so that a slow time affects all of them.
 *
 * "fresh": both files are new, and every page is touched for the first time.
 * "steady": both have been filled once; the cache evicts, and the append starts again at the front. It lasts
 * --seconds. A last round, whose times are not counted, asks the kernel after each call (getrusage) what delayed
 * the slowest ones.
 *
 * "1 process" and "4 processes": as many as named store, get, append and idle in turns of a few calls, while one
 * more verifies and prunes the cache without a pause. The file was filled with longer values, so sets evict and
 * split buckets all the time. Each process appends to a file of its own. More processes than cores take turns on
 * them, which delays all calls alike.
 */
#include "crowd.h"

#define FRESH_CALLS (FILE_BYTES / 4 * 3 / RECORD_BYTES / BATCH * BATCH)
#define BATCH 256
#define SLOWEST 10000 /* one in this number is explained */

typedef struct {
    uint64_t faults, switches; /* of this thread so far */
} trouble;

static trouble met(void) {
    struct rusage usage;
#ifdef RUSAGE_THREAD
    getrusage(RUSAGE_THREAD, &usage);
#else
    getrusage(RUSAGE_SELF, &usage);
#endif
    return (trouble){(uint64_t)(usage.ru_minflt + usage.ru_majflt), (uint64_t)(usage.ru_nivcsw + usage.ru_nvcsw)};
}

static void begin(contest *on) {
    memset(on, 0, sizeof *on);
    on->cache = bench_open(bench_path("tails.larder"), FILE_BYTES);
    begin_bare(on, bench_path("bare"), FILE_BYTES);
}

static void end(contest *on) {
    /* Removed first, so that closing does not wait for the disk: that is not what is measured. */
    unlink(bench_path("tails.larder"));
    end_bare(on, bench_path("bare"));
    larder_close(on->cache);
    unlink(bench_path("tails.larder.lock"));
}

/* A turn of BATCH calls for each. Page faults are asked for only around a turn. */
static void turn(contest *on, bench_histogram *times, uint64_t *faults, unsigned number) {
    unsigned char value[VALUE_BYTES];
    memset(value, 'v', sizeof value);
    for (int i = 0; i < CONTENDERS; i++) {
        int contender = (i + (int)number) % CONTENDERS;
        uint64_t before = met().faults;
        for (uint64_t j = 0; j < BATCH; j++) {
            bench_record(&times[contender], call(on, contender, on->key + j, value));
        }
        faults[contender] += met().faults - before;
    }
    on->key += BATCH;
}

/* Are the last keys there, and did the append lay down as much? */
static void verify(contest *on) {
    char key[KEY_BYTES];
    unsigned char value[VALUE_BYTES];
    for (uint64_t number = on->key - BATCH; number < on->key; number++) {
        bench_key(key, number);
        if (larder_get(on->cache, key, KEY_BYTES, value, sizeof value, NULL, NULL) != LARDER_OK ||
            !bench_is_value(value, sizeof value, number)) {
            bench_die("key %lu was stored and is not there", (unsigned long)number);
        }
    }
    const uint8_t *last = on->bare + on->bare_at - RECORD_BYTES;
    if (on->laid != on->key || memcmp(last + LARD_RECORD_HEADER, key, KEY_BYTES) != 0) {
        bench_die("the bare append is not what it should be");
    }
}

enum { FRESH, STEADY, PHASES };
static const char *const phases[] = {"fresh", "steady"};
static bench_histogram rounds_times[PHASES][CONTENDERS], all_times[PHASES][CONTENDERS];
static uint64_t all_faults[PHASES][CONTENDERS], all_evictions[PHASES];

static void fill_up(contest *on) {
    unsigned char value[VALUE_BYTES];
    memset(value, 'v', sizeof value);
    for (uint64_t end = on->key + FILE_BYTES / RECORD_BYTES / 2; on->key < end; on->key++) {
        call(on, LARDER, on->key, value);
        call(on, BARE, on->key, value);
    }
}

static uint64_t evictions(const contest *on) {
    larder_stats stats;
    larder_get_stats(on->cache, &stats);
    return stats.evictions;
}

static void round_of(contest *on) {
    unsigned number = 0;
    memset(rounds_times, 0, sizeof rounds_times);
    begin(on);
    while (on->key < FRESH_CALLS) {
        turn(on, rounds_times[FRESH], all_faults[FRESH], number++);
    }
    verify(on);
    uint64_t evicted = evictions(on);
    all_evictions[FRESH] += evicted;
    fill_up(on);
    evicted = evictions(on);
    for (uint64_t limit = bench_now_ns() + (uint64_t)(bench_given.seconds * 1e9); bench_now_ns() < limit;) {
        turn(on, rounds_times[STEADY], all_faults[STEADY], number++);
    }
    verify(on);
    all_evictions[STEADY] += evictions(on) - evicted;
    end(on);
}

/* ---- what the slowest calls met ---- */

typedef struct {
    uint64_t ns;
    uint32_t faults, switches;
} slow_call;

/* The slowest calls so far, the fastest of them first in line to be replaced. */
typedef struct {
    slow_call calls[FRESH_CALLS / SLOWEST + 1];
    unsigned count, room, least;
    uint64_t faulted, calls_in_all; /* of all calls, not only the slow ones */
} slow_list;

static void note(slow_list *list, slow_call it) {
    list->calls_in_all++;
    list->faulted += it.faults > 0;
    if (list->count < list->room) {
        list->calls[list->count++] = it;
    } else if (it.ns > list->calls[list->least].ns) {
        list->calls[list->least] = it;
    } else {
        return;
    }
    list->least = 0;
    for (unsigned i = 1; i < list->count; i++) {
        list->least = list->calls[i].ns < list->calls[list->least].ns ? i : list->least;
    }
}

static void explain(contest *on) {
    static slow_list lists[CONTENDERS];
    unsigned char value[VALUE_BYTES];
    char name[120];
    memset(value, 'v', sizeof value);
    begin(on);
    for (int contender = 0; contender < CONTENDERS; contender++) {
        lists[contender].room = FRESH_CALLS / SLOWEST;
    }
    while (on->key < FRESH_CALLS) {
        for (int contender = 0; contender < CONTENDERS; contender++) {
            trouble before = met();
            for (uint64_t j = 0; j < BATCH; j++) {
                uint64_t ns = call(on, contender, on->key + j, value);
                trouble after = met();
                note(&lists[contender], (slow_call){ns, (uint32_t)(after.faults - before.faults),
                                                    (uint32_t)(after.switches - before.switches)});
                before = after;
            }
        }
        on->key += BATCH;
    }
    end(on);
    bench_heading("where the tail comes from (fresh; another round, asked after each call)");
    for (int contender = 0; contender < CONTENDERS; contender++) {
        slow_list *list = &lists[contender];
        double faults = 0, switches = 0, neither = 0;
        for (unsigned i = 0; i < list->count; i++) {
            if (list->calls[i].switches) {
                switches++;
            } else if (list->calls[i].faults) {
                faults++;
            } else {
                neither++;
            }
        }
        const char *who = names[contender];
        snprintf(name, sizeof name, "%s: calls with a page fault", who);
        bench_number(name, "%", 100.0 * (double)list->faulted / (double)list->calls_in_all);
        snprintf(name, sizeof name, "%s: slowest 0.01 %%, with a page fault", who);
        bench_number(name, "%", 100.0 * faults / list->count);
        snprintf(name, sizeof name, "%s: slowest 0.01 %%, the thread was off its core", who);
        bench_number(name, "%", 100.0 * switches / list->count);
        snprintf(name, sizeof name, "%s: slowest 0.01 %%, neither", who);
        bench_number(name, "%", 100.0 * neither / list->count);
    }
}

/* ---- report ---- */

static const struct {
    const char *name;
    double fraction;
} quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}, {"max", 2}};
#define QUANTILES (sizeof quantiles / sizeof *quantiles)

int main(int argc, char **argv) {
    static double found[PHASES][CONTENDERS][QUANTILES][MOST_ROUNDS],
        ratio[PHASES][CONTENDERS][QUANTILES][MOST_ROUNDS];
    char name[120];
    contest on;
    bench_read_options(argc, argv, 5, 1.0, "The slowest stores, beside a bare mmap append of the same bytes.");
    bench_core_count();
    bench_pin(0);
    bench_make_directory();
    bench_heading("%d-byte values, %u fresh calls and %g s of steady ones a round, %d rounds, in %s", VALUE_BYTES,
                  (unsigned)FRESH_CALLS, bench_given.seconds, bench_given.rounds, bench_given.directory);
    for (int r = 0; r < bench_given.rounds; r++) {
        round_of(&on);
        for (int p = 0; p < PHASES; p++) {
            for (size_t q = 0; q < QUANTILES; q++) {
                for (int c = 0; c < CONTENDERS; c++) {
                    found[p][c][q][r] = bench_quantile(&rounds_times[p][c], quantiles[q].fraction) / 1000;
                }
                for (int c = BARE; c < CONTENDERS; c++) {
                    ratio[p][c][q][r] = found[p][LARDER][q][r] / found[p][c][q][r];
                }
            }
            for (int c = 0; c < CONTENDERS; c++) {
                bench_merge(&all_times[p][c], &rounds_times[p][c]);
            }
        }
    }
    for (int p = 0; p < PHASES; p++) {
        for (size_t q = 0; q < QUANTILES; q++) {
            for (int c = 0; c < CONTENDERS; c++) {
                snprintf(name, sizeof name, "%s %s, %s", names[c], quantiles[q].name, phases[p]);
                bench_figure(name, "us", found[p][c][q], bench_given.rounds);
            }
            for (int c = BARE; c < CONTENDERS; c++) {
                snprintf(name, sizeof name, "set as %s, %s, %s", names[c], quantiles[q].name, phases[p]);
                bench_figure(name, "x", ratio[p][c][q], bench_given.rounds);
            }
        }
        double pooled[CONTENDERS];
        for (int c = 0; c < CONTENDERS; c++) {
            pooled[c] = bench_quantile(&all_times[p][c], 0.9999) / 1000;
            snprintf(name, sizeof name, "%s p99.99 of all rounds, %s", names[c], phases[p]);
            bench_number(name, "us", pooled[c]);
            snprintf(name, sizeof name, "%s: page faults, %s", names[c], phases[p]);
            bench_number(name, "a 1000", 1000.0 * (double)all_faults[p][c] / (double)all_times[p][c].count);
        }
        snprintf(name, sizeof name, "set: evictions, %s", phases[p]);
        bench_number(name, "a 1000", 1000.0 * (double)all_evictions[p] / (double)all_times[p][LARDER].count);
        snprintf(name, sizeof name, "set as bare append, p99.99 of all rounds, %s", phases[p]);
        bench_number(name, "x", pooled[LARDER] / pooled[BARE]);
    }
    explain(&on);
    measure_crowds();
    return 0;
}
