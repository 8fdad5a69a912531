/*
 * hints_memory_test.c — the memory of the hints: as much as the index in use needs, never more than /dev/shm or
 * the memory limit can spare, and reserved before anything is stored there.
 */
#include "children.h"
#include "groups.h"
#include "internals.h"
#include "mounts.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define MIB (1u << 20)

static uint32_t words(const larder *cache) { return cache->core->map->reads_mask + 1; }

static uint32_t buckets(const larder *cache) {
    lard_view view = lard_view_of(cache->core->map, 0);
    return lard_load(&view.header->bucket_count);
}

/* Stores, and does what a writer does from time to time. */
static bool look(larder *cache) {
    cache->core->next_look_ms = cache->core->store_ms = 0;
    return set(cache, "looks", "") == LARDER_OK;
}

static bool fill(larder *cache, int items) {
    char key[32];
    for (int i = 0; i < items; i++) {
        snprintf(key, sizeof key, "item %d", i);
        if (set(cache, key, "") != LARDER_OK || (i % 1000 == 0 && !look(cache))) {
            return false;
        }
    }
    return true;
}

/* As often as is needed where the index has its greatest length. In the meantime its header says so. */
static void grow(larder *cache, unsigned calls) {
    lard_u32 *count = &lard_view_of(cache->core->map, 0).header->bucket_count;
    uint32_t before = lard_load(count);
    lard_store(count, cache->core->map->reads_most);
    for (unsigned i = 0; i < calls; i++) {
        lard_hints_keep_up(cache->core->map);
    }
    lard_store(count, before);
}

enum { ENOUGH = 64 };

static unsigned reads_of(larder *cache, const char *name) {
    lard_key key = lard_key_of(cache->core->map, NULL, name, strlen(name));
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &key.hash));
    lard_found found = lard_index_find(&view, &key);
    return found.slot ? lard_reads_of(found.reads, found.slot) : 9;
}

static void they_grow_with_the_index_and_keep_its_counts(void) {
    char key[32];
    larder *cache = open_cache(8 * MIB);
    CHECK(cache && words(cache) == cache->core->map->reads_least && words(cache) < cache->core->map->reads_most);
    uint64_t least = lard_hints_bytes(cache->core->map);
    CHECK(fill(cache, 8000) && buckets(cache) <= words(cache) && look(cache));
    CHECK(lard_hints_bytes(cache->core->map) == least &&
          least == lard_hints_least_bytes(&cache->core->map->super));
    for (int i = 0; i < 8000; i += 3) {
        snprintf(key, sizeof key, "item %d", i);
        CHECK(get(cache, key) != NULL);
    }
    CHECK(fill(cache, 8000)); /* so that those that were read are not the newest */
    CHECK(fill(cache, 40000) && look(cache) && words(cache) >= buckets(cache), "%u words, %u buckets",
          words(cache), buckets(cache));
    larder_stats stats;
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK &&
          stats.hints_bytes == lard_hints_bytes(cache->core->map) && stats.hints_bytes > least &&
          stats.hints_shared == cache->core->map->has_shared_hints);
    int lost = 0;
    for (int i = 0; i < 8000; i += 3) {
        snprintf(key, sizeof key, "item %d", i);
        lost += reads_of(cache, key) < 2;
    }
    CHECK(lost == 0, "%d counts are lost", lost);
    CHECK(sound(cache));
    larder_close(cache);
    cache = open_cache(8 * MIB);
    CHECK(cache && words(cache) >= buckets(cache) && sound(cache), "an opener sizes them by the index");
    larder_close(cache);
}

static void a_process_follows_one_that_has_grown_them(void) {
    larder *cache = open_cache(8 * MIB);
    CHECK(cache && fill(cache, 100));
    uint32_t *stage = shared_memory(sizeof *stage);
    pid_t child = fork_child();
    if (child == 0) {
        CHILD_CHECK(look(cache) && words(cache) == cache->core->map->reads_least);
        advance(stage);
        CHILD_CHECK(await(stage, 2) && look(cache) && words(cache) == cache->core->map->reads_most);
        larder_close(cache);
        _exit(0);
    }
    CHECK(await(stage, 1));
    grow(cache, ENOUGH);
    CHECK(words(cache) == cache->core->map->reads_most);
    advance(stage);
    CHECK(wait_for(child) == 0);
    /* One that only reads copies the directory again as the index grows. */
    __atomic_store_n(&cache->core->map->reads_mask, cache->core->map->reads_least - 1, __ATOMIC_RELAXED);
    lard_view view = lard_view_of(cache->core->map, 0);
    lard_dircache_renew(cache->core->map, &view);
    CHECK(words(cache) == cache->core->map->reads_most);
    larder_close(cache);
    munmap(stage, sizeof *stage);
}

static void a_number_of_words_that_cannot_be_is_not_used(void) {
    larder *cache = open_cache(8 * MIB);
    CHECK(cache && fill(cache, 100));
    uint32_t least = cache->core->map->reads_least, most = cache->core->map->reads_most;
    const uint64_t wrong[] = {0,
                              UINT64_MAX,
                              most,
                              lard_hints_file_sealed(most * 2),
                              lard_hints_file_sealed(least / 2),
                              lard_hints_file_sealed(least + 1),
                              lard_hints_file_sealed(0)};
    uint64_t *word = &((lard_hints_header *)cache->core->map->hints)->words;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        *word = wrong[i];
        CHECK(look(cache) && words(cache) == least && *word == lard_hints_file_sealed(least),
              "number %zu: %u, %llx", i, words(cache), (unsigned long long)*word);
    }
    grow(cache, 1);
    *word = UINT64_MAX;
    grow(cache, ENOUGH);
    CHECK(words(cache) == most && *word == lard_hints_file_sealed(most) && sound(cache));
    larder_close(cache);
}

#ifdef __linux__

static bool is_there(const char *name) { return access(name, F_OK) == 0; }

static void name_of(const larder *cache, char name[80]) {
    int used = snprintf(name, 80, "/dev/shm/larder-");
    for (int i = 0; i < 16; i++) {
        used += snprintf(name + used, 80 - (size_t)used, "%02x", cache->core->map->super.file_id[i]);
    }
}

/* ---- /dev/shm ---- */

/* The child's /dev/shm is a tmpfs with these options, read-only with those flags. */
static void mounted(const char *options, unsigned long flags) {
    if (!mounts_of_its_own("/dev/shm") || mount("tmpfs", "/dev/shm", "tmpfs", flags, options) != 0) {
        printf("  skipped, needs root: %s\n", test_name);
        fflush(stdout);
        _exit(0);
    }
}

static bool is_usable(larder *cache) {
    return fill(cache, 2000) && is(cache, "item 7", "") && is(cache, "item 1999", "") && sound(cache);
}

/* A new file takes what is left. */
static void take_all(void) {
    static char piece[4096];
    int fd = open("/dev/shm/other", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (write(fd, piece, sizeof piece) > 0) {
    }
    CHILD_CHECK(fd >= 0 && lard_space_left("/dev/shm") == 0);
    close(fd);
}

static lard_shard_hints *in_the_file(const larder *cache, uint32_t shard) {
    const lard_map *map = cache->core->map;
    uint8_t *part = map->hints + lard_hints_file_shard(map, shard);
    return (lard_shard_hints *)(part + lard_hints_file_others(map, shard) + map->segment_hints);
}

static unsigned taken(const larder *cache) {
    unsigned count = 0;
    for (uint32_t shard = 0; shard < cache->core->map->super.shard_count; shard++) {
        count += cache->core->map->dircache[shard].hints == in_the_file(cache, shard);
    }
    return count;
}

/* Memory in /dev/shm that is in use. */
static uint64_t in_use(void) {
    struct statvfs room;
    CHILD_CHECK(statvfs("/dev/shm", &room) == 0);
    return (room.f_blocks - room.f_bfree) * room.f_frsize;
}

static void grow_in_a_full_one(void *unused) {
    (void)unused;
    mounted("size=8m", 0);
    larder *cache = open_cache(64 * MIB);
    CHILD_CHECK(cache && cache->core->map->has_shared_hints && is_usable(cache));
    take_all();
    CHILD_CHECK(!lard_hints_file_reserve(cache->core->map, cache->core->map->hints,
                                         cache->core->map->hints_bytes - 4096, 4096));
    grow(cache, ENOUGH);
    CHILD_CHECK(words(cache) == cache->core->map->reads_least && is_usable(cache) && !cache->core->map->poisoned);
    CHILD_CHECK(unlink("/dev/shm/other") == 0);
    grow(cache, ENOUGH);
    CHILD_CHECK(words(cache) == cache->core->map->reads_most && is_usable(cache) && !cache->core->map->poisoned);
    CHILD_CHECK(in_use() >= hints_in_use(cache));
    larder_close(cache);
}

static void take_a_quarter_of_it(void *unused) {
    (void)unused;
    mounted("size=1m", 0);
    larder *cache = open_cache(64 * MIB);
    CHILD_CHECK(cache && cache->core->map->has_shared_hints);
    grow(cache, ENOUGH);
    CHILD_CHECK(words(cache) == cache->core->map->reads_least && is_usable(cache));
    larder_close(cache);
}

/* Whichever the reason, no process waits or dies, and the words grow in its own memory. */
static void grow_without_it(void *reason) {
    const char *why = reason;
    if (!strcmp(why, "missing")) {
        if (!mounts_of_its_own("/dev") || mount("tmpfs", "/dev", "tmpfs", 0, "size=64k") != 0) {
            printf("  skipped, needs root: %s\n", test_name);
            return;
        }
    } else if (!strcmp(why, "full")) {
        mounted("size=64k", 0);
        take_all();
    } else {
        mounted(NULL, MS_RDONLY);
    }
    larder *cache = open_cache(64 * MIB);
    CHILD_CHECK(cache && !cache->core->map->has_shared_hints && words(cache) == cache->core->map->reads_least);
    grow(cache, ENOUGH);
    CHILD_CHECK(words(cache) == cache->core->map->reads_most && is_usable(cache));
    larder_stats stats;
    CHILD_CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.hints_shared == 0 && stats.hints_bytes > 0);
    larder_close(cache);
}

static void take_each_shard_when_it_is_used(void *unused) {
    (void)unused;
    mounted("size=8m", 0);
    larder *cache = open_cache(64 * MIB);
    CHILD_CHECK(cache && cache->core->map->has_shared_hints && taken(cache) == 0);
    uint64_t at_first = in_use();
    CHILD_CHECK(set(cache, "key", "value") == LARDER_OK && taken(cache) == 1 && in_use() > at_first);
    uint64_t with_one = in_use();
    CHILD_CHECK(is(cache, "key", "value") && !get(cache, "absent") && in_use() == with_one);
    CHILD_CHECK(is_usable(cache) && taken(cache) == cache->core->map->super.shard_count);
    CHILD_CHECK(in_use() >= hints_in_use(cache));
    larder_close(cache);
    CHILD_CHECK(in_use() == 0);
}

/* It fills up between the opening and the first use: the hints of the shards are private then. */
static void use_shards_when_it_is_full(void *unused) {
    (void)unused;
    mounted("size=8m", 0);
    larder *cache = open_cache(64 * MIB);
    CHILD_CHECK(cache && set(cache, "key", "value") == LARDER_OK && taken(cache) == 1);
    take_all();
    CHILD_CHECK(is_usable(cache) && is(cache, "key", "value") && !cache->core->map->poisoned);
    CHILD_CHECK(taken(cache) == cache->core->map->super.shard_count);
    CHILD_CHECK(reads_of(cache, "item 7") >= 2);
    larder_stats stats;
    CHILD_CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.hits > 0);
    CHILD_CHECK(unlink("/dev/shm/other") == 0);
    grow(cache, ENOUGH);
    CHILD_CHECK(words(cache) == cache->core->map->reads_most && is_usable(cache) && !cache->core->map->poisoned);
    larder_close(cache);
    CHILD_CHECK(in_use() == 0);
}

enum { MANY = 20 }; /* more processes than rows in the first page of 4 KiB */

/* Each stores a value and stays: shared[0] have, and end when shared[1] is 1. Answers whether all could. */
static bool crowd(larder *cache, uint32_t *shared, pid_t children[MANY]) {
    char key[32];
    for (uint32_t i = 0; i < MANY; i++) {
        if ((children[i] = fork_child()) == 0) {
            snprintf(key, sizeof key, "of %u", i);
            CHILD_CHECK(set(cache, key, "value") == LARDER_OK && !cache->core->map->poisoned);
            advance(shared);
            CHILD_CHECK(await(shared + 1, 1));
            larder_close(cache);
            _exit(0);
        }
        if (!await(shared, i + 1)) { /* in the order of their slots */
            return false;
        }
    }
    return true;
}

static bool goes(uint32_t *shared, const pid_t children[MANY]) {
    bool all = true;
    advance(shared + 1);
    for (int i = 0; i < MANY; i++) {
        all = wait_for(children[i]) == 0 && all;
    }
    return all;
}

/* A cache whose hints are in a /dev/shm of their own, and the first rows with them. */
static larder *with_first_rows(void) {
    mounted("size=8m", 0);
    larder *cache = open_cache(64 * MIB);
    CHILD_CHECK(cache && *cache->core->map->rows_reserved == lard_page_bytes() / 256 - 1);
    return cache;
}

static void reserve_rows_as_processes_come(void *unused) {
    (void)unused;
    larder *cache = with_first_rows();
    uint32_t *shared = shared_memory(2 * sizeof *shared);
    pid_t children[MANY];
    larder_stats stats;
    CHILD_CHECK(crowd(cache, shared, children));
    uint64_t rows = *cache->core->map->rows_reserved;
    CHILD_CHECK(rows > MANY && rows < cache->core->map->super.process_slots);
    CHILD_CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.sets == MANY && stats.counts_age_ms == 0);
    CHILD_CHECK(goes(shared, children));
    larder_close(cache);
}

/* Their counts reach others by the file. */
static void have_rows_of_their_own_when_it_is_full(void *unused) {
    (void)unused;
    larder *cache = with_first_rows();
    uint32_t *shared = shared_memory(2 * sizeof *shared);
    pid_t children[MANY];
    larder_stats stats;
    CHILD_CHECK(set(cache, "key", "value") == LARDER_OK);
    take_all();
    CHILD_CHECK(crowd(cache, shared, children));
    CHILD_CHECK(*cache->core->map->rows_reserved == lard_page_bytes() / 256 - 1);
    CHILD_CHECK(goes(shared, children) && is_usable(cache) && !cache->core->map->poisoned);
    CHILD_CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.sets >= 1 + MANY);
    larder_close(cache);
}

static void rows_are_taken_as_processes_come(void) { CHECK(in_child(reserve_rows_as_processes_come, NULL)); }
static void a_full_one_has_no_rows(void) { CHECK(in_child(have_rows_of_their_own_when_it_is_full, NULL)); }
static void a_shard_is_taken_when_it_is_used(void) { CHECK(in_child(take_each_shard_when_it_is_used, NULL)); }
static void one_that_fills_up_is_no_signal(void) { CHECK(in_child(use_shards_when_it_is_full, NULL)); }
static void a_full_one_is_no_signal(void) { CHECK(in_child(grow_in_a_full_one, NULL)); }
static void others_have_the_most_of_it(void) { CHECK(in_child(take_a_quarter_of_it, NULL)); }
static void a_missing_one(void) { CHECK(in_child(grow_without_it, "missing")); }
static void a_full_one(void) { CHECK(in_child(grow_without_it, "full")); }
static void a_read_only_one(void) { CHECK(in_child(grow_without_it, "read-only")); }

/* Killed while it grows them: those after it use what is whole. */
static void grow_and_die(void *names) {
    larder *cache = open_cache(512 * MIB);
    CHILD_CHECK(cache && fill(cache, 2000) && is(cache, "item 7", ""));
    grow(cache, 1);
    CHILD_CHECK(words(cache) == cache->core->map->reads_least && cache->core->map->reads_growing != 0);
    name_of(cache, names);
    raise(SIGKILL);
}

static void a_killed_grower_leaves_what_was_there(void) {
    char *name = shared_memory(80);
    pid_t child = fork_child();
    if (child == 0) {
        grow_and_die(name);
    }
    wait_for(child);
    larder *cache = open_cache(512 * MIB);
    larder_stats stats;
    CHECK(cache && larder_get_stats(cache, &stats) == LARDER_OK);
    if (cache->core->map->has_shared_hints && is_there(name)) {
        CHECK(words(cache) == cache->core->map->reads_least);
        grow(cache, ENOUGH);
        CHECK(words(cache) == cache->core->map->reads_most);
    }
    CHECK(is_usable(cache));
    larder_close(cache);
    CHECK(!is_there(name));
    /* One that was killed before it had all of a new one leaves a file without a header. */
    int fd = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)(16 * MIB)) == 0);
    close(fd);
    CHECK((cache = open_cache(512 * MIB)) != NULL && is_usable(cache));
    larder_close(cache);
    CHECK(!is_there(name));
    munmap(name, 80);
}

/* ---- control groups ---- */

typedef struct {
    memory_group group;
    char name[80]; /* of the hints */
    uint32_t words;
} grouped;

/* Hints of 14 MiB were too much. */
static void open_large(void *context) {
    grouped *what = context;
    CHILD_CHECK(memory_group_enter(&what->group) == 0);
    for (int i = 0; i < 3; i++) {
        larder *cache = open_cache(2048ull * MIB);
        CHILD_CHECK(cache && set(cache, "key", "value") == LARDER_OK);
        grow(cache, ENOUGH);
        CHILD_CHECK(is(cache, "key", "value") && words(cache) < cache->core->map->reads_most);
        larder_close(cache);
    }
}

static void a_large_file_in_a_small_group(void) {
    grouped what;
    if (limited_group(&what.group, 12 * MIB)) {
        bool held = in_child(open_large, &what);
        memory_group_remove(&what.group);
        CHECK(held);
    }
}

static void open_many(void *context) {
    grouped *what = context;
    char name[20];
    larder *caches[8];
    larder_options options = {.size_bytes = 128 * MIB};
    CHILD_CHECK(memory_group_enter(&what->group) == 0);
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "%d.larder", i);
        CHILD_CHECK(larder_open(test_path(name), &options, &caches[i], NULL) == LARDER_OK);
        grow(caches[i], ENOUGH);
        CHILD_CHECK(set(caches[i], "key", "value") == LARDER_OK);
    }
    for (int i = 0; i < 8; i++) {
        CHILD_CHECK(is(caches[i], "key", "value"));
        larder_close(caches[i]);
    }
}

static void many_files_in_a_small_group(void) {
    grouped what;
    if (limited_group(&what.group, 8 * MIB)) {
        bool held = in_child(open_many, &what);
        memory_group_remove(&what.group);
        CHECK(held);
    }
}

static void leave_grown(void *context) {
    grouped *what = context;
    CHILD_CHECK(memory_group_enter(&what->group) == 0);
    larder *cache = open_cache(1024 * MIB);
    CHILD_CHECK(cache && set(cache, "key", "value") == LARDER_OK);
    grow(cache, ENOUGH);
    what->words = words(cache);
    name_of(cache, what->name);
    CHILD_CHECK(what->words == cache->core->map->reads_most);
    raise(SIGKILL);
}

static void open_again(void *context) {
    grouped *what = context;
    CHILD_CHECK(memory_group_enter(&what->group) == 0);
    larder *cache = open_cache(1024 * MIB);
    CHILD_CHECK(cache && is(cache, "key", "value") && words(cache) < what->words);
    larder_close(cache);
    CHILD_CHECK(!is_there(what->name));
}

/* The memory that the killed processes left is the group's still. */
static void a_group_whose_limit_was_lowered(void) {
    grouped *what = shared_memory(sizeof *what);
    if (limited_group(&what->group, 64 * MIB)) {
        pid_t child = fork_child();
        if (child == 0) {
            leave_grown(what);
            _exit(0);
        }
        int status = wait_for(child);
        bool held =
            WIFSIGNALED(status) && memory_group_limit(&what->group, 14 * MIB) == 0 && in_child(open_again, what);
        memory_group_remove(&what->group);
        CHECK(held);
    }
    munmap(what, sizeof *what);
}
#endif

static const test_case tests[] = {
    TEST(they_grow_with_the_index_and_keep_its_counts, "they grow with the index, and keep the counts of reads"),
    TEST(a_process_follows_one_that_has_grown_them, "a process follows another one that has grown them"),
    TEST(a_number_of_words_that_cannot_be_is_not_used,
         "a number of words that cannot be is not used, and replaced"),
#ifdef __linux__
    TEST(a_shard_is_taken_when_it_is_used, "the memory of a shard is reserved when the shard is first used"),
    TEST(rows_are_taken_as_processes_come, "the memory of the rows is reserved as processes attach"),
    TEST(a_full_one_has_no_rows, "where /dev/shm is full, a process that has no row there counts in the file"),
    TEST(one_that_fills_up_is_no_signal,
         "where /dev/shm fills up before a shard is used its hints are private, and nothing raises a signal"),
    TEST(a_full_one_is_no_signal, "where /dev/shm is full they grow later, and no store raises a signal"),
    TEST(others_have_the_most_of_it, "they grow to a quarter of /dev/shm at most"),
    TEST(a_missing_one, "without a /dev/shm they are private, and grow"),
    TEST(a_full_one, "where /dev/shm is full from the start they are private, and grow"),
    TEST(a_read_only_one, "where /dev/shm is read-only they are private, and grow"),
    TEST(a_killed_grower_leaves_what_was_there,
         "a process that is killed while it grows or makes them does no harm"),
    TEST(a_large_file_in_a_small_group, "a large file is opened again and again in a small memory group"),
    TEST(many_files_in_a_small_group, "many files are opened in a small memory group"),
    TEST(a_group_whose_limit_was_lowered, "where the limit was lowered, hints that were left are made smaller"),
#endif
};

RUN("hints_memory", tests)
