/*
 * bench.c — the engine beside LMDB (no sync) and beside a bare loop that only hashes,
 * reads two index lines, copies and checksums: the floor of any such design.
 *
 *   build/bench [--rounds N] [--directory DIR]
 *
 * Contenders take turns within each round; what is printed is the median time an
 * operation and the median of the rounds' ratios. Random keys come from one fixed seed.
 */
#define _GNU_SOURCE
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_LMDB
#include <lmdb.h>
#endif

#define VALUE_BYTES 100
#define MOST_ROUNDS 101

typedef struct {
    const char *name;
    double ns[MOST_ROUNDS];
} series;

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t random_state = 88172645463325252ull;
static uint64_t next_random(void) { /* xorshift64 (Marsaglia 2003) */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static size_t make_key(char *out, uint64_t number) {
    return (size_t)sprintf(out, "views/product/%08lu", (unsigned long)number);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(const double *values, int count) {
    double sorted[MOST_ROUNDS];
    memcpy(sorted, values, sizeof(double) * (size_t)count);
    qsort(sorted, (size_t)count, sizeof(double), by_value);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static volatile uint64_t sink;
static larder *cache;
static unsigned char value[VALUE_BYTES], out[VALUE_BYTES + 8];

static void fill_larder(uint64_t keys) {
    char key[40];
    for (uint64_t i = 0; i < keys; i++) {
        larder_store store = {
            .key = key, .key_bytes = make_key(key, i), .value = value, .value_bytes = VALUE_BYTES};
        larder_set(cache, &store, NULL);
    }
}

static double larder_gets(uint64_t keys, uint64_t count) {
    char key[40];
    uint64_t found = 0;
    double start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        size_t bytes = make_key(key, next_random() % keys);
        found += larder_get(cache, key, bytes, out, sizeof out, NULL, NULL) == LARDER_OK;
    }
    double ns = (now_ns() - start) / (double)count;
    if (found != count) {
        fprintf(stderr, "larder: %lu of %lu found\n", (unsigned long)found, (unsigned long)count);
        exit(1);
    }
    return ns;
}

static double larder_sets(uint64_t keys, uint64_t count) {
    char key[40];
    double start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        larder_store store = {.key = key,
                              .key_bytes = make_key(key, next_random() % keys),
                              .value = value,
                              .value_bytes = VALUE_BYTES};
        if (larder_set(cache, &store, NULL) != LARDER_OK) {
            exit(1);
        }
    }
    return (now_ns() - start) / (double)count;
}

#define BATCH 64
static double larder_multi(uint64_t keys, uint64_t count) {
    static char key[BATCH][40], buffers[BATCH][VALUE_BYTES];
    larder_lookup lookups[BATCH];
    double start = now_ns();
    for (uint64_t i = 0; i < count; i += BATCH) {
        for (int j = 0; j < BATCH; j++) {
            lookups[j] = (larder_lookup){.key = key[j],
                                         .key_bytes = make_key(key[j], next_random() % keys),
                                         .buffer = buffers[j],
                                         .buffer_bytes = VALUE_BYTES};
        }
        larder_get_multi(cache, lookups, BATCH, NULL);
    }
    return (now_ns() - start) / (double)count;
}

/* What each loop above spends on making its keys: taken off all of them. */
static double keys_only(uint64_t keys, uint64_t count) {
    char key[40];
    double start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        sink += make_key(key, next_random() % keys);
        sink += (unsigned char)key[20];
    }
    return (now_ns() - start) / (double)count;
}

/* The floor: an array of records at random places, found by arithmetic instead of an index. */
static struct {
    uint64_t *index;
    uint64_t *records;
    uint64_t buckets;
} bare;
#define BARE_WORDS 20

static void fill_bare(uint64_t keys) {
    bare.buckets = 1;
    while (bare.buckets * 5 < keys) {
        bare.buckets *= 2;
    }
    bare.index = calloc(bare.buckets, 64);
    bare.records = malloc(keys * BARE_WORDS * 8);
    for (uint64_t i = 0; i < keys * BARE_WORDS; i++) {
        bare.records[i] = next_random();
    }
}

static double bare_gets(uint64_t keys, uint64_t count) {
    static const uint64_t seed[2] = {1, 2};
    char key[40];
    double start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = next_random() % keys;
        size_t bytes = make_key(key, number);
        uint64_t hash = lard_siphash13(seed, key, bytes);
        sink += bare.index[(hash & (bare.buckets - 1)) * 8] + bare.index[((hash >> 32) & (bare.buckets - 1)) * 8];
        const lard_u64 *record = (const lard_u64 *)(bare.records + number * BARE_WORDS);
        sink += lard_crc_copy_out(0, record, 0, out, VALUE_BYTES);
    }
    return (now_ns() - start) / (double)count;
}

#ifdef HAVE_LMDB
static MDB_env *env;
static MDB_dbi dbi;

static void must(int code) {
    if (code) {
        fprintf(stderr, "lmdb: %s\n", mdb_strerror(code));
        exit(1);
    }
}

static void open_lmdb(const char *directory) {
    char path[400];
    MDB_txn *txn;
    snprintf(path, sizeof path, "%s/lmdb", directory);
    must(mdb_env_create(&env));
    must(mdb_env_set_mapsize(env, 2ull << 30));
    must(mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NOSYNC | MDB_WRITEMAP, 0600));
    must(mdb_txn_begin(env, NULL, 0, &txn));
    must(mdb_dbi_open(txn, NULL, MDB_CREATE, &dbi));
    must(mdb_txn_commit(txn));
}

static void fill_lmdb(uint64_t keys) {
    char key[40];
    MDB_txn *txn;
    must(mdb_txn_begin(env, NULL, 0, &txn));
    for (uint64_t i = 0; i < keys; i++) {
        MDB_val k = {make_key(key, i), key}, v = {VALUE_BYTES, value};
        must(mdb_put(txn, dbi, &k, &v, 0));
    }
    must(mdb_txn_commit(txn));
}

static double lmdb_gets(uint64_t keys, uint64_t count) {
    char key[40];
    MDB_txn *txn;
    must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
    mdb_txn_reset(txn);
    double start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        MDB_val k = {make_key(key, next_random() % keys), key}, v;
        must(mdb_txn_renew(txn));
        must(mdb_get(txn, dbi, &k, &v));
        memcpy(out, v.mv_data, v.mv_size);
        mdb_txn_reset(txn);
    }
    double ns = (now_ns() - start) / (double)count;
    mdb_txn_abort(txn);
    return ns;
}

static double lmdb_sets(uint64_t keys, uint64_t count) {
    char key[40];
    double start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        MDB_txn *txn;
        MDB_val k = {make_key(key, next_random() % keys), key}, v = {VALUE_BYTES, value};
        must(mdb_txn_begin(env, NULL, 0, &txn));
        must(mdb_put(txn, dbi, &k, &v, 0));
        must(mdb_txn_commit(txn));
    }
    return (now_ns() - start) / (double)count;
}
#endif

typedef double (*block)(uint64_t keys, uint64_t count);

static void compare(const char *title, uint64_t keys, uint64_t count, int rounds, int contenders,
                    const char **names, const block *blocks) {
    series result[4];
    double overhead[MOST_ROUNDS];
    for (int r = 0; r < rounds; r++) {
        overhead[r] = keys_only(keys, count);
        for (int i = 0; i < contenders; i++) {
            int c = (i + r) % contenders;
            result[c].ns[r] = blocks[c](keys, count);
        }
    }
    double off = median(overhead, rounds);
    for (int c = 0; c < contenders; c++) {
        double ratio[MOST_ROUNDS];
        for (int r = 0; r < rounds; r++) {
            ratio[r] = (result[c].ns[r] - off) / (result[0].ns[r] - off);
        }
        printf("%-26s %-12s %9.1f ns %9.4fx\n", c ? "" : title, names[c], median(result[c].ns, rounds) - off,
               median(ratio, rounds));
    }
    fflush(stdout);
}

int main(int argc, char **argv) {
    int rounds = 9;
    const char *base = "/tmp";
    char directory[300], path[340], command[340];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--rounds") && i + 1 < argc) {
            rounds = atoi(argv[++i]);
        } else if (!strcmp(argv[i], "--directory") && i + 1 < argc) {
            base = argv[++i];
        } else {
            fprintf(stderr, "usage: bench [--rounds 1..%d] [--directory DIR]\n", MOST_ROUNDS);
            return 2;
        }
    }
    rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    snprintf(directory, sizeof directory, "%.250s/larder-bench-XXXXXX", base);
    if (!mkdtemp(directory)) {
        perror(directory);
        return 1;
    }
    snprintf(path, sizeof path, "%s/b.larder", directory);
    larder_options options = {.size_bytes = 1u << 30};
    larder_error error;
    if (larder_open(path, &options, &cache, &error) != LARDER_OK) {
        fprintf(stderr, "%s: %s\n", error.detail, larder_status_text(error.status));
        return 1;
    }
    memset(value, 'v', sizeof value);
    printf("%d-byte values, %d rounds, in %s; ratios to larder\n\n", VALUE_BYTES, rounds, base);
    const uint64_t sizes[] = {16, 100000, 1000000};
    const char *titles[] = {"get, 16 hot keys", "get, 100,000 keys", "get, 1,000,000 keys"};
#ifdef HAVE_LMDB
    open_lmdb(directory);
    const char *names[] = {"larder", "bare loop", "lmdb"};
    const block gets[] = {larder_gets, bare_gets, lmdb_gets};
    const char *set_names[] = {"larder", "lmdb"};
    const block sets[] = {larder_sets, lmdb_sets};
    int get_contenders = 3, set_contenders = 2;
#else
    const char *names[] = {"larder", "bare loop"};
    const block gets[] = {larder_gets, bare_gets};
    const char *set_names[] = {"larder"};
    const block sets[] = {larder_sets};
    int get_contenders = 2, set_contenders = 1;
    printf("(built without liblmdb: no comparison with LMDB)\n\n");
#endif
    const char *multi_names[] = {"get", "get_multi"};
    const block multi[] = {larder_gets, larder_multi};
    for (int i = 0; i < 3; i++) {
        fill_larder(sizes[i]);
        fill_bare(sizes[i]);
#ifdef HAVE_LMDB
        fill_lmdb(sizes[i]);
#endif
        compare(titles[i], sizes[i], 200000, rounds, get_contenders, names, gets);
        if (i == 1) {
            compare("set, 100,000 keys", sizes[i], 100000, rounds, set_contenders, set_names, sets);
        }
        free(bare.index);
        free(bare.records);
    }
    compare("get_multi of 64, 1,000,000", sizes[2], 200000, rounds, 2, multi_names, multi);
    larder_close(cache);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command) ? 1 : 0;
}
