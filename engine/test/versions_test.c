/*
 * versions_test.c — checks that processes of two versions of the file's format lose no delete, in a deploy and in
 * its rollback. Each process is a program of its own, version_worker.c, compiled with this version or the next.
 */
#include "children.h"

#include <fcntl.h>
#include <libgen.h>

typedef enum { OLDER, NEWER, OLDER_KEEPING } kind;

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
    snprintf(program, sizeof program, "%s/%s", dirname(self), kind == NEWER ? "newer_worker" : "older_worker");
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
        execl(program, program, test_path("t.larder"), kind == OLDER_KEEPING ? "keep" : (char *)NULL,
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

/* The parent of preloaded workers: it has its slot, and calls nothing. */
static void an_idle_process_does_not_prevent_a_rollback(void) {
    process idle = start(OLDER);
    ANSWERS(&idle, "attach", "OK");
    ANSWERS(&idle, "set k before", "OK");
    process newer = start(NEWER), killed = start(NEWER), older = start(OLDER);
    ANSWERS(&newer, "attach", "OK");
    ANSWERS(&newer, "set k old", "OK");
    ANSWERS(&killed, "attach", "OK");
    ANSWERS(&older, "attach", "NEWER_VERSION");
    stop(&newer);
    ANSWERS(&older, "attach", "NEWER_VERSION");
    kill(killed.pid, SIGKILL);
    wait_for(killed.pid);
    fclose(killed.to);
    fclose(killed.from);
    ANSWERS(&older, "attach", "OK");
    ANSWERS(&older, "get k", "MISS");
    ANSWERS(&older, "set k back", "OK");
    ANSWERS(&idle, "get k", "MISS");
    ANSWERS(&idle, "attach", "OK");
    ANSWERS(&idle, "get k", "back");
    process again = start(NEWER);
    ANSWERS(&again, "attach", "OK");
    ANSWERS(&again, "set k old", "OK");
    ANSWERS(&older, "delete k", "MISS");
    ANSWERS(&again, "get k", "MISS");
    stop(&older);
    stop(&again);
    stop(&idle);
}

static void a_newer_file_that_is_kept_is_not_cleared(void) {
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

static const test_case tests[] = {
    TEST(a_deploy_loses_no_delete, "a delete of an older process reaches the newer ones that replaced its file"),
    TEST(a_rollback_loses_no_delete, "a delete of an older process that starts beside newer ones reaches them"),
    TEST(an_idle_process_does_not_prevent_a_rollback, "a process that calls nothing does not prevent a rollback"),
    TEST(a_newer_file_that_is_kept_is_not_cleared, "with keep_newer a delete is refused, and nothing is lost"),
    TEST(no_value_is_read_after_a_delete, "no value is read that was stored before a delete answered"),
};

RUN("versions", tests)
