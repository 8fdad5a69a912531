/*
 * resources_files.c — locks that are refused, rights that change, directories that
 * go, file systems that turn read-only, clocks that jump: under live processes.
 */
#include "places.h"

enum { STRANGER = 65534 };
#define DAY_MS (24 * 3600 * 1000ll)

static int refuse_locks; /* errno of what fcntl answers; 0: it works */
static int64_t clock_off_ms;

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, void *argument);
int __wrap_fcntl(int fd, int command, void *argument) {
    if (refuse_locks &&
        (command == F_OFD_SETLK || command == F_OFD_GETLK || command == F_SETLK || command == F_GETLK)) {
        errno = refuse_locks;
        return -1;
    }
    return __real_fcntl(fd, command, argument);
}

int64_t __real_lard_clock_ms(void);
int64_t __wrap_lard_clock_ms(void);
int64_t __wrap_lard_clock_ms(void) { return __real_lard_clock_ms() + clock_off_ms; }
int64_t __real_lard_clock_coarse_ms(void);
int64_t __wrap_lard_clock_coarse_ms(void);
int64_t __wrap_lard_clock_coarse_ms(void) { return __real_lard_clock_coarse_ms() + clock_off_ms; }

static const char *place(const char *name) {
    static char paths[4][600];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_directory, name);
    return path;
}

/* The child cannot attach: reads are misses, stores are refused, and deletes are noted until it can. */
static void child_without_locks(larder *cache) {
    CHILD_CHECK(is(cache, "deleted", NULL) && set(cache, "overwritten", "new") == LARDER_SYSTEM);
    CHILD_CHECK(larder_delete(cache, "deleted", 7, NULL) == LARDER_SYSTEM && larder_pending(cache) == 2);
    refuse_locks = 0;
    CHILD_CHECK(heals(cache) && larder_pending(cache) == 0);
    CHILD_CHECK(is(cache, "deleted", NULL) && is(cache, "overwritten", NULL));
}

static void locks_refused_with(int code) {
    refuse_locks = code;
    CHECK(!open_at(place("t.larder"), SIZE) && failure.status == LARDER_SYSTEM, "%s", strerror(code));
    CHECK(failure.system_errno == code && strstr(failure.detail, "t.larder.lock"), "%s", failure.detail);
    refuse_locks = 0;
    larder *cache = open_at(place("t.larder"), SIZE);
    CHECK(cache && heals(cache));
    refuse_locks = code; /* it is unknown which processes are alive, so all count as alive */
    CHECK(use_hard(cache, (uint64_t)code, 300) == 300 && sound(cache));
    CHECK(set(cache, "deleted", "old") == LARDER_OK && set(cache, "overwritten", "old") == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        child_without_locks(cache);
        _exit(0);
    }
    CHECK(exited_well(pid), "%s", strerror(code));
    CHECK(is(cache, "deleted", NULL) && is(cache, "overwritten", NULL));
    refuse_locks = 0;
    CHECK(heals(cache) && sound(cache));
    larder_close(cache);
}

static void locks_refused(void) {
    static const int codes[] = {ENOLCK, EIO, EINVAL, EDEADLK};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        locks_refused_with(codes[i]);
        refuse_locks = 0; /* also after a failure */
    }
}

static pid_t hold_the_locks(off_t from, off_t bytes) {
    int ready[2];
    char byte;
    if (pipe(ready) != 0) {
        return -1;
    }
    pid_t pid = fork_child();
    if (pid == 0) {
        int fd = open(place("t.larder.lock"), O_RDWR);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = bytes};
        CHILD_CHECK(__real_fcntl(fd, F_SETLKW, &lock) == 0 && write(ready[1], "x", 1) == 1);
        for (;;) {
            pause();
        }
    }
    close(ready[1]); /* so that the read ends with the child */
    bool holds = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    return holds ? pid : -1;
}

static void locks_held_by_another_program(void) {
    larder *cache = open_at(place("t.larder"), SIZE);
    CHECK(cache && heals(cache));
    larder_close(cache);
    pid_t pid = hold_the_locks(0, 1);
    int64_t start = now_us();
    CHECK(pid > 0 && !open_at(place("t.larder"), SIZE) && failure.status == LARDER_LOCKED);
    CHECK(now_us() - start < 30000000 && strstr(failure.detail, "t.larder.lock"));
    kill(pid, SIGKILL);
    wait_for(pid);
    pid = hold_the_locks(1, 4096);
    CHECK(pid > 0 && !open_at(place("t.larder"), SIZE) && failure.status == LARDER_NO_SLOT);
    kill(pid, SIGKILL);
    wait_for(pid);
    cache = open_at(place("t.larder"), SIZE);
    CHECK(cache && heals(cache));
    larder_close(cache);
}

static void open_as_it_is(void *status) {
    CHILD_CHECK(!open_at(place("t.larder"), SIZE) && failure.status == *(larder_status *)status);
    CHILD_CHECK(failure.detail[0]);
}

static void open_as_a_stranger(void *unused) {
    larder_status status = LARDER_SYSTEM;
    (void)unused;
    CHILD_CHECK(geteuid() != 0 || (setgid(STRANGER) == 0 && setuid(STRANGER) == 0));
    open_as_it_is(&status);
    CHILD_CHECK(failure.system_errno == EACCES && strstr(failure.detail, "Permission denied"));
}

/* In a process of its own, that has the file not yet. */
static bool afresh(void (*body)(void *), void *with) {
    pid_t pid = fork_child();
    if (pid == 0) {
        body(with);
        _exit(0);
    }
    return exited_well(pid);
}

static void live_under_other_rights(larder *cache) {
    CHILD_CHECK(use_hard(cache, 1, 500) == 500 && sound(cache));
    pid_t pid = fork_child();
    if (pid == 0) {
        CHILD_CHECK(set(cache, "child", "c") == LARDER_OK);
        _exit(0);
    }
    CHILD_CHECK(exited_well(pid) && is(cache, "child", "c"));
}

static void rights_change(void) {
    larder_status unsafe = LARDER_UNSAFE_MODE, other = LARDER_NOT_OWNER;
    CHECK(chmod(test_directory, 0755) == 0);
    pid_t user = fork_child();
    if (user == 0) {
        larder *cache = open_at(place("t.larder"), SIZE);
        CHILD_CHECK(cache && heals(cache));
        for (int step = 0; step < 4; step++) {
            kill(getpid(), SIGSTOP);
            live_under_other_rights(cache);
        }
        kill(getpid(), SIGSTOP);
        larder_close(cache);
        _exit(0);
    }
    CHECK(has_stopped(user));
    for (int step = 0; step < 4; step++) {
        bool root = geteuid() == 0;
        CHECK(step != 0 || chmod(place("t.larder"), 0) == 0);
        CHECK(step != 1 || chmod(place("t.larder"), 0666) == 0);
        CHECK(step != 2 || !root || chown(place("t.larder"), STRANGER, STRANGER) == 0);
        CHECK(step != 3 ||
              (chmod(place("t.larder"), 0600) == 0 && (!root || chown(place("t.larder"), 0, 0) == 0)));
        kill(user, SIGCONT);
        CHECK(has_stopped(user), "step %d", step);
        CHECK(step != 0 || afresh(open_as_a_stranger, NULL));
        CHECK(step != 1 || afresh(open_as_it_is, &unsafe));
        CHECK(step != 2 || !root || afresh(open_as_it_is, &other));
    }
    kill(user, SIGCONT);
    CHECK(exited_well(user));
    larder *cache = open_at(place("t.larder"), SIZE);
    CHECK(cache && is(cache, "child", "c") && heals(cache));
    larder_close(cache);
}

static void on_a_file_system_that_turns_read_only(void *unused) {
    char path[600];
    (void)unused;
    snprintf(path, sizeof path, "%s", place("disk/t.larder"));
    CHILD_CHECK(alone_with_mounts() && mkdir(place("disk"), 0700) == 0);
    CHILD_CHECK(mount("tmpfs", place("disk"), "tmpfs", 0, "size=8m,mode=700") == 0);
    larder *cache = open_at(path, SIZE);
    CHILD_CHECK(cache && heals(cache));
    bool turned = mount(NULL, place("disk"), NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0;
    CHILD_CHECK((turned || errno == EBUSY) &&
                use_hard(cache, 1, 500) >= 0); /* the kernel keeps it for the writer */
    larder_close(cache);
    CHILD_CHECK(mount(NULL, place("disk"), NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    CHILD_CHECK(!open_at(path, SIZE) && failure.status == LARDER_SYSTEM && failure.system_errno == EROFS);
    CHILD_CHECK(strstr(failure.detail, "Read-only"));
    CHILD_CHECK(mount(NULL, place("disk"), NULL, MS_REMOUNT, NULL) == 0);
    cache = open_at(path, SIZE);
    CHILD_CHECK(cache && heals(cache));
    larder_close(cache);
}

static void read_only(void) {
    if (may_mount("a file system that turns read-only")) {
        CHECK(in_child(on_a_file_system_that_turns_read_only, NULL));
    }
}

static void directory_removed(void) {
    char path[600];
    snprintf(path, sizeof path, "%s", place("deep/t.larder"));
    larder *cache = open_at(path, SIZE);
    CHECK(cache && set(cache, "k", "v") == LARDER_OK);
    CHECK(unlink(path) == 0 && unlink(place("deep/t.larder.lock")) == 0 && rmdir(place("deep")) == 0);
    CHECK(symlink("nowhere", place("deep")) == 0, "so that nobody can make it again");
    sleep_us(250000);
    for (int i = 0; i < 200; i++) {
        CHECK(set(cache, "k", "w") == LARDER_SUPERSEDED && is(cache, "k", NULL), "call %d", i);
    }
    CHECK(unlink(place("deep")) == 0 && heals(cache) && is_there(path) && sound(cache));
    larder_close(cache);
}

static void open_and_set(void *unused) {
    (void)unused;
    larder *mine = open_at(place("t.larder"), SIZE);
    CHILD_CHECK(mine && set(mine, "k", "new") == LARDER_OK);
}

/* A file moved away, and another put in its place: a reader does not go on where the others have left. */
static void replaced_under_a_reader(void) {
    larder *cache = open_at(place("t.larder"), SIZE);
    CHECK(cache && set(cache, "k", "old") == LARDER_OK);
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork_child();
        if (pid == 0) {
            while (is(cache, "k", "old")) { /* only reads: within a thousand, larder.h says */
            }
            CHILD_CHECK(is(cache, "k", NULL) || is(cache, "k", "new"));
            _exit(0);
        }
        sleep_us(20000);
        CHECK(rename(place("t.larder"), place("away")) == 0);
        pid_t other = fork();
        if (other == 0) {
            larder_close(cache); /* inherited; it opens the path afresh */
            open_and_set(NULL);
            _exit(0);
        }
        CHECK(exited_well(other) && exited_well(pid));
        sleep_us(250000);
        CHECK(set(cache, "seen", "it") == LARDER_OK && is(cache, "k", "new"));
        CHECK(set(cache, "k", "old") == LARDER_OK && unlink(place("away")) == 0);
    }
    larder_close(cache);
}

static void clock_jumps_by(larder *cache, int jump, int64_t days) {
    char value[200] = "hour";
    clock_off_ms = days * DAY_MS;
    CHECK(is(cache, "always", "there"), "%d days off", (int)days);
    CHECK(is(cache, "hour", days > 0 ? NULL : "hour") || jump > 0, "%d days off", (int)days);
    int64_t start = now_us(); /* waits and looks at the path go by another clock */
    CHECK(set_bytes(cache, "short", value, 4, 1000) == LARDER_OK && is(cache, "short", "hour"));
    clock_off_ms += 2000;
    CHECK(is(cache, "short", NULL), "expired two seconds later");
    clock_off_ms -= 2000;
    CHECK(use_hard(cache, (uint64_t)jump, 300) == 300 && sound(cache) && now_us() - start < 20000000);
    uint64_t dropped;
    CHECK(larder_prune(cache, &dropped, NULL) == LARDER_OK);
}

static void clocks_jump(void) {
    static const int64_t days[] = {3, -3, 400, -400, 30000, 0};
    larder *cache = open_at(place("t.larder"), 16 * SIZE);
    CHECK(cache && set(cache, "always", "there") == LARDER_OK);
    CHECK(set_bytes(cache, "hour", "hour", 4, 3600 * 1000) == LARDER_OK);
    for (int jump = 0; jump < 6; jump++) {
        clock_jumps_by(cache, jump, days[jump]);
    }
    clock_off_ms = 0; /* also after a failure */
    CHECK(heals(cache));
    larder_close(cache);
}

static void say_count(void) {
    printf("@ %d ways in which locks, rights, directories and clocks change under a cache\n", test_count - 1);
}

static const test_case tests[] = {
    TEST(locks_refused, "refused locks are an error at opening, and no process is taken for dead"),
    TEST(locks_held_by_another_program, "locks held by another program are an error within seconds"),
    TEST(rights_change, "rights that change hold for who comes, not for who is there"),
    TEST(read_only, "a file system that turns read-only is an error that says so"),
    TEST(directory_removed, "a directory that is gone costs misses until it can be made again"),
    TEST(replaced_under_a_reader, "a file moved away under a reader is left by it"),
    TEST(clocks_jump, "a clock that jumps by days expires what it must and nothing else"),
    TEST(say_count, "count"),
};
RUN("resources: files", tests)
