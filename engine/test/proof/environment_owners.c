/*
 * environment_owners.c — root and the owner of a directory, other users, user namespaces in which the owner has
 * no number, mounts that are read-only: who may use a cache does, and who may not is told so.
 */
#include "environment.h"

#include <grp.h>

enum { USER = 4711, OTHER = 4712, ROOM = 64 << 20 };

static unsigned long cases;
static larder *cache; /* of the parent: children open the path afresh */

static const char *path(void) { return in_directory("of-user/t.larder"); }

static void become(uid_t uid) {
    CHILD_CHECK(setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static bool as(uid_t uid, void (*body)(void *), void *with) {
    pid_t pid = fork();
    if (pid == 0) {
        larder_close(cache);
        if (uid) {
            become(uid);
        }
        body(with);
        _exit(0);
    }
    cases++;
    return exited_well(pid);
}

static bool belongs_to(const char *at, uid_t uid) {
    struct stat info;
    bool good = stat(at, &info) == 0 && info.st_uid == uid && !(info.st_mode & 022);
    if (!good) {
        fprintf(stderr, "  %s: uid %d, mode %o\n", at, (int)info.st_uid, (unsigned)info.st_mode);
    }
    return good;
}

static bool make_directory(const char *name, uid_t owner, mode_t mode) {
    return mkdir(in_directory(name), 0700) == 0 && chown(in_directory(name), owner, owner) == 0 &&
           chmod(in_directory(name), mode) == 0 && chmod(test_directory, 0755) == 0;
}

static void use_and_close(void *at) {
    larder *cache = open_at(at, SIZE);
    if (!cache) {
        fprintf(stderr, "  uid %d: %s: %s\n", (int)geteuid(), larder_status_name(failure.status), failure.detail);
    }
    CHILD_CHECK(cache && heals(cache) && sound(cache));
    larder_close(cache);
}

static void root_gives_what_it_makes(void) {
    CHECK(make_directory("of-user", USER, 0755));
    const char *deep = in_directory("of-user/new/newer/t.larder");
    CHECK(as(0, use_and_close, (void *)path()) && as(USER, use_and_close, (void *)path()), "made by root");
    CHECK(belongs_to(path(), USER) && belongs_to(in_directory("of-user/t.larder.lock"), USER));
    CHECK(as(0, use_and_close, (void *)deep) && as(USER, use_and_close, (void *)deep), "with its directories");
    CHECK(belongs_to(in_directory("of-user/new"), USER) && belongs_to(in_directory("of-user/new/newer"), USER));
    CHECK(belongs_to(deep, USER));
    CHECK(unlink(path()) == 0 && as(USER, use_and_close, (void *)path()) && as(0, use_and_close, (void *)path()),
          "made by its owner");
    CHECK(unlink(in_directory("of-user/t.larder.lock")) == 0 && as(0, use_and_close, (void *)path()) &&
              as(USER, use_and_close, (void *)path()),
          "the lock file made by root");
}

/* Root and the owner at once, on one file, half of them killed. */
typedef struct {
    uint32_t stop;
} signals;
static signals *common;

static void live(int who, bool is_root) {
    uint64_t state = (uint64_t)who * 31 + (uint64_t)now_us();
    if (!is_root) {
        become(USER);
    }
    while (!READ(common->stop)) {
        larder *cache = open_at(path(), ROOM);
        if (!cache) {
            wrong("worker %d: %s", who, failure.detail);
            _exit(1);
        }
        inherit(cache, who);
        act_often(cache, who, &state, 300);
        larder_close(cache);
    }
    _exit(0);
}

static pid_t start(int who) {
    pid_t pid = fork_child();
    if (pid == 0) {
        live(who, who % 2);
    }
    return pid;
}

static void root_beside_the_owner(void) {
    pid_t pids[4];
    uint64_t state = 6, kills = 0;
    CHECK(make_directory("of-user", USER, 0755));
    open_book();
    common = shared_memory(sizeof *common);
    pid_t keeper = fork_child();
    if (keeper == 0) { /* so that the file is always in use */
        larder *cache = open_at(path(), ROOM);
        CHILD_CHECK(cache != NULL);
        kill(getpid(), SIGSTOP); /* until its parent knows that the file is there */
        while (!READ(common->stop)) {
            sleep_us(1000);
        }
        larder_close(cache);
        _exit(0);
    }
    CHECK(has_stopped(keeper));
    kill(keeper, SIGCONT);
    for (int i = 0; i < 4; i++) {
        pids[i] = start(i);
    }
    for (int64_t until = now_us() + (is_full_run() ? 20000000 : 1500000); now_us() < until; kills++) {
        sleep_us(20000);
        int who = (int)(next_random(&state) % 4);
        kill(pids[who], SIGKILL);
        wait_for(pids[who]);
        pids[who] = start(who);
    }
    NOTE(common->stop, 1);
    for (int i = 0; i < 4; i++) {
        CHECK(exited_well(pids[i]), "%s", book->first);
    }
    CHECK(exited_well(keeper));
    larder *cache = open_at(path(), ROOM);
    CHECK(cache && book_holds(cache) && counters_are_exact(cache) && sound(cache) && belongs_to(path(), USER));
    count_of(increments_acknowledged(), "increments of root's and an owner's processes, all counted");
    count_of(kills, "processes of root and an owner killed");
    larder_close(cache);
    munmap(common, sizeof *common);
    close_book();
}

/* Servers that start as root and give up its rights in their workers. */
static void workers_that_drop_rights(void) {
    CHECK(make_directory("of-user", USER, 0755) && make_directory("of-root", 0, 0755));
    for (int of_root = 0; of_root < 2; of_root++) {
        larder *cache = open_at(of_root ? in_directory("of-root/t.larder") : path(), SIZE);
        CHECK(cache && set(cache, "k", "v") == LARDER_OK && set(cache, "doomed", "d") == LARDER_OK);
        pid_t pid = fork_child();
        if (pid == 0) {
            become(USER);
            CHILD_CHECK(of_root || (is(cache, "k", "v") && set(cache, "child", "c") == LARDER_OK));
            CHILD_CHECK(larder_delete(cache, "doomed", 6, NULL) == LARDER_OK);
            larder_status status = set(cache, "k", "w");
            CHILD_CHECK(of_root || status == LARDER_OK);
            CHILD_CHECK(status == LARDER_OK || is(cache, "k", NULL));
            larder_close(cache);
            _exit(0);
        }
        CHECK(exited_well(pid), "%s", of_root ? "root's" : "the user's");
        CHECK(is(cache, "doomed", NULL) && is(cache, "child", of_root ? NULL : "c") && sound(cache));
        CHECK(of_root || is(cache, "k", "w"));
        larder_close(cache);
        cases++;
    }
}

static void be_refused(void *at) {
    CHILD_CHECK(!open_at(at, SIZE) && failure.detail[0]);
    CHILD_CHECK(
        failure.status == LARDER_NOT_OWNER ||
        (failure.status == LARDER_SYSTEM &&
         (failure.system_errno == EACCES || failure.system_errno == EROFS || failure.system_errno == EPERM)));
}

static void others_are_refused(void) {
    CHECK(make_directory("of-user", USER, 0755) && as(USER, use_and_close, (void *)path()));
    cache = open_at(path(), SIZE);
    CHECK(cache && set(cache, "k", "v") == LARDER_OK && as(OTHER, be_refused, (void *)path()));
    CHECK(is(cache, "k", "v") && sound(cache), "after somebody else came");
    larder_close(cache);
    cache = NULL;
    /* A file of another user in the directory of the first: root takes neither of the two for the other. */
    CHECK(chown(path(), OTHER, OTHER) == 0);
    CHECK(as(0, be_refused, (void *)path()) && as(USER, be_refused, (void *)path()) && belongs_to(path(), OTHER));
}

static void read_only_mounts(void *unused) {
    (void)unused;
    CHILD_CHECK(alone_with_mounts() && mkdir(in_directory("view"), 0755) == 0);
    CHILD_CHECK(mount(in_directory("of-user"), in_directory("view"), NULL, MS_BIND, NULL) == 0);
    CHILD_CHECK(mount(NULL, in_directory("view"), NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) == 0);
    be_refused((void *)in_directory("view/t.larder"));
    be_refused((void *)in_directory("view/new/t.larder"));
    larder_options existing = {.existing = 1};
    larder *cache = NULL;
    larder_status status = larder_open(in_directory("view/t.larder"), &existing, &cache, &failure);
    CHILD_CHECK(status != LARDER_OK && failure.detail[0]);
}

static void a_read_only_view(void) {
    if (!may_mount("a read-only view of a cache in use")) {
        return;
    }
    CHECK(make_directory("of-user", USER, 0755));
    larder *cache = open_at(path(), SIZE);
    CHECK(cache && set(cache, "k", "v") == LARDER_OK);
    pid_t pid = fork();
    if (pid == 0) {
        larder_close(cache);
        read_only_mounts(NULL);
        _exit(0);
    }
    CHECK(exited_well(pid) && is(cache, "k", "v") && heals(cache) && sound(cache));
    larder_close(cache);
    cases++;
}

/* ---- user namespaces ---- */

static bool map_users(pid_t pid, uid_t inside, uid_t outside) {
    char name[64], line[64];
    snprintf(line, sizeof line, "%d %d 1\n", (int)inside, (int)outside);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "/proc/%d/%s", (int)pid, i ? "gid_map" : "uid_map");
        int fd = open(name, O_WRONLY);
        bool done = fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);
        close(fd);
        if (!done) {
            return false;
        }
    }
    return true;
}

/* `body` as user `inside` of a namespace in which only that one, `outside` here, has a number. */
static bool in_user_namespace(uid_t inside, uid_t outside, void (*body)(void *), void *with) {
    int ready[2], go[2];
    char byte;
    if (pipe(ready) != 0 || pipe(go) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        larder_close(cache);
        close(go[1]); /* each read ends with the process that writes */
        CHILD_CHECK(unshare(CLONE_NEWUSER) == 0 && write(ready[1], "x", 1) == 1 && read(go[0], &byte, 1) == 1);
        CHILD_CHECK(setresgid(inside, inside, inside) == 0 && setresuid(inside, inside, inside) == 0);
        body(with);
        _exit(0);
    }
    close(ready[1]);
    bool done = read(ready[0], &byte, 1) == 1 && map_users(pid, inside, outside) && write(go[1], "x", 1) == 1;
    close(ready[0]), close(go[0]), close(go[1]);
    cases++;
    return exited_well(pid) && done;
}

static bool may_have_users(void) {
    pid_t pid = fork_child();
    if (pid == 0) {
        _exit(unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
    }
    bool may = wait_for(pid) == 0;
    if (!may) {
        note("no user namespaces can be made");
    }
    return may;
}

static void open_or_be_refused(void *at) { /* whichever: it says so, and what it makes can be used */
    larder *cache = open_at(at, SIZE);
    CHILD_CHECK(cache ? heals(cache) && sound(cache) : failure.detail[0] != '\0');
    larder_close(cache);
}

static void users_without_a_number(void) {
    enum { NOBODY = 65534 };
    if (!may_have_users()) {
        return;
    }
    CHECK(make_directory("of-user", USER, 0755) && as(USER, use_and_close, (void *)path()));
    cache = open_at(path(), SIZE);
    CHECK(cache && set(cache, "k", "v") == LARDER_OK);
    /* The file's owner shows as 65534, and so does who looks at it. */
    CHECK(in_user_namespace(NOBODY, OTHER, be_refused, (void *)path()), "another one who is nobody, too");
    CHECK(in_user_namespace(0, OTHER, be_refused, (void *)path()), "root of a namespace without the owner");
    CHECK(in_user_namespace(NOBODY, USER, use_and_close, (void *)path()), "the owner by another number");
    CHECK(in_user_namespace(0, USER, use_and_close, (void *)path()), "the owner as root of a namespace");
    CHECK(is(cache, "k", "v") && sound(cache) && belongs_to(path(), USER));
    larder_close(cache);
    cache = NULL;
    /* A directory that all may write to, of somebody without a number: what is made there must be usable again. */
    CHECK(make_directory("of-all", USER, 0777));
    void *open_to_all = (void *)in_directory("of-all/t.larder");
    CHECK(in_user_namespace(0, OTHER, open_or_be_refused, open_to_all));
    CHECK(in_user_namespace(0, OTHER, open_or_be_refused, open_to_all), "again");
}

static void say_count(void) { count_of(cases, "users, owners, namespaces and views that met a cache"); }

static const test_case tests[] = {
    TEST(root_gives_what_it_makes, "root uses an owner's files and gives him what it makes"),
    TEST(root_beside_the_owner, "root's and an owner's processes count exactly on one file"),
    TEST(workers_that_drop_rights,
         "workers of a server that began as root use the cache or are refused, and deletes hold"),
    TEST(others_are_refused, "other users are refused, and change nothing"),
    TEST(a_read_only_view, "a read-only view of a cache in use is refused"),
    TEST(users_without_a_number, "in a user namespace an owner without a number is not taken for another"),
    TEST(say_count, "count"),
};

int main(int argc, char **argv) {
    if (geteuid() != 0) {
        note("only root can be several users");
        return 0;
    }
    return run_tests("environment: owners", tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL);
}
