/*
 * environment_views.c — one file seen in several ways: by two paths, without its lock file, through a link, as
 * a layer of an image, under a mount that hides it, by processes with other clocks.
 */
#include "environment.h"

static unsigned long cases;

static const char *path(void) { return in_directory("data/t.larder"); }

static bool bind_to(const char *from, const char *to) { return mount(from, to, NULL, MS_BIND, NULL) == 0; }

/* One process, one directory, two names of it. */
static void two_paths(void *unused) {
    (void)unused;
    larder *first = open_at(path(), SIZE);
    CHILD_CHECK(alone_with_mounts() && first && mkdir(in_directory("again"), 0700) == 0);
    CHILD_CHECK(bind_to(in_directory("data"), in_directory("again")) &&
                symlink(in_directory("data"), in_directory("link")) == 0);
    larder *second = open_at(in_directory("again/t.larder"), SIZE);
    larder *third = open_at(in_directory("link/t.larder"), SIZE);
    CHILD_CHECK(second && third && set(first, "k", "v") == LARDER_OK && is(second, "k", "v") &&
                is(third, "k", "v"));
    CHILD_CHECK(larder_delete(second, "k", 1, NULL) == LARDER_OK && is(first, "k", NULL) && is(third, "k", NULL));
    CHILD_CHECK(set(third, "k", "w") == LARDER_OK && umount2(in_directory("again"), MNT_DETACH) == 0);
    sleep_us(250000);
    for (int i = 0; i < 3; i++) {
        CHILD_CHECK(heals(first) && heals(second) && heals(third));
        CHILD_CHECK(set(first, "k", "x") == LARDER_OK && is(third, "k", "x"));
    }
    CHILD_CHECK(unlink(in_directory("link")) == 0 && heals(first) && heals(third) && sound(first));
    larder_close(first);
    CHILD_CHECK(heals(third) && sound(third));
    larder_close(third);
    larder_close(second);
}

static void by_two_paths(void) {
    if (may_mount("a cache by two paths")) {
        CHECK(in_child(two_paths, NULL));
        cases++;
    }
}

/* A container is given the file and not its lock file. It may be refused; what others deleted stays so. */
static void see_the_file_alone(int unused) {
    (void)unused;
    char seen[600];
    snprintf(seen, sizeof seen, "%s", in_directory("alone/t.larder"));
    CHILD_CHECK(bind_to(path(), seen));
    for (int i = 0; i < 5; i++) {
        larder *cache = open_at(seen, SIZE);
        CHILD_CHECK(cache || failure.detail[0]);
        if (cache) {
            CHILD_CHECK(is(cache, "gone", NULL) && set(cache, "inside", "i") == LARDER_OK);
        }
        larder_close(cache);
    }
}

static void without_the_lock_file(void) {
    static const container plain = {0};
    if (!may_contain("a cache without its lock file")) {
        return;
    }
    larder *cache = open_at(path(), SIZE);
    CHECK(cache && set(cache, "gone", "g") == LARDER_OK && larder_delete(cache, "gone", 4, NULL) == LARDER_OK);
    CHECK(mkdir(in_directory("alone"), 0700) == 0 && put_file(in_directory("alone/t.larder"), "", 0, 0600));
    CHECK(in_container(&plain, see_the_file_alone, 0));
    CHECK(heals(cache) && is(cache, "gone", NULL) && sound(cache));
    larder_close(cache);
    cases++;
}

/* Something is mounted over the directory, and taken away again. */
static void hide(void *unused) {
    (void)unused;
    CHILD_CHECK(alone_with_mounts());
    larder *cache = open_at(path(), SIZE);
    CHILD_CHECK(cache && set(cache, "k", "v") == LARDER_OK);
    for (int i = 0; i < 3; i++) {
        CHILD_CHECK(mount("tmpfs", in_directory("data"), "tmpfs", 0, "size=8m,mode=700") == 0);
        pid_t pid = fork();
        if (pid == 0) { /* opens what is there now */
            larder_close(cache);
            larder *other = open_at(path(), SIZE);
            CHILD_CHECK(other && is(other, "k", NULL) && heals(other));
            _exit(0);
        }
        CHILD_CHECK(exited_well(pid) && heals(cache));
        sleep_us(250000);
        CHILD_CHECK(heals(cache) && larder_delete(cache, "k", 1, NULL) <= LARDER_MISS && is(cache, "k", NULL));
        CHILD_CHECK(umount2(in_directory("data"), MNT_DETACH) == 0);
        sleep_us(250000);
        CHILD_CHECK(heals(cache) && is(cache, "k", NULL) && set(cache, "k", "v") == LARDER_OK && sound(cache));
    }
    larder_close(cache);
}

static void hidden(void) {
    if (may_mount("a directory that is hidden")) {
        CHECK(in_child(hide, NULL));
        cases++;
    }
}

/* ---- images ---- */

static bool mount_image(const char *top) {
    char options[2000];
    run("cd %s && mkdir -p %s/up %s/work", test_directory, top, top);
    snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s/%s/up,workdir=%s/%s/work", in_directory("image"),
             test_directory, top, test_directory, top);
    return mount("overlay", in_directory("data"), "overlay", 0, options) == 0;
}

static void live_in_image(int round) { /* round 0: deletes what the image has; 1: the same container again */
    char top[16];
    snprintf(top, sizeof top, "c%d", round / 2);
    CHILD_CHECK(mount_image(top));
    larder *cache = open_at(path(), SIZE);
    CHILD_CHECK(cache && heals(cache) && sound(cache));
    CHILD_CHECK(round % 2 == 0 || is(cache, "k", NULL));
    larder_status status = larder_delete(cache, "k", 1, NULL);
    CHILD_CHECK((status == LARDER_OK || status == LARDER_MISS) && is(cache, "k", NULL));
    pid_t pid = fork_child();
    if (pid == 0) {
        CHILD_CHECK(set(cache, "child", "c") == LARDER_OK);
        kill(getpid(), SIGKILL);
    }
    wait_for(pid);
    CHILD_CHECK(is(cache, "child", "c") && heals(cache));
    if (round & 4) {
        larder_close(cache);
    }
}

static void in_an_image(void) {
    static const container plain = {0};
    pid_t pid = fork_child();
    if (pid == 0) {
        _exit(alone_with_mounts() && run("mkdir %s/image %s/data", test_directory, test_directory) &&
                      mount_image("try")
                  ? 0
                  : 1);
    }
    if (wait_for(pid) != 0) {
        note("no overlay can be mounted here");
        return;
    }
    CHECK(run("cd %s && rm -rf try image/* data/*", test_directory));
    pid = fork_child();
    if (pid == 0) {
        larder *cache = open_at(in_directory("image/t.larder"), SIZE);
        CHILD_CHECK(cache && set(cache, "k", "v") == LARDER_OK);
        larder_close(cache);
        _exit(0);
    }
    CHECK(exited_well(pid));
    for (int round = 0; round < 8; round++) {
        CHECK(in_container(&plain, live_in_image, round), "round %d", round);
        cases++;
    }
}

/* ---- clocks ---- */

static void with_clocks_of_its_own(larder *parent, int days, int who) {
    char text[100];
    snprintf(text, sizeof text, "monotonic %d 0\nboottime %d 0\n", days * 86400, days * 86400);
    CHILD_CHECK(unshare(CLONE_NEWTIME) == 0);
    int fd = open("/proc/self/timens_offsets", O_WRONLY);
    CHILD_CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        uint64_t state = (uint64_t)who;
        larder_close(parent);
        for (int i = 0; i < 20; i++) {
            larder *cache = open_at(path(), 64 << 20);
            CHILD_CHECK(cache != NULL);
            inherit(cache, who);
            act_often(cache, who, &state, 100);
            larder_close(cache);
        }
        _exit(0);
    }
    _exit(exited_well(pid) ? 0 : 1);
}

static void other_clocks(void) {
    pid_t pids[4];
    bool good = true;
    larder *cache = open_at(path(), 64 << 20);
    CHECK(cache != NULL);
    open_book();
    pid_t may = fork_child();
    if (may == 0) {
        _exit(unshare(CLONE_NEWTIME) == 0 ? 0 : 1);
    }
    if (wait_for(may) != 0) {
        note("no time namespaces can be made");
        larder_close(cache);
        return;
    }
    for (int i = 0; i < 4; i++) {
        if ((pids[i] = fork()) == 0) {
            with_clocks_of_its_own(cache, (i - 1) * 400 > 0 ? (i - 1) * 400 : 0, i);
        }
    }
    for (int i = 0; i < 4; i++) {
        good = exited_well(pids[i]) && good;
    }
    CHECK(good && book_holds(cache) && counters_are_exact(cache) && sound(cache), "%s", book->first);
    larder_close(cache);
    close_book();
    cases += 4;
}

static void say_count(void) { count_of(cases, "ways to see one file"); }

static const test_case tests[] = {
    TEST(by_two_paths, "one file by several paths is one cache, also when one of the paths goes"),
    TEST(without_the_lock_file, "who sees the file without its lock file takes nothing from others"),
    TEST(hidden, "a directory that is hidden and shown again brings nothing deleted back"),
    TEST(in_an_image, "a cache in an image is each container's own, and what it deletes stays so"),
    TEST(other_clocks, "processes whose clocks of uptime differ by years share a file and count exactly"),
    TEST(say_count, "count"),
};
RUN("environment: views", tests)
