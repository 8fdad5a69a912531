/*
 * calls_sweep_test.c — another process sweeps the file of hints, or a user removes it, before each call that the
 * engine makes while it opens, uses and closes a cache.
 *
 * The cache keeps its values, no descriptor stays open, and where the file was swept the hints are shared even so.
 */
#include "calls.h"

#include <dirent.h>

enum { SIZE = 1 << 20 };
enum { SWEPT, REMOVED, WAYS_TO_GO };

static int way_to_go;
static bool *shares; /* the hints, where nothing is removed; in memory that parent and children share */
static unsigned long removals;

/* The name of the hints of the file that is at the path. */
static bool find_hints(char name[80]) {
    lard_superblock super;
    int fd = __real_open(test_path("t.larder"), O_RDONLY | O_CLOEXEC);
    bool is_there = fd >= 0 && __real_pread(fd, &super, sizeof super, 0) == sizeof super;
    int used = snprintf(name, 80, "/dev/shm/larder-");
    for (size_t i = 0; is_there && i < sizeof super.file_id; i++) {
        used += snprintf(name + used, 80 - (size_t)used, "%02x", super.file_id[i]);
    }
    __real_close(fd);
    return is_there;
}

/* As a process that sweeps: only where no process has it mapped. */
static void remove_hints(int kind) {
    char name[80];
    (void)kind;
    armed = false;
    int fd = find_hints(name) ? __real_open(name, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0 && (way_to_go == REMOVED || __real_flock(fd, LOCK_EX | LOCK_NB) == 0)) {
        plan->failed += __real_unlink(name) == 0;
    }
    __real_close(fd);
    armed = true;
}

static int descriptors(void) {
    int count = 0;
    DIR *stream = opendir("/proc/self/fd");
    while (stream && readdir(stream)) {
        count++;
    }
    closedir(stream);
    return count;
}

/* A file whose user was killed has hints that no process has mapped. */
static void make(void *unused) {
    (void)unused;
    larder *cache = open_cache(SIZE);
    CHILD_CHECK(cache && set(cache, "kept", "value") == LARDER_OK);
}

static void live(void *unused) {
    struct stat info;
    char name[80];
    (void)unused;
    int before = descriptors();
    begin_places();
    armed = true;
    larder *cache = open_cache(SIZE);
    armed = false;
    CHILD_CHECK(cache && find_hints(name));
    bool is_shared = cache->core->map->has_shared_hints;
    *shares = plan->at ? *shares : is_shared;
    CHILD_CHECK(way_to_go == REMOVED || is_shared == *shares);
    CHILD_CHECK(way_to_go == REMOVED || !*shares ||
                (stat(name, &info) == 0 && (uint64_t)info.st_ino == cache->core->map->hints_inode));
    armed = true;
    larder_status status = set(cache, "stored", "value");
    larder_close(cache);
    armed = false;
    CHILD_CHECK(status == LARDER_OK && descriptors() == before);
}

static void look(void *unused) {
    (void)unused;
    larder *cache = open_cache(SIZE);
    CHILD_CHECK(cache && is(cache, "kept", "value") && is(cache, "stored", "value") && sound(cache));
    larder_close(cache);
}

/* One removal before the call of number `at`, or none. */
static bool attempt(unsigned long at) {
    unlink(test_path("t.larder"));
    memset(plan, 0, sizeof *plan);
    plan->at = at;
    bool done = in_child(make, NULL) && in_child(live, NULL) && in_child(look, NULL);
    removals += plan->failed;
    return done;
}

static void at_each_call(int way) {
    plan = plan ? plan : shared_memory(sizeof *plan);
    shares = shares ? shares : shared_memory(sizeof *shares);
    instead = remove_hints;
    way_to_go = way;
    CHECK(attempt(0));
    unsigned long count = plan->calls.count;
    CHECK(count > 50 && count < MOST_CALLS, "%lu calls", count);
    for (unsigned long at = 1; at <= count; at++) {
        CHECK(attempt(at), "before call %lu of %lu, %s", at, count, kinds[plan->calls.kind[at]].name);
    }
}

static void swept(void) { at_each_call(SWEPT); }
static void removed(void) { at_each_call(REMOVED); }

static void say_count(void) { printf("@ %lu removals of hints, each before another call\n", removals); }

static const test_case tests[] = {
    TEST(swept, "hints that another process sweeps are made again, and nothing stays open"),
    TEST(removed, "hints that a user removes cost no value, and nothing stays open"),
    TEST(say_count, "count"),
};
RUN_CALLS("swept hints", tests)
