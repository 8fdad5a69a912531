/*
 * creation_test.c — checks which process creates a file, which join it, and when it starts empty.
 */
#include "places.h"

static void one_handle_a_process(void) {
    larder *first = open_cache(SIZE), *second = open_cache(SIZE), *third = NULL;
    larder_options larger = {.size_bytes = 8 << 20};
    CHECK(first && first == second);
    CHECK(symlink(".", in_directory("detour")) == 0);
    CHECK(larder_open(in_directory("detour/t.larder"), &larger, &third, &failure) == LARDER_OK);
    CHECK(third == first && larder_size(third) == SIZE, "found through a linked directory, size as it is");
    larder_close(second);
    CHECK(set(first, "k", "v") == LARDER_OK);
    larder_close(first);
    CHECK(is(third, "k", "v"));
    larder_close(third);
}

static void open_with_another_size(void *cache) {
    larder *mine = NULL;
    larder_options larger = {.size_bytes = 8 << 20};
    larder_close(cache);
    CHILD_CHECK(larder_open(in_directory("t.larder"), &larger, &mine, &failure) == LARDER_OK);
    CHILD_CHECK(larder_size(mine) == SIZE && is(mine, "k", "v") && set(mine, "from", "the other") == LARDER_OK);
    larder_close(mine);
}

static void the_first_size_counts(void) {
    larder *cache = open_cache(SIZE);
    CHECK(set(cache, "k", "v") == LARDER_OK);
    CHECK(in_child(open_with_another_size, cache));
    CHECK(is(cache, "from", "the other"));
    larder_close(cache);
}

typedef struct {
    uint32_t ready, done;
    ino_t inodes[32];
    int count;
} crowd;

static void create_with_the_others(crowd *all, int me) {
    struct stat info;
    char key[16], other[16];
    advance(&all->ready);
    while (__atomic_load_n(&all->ready, __ATOMIC_ACQUIRE) < (uint32_t)all->count) {
        lard_pause();
    }
    larder *cache = open_cache(me % 2 ? SIZE : 2 * SIZE);
    snprintf(key, sizeof key, "of %d", me);
    CHILD_CHECK(cache && set(cache, key, key) == LARDER_OK);
    CHILD_CHECK(stat(test_path("t.larder"), &info) == 0);
    all->inodes[me] = info.st_ino;
    advance(&all->done);
    CHILD_CHECK(await(&all->done, (uint32_t)all->count));
    for (int i = 0; i < all->count; i++) {
        snprintf(other, sizeof other, "of %d", i);
        CHILD_CHECK(is(cache, other, other) && all->inodes[i] == info.st_ino);
    }
}

static void many_create_at_once(void) {
    static const int counts[] = {2, 2, 2, 2, 20, 20};
    crowd *all = shared_memory(sizeof *all);
    for (size_t round = 0; round < sizeof counts / sizeof *counts; round++) {
        pid_t pids[32];
        memset(all, 0, sizeof *all);
        all->count = counts[round];
        for (int i = 0; i < all->count; i++) {
            if ((pids[i] = fork_child()) == 0) {
                create_with_the_others(all, i);
                _exit(0);
            }
        }
        int failed = 0;
        for (int i = 0; i < all->count; i++) {
            failed += !exited_well(pids[i]);
        }
        CHECK(failed == 0, "%d of %d", failed, all->count);
        CHECK(unlink(test_path("t.larder")) == 0 && (round % 2 || unlink(in_directory("t.larder.lock")) == 0));
    }
    munmap(all, sizeof *all);
}

/* Creating from nothing, and replacing what cannot be used. */
static void a_creator_may_be_killed(void) {
    static const char unfit[2 * LARD_PAGE] = LARD_MAGIC;
    uint64_t state = 3;
    int killed = 0;
    for (int round = 0; round < 80; round++) {
        if (round % 2) {
            int fd = open(in_directory("t.larder"), O_RDWR);
            CHECK(pwrite(fd, unfit, sizeof unfit, 0) == (ssize_t)sizeof unfit);
            close(fd);
        } else {
            CHECK(unlink(in_directory("t.larder")) == 0 || errno == ENOENT);
        }
        pid_t pid = fork_child();
        if (pid == 0) {
            usable(in_directory("t.larder"));
            _exit(0);
        }
        sleep_us((unsigned)(next_random(&state) % 3000));
        kill(pid, SIGKILL);
        killed += WIFSIGNALED(wait_for(pid));
        CHECK(usable(in_directory("t.larder")), "round %d: %s", round, failure.detail);
    }
    CHECK(killed > 5, "%d of 80 were killed in time", killed);
}

static void what_a_killed_creator_leaves_is_made_again(void) {
    static unsigned char whole[SIZE], part[SIZE];
    const char *path = in_directory("t.larder");
    CHECK(usable(path));
    int fd = open(path, O_RDONLY);
    CHECK(read(fd, whole, SIZE) == SIZE);
    close(fd);
    for (int stage = 0; stage < 9; stage++) { /* create() writes control, superblock B, superblock A */
        memset(part, 0, SIZE);
        memcpy(part + 8192, whole + 8192, stage == 2 || stage == 3 ? 32 : 0);
        memcpy(part + 4096, whole + 4096, stage == 3 ? 4096 : 0);
        size_t bytes = stage == 0 ? 0 : SIZE;
        if (stage == 4) { /* space was reserved in part */
            memset(part, 0, SIZE);
            bytes = SIZE / 3;
        }
        if (stage >= 5) { /* the process that replaced it was killed, too, with 4 to 1 bytes of the mark written */
            memset(part + 8192, 0xff, (size_t)(9 - stage));
        }
        CHECK(put_file(path, part, bytes, 0600) && usable(path), "stage %d: %s", stage, failure.detail);
    }
    part[8192] = 1; /* no part of the mark */
    CHECK(put_file(path, part, SIZE, 0600) && try_open(path) == LARDER_NOT_LARDER && file_is(path, part, SIZE));
}

static bool forge_control(size_t at, const void *bytes, size_t count) {
    int fd = open(test_path("t.larder"), O_RDWR);
    bool done = fd >= 0 && pwrite(fd, bytes, count, (off_t)(LARD_CONTROL_OFFSET + at)) == (ssize_t)count;
    close(fd);
    return done;
}

static void a_crash_of_the_machine_empties_the_cache(void) {
    uint64_t another_boot[2] = {1, 2};
    uint32_t unclean = 0;
    larder *cache = open_cache(SIZE);
    CHECK(set(cache, "k", "v") == LARDER_OK);
    larder_close(cache);
    CHECK(forge_control(offsetof(lard_control, boot_id), another_boot, 16));
    cache = open_cache(SIZE);
    CHECK(is(cache, "k", "v"), "shut down cleanly");
    larder_close(cache);
    CHECK(forge_control(offsetof(lard_control, clean), &unclean, 4));
    cache = open_cache(SIZE);
    CHECK(is(cache, "k", "v"), "a death of all processes is no crash of the machine");
    larder_close(cache);
    CHECK(forge_control(offsetof(lard_control, clean), &unclean, 4));
    CHECK(forge_control(offsetof(lard_control, boot_id), another_boot, 16));
    cache = open_cache(SIZE);
    CHECK(is(cache, "k", NULL), "a crash of the machine");
    CHECK(set(cache, "k", "new") == LARDER_OK && is(cache, "k", "new"));
    larder_close(cache);
}

static void take_the_lock_file_away(void *unused) {
    larder *mine = NULL;
    larder_options options = {.size_bytes = SIZE};
    (void)unused;
    CHILD_CHECK(unlink(in_directory("t.larder.lock")) == 0);
    CHILD_CHECK(larder_open(in_directory("t.larder"), &options, &mine, &failure) == LARDER_OK);
    CHILD_CHECK(set(mine, "k", "theirs") == LARDER_OK && set(mine, "other", "theirs") == LARDER_OK);
    _exit(0);
}

static void the_lock_file_may_be_removed(void) {
    larder *cache = open_cache(SIZE), *again = NULL;
    CHECK(set(cache, "k", "mine") == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        larder_close(cache); /* inherited; a stranger to this file now */
        take_the_lock_file_away(NULL);
    }
    CHECK(exited_well(pid));
    CHECK(is(cache, "k", "theirs") && is(cache, "other", "theirs"), "all have come to the new file");
    CHECK(set(cache, "k", "mine") == LARDER_OK && sound(cache));
    CHECK(unlink(in_directory("t.larder.lock")) == 0);
    again = open_cache(SIZE);
    CHECK(again && set(again, "k", "again") == LARDER_OK && is(again, "k", "again"));
    larder_status status = set(cache, "k", "first");
    CHECK(status != LARDER_OK || is(again, "k", "first"), "two handles of one process never go two ways");
    larder_close(again);
    larder_close(cache);
    CHECK(usable(in_directory("t.larder")));
}

static const test_case tests[] = {
    TEST(one_handle_a_process, "a process has one handle for a file, whatever path leads there"),
    TEST(the_first_size_counts, "of two sizes configured the first counts"),
    TEST(many_create_at_once, "two and twenty processes that create at once share one file"),
    TEST(a_creator_may_be_killed, "who is killed while creating or replacing is no hindrance to the next"),
    TEST(what_a_killed_creator_leaves_is_made_again, "what a killed creator leaves is made again"),
    TEST(a_crash_of_the_machine_empties_the_cache,
         "a crash of the machine empties the cache, a clean shutdown keeps it"),
    TEST(the_lock_file_may_be_removed, "all find each other again after the lock file was removed"),
};
RUN("creation", tests)
