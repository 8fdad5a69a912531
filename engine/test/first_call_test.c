/*
 * first_call_test.c — the work of a process's first call: system calls and page faults are counted, in a /dev/shm
 * of its own, and depend neither on the size of the file nor on the number of its items.
 */
#include "children.h"
#include "mounts.h"

#ifdef __linux__
#include <sys/ptrace.h>
#include <sys/resource.h>
#endif

#define MIB (1ull << 20)

enum { ITEMS = 3000, MOST_CALLS = 220, MOST_CALLS_FORKED = 60, MOST_FAULTS_FORKED = 60, MOST_MORE = 16 };

#ifdef __linux__

typedef struct {
    int64_t calls, faults; /* -1: they cannot be counted here */
} work;

static void fill(void *size_bytes) {
    char key[32];
    larder *cache = open_cache(*(uint64_t *)size_bytes);
    CHILD_CHECK(cache);
    for (int i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof key, "item %d", i);
        CHILD_CHECK(set(cache, key, key) == LARDER_OK);
    }
    larder_close(cache);
}

static int64_t faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

/* Between its two stops the child makes the first call. */
static void make_first_call(larder *cache, uint64_t size_bytes, work *done) {
    bool has_own = mounts_of_its_own("/dev/shm") && (cache || mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL) == 0);
    if (!has_own || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(0);
    }
    raise(SIGSTOP);
    int64_t before = faults();
    cache = cache ? cache : open_cache(size_bytes);
    bool is_hit = cache && is(cache, "item 7", "item 7");
    done->faults = faults() - before;
    raise(SIGSTOP);
    CHILD_CHECK(is_hit);
    larder_close(cache);
    _exit(0);
}

/* Counts the child's system calls from its first stop to its second. */
static void trace(pid_t child, work *done) {
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        return; /* it may not be traced */
    }
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_TRACESYSGOOD);
    int64_t stops = 0;
    while (ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child &&
           WIFSTOPPED(status) && WSTOPSIG(status) != SIGSTOP) {
        stops += WSTOPSIG(status) == (SIGTRAP | 0x80);
    }
    done->calls = stops / 2;
    ptrace(PTRACE_DETACH, child, NULL, NULL);
}

/* The first call of a process that opens a file of that size, or is forked from one that has opened it. */
static bool count(uint64_t size_bytes, larder *opened, work *found) {
    work *done = shared_memory(sizeof *done);
    *done = (work){-1, -1};
    pid_t child = fork_child();
    if (child == 0) {
        make_first_call(opened, size_bytes, done);
    }
    trace(child, done);
    bool went_well = exited_well(child);
    *found = *done;
    munmap(done, sizeof *done);
    return went_well;
}

static bool cannot_count(const work *found) {
    if (found->calls < 0) {
        printf("  skipped, needs root and ptrace: %s\n", test_name);
    }
    return found->calls < 0;
}

static void no_process_has_it_open(void) {
    const uint64_t sizes[] = {128 * MIB, 1024 * MIB}; /* both with the most process slots */
    work found[2];
    for (int i = 0; i < 2; i++) {
        CHECK(in_child(fill, (void *)&sizes[i]) && count(sizes[i], NULL, &found[i]));
        CHECK(unlink(test_path("t.larder")) == 0);
        if (cannot_count(&found[i])) {
            return;
        }
    }
    CHECK(found[1].calls <= found[0].calls + MOST_MORE && found[0].calls <= MOST_CALLS, "%lld, %lld system calls",
          (long long)found[0].calls, (long long)found[1].calls);
    CHECK(found[1].faults <= found[0].faults + MOST_MORE, "%lld, %lld page faults", (long long)found[0].faults,
          (long long)found[1].faults);
}

static void a_forked_child(void) {
    uint64_t size_bytes = 1024 * MIB;
    work found;
    CHECK(in_child(fill, &size_bytes));
    larder *cache = open_cache(size_bytes);
    CHECK(cache && is(cache, "item 7", "item 7") && count(size_bytes, cache, &found));
    larder_close(cache);
    if (!cannot_count(&found)) {
        CHECK(found.calls <= MOST_CALLS_FORKED, "%lld system calls", (long long)found.calls);
        CHECK(found.faults <= MOST_FAULTS_FORKED, "%lld page faults", (long long)found.faults);
    }
}
#endif

static const test_case tests[] = {
#ifdef __linux__
    TEST(no_process_has_it_open, "the first opening and get take no more calls and faults in a larger file"),
    TEST(a_forked_child, "a forked child's first get takes few calls and faults"),
#endif
    {NULL, NULL}};

int main(int argc, char **argv) {
    return run_tests("first_call", tests, sizeof tests / sizeof *tests - 1, argc > 1 ? argv[1] : NULL);
}
