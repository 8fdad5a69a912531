/*
 * count.c — counts exactly how many instructions a get, a set and a delete take.
 *
 *   valgrind --tool=callgrind --instr-atstart=no build/bench-count DIR
 *
 * Its caches are in DIR. Each operation is called CALLS times between two requests to callgrind. The second
 * request dumps the instructions executed since the first, under the operation's name; the call and the loop
 * around it, a dozen instructions, are included. Nothing depends on a clock or a random number: the linker
 * replaces the platform's functions by those below (--wrap), so that two runs of one binary count the same.
 *
 * test/guards/ runs it and compares the counts with recorded ones.
 */
#define _GNU_SOURCE
#include "../test/internals.h"
#include "fixed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CALLGRIND
#include <valgrind/callgrind.h>

#define CALLS 10000
#define BATCH 64
#define KEY_BYTES 21
#define VALUE_BYTES 100
#define TTL_MS 300000

/* ---- operations ---- */

static char keys[CALLS][KEY_BYTES + 1], others[CALLS][KEY_BYTES + 1];
static unsigned char value[VALUE_BYTES], out[BATCH][VALUE_BYTES];
static larder *cache;
static int answers; /* calls that answered as they should */

static void make_keys(char (*into)[KEY_BYTES + 1], const char *word) {
    for (int i = 0; i < CALLS; i++) {
        snprintf(into[i], sizeof into[i], "%s/%014d", word, i % 10000000);
    }
}

static void get(const char *key, larder_status expected) {
    answers += larder_get(cache, key, KEY_BYTES, out[0], VALUE_BYTES, NULL, NULL) == expected;
}

static void set(const char *key) {
    larder_store store = {
        .key = key, .key_bytes = KEY_BYTES, .value = value, .value_bytes = VALUE_BYTES, .ttl_ms = TTL_MS};
    answers += larder_set(cache, &store, NULL) == LARDER_OK;
}

static void gets(void) {
    for (int i = 0; i < CALLS; i++) {
        get(keys[i], LARDER_OK);
    }
}

static void misses(void) {
    for (int i = 0; i < CALLS; i++) {
        get(others[i], LARDER_MISS);
    }
}

static void multi_gets(void) {
    larder_lookup lookups[BATCH];
    for (int i = 0; i < CALLS; i += BATCH) {
        int count = CALLS - i < BATCH ? CALLS - i : BATCH;
        for (int j = 0; j < count; j++) {
            lookups[j] = (larder_lookup){
                .key = keys[i + j], .key_bytes = KEY_BYTES, .buffer = out[j], .buffer_bytes = VALUE_BYTES};
        }
        larder_get_multi(cache, lookups, (size_t)count, NULL);
        for (int j = 0; j < count; j++) {
            answers += lookups[j].status == LARDER_OK;
        }
    }
}

static void sets(void) {
    for (int i = 0; i < CALLS; i++) {
        set(keys[i]);
    }
}

static void other_sets(void) {
    for (int i = 0; i < CALLS; i++) {
        set(others[i]);
    }
}

static void deletes(void) {
    for (int i = 0; i < CALLS; i++) {
        answers += larder_delete(cache, keys[i], KEY_BYTES, NULL) == LARDER_OK;
    }
}

static larder *open_in(const char *directory, const char *name, uint64_t size_bytes, bool has_statistics) {
    char path[1000];
    larder *opened;
    larder_error error;
    larder_options options = {.size_bytes = size_bytes, .statistics = has_statistics};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (larder_open(path, &options, &opened, &error) != LARDER_OK) {
        fprintf(stderr, "count: %s: %s\n", error.detail, larder_status_text(error.status));
        exit(1);
    }
    return opened;
}

/* Everything between the requests is counted under `name`, with what the cache has. */
static void count(const char *name, const char *with, void (*run)(void)) {
    char full[80];
    snprintf(full, sizeof full, "%s%s", name, with);
    answers = 0;
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    run();
    CALLGRIND_DUMP_STATS_AT(full);
    CALLGRIND_STOP_INSTRUMENTATION;
    if (answers != CALLS) {
        fprintf(stderr, "count: %s: %d of %d calls as expected\n", full, answers, CALLS);
        exit(1);
    }
}

static void count_all(const char *directory, bool has_statistics) {
    const char *with = has_statistics ? ", with statistics" : "";
    cache = open_in(directory, has_statistics ? "statistics.larder" : "count.larder", 16u << 20, has_statistics);
    count("set of a new key", with, sets);
    count("get, first hit", with, gets);
    gets(); /* until the frequencies are full */
    gets();
    count("get, hit", with, gets);
    count("get_multi of 64, a hit", with, multi_gets);
    count("get, miss", with, misses);
    count("set of an old key", with, sets);
    count("delete", with, deletes);
    larder_close(cache);
    cache =
        open_in(directory, has_statistics ? "full-statistics.larder" : "full.larder", 1u << 20, has_statistics);
    sets();
    count("set of a new key in a full cache", with, other_sets);
    larder_close(cache);
}

int main(int argc, char **argv) {
    if (argc != 2 || argv[1][0] == '-' || !RUNNING_ON_VALGRIND) {
        fputs("usage: valgrind --tool=callgrind --instr-atstart=no bench-count DIR\n", stderr);
        return 2;
    }
    make_keys(keys, "record");
    make_keys(others, "absent");
    memset(value, 'v', sizeof value);
    count_all(argv[1], false);
    count_all(argv[1], true);
    printf("%d calls of each\n", CALLS);
    return 0;
}

#else

int main(void) {
    fputs("count: built without valgrind/callgrind.h (Debian: apt-get install valgrind)\n", stderr);
    return 3;
}

#endif
