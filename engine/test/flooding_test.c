/*
 * flooding_test.c — checks the cost of lookups, and the evictions, that keys chosen by an attacker can cause.
 *
 * Cost is counted, not timed: a lookup compares the whole key of each slot of its two buckets that has the key's
 * fingerprint, so it compares sixteen at most. Chosen keys must not cost more than others unless the attacker
 * knows the seed. Even then a lookup compares sixteen at most, and only items of those two buckets are evicted.
 */
#include "harness.h"

enum { SIZE = 8 << 20, CHOSEN = 600, BYSTANDERS = 4000, KEY = 32, SAME_BITS = 7 };

typedef struct {
    char text[KEY];
} key;

static key chosen[CHOSEN];

static lard_hash hash_under(const uint64_t seed[2], const key *k) {
    size_t bytes = strlen(k->text);
    return lard_hash_inline(seed, k->text, bytes, lard_word_tail((const unsigned char *)k->text, bytes), false);
}

/* How many whole keys a lookup has to compare. */
static unsigned comparisons(larder *cache, const key *k) {
    lard_hash hash = hash_under(cache->core->map->super.seed, k);
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &hash));
    lard_buckets pair;
    unsigned found = 0;
    if (!lard_bucket_pair(&view, &hash, lard_bucket_count(&view), &pair)) {
        return 0;
    }
    for (int b = 0; b < (pair.at[0] == pair.at[1] ? 1 : 2); b++) {
        for (unsigned i = 0; i < LARD_BUCKET_SLOTS; i++) {
            uint64_t slot = lard_load(&pair.at[b]->slots[i]);
            found += LARD_SLOT_OFFSET(slot) && LARD_SLOT_FINGERPRINT(slot) == hash.fingerprint;
        }
    }
    return found;
}

typedef struct {
    unsigned found, most, sum;
} cost;

static cost cost_of(larder *cache, const key *keys, unsigned count) {
    cost all = {0, 0, 0};
    for (unsigned i = 0; i < count; i++) {
        unsigned now = comparisons(cache, &keys[i]);
        all.most = now > all.most ? now : all.most;
        all.sum += now;
        all.found += get(cache, keys[i].text) != NULL;
    }
    return all;
}

static bool store_all(larder *cache, const key *keys, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        if (set(cache, keys[i].text, "forty bytes of what someone has cached...") != LARDER_OK) {
            return false;
        }
    }
    return true;
}

static const key *bystanders(void) {
    static key keys[BYSTANDERS];
    for (int i = 0; i < BYSTANDERS; i++) {
        snprintf(keys[i].text, KEY, "bystander %d", i);
    }
    return keys;
}

/* Keys that all have one shard, nearly the same two buckets and, if wanted, one fingerprint under this seed. */
static void choose(const lard_map *map, const uint64_t seed[2], unsigned count, bool same_fingerprint) {
    unsigned mask = same_fingerprint ? 15 : (1u << SAME_BITS) - 1, fingerprint_mask = same_fingerprint ? 0xfff : 0;
    for (unsigned i = 0, attempt = 0; i < count; attempt++) {
        snprintf(chosen[i].text, KEY, "%x", attempt);
        lard_hash hash = hash_under(seed, &chosen[i]);
        i += lard_hash_shard(map, &hash) == 0 && (hash.first & mask) == 0 && (hash.second & mask) == 0 &&
             (hash.fingerprint & fingerprint_mask) == 0;
    }
}

static larder *another_file(const char *name) {
    larder *cache = NULL;
    larder_options options = {.size_bytes = SIZE};
    return larder_open(test_path(name), &options, &cache, NULL) == LARDER_OK ? cache : NULL;
}

static void every_file_has_a_seed_of_its_own(void) {
    larder *one = another_file("one.larder"), *other = another_file("other.larder");
    CHECK(one && other);
    const uint64_t *a = one->core->map->super.seed, *b = other->core->map->super.seed;
    CHECK(a[0] != b[0] && a[1] != b[1] && a[0] && a[1]);
    larder_close(one);
    larder_close(other);
}

/* First that the attack is one: it works where the seed is known. Then against a file whose seed is not. */
static void keys_chosen_against_another_seed(void) {
    larder *known = another_file("known.larder"), *secret = another_file("secret.larder");
    CHECK(known && secret);
    choose(known->core->map, known->core->map->super.seed, CHOSEN, false);
    CHECK(store_all(known, bystanders(), BYSTANDERS) && store_all(secret, bystanders(), BYSTANDERS));
    cost before = cost_of(secret, bystanders(), BYSTANDERS);
    CHECK(store_all(known, chosen, CHOSEN) && store_all(secret, chosen, CHOSEN));

    cost flooded = cost_of(known, chosen, CHOSEN), suffered = cost_of(known, bystanders(), BYSTANDERS);
    CHECK(flooded.found < CHOSEN / 2, "%u of them fit, so they do not collide", flooded.found);
    CHECK(suffered.found > BYSTANDERS - 100, "%u of %d others are left", suffered.found, BYSTANDERS);

    cost attack = cost_of(secret, chosen, CHOSEN), others = cost_of(secret, bystanders(), BYSTANDERS);
    CHECK(attack.found == CHOSEN && others.found == BYSTANDERS, "%u, %u", attack.found, others.found);
    CHECK(attack.most <= before.most + 1, "%u keys compared, %u in ordinary lookups", attack.most, before.most);
    CHECK(attack.sum <= attack.found + 4, "%u comparisons for %u hits", attack.sum, attack.found);
    printf("@ %u keys compared in %u lookups of keys chosen against another seed\n", attack.sum, attack.found);
    printf("@ %u items of others pushed out by %d keys chosen by one who knew the seed\n",
           BYSTANDERS - suffered.found, CHOSEN);
    larder_close(known);
    larder_close(secret);
}

/* The worst that one can do who knows the seed. */
static void a_lookup_compares_sixteen_keys_at_most(void) {
    enum { ALIKE = 24 };
    larder *cache = open_cache(SIZE);
    CHECK(cache);
    choose(cache->core->map, cache->core->map->super.seed, ALIKE, true);
    CHECK(store_all(cache, chosen, ALIKE));
    cost worst = cost_of(cache, chosen, ALIKE);
    CHECK(worst.most <= 2 * LARD_BUCKET_SLOTS, "%u", worst.most);
    CHECK(sound(cache));
    larder_close(cache);
}

/* Keys that collide under hashes without a seed: 31 * h + c, and 33 * h + c. */
static void keys_that_collide_elsewhere(void) {
    static const char *pairs[2][2] = {{"Aa", "BB"}, {"Ez", "FY"}};
    static key keys[2][1 << 10];
    larder *cache = open_cache(SIZE);
    CHECK(cache);
    for (int family = 0; family < 2; family++) {
        for (unsigned i = 0; i < 1 << 10; i++) {
            keys[family][i].text[0] = '\0';
            for (unsigned bit = 0; bit < 10; bit++) {
                strcat(keys[family][i].text, pairs[family][i >> bit & 1]);
            }
        }
        CHECK(store_all(cache, keys[family], 1 << 10));
    }
    for (int family = 0; family < 2; family++) {
        cost all = cost_of(cache, keys[family], 1 << 10);
        CHECK(all.found == 1 << 10 && all.most <= 3 && all.sum <= all.found + 4, "%u, %u, %u", all.found, all.most,
              all.sum);
    }
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(every_file_has_a_seed_of_its_own, "every file has a random seed of its own"),
    TEST(keys_chosen_against_another_seed, "keys chosen against another seed cost no more than others"),
    TEST(a_lookup_compares_sixteen_keys_at_most,
         "a lookup compares sixteen keys at most, also where the seed leaked"),
    TEST(keys_that_collide_elsewhere, "keys that collide under hashes without a seed cost no more than others"),
};
RUN("flooding", tests)
