/*
 * environment_copies.c — copies of a cache, made at any time and put back in every way that people use: what was
 * deleted or overwritten since does not come back.
 */
#include "environment.h"

typedef enum { WHILE_IN_USE, AFTER_CLOSE, AFTER_KILL, COPY_TIMES } copy_time;
typedef enum { IN_USE, CLOSED, KILLED, ENDS } end_of_use;

static const char *const copy_names[] = {"while in use", "after a close", "after a kill"};
static const char *const end_names[] = {"still in use", "closed", "killed"};

/* A shell line: $D the cache's directory, $B the backup's. */
typedef struct {
    const char *name, *line;
    bool not_in_use; /* it changes bytes under those who have them mapped: nobody can notice that */
    bool not_killed; /* and these of a file that was not closed are the same bytes with the same names */
} way;

static const way ways[] = {
    {"cp after rm", "rm $D/t.larder && cp $B/t.larder $D/t.larder", false, false},
    {"cp -p after rm", "rm $D/t.larder && cp -p $B/t.larder $D/t.larder", false, false},
    {"mv", "mv $B/t.larder $D/t.larder", false, false},
    {"cp beside, then rename", "cp -p $B/t.larder $D/.t.larder.Xy1 && mv $D/.t.larder.Xy1 $D/t.larder", false,
     false},
    {"tar -x", "tar -C $B -cf $B/all.tar t.larder && tar -C $D -xpf $B/all.tar", false, false},
    {"cp with the lock file", "rm $D/t.larder $D/t.larder.lock && cp -p $B/t.larder $B/t.larder.lock $D", false,
     false},
    {"mv with the lock file", "mv $B/t.larder $B/t.larder.lock $D", false, false},
    {"tar -x with the lock file", "tar -C $B -cf $B/all.tar t.larder t.larder.lock && tar -C $D -xpf $B/all.tar",
     false, false},
    {"the directory moved", "mv $D $D-away && cp -a $B $D && rm -rf $D-away", false, false},
    {"the directory renamed back", "mv $D $D-away && mv $B $D && rm -rf $D-away", false, false},
    {"cp over it", "cp $B/t.larder $D/t.larder", true, true},
    {"the lock file alone", "mv $B/t.larder.lock $D/t.larder.lock", false, false},
    {"sparse", "rm $D/t.larder && cp --sparse=always $B/t.larder $D/t.larder", false, false},
    {"a hard link beside", "rm $D/t.larder && ln $B/t.larder $D/t.larder", false, false},
    {"the path through a link", "mv $D $D-away && cp -a $B $D-old && ln -s $D-old $D && rm -rf $D-away", false,
     false},
};

typedef struct {
    uint32_t steps, stop;
} signals;
static signals *with_user;
static unsigned long tried;

static const char *path(void) { return in_directory("data/t.larder"); }

static bool shell(const char *line) {
    return run("D=%s; B=%s; %s", in_directory("data"), in_directory("backup"), line);
}

static void store_all(larder *cache) {
    for (int key = 0; key < KEYS; key++) {
        store_own(cache, 0, key);
        count_own(cache, 0, key % COUNTERS);
    }
}

/* What the copy must not bring back. */
static void change_all(larder *cache) {
    for (int key = 0; key < KEYS; key++) {
        key % 2 ? delete_own(cache, 0, key) : (void)store_own(cache, 0, key);
        count_own(cache, 0, key % COUNTERS);
    }
}

static larder *open_or_die(void) {
    larder *cache = open_at(path(), SIZE);
    if (!cache) {
        fprintf(stderr, "  %s\n", failure.detail);
        _exit(1);
    }
    return cache;
}

static void leave(larder *cache, end_of_use end) {
    if (end == CLOSED) {
        larder_close(cache);
    } else if (end == IN_USE) {
        for (uint64_t state = 3; !READ(with_user->stop);) {
            int key = (int)(next_random(&state) % KEYS);
            key % 2 ? delete_own(cache, 0, key) : (void)store_own(cache, 0, key);
            look_up(cache, 0, (int)(next_random(&state) % KEYS));
            sleep_us(200);
        }
        larder_close(cache);
    }
    _exit(0);
}

static pid_t use(copy_time copy, end_of_use end, bool first) {
    pid_t pid = fork_child();
    if (pid == 0) {
        larder *cache = open_or_die();
        if (first) {
            store_all(cache);
            advance(&with_user->steps);
            if (copy != WHILE_IN_USE) {
                leave(cache, copy == AFTER_CLOSE ? CLOSED : KILLED);
            }
            CHILD_CHECK(await(&with_user->steps, 2)); /* until the copy is made */
        }
        change_all(cache);
        advance(&with_user->steps);
        leave(cache, end);
    }
    return pid;
}

static bool go(copy_time copy, end_of_use end, const way *way) {
    pid_t user = use(copy, end, true);
    bool made = await(&with_user->steps, 1) && (copy == WHILE_IN_USE || exited_well(user)) &&
                shell("mkdir -p $B && cp -p $D/t.larder $D/t.larder.lock $B");
    advance(&with_user->steps);
    if (made && copy != WHILE_IN_USE) {
        user = use(copy, end, false);
    }
    made = made && await(&with_user->steps, 3) && (end == IN_USE || exited_well(user)) && shell(way->line);
    for (int again = 0; made && again < 3; again++) { /* some come, look, and leave */
        pid_t pid = fork_child();
        if (pid == 0) {
            larder *cache = open_or_die();
            bool good = book_holds(cache) && sound(cache);
            larder_close(cache);
            _exit(good ? 0 : 1);
        }
        made = exited_well(pid);
        sleep_us(end == IN_USE ? 100000 : 0);
    }
    NOTE(with_user->stop, 1);
    made = (end != IN_USE || exited_well(user)) && made;
    return made && READ(book->wrong) == 0;
}

static void put_back(void) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        for (int copy = 0; copy < COPY_TIMES; copy++) {
            for (int end = 0; end < ENDS; end++) {
                if ((ways[i].not_in_use && end == IN_USE) || (ways[i].not_killed && end == KILLED)) {
                    continue;
                }
                if (!is_full_run() && ((int)i + copy + end) % 3 != 0) {
                    continue;
                }
                open_book();
                with_user = shared_memory(sizeof *with_user);
                bool good = go((copy_time)copy, (end_of_use)end, &ways[i]);
                if (!good) {
                    fprintf(stderr, "  %s; copied %s, then %s: %s\n", ways[i].name, copy_names[copy],
                            end_names[end], book->first);
                    test_failures++;
                }
                tried++;
                close_book();
                munmap(with_user, sizeof *with_user);
                run("rm -rf %s/*", test_directory);
            }
        }
    }
    count_of(sizeof ways / sizeof *ways, "ways to put a copy back");
    count_of(tried, "copies put back, of which none answered what was deleted");
}

static const test_case tests[] = {
    TEST(put_back, "a copy that is put back brings nothing deleted back"),
};
RUN("environment: copies", tests)
