/*
 * environment_limits.c — control groups: memory for a part of the file, a processor for a part of the time, and
 * processes that are frozen with a lock in their hands. Groups of both versions; each is skipped, and says so,
 * where it cannot be made.
 */
#include "environment.h"

enum { WORKERS_HERE = 3, KEPT_BYTES = 4 << 20 };

/* A kind of group: where it is mounted in version 1, its setting there and in version 2. */
typedef struct {
    const char *controller, *file, *unified_file;
    const char *value, *unified_value;
} setting;

static const setting memory_of_a_third = {"memory", "memory.limit_in_bytes", "memory.max", "12M", "12M"};
static const setting little_time = {"cpu", "cpu.cfs_quota_us", "cpu.max", "2000", "2000 100000"};
static const setting frozen = {"freezer", "freezer.state", "cgroup.freeze", "FROZEN", "1"};
static const setting thawed = {"freezer", "freezer.state", "cgroup.freeze", "THAWED", "0"};

typedef struct {
    char path[200];
    bool is_unified;
} group;

static const char *path(void) { return in_directory("t.larder"); }

static bool write_text(const char *directory, const char *name, const char *text) {
    char at[400];
    snprintf(at, sizeof at, "%s/%s", directory, name);
    int fd = open(at, O_WRONLY);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return done;
}

static bool apply(const group *to, const setting *what) {
    return write_text(to->path, to->is_unified ? what->unified_file : what->file,
                      to->is_unified ? what->unified_value : what->value);
}

/* LARDER_PROOF_CGROUP names a directory of version 2 to make groups in, where the root's is not ours. */
static bool make_group(group *made, const setting *what) {
    const char *given = getenv("LARDER_PROOF_CGROUP");
    const char *roots[] = {given, "/sys/fs/cgroup/%s", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    for (int i = 0; i < 4; i++) {
        char root[200], at[300];
        if (!roots[i]) {
            continue;
        }
        if (i == 1) {
            snprintf(root, sizeof root, "/sys/fs/cgroup/%s", what->controller);
        } else {
            snprintf(root, sizeof root, "%s", roots[i]);
        }
        snprintf(made->path, sizeof made->path, "%.150s/larder-proof-%d", root, (int)getpid());
        if (mkdir(made->path, 0755) != 0) {
            continue;
        }
        for (int unified = 0; unified < 2; unified++) {
            snprintf(at, sizeof at, "%s/%s", made->path, unified ? what->unified_file : what->file);
            made->is_unified = unified;
            if (access(at, W_OK) == 0) {
                return true;
            }
        }
        rmdir(made->path);
    }
    printf("@note not run here: no control group of %s can be made\n", what->controller);
    return false;
}

static bool enter_group(const group *into) {
    char pid[24];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    return write_text(into->path, "cgroup.procs", pid);
}

static void remove_group(const group *made) {
    for (int i = 0; i < 200 && rmdir(made->path) != 0; i++) {
        sleep_us(10000);
    }
}

/* ---- memory ---- */

/* Memory of the group that the kernel cannot free by writing pages of the file to the disk. */
static uint64_t kept_bytes(const group *in) {
    char at[300], name[64];
    unsigned long long kept = 0, bytes;
    snprintf(at, sizeof at, "%s/memory.stat", in->path);
    FILE *file = fopen(at, "r");
    if (!file) {
        return UINT64_MAX;
    }
    while (fscanf(file, "%63s %llu", name, &bytes) == 2) {
        bool counts = !strcmp(name, in->is_unified ? "anon" : "rss") || !strcmp(name, "shmem");
        kept += counts ? bytes : 0;
    }
    fclose(file);
    return kept;
}

static void work_in_little_memory(larder *cache, const group *in, int who) {
    uint64_t state = (uint64_t)who;
    CHILD_CHECK(enter_group(in));
    inherit(cache, who);
    for (int64_t until = now_us() + (is_full_run() ? 20000000 : 1500000); now_us() < until;) {
        act_often(cache, who, &state, 20);
        CHILD_CHECK(who > 0 || use_hard(cache, next_random(&state), 60) >= 0); /* its keys are one process's */
        ADD(book->ops, who > 0 ? 20 : 80);
    }
    CHILD_CHECK(kept_bytes(in) < KEPT_BYTES);
    _exit(READ(book->wrong) ? 1 : 0);
}

/* If the disk is slower than the workers, all pages of the group may wait for it, and then Linux may kill one of
 * them, whatever the engine keeps. Not all of them: one that goes on checks what it keeps. */
static bool ended_or_was_killed(pid_t pid, larder *cache, int who, int *killed) {
    int status = wait_within(pid, LONGEST_MS);
    if (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        ++*killed;
        inherit(cache, who);
        return true;
    }
    return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void less_memory_than_file(void) {
    group made;
    pid_t pids[WORKERS_HERE];
    if (!make_group(&made, &memory_of_a_third)) {
        return;
    }
    open_book();
    roomy = false;
    larder *cache = open_at(path(), 36 << 20);
    bool good = cache && apply(&made, &memory_of_a_third);
    for (int i = 0; i < WORKERS_HERE; i++) {
        if ((pids[i] = fork_child()) == 0) {
            work_in_little_memory(cache, &made, i);
        }
    }
    int killed = 0;
    for (int i = 0; i < WORKERS_HERE; i++) {
        good = ended_or_was_killed(pids[i], cache, i, &killed) && good;
    }
    remove_group(&made);
    CHECK(good && killed < WORKERS_HERE, "%d killed; %s", killed, book->first);
    if (killed) {
        printf("@note the kernel killed %d of %d processes, as the disk was slower than they were\n", killed,
               WORKERS_HERE);
    }
    CHECK(book_holds(cache) && sound(cache) && heals(cache));
    count_of(READ(book->ops), "calls in a third of the memory that the file has");
    larder_close(cache);
    close_book();
}

static void work_on_tmpfs(const group *in) {
    char at[600];
    CHILD_CHECK(alone_with_mounts() && mkdir(in_directory("memory"), 0700) == 0);
    CHILD_CHECK(mount("tmpfs", in_directory("memory"), "tmpfs", 0, "size=256m,mode=700") == 0);
    snprintf(at, sizeof at, "%s", in_directory("memory/t.larder"));
    CHILD_CHECK(enter_group(in));
    larder *cache = open_at(at, 36 << 20); /* more than the group may have: an error */
    CHILD_CHECK(!cache && failure.detail[0]);
    cache = open_at(at, 2 << 20);
    CHILD_CHECK(cache && heals(cache) && sound(cache));
    larder_close(cache);
    _exit(0);
}

static void less_memory_than_file_on_tmpfs(void) {
    group made;
    if (!may_mount("a file on tmpfs in a small control group") || !make_group(&made, &memory_of_a_third)) {
        return;
    }
    bool good = apply(&made, &memory_of_a_third);
    pid_t pid = fork_child();
    if (pid == 0) {
        work_on_tmpfs(&made);
    }
    good = exited_well(pid) && good;
    remove_group(&made);
    CHECK(good);
    count_of(1, "file on tmpfs larger than its control group: refused, nobody killed");
}

/* ---- time ---- */

static void work_forever(larder *cache, int who, const group *in) {
    uint64_t state = (uint64_t)who * 7 + 1;
    CHILD_CHECK(!in || enter_group(in));
    for (inherit(cache, who); !READ(book->cleared);) { /* nothing clears: a word to end by */
        act_often(cache, who, &state, 20);
    }
    _exit(0);
}

/* Two that hardly run, or are frozen again and again, beside one that does: nobody is taken for dead. */
static void slowed(const setting *what, const setting *back, int rounds, const char *label) {
    group made;
    pid_t pids[WORKERS_HERE];
    if (!make_group(&made, what)) {
        return;
    }
    open_book();
    larder *cache = open_at(path(), 64 << 20);
    bool good = cache && (back || apply(&made, what));
    for (int i = 0; i < WORKERS_HERE; i++) {
        if ((pids[i] = fork_child()) == 0) {
            work_forever(cache, i, i ? &made : NULL);
        }
    }
    uint64_t state = 8;
    for (int i = 0; i < rounds && good; i++) {
        sleep_us(1000 + (unsigned)(next_random(&state) % 20000));
        if (back) {
            good = apply(&made, what);
            sleep_us((unsigned)(next_random(&state) % 60000));
            if (i % 4 == 0) { /* killed while it is frozen: dead once it thaws */
                kill(pids[1], SIGKILL);
            }
            good = apply(&made, back) && good;
        } else if (i % 4 == 0) {
            kill(pids[1], SIGKILL);
        }
        if (i % 4 == 0) {
            wait_for(pids[1]);
            if ((pids[1] = fork_child()) == 0) {
                work_forever(cache, 1, &made);
            }
        }
    }
    NOTE(book->cleared, 1);
    for (int i = 0; i < WORKERS_HERE; i++) {
        good = exited_well(pids[i]) && good;
    }
    NOTE(book->cleared, 0);
    remove_group(&made);
    CHECK(good, "%s", book->first);
    CHECK(book_holds(cache) && counters_are_exact(cache) && sound(cache) && heals(cache));
    count_of((unsigned long)rounds, label);
    count_of(increments_acknowledged(), "increments beside slowed and frozen processes, all counted");
    larder_close(cache);
    close_book();
}

static void little_time_to_run(void) {
    slowed(&little_time, NULL, is_full_run() ? 400 : 20, "moments of processes with a fiftieth of a processor");
}

static void frozen_and_thawed(void) {
    slowed(&frozen, &thawed, is_full_run() ? 400 : 20, "times that processes were frozen, and thawed or killed");
}

static const test_case tests[] = {
    TEST(less_memory_than_file,
         "with less memory than the file has all values are right, and the rest takes little"),
    TEST(less_memory_than_file_on_tmpfs, "on tmpfs a file beyond the control group's memory is an error"),
    TEST(little_time_to_run, "processes with little time on the processor are not taken for dead"),
    TEST(frozen_and_thawed, "processes that are frozen are not taken for dead, also if they are killed then"),
};
RUN("environment: limits", tests)
