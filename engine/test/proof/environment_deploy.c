/*
 * environment_deploy.c — two containers with one volume, as in a blue-green deploy: PIDs, mounts, /proc and
 * /dev/shm of their own, processes of one version of the file's format or of two. A value that a
 * call in one container ended is never read again in either, while processes and containers are killed, through
 * deploys and rollbacks.
 */
#include "containers.h"
#include "deploy.h"

#include <libgen.h>

enum { BLUE, GREEN };
enum { OLDER, NEWER };

static int ledger, programs[2]; /* descriptors, as /tmp of a container is another one */
static int version_of[2];       /* of a container */
static pid_t first_process[2];  /* of a container; 0: it does not run */
static uint64_t containers_killed, next_play;

static const char *path(void) { return in_directory("shared/t.larder"); }

/* ---- inside a container ---- */

static pid_t start_worker(int who, uint64_t worker_seed) {
    char descriptor[16], number[16], random[24];
    snprintf(descriptor, sizeof descriptor, "%d", ledger);
    snprintf(number, sizeof number, "%d", who);
    snprintf(random, sizeof random, "%llu", (unsigned long long)worker_seed);
    char *arguments[] = {"deploy_worker", descriptor, (char *)path(), number, random, NULL};
    pid_t pid = fork_child();
    if (pid == 0) {
        fexecve(programs[version_of[who / PER_CONTAINER]], arguments, environ);
        _exit(127);
    }
    return pid;
}

static uint64_t calls_of(int container) {
    return READ(book->workers[container * PER_CONTAINER].calls) +
           READ(book->workers[container * PER_CONTAINER + 1].calls);
}

static bool runs(pid_t pid) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/* The first process of a container starts its workers, and kills one after some of their calls. */
static void look_after_workers(int container) {
    pid_t pids[PER_CONTAINER];
    uint64_t state = ADD(book->next_seed, 1 << 20), due = calls_of(container) + next_random(&state) % 3000;
    for (int i = 0; i < PER_CONTAINER; i++) {
        pids[i] = start_worker(container * PER_CONTAINER + i, next_random(&state));
    }
    for (; !READ(book->stop[container]); sleep_us(500)) {
        for (int i = 0; i < PER_CONTAINER; i++) {
            CHILD_CHECK(runs(pids[i]) || READ(book->stop[container]));
        }
        if (calls_of(container) < due) {
            continue;
        }
        int which = (int)(next_random(&state) % PER_CONTAINER), who = container * PER_CONTAINER + which;
        doom(who);
        kill(pids[which], SIGKILL);
        wait_for(pids[which]);
        settle(who);
        ADD(book->workers_killed, 1);
        pids[which] = start_worker(who, next_random(&state));
        due = calls_of(container) + next_random(&state) % 3000;
    }
    for (int i = 0; i < PER_CONTAINER; i++) {
        CHILD_CHECK(exited_well(pids[i]));
    }
}

/* ---- outside ---- */

static void start(int container_number, int version) {
    static const container own = {.own_memory = true};
    version_of[container_number] = version;
    NOTE(book->stop[container_number], 0);
    first_process[container_number] = start_container(&own, look_after_workers, container_number);
}

static bool stop(int container_number) {
    NOTE(book->stop[container_number], 1);
    return exited_well(first_process[container_number]);
}

static void kill_container(int container_number) {
    int first = container_number * PER_CONTAINER;
    NOTE(book->doomed[container_number], 1);
    kill(first_process[container_number], SIGKILL);
    wait_for(first_process[container_number]);
    for (int i = 0; i < PER_CONTAINER; i++) {
        settle(first + i);
    }
    NOTE(book->doomed[container_number], 0);
    containers_killed++;
}

/* Waits until a container has done so much more. */
static bool goes_on(int container_number, uint64_t calls, uint64_t found) {
    deploy_worker *one = &book->workers[container_number * PER_CONTAINER], *other = one + 1;
    uint64_t calls_wanted = calls_of(container_number) + calls;
    uint64_t found_wanted = READ(one->found) + READ(other->found) + found;
    uint64_t seen = 0;
    for (int64_t until = now_us() + LONGEST_MS * 1000ll; now_us() < until; sleep_us(500)) {
        uint64_t now = calls_of(container_number);
        if (now >= calls_wanted && READ(one->found) + READ(other->found) >= found_wanted) {
            return true;
        }
        if (!runs(first_process[container_number])) {
            return false;
        }
        if (now != seen) { /* only a container that does nothing is given up */
            seen = now;
            until = now_us() + LONGEST_MS * 1000ll;
        }
    }
    return false;
}

static bool open_program(int version, const char *name) {
    char self[400], program[500];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        return false;
    }
    self[length] = 0;
    snprintf(program, sizeof program, "%s/%s", dirname(self), name);
    programs[version] = open(program, O_RDONLY | O_CLOEXEC);
    return programs[version] >= 0;
}

static bool begin(bool one_version) {
    ledger = memfd_create("ledger", 0);
    if (ledger < 0 || ftruncate(ledger, sizeof *book) != 0) {
        return false;
    }
    book = mmap(NULL, sizeof *book, PROT_READ | PROT_WRITE, MAP_SHARED, ledger, 0);
    if (book == MAP_FAILED) {
        return false;
    }
    book->one_version = one_version;
    book->next_seed = next_play++;
    containers_killed = 0;
    return open_program(OLDER, "deploy_older") && open_program(NEWER, "deploy_newer");
}

static deploy_worker sum(void) {
    deploy_worker all = {0};
    for (int who = 0; who < WORKERS; who++) {
        const deploy_worker *one = &book->workers[who];
        all.calls += one->calls, all.found += one->found, all.stores += one->stores;
        all.deletes += one->deletes, all.tag_deletes += one->tag_deletes, all.clears += one->clears;
        all.leases += one->leases, all.lost_leases += one->lost_leases, all.waits += one->waits;
    }
    return all;
}

static void end(const char *where) {
    char label[100];
    deploy_worker all = sum();
    struct {
        uint64_t count;
        const char *what;
    } counts[] = {{all.calls, "calls"},
                  {all.found, "values read and compared with the ledger"},
                  {all.stores, "values stored"},
                  {all.deletes, "deletes"},
                  {all.tag_deletes + all.clears, "deletions of tags and clears"},
                  {all.leases, "leases taken"},
                  {all.lost_leases, "stores refused, for the lease had ended"},
                  {all.waits, "waits for a lease of another process"},
                  {book->workers_killed, "processes killed"},
                  {containers_killed, "containers killed"}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        snprintf(label, sizeof label, "%s %s", counts[i].what, where);
        count_of(counts[i].count, label);
    }
    for (int version = OLDER; version <= NEWER; version++) {
        close(programs[version]);
    }
    munmap(book, sizeof *book);
    close(ledger);
}

static void play_of_one_version(void) {
    CHECK(begin(true));
    start(BLUE, OLDER);
    start(GREEN, OLDER);
    for (int round = 0; round < 8; round++) {
        CHECK(goes_on(BLUE, 10000, 1000) && goes_on(GREEN, 1000, 100), "round %d; %s", round, book->first);
        kill_container(round % 2);
        start(round % 2, OLDER);
    }
    CHECK(goes_on(BLUE, 1000, 100) && goes_on(GREEN, 1000, 100), "%s", book->first);
    CHECK(stop(BLUE) && stop(GREEN) && book->wrong == 0, "%llu wrong: %s", (unsigned long long)book->wrong,
          book->first);
    larder *cache = open_at(path(), SIZE);
    CHECK(cache && sound(cache));
    larder_close(cache);
    deploy_worker all = sum();
    CHECK(all.leases > 100 && all.lost_leases > 10 && all.waits > 0 && all.clears > 0 && all.tag_deletes > 10);
    end("in containers of one version");
    CHECK(unlink(path()) == 0);
}

/* Blue is there all the time, except where it is killed; green comes, goes, comes back, and stays at the end. */
static void play_of_two_versions(void) {
    CHECK(begin(false));
    start(BLUE, OLDER);
    for (int round = 0; round < 8; round++) {
        CHECK(goes_on(BLUE, 1000, 100), "round %d: blue alone; %s", round, book->first);
        start(GREEN, NEWER);
        CHECK(goes_on(GREEN, 4000, 100) && goes_on(BLUE, 1000, 0), "round %d: deploy; %s", round, book->first);
        if (round % 4 == 3) {
            kill_container(BLUE);
            start(BLUE, OLDER);
            CHECK(goes_on(BLUE, 1000, 0) && goes_on(GREEN, 1000, 100), "round %d: blue again; %s", round,
                  book->first);
        }
        if (round % 2) {
            CHECK(stop(GREEN), "%s", book->first);
        } else {
            kill_container(GREEN);
        }
    }
    CHECK(goes_on(BLUE, 1000, 100), "rolled back; %s", book->first);
    start(GREEN, NEWER);
    CHECK(goes_on(GREEN, 1000, 100) && stop(BLUE) && goes_on(GREEN, 1000, 100), "deployed; %s", book->first);
    CHECK(stop(GREEN) && book->wrong == 0, "%llu wrong: %s", (unsigned long long)book->wrong, book->first);
    deploy_worker all = sum();
    CHECK(all.leases > 100 && all.lost_leases > 10 && all.waits > 0 && all.clears > 0 && all.tag_deletes > 10);
    end("in containers of two versions");
    CHECK(unlink(path()) == 0);
}

static void plays(void (*play)(void), const char *where) {
    if (!may_contain(where)) {
        return;
    }
    for (int i = 0, failed = test_failures; i < (is_full_run() ? 60 : 1) && test_failures == failed; i++) {
        play();
    }
}

static void of_one_version(void) { plays(play_of_one_version, "containers of one version"); }
static void of_two_versions(void) { plays(play_of_two_versions, "containers of two versions"); }

static const test_case tests[] = {
    TEST(of_one_version, "no container reads a value that another one ended, and one process has a lease"),
    TEST(of_two_versions,
         "no value is read that a container of another version ended, through deploys and rollbacks"),
};
RUN("environment: deploy", tests)
