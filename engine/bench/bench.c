/*
 * bench.c — compares the engine with LMDB (no sync) and with two floors.
 *
 * The floors are loops of this program's own hash, copy and checksum in plain memory:
 *
 *   floor, index   hashes, reads two buckets, takes the record's place from a slot
 *                  there, copies, checks the CRC: no get with an index and a checksum
 *                  can be faster. The record waits for the bucket.
 *   floor, array   the same, but the record's place is computed, so that bucket and
 *                  record are fetched at once, which no index can do.
 *
 * Neither compares keys, nor checks that nothing changed meanwhile.
 *
 *   build/bench [--rounds N] [--directory DIR]
 *
 * Contenders take turns within each round. The program prints the median time of an operation and the median of
 * the rounds' ratios. Random keys come from one fixed seed.
 */
#include "bench.h"

#ifdef HAVE_LMDB
#include <lmdb.h>
#endif

#define VALUE_BYTES 100
#define COUNT 200000 /* of each contender in each round; a multiple of 64 */

typedef struct {
    const char *name;
    double ns[MOST_ROUNDS];
} series;

static double now_ns(void) { return (double)bench_now_ns(); }

static uint64_t random_state = 88172645463325252ull;
static uint64_t next_random(void) { return bench_random(&random_state); }

static size_t make_key(char *out, uint64_t number) {
    return (size_t)sprintf(out, "views/product/%08lu", (unsigned long)number);
}

static volatile uint64_t sink;
static larder *cache;
static unsigned char value[VALUE_BYTES], out[VALUE_BYTES + 8];

static void must_hold(const char *name, uint64_t found, uint64_t count) {
    if (found != count) {
        bench_die("%s: %lu of %lu found", name, (unsigned long)found, (unsigned long)count);
    }
}

static void fill_larder(larder *cache, uint64_t keys) {
    char key[40];
    for (uint64_t i = 0; i < keys; i++) {
        larder_store store = {
            .key = key, .key_bytes = make_key(key, i), .value = value, .value_bytes = VALUE_BYTES};
        larder_status status = larder_set(cache, &store, NULL);
        if (status != LARDER_OK) {
            bench_die("filling: %s", larder_status_text(status));
        }
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
    must_hold("larder", found, count);
    return ns;
}

static double sets(larder *cache, uint64_t keys, uint64_t count) {
    char key[40];
    double start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        larder_store store = {.key = key,
                              .key_bytes = make_key(key, next_random() % keys),
                              .value = value,
                              .value_bytes = VALUE_BYTES};
        larder_status status = larder_set(cache, &store, NULL);
        if (status != LARDER_OK) {
            bench_die("set: %s", larder_status_text(status));
        }
    }
    return (now_ns() - start) / (double)count;
}

static double larder_sets(uint64_t keys, uint64_t count) { return sets(cache, keys, count); }

/* Into a file of which every page has been written by this process: evicts at each turn. */
static larder *used_cache;
static double used_larder_sets(uint64_t keys, uint64_t count) { return sets(used_cache, keys, count); }

#define BATCH 64
static double larder_multi(uint64_t keys, uint64_t count) {
    uint64_t found = 0;
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
        for (int j = 0; j < BATCH; j++) {
            found += lookups[j].status == LARDER_OK;
        }
    }
    double ns = (now_ns() - start) / (double)count;
    must_hold("get_multi", found, count);
    return ns;
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

/* The floors: records of 22 bytes of key and a value, two-choice buckets of slots as the engine's. */
enum { BARE_WORDS = 19, BARE_BODY = 16 }; /* a checksum, a body, and the engine's header is two words more */
static const uint64_t bare_seed[2] = {1, 2};
static struct {
    lard_bucket *index;
    uint64_t *records;
    uint64_t buckets;
} bare;

static lard_hash bare_hash(const char *key, size_t bytes) {
    lard_hash hash =
        lard_hash_inline(bare_seed, key, bytes, lard_word_tail((const unsigned char *)key, bytes), false);
    hash.fingerprint |= 1; /* an empty slot has fingerprint 0 */
    return hash;
}

static lard_bucket *bare_bucket(uint32_t hash) { return &bare.index[(hash * bare.buckets) >> 32]; }

static unsigned bare_load(const lard_bucket *bucket) {
    unsigned used = 0;
    while (used < LARD_BUCKET_SLOTS && bucket->slots[used].raw_) {
        used++;
    }
    return used;
}

static void fill_bare(uint64_t keys) {
    bare.buckets = keys / 5 + 1; /* as full as the engine's */
    bare.index = aligned_alloc(64, bare.buckets * sizeof *bare.index);
    bare.records = malloc(keys * BARE_WORDS * 8);
    if (!bare.index || !bare.records) {
        bench_die("no memory for the floors");
    }
    memset(bare.index, 0, bare.buckets * sizeof *bare.index);
    for (uint64_t i = 0; i < keys; i++) {
        char key[40];
        uint64_t *record = bare.records + i * BARE_WORDS;
        for (int w = 0; w < BARE_BODY; w++) {
            record[1 + w] = next_random();
        }
        record[0] = lard_crc_copy_out(0, (lard_u64 *)(record + 1), 0, out, VALUE_BYTES);
        lard_hash hash = bare_hash(key, make_key(key, i));
        lard_bucket *first = bare_bucket(hash.first), *second = bare_bucket(hash.second);
        lard_bucket *emptier = bare_load(second) < bare_load(first) ? second : first;
        if (bare_load(emptier) == LARD_BUCKET_SLOTS) {
            bench_die("floor: both buckets are full");
        }
        emptier->slots[bare_load(emptier)].raw_ = lard_slot_make((i + 1) * BARE_WORDS * 8, hash.fingerprint, 0);
    }
}

/* `by_index`: where the record is, is read from the buckets; else they are read and the place is computed. */
LARD_INLINE double bare_gets(bool by_index, bool fast, uint64_t keys, uint64_t count) {
    char key[40];
    uint64_t found = 0;
    double start = now_ns();
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = next_random() % keys;
        lard_hash hash = bare_hash(key, make_key(key, number));
        lard_bucket *first = bare_bucket(hash.first), *second = bare_bucket(hash.second);
        const uint64_t *record = bare.records + number * BARE_WORDS;
        if (by_index) {
            unsigned mask = lard_probe(first, second, hash.fingerprint);
            uint64_t slot = mask ? lard_load(lard_probe_slot(first, second, mask)) : 0;
            record = bare.records + LARD_SLOT_OFFSET(slot) / 8 - BARE_WORDS;
        } else {
            sink += lard_load(&first->slots[0]) + lard_load(&second->slots[0]);
        }
        found += lard_crc_out(fast, 0, (const lard_u64 *)(record + 1), 0, out, VALUE_BYTES) == record[0];
    }
    double ns = (now_ns() - start) / (double)count;
    must_hold("floor", found, count);
    return ns;
}

static double floor_index(uint64_t keys, uint64_t count) {
    return lard_crc_hardware ? bare_gets(true, true, keys, count) : bare_gets(true, false, keys, count);
}

static double floor_array(uint64_t keys, uint64_t count) {
    return lard_crc_hardware ? bare_gets(false, true, keys, count) : bare_gets(false, false, keys, count);
}

#ifdef HAVE_LMDB
static MDB_env *env;
static MDB_dbi dbi;

static void must(int code) {
    if (code) {
        bench_die("lmdb: %s", mdb_strerror(code));
    }
}

static void open_lmdb(void) {
    MDB_txn *txn;
    must(mdb_env_create(&env));
    must(mdb_env_set_mapsize(env, 2ull << 30));
    must(mdb_env_open(env, bench_path("lmdb"), MDB_NOSUBDIR | MDB_NOSYNC | MDB_WRITEMAP, 0600));
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
    double off = bench_median(overhead, rounds);
    for (int c = 0; c < contenders; c++) {
        double ratio[MOST_ROUNDS];
        for (int r = 0; r < rounds; r++) {
            ratio[r] = (result[c].ns[r] - off) / (result[0].ns[r] - off);
        }
        printf("%-26s %-12s %9.1f ns %9.4fx\n", c ? "" : title, names[c], bench_median(result[c].ns, rounds) - off,
               bench_median(ratio, rounds));
    }
    fflush(stdout);
}

/* Until the file has been written once and again. */
static void use_up(larder *opened, uint64_t keys) {
    used_cache = opened;
    uint64_t records = 2 * larder_size(opened) / (VALUE_BYTES + 50);
    used_larder_sets(keys, records);
}

int main(int argc, char **argv) {
    bench_read_options(argc, argv, 9, 1,
                       "The engine beside LMDB and beside bare loops; --seconds and --json are not used.");
    bench_make_directory();
    int rounds = bench_given.rounds;
    cache = bench_open(bench_path("b.larder"), 1u << 30);
    memset(value, 'v', sizeof value);
    printf("%d-byte values, %d rounds, in %s; ratios to larder\n\n", VALUE_BYTES, rounds, bench_given.directory);
    const uint64_t sizes[] = {16, 100000, 1000000};
    const char *titles[] = {"get, 16 hot keys", "get, 100,000 keys", "get, 1,000,000 keys"};
#ifdef HAVE_LMDB
    open_lmdb();
    const char *names[] = {"larder", "floor, index", "floor, array", "lmdb"};
    const block gets[] = {larder_gets, floor_index, floor_array, lmdb_gets};
    const char *set_names[] = {"larder", "lmdb"};
    const block new_sets[] = {larder_sets, lmdb_sets}, used_sets[] = {used_larder_sets, lmdb_sets};
    int get_contenders = 4, set_contenders = 2;
#else
    const char *names[] = {"larder", "floor, index", "floor, array"};
    const block gets[] = {larder_gets, floor_index, floor_array};
    const char *set_names[] = {"larder"};
    const block new_sets[] = {larder_sets}, used_sets[] = {used_larder_sets};
    int get_contenders = 3, set_contenders = 1;
    printf("(built without liblmdb: no comparison with LMDB)\n\n");
#endif
    const char *multi_names[] = {"get", "get_multi"};
    const block multi[] = {larder_gets, larder_multi};
    for (int i = 0; i < 3; i++) {
        fill_larder(cache, sizes[i]);
        fill_bare(sizes[i]);
#ifdef HAVE_LMDB
        fill_lmdb(sizes[i]);
#endif
        compare(titles[i], sizes[i], COUNT, rounds, get_contenders, names, gets);
        if (i == 1) {
            use_up(bench_open(bench_path("used.larder"), 128u << 20), sizes[i]);
            compare("set, 100,000 keys", sizes[i], COUNT / 2, rounds, set_contenders, set_names, used_sets);
            compare("the same, file untouched", sizes[i], COUNT / 2, rounds, set_contenders, set_names, new_sets);
            larder_close(used_cache);
        }
        free(bare.index);
        free(bare.records);
    }
    compare("get_multi of 64, 1,000,000", sizes[2], COUNT, rounds, 2, multi_names, multi);
    larder_close(cache);
    return 0;
}
