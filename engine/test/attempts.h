/*
 * attempts.h — repeats a scenario, and lets another system or library call of the engine fail each time (calls.h).
 *
 * Each attempt runs in a process that has never used the engine. Afterwards calls work again, and another process,
 * then the same one, must find everything in order.
 */
#ifndef LARD_ATTEMPTS_H
#define LARD_ATTEMPTS_H

#include "choice.h"

#include <dirent.h>
#include <poll.h>

enum { SURVIVE_ALL, MAY_FORGET, MUST_FORGET };
enum { SIZE = 1 << 20, SURVIVORS = 8, LARGE = 20000, ATTACHMENTS = 4 };

typedef struct {
    const char *name;
    void (*files)(void);  /* in a process of its own: what stands in the directory before; may be NULL */
    void (*before)(void); /* in the process that acts, with calls that work; may be NULL */
    void (*act)(void);    /* with failing calls */
    void (*after)(void);  /* with working ones; may be NULL */
    int values;           /* those of before: SURVIVE_ALL, unless more than one call failed */
    bool for_good;        /* only calls that go on failing */
    bool foreign;         /* the file is not Larder's, and stays as it is */
    bool may_die;         /* of SIGBUS, where the handler cannot have zeros, nor a page of them */
} scenario;

static const char *cache_path;
static larder *cache;
static larder_status status;
static larder_error failure;
static unsigned long runs[WAYS], calls_seen, calls_failed, scenarios_played;

#define MUST(condition)                                                                                 \
    do {                                                                                                \
        if (!(condition)) {                                                                             \
            fprintf(stderr, "  %s:%d: %s not true (status %s, '%s')\n", __FILE__, __LINE__, #condition, \
                    larder_status_name(status), failure.detail);                                        \
            _exit(1);                                                                                   \
        }                                                                                               \
    } while (0)

static larder_status open_at(const char *path) {
    larder_options options = {.size_bytes = SIZE, .lock_timeout_ms = 20};
    cache = NULL;
    status = larder_open(path, &options, &cache, &failure);
    return status;
}

static size_t survivor_bytes(int i) { return i == 0 ? LARGE : 104; }

/* Values that were stored before anything failed. */
static void store_survivors(void) {
    static unsigned char value[LARGE];
    char key[32];
    int64_t number;
    for (int i = 0; i < SURVIVORS; i++) {
        snprintf(key, sizeof key, "survivor %d", i);
        describe(value, survivor_bytes(i), (uint64_t)i, 1);
        MUST(set_bytes(cache, key, value, survivor_bytes(i), 0) == LARDER_OK);
    }
    MUST(set(cache, "gone", "deleted") == LARDER_OK && larder_delete(cache, "gone", 4, NULL) == LARDER_OK);
    MUST(larder_increment(cache, "count", 5, 7, 0, 0, &number, NULL) == LARDER_OK && number == 7);
}

/* How many of them are there; each is right or missing, and what was deleted is missing. */
static int count_survivors(void) {
    static unsigned char want[LARGE], have[LARGE];
    char key[32];
    int found = 0;
    larder_item item;
    for (int i = 0; i < SURVIVORS; i++) {
        snprintf(key, sizeof key, "survivor %d", i);
        describe(want, survivor_bytes(i), (uint64_t)i, 1);
        larder_status got = larder_get(cache, key, strlen(key), have, sizeof have, &item, NULL);
        MUST(got == LARDER_MISS || (got == LARDER_OK && item.size_bytes == survivor_bytes(i) &&
                                    memcmp(have, want, item.size_bytes) == 0));
        found += got == LARDER_OK;
    }
    MUST(is(cache, "gone", NULL) && (is(cache, "count", NULL) || is(cache, "count", "7")));
    return found;
}

static inline void clean_file(void) {
    MUST(open_at(cache_path) == LARDER_OK);
    store_survivors();
    larder_close(cache);
}

static inline void file_of_killed_users(void) {
    MUST(open_at(cache_path) == LARDER_OK);
    store_survivors();
}

static bool failed_at(int kind) { return plan->failed && plan->failed_of[kind]; }

static int entries(const char *directory, bool (*allowed)(const char *)) {
    DIR *stream = opendir(directory);
    int count = 0;
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        if (entry->d_name[0] != '.') {
            count++;
            MUST(!allowed || allowed(entry->d_name));
        }
    }
    closedir(stream);
    return count;
}

static bool belongs_there(const char *name) {
    return strcmp(name, "t.larder") == 0 || strcmp(name, "t.larder.lock") == 0;
}

static int mappings(void) {
    char line[1000];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        count += strstr(line, test_directory) != NULL;
    }
    fclose(maps);
    return count;
}

/* Nothing is left of closed handles: descriptors, mappings, memory, files. */
static void look_for_leaks(int descriptors, long memory) {
    char directory[600];
    struct stat info;
    snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(cache_path, '/') - cache_path), cache_path);
    int left = entries("/proc/self/fd", NULL) - descriptors;
    bool is_unknown = failed_at(CALL_fstat) || failed_at(CALL_stat); /* whether it was still the file's */
    int most = !is_unknown ? 0 : plan->way == FOR_GOOD ? 8 * ATTACHMENTS : 2;
    MUST(left >= 0 && left <= most);
    MUST(mappings() == 0 || failed_at(CALL_munmap));
    MUST(blocks == memory);
    if (stat(directory, &info) == 0) {
        entries(directory, belongs_there);
    }
}

/* A process beside the one that acts. It is told to go on by the second stage. */
static uint32_t *meanwhile;
static pid_t companion;

static inline void begin_meanwhile(void (*what)(void)) {
    companion = fork_child();
    if (companion == 0) {
        what();
        _exit(0);
    }
    MUST(await(meanwhile, 1));
}

static void end_meanwhile(void) {
    if (companion) {
        advance(meanwhile);
        MUST(exited_well(companion));
    }
}

static int to_driver, from_driver;

static void let_others_look(void) {
    char byte = 'a';
    MUST(write(to_driver, &byte, 1) == 1 && read(from_driver, &byte, 1) == 1);
}

/* Not to wait for the time of the next attempt, or of the next look at the path. */
static void hurry(void) {
    cache->core->retry_attach_ms = 0;
    cache->core->next_look_ms = 0;
}

/* In the process whose calls fail. */
static void play(const scenario *scene) {
    int descriptors = entries("/proc/self/fd", NULL);
    long memory = blocks;
    if (scene->before) {
        scene->before();
    }
    begin_places();
    armed = true;
    scene->act();
    armed = false;
    if (scene->after) {
        scene->after();
    }
    if (cache) {
        hurry();
        count_survivors();
    }
    let_others_look();
    end_meanwhile();
    if (cache) {
        hurry();
        larder_delete(cache, "nothing", 7, NULL); /* looks whether the file is still the one */
        MUST(is(cache, "of the neighbour", "neighbour"));
        MUST(set(cache, "of this one", "this one") == LARDER_OK && is(cache, "of this one", "this one"));
        larder_close(cache);
        cache = NULL;
    }
    look_for_leaks(descriptors, memory);
    if (!scene->foreign) {
        MUST(open_at(cache_path) == LARDER_OK && cache);
        MUST(is(cache, "of the neighbour", "neighbour") && set(cache, "again", "again") == LARDER_OK);
        count_survivors();
        MUST(is(cache, "again", "again") && sound(cache));
        larder_close(cache);
        look_for_leaks(descriptors, memory);
    }
    _exit(0);
}

/* In another process, while the one whose calls failed is still there. */
static void look_from_outside(const scenario *scene) {
    open_at(cache_path);
    if (scene->foreign) {
        MUST(status == LARDER_NOT_LARDER && !cache);
        _exit(0);
    }
    MUST(status == LARDER_OK && cache);
    int found = count_survivors();
    MUST(found == 0 || scene->values != MUST_FORGET);
    MUST(set(cache, "of the neighbour", "neighbour") == LARDER_OK && is(cache, "of the neighbour", "neighbour"));
    MUST(sound(cache));
    larder_close(cache);
    _exit(scene->values == SURVIVE_ALL && found < SURVIVORS ? 3 : 0);
}

/* What another process finds: 0, 3 where values are missing, or -1. */
static int found_outside(const scenario *scene) {
    pid_t neighbour = fork_child();
    if (neighbour == 0) {
        look_from_outside(scene);
    }
    int end = wait_within(neighbour, LONGEST_MS);
    int answer = end != -1 && WIFEXITED(end) ? WEXITSTATUS(end) : -1;
    return answer == 0 || answer == 3 ? answer : -1;
}

static bool made_files(const scenario *scene) {
    pid_t maker = fork_child();
    if (maker == 0) {
        if (scene->files) {
            scene->files();
        }
        _exit(0);
    }
    return exited_well(maker);
}

static void empty_directory(void) {
    DIR *directory = opendir(test_directory);
    char path[600];
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        snprintf(path, sizeof path, "%s/%s", test_directory, entry->d_name);
        if (entry->d_name[0] != '.' && unlink(path) != 0) {
            snprintf(path, sizeof path, "rm -rf '%s/%s'", test_directory, entry->d_name);
            if (system(path) != 0) {
                fprintf(stderr, "  %s\n", path);
            }
        }
    }
    closedir(directory);
}

static bool said_something(int fd) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    char byte;
    return poll(&wait, 1, LONGEST_MS) == 1 && read(fd, &byte, 1) == 1;
}

/* One failing call costs no values, unless it is the one that tells the boot, or brings them to the disk: then a
 * crash of the machine may have torn them, or may do so. */
static bool may_cost_values(const scenario *scene) {
    return scene->values != SURVIVE_ALL || plan->way != ONCE || plan->failed_kind == CALL_msync ||
           (plan->failed_kind == CALL_open && plan->code == EACCES);
}

static bool died_as_it_may(const scenario *scene, pid_t actor) {
    int end = wait_within(actor, LONGEST_MS);
    return scene->may_die && plan->way != ONCE && end != -1 && WIFSIGNALED(end) && WTERMSIG(end) == SIGBUS &&
           failed_at(CALL_mmap);
}

/* Lets the call of number `at` fail. Answers whether everything held. */
static bool attempt(const scenario *scene, unsigned long at, int code, int way) {
    int up[2], down[2];
    empty_directory();
    memset(plan, 0, sizeof *plan);
    *meanwhile = 0;
    plan->at = at, plan->code = code, plan->way = way;
    if (!made_files(scene) || pipe(up) != 0 || pipe(down) != 0) {
        return false;
    }
    pid_t actor = fork_child();
    if (actor == 0) {
        close(up[0]), close(down[1]);
        to_driver = up[1], from_driver = down[0];
        play(scene);
    }
    close(up[1]), close(down[0]);
    bool acted = said_something(up[0]);
    bool good = acted || died_as_it_may(scene, actor);
    int outside = good ? found_outside(scene) : -1;
    good = outside == 0 || (outside == 3 && may_cost_values(scene));
    if (acted) {
        good = write(down[1], "", 1) == 1 && exited_well(actor) && good;
    }
    close(up[0]), close(down[1]);
    return good;
}

static const char *said(int code) {
    return code == PART ? "a part" : code == NOTHING ? "nothing" : code ? strerrorname_np(code) : "success";
}

/* Plays the scenario with each failure that choice.h chooses for the call of number `at`. */
static void play_call(const scenario *scene, const call_list *calls, unsigned long at) {
    static const char *const ways[] = {"once", "and the next call", "for good"};
    choices how = {.only_for_good = scene->for_good};
    choose(calls, at, &how);
    calls_failed += how.count > 0;
    for (int i = 0; i < how.count; i++) {
        int code = how.list[i].code, way = how.list[i].way;
        if (!attempt(scene, at, code, way)) {
            fprintf(stderr, "  %s: call %lu of %lu, %s, answers %s, %s\n", scene->name, at, calls->count,
                    kinds[calls->kind[at]].name, said(code), ways[way]);
            test_failures++;
        }
        runs[way] += plan->failed > 0;
    }
}

static void play_all(const scenario *scene) {
    static call_list calls;
    CHECK(attempt(scene, 0, 0, ONCE), "%s, with no failing call", scene->name);
    CHECK(plan->calls.count > 0 && plan->calls.count < MOST_CALLS, "%s: %lu calls", scene->name,
          plan->calls.count);
    CHECK(places_known + plan->calls.count < MOST_PLACES);
    calls = plan->calls;
    for (unsigned long at = 1; at <= calls.count; at++) {
        play_call(scene, &calls, at);
    }
    calls_seen += calls.count;
    scenarios_played++;
}

static void begin_attempts(const char *name) {
    static char path[600];
    plan = plan ? plan : shared_memory(sizeof *plan);
    meanwhile = meanwhile ? meanwhile : shared_memory(sizeof *meanwhile);
    snprintf(path, sizeof path, "%s/%s", test_directory, name);
    cache_path = path;
}

static void say_counts(void) {
    printf("@ %lu scenarios in which calls failed\n", scenarios_played);
    printf("@ %lu calls of system and library in them\n", calls_seen);
    printf("@ %lu of these calls that were let fail\n", calls_failed);
    printf("@ %lu places in the code that they are at\n", places_known);
    printf("@ %lu runs with one failing call\n", runs[ONCE]);
    printf("@ %lu runs with two failing calls in a row\n", runs[TWICE]);
    printf("@ %lu runs in which a call went on failing\n", runs[FOR_GOOD]);
}

#endif
