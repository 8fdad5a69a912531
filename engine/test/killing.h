/*
 * killing.h — runs an operation in a child that is killed at one of its stores, and checks what must hold then.
 *
 * subjects.h tells what must hold. The table of operations is in operations_*.h; the programs differ in where and
 * how often they kill. A run is the same each time, because the seed of the file's hash is fixed.
 */
#ifndef LARD_KILLING_H
#define LARD_KILLING_H

#include "subjects.h"

extern unsigned long lard_crash_at, lard_crash_count;

typedef struct {
    const char *name;
    content_kind before, after; /* of the subject; either is right after a kill */
    void (*act)(larder *cache, const char *key);
    void (*prepare)(larder *cache, const char *key); /* beside `before`; NULL: nothing */
    bool may_leave;                                  /* other items */
    bool all_or_none;                                /* of the bystanders may be there */
    bool unsound;                                    /* it works on a damaged shard, which verify would tell */
    bool miscounts;                                  /* it tells the shard that it has more or fewer items */
    bool is_long;                                    /* thousands of like stores */
    bool has_images;                                 /* its stores are to private memory, too */
    unsigned ring;                                   /* subjects, where not RING */
    uint64_t size_bytes;                             /* where not a mebibyte */
} operation;

typedef struct { /* over all operations of a program, in shared memory */
    unsigned long killed, stores, operations, repairs, checkpoints, held;
} tally;

static tally *sum;
static larder *cache;
static const operation *op;

static inline bool is_full(void) { return getenv("LARDER_CRASH_STRIDE") != NULL; }

/* LARDER_CRASH_STRIDE=1 takes every store; else runs of like stores are thinned out. */
static inline unsigned long next_point(unsigned long at) {
    const char *told = getenv("LARDER_CRASH_STRIDE");
    if (told) {
        return at + strtoul(told, NULL, 10);
    }
    return at + (op->is_long ? (at < 24 ? 1 : at < 240 ? 13 : 397) : at < 200 ? 1 : at < 1000 ? 29 : 331);
}

/* A new cache whose hash has a given seed. */
static inline larder *open_seeded(uint64_t size_bytes, uint64_t seed) {
    lard_superblock super;
    larder *fresh = open_cache(size_bytes);
    larder_close(fresh);
    int fd = open(test_path("t.larder"), O_RDWR);
    bool done = fresh && pread(fd, &super, sizeof super, 0) == (ssize_t)sizeof super;
    super.seed[0] = seed;
    super.seed[1] = ~seed;
    super.crc = lard_format_crc(&super);
    done = done && pwrite(fd, &super, sizeof super, 0) == (ssize_t)sizeof super &&
           pwrite(fd, &super, sizeof super, LARD_PAGE) == (ssize_t)sizeof super;
    close(fd);
    return done ? open_cache(size_bytes) : NULL;
}

static inline larder *reopened(void) {
    larder *again = open_cache(1 << 20);
    if (again) {
        again->core->lock_timeout_ms = 10000; /* a call must not be refused because the machine is busy */
    }
    return again;
}

/* The writers go on, within a bound that only a hang exceeds, and the file is sound. */
static inline bool writers_go_on(void) {
    char text[32];
    int64_t start = now_us();
    snprintf(text, sizeof text, "written %lu", book->round);
    larder_status status = set(cache, "afterwards", text);
    if (status != LARDER_OK || !is(cache, "afterwards", text) || now_us() - start > 20000000) {
        return is_wrong("round %lu: a store afterwards: %s", book->round, larder_status_name(status));
    }
    return op->unsound || sound(cache) || is_wrong("round %lu: the file is not sound", book->round);
}

/*
 * The shard knows how many items it has, but for one a death since the last repair, which counts anew. Of several
 * deaths in a row any but the first may have come after the last repair, in what needs no lock.
 */
static inline bool items_are_counted(void) {
    larder_report report;
    larder_stats stats;
    if (op->miscounts || op->unsound) {
        return true;
    }
    if (larder_verify(cache, &report) != LARDER_OK || larder_get_stats(cache, &stats) != LARDER_OK) {
        return is_wrong("round %lu: items cannot be counted", book->round);
    }
    int64_t deaths = book->in_a_row ? book->in_a_row : 1;
    book->uncounted = stats.repairs == book->repairs_seen ? book->uncounted + deaths : deaths - 1;
    book->repairs_seen = stats.repairs;
    int64_t more = (int64_t)(stats.items - report.items);
    return (more >= 0 ? more : -more) <= book->uncounted * MOST_DELETES ||
           is_wrong("round %lu: %lld items too many", book->round, (long long)more);
}

static inline content before(void) { return (content){op->before, book->round}; }
static inline content after(void) { return (content){op->after, book->round}; }

/* What others find who come before anybody has repaired what the dead one left: no wrong value. */
static inline bool readers_go_on(void) {
    const char *key = subject_key(current());
    const char *have = get(cache, key);
    bool right = !have || is(cache, key, text_of(before())) || is(cache, key, text_of(after()));
    if (!right) {
        return is_wrong("round %lu: before the repair %s reads '%.24s'", book->round, key, have);
    }
    return bystanders_found(cache, false) >= 0;
}

/* After the kill, or after the end (`done`). */
static inline bool everybody_goes_on(bool done) {
    if (!readers_go_on() || !writers_go_on() ||
        !settle_subject(cache, done ? after() : before(), after(), false) || !subjects_stand(cache, true) ||
        !items_are_counted()) {
        return false;
    }
    if (op->all_or_none) {
        int found = bystanders_found(cache, true);
        if (found != 0 && found != BYSTANDERS) {
            return is_wrong("round %lu: %d of %d bystanders outlived it", book->round, found, BYSTANDERS);
        }
    }
    return bystanders_stand(cache);
}

/* The subject goes its way, so that the next rounds meet deleted ones, overwritten ones and others. */
static inline bool dispose(void) {
    const char *key = subject_key(current());
    if (book->round % 4 == 1) {
        larder_delete(cache, key, strlen(key), NULL);
        book->subjects[current()] = (content){NOTHING, 0};
    } else if (book->round % 4 == 2) {
        content third = {THIRD, book->round};
        book->subjects[current()] = third;
        return set(cache, key, text_of(third)) == LARDER_OK || is_wrong("round %lu: not overwritten", book->round);
    }
    return true;
}

/* A process that was never attached: it opens the file by its path, looks at everything, writes and closes. */
static inline void look_afresh(void *with) {
    (void)with;
    larder *mine = reopened();
    CHILD_CHECK(mine && everything_stands(mine));
    CHILD_CHECK(set(mine, "from afresh", "written") == LARDER_OK && (op->unsound || sound(mine)));
    larder_close(mine);
}

static int door[2], answer[2];

/* Forks such processes on demand; made before the cache is opened, so that it has no handle of it. */
static inline pid_t start_visitors(void) {
    if (pipe(door) != 0 || pipe(answer) != 0) {
        return -1;
    }
    pid_t pid = fork_child();
    if (pid == 0) {
        uint8_t index;
        close(door[1]);
        while (read(door[0], &index, 1) == 1) {
            char well = in_child(look_afresh, NULL) ? 'y' : 'n';
            if (write(answer[1], &well, 1) != 1) {
                break;
            }
        }
        _exit(0);
    }
    close(door[0]);
    return pid;
}

static inline void end_visitors(pid_t pid) {
    close(door[1]);
    close(answer[0]);
    close(answer[1]);
    wait_for(pid);
}

static inline bool visited(void) {
    char well = 'n';
    return write(door[1], "", 1) == 1 && read(answer[0], &well, 1) == 1 && well == 'y';
}

/* Everything stands after further writes, for a process that attaches afresh, and after a clean close. */
static inline bool checkpoint(bool and_close) {
    char key[32];
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof key, "further %d", i);
        set(cache, key, "written");
    }
    sum->checkpoints++;
    if (!visited()) {
        return is_wrong("round %lu: one who attached afresh found it otherwise", book->round);
    }
    if (and_close) {
        larder_close(cache);
        cache = reopened();
        return (cache && everything_stands(cache)) || is_wrong("round %lu: not after a clean close", book->round);
    }
    return everything_stands(cache);
}

/* At the end: the index grows, then all that there is room for is pushed out. What is gone stays gone. */
static inline bool under_pressure(void) {
    char key[32];
    static char filler[2000];
    memset(filler, 'p', sizeof filler - 1);
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "growth %d", i);
        set(cache, key, "");
    }
    if (!everything_stands(cache)) {
        return false;
    }
    book->may_leave = true;
    for (uint64_t i = 0; i < 2 * larder_size(cache) / sizeof filler; i++) {
        snprintf(key, sizeof key, "pressure %d", (int)i);
        set(cache, key, filler);
    }
    return everything_stands(cache) && checkpoint(true);
}

static inline bool prepare_round(void) {
    book->round++;
    bool ready = bystanders_return(cache) && put(cache, before());
    if (op->prepare) {
        op->prepare(cache, subject_key(current()));
    }
    return ready || is_wrong("round %lu: could not be prepared", book->round);
}

/* Runs `body` in a child that is killed at its store number `at`: its wait status. */
static inline int killed_in(void (*body)(larder *, const char *), unsigned long at) {
    pid_t child = fork_child();
    if (child == 0) {
        lard_crash_count = 0;
        lard_crash_at = at;
        body(cache, subject_key(current()));
        sum->stores += lard_crash_count;
        _exit(0);
    }
    int status = wait_within(child, LONGEST_MS);
    sum->killed += status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    return status;
}

/* True where it ended by itself; *hung where neither that nor the kill came. */
static inline bool ended(int status, bool *hung) {
    *hung = status == -1 || (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) ||
            (WIFEXITED(status) && WEXITSTATUS(status) != 0);
    return status != -1 && WIFEXITED(status);
}

/* `each` does the rounds. */
static inline bool well_done(bool (*each)(void)) {
    for (int i = 0; i < BYSTANDERS; i++) {
        book->gone[i] = true; /* so far */
    }
    larder_stats stats;
    cache->core->lock_timeout_ms = 10000;
    if (!each() || !under_pressure() || larder_get_stats(cache, &stats) != LARDER_OK) {
        return false;
    }
    sum->repairs += stats.repairs;
    sum->operations++;
    return true;
}

static inline void with_operation(const operation *one, unsigned number, bool (*each)(void)) {
    char path[500];
    op = one;
    memset(book, 0, sizeof *book);
    book->may_leave = op->may_leave;
    book->ring = op->ring ? op->ring : RING;
    pid_t visitors = start_visitors();
    cache = open_seeded(op->size_bytes ? op->size_bytes : 1 << 20, number * 1000003u + 17);
    bool well = cache && visitors > 0 && well_done(each);
    larder_close(cache);
    end_visitors(visitors);
    unlink(test_path("t.larder"));
    snprintf(path, sizeof path, "%s.lock", test_path("t.larder"));
    unlink(path);
    CHECK(well, "%s: %s", op->name, book->wrong);
}

static inline void begin_tally(void) {
    sum = shared_memory(sizeof *sum);
    book = shared_memory(sizeof *book);
}

/* Takes the lease of a key, also over an old value. */
static inline larder_lease take_lease(larder *c, const char *key) {
    larder_lease lease = {{0, 0}, 0, 0, 0, 0};
    if (larder_lease_take(c, key, strlen(key), 1000000, &lease, NULL) == LARDER_NOT_STORED) {
        larder_lease_take(c, key, strlen(key), 1000000, &lease, NULL);
    }
    return lease;
}

static inline void fill_under_lease(larder *c, const char *key) {
    const char *text = text_of(after());
    larder_lease lease = take_lease(c, key);
    larder_extra extra = {.lease = &lease};
    larder_store store = {
        .key = key, .key_bytes = strlen(key), .value = text, .value_bytes = strlen(text), .extra = &extra};
    larder_set(c, &store, NULL);
}

static inline void end_lease(larder *c, const char *key) {
    larder_lease lease = take_lease(c, key);
    larder_lease_end(c, key, strlen(key), &lease, 0, NULL);
}

#endif
