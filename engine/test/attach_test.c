/* attach_test.c — files removed or replaced by hand under a process, and descriptors closed by its host. */
#include "attached.h"

#include <limits.h>
#include <sys/resource.h>

static bool within(int ms, bool (*holds)(larder *), larder *cache) {
    for (int waited = 0; waited < ms; waited += 20) {
        if (holds(cache)) {
            return true;
        }
        usleep(20000);
    }
    return false;
}

static char lock_file[400];
static void remove_by_hand(bool lock_too) {
    snprintf(lock_file, sizeof lock_file, "%s", test_path("t.larder.lock"));
    unlink(test_path("t.larder"));
    if (lock_too) {
        unlink(lock_file);
    }
}

static bool sees_the_others_value(larder *cache) {
    set(cache, "mine", "m");
    return is(cache, "theirs", "t");
}

static void one_after_removal(bool lock_too) {
    int go[2], done[2];
    char byte;
    CHECK(pipe(go) == 0 && pipe(done) == 0);
    larder *cache = open_cache(1 << 20);
    CHECK(set(cache, "old", "value") == LARDER_OK);
    remove_by_hand(lock_too);
    pid_t other = fork();
    if (other == 0) { /* a process of its own: it opens the path afresh */
        larder_close(cache);
        larder *fresh = open_cache(1 << 20);
        CHILD_CHECK(fresh && is(fresh, "old", NULL) && set(fresh, "theirs", "t") == LARDER_OK);
        CHILD_CHECK(write(done[1], "x", 1) == 1 && read(go[0], &byte, 1) == 1);
        CHILD_CHECK(is(fresh, "theirs", NULL));
        larder_close(fresh);
        _exit(0);
    }
    CHECK(read(done[0], &byte, 1) == 1);
    CHECK(within(5000, sees_the_others_value, cache));
    CHECK(larder_delete(cache, "theirs", 6, NULL) == LARDER_OK, "and its deletes are seen");
    CHECK(write(go[1], "x", 1) == 1);
    int status = wait_for(other);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(sound(cache));
    larder_close(cache);
    close(go[0]), close(go[1]), close(done[0]), close(done[1]);
}

static void the_file_removed(void) { one_after_removal(false); }
static void both_files_removed(void) { one_after_removal(true); }

static void a_closed_descriptor(void) {
    larder *cache = open_cache(1 << 20);
    char stranger[400], content[16384];
    CHECK(set(cache, "k", "v") == LARDER_OK);
    int fd = cache->core->map->fd;
    close(fd);
    snprintf(stranger, sizeof stranger, "%s", test_path("stranger"));
    int other = open(stranger, O_RDWR | O_CREAT, 0600);
    memset(content, 's', sizeof content);
    CHECK(other == fd && write(other, content, sizeof content) == sizeof content);
    CHECK(truncate(test_path("t.larder"), 0) == 0);
    get(cache, "k");
    set(cache, "k", "w");
    CHECK(pread(other, content, sizeof content, 0) == sizeof content);
    for (size_t i = 0; i < sizeof content; i++) {
        CHECK(content[i] == 's', "byte %zu of the stranger's file", i);
    }
    larder_close(cache);
    CHECK(fcntl(other, F_GETFD) >= 0, "the stranger's descriptor is not closed either");
    close(other);
}

static void another_sees_it_alive(void *unused) {
    (void)unused;
    CHILD_CHECK(is(shared_cache, "k", "w"));
    CHILD_CHECK(lard_process_alive(shared_cache->core, shared_cache->core->map, note->words[0]));
}

static int stranger_in_place_of(int fd) {
    char path[400];
    snprintf(path, sizeof path, "%s", test_path("stranger"));
    close(fd);
    int other = open(path, O_RDWR | O_CREAT, 0600);
    return other == fd ? other : -1;
}

static bool is_untouched(int stranger) {
    struct stat info;
    return fstat(stranger, &info) == 0 && info.st_size == 0;
}

/* A write to the new file would be one to the stranger's. */
static void a_closed_lock_descriptor(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    int other = stranger_in_place_of(shared_cache->core->lock.fd);
    CHECK(other >= 0);
    lard_map_supersede(shared_cache->core->map);
    CHECK(set(shared_cache, "k", "w") == LARDER_OK && is_untouched(other));
    write_down(0);
    CHECK(in_child(another_sees_it_alive, NULL));
    larder_close(shared_cache);
    CHECK(is_untouched(other));
    shared_cache = open_cache(1 << 20);
    CHECK(is(shared_cache, "k", "w"));
    end();
    close(other);
}

/* A host that has opened its own file under the number of a lost descriptor does not hold a slot with it. */
static void a_child_that_closed_descriptors(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        int map_fd = shared_cache->core->map->fd;
        int other = stranger_in_place_of(shared_cache->core->lock.fd);
        CHILD_CHECK(other >= 0 && close(map_fd) == 0);
        CHILD_CHECK(is(shared_cache, "k", "v") && set(shared_cache, "k", "of the child") == LARDER_OK);
        CHILD_CHECK(is_untouched(other));
        write_down(0);
        advance(&note->stage);
        CHILD_CHECK(await(&note->stage, 2));
        larder_close(shared_cache);
        CHILD_CHECK(is_untouched(other));
        _exit(0);
    }
    CHECK(await(&note->stage, 1));
    CHECK(lard_process_alive(shared_cache->core, shared_cache->core->map, note->words[0]));
    CHECK(is(shared_cache, "k", "of the child") && process_count_is(shared_cache, 2));
    advance(&note->stage);
    CHECK(exited_well(pid));
    CHECK(process_count_is(shared_cache, 1));
    end();
}

static void a_closed_descriptor_at_the_end(void) {
    begin(1 << 20);
    CHECK(set(shared_cache, "k", "v") == LARDER_OK);
    int other = stranger_in_place_of(shared_cache->core->lock.fd);
    CHECK(other >= 0);
    end();
    CHECK(is_untouched(other), "the stranger's descriptor is not closed");
    close(other);
}

static bool mine_is_stored(larder *cache) {
    for (int i = 0; i < 1000; i++) { /* a process that is busy all the time */
        get(cache, "mine");
    }
    return set(cache, "mine", "m") == LARDER_OK && is(cache, "mine", "m");
}

static void an_attachment_that_failed(void) {
    struct rlimit limit, none;
    larder *cache = open_cache(1 << 20);
    CHECK(set(cache, "old", "value") == LARDER_OK && getrlimit(RLIMIT_NOFILE, &limit) == 0);
    remove_by_hand(false);
    usleep(250000);
    none = limit;
    none.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    larder_status status = set(cache, "mine", "m");
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(status == LARDER_SUPERSEDED && is(cache, "old", NULL), "%s", larder_status_name(status));
    CHECK(within(5000, mine_is_stored, cache), "calls in between put the next attempt off");
    larder_close(cache);
}

/* From now on this process opens no file; false under valgrind, which counts descriptors by itself. */
static bool limit_descriptors(struct rlimit *before) {
    bool set = getrlimit(RLIMIT_NOFILE, before) == 0;
    struct rlimit limit = *before;
    limit.rlim_cur = 0;
    set = set && setrlimit(RLIMIT_NOFILE, &limit) == 0;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        close(fd);
    }
    return set && fd < 0;
}

/* The slots are free: that is not the reason. */
static void a_child_without_descriptors(void *arg) {
    larder *cache = arg;
    larder_error error;
    struct rlimit before;
    if (!limit_descriptors(&before)) {
        printf("  skipped: %s: descriptors cannot be limited here\n", test_name);
        fflush(stdout);
        _exit(0);
    }
    CHILD_CHECK(set(cache, "k", "v") == LARDER_SYSTEM);
    CHILD_CHECK(larder_last_failure(cache, &error) == LARDER_SYSTEM && error.system_errno == EMFILE);
    CHILD_CHECK(strstr(error.detail, "t.larder.lock") != NULL);
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0 && larder_attach(cache, 1000, NULL) == LARDER_OK);
}

static void why_an_attachment_failed(void) {
    larder *cache = open_cache(1 << 20);
    larder_error error;
    CHECK(set(cache, "k", "v") == LARDER_OK && larder_last_failure(cache, &error) == LARDER_OK);
    CHECK(in_child(a_child_without_descriptors, cache) && is(cache, "k", NULL),
          "a refused store leaves no old value after the process has attached");
    larder_close(cache);
}

/* Ten calls in a row wait for it once. */
static void a_stopped_opener(void) {
    uint32_t *stage = shared_memory(sizeof *stage);
    larder *cache = open_cache(1 << 20);
    CHECK(set(cache, "k", "v") == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        char lock[LARD_LOCK_PATH_MAX];
        lard_bytelock opener;
        lard_lockfile_path(cache->core->path, lock);
        CHILD_CHECK(lard_opener_lock(&cache->core->lock, lock, 1000, &opener, NULL) == LARDER_OK);
        advance(stage);
        CHILD_CHECK(await(stage, 2));
        _exit(0);
    }
    CHECK(await(stage, 1));
    lard_map_supersede(cache->core->map);
    int64_t start = now_us();
    for (int i = 0; i < 10; i++) {
        CHECK(is(cache, "k", NULL));
    }
    int64_t took_ms = (now_us() - start) / 1000;
    CHECK(took_ms < 1900, "%lld ms", (long long)took_ms);
    advance(stage);
    CHECK(exited_well(pid));
    CHECK(within(5000, mine_is_stored, cache));
    larder_close(cache);
    munmap(stage, sizeof *stage);
}

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void a_file_removed_again_and_again(void) {
    larder *cache = open_cache(1 << 20);
    int before = open_descriptors();
    for (int i = 0; i < 1100; i++) { /* more than the engine guards maps */
        remove_by_hand(i % 10 == 0);
        lard_map_supersede(cache->core->map); /* as if 200 ms had passed */
        CHECK(set(cache, "k", "v") == LARDER_OK && is(cache, "k", "v"), "file %d", i);
    }
    CHECK(open_descriptors() < before + 10, "%d descriptors, %d in the end", before, open_descriptors());
    larder_close(cache);
    CHECK(open_descriptors() == before - 2);
}

static const test_case tests[] = {
    TEST(the_file_removed, "processes meet again after the file was removed by hand"),
    TEST(a_file_removed_again_and_again,
         "a host that removes the file a thousand times keeps its descriptors, and the cache"),
    TEST(both_files_removed, "processes meet again after file and lock file were removed by hand"),
    TEST(an_attachment_that_failed, "a busy process that could not attach tries again within a second or so"),
    TEST(why_an_attachment_failed, "a child that cannot attach says why"),
    TEST(a_stopped_opener, "calls wait for another opener once, not each"),
    TEST(a_closed_lock_descriptor, "a host that closed our lock file keeps its own file unharmed, and the cache"),
    TEST(a_closed_descriptor_at_the_end,
         "a host that closed our lock file keeps the descriptor that it has since"),
    TEST(a_child_that_closed_descriptors, "a daemon that closed all descriptors attaches anew"),
    TEST(a_closed_descriptor, "a host that closed our descriptor keeps its own file unharmed"),
};
RUN("attach", tests)
