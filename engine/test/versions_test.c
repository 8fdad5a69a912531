/*
 * versions_test.c — checks that processes of two versions of the file's format lose no delete, in a deploy and in
 * its rollback, and that a file of the format before is converted. Each process is a program of its own, compiled
 * with its version: version_worker.c.
 */
#include "children.h"

#include <fcntl.h>
#include <libgen.h>

typedef enum { OLDER, NEWER, OLDER_KEEPING, NEWER_KEEPING } kind;

typedef struct {
    pid_t pid;
    FILE *to, *from;
} process;

/* The program of that kind, which is built beside this one. */
static const char *program_of(kind kind) {
    static char program[512];
    char self[480];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        abort();
    }
    self[length] = 0;
    snprintf(program, sizeof program, "%s/%s", dirname(self),
             kind == NEWER || kind == NEWER_KEEPING ? "newer_worker" : "older_worker");
    return program;
}

static process start(kind kind) {
    const char *program = program_of(kind);
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
        abort();
    }
    pid_t pid = fork_child();
    if (pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        execl(program, program, test_path("t.larder"), kind >= OLDER_KEEPING ? "keep" : (char *)NULL,
              (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    return (process){pid, fdopen(to[1], "w"), fdopen(from[0], "r")};
}

static void stop(process *one) {
    fclose(one->to);
    fclose(one->from);
    CHECK(exited_well(one->pid));
}

/* The answer to a command. */
static const char *ask(process *one, const char *command) {
    static char answer[256];
    fprintf(one->to, "%s\n", command);
    fflush(one->to);
    if (!fgets(answer, sizeof answer, one->from)) {
        return "no answer";
    }
    answer[strcspn(answer, "\n")] = 0;
    return answer;
}

#define ANSWERS(process, command, wanted)                                                \
    do {                                                                                 \
        const char *answer_ = ask(process, command);                                     \
        CHECK(strcmp(answer_, wanted) == 0, "%s: %s, not %s", command, answer_, wanted); \
    } while (0)

static void a_deploy_loses_no_delete(void) {
    process older = start(OLDER);
    ANSWERS(&older, "attach", "OK");
    ANSWERS(&older, "set k before", "OK");
    process newer = start(NEWER);
    ANSWERS(&newer, "attach", "OK");
    ANSWERS(&newer, "get k", "MISS");
    ANSWERS(&newer, "set k old", "OK");
    ANSWERS(&older, "get k", "MISS");
    ANSWERS(&older, "delete k", "MISS");
    ANSWERS(&newer, "get k", "MISS");
    ANSWERS(&newer, "set k old", "OK");
    ANSWERS(&newer, "get k", "old");
    ANSWERS(&older, "clear", "OK");
    ANSWERS(&newer, "get k", "MISS");
    ANSWERS(&newer, "set k kept", "OK");
    ANSWERS(&older, "set k other", "SUPERSEDED");
    ANSWERS(&newer, "get k", "kept");
    stop(&older);
    ANSWERS(&newer, "get k", "kept");
    stop(&newer);
}

static void a_rollback_loses_no_delete(void) {
    process newer = start(NEWER);
    ANSWERS(&newer, "attach", "OK");
    ANSWERS(&newer, "set k old", "OK");
    process older = start(OLDER);
    ANSWERS(&older, "attach", "NEWER_VERSION");
    ANSWERS(&older, "delete k", "MISS");
    ANSWERS(&newer, "get k", "MISS");
    stop(&newer);
    ANSWERS(&older, "attach", "OK");
    ANSWERS(&older, "set k back", "OK");
    ANSWERS(&older, "get k", "back");
    process again = start(NEWER);
    ANSWERS(&again, "attach", "OK");
    ANSWERS(&again, "set k old", "OK");
    ANSWERS(&older, "delete k", "MISS");
    ANSWERS(&again, "get k", "MISS");
    stop(&again);
    stop(&older);
}

static void what_must_not_be_lost_is_not_cleared(void) {
    process older = start(OLDER_KEEPING);
    ANSWERS(&older, "attach", "OK");
    process newer = start(NEWER);
    ANSWERS(&newer, "attach", "OK");
    ANSWERS(&newer, "set session signed-in", "OK");
    ANSWERS(&older, "delete session", "SUPERSEDED");
    ANSWERS(&older, "clear", "SUPERSEDED");
    ANSWERS(&newer, "get session", "signed-in");
    stop(&newer);
    stop(&older);
}

/* Any order: what the newer process stored before a delete of the older one answered is never read again. */
static void no_value_is_read_after_a_delete(void) {
    process older = start(OLDER), newer = start(NEWER);
    char command[64], values[4][16] = {"", "", "", ""};
    uint64_t state = 25;
    ANSWERS(&older, "attach", "OK");
    ANSWERS(&newer, "attach", "OK");
    for (int round = 0; round < 2000; round++) {
        unsigned key = (unsigned)(next_random(&state) % 4);
        switch (next_random(&state) % 4) {
        case 0:
            snprintf(command, sizeof command, "delete k%u", key);
            ANSWERS(&older, command, "MISS");
            memset(values, 0, sizeof values);
            break;
        case 1:
            snprintf(values[key], sizeof values[key], "v%d", round);
            snprintf(command, sizeof command, "set k%u %s", key, values[key]);
            ANSWERS(&newer, command, "OK");
            break;
        default:
            snprintf(command, sizeof command, "get k%u", key);
            ANSWERS(&newer, command, *values[key] ? values[key] : "MISS");
        }
    }
    stop(&older);
    stop(&newer);
}

enum { LARGE = 300000, OTHERS = 500 };

/* What a process of the older version stores, and then ends. */
static void store_all(void) {
    process older = start(OLDER_KEEPING);
    char command[64];
    ANSWERS(&older, "attach", "OK");
    ANSWERS(&older, "set plain value", "OK");
    ANSWERS(&older, "pin pinned signed-in", "OK");
    ANSWERS(&older, "keep flagged flags", "OK");
    ANSWERS(&older, "ages long life", "OK");
    ANSWERS(&older, "count number", "OK");
    ANSWERS(&older, "count number", "OK");
    ANSWERS(&older, "fill large 300000", "OK");
    ANSWERS(&older, "fill medium 10000", "OK");
    ANSWERS(&older, "set deleted value", "OK");
    ANSWERS(&older, "delete deleted", "OK");
    for (int i = 0; i < OTHERS; i++) {
        snprintf(command, sizeof command, "fill other%d %d", i, i);
        ANSWERS(&older, command, "OK");
    }
    stop(&older);
}

static bool has_letters(larder *cache, const char *key, size_t bytes) {
    static char value[LARGE];
    larder_item item;
    bool right = larder_get(cache, key, strlen(key), value, sizeof value, &item, NULL) == LARDER_OK &&
                 item.size_bytes == bytes;
    for (size_t i = 0; right && i < bytes; i++) {
        right = value[i] == (char)('a' + i % 26);
    }
    return right;
}

/* Is all of it there, as it was stored? */
static void check_all(larder *cache) {
    larder_item item;
    char key[32];
    int64_t number, left_ms;
    CHECK(is(cache, "plain", "value") && is(cache, "pinned", "signed-in") && is(cache, "flagged", "flags"));
    CHECK(larder_exists(cache, "pinned", 6, &item, NULL) == LARDER_OK && item.is_pinned && !item.expires_at_ms);
    CHECK(larder_exists(cache, "flagged", 7, &item, NULL) == LARDER_OK && item.flags == 7 && !item.is_pinned);
    left_ms = item.expires_at_ms - (int64_t)time(NULL) * 1000;
    CHECK(left_ms > 3400000 && left_ms <= 3601000, "%lld", (long long)left_ms);
    CHECK(is(cache, "long", "life") && larder_exists(cache, "long", 4, &item, NULL) == LARDER_OK &&
              item.flags == 7 && item.expires_at_ms == LARDER_MAX_EXPIRY_MS,
          "no expiry of this format is later");
    CHECK(larder_exists(cache, "number", 6, &item, NULL) == LARDER_OK && item.is_counter);
    CHECK(larder_increment(cache, "number", 6, 0, 0, 0, &number, NULL) == LARDER_OK && number == 10);
    CHECK(has_letters(cache, "large", LARGE) && has_letters(cache, "medium", 10000) && is(cache, "deleted", NULL));
    for (int i = 0; i < OTHERS; i++) {
        snprintf(key, sizeof key, "other%d", i);
        CHECK(has_letters(cache, key, (size_t)i), "%s", key);
    }
    CHECK(sound(cache));
}

static larder *open_keeping(uint32_t existing) {
    larder_options options = {.size_bytes = 4 << 20, .must_keep = 1, .existing = existing};
    larder_error failure;
    larder *cache = NULL;
    if (larder_open(test_path("t.larder"), &options, &cache, &failure) != LARDER_OK) {
        fprintf(stderr, "  %s\n", failure.detail);
        abort();
    }
    return cache;
}

static void items_are_converted(void) {
    for (uint32_t existing = 0; existing < 2; existing++) {
        store_all();
        larder *cache = open_keeping(existing);
        check_all(cache);
        CHECK(larder_size(cache) == 4 << 20);
        CHECK(larder_delete(cache, "plain", 5, NULL) == LARDER_OK && set(cache, "pinned", "again") == LARDER_OK);
        larder_close(cache);
        cache = open_keeping(existing);
        CHECK(is(cache, "plain", NULL) && is(cache, "pinned", "again"), "it is converted once");
        larder_close(cache);
        CHECK(unlink(test_path("t.larder")) == 0);
    }
}

/* A cache may be empty after a change of its format. */
static void only_what_must_be_kept_is_converted(void) {
    store_all();
    larder *cache = open_cache(4 << 20);
    CHECK(is(cache, "plain", NULL) && is(cache, "pinned", NULL));
    larder_close(cache);
}

static void conversion_waits_for_the_older_processes(void) {
    process older = start(OLDER_KEEPING);
    ANSWERS(&older, "attach", "OK");
    ANSWERS(&older, "pin session signed-in", "OK");
    process newer = start(NEWER_KEEPING);
    ANSWERS(&newer, "attach", "IN_USE");
    ANSWERS(&older, "get session", "signed-in");
    ANSWERS(&older, "pin session later", "OK");
    stop(&older);
    ANSWERS(&newer, "attach", "OK");
    ANSWERS(&newer, "get session", "later");
    stop(&newer);
}

static void a_killed_conversion_loses_nothing(void) {
    int killed = 0;
    uint64_t state = 3;
    store_all();
    for (int round = 0; round < 60; round++) {
        pid_t pid = fork_child();
        if (pid == 0) {
            larder_close(open_keeping(0));
            _exit(0);
        }
        sleep_us((unsigned)(next_random(&state) % 12000));
        kill(pid, SIGKILL);
        killed += wait_for(pid) != 0;
        if (round % 20 == 19) {
            larder *cache = open_keeping(0);
            check_all(cache);
            larder_close(cache);
            CHECK(unlink(test_path("t.larder")) == 0);
            store_all();
        }
    }
    printf("@ %d processes killed while they opened and converted a file\n", killed);
}

/* Whatever is damaged is left out, or nothing fits any more; all that is answered was stored. */
static void damage_is_not_converted(void) {
    static unsigned char page[4096];
    uint64_t state = 11;
    for (int round = 0; round < 40; round++) {
        char key[32];
        larder_item item;
        static char value[LARGE];
        store_all();
        int fd = open(test_path("t.larder"), O_RDWR);
        for (int i = 0; i < 50; i++) {
            off_t at = (off_t)(next_random(&state) % ((4 << 20) - 16384)) / 8 * 8 + (round % 2 ? 12288 : 0);
            uint64_t word = next_random(&state) >> next_random(&state) % 64;
            CHECK(pwrite(fd, i % 5 ? (void *)&word : (void *)page, i % 5 ? 8 : 512, at) > 0);
        }
        close(fd);
        larder *cache = open_keeping(0);
        for (int i = 0; i < OTHERS; i++) {
            snprintf(key, sizeof key, "other%d", i);
            larder_status status = larder_get(cache, key, strlen(key), value, sizeof value, &item, NULL);
            CHECK(status == LARDER_MISS || has_letters(cache, key, (size_t)i), "%s", key);
        }
        CHECK(is(cache, "plain", NULL) || is(cache, "plain", "value"));
        CHECK(is(cache, "deleted", NULL) && sound(cache));
        larder_close(cache);
        CHECK(unlink(test_path("t.larder")) == 0);
    }
}

static const test_case tests[] = {
    TEST(a_deploy_loses_no_delete, "a delete of an older process reaches the newer ones that replaced its file"),
    TEST(a_rollback_loses_no_delete, "a delete of an older process that starts beside newer ones reaches them"),
    TEST(what_must_not_be_lost_is_not_cleared, "with must_keep a delete is refused, and nothing is lost"),
    TEST(no_value_is_read_after_a_delete, "no value is read that was stored before a delete answered"),
    TEST(items_are_converted, "what must be kept is converted from the format before"),
    TEST(only_what_must_be_kept_is_converted, "a cache of the format before is emptied"),
    TEST(conversion_waits_for_the_older_processes, "a conversion waits until the older processes have ended"),
    TEST(a_killed_conversion_loses_nothing, "a conversion that is killed loses nothing"),
    TEST(damage_is_not_converted, "what is damaged is left out of a conversion"),
};

int main(int argc, char **argv) {
    if (access(program_of(OLDER), X_OK) != 0) {
        printf("  skipped: the older version is built from the repository's history, which is not here\n");
        printf("versions: 0 tests, 0 failed\n");
        return 0;
    }
    return run_tests("versions", tests, sizeof tests / sizeof *tests, argc > 1 ? argv[1] : NULL);
}
