/*
 * large.c — measures values of 1 MiB: their speed compared with memcpy, and how long other calls wait meanwhile.
 *
 *   build/bench-large [--rounds N] [--seconds S] [--directory DIR] [--json]
 *
 * 64 values are set and got in turn, so that they are read from memory and not from a processor cache. memcpy
 * moves the same bytes between the same buffer and 64 MiB of a mapped file of its own. "Elsewhere" uses another
 * buffer each time, which is in no near cache either, like a String that is made for each value. Then small values
 * of 100 bytes are got or set on another core, while a thread sets and gets large ones, and while it rests.
 */
#include "bench.h"

#include <pthread.h>

#define LARGE_BYTES ((size_t)1 << 20)
#define LARGE_VALUES 64u
#define SMALL_BYTES 100
#define SMALL_KEYS 10000u
#define SMALL_FROM 1000000u /* numbers of their keys, apart from those of the large ones */
#define FILE_BYTES (256u << 20)

static larder *cache;
static uint8_t *bare, *buffer, *elsewhere;

static void make_bytes(void) {
    uint64_t state = 88172645463325252ull;
    for (size_t i = 0; i < LARGE_BYTES; i += 8) { /* incompressible */
        uint64_t word = bench_random(&state);
        memcpy(buffer + i, &word, 8);
    }
}

static void set_large(uint64_t number) {
    char key[KEY_BYTES];
    bench_key(key, number);
    memcpy(buffer, &number, sizeof number);
    larder_store store = {.key = key, .key_bytes = KEY_BYTES, .value = buffer, .value_bytes = LARGE_BYTES};
    larder_status status = larder_set(cache, &store, NULL);
    if (status != LARDER_OK) {
        bench_die("set of 1 MiB: %s", larder_status_text(status));
    }
}

/* False on a miss. */
static bool had_large(uint64_t number, uint8_t *into) {
    char key[KEY_BYTES];
    bench_key(key, number);
    larder_status status = larder_get(cache, key, KEY_BYTES, into, LARGE_BYTES, NULL, NULL);
    if (status != LARDER_MISS && (status != LARDER_OK || !bench_is_value(into, LARGE_BYTES, number))) {
        bench_die("value %lu of 1 MiB is wrong: %s", (unsigned long)number, larder_status_text(status));
    }
    return status == LARDER_OK;
}

static void get_into(uint64_t number, uint8_t *into) {
    if (!had_large(number, into)) {
        bench_die("value %lu of 1 MiB is not there", (unsigned long)number);
    }
}

static void get_large(uint64_t number) { get_into(number, buffer); }
static void get_elsewhere(uint64_t number) { get_into(number, elsewhere + number * LARGE_BYTES); }

static void copy_in(uint64_t number) { memcpy(bare + number * LARGE_BYTES, buffer, LARGE_BYTES); }
static void copy_out(uint64_t number) { memcpy(buffer, bare + number * LARGE_BYTES, LARGE_BYTES); }
static void copy_elsewhere(uint64_t number) {
    memcpy(elsewhere + number * LARGE_BYTES, bare + number * LARGE_BYTES, LARGE_BYTES);
}

typedef void (*move)(uint64_t number);

/* GB/s of a move, repeated for a part of the stretch. */
static double bandwidth(move one) {
    uint64_t start = bench_now_ns(), limit = start + (uint64_t)(bench_given.seconds * 1e9), now, count = 0;
    do {
        one(count++ % LARGE_VALUES);
        now = bench_now_ns();
    } while (now < limit || count < LARGE_VALUES);
    return (double)count * (double)LARGE_BYTES / (double)(now - start);
}

/* ---- small values beside large ones ---- */

static volatile int stopped;

static void *churn(void *unused) {
    (void)unused;
    bench_pin(1);
    for (uint64_t i = 0; !stopped; i++) {
        set_large(i % LARGE_VALUES);
        had_large(i * 7 % LARGE_VALUES, buffer); /* small sets may have evicted it */
    }
    return NULL;
}

static void small_calls(bench_histogram *times, bool setting, uint64_t *state) {
    char key[KEY_BYTES];
    unsigned char value[SMALL_BYTES];
    memset(times, 0, sizeof *times);
    uint64_t limit = bench_now_ns() + (uint64_t)(bench_given.seconds * 1e9), now;
    do {
        uint64_t number = SMALL_FROM + bench_random(state) % SMALL_KEYS;
        bench_key(key, number);
        bench_value(value, sizeof value, number);
        larder_store store = {.key = key, .key_bytes = KEY_BYTES, .value = value, .value_bytes = sizeof value};
        uint64_t start = bench_now_ns();
        larder_status status = setting ? larder_set(cache, &store, NULL)
                                       : larder_get(cache, key, KEY_BYTES, value, sizeof value, NULL, NULL);
        now = bench_now_ns();
        /* A large set may evict a small value: a miss is an answer here. */
        if (status != LARDER_OK && (setting || status != LARDER_MISS)) {
            bench_die("small value: %s", larder_status_text(status));
        }
        if (status == LARDER_OK && !bench_is_value(value, sizeof value, number)) {
            bench_die("small value %lu is wrong", (unsigned long)number);
        }
        bench_record(times, now - start);
    } while (now < limit);
}

static void beside(const char *what, bool setting) {
    static bench_histogram alone, meanwhile;
    static const struct {
        const char *name;
        double fraction;
    } quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 2}};
    double found[2][4][MOST_ROUNDS], ratio[4][MOST_ROUNDS];
    uint64_t state = 1234567;
    char name[120];
    for (int r = 0; r < bench_given.rounds; r++) {
        pthread_t thread;
        bench_fill(cache, SMALL_FROM, SMALL_FROM + SMALL_KEYS, SMALL_BYTES);
        small_calls(&alone, setting, &state);
        stopped = 0;
        if (pthread_create(&thread, NULL, churn, NULL) != 0) {
            bench_die("no thread could be started");
        }
        small_calls(&meanwhile, setting, &state);
        stopped = 1;
        pthread_join(thread, NULL);
        for (int q = 0; q < 4; q++) {
            found[0][q][r] = bench_quantile(&alone, quantiles[q].fraction) / 1000;
            found[1][q][r] = bench_quantile(&meanwhile, quantiles[q].fraction) / 1000;
            ratio[q][r] = found[1][q][r] / found[0][q][r];
        }
    }
    for (int q = 0; q < 4; q++) {
        snprintf(name, sizeof name, "small %s alone, %s", what, quantiles[q].name);
        bench_figure(name, "us", found[0][q], bench_given.rounds);
        snprintf(name, sizeof name, "small %s with large values, %s", what, quantiles[q].name);
        bench_figure(name, "us", found[1][q], bench_given.rounds);
        snprintf(name, sizeof name, "small %s with large values as alone, %s", what, quantiles[q].name);
        bench_figure(name, "x", ratio[q], bench_given.rounds);
    }
}

static void map_bare(void) {
    int fd = open(bench_path("bare"), O_RDWR | O_CREAT, 0600);
    if (fd < 0 || posix_fallocate(fd, 0, LARGE_VALUES * LARGE_BYTES) != 0) {
        bench_die("%s: %s", bench_path("bare"), strerror(errno));
    }
    bare = mmap(NULL, LARGE_VALUES * LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    buffer = malloc(LARGE_BYTES);
    elsewhere = malloc(LARGE_VALUES * LARGE_BYTES);
    if (bare == MAP_FAILED || !buffer || !elsewhere) {
        bench_die("no memory: %s", strerror(errno));
    }
    close(fd);
}

int main(int argc, char **argv) {
    enum { SET, COPY_IN, GET, COPY_OUT, GET_ELSEWHERE, COPY_ELSEWHERE, MOVES };
    static const move moves[MOVES] = {set_large, copy_in, get_large, copy_out, get_elsewhere, copy_elsewhere};
    static const char *const names[MOVES] = {
        "set of 1 MiB", "memcpy in", "get of 1 MiB", "memcpy out", "get of 1 MiB elsewhere", "memcpy elsewhere"};
    double rate[MOVES][MOST_ROUNDS], share[MOVES / 2][MOST_ROUNDS];
    bench_read_options(argc, argv, 5, 0.2,
                       "Values of 1 MiB compared with memcpy, and small values at the same time.");
    int cores = bench_core_count();
    bench_pin(0);
    bench_make_directory();
    cache = bench_open(bench_path("large.larder"), FILE_BYTES);
    map_bare();
    make_bytes();
    bench_heading("%u values of 1 MiB, %d rounds of %g s a stretch, %d cores, in %s", LARGE_VALUES,
                  bench_given.rounds, bench_given.seconds, cores, bench_given.directory);
    for (int pass = 0; pass < 6; pass++) { /* touches each page of both files: that is not what is measured */
        for (uint64_t i = 0; i < LARGE_VALUES; i++) {
            set_large(i);
            copy_in(i);
            copy_elsewhere(i);
        }
    }
    for (int r = 0; r < bench_given.rounds; r++) {
        for (int i = 0; i < MOVES; i++) {
            int m = (i + r) % MOVES;
            rate[m][r] = bandwidth(moves[m]);
        }
        share[0][r] = rate[SET][r] / rate[COPY_IN][r];
        share[1][r] = rate[GET][r] / rate[COPY_OUT][r];
        share[2][r] = rate[GET_ELSEWHERE][r] / rate[COPY_ELSEWHERE][r];
    }
    for (int m = 0; m < MOVES; m++) {
        bench_figure(names[m], "GB/s", rate[m], bench_given.rounds);
    }
    bench_figure("set of 1 MiB as memcpy", "x", share[0], bench_given.rounds);
    bench_figure("get of 1 MiB as memcpy", "x", share[1], bench_given.rounds);
    bench_figure("get of 1 MiB elsewhere as memcpy", "x", share[2], bench_given.rounds);
    beside("gets", false);
    beside("sets", true);
    larder_close(cache);
    return 0;
}
