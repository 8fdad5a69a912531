/*
 * hash_test.c — checks SipHash-1-3 against published values and against a second implementation.
 *
 * The second implementation is checked with the vector of SipHash's paper.
 */
#include "harness.h"

typedef struct {
    const char *data;
    size_t bytes;
    uint64_t hash;
} vector;

/* CPython 3.11, which hashes bytes with SipHash-1-3: hash(data) % 2**64 under PYTHONHASHSEED=0 (both keys zero).
 */
static void values_of_another_program_come_out(void) {
    static const vector vectors[] = {
        {"a", 1, 0x407448d2b89b1813},
        {"abc", 3, 0xc03bc3a0042630f2},
        {"larder!", 7, 0xad3bd7e0abfa0253},
        {"larder!!", 8, 0x2e414a13d9dd968c},
        {"larder!!!", 9, 0xe0d6c4e05a8ef8a6},
        {"\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e", 15, 0xf30eb725bb91c9ea},
        {"\0\0\0\0\0\0\0\0", 8, 0xbd60acb658c79e45},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16, 0x35029a3b6274a39b},
    };
    const uint64_t seed[2] = {0, 0};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint64_t have = lard_siphash13(seed, vectors[i].data, vectors[i].bytes);
        CHECK(have == vectors[i].hash, "vector %zu: %016llx", i, (unsigned long long)have);
    }
}

/* Written from the paper for any number of rounds, byte by byte: slow and plain. */
static uint64_t rotated(uint64_t x, int by) { return x << by | x >> (64 - by); }

static void rounds(uint64_t v[4], int count) {
    while (count--) {
        v[0] += v[1], v[2] += v[3];
        v[1] = rotated(v[1], 13) ^ v[0], v[3] = rotated(v[3], 16) ^ v[2];
        v[0] = rotated(v[0], 32);
        v[2] += v[1], v[0] += v[3];
        v[1] = rotated(v[1], 17) ^ v[2], v[3] = rotated(v[3], 21) ^ v[0];
        v[2] = rotated(v[2], 32);
    }
}

static uint64_t siphash(int compression, int finalization, const uint64_t key[2], const unsigned char *data,
                        size_t bytes) {
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                     key[1] ^ 0x7465646279746573};
    for (size_t block = 0; block <= bytes / 8; block++) {
        uint64_t word = 0;
        for (size_t i = 0; i < 8 && block * 8 + i < bytes; i++) {
            word |= (uint64_t)data[block * 8 + i] << (8 * i);
        }
        word |= block == bytes / 8 ? (uint64_t)(bytes & 0xff) << 56 : 0;
        v[3] ^= word;
        rounds(v, compression);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    rounds(v, finalization);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void a_second_implementation_agrees(void) {
    const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    unsigned char data[300];
    uint64_t state = 1;
    for (int i = 0; i < 15; i++) {
        data[i] = (unsigned char)i;
    }
    CHECK(siphash(2, 4, key, data, 15) == 0xa129ca6149be45e5, "the paper's appendix A");
    for (size_t bytes = 0; bytes < sizeof data; bytes++) {
        uint64_t seed[2] = {next_random(&state), next_random(&state)};
        for (size_t i = 0; i < bytes; i++) {
            data[i] = (unsigned char)next_random(&state);
        }
        CHECK(lard_siphash13(seed, data, bytes) == siphash(1, 3, seed, data, bytes), "%zu bytes", bytes);
    }
}

static void keys_of_chunks_are_apart(void) {
    lard_map map = {.super.seed = {1, 2}};
    unsigned same = 0, same_shard = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        lard_hash user = lard_hash_key(&map, &i, sizeof i, false), chunk = lard_hash_key(&map, &i, sizeof i, true);
        same += user.full == chunk.full;
        same_shard += user.full >> 56 == chunk.full >> 56;
    }
    CHECK(same == 0 && same_shard < 50, "%u hashes, %u shards of 256", same, same_shard);
}

static void another_seed_is_another_hash(void) {
    lard_map one = {.super.seed = {1, 2}}, two = {.super.seed = {1, 3}};
    unsigned same_fingerprint = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        same_fingerprint += lard_hash_key(&one, &i, sizeof i, false).fingerprint ==
                            lard_hash_key(&two, &i, sizeof i, false).fingerprint;
    }
    CHECK(same_fingerprint < 5, "%u of 1000 fingerprints", same_fingerprint);
}

static void shards_buckets_and_fingerprints_are_even(void) {
    enum { KEYS = 64000, CELLS = 64 };
    lard_map map = {.super.seed = {0x1234, 0x5678}};
    unsigned shards[CELLS] = {0}, first[CELLS] = {0}, second[CELLS] = {0}, fingerprints[CELLS] = {0};
    char key[32];
    map.shard_mask = CELLS - 1;
    for (int i = 0; i < KEYS; i++) {
        lard_hash hash = lard_hash_key(&map, key, (size_t)snprintf(key, sizeof key, "users/%d/profile", i), false);
        shards[lard_hash_shard(&map, &hash)]++;
        first[lard_bucket_of(hash.first, CELLS)]++;
        second[lard_bucket_of(hash.second, CELLS)]++;
        fingerprints[hash.fingerprint % CELLS]++;
    }
    for (int i = 0; i < CELLS; i++) { /* 1000 expected, standard deviation 32: six of them is one in 10^9 */
        unsigned *all[] = {shards, first, second, fingerprints};
        for (int kind = 0; kind < 4; kind++) {
            CHECK(all[kind][i] > 800 && all[kind][i] < 1200, "kind %d, cell %d: %u", kind, i, all[kind][i]);
        }
    }
}

static const test_case tests[] = {
    TEST(values_of_another_program_come_out, "SipHash-1-3 gives what another program's SipHash-1-3 gives"),
    TEST(a_second_implementation_agrees, "a second implementation from the paper agrees for every length"),
    TEST(keys_of_chunks_are_apart, "chunks of large values have a key space of their own"),
    TEST(another_seed_is_another_hash, "another seed is another hash"),
    TEST(shards_buckets_and_fingerprints_are_even, "keys spread evenly over shards, buckets and fingerprints"),
};
RUN("hash", tests)
