/*
 * unattached.h — a process that has a map of the file but no process slot, and others that hold the opener's lock
 * or resize the file.
 */
#ifndef LARD_UNATTACHED_TEST_H
#define LARD_UNATTACHED_TEST_H

#include "attached.h"

#include "places.h"

#include <limits.h>
#include <sys/time.h>

static const larder_tag tags[] = {{"red", 3}, {"round", 5}};

/* Calls do not attach by themselves, so that no test waits for that. */
static inline void begin_explicitly(uint64_t size_bytes) {
    larder_error error;
    larder_options options = {.size_bytes = size_bytes, .lock_timeout_ms = 20, .attach_later = 1};
    note = shared_memory(sizeof *note);
    if (larder_open(test_path("t.larder"), &options, &shared_cache, &error) != LARDER_OK ||
        larder_attach(shared_cache, 1000, &error) != LARDER_OK) {
        fprintf(stderr, "  open: %s\n", error.detail);
    }
}

static inline larder_status put(const char *key, const char *value, int64_t ttl_ms, const larder_tag *tag) {
    larder_extra extra = {.tags = tag, .tag_count = tag != NULL};
    larder_store store = {.key = key,
                          .key_bytes = strlen(key),
                          .value = value,
                          .value_bytes = strlen(value),
                          .ttl_ms = ttl_ms,
                          .extra = &extra};
    return larder_set(shared_cache, &store, NULL);
}

static inline larder_status delete_key(const char *key) {
    return larder_delete(shared_cache, key, strlen(key), NULL);
}

static inline bool is_refusal(larder_status status) {
    return status == LARDER_LOCKED || status == LARDER_SUPERSEDED || status == LARDER_NO_SLOT;
}

static lard_lockfile lockfile;
static lard_bytelock opener;

static inline bool hold_the_opener(void) {
    char lock[LARD_LOCK_PATH_MAX];
    lard_lockfile_path(test_path("t.larder"), lock);
    return lard_lockfile_open(lock, &lockfile, NULL) == LARDER_OK &&
           lard_opener_lock(&lockfile, lock, 1000, &opener, NULL) == LARDER_OK;
}

static inline void release_the_opener(void) {
    lard_bytelock_drop(&opener, &lockfile);
    lard_lockfile_close(&lockfile);
}

static char beside[PATH_MAX];

/* Called by a timer of the time that this process computes, so the copying cannot end first on a busy machine. The
 * timer may call it once more before it is off. */
static inline void stop_while_it_copies(int number) {
    static bool has_stopped_once;
    struct stat info;
    if (!has_stopped_once && stat(beside, &info) == 0) {
        has_stopped_once = true;
        setitimer(ITIMER_VIRTUAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
        kill(getpid(), SIGSTOP);
    }
    (void)number;
}

static inline void resize_it(uint64_t size_bytes, uint32_t keep) {
    snprintf(beside, sizeof beside, "%s", test_path("t.larder.resize"));
    CHILD_CHECK(larder_attach(shared_cache, 1000, NULL) == LARDER_OK);
    struct sigaction action = {.sa_handler = stop_while_it_copies, .sa_flags = SA_RESTART};
    CHILD_CHECK(sigaction(SIGVTALRM, &action, NULL) == 0);
    CHILD_CHECK(setitimer(ITIMER_VIRTUAL, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL) == 0);
    CHILD_CHECK(larder_resize(shared_cache, size_bytes, keep, NULL) == LARDER_OK);
    larder_close(shared_cache);
}

#endif
