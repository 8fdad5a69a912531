/*
 * calls_exchange_test.c — a host puts its own files under the engine's descriptors, or closes them, before each
 * call that the engine makes while it opens, uses and closes a cache.
 *
 * The host's file stays as it was, and the cache keeps its values. Not tried: directly before a call that changes
 * a file or closes a descriptor, because nothing can be looked at in between. Nor before getrlimit(2), which takes
 * no time and comes between a look and a change.
 */
#include "choice.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { SIZE = 1 << 20, FIRST = 3, LAST = 40, TEXT = 6000 };
enum { A_TEXT, AN_EMPTY_FILE, NOTHING_THERE, HOSTS_FILES };

static larder *cache;
static int hosts_file = -1, of_host;
static unsigned long exchanges;
static const char *const names[] = {"a text", "an empty file", "nothing"};

#define MUST(condition)                                                                                       \
    do {                                                                                                      \
        if (!(condition)) {                                                                                   \
            fprintf(stderr, "  %s:%d: %s not true (%s)\n", __FILE__, __LINE__, #condition, kinds[kind].name); \
            _exit(1);                                                                                         \
        }                                                                                                     \
    } while (0)

static const char *path_of(const char *name) {
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", test_directory, name);
    return path;
}

static bool changes(int kind) {
    return kind == CALL_pwrite || kind == CALL_pwritev || kind == CALL_posix_fallocate || kind == CALL_fallocate ||
           kind == CALL_ftruncate || kind == CALL_fchmod || kind == CALL_fchown || kind == CALL_close ||
           kind == CALL_getrlimit;
}

static void exchange(int kind) {
    if (changes(kind)) {
        return;
    }
    armed = false;
    int own = of_host == NOTHING_THERE
                  ? -1
                  : __real_open(path_of(of_host == A_TEXT ? "text" : "empty"), O_RDWR | O_CLOEXEC);
    for (int fd = FIRST; fd < LAST; fd++) {
        if (own < 0) {
            __real_close(fd);
        } else if (fd != own) {
            dup2(own, fd);
        }
    }
    hosts_file = own;
    armed = true;
    plan->failed++;
}

static void fill(char *text) { memset(text, 't', TEXT); }

static void write_files(void) {
    char text[TEXT];
    fill(text);
    int fd = open(path_of("text"), O_RDWR | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0 && write(fd, text, TEXT) == TEXT && fchmod(fd, 0644) == 0 && close(fd) == 0);
    fd = open(path_of("empty"), O_RDWR | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0 && fchmod(fd, 0644) == 0 && close(fd) == 0);
}

static bool files_are_the_same(void) {
    char text[TEXT], found[TEXT];
    struct stat of_text, of_empty;
    fill(text);
    int fd = open(path_of("text"), O_RDONLY);
    bool same = fd >= 0 && read(fd, found, TEXT) == TEXT && memcmp(text, found, TEXT) == 0 &&
                fstat(fd, &of_text) == 0 && of_text.st_size == TEXT && (of_text.st_mode & 07777) == 0644;
    close(fd);
    return same && stat(path_of("empty"), &of_empty) == 0 && of_empty.st_size == 0 &&
           (of_empty.st_mode & 07777) == 0644;
}

/* All numbers that the host took are its file's. */
static bool descriptors_are_the_same(void) {
    struct stat one, other;
    bool same = hosts_file < 0 || fstat(hosts_file, &one) == 0;
    for (int fd = FIRST; hosts_file >= 0 && fd < LAST; fd++) {
        same = same && fstat(fd, &other) == 0 && one.st_ino == other.st_ino;
    }
    return same;
}

static void remove_cache(void) {
    unlink(path_of("t.larder"));
    unlink(path_of("t.larder.lock"));
    unlink(path_of("t.larder" LARD_SIDECAR_SUFFIX));
}

static larder *opened(larder_error *error) {
    larder_options options = {.size_bytes = SIZE, .lock_timeout_ms = 1000, .statistics = true};
    larder *handle = NULL;
    larder_open(path_of("t.larder"), &options, &handle, error);
    return handle;
}

/* Each runs in a process that has never used the engine, so that all make the same calls. */
static bool in_a_process(void (*what)(bool), bool flag) {
    pid_t child = fork_child();
    if (child == 0) {
        what(flag);
        _exit(0);
    }
    return exited_well(child);
}

/* A file that was closed cleanly, or whose users were killed. */
static void make(bool closes) {
    larder *c = opened(NULL);
    CHILD_CHECK(c && set(c, "kept", "value") == LARDER_OK);
    if (closes) {
        larder_close(c);
    }
}

static void look(bool has_values) {
    larder *c = opened(NULL);
    CHILD_CHECK(c && is(c, "kept", has_values ? "value" : NULL) && is(c, "stored", "value") && sound(c));
    larder_close(c);
}

static ino_t inode(void) {
    struct stat info;
    return stat(path_of("t.larder"), &info) == 0 ? info.st_ino : 0;
}

static void live(bool has_values) {
    larder_error error = {0};
    int kind = 0;
    begin_places();
    armed = true;
    cache = opened(&error);
    larder_status status = cache ? set(cache, "stored", "value") : error.status;
    bool is_kept = cache && is(cache, "kept", has_values ? "value" : NULL);
    larder_close(cache);
    armed = false;
    kind = plan->calls.kind[plan->at < MOST_CALLS ? plan->at : 0];
    if (status != LARDER_OK) {
        fprintf(stderr, "  %s\n", error.detail);
    }
    MUST(status == LARDER_OK);
    MUST(is_kept);
    MUST(descriptors_are_the_same() || kind == CALL_close);
}

enum { NEW, CLEAN, OF_KILLED, WITH_ONE_SUPERBLOCK, SUPERSEDED };

static bool write_into(off_t at, const void *bytes, size_t count) {
    int fd = open(path_of("t.larder"), O_RDWR);
    bool done = fd >= 0 && pwrite(fd, bytes, count, at) == (ssize_t)count;
    close(fd);
    return done;
}

/* Is there a file to open as it should be? */
static bool prepare(int file) {
    static const uint32_t one = 1;
    return file == NEW || (in_a_process(make, file != OF_KILLED) &&
                           (file != WITH_ONE_SUPERBLOCK || write_into(100, "DAMAGED", 7)) &&
                           (file != SUPERSEDED || write_into(LARD_CONTROL_OFFSET, &one, sizeof one)));
}

static bool is_wrong(const char *what) {
    fprintf(stderr, "  %s\n", what);
    return false;
}

/* One exchange before the call of number `at`, or none. */
static bool attempt(int file, unsigned long at) {
    write_files();
    remove_cache();
    memset(plan, 0, sizeof *plan);
    if (!prepare(file)) {
        return is_wrong("no file was made");
    }
    bool has_values = file != NEW && file != SUPERSEDED;
    ino_t before = inode();
    plan->at = at;
    if (!in_a_process(live, has_values)) {
        return is_wrong("the cache cannot be used");
    }
    if (!files_are_the_same()) {
        return is_wrong("a file of the host's was changed");
    }
    if (has_values && before != inode()) {
        return is_wrong("the cache was replaced");
    }
    exchanges += plan->failed;
    return in_a_process(look, has_values) || is_wrong("the cache is wrong");
}

/* A place in the code meets each file of the host's where it is first come to, then one of them in each scenario.
 */
static bool is_due(const call_list *calls, unsigned long at, int file) {
    if (all_calls()) {
        return true;
    }
    if (is_amid_others(calls, at)) {
        return false;
    }
    known_place *place = known(calls->place[at]);
    return !(place->had & 1u << of_host) || of_host == file % HOSTS_FILES;
}

static void at_each_call(int file) {
    static call_list calls;
    plan = plan ? plan : shared_memory(sizeof *plan);
    instead = exchange;
    of_host = A_TEXT;
    CHECK(attempt(file, 0));
    calls = plan->calls;
    CHECK(calls.count > 50 && calls.count < MOST_CALLS, "%lu calls", calls.count);
    CHECK(places_known + calls.count < MOST_PLACES);
    for (unsigned long at = 1; at <= calls.count; at++) {
        for (of_host = 0; of_host < HOSTS_FILES; of_host++) {
            if (is_due(&calls, at, file) && !attempt(file, at)) {
                fprintf(stderr, "  %s, before call %lu of %lu, %s\n", names[of_host], at, calls.count,
                        kinds[calls.kind[at]].name);
                test_failures++;
            }
            known(calls.place[at])->had |= 1u << of_host;
        }
    }
}

static void a_new_file(void) { at_each_call(NEW); }
static void a_new_file_in_memory(void) { /* where the limits of control groups are read */
    char elsewhere[sizeof test_directory] = "/dev/shm/larder-test-XXXXXX";
    if (access("/dev/shm", W_OK) != 0) {
        printf("  skipped: a file in memory: /dev/shm cannot be written to\n");
        return;
    }
    CHECK(mkdtemp(elsewhere) != NULL);
    rmdir(test_directory);
    memcpy(test_directory, elsewhere, sizeof elsewhere);
    at_each_call(NEW);
}
static void a_clean_file(void) { at_each_call(CLEAN); }
static void a_file_of_killed_users(void) { at_each_call(OF_KILLED); }

static void a_file_with_one_superblock(void) { at_each_call(WITH_ONE_SUPERBLOCK); }
static void a_superseded_file(void) { at_each_call(SUPERSEDED); }

static void say_count(void) {
    printf("@ %lu exchanges of all descriptors, each before another call\n", exchanges);
}

static const test_case tests[] = {
    TEST(a_new_file, "a file is made, and the host's files stay as they are"),
    TEST(a_new_file_in_memory, "a file is made in memory, and the host's files stay as they are"),
    TEST(a_clean_file, "a file that was closed cleanly keeps its values, and the host's files stay as they are"),
    TEST(a_file_of_killed_users, "a file of killed users keeps its values, and the host's files stay as they are"),
    TEST(a_file_with_one_superblock,
         "a file with one superblock keeps its values, and the host's files stay as they are"),
    TEST(a_superseded_file, "a superseded file is replaced, and the host's files stay as they are"),
    TEST(say_count, "count"),
};
RUN_CALLS("exchanged descriptors", tests)
