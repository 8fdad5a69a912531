/*
 * files_test.c — what may be at the path: nothing, foreign files, files of others,
 * links, directories, full disks; and several who create at once.
 */
#include "children.h"

#include <limits.h>
#include <sys/un.h>
#include <sys/socket.h>
#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#endif

enum { NOBODY = 65534, SIZE = 1 << 20 };

static larder_error failure;

static larder_status try_open(const char *path) {
    larder *cache = NULL;
    larder_options options = {.size_bytes = SIZE};
    larder_status status = larder_open(path, &options, &cache, &failure);
    larder_close(cache);
    return status;
}

static const char *in_directory(const char *name) {
    static char paths[8][600];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", test_directory, name);
    return path;
}

static bool put_file(const char *path, const void *data, size_t bytes, mode_t mode) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool done = fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes && fchmod(fd, mode) == 0;
    close(fd);
    return done;
}

static bool file_is(const char *path, const void *data, size_t bytes) {
    static unsigned char have[3 * SIZE];
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, have, sizeof have);
    close(fd);
    return got == (ssize_t)bytes && memcmp(have, data, bytes) == 0;
}

static bool is_there(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

static bool usable(const char *path) {
    larder *cache = NULL;
    larder_options options = {.size_bytes = SIZE};
    bool good = larder_open(path, &options, &cache, &failure) == LARDER_OK && set(cache, "k", "v") == LARDER_OK &&
                is(cache, "k", "v") && sound(cache);
    larder_close(cache);
    return good;
}

static void foreign_files_are_not_touched(void) {
    static unsigned char disk_image[3 * SIZE]; /* nothing but zeros where Larder's marks would be */
    const char *path = in_directory("notes.txt");
    static const char *texts[] = {"x", "LARD", "Dear diary,\n", "LARDER\r", "larder\r\n and more"};
    memset(disk_image + 32768, 7, 2048);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK(put_file(path, texts[i], strlen(texts[i]), 0600));
        CHECK(try_open(path) == LARDER_NOT_LARDER && strstr(failure.detail, "notes.txt"), "'%s'", texts[i]);
        CHECK(file_is(path, texts[i], strlen(texts[i])), "'%s'", texts[i]);
    }
    CHECK(put_file(path, disk_image, sizeof disk_image, 0600));
    CHECK(try_open(path) == LARDER_NOT_LARDER);
    CHECK(file_is(path, disk_image, sizeof disk_image), "a file that begins with zeros");
    memset(disk_image, 0x55, sizeof disk_image);
    CHECK(put_file(path, disk_image, sizeof disk_image, 0600));
    CHECK(try_open(path) == LARDER_NOT_LARDER);
    CHECK(file_is(path, disk_image, sizeof disk_image));
}

static void what_is_no_file_is_refused(void) {
    struct stat info;
    const char *path = in_directory("t.larder"), *target = in_directory("target");
    CHECK(put_file(target, "precious", 8, 0600) && symlink(target, path) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR && strstr(failure.detail, "t.larder"));
    CHECK(file_is(target, "precious", 8) && unlink(path) == 0);
    CHECK(symlink(in_directory("nowhere"), path) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR && !is_there(in_directory("nowhere")), "a dangling link");
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR, "a directory");
    CHECK(rmdir(path) == 0 && mkfifo(path, 0600) == 0);
    int64_t start = now_us();
    CHECK(try_open(path) == LARDER_NOT_REGULAR, "a pipe");
    CHECK(now_us() - start < 5000000 && lstat(path, &info) == 0 && S_ISFIFO(info.st_mode));
    CHECK(unlink(path) == 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%.100s", path);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&name, sizeof name) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR, "a socket");
    close(listener);
    CHECK(unlink(path) == 0 && usable(path));
}

static void files_of_unsafe_mode_are_refused(void) {
    static const mode_t modes[] = {0666, 0620, 0602};
    const char *path = in_directory("t.larder"), *lock = in_directory("t.larder.lock");
    CHECK(usable(path));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        CHECK(chmod(path, modes[i]) == 0 && try_open(path) == LARDER_UNSAFE_MODE, "%o", modes[i]);
        CHECK(strstr(failure.detail, "t.larder (mode 6"));
        CHECK(chmod(path, 0600) == 0 && chmod(lock, modes[i]) == 0);
        CHECK(try_open(path) == LARDER_UNSAFE_MODE && strstr(failure.detail, ".lock"), "lock %o", modes[i]);
        CHECK(chmod(lock, 0600) == 0);
    }
    CHECK(chmod(path, 0644) == 0 && usable(path), "others may read it, if someone wants that");
}

static void files_of_others_are_refused(void) {
    const char *path = in_directory("t.larder"), *lock = in_directory("t.larder.lock");
    if (geteuid() != 0) {
        printf("  skipped, needs root: files of another owner\n");
        return;
    }
    CHECK(usable(path) && chown(path, NOBODY, NOBODY) == 0);
    CHECK(try_open(path) == LARDER_NOT_OWNER && strstr(failure.detail, "65534"), "%s", failure.detail);
    CHECK(chown(path, 0, 0) == 0 && chown(lock, NOBODY, NOBODY) == 0);
    CHECK(try_open(path) == LARDER_NOT_OWNER && strstr(failure.detail, ".lock"));
    CHECK(chown(lock, 0, 0) == 0 && usable(path));
}

static void open_where_nothing_may_be_written(void *unused) {
    const char *path = in_directory("read-only/t.larder"), *below = in_directory("read-only/below/t.larder");
    (void)unused;
    if (geteuid() == 0) {
        CHILD_CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    }
    CHILD_CHECK(try_open(path) == LARDER_SYSTEM && failure.system_errno == EACCES);
    CHILD_CHECK(strstr(failure.detail, "read-only") && strstr(failure.detail, "Permission denied"));
    CHILD_CHECK(try_open(below) == LARDER_SYSTEM && failure.system_errno == EACCES);
}

static void a_directory_may_be_read_only(void) {
    const char *directory = in_directory("read-only");
    CHECK(mkdir(directory, 0555) == 0 && chmod(test_directory, 0755) == 0);
    CHECK(in_child(open_where_nothing_may_be_written, NULL));
    CHECK(chmod(directory, 0755) == 0 && rmdir(directory) == 0, "nothing was left there");
}

static mode_t mode_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? info.st_mode & 07777 : 0;
}

static void missing_directories_are_made(void) {
    mode_t before = umask(022);
    CHECK(usable(in_directory("a/b/c/t.larder")));
    CHECK(mode_of(in_directory("a")) == 0755 && mode_of(in_directory("a/b")) == 0755);
    CHECK(mode_of(in_directory("a/b/c")) == 0700, "the last one is private");
    CHECK(mode_of(in_directory("a/b/c/t.larder")) == 0600 && mode_of(in_directory("a/b/c/t.larder.lock")) == 0600);
    umask(0);
    CHECK(usable(in_directory("d/t.larder")));
    umask(before);
    CHECK(mode_of(in_directory("d")) == 0700 && mode_of(in_directory("d/t.larder")) == 0600);
    CHECK(put_file(in_directory("file"), "", 0, 0600));
    CHECK(try_open(in_directory("file/t.larder")) == LARDER_SYSTEM && failure.system_errno == ENOTDIR);
}

static void paths_may_be_too_long(void) {
    char path[PATH_MAX + 100], name[300];
    memset(path, '/', sizeof path);
    path[sizeof path - 1] = '\0';
    CHECK(try_open(path) == LARDER_PATH_TOO_LONG);
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    CHECK(try_open(in_directory(name)) == LARDER_SYSTEM && failure.system_errno == ENAMETOOLONG);
    CHECK(strlen(failure.detail) < sizeof failure.detail);
    name[200] = '\0';
    CHECK(usable(in_directory(name)));
}

static void the_lock_file_is_looked_at_too(void) {
    const char *path = in_directory("t.larder"), *lock = in_directory("t.larder.lock");
    CHECK(put_file(lock, "pid 1234\n", 9, 0600));
    CHECK(try_open(path) == LARDER_NOT_LARDER && strstr(failure.detail, "t.larder.lock"));
    CHECK(file_is(lock, "pid 1234\n", 9) && !is_there(path));
    CHECK(unlink(lock) == 0 && symlink(in_directory("elsewhere"), lock) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR && !is_there(in_directory("elsewhere")) && !is_there(path));
    CHECK(unlink(lock) == 0 && mkdir(lock, 0700) == 0);
    CHECK(try_open(path) == LARDER_NOT_REGULAR);
    CHECK(rmdir(lock) == 0 && put_file(lock, "", 0, 0600) && usable(path), "its creator was killed");
    CHECK(put_file(lock, "LARDLOCK\1\0\0\0", 12, 0600) && usable(path), "killed half-way");
}

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

static void what_a_killed_creator_leaves_is_made_anew(void) {
    static unsigned char whole[SIZE], part[SIZE];
    const char *path = in_directory("t.larder");
    CHECK(usable(path));
    int fd = open(path, O_RDONLY);
    CHECK(read(fd, whole, SIZE) == SIZE);
    close(fd);
    for (int stage = 0; stage < 5; stage++) { /* create() writes control, superblock B, superblock A */
        memset(part, 0, SIZE);
        memcpy(part + 8192, whole + 8192, stage >= 2 ? 32 : 0);
        memcpy(part + 4096, whole + 4096, stage >= 3 ? 4096 : 0);
        size_t bytes = stage == 0 ? 0 : SIZE;
        if (stage == 4) { /* space was reserved in part */
            memset(part, 0, SIZE);
            bytes = SIZE / 3;
        }
        CHECK(put_file(path, part, bytes, 0600) && usable(path), "stage %d: %s", stage, failure.detail);
    }
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

#ifdef __linux__
static void open_on_a_full_disk(void *unused) {
    const char *path = in_directory("disk/t.larder");
    static char filler[100 << 10];
    (void)unused;
    CHILD_CHECK(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    CHILD_CHECK(mount("tmpfs", in_directory("disk"), "tmpfs", 0, "size=1500k,mode=700") == 0);
    CHILD_CHECK(put_file(in_directory("disk/filler"), filler, sizeof filler, 0600));
    larder_options options = {.size_bytes = 2 << 20};
    larder *cache = NULL;
    CHILD_CHECK(larder_open(path, &options, &cache, &failure) == LARDER_NO_SPACE);
    CHILD_CHECK(failure.system_errno == ENOSPC && strstr(failure.detail, "t.larder") && !is_there(path));
    CHILD_CHECK(usable(path)); /* a smaller one has room */
    CHILD_CHECK(unlink(path) == 0 && unlink(in_directory("disk/t.larder.lock")) == 0);
    int fd = open(in_directory("disk/filler"), O_WRONLY | O_APPEND);
    while (write(fd, filler, sizeof filler) > 0) {
    }
    close(fd);
    CHILD_CHECK(try_open(path) == LARDER_NO_SPACE && !is_there(path));
}
#endif

static void the_disk_may_be_full(void) {
#ifdef __linux__
    if (geteuid() == 0 && mkdir(in_directory("disk"), 0700) == 0) {
        CHECK(in_child(open_on_a_full_disk, NULL));
        return;
    }
#endif
    printf("  skipped, needs root to mount a small tmpfs: a full disk\n");
}

static const test_case tests[] = {
    TEST(foreign_files_are_not_touched, "a file that is not Larder's is never touched"),
    TEST(what_is_no_file_is_refused, "links, directories, pipes and sockets are refused and left alone"),
    TEST(files_of_unsafe_mode_are_refused, "a file or lock that others may write to is refused"),
    TEST(files_of_others_are_refused, "a file or lock of another owner is refused"),
    TEST(a_directory_may_be_read_only, "a read-only directory is an error that says so"),
    TEST(missing_directories_are_made, "missing directories are made, the last one private"),
    TEST(paths_may_be_too_long, "a path may be too long"),
    TEST(the_lock_file_is_looked_at_too, "the lock file may be foreign, a link, a directory or unfinished"),
    TEST(one_handle_a_process, "a process has one handle for a file, whatever path leads there"),
    TEST(the_first_size_counts, "of two sizes configured the first counts"),
    TEST(many_create_at_once, "two and twenty processes that create at once share one file"),
    TEST(a_creator_may_be_killed, "who is killed while creating or replacing is no hindrance to the next"),
    TEST(what_a_killed_creator_leaves_is_made_anew, "what a killed creator leaves is made anew"),
    TEST(a_crash_of_the_machine_empties_the_cache,
         "a crash of the machine empties the cache, a clean shutdown keeps it"),
    TEST(the_lock_file_may_be_removed, "all find each other again after the lock file was removed"),
    TEST(the_disk_may_be_full, "a full disk is an error at creation and leaves no file"),
};
RUN("files", tests)
