/*
 * configuration_crash.c — kills a process at each store while it clears the file to get a row for its
 * configuration.
 *
 * The processes that have the file open go on, and read only what they stored. The next process gets a row.
 */
#include "configurations.h"

extern unsigned long lard_crash_at, lard_crash_count;

enum { ROWS = LARD_CONFIGURATIONS - 1 };

static larder *living[ROWS + 1]; /* of the configurations 1 to ROWS */
static unsigned long *stores, killed;

static const char *text_of(unsigned configuration) {
    static char text[16];
    snprintf(text, sizeof text, "of %u", configuration);
    return text;
}

/* Each reads its own values or nothing, and, if it has a row, the value that it stores now. */
static bool living_are_apart(unsigned *stored) {
    *stored = 0;
    for (unsigned i = 1; i <= ROWS; i++) {
        char key[16];
        snprintf(key, sizeof key, "key %u", i);
        for (unsigned k = 1; k <= ROWS; k++) {
            const char *have = get(living[k], key);
            if (have && (k != i || strcmp(have, text_of(i)) != 0)) {
                fprintf(stderr, "  %u reads '%s' of %u\n", k, have, i);
                return false;
            }
        }
        larder_status status = set(living[i], key, text_of(i));
        *stored += status == LARDER_OK;
        if ((status != LARDER_OK && status != LARDER_NO_CONFIGURATION) ||
            !is(living[i], key, status == LARDER_OK ? text_of(i) : NULL)) {
            fprintf(stderr, "  %u: %s\n", i, larder_status_name(status));
            return false;
        }
    }
    return true;
}

static void come_as_eighth(void *with) {
    lard_crash_count = 0;
    lard_crash_at = *(unsigned long *)with;
    larder *mine = open_as(100);
    CHILD_CHECK(mine && larder_attach(mine, LONGEST_MS, NULL) == LARDER_OK);
    lard_crash_at = 0;
    *stores = lard_crash_count;
    CHILD_CHECK(set(mine, "key 1", "of 100") == LARDER_OK && is(mine, "key 1", "of 100"));
    _exit(0);
}

static void finds_no_other(larder *mine, const char *own) {
    for (unsigned i = 1; i <= ROWS; i++) {
        char key[16];
        snprintf(key, sizeof key, "key %u", i);
        const char *have = get(mine, key);
        CHILD_CHECK(!have || (own && strcmp(have, own) == 0));
    }
}

/* The next process is of the killed one's configuration, or of another one. */
static void come_next(void *with) {
    bool as_killed = *(bool *)with;
    larder *first = open_as(as_killed ? 100 : 200);
    finds_no_other(first, as_killed ? "of 100" : NULL);
    larder *second = open_as(as_killed ? 200 : 100), *next = as_killed ? second : first;
    finds_no_other(second, as_killed ? NULL : "of 100");
    CHILD_CHECK(set(next, "next", "of 200") == LARDER_OK && is(next, "next", "of 200") && sound(next));
    larder_close(first);
    larder_close(second);
}

static bool begin(void) {
    unsigned stored;
    unlink(test_path("t.larder"));
    bool opened = true;
    for (unsigned i = 1; i <= ROWS; i++) {
        opened = (living[i] = open_as(i)) && opened;
    }
    return opened && living_are_apart(&stored) && stored == ROWS;
}

static void killed_at_each_store(void) {
    bool done = false;
    stores = shared_memory(sizeof *stores);
    for (unsigned long round = 2; !done; round++) {
        unsigned long at = round / 2;
        bool as_killed = round % 2;
        unsigned stored;
        CHECK(begin(), "before store %lu", at);
        pid_t child = fork_child();
        if (child == 0) {
            come_as_eighth(&at);
        }
        int status = wait_within(child, LONGEST_MS);
        done = WIFEXITED(status);
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        CHECK(status != -1 && (done ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL), "store %lu", at);
        CHECK(living_are_apart(&stored), "after store %lu", at);
        CHECK(in_child(come_next, &as_killed) && living_are_apart(&stored), "after store %lu", at);
        CHECK(stored >= ROWS - 2, "%u have a row after store %lu", stored, at);
        for (unsigned i = 1; i <= ROWS; i++) {
            larder_close(living[i]);
        }
    }
    CHECK(killed >= 2 * *stores && killed > 4 * ROWS, "%lu killed, %lu stores", killed, *stores);
    printf("@ %lu processes killed while they cleared the file for a configuration\n", killed);
}

static const test_case tests[] = {
    TEST(killed_at_each_store,
         "a process killed while it frees the rows leaves no value to another configuration"),
};
RUN("configuration crash points", tests)
