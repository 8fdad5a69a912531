/*
 * sigbus_test.c — truncates a file in use: no crash, misses, and soon a new file that all processes share.
 *
 * A SIGBUS that is not the engine's goes to the handler that was installed before.
 */
#include "children.h"

#include <pthread.h>
#include <setjmp.h>
#ifdef __linux__
#include <sys/sysinfo.h>
#endif

enum { SIZE = 4 << 20, ITEMS = 1000 };

static bool fill(larder *cache) {
    char key[32];
    unsigned char value[400];
    for (int i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof key, "item %d", i);
        describe(value, sizeof value, (uint64_t)i, 1);
        if (set_bytes(cache, key, value, sizeof value, 0) != LARDER_OK) {
            return false;
        }
    }
    return true;
}

/* Every item is whole or missing. Answers how many were found, or -1. */
static int found_whole(larder *cache) {
    char key[32];
    unsigned char value[400], want[400];
    int found = 0;
    for (int i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof key, "item %d", i);
        describe(want, sizeof want, (uint64_t)i, 1);
        larder_status status = larder_get(cache, key, strlen(key), value, sizeof value, NULL, NULL);
        if (status == LARDER_OK && memcmp(value, want, sizeof want) != 0) {
            return -1;
        }
        found += status == LARDER_OK;
    }
    return found;
}

/* Waits until sets and gets work again. */
static bool heals(larder *cache, const char *key) {
    for (int64_t until = now_us() + LONGEST_MS * 1000ll; now_us() < until; sleep_us(2000)) {
        if (set(cache, key, key) == LARDER_OK && is(cache, key, key)) {
            return true;
        }
    }
    return false;
}

typedef struct {
    uint32_t stage;
    off_t length;
} script;

static void use_it_too(larder *cache, script *play) {
    CHILD_CHECK(found_whole(cache) == ITEMS);
    advance(&play->stage);
    CHILD_CHECK(await(&play->stage, 2));
    CHILD_CHECK(found_whole(cache) >= 0);
    CHILD_CHECK(heals(cache, "of the child"));
    advance(&play->stage);
    CHILD_CHECK(await(&play->stage, 4));
    CHILD_CHECK(is(cache, "of the parent", "of the parent"));
    CHILD_CHECK(is(cache, "of the child", "of the child"));
    CHILD_CHECK(sound(cache));
}

static void cut_to(off_t length, bool and_grown) {
    script *play = shared_memory(sizeof *play);
    larder *cache = open_cache(SIZE);
    CHECK(cache && fill(cache));
    pid_t pid = fork_child();
    if (pid == 0) {
        use_it_too(cache, play);
        _exit(0);
    }
    CHECK(await(&play->stage, 1));
    CHECK(truncate(test_path("t.larder"), length) == 0);
    CHECK(!and_grown || truncate(test_path("t.larder"), SIZE) == 0);
    advance(&play->stage);
    int found = found_whole(cache);
    CHECK(found >= 0, "a wrong value");
    CHECK(await(&play->stage, 3), "the child did not find its way");
    CHECK(heals(cache, "of the parent"));
    CHECK(is(cache, "of the child", "of the child") || heals(cache, "of the child"));
    advance(&play->stage);
    CHECK(exited_well(pid));
    struct stat info;
    for (int i = 0; i < 20 && length < SIZE / 2 + 1; i++) { /* writers come to every page in time */
        fill(cache);
    }
    CHECK(heals(cache, "of the parent") && stat(test_path("t.larder"), &info) == 0);
    CHECK(info.st_size == (length < SIZE / 2 + 1 || and_grown ? SIZE : length));
    CHECK(sound(cache));
    larder_close(cache);
    munmap(play, sizeof *play);
}

static void cut_to_nothing(void) { cut_to(0, false); }
static void cut_to_a_page(void) { cut_to(4096, false); }
static void cut_inside_the_control_page(void) { cut_to(8192 + 100, false); }
static void cut_to_half(void) { cut_to(SIZE / 2, false); }
static void cut_by_a_byte(void) { cut_to(SIZE - 1, false); }
static void cut_and_grown_again(void) {
    cut_to(SIZE / 2, true);
    cut_to(0, true);
}

/* What is stored before anybody notices makes it look like a stranger's file. */
static void cut_grown_and_stored_in(void) {
    larder *cache = open_cache(SIZE);
    CHECK(cache && fill(cache));
    CHECK(truncate(test_path("t.larder"), 0) == 0 && truncate(test_path("t.larder"), SIZE) == 0);
    memset((char *)cache->core->map->base + LARD_CONTROL_OFFSET + LARD_PAGE, 's', 100);
    set(cache, "unnoticed", "yet");
    sleep_us(300000); /* calls look at the file every 200 ms */
    CHECK(heals(cache, "of the parent") && sound(cache));
    larder_close(cache);
}

/* Readers and a writer are inside calls whenever the file is cut. */
static void cut_again_and_again(void) {
    enum { CHILDREN = 3, CUTS = 25 };
    pid_t pids[CHILDREN];
    script *play = shared_memory(sizeof *play);
    uint64_t state = 5;
    larder *cache = open_cache(SIZE);
    CHECK(cache && fill(cache));
    for (int i = 0; i < CHILDREN; i++) {
        if ((pids[i] = fork_child()) == 0) {
            while (__atomic_load_n(&play->stage, __ATOMIC_ACQUIRE) == 0) {
                CHILD_CHECK(found_whole(cache) >= 0);
                larder_report report;
                i == 0 ? (void)fill(cache) : (void)larder_verify(cache, &report);
            }
            CHILD_CHECK(heals(cache, "in the end"));
            _exit(0);
        }
    }
    for (int i = 0; i < CUTS; i++) {
        sleep_us(2000 + (unsigned)(next_random(&state) % 20000));
        if (truncate(test_path("t.larder"), (off_t)(next_random(&state) % SIZE)) != 0 && errno != ENOENT) {
            break;
        }
    }
    advance(&play->stage);
    int failed = 0;
    for (int i = 0; i < CHILDREN; i++) {
        failed += !exited_well(pids[i]);
    }
    CHECK(failed == 0);
    CHECK(heals(cache, "in the end") && sound(cache));
    larder_close(cache);
    munmap(play, sizeof *play);
}

/* As on a full disk under a copy-on-write file system, where each new file faults again. */
static void faults_again_and_again(void) {
    larder *cache = open_cache(SIZE);
    CHECK(cache && fill(cache));
    for (unsigned before = 0; before < 60; before += 20) {
        cache->core->faults = before;
        cache->core->last_fault_ms = lard_clock_monotonic_ms();
        cache->core->retry_attach_ms = 0;
        CHECK(truncate(test_path("t.larder"), 0) == 0);
        CHECK(found_whole(cache) >= 0);
        for (int i = 0; i < 2000 && cache->core->faults == before; i++) {
            set(cache, "it is noticed", "by a call");
        }
        CHECK(cache->core->faults == before + 1);
        int64_t wait_ms = cache->core->retry_attach_ms - lard_clock_monotonic_ms();
        CHECK(before > 32 ? wait_ms > 100000 && wait_ms <= 600000 : wait_ms <= 1000, "%lld ms after %u faults",
              (long long)wait_ms, before);
        CHECK(heals(cache, "the file that was made meanwhile"));
    }
    larder_close(cache);
}

/* This process has no page of the shards any more, others have all of them: a disk that takes no more writes. */
static bool lose_pages(larder *cache) {
    lard_map *map = cache->core->map;
    size_t page = lard_page_bytes(), from = (map->super.shard_offset + page - 1) / page * page,
           bytes = map->bytes - from;
    int fd = open(test_path("empty"), O_RDWR | O_CREAT, 0600);
    bool lost = mmap(map->base + from, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
    close(fd);
    return lost;
}

static larder_status by_delete(larder *cache) { return larder_delete(cache, "k", 1, NULL); }
static larder_status by_time_to_live(larder *cache) { return set_bytes(cache, "k", "", 0, -1); }
static larder_status by_replacing_it_with_nothing(larder *cache) {
    larder_store store = {.key = "k", .key_bytes = 1, .ttl_ms = -1, .mode = LARDER_REPLACE};
    return larder_set(cache, &store, NULL);
}
static larder_status by_refused_overwrite(larder *cache) {
    static const char much[SIZE];
    return set_bytes(cache, "k", much, sizeof much, 0);
}
static larder_status by_prune(larder *cache) {
    larder_call later = {.now_ms = lard_clock_ms() + 3600000};
    return larder_prune(cache, NULL, &later);
}

static void whose_fault_hides_a_change(larder_status (*drop)(larder *), larder_status answer) {
    script *play = shared_memory(sizeof *play);
    larder *cache = open_cache(SIZE);
    CHECK(set_bytes(cache, "k", "v", 1, 600000) == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        CHILD_CHECK(is(cache, "k", "v"));
        advance(&play->stage);
        CHILD_CHECK(await(&play->stage, 2));
        CHILD_CHECK(is(cache, "k", NULL));
        _exit(0);
    }
    CHECK(await(&play->stage, 1) && lose_pages(cache));
    larder_status status = drop(cache);
    advance(&play->stage);
    CHECK(status == answer, "%s", larder_status_name(status));
    CHECK(exited_well(pid), "what was dropped is there for others");
    larder_close(cache);
    munmap(play, sizeof *play);
}

static void changes_that_met_a_fault(void) {
    whose_fault_hides_a_change(by_delete, LARDER_DAMAGED);
    whose_fault_hides_a_change(by_time_to_live, LARDER_DAMAGED);
    whose_fault_hides_a_change(by_replacing_it_with_nothing, LARDER_DAMAGED);
    whose_fault_hides_a_change(by_refused_overwrite, LARDER_VALUE_TOO_LARGE);
    whose_fault_hides_a_change(by_prune, LARDER_DAMAGED);
}

#ifdef __linux__
static bool sparsely;

/* In place of the library's: a test needs a file that is larger than memory, and than the disk perhaps. */
int posix_fallocate(int fd, off_t from, off_t bytes) {
    int failed = sparsely ? ftruncate(fd, from + bytes) : fallocate(fd, 0, from, bytes);
    return failed ? errno : 0;
}

static void fault_in_a_file_larger_than_memory(void *unused) {
    struct sysinfo memory;
    (void)unused;
    CHILD_CHECK(sysinfo(&memory) == 0);
    sparsely = true;
    larder *cache = open_cache(((uint64_t)memory.totalram + memory.totalswap) * memory.mem_unit * 2);
    if (!cache) {
        return; /* as under valgrind, which has no room for such a map */
    }
    CHILD_CHECK(fill(cache) && found_whole(cache) == ITEMS);
    CHILD_CHECK(truncate(test_path("t.larder"), SIZE) == 0);
    CHILD_CHECK(found_whole(cache) >= 0 && heals(cache, "in the end"));
}

/* The kernel would not promise as much private memory. */
static void a_file_larger_than_memory(void) { CHECK(in_child(fault_in_a_file_larger_than_memory, NULL)); }
#endif

static sigjmp_buf out_of_the_fault;

static void own_handler(int number) {
    (void)number;
    siglongjmp(out_of_the_fault, 1);
}

static volatile unsigned char *mapping_without_a_file(void) {
    const char *path = test_path("mine");
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    CHILD_CHECK(ftruncate(fd, 4096) == 0);
    unsigned char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHILD_CHECK(map != MAP_FAILED && ftruncate(fd, 0) == 0);
    close(fd);
    return map;
}

/* Each in a process of its own, and before all other tests: the engine installs its handler once. */
static void fault_with_a_handler(void *unused) {
    struct sigaction action;
    (void)unused;
    memset(&action, 0, sizeof action);
    action.sa_handler = own_handler;
    CHILD_CHECK(sigaction(SIGBUS, &action, NULL) == 0);
    larder *cache = open_cache(SIZE);
    CHILD_CHECK(set(cache, "k", "v") == LARDER_OK);
    volatile unsigned char *map = mapping_without_a_file();
    if (sigsetjmp(out_of_the_fault, 1) == 0) {
        map[7] = 1;
        CHILD_CHECK(!"a store to a page that is not there went through");
    }
    CHILD_CHECK(is(cache, "k", "v"));
    CHILD_CHECK(truncate(test_path("t.larder"), 0) == 0);
    CHILD_CHECK(heals(cache, "its own faults go on being the engine's"));
}

static void fault_without_a_handler(void *unused) {
    (void)unused;
    signal(SIGBUS, SIG_DFL);
    larder *cache = open_cache(SIZE);
    CHILD_CHECK(set(cache, "k", "v") == LARDER_OK);
    mapping_without_a_file()[7] = 1;
}

static void faults_of_others_are_passed_on(void) {
    CHECK(in_child(fault_with_a_handler, NULL));
    pid_t pid = fork_child();
    if (pid == 0) {
        fault_without_a_handler(NULL);
        _exit(0);
    }
    int status = wait_within(pid, LONGEST_MS);
    CHECK(status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS, "status %x", status);
}

/* One call each, as a thread that has every signal blocked makes it on a file that was cut. */
static larder_status call_number(larder *cache, int number) {
    static char buffer[LARDER_MAX_KEY + 4];
    larder_store stores[] = {{.key = "item 1", .key_bytes = 6, .value = "v", .value_bytes = 1}};
    larder_lookup lookups[] = {{.key = "item 1", .key_bytes = 6, .buffer = buffer, .buffer_bytes = sizeof buffer}};
    larder_stats stats;
    larder_report report;
    larder *again;
    int64_t n;
    uint64_t cursor = 0;
    size_t count, used;
    switch (number) {
    case 0:
        return larder_get(cache, "item 1", 6, buffer, sizeof buffer, NULL, NULL);
    case 1:
        return larder_get_multi(cache, lookups, 1, NULL) == LARDER_OK ? lookups[0].status : LARDER_INVALID;
    case 2:
        return larder_exists(cache, "item 1", 6, NULL, NULL);
    case 3:
        return larder_set(cache, stores, NULL);
    case 4:
        return larder_set_multi(cache, stores, 1, NULL, NULL);
    case 5:
        return larder_cas(cache, stores, "w", 1, NULL);
    case 6:
        return larder_delete(cache, "item 1", 6, NULL);
    case 7:
        return larder_increment(cache, "n", 1, 1, 0, 0, &n, NULL);
    case 8:
        return larder_touch(cache, "item 1", 6, 0, NULL);
    case 9:
        return larder_scan(cache, &cursor, NULL, 0, buffer, sizeof buffer, &count, &used, NULL);
    case 10:
        return larder_clear(cache);
    case 11:
        return larder_prune(cache, NULL, NULL);
    case 12:
        return larder_get_stats(cache, &stats);
    case 13:
        return larder_verify(cache, &report);
    case 14:
        return larder_open(test_path("t.larder"), NULL, &again, NULL);
    default:
        larder_close(cache);
        return LARDER_OK;
    }
}

enum { CALLS = 16 };

static struct {
    larder *cache;
    int number;
    larder_status status;
    bool unblocked; /* but for SIGBUS, afterwards */
} blocked;

static void *call_with_all_blocked(void *unused) {
    sigset_t all, after;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    blocked.status = call_number(blocked.cache, blocked.number);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number < 32; number++) {
        blocked.unblocked |=
            number != SIGBUS && number != SIGKILL && number != SIGSTOP && !sigismember(&after, number);
    }
    return unused;
}

static void call_after_a_cut(void *number) {
    pthread_t thread;
    blocked.number = *(int *)number;
    blocked.cache = open_cache(SIZE);
    CHILD_CHECK(blocked.cache && fill(blocked.cache));
    CHILD_CHECK(truncate(test_path("t.larder"), 0) == 0);
    CHILD_CHECK(pthread_create(&thread, NULL, call_with_all_blocked, NULL) == 0);
    CHILD_CHECK(pthread_join(thread, NULL) == 0 && !blocked.unblocked);
    CHILD_CHECK(blocked.number > 2 || blocked.status == LARDER_MISS);
    CHILD_CHECK(blocked.number == CALLS - 1 || heals(blocked.cache, "of the child"));
}

static void threads_that_block_signals(void) {
    for (int number = 0; number < CALLS; number++) {
        CHECK(in_child(call_after_a_cut, &number), "call %d", number);
    }
}

/* Blocked before the process began: a program that starts others may leave it blocked. */
static void block_and_open(void *number) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    call_after_a_cut(number);
}

static void processes_that_block_signals(void) {
    int get = 0, set = 3;
    CHECK(in_child(block_and_open, &get) && in_child(block_and_open, &set));
}

static const test_case tests[] = {
    TEST(faults_of_others_are_passed_on, "a fault elsewhere goes to the handler that was there before"),
    TEST(cut_to_nothing, "a live file cut to nothing is replaced"),
    TEST(cut_to_a_page, "a live file cut to one page is replaced"),
    TEST(cut_inside_the_control_page, "a live file cut inside its control page is replaced"),
    TEST(cut_to_half, "a live file cut to half is replaced"),
    TEST(cut_by_a_byte, "a live file cut by one byte goes on or is replaced"),
    TEST(cut_grown_and_stored_in, "a live file cut, grown and stored in is replaced"),
    TEST(cut_and_grown_again, "a live file cut and grown again loses items, and nothing else"),
    TEST(faults_again_and_again, "a handle whose files fault again and again attaches anew ever more seldom"),
#ifdef __linux__
    TEST(a_file_larger_than_memory, "a live file that is larger than memory is cut"),
#endif
    TEST(threads_that_block_signals, "a thread that has every signal blocked meets misses, whatever it calls"),
    TEST(processes_that_block_signals, "a process in which every signal is blocked meets misses"),
    TEST(changes_that_met_a_fault, "what a call dropped is gone for all others when the call met a fault"),
    TEST(cut_again_and_again, "a file that is cut again and again under readers and writers heals"),
};
RUN("fault", tests)
