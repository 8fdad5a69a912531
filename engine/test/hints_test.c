/*
 * hints_test.c — the hints: a hit stores nothing into the cache file, processes share them, and losing them costs
 * no value.
 */
#include "children.h"
#include "internals.h"
#include "mounts.h"

#include "base/reads.h"
#include "file/hints.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __linux__
#include <sys/ioctl.h>
/* Constants of the kernel, whose headers are a package of their own on Alpine. */
#define FIFREEZE _IOWR('X', 119, int)
#define FITHAW _IOWR('X', 120, int)
#endif

enum { SIZE = 4 << 20, ITEMS = 2000, NOBODY = 65534 };

static bool fill(larder *cache) {
    char key[32];
    for (int i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof key, "item %d", i);
        if (set(cache, key, key) != LARDER_OK) {
            return false;
        }
    }
    return true;
}

static int found(larder *cache) {
    char key[32];
    int count = 0;
    for (int i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof key, "item %d", i);
        count += is(cache, key, key);
    }
    return count;
}

static const char *name_of(const larder *cache) {
    static char name[80];
    int used = snprintf(name, sizeof name, "/dev/shm/larder-");
    for (int i = 0; i < 16; i++) {
        used += snprintf(name + used, sizeof name - (size_t)used, "%02x", cache->core->map->super.file_id[i]);
    }
    return name;
}

static bool is_there(const char *name) { return access(name, F_OK) == 0; }

static void a_hit_stores_nothing_into_the_file(void) {
    pid_t child = fork();
    if (child == 0) {
        char large[300000], out[300000];
        larder *cache = open_cache(SIZE);
        memset(large, 'x', sizeof large);
        CHILD_CHECK(cache && fill(cache) && set_bytes(cache, "large", large, sizeof large, 0) == LARDER_OK);
        int64_t count;
        CHILD_CHECK(larder_increment(cache, "count", 5, 1, 1, 0, &count, NULL) == LARDER_OK);
        CHILD_CHECK(mprotect(cache->core->map->base, cache->core->map->bytes, PROT_READ) == 0);
        for (int round = 0; round < 5; round++) {
            CHILD_CHECK(found(cache) == ITEMS);
            CHILD_CHECK(!get(cache, "absent") && get(cache, "count"));
            CHILD_CHECK(larder_get(cache, "large", 5, out, sizeof out, NULL, NULL) == LARDER_OK);
        }
        larder_stats stats;
        CHILD_CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.hits >= 5 * ITEMS);
        _exit(0);
    }
    int status = wait_for(child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
}

static void reads_are_counted_up_to_three_and_go_with_the_item(void) {
    larder *cache = open_cache(SIZE);
    CHECK(cache && fill(cache));
    lard_key key = lard_key_of(cache->core->map, NULL, "item 7", 6);
    lard_view view = lard_view_of(cache->core->map, lard_hash_shard(cache->core->map, &key.hash));
    for (unsigned i = 0; i < 5; i++) {
        lard_found at = lard_index_find(&view, &key);
        CHECK(at.slot && lard_reads_of(at.reads, at.slot) == (i < 2 ? 2 * i : 3), "after %u reads", i);
        CHECK(is(cache, "item 7", "item 7"));
    }
    uint32_t buckets = lard_load(&view.header->bucket_count);
    char name[32];
    for (int i = 0; lard_load(&view.header->bucket_count) < 4 * buckets && i < 100000; i++) {
        snprintf(name, sizeof name, "other %d", i);
        CHECK(set(cache, name, "") == LARDER_OK);
    }
    lard_found moved = lard_index_find(&view, &key);
    CHECK(lard_load(&view.header->bucket_count) >= 4 * buckets && moved.slot);
    CHECK(lard_reads_of(moved.reads, moved.slot) == 3, "splits of buckets lost the count");
    CHECK(set(cache, "item 7", "new") == LARDER_OK);
    lard_found replaced = lard_index_find(&view, &key);
    CHECK(lard_reads_of(replaced.reads, replaced.slot) == 3, "a new value starts again");
    CHECK(larder_delete(cache, "item 7", 6, NULL) == LARDER_OK && set(cache, "item 7", "") == LARDER_OK);
    lard_found fresh = lard_index_find(&view, &key);
    CHECK(lard_reads_of(fresh.reads, fresh.slot) == 0, "a new item has the count of a deleted one");
    larder_close(cache);
}

#ifdef __linux__
static void the_last_process_removes_them(void) {
    larder *cache = open_cache(SIZE);
    char name[80];
    CHECK(cache && cache->core->map->has_shared_hints);
    snprintf(name, sizeof name, "%s", name_of(cache));
    struct stat info;
    CHECK(stat(name, &info) == 0 && (info.st_mode & 0777) == 0600);
    uint64_t at_first = (uint64_t)info.st_blocks * 512;
    CHECK(at_first == lard_page_bytes(), "%llu bytes of the header and the first rows",
          (unsigned long long)at_first);
    CHECK(set(cache, "key", "value") == LARDER_OK && stat(name, &info) == 0);
    CHECK((uint64_t)info.st_blocks * 512 >= hints_in_use(cache), "its space is not reserved");
    uint32_t *stage = shared_memory(sizeof *stage);
    pid_t child = fork();
    if (child == 0) {
        CHILD_CHECK(set(cache, "key", "value") == LARDER_OK);
        advance(stage);
        CHILD_CHECK(await(stage, 2));
        larder_close(cache);
        _exit(0);
    }
    CHECK(await(stage, 1));
    larder_close(cache);
    CHECK(is_there(name), "removed while a process has it");
    advance(stage);
    CHECK(wait_for(child) == 0 && !is_there(name));
    munmap(stage, sizeof *stage);
}

/* Opens and locks the file as a process that has it mapped, so that the processes of other tests do not remove it.
 */
static int kept(const char *name, int flags) {
    int fd = open(name, flags | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_SH) != 0) {
        perror(name);
        exit(1);
    }
    return fd;
}

static void what_a_killed_process_left_is_found_and_then_swept(void) {
    char left[80];
    int ready[2];
    CHECK(pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        larder *cache = open_cache(SIZE);
        CHILD_CHECK(cache && fill(cache) && found(cache) == ITEMS);
        (void)!write(ready[1], name_of(cache), 80);
        pause();
        _exit(0);
    }
    CHECK(read(ready[0], left, sizeof left) > 0);
    int keeper = kept(left, O_RDONLY);
    kill(child, SIGKILL);
    wait_for(child);
    larder *cache = open_cache(SIZE);
    larder_stats stats;
    CHECK(cache && strcmp(left, name_of(cache)) == 0 && larder_get_stats(cache, &stats) == LARDER_OK);
    CHECK(stats.hits == ITEMS && stats.sets == ITEMS, "%llu hits of a killed process",
          (unsigned long long)stats.hits);
    larder_close(cache);
    CHECK(is_there(left), "removed while another has it");
    close(keeper);
    larder *other = NULL;
    CHECK(larder_open(test_path("other"), NULL, &other, NULL) == LARDER_OK && !is_there(left));
    larder_close(other);
    CHECK((cache = open_cache(SIZE)) != NULL && found(cache) == ITEMS);
    larder_close(cache);
    close(ready[0]);
    close(ready[1]);
}

static void statistics_of_others_are_read_from_the_file(void) {
    int go_on[2];
    CHECK(pipe(go_on) == 0);
    pid_t child = fork(); /* first: it must not inherit this process's hints */
    if (child == 0) {
        char one;
        close(go_on[1]);
        CHILD_CHECK(read(go_on[0], &one, 1) == 1);
        larder *cache = open_cache(SIZE);
        CHILD_CHECK(cache && found(cache) == ITEMS);
        larder_close(cache);
        _exit(0);
    }
    larder *cache = open_cache(SIZE);
    larder_stats stats;
    bool is_ready =
        cache && fill(cache) && unlink(name_of(cache)) == 0; /* the other gets its own, as in a container */
    CHECK(write(go_on[1], "", is_ready) == is_ready);
    close(go_on[0]);
    close(go_on[1]);
    CHECK(is_ready && wait_for(child) == 0);
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK);
    CHECK(stats.hits == ITEMS && stats.counts_age_ms == 0, "%llu hits", (unsigned long long)stats.hits);
    larder_close(cache);
}

static void a_file_that_does_not_fit_is_not_used(void) {
    larder *cache = open_cache(SIZE);
    char name[80];
    CHECK(cache && fill(cache));
    snprintf(name, sizeof name, "%s", name_of(cache));
    larder_close(cache);
    for (int kind = 0; kind < 4; kind++) {
        int fd = kind < 3 ? open(name, O_CREAT | O_EXCL | O_RDWR, kind == 1 ? 0666 : 0600) : -1;
        if (kind == 1 || kind == 2) { /* of the right length, without a header */
            CHECK(fchmod(fd, kind == 1 ? 0666 : 0600) == 0 && ftruncate(fd, 1 << 20) == 0);
        }
        CHECK(kind < 3 || symlink("/etc/passwd", name) == 0);
        cache = open_cache(SIZE);
        CHECK(cache && found(cache) == ITEMS && sound(cache), "kind %d", kind);
        struct stat info;
        CHECK(lstat(name, &info) == 0 && S_ISREG(info.st_mode) && cache->core->map->has_shared_hints, "kind %d",
              kind);
        larder_close(cache);
        CHECK(!is_there(name));
        close(fd);
    }
}

static void truncated_in_use_they_are_zeros(void) {
    larder *cache = open_cache(SIZE);
    CHECK(cache && fill(cache) && found(cache) == ITEMS && truncate(name_of(cache), 0) == 0);
    CHECK(found(cache) == ITEMS && !cache->core->map->poisoned);
    CHECK(set(cache, "new", "value") == LARDER_OK && is(cache, "new", "value") && sound(cache));
    larder_close(cache);
}

/* Answers whether the child could do it; 77: it may not mount. */
static int without_room(void) {
    pid_t child = fork();
    if (child == 0) {
        if (!mounts_of_its_own("/dev/shm") || mount("none", "/dev/shm", "tmpfs", 0, "size=4k") != 0) {
            _exit(77);
        }
        larder *cache = open_cache(SIZE);
        CHILD_CHECK(cache && !cache->core->map->has_shared_hints && fill(cache) && found(cache) == ITEMS);
        CHILD_CHECK(!is_there(name_of(cache)));
        larder_close(cache);
        _exit(0);
    }
    int status = wait_for(child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void without_room_they_are_in_anonymous_memory(void) {
    int outcome = without_room();
    if (outcome == 77) {
        printf("  skipped, needs root: a full /dev/shm\n");
        return;
    }
    CHECK(outcome == 0);
}

static void another_users_file_is_left_alone(void) {
    if (geteuid() != 0) {
        printf("  skipped, needs root: a file of another user\n");
        return;
    }
    CHECK(chmod(test_directory, 0777) == 0);
    char name[80];
    int names[2], keeper = -1;
    CHECK(pipe(names) == 0);
    for (int round = 0; round < 2; round++) {
        pid_t child = fork();
        if (child == 0) {
            CHILD_CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
            larder *cache = open_cache(SIZE);
            CHILD_CHECK(cache && (round == 1 || fill(cache)) && found(cache) == ITEMS);
            CHILD_CHECK(cache->core->map->has_shared_hints == (round == 0));
            (void)!write(names[1], name_of(cache), sizeof name);
            larder_close(cache);
            _exit(0);
        }
        CHECK(wait_for(child) == 0, "round %d", round);
        CHECK(read(names[0], name, sizeof name) > 0);
        if (round == 0) {
            keeper = kept(name, O_CREAT | O_EXCL | O_RDWR); /* root's */
        }
    }
    CHECK(is_there(name) && unlink(name) == 0);
    close(keeper);
    close(names[0]);
    close(names[1]);
}

static int thaws = -1; /* a descriptor of the frozen file system */
static int no_argument;

static void give_up(int number) {
    (void)number;
    ioctl(thaws, FITHAW, &no_argument);
    _exit(1);
}

/* A child with a file system of its own, which it freezes once all was written back. 77: that cannot be had here.
 */
static int read_frozen(void) {
    char command[2000], place[300];
    snprintf(place, sizeof place, "%s/disk", test_directory);
    snprintf(command, sizeof command,
             "exec >/dev/null 2>&1; mkdir %s && truncate -s 64M %s.image && mkfs.ext4 -q %s.image && "
             "mount -o loop %s.image %s",
             place, place, place, place, place);
    if (geteuid() != 0 || !mounts_of_its_own(NULL) || system(command) != 0) {
        return 77;
    }
    larder_options options = {.size_bytes = SIZE};
    larder *cache;
    char path[320];
    snprintf(path, sizeof path, "%s/t.larder", place);
    CHILD_CHECK(larder_open(path, &options, &cache, NULL) == LARDER_OK && fill(cache) && found(cache) == ITEMS);
    thaws = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHILD_CHECK(msync(cache->core->map->base, cache->core->map->bytes, MS_SYNC) == 0 && syncfs(thaws) == 0);
    signal(SIGALRM, give_up);
    alarm(20);
    if (ioctl(thaws, FIFREEZE, &no_argument) != 0) {
        return 77;
    }
    int64_t start = now_us();
    bool all = found(cache) == ITEMS && !get(cache, "absent");
    int64_t took = now_us() - start;
    ioctl(thaws, FITHAW, &no_argument);
    alarm(0);
    CHILD_CHECK(all && took < 10 * 1000000);
    larder_close(cache);
    return 0;
}

static void root_leaves_the_hints_of_a_users_cache(void) {
    if (geteuid() != 0) {
        printf("  skipped, needs root: the cache of another user\n");
        return;
    }
    char name[80];
    int names[2], go_on[2];
    CHECK(chmod(test_directory, 0777) == 0 && chown(test_directory, NOBODY, NOBODY) == 0);
    CHECK(pipe(names) == 0 && pipe(go_on) == 0);
    pid_t child = fork();
    if (child == 0) {
        CHILD_CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
        larder *cache = open_cache(SIZE);
        CHILD_CHECK(cache && cache->core->map->has_shared_hints && fill(cache) && found(cache) == ITEMS);
        (void)!write(names[1], name_of(cache), sizeof name);
        close(go_on[1]); /* so that the read ends with the parent, if a check fails there */
        (void)!read(go_on[0], name, 1);
        larder_close(cache);
        _exit(0);
    }
    CHECK(read(names[0], name, sizeof name) > 0);
    struct stat before, after;
    larder_stats stats;
    CHECK(stat(name, &before) == 0 && before.st_uid == NOBODY);
    larder *cache = open_cache(SIZE);
    CHECK(cache && larder_get_stats(cache, &stats) == LARDER_OK && stats.hits == ITEMS &&
          stats.counts_age_ms == 0);
    larder_close(cache);
    CHECK(stat(name, &after) == 0 && after.st_ino == before.st_ino && after.st_uid == NOBODY);
    CHECK(write(go_on[1], "", 1) == 1 && wait_for(child) == 0 && !is_there(name));
    CHECK((cache = open_cache(SIZE)) != NULL && !is_there(name), "root made hints of its own");
    larder_close(cache);
    for (int i = 0; i < 2; i++) {
        close(names[i]);
        close(go_on[i]);
    }
}

static void a_frozen_file_system_stops_no_get(void) {
    pid_t child = fork();
    if (child == 0) {
        _exit(read_frozen());
    }
    int status = wait_for(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        printf("  skipped, needs root, mkfs.ext4 and loop devices: a frozen file system\n");
        return;
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
}
#endif

/* One process after the other fills the cache and reads it; those whose bit is set in `killed` are killed. */
static bool all_are_counted(unsigned processes, unsigned killed) {
    larder_stats stats;
    for (unsigned i = 0; i < processes; i++) {
        pid_t child = fork();
        if (child == 0) {
            larder *cache = open_cache(SIZE);
            CHILD_CHECK(cache && fill(cache) && found(cache) == ITEMS);
            if (killed >> i & 1) {
                raise(SIGKILL);
            }
            larder_close(cache);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    for (int i = 0; i < 3; i++) {
        larder *cache = open_cache(SIZE);
        if (!cache || larder_get_stats(cache, &stats) != LARDER_OK || stats.hits != (uint64_t)ITEMS * processes) {
            return false;
        }
        larder_close(cache);
    }
    return unlink(test_path("t.larder")) == 0;
}

/* The hints of a killed process are also removed when another cache is created, as other tests do: so this one has
 * a /dev/shm of its own. */
static void count_all(void *unused) {
    (void)unused;
#ifdef __linux__
    if (!mounts_of_its_own("/dev/shm") || mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL) != 0) {
        printf("  skipped, needs root: counts of processes that were killed or close\n");
        return;
    }
#endif
    for (unsigned processes = 1; processes <= 4; processes++) {
        for (unsigned killed = 0; killed < 1u << processes; killed++) {
            CHILD_CHECK(all_are_counted(processes, killed));
        }
    }
}

static void counts_outlive_the_last_close(void) { CHECK(in_child(count_all, NULL)); }

static void counts_that_cannot_be_are_not_used(void) {
    larder_stats stats;
    for (int all = 0; all < 2; all++) {
        larder *cache = open_cache(SIZE);
        CHECK(cache && fill(cache) && found(cache) == ITEMS);
        lard_process_keep_counts(cache->core, cache->core->map, lard_clock_ms());
        larder_get_stats(cache, &stats);
        uint64_t hits = stats.hits;
        uint8_t *from = all ? cache->core->map->hints + 64
                            : (uint8_t *)cache->core->map->rows[cache->core->map->slot].counters;
        describe(from, all ? cache->core->map->hints_bytes - 64 : sizeof(lard_u64) * LARD_COUNTERS, 7, 7);
        for (int i = 0; i < 3; i++) {
            CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.hits == hits && stats.damaged == 0 &&
                      stats.resets == 0,
                  "look %d: %llu hits, %llu damaged", i, (unsigned long long)stats.hits,
                  (unsigned long long)stats.damaged);
            lard_process_keep_counts(cache->core, cache->core->map, lard_clock_ms());
        }
        CHECK(found(cache) == ITEMS && larder_get_stats(cache, &stats) == LARDER_OK &&
                  stats.hits == hits + ITEMS && sound(cache),
              "it counts on: %llu", (unsigned long long)stats.hits);
        larder_close(cache);
        cache = open_cache(SIZE);
        CHECK(cache && larder_get_stats(cache, &stats) == LARDER_OK && stats.hits == hits + ITEMS &&
              !stats.damaged);
        larder_close(cache);
    }
}

static const test_case tests[] = {
    TEST(counts_that_cannot_be_are_not_used, "counts in overwritten hints that cannot be are not used"),
    TEST(counts_outlive_the_last_close,
         "counts outlive the last close, in whatever order processes are killed or close"),
    TEST(a_hit_stores_nothing_into_the_file, "a hit and a miss store nothing into the cache file"),
    TEST(reads_are_counted_up_to_three_and_go_with_the_item,
         "reads are counted up to three, and go with the item"),
#ifdef __linux__
    TEST(the_last_process_removes_them, "the last process that has them removes their file"),
    TEST(what_a_killed_process_left_is_found_and_then_swept,
         "what a killed process left is used by the next, or swept"),
    TEST(statistics_of_others_are_read_from_the_file,
         "statistics of a process with other hints are read from the file"),
    TEST(a_file_that_does_not_fit_is_not_used, "a file that does not fit is replaced"),
    TEST(truncated_in_use_they_are_zeros, "truncated in use, they are zeros, and the cache stays"),
    TEST(without_room_they_are_in_anonymous_memory, "without room in /dev/shm they are in anonymous memory"),
    TEST(another_users_file_is_left_alone, "another user's file is left alone"),
    TEST(root_leaves_the_hints_of_a_users_cache, "root uses the hints of a user's cache, and leaves them"),
    TEST(a_frozen_file_system_stops_no_get, "a frozen file system stops no get"),
#endif
};

RUN("hints", tests)
