/*
 * identity_test.c — checks what a call answers and a later call takes: leases, identities of values, stamps,
 * process numbers, cursors of walks. Each belongs to one file, and is of no use in the file that has taken its
 * place: see docs/assumptions.md.
 */
#include "children.h"
#include "file/map.h"
#include "file/view.h"
#include "index/index.h"

enum { SIZE = 1 << 20, LEASE_MS = 60000 };

static larder *cache;

static larder_status take(const char *key, larder_lease *lease) {
    return larder_lease_take(cache, key, strlen(key), LEASE_MS, lease, NULL);
}

static larder_status put_leased(const char *key, const char *value, const larder_lease *lease) {
    larder_extra extra = {.lease = lease};
    larder_store store = {
        .key = key, .key_bytes = strlen(key), .value = value, .value_bytes = strlen(value), .extra = &extra};
    return larder_set(cache, &store, NULL);
}

static bool is_same(const larder_lease *one, const larder_lease *other) {
    return one->token[0] == other->token[0] && one->token[1] == other->token[1];
}

/* Ways in which another file takes the place of the one that the handle has. */

static void resize(void) { CHECK(larder_resize(cache, SIZE, LARDER_KEEP_NONE, NULL) == LARDER_OK); }

static void resize_and_keep(void) { CHECK(larder_resize(cache, SIZE, LARDER_KEEP_SOME, NULL) == LARDER_OK); }

static void remove_file(void) {
    CHECK(unlink(test_path("t.larder")) == 0);
    lard_map_supersede(cache->core->map); /* as a call does within 0.2 s */
}

static void remove_file_and_lock(void) {
    remove_file();
    CHECK(unlink(test_path("t.larder.lock")) == 0);
}

static void truncate_file(void) {
    char out[8];
    CHECK(truncate(test_path("t.larder"), 8192) == 0);
    CHECK(larder_get(cache, "k", 1, out, sizeof out, NULL, NULL) == LARDER_MISS && cache->core->map->poisoned);
}

static void close_and_remove(void) {
    larder_close(cache);
    CHECK(unlink(test_path("t.larder")) == 0);
    cache = open_cache(SIZE);
}

static const struct {
    const char *name;
    void (*replace)(void);
} ways[] = {
    {"resized", resize},          {"resized with its items", resize_and_keep},
    {"removed", remove_file},     {"removed with its lock file", remove_file_and_lock},
    {"truncated", truncate_file}, {"closed and removed", close_and_remove},
};
#define WAYS (sizeof ways / sizeof *ways)

/* A has a lease, the key is deleted, and B takes the lease in the next file, after `others` leases of other keys.
 */
static void replace_under_a_lease(size_t way, int others) {
    larder_lease a = {0}, b = {0}, other;
    cache = open_cache(SIZE);
    CHECK(take("k", &a) == LARDER_OK && larder_delete(cache, "k", 1, NULL) == LARDER_MISS);
    ways[way].replace();
    for (int i = 0; i < others; i++) {
        other = (larder_lease){0};
        take("other", &other);
    }
    CHECK(larder_lease_wait(cache, "k", 1, &a, 0, NULL) == LARDER_OK, "%s: A's has ended", ways[way].name);
    CHECK(take("k", &b) == LARDER_OK && !is_same(&a, &b), "%s, %d others", ways[way].name, others);
    CHECK(larder_lease_wait(cache, "k", 1, &a, 0, NULL) == LARDER_OK, "%s: A's is not B's", ways[way].name);
    CHECK(put_leased("k", "from before the delete", &a) == LARDER_NOT_STORED, "%s", ways[way].name);
    CHECK(larder_lease_end(cache, "k", 1, &a, 0, NULL) == LARDER_NOT_STORED, "%s", ways[way].name);
    CHECK(put_leased("k", "new", &b) == LARDER_OK && is(cache, "k", "new"), "%s: B's right", ways[way].name);
    larder_close(cache);
    unlink(test_path("t.larder"));
}

static void a_lease_belongs_to_its_file(void) {
    for (size_t way = 0; way < WAYS; way++) {
        for (int others = 0; others < 3; others++) {
            replace_under_a_lease(way, others);
        }
    }
}

static uint64_t slot_of(const char *key) {
    lard_key wanted = lard_key_of(cache->core->map, NULL, key, strlen(key));
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &wanted.hash));
    return lard_index_find(&view, &wanted).value;
}

/* A value that a caller cannot use, named by its slot, which another value may have in another file. */
static void a_value_that_is_of_no_use_belongs_to_its_file(void) {
    larder_lease lease = {0};
    cache = open_cache(SIZE);
    CHECK(set(cache, "k", "old") == LARDER_OK && take("k", &lease) == LARDER_NOT_STORED && lease.over);
    uint64_t slot = slot_of("k"), over = lease.over;
    resize();
    CHECK(set(cache, "k", "new") == LARDER_OK && slot_of("k") == slot, "the slots are the same");
    CHECK(take("k", &lease) == LARDER_NOT_STORED && lease.over != over && is(cache, "k", "new"));
    CHECK(take("k", &lease) == LARDER_OK);
    larder_close(cache);
}

/* The first value of each file is at the same place of it, and equal. */
static void an_identity_belongs_to_its_file(void) {
    char out[8];
    for (size_t way = 0; way < WAYS; way++) {
        uint64_t first, second;
        larder_store store = {.key = "k", .key_bytes = 1, .value = "new", .value_bytes = 3};
        cache = open_cache(SIZE);
        CHECK(set(cache, "k", "old") == LARDER_OK);
        CHECK(larder_get_to_swap(cache, "k", 1, out, sizeof out, NULL, NULL, &first, NULL) == LARDER_OK);
        ways[way].replace();
        CHECK(set(cache, "k", "old") == LARDER_OK);
        CHECK(larder_swap(cache, &store, first, NULL) == LARDER_NOT_STORED && is(cache, "k", "old"), "%s",
              ways[way].name);
        CHECK(larder_get_to_swap(cache, "k", 1, out, sizeof out, NULL, NULL, &second, NULL) == LARDER_OK);
        CHECK(first != second && larder_swap(cache, &store, second, NULL) == LARDER_OK, "%s", ways[way].name);
        larder_close(cache);
        unlink(test_path("t.larder"));
    }
}

/* The child holds what its parent held. One of them stores, and the child's own leases are others. */
static void a_lease_is_inherited_by_a_child(void) {
    larder_lease lease = {0}, mine = {0};
    uint64_t *token = shared_memory(2 * sizeof *token);
    cache = open_cache(SIZE);
    CHECK(take("k", &lease) == LARDER_OK && take("own", &mine) == LARDER_OK);
    pid_t child = fork_child();
    if (child == 0) {
        larder_lease own = {0};
        CHILD_CHECK(larder_delete(cache, "own", 3, NULL) == LARDER_MISS && take("own", &own) == LARDER_OK);
        CHILD_CHECK(!is_same(&own, &mine) && own.process != mine.process);
        CHILD_CHECK(put_leased("k", "of the child", &lease) == LARDER_OK);
        memcpy(token, own.token, sizeof own.token);
        _exit(0);
    }
    CHECK(exited_well(child));
    CHECK(put_leased("k", "of the parent", &lease) == LARDER_NOT_STORED && is(cache, "k", "of the child"));
    CHECK(put_leased("own", "from before the delete", &mine) == LARDER_NOT_STORED && is(cache, "own", NULL));
    CHECK(take("own", &mine) == LARDER_OK, "the child is dead");
    CHECK(mine.token[0] != token[0] || mine.token[1] != token[1]);
    larder_close(cache);
    munmap(token, 2 * sizeof *token);
}

static larder_status put_stamped(larder_stamp stamp) {
    larder_tag tag = {"t", 1};
    larder_extra extra = {.tags = &tag, .tag_count = 1, .stamp = stamp};
    larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1, .extra = &extra};
    return larder_set(cache, &store, NULL);
}

/* Whether a tag was deleted since is unknown. */
static void a_stamp_belongs_to_its_file(void) {
    for (size_t way = 0; way < WAYS; way++) {
        larder_stamp stamp;
        cache = open_cache(SIZE);
        CHECK(larder_stamp_now(cache, &stamp) == LARDER_OK);
        ways[way].replace();
        CHECK(put_stamped(stamp) == LARDER_NOT_STORED && is(cache, "k", NULL), "%s", ways[way].name);
        CHECK(larder_stamp_now(cache, &stamp) == LARDER_OK && put_stamped(stamp) == LARDER_OK);
        CHECK(larder_clear(cache) == LARDER_OK && put_stamped(stamp) == LARDER_NOT_STORED, "nor is it a clear's");
        larder_close(cache);
        unlink(test_path("t.larder"));
    }
}

static void a_process_has_a_number_in_each_file(void) {
    for (size_t way = 0; way < WAYS; way++) {
        cache = open_cache(SIZE);
        uint32_t before = larder_process(cache);
        CHECK(before && larder_process_lives(cache, before));
        ways[way].replace();
        uint32_t after = larder_process(cache);
        CHECK(after && after != before && larder_process_lives(cache, after), "%s", ways[way].name);
        CHECK(!larder_process_lives(cache, before), "%s: that process is not in this file", ways[way].name);
        larder_close(cache);
        unlink(test_path("t.larder"));
    }
}

enum { KEYS = 150 };

/* Marks the keys of a part of a walk. */
static void walk(uint64_t *cursor, bool seen[KEYS]) {
    static char keys[LARDER_MAX_KEY + 4];
    size_t count, used;
    CHECK(larder_scan(cache, cursor, "k", 1, keys, sizeof keys, &count, &used, NULL) == LARDER_OK);
    const char *at = keys;
    for (size_t i = 0; i < count; i++) {
        uint32_t bytes;
        memcpy(&bytes, at, sizeof bytes);
        seen[strtol(at + sizeof bytes + 1, NULL, 10)] = true;
        at += sizeof bytes + bytes;
    }
}

/* A walk that deletes what it meets must not leave out what is elsewhere in the next file. */
static void a_walk_begins_again_in_another_file(void) {
    char key[128];
    static bool seen[KEYS];
    uint64_t cursor = 0;
    cache = open_cache(SIZE);
    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "k%-100d", i);
        CHECK(set(cache, key, "v") == LARDER_OK);
    }
    for (int part = 0; part < 2; part++) {
        walk(&cursor, seen);
        CHECK(cursor, "it has more parts");
    }
    CHECK(larder_resize(cache, 4 * SIZE, LARDER_KEEP_ALL, NULL) == LARDER_OK);
    memset(seen, 0, sizeof seen);
    do {
        walk(&cursor, seen);
    } while (cursor);
    for (int i = 0; i < KEYS; i++) {
        CHECK(seen[i], "key %d", i);
    }
    larder_close(cache);
}

static void trust_belongs_to_its_file(void) {
    for (size_t way = 0; way < WAYS; way++) {
        cache = open_cache(SIZE);
        CHECK(larder_trust(cache, 60000, NULL) == LARDER_OK && larder_trusted(cache) == LARDER_OK);
        ways[way].replace();
        CHECK(larder_trusted(cache) == LARDER_MISS, "%s", ways[way].name);
        larder_close(cache);
        unlink(test_path("t.larder"));
    }
}

static const test_case tests[] = {
    TEST(a_lease_belongs_to_its_file, "a lease of a file that was replaced is none of the new file"),
    TEST(a_value_that_is_of_no_use_belongs_to_its_file, "`over` of a lease names no value of another file"),
    TEST(an_identity_belongs_to_its_file, "the identity of a value is of no use in another file"),
    TEST(a_lease_is_inherited_by_a_child, "a forked child may store under a lease of its parent, once"),
    TEST(a_stamp_belongs_to_its_file, "a stamp of a file that was replaced is refused"),
    TEST(a_process_has_a_number_in_each_file, "the number of a process is another one in each file"),
    TEST(a_walk_begins_again_in_another_file, "a walk begins again where another file has taken the place"),
    TEST(trust_belongs_to_its_file, "a new file is not trusted"),
};
RUN("identity", tests)
