/*
 * copies_test.c — puts back copies of a cache, and opens caches in containers with their own boot ids.
 *
 * No deleted value may come back, and no file that is in use may be taken away.
 */
#include "attached.h"
#include "mounts.h"

#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/mount.h>

enum { SIZE = 1 << 20 };

static const char *in(const char *name) {
    static char paths[8][400];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", test_directory, name);
    return path;
}

static bool run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool run(const char *format, ...) {
    char command[1000], inside[1300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    snprintf(inside, sizeof inside, "cd '%s' && %s", test_directory, command);
    return system(inside) == 0;
}

/* What other processes do while and after the file is copied. */
static void user(void *kill_it) {
    larder *cache = open_cache(SIZE);
    CHILD_CHECK(cache && set(cache, "kept", "k") == LARDER_OK && set(cache, "deleted", "d") == LARDER_OK);
    CHILD_CHECK(
        run("mkdir -p backup && cp -p t.larder t.larder.lock backup && tar cf backup.tar t.larder t.larder.lock"));
    CHILD_CHECK(larder_delete(cache, "deleted", 7, NULL) == LARDER_OK);
    if (*(bool *)kill_it) {
        kill(getpid(), SIGKILL);
    }
    larder_close(cache);
}

static bool used(bool killed) {
    pid_t pid = fork_child();
    if (pid == 0) {
        user(&killed);
        _exit(0);
    }
    int status = wait_for(pid);
    return killed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void open_it(void *unused) {
    (void)unused;
    larder *cache = open_cache(SIZE);
    CHILD_CHECK(cache && is(cache, "deleted", NULL) && set(cache, "k", "v") == LARDER_OK && sound(cache));
    larder_close(cache);
}

static void put_back(const char *how, bool killed) {
    CHECK(run("rm -rf t.larder t.larder.lock backup backup.tar"));
    CHECK(used(killed));
    CHECK(run("%s", how), "%s", how);
    CHECK(in_child(open_it, NULL), "after %s of a %s", how, killed ? "killed process" : "clean close");
}

static void copies_of_a_file_in_use(void) {
    static const char *const ways[] = {
        "cp backup/t.larder new && mv new t.larder", /* rsync's way */
        "rm t.larder && cp backup/t.larder .",       /* perhaps the same inode number */
        "rm t.larder t.larder.lock && cp -p backup/t.larder backup/t.larder.lock .", /* with its lock file */
        "tar xf backup.tar",
        "tar xf backup.tar t.larder",
        "mv backup/t.larder t.larder",
        "rm t.larder && ln backup/t.larder t.larder",
        "mv backup/t.larder . && mv backup/t.larder.lock .",
    };
    /* over the cache's inode, with a lock file of another one: a sweeper had removed it */
    put_back("rm t.larder.lock && cp backup/t.larder backup/t.larder.lock .", true);
    put_back("rm t.larder.lock && cp -r backup/. .", true);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        put_back(ways[i], false);
        put_back(ways[i], true);
    }
    put_back("cp backup/t.larder t.larder", false); /* over the same inode: the use has ended */
    put_back(
        "cp backup/t.larder.lock t.larder.lock; cp backup/t.larder t.larder; rm t.larder; cp backup/t.larder .",
        false);
}

static void a_copy_of_a_closed_file(void) {
    CHECK(used(false));
    CHECK(run("rm -rf backup && mkdir backup && cp -p t.larder t.larder.lock backup"));
    larder *cache = open_cache(SIZE);
    CHECK(cache && is(cache, "kept", "k") && larder_delete(cache, "kept", 4, NULL) == LARDER_OK);
    larder_close(cache);
    CHECK(run("cp backup/t.larder t.larder"), "over the same inode, of an older use");
    cache = open_cache(SIZE);
    CHECK(cache && is(cache, "kept", NULL));
    larder_close(cache);
}

/* Of a former use: each process that has the file open finds another number in it. */
static void a_copy_over_a_file_in_use(void) {
    static const char *const ways[] = {
        "cp backup/t.larder t.larder",
        "cp -p backup/t.larder backup/t.larder.lock .",
        "tar x --overwrite -f backup.tar",
        "dd if=backup/t.larder of=t.larder conv=notrunc status=none",
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        CHECK(run("rm -rf t.larder t.larder.lock backup backup.tar") && used(i % 2));
        larder *cache = open_cache(SIZE);
        CHECK(cache && set(cache, "k", "v") == LARDER_OK);
        CHECK(run("%s", ways[i]), "%s", ways[i]);
        sleep_us(250000); /* it is looked for each 200 ms */
        CHECK(set(cache, "k", "w") == LARDER_OK && is(cache, "deleted", NULL), "%s", ways[i]);
        CHECK(is(cache, "kept", NULL) && in_child(open_it, NULL), "%s", ways[i]);
        larder_close(cache);
    }
}

static void what_is_not_copied_is_kept(void) {
    CHECK(used(false));
    larder *cache = open_cache(SIZE);
    CHECK(cache && is(cache, "kept", "k"), "after a clean close");
    larder_close(cache);
    CHECK(run("rm -rf backup backup.tar") && used(true));
    cache = open_cache(SIZE);
    CHECK(cache && is(cache, "kept", "k"), "after kill -9");
    larder_close(cache);
    CHECK(run("mkdir moved && mv t.larder t.larder.lock moved && mv moved/* ."));
    cache = open_cache(SIZE);
    CHECK(cache && is(cache, "kept", "k"), "moved in its file system");
    larder_close(cache);
}

/* A container: a mount namespace of its own, with the boot id bound that the file of this name has. */
static bool bind_boot_id(const char *file) {
    return mounts_of_its_own("/proc") &&
           mount(file, "/proc/sys/kernel/random/boot_id", "none", MS_BIND, NULL) == 0;
}

static bool write_boot_id(const char *name, char digit) {
    FILE *file = fopen(in(name), "w");
    bool good = file != NULL;
    for (int i = 0; good && i < 36; i++) {
        good = fputc(i == 8 || i == 13 || i == 18 || i == 23 ? '-' : digit, file) != EOF;
    }
    return good && fclose(file) == 0;
}

typedef struct {
    uint32_t ready, stop;
    uint64_t acknowledged[4];
} containers;

static void containers_with_boot_ids_of_their_own(void) {
    enum { CONTAINERS = 4 };
    pid_t pids[CONTAINERS];
    if (geteuid() != 0) {
        printf("  skipped, needs root: boot ids of containers\n");
        return;
    }
    containers *all = shared_memory(sizeof *all);
    larder *cache = open_cache(SIZE);
    int64_t sum = 0;
    CHECK(cache && larder_increment(cache, "sum", 3, 0, 0, 0, &sum, NULL) == LARDER_OK);
    uint64_t inode = cache->core->map->inode, acknowledged = 0;
    for (int i = 0; i < CONTAINERS; i++) {
        char name[] = {'b', 'o', 'o', 't', (char)('1' + i), '\0'};
        CHECK(write_boot_id(name, (char)('1' + i)));
        pids[i] = fork_child();
        if (pids[i] == 0) {
            larder_close(cache);
            CHILD_CHECK(bind_boot_id(in(name)));
            uint64_t boot[2];
            CHILD_CHECK(lard_boot_id(boot) == 0 && boot[0] == 0x1111111111111111ull * (uint64_t)(i + 1));
            __atomic_fetch_add(&all->ready, 1, __ATOMIC_RELEASE);
            while (!__atomic_load_n(&all->stop, __ATOMIC_ACQUIRE)) { /* comes and goes */
                larder *mine = open_cache(SIZE);
                CHILD_CHECK(mine);
                for (int n = 0; n < 200; n++) {
                    int64_t now;
                    all->acknowledged[i] += larder_increment(mine, "sum", 3, 1, 0, 0, &now, NULL) == LARDER_OK;
                }
                larder_close(mine);
            }
            _exit(0);
        }
        CHECK(await(&all->ready, (uint32_t)i + 1));
    }
    sleep_us(500000);
    __atomic_store_n(&all->stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < CONTAINERS; i++) {
        CHECK(exited_well(pids[i]));
        acknowledged += all->acknowledged[i];
    }
    CHECK(larder_increment(cache, "sum", 3, 0, 0, 0, &sum, NULL) == LARDER_OK);
    CHECK((uint64_t)sum == acknowledged && acknowledged > 200 && cache->core->map->inode == inode,
          "counter %lld, acknowledged %llu", (long long)sum, (unsigned long long)acknowledged);
    larder_close(cache);
    munmap(all, sizeof *all);
}

static void killed_under_another_boot(void *digit) {
    CHILD_CHECK(write_boot_id("boot-id", *(char *)digit) && bind_boot_id(in("boot-id")));
    larder *cache = open_cache(SIZE);
    CHILD_CHECK(cache);
    if (*(char *)digit == '1') {
        CHILD_CHECK(set(cache, "k", "v") == LARDER_OK);
        _exit(0); /* without closing it */
    }
    CHILD_CHECK(is(cache, "k", NULL));
    larder_close(cache);
}

/* Any subset of the pages may be on disk: a process that is alone takes another boot id for a crash of the
 * machine. */
static void alone_after_another_boot(void) {
    char one = '1', two = '2';
    if (geteuid() != 0) {
        printf("  skipped, needs root: another boot id\n");
        return;
    }
    CHECK(in_child(killed_under_another_boot, &one));
    CHECK(in_child(killed_under_another_boot, &two));
}

/* A container with one boot id for ever: the machine's uptime tells. */
static void the_same_boot_id_for_ever(void) {
    larder *cache = open_cache(SIZE);
    CHECK(cache && set(cache, "k", "v") == LARDER_OK);
    lard_store(&cache->core->map->control->uptime_ms,
               (uint64_t)lard_boot_uptime_ms() + 3600000); /* it ran for longer then */
    pid_t pid = fork_child();
    if (pid == 0) {
        larder *mine = open_cache(SIZE);
        CHILD_CHECK(mine && is(mine, "k", "v")); /* not alone: the boot is the same */
        larder_close(mine);
        _exit(0);
    }
    CHECK(exited_well(pid));
    lard_bytelock_drop(&cache->core->slot_lock, &cache->core->lock); /* as if it had been killed */
    pid = fork_child();
    if (pid == 0) {
        larder_close(cache);
        larder *mine = open_cache(SIZE);
        CHILD_CHECK(mine && is(mine, "k", NULL));
        larder_close(mine);
        _exit(0);
    }
    CHECK(exited_well(pid));
    larder_close(cache);
}

static void with_masked_boot_id(void *mask) {
    const char *file = in("mask");
    CHILD_CHECK(run("%s", (const char *)mask) && bind_boot_id(file));
    uint64_t boot[2];
    CHILD_CHECK(lard_boot_id(boot) == 0 && !boot[0] && !boot[1]);
    larder *cache = open_cache(SIZE);
    CHILD_CHECK(cache && set(cache, "k", "v") == LARDER_OK && is(cache, "k", "v"));
    larder_close(cache);
}

static void a_masked_boot_id(void) {
    static const char *const masks[] = {"rm -f mask && touch mask", "printf none > mask",
                                        "rm -f mask && mknod mask c 1 3"};
    if (geteuid() != 0) {
        printf("  skipped, needs root: another boot id\n");
        return;
    }
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        CHECK(in_child(with_masked_boot_id, (void *)(uintptr_t)masks[i]), "%s", masks[i]);
    }
}

static const test_case tests[] = {
    TEST(copies_of_a_file_in_use, "a copy of a file in use that is put back answers nothing that was deleted"),
    TEST(a_copy_of_a_closed_file, "a copy of a closed file that is put back answers nothing that was deleted"),
    TEST(a_copy_over_a_file_in_use, "a copy of a former use that is written over a file in use is noticed"),
    TEST(what_is_not_copied_is_kept, "a file that was closed, killed or moved is kept"),
    TEST(containers_with_boot_ids_of_their_own,
         "containers with boot ids of their own leave each other's live file alone"),
    TEST(alone_after_another_boot, "who is alone and finds another boot starts empty"),
    TEST(a_masked_boot_id, "a boot id that is masked, by whatever file, is none"),
    TEST(the_same_boot_id_for_ever, "an uptime that has become less is another boot"),
};
RUN("copies", tests)
