/*
 * memory_limit_test.c — checks the size of files that a process in a control group with a memory limit may create.
 *
 * Each child enters its own group. Skipped without root, memory control groups or /dev/shm.
 */
#include "children.h"
#include "groups.h"
#include "mounts.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#define MIB (1u << 20)
#define IN_MEMORY "/dev/shm"

static larder_error failure;

static bool memory_is_a_directory(void) {
    struct statfs info;
    bool there = statfs(IN_MEMORY, &info) == 0 && info.f_type == 0x01021994;
    if (!there) {
        printf("  skipped: %s: %s is not a tmpfs\n", test_name, IN_MEMORY);
    }
    return there;
}

static const char *path_in_memory(const char *ending) {
    static char path[200];
    snprintf(path, sizeof path, IN_MEMORY "/larder-test-%ld%s", (long)getpid(), ending);
    return path;
}

static void remove_from_memory(void) {
    unlink(path_in_memory(""));
    unlink(path_in_memory(".lock"));
}

typedef struct {
    memory_group group;
    const char *path;
    uint64_t size_bytes;
    larder_status expected;
} opening;

static void open_in_group(void *context) {
    const opening *what = context;
    larder *cache = NULL;
    larder_options options = {.size_bytes = what->size_bytes};
    CHILD_CHECK(memory_group_enter(&what->group) == 0);
    larder_status status = larder_open(what->path, &options, &cache, &failure);
    if (status != what->expected) {
        fprintf(stderr, "  %s: %s\n", larder_status_text(status), failure.detail);
    }
    CHILD_CHECK(status == what->expected);
    if (status == LARDER_OK) {
        larder_store store = {.key = "k", .key_bytes = 1, .value = "v", .value_bytes = 1};
        CHILD_CHECK(larder_set(cache, &store, NULL) == LARDER_OK);
        larder_close(cache);
        return;
    }
    struct stat info;
    CHILD_CHECK(strstr(failure.detail, "64 MiB") && strstr(failure.detail, "a path on a disk"));
    CHILD_CHECK(stat(what->path, &info) != 0 && errno == ENOENT);
}

static void open_with(const char *path, uint64_t size_bytes, larder_status expected) {
    opening what = {.path = path, .size_bytes = size_bytes, .expected = expected};
    if (limited_group(&what.group, 64 * MIB)) {
        bool held = in_child(open_in_group, &what);
        memory_group_remove(&what.group);
        CHECK(held);
    }
}

static void too_large_for_memory(void) {
    if (memory_is_a_directory()) {
        open_with(path_in_memory(""), 128 * MIB, LARDER_NO_SPACE);
        remove_from_memory();
    }
}

static void too_large_beside_what_is_used(void) {
    if (memory_is_a_directory()) {
        open_with(path_in_memory(""), 64 * MIB - 4096, LARDER_NO_SPACE);
        remove_from_memory();
    }
}

static void small_enough_for_memory(void) {
    if (memory_is_a_directory()) {
        open_with(path_in_memory(""), 32 * MIB, LARDER_OK);
        remove_from_memory();
    }
}

static void larger_than_memory_on_a_disk(void) {
    struct statfs info;
    if (statfs(test_path("."), &info) == 0 && info.f_type == 0x01021994) {
        printf("  skipped: %s: the tests' directory is in memory\n", test_name);
        return;
    }
    open_with(test_path("t.larder"), 128 * MIB, LARDER_OK);
}

/* Pages of files are given back, so they take nothing away. */
static void read_a_file_and_ask(void *context) {
    const opening *what = context;
    uint64_t limit = 0, used = 0;
    static char piece[MIB];
    CHILD_CHECK(memory_group_enter(&what->group) == 0);
    int fd = open(what->path, O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < 48; i++) {
        CHILD_CHECK(write(fd, piece, sizeof piece) == (ssize_t)sizeof piece);
    }
    CHILD_CHECK(fsync(fd) == 0 && lard_memory_limit(&limit, &used));
    CHILD_CHECK(limit == 64 * MIB && used < 16 * MIB);
    char *taken = malloc(24 * MIB);
    CHILD_CHECK(taken != NULL);
    memset(taken, 1, 24 * MIB);
    __asm__ volatile("" : : "r"(taken) : "memory");
    CHILD_CHECK(lard_memory_limit(&limit, &used) && used >= 20 * MIB && used <= 48 * MIB);
    free(taken);
}

static void what_is_used_is_told(void) {
    opening what = {.path = test_path("read")};
    if (limited_group(&what.group, 64 * MIB)) {
        bool held = in_child(read_a_file_and_ask, &what);
        memory_group_remove(&what.group);
        CHECK(held);
    }
}

static void ask(void *context) {
    const opening *what = context;
    uint64_t limit = 0, used = 0;
    CHILD_CHECK(memory_group_enter(&what->group) == 0);
    CHILD_CHECK(lard_memory_limit(&limit, &used) && limit == 64 * MIB);
}

static void a_group_above_limits(void) {
    opening what = {.path = ""};
    memory_group above;
    if (limited_group(&above, 64 * MIB)) {
        what.group = above;
        strncat(what.group.directory, "/below", sizeof what.group.directory - strlen(above.directory) - 1);
        bool held = mkdir(what.group.directory, 0755) == 0 && in_child(ask, &what);
        memory_group_remove(&what.group);
        memory_group_remove(&above);
        CHECK(held);
    }
}

/* As in a container: its group is the root of what it sees. */
static void ask_in_a_namespace(void *context) {
    const opening *what = context;
    uint64_t limit = 0, used = 0;
    CHILD_CHECK(memory_group_enter(&what->group) == 0);
    CHILD_CHECK(unshare(CLONE_NEWCGROUP) == 0 && mounts_of_its_own(NULL));
    CHILD_CHECK(mount("larder", what->path, what->group.second ? "cgroup2" : "cgroup", 0,
                      what->group.second ? NULL : "memory") == 0);
    CHILD_CHECK(lard_memory_limit(&limit, &used) && limit == 64 * MIB);
}

static void a_container_sees_its_limit(void) {
    opening what = {.path = test_path("groups")};
    CHECK(mkdir(what.path, 0755) == 0);
    if (limited_group(&what.group, 64 * MIB)) {
        bool held = in_child(ask_in_a_namespace, &what);
        memory_group_remove(&what.group);
        CHECK(held);
    }
}

static const test_case tests[] = {
    TEST(too_large_for_memory,
         "a file on tmpfs that is larger than the memory limit is refused, and nobody is killed"),
    TEST(too_large_beside_what_is_used,
         "a file on tmpfs is refused where the rest of the memory is too little for it"),
    TEST(small_enough_for_memory, "a file on tmpfs that fits is made"),
    TEST(larger_than_memory_on_a_disk, "a file on a disk may be larger than the memory limit"),
    TEST(what_is_used_is_told, "pages of files are not counted as used memory, others are"),
    TEST(a_container_sees_its_limit, "in a namespace of control groups the limit is seen"),
    TEST(a_group_above_limits, "the limit of a group above counts, too"),
};
RUN("memory_limit", tests)
