/*
 * pin_points_crash.c — kills a writer at each store that others may see, where compaction has no spare room.
 *
 * These are the stores to headers, segment table and index, not to the bytes of records. No pinned item may be
 * lost or missing in the count, and later writers must succeed. Each death begins from the same bytes of the file
 * and of the hints. LARDER_CRASH_STRIDE=1 kills at all of them.
 */
#include "children.h"

extern unsigned long lard_crash_at, lard_crash_count, lard_crash_step;
extern int lard_crash_signal;
extern const void *lard_crash_store;

enum { RECORD = 4096, MOST_ITEMS = 400, HOT = 5, POINTS = 20000, NAME = 10, OTHERS = 200 };

typedef struct {
    int stored;
    uint64_t asked[MOST_ITEMS], had[MOST_ITEMS]; /* stamps: of a write that began, and of one that ended */
    unsigned long points[POINTS];
    unsigned long count;
} ledger;

static larder *cache;
static ledger *book, *at_first;
static unsigned char *file_at_first, *hints_at_first;
static size_t record_bytes;

/* Keys of one length and values of another: every record is as long, and they fill a segment to its end. */
static larder_status pin(int i, larder_mode mode) {
    static unsigned char value[RECORD];
    char key[32];
    uint64_t stamp = book->had[i] + 1;
    size_t bytes = record_bytes - LARD_RECORD_HEADER - NAME;
    snprintf(key, sizeof key, "item %05d", i);
    describe(value, bytes, (uint64_t)i, stamp);
    larder_store store = {
        .key = key, .key_bytes = NAME, .value = value, .value_bytes = bytes, .mode = (uint8_t)mode, .pin = 1};
    book->asked[i] = stamp;
    larder_status status = larder_set(cache, &store, NULL);
    book->had[i] = status == LARDER_OK ? stamp : book->had[i];
    return status;
}

static bool stands(int i) {
    static unsigned char value[RECORD];
    char key[32];
    larder_item item;
    uint64_t stamp;
    snprintf(key, sizeof key, "item %05d", i);
    larder_status status = larder_get(cache, key, NAME, value, sizeof value, &item, NULL);
    bool right = status == LARDER_OK ? item.is_pinned && describes(value, item.size_bytes, (uint64_t)i, &stamp) &&
                                           (stamp == book->had[i] || stamp == book->asked[i])
                                     : book->had[i] == 0;
    if (!right) {
        fprintf(stderr, "  item %d: %s\n", i, larder_status_name(status));
    } else if (status == LARDER_OK) {
        book->had[i] = book->asked[i] = stamp;
    }
    return right;
}

static void all_stand(void) {
    larder_stats stats;
    uint64_t bytes = 0;
    for (int i = 0; i < book->stored; i++) {
        CHILD_CHECK(stands(i));
        bytes += book->had[i] ? record_bytes : 0;
    }
    CHILD_CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.pinned_bytes >= bytes);
}

static void store_others(int count, bool and_read) {
    static const char text[500];
    char key[32];
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "other %d", i);
        CHILD_CHECK(set_bytes(cache, key, text, sizeof text, 0) == LARDER_OK);
        if (and_read) {
            get(cache, key);
        }
    }
}

/* ---- what is killed ---- */

static void change_hot_ones(void) {
    for (int n = 0; n < HOT; n++) {
        CHILD_CHECK(pin(n * 7 % HOT, LARDER_SET) == LARDER_OK);
    }
}

/* The only one there is: made, and changed. */
static void pin_one(void) { CHILD_CHECK(pin(0, LARDER_SET) == LARDER_OK && pin(0, LARDER_SET) == LARDER_OK); }

/* ---- what comes after ---- */

static void go_on(void *with) {
    (void)with;
    if (book->stored > HOT) { /* what comes first must not take the room that the victim needs */
        CHILD_CHECK(pin(0, LARDER_REPLACE) == LARDER_OK);
    }
    CHILD_CHECK(set(cache, "afterwards", "written") == LARDER_OK);
    all_stand();
    CHILD_CHECK(sound(cache));
    if (book->stored > HOT) {
        change_hot_ones();
        change_hot_ones();
    }
    store_others(OTHERS, true);
    store_others(OTHERS, true);
    all_stand();
    CHILD_CHECK(sound(cache));
}

/* ---- the machinery ---- */

/* Has the number of each store noted that goes elsewhere than into a record. */
static void note_store(int signal) {
    const lard_map *map = cache->core->map;
    uint64_t at = (uint64_t)((const uint8_t *)lard_crash_store - map->shards);
    (void)signal;
    bool elsewhere = !lard_crash_store || at < map->super.data_offset || at >= map->super.shard_bytes;
    if (!elsewhere) {
        lard_view view = lard_view_of(cache->core->map, 0);
        uint64_t segment = (at - map->super.data_offset) >> map->segment_shift;
        elsewhere = lard_load(&view.segments[segment].state) == LARD_SEGMENT_INDEX;
    }
    if (elsewhere && at_first->count < POINTS) {
        at_first->points[at_first->count++] = lard_crash_count;
    }
}

static bool note_points(void (*body)(void)) {
    at_first->count = 0;
    pid_t child = fork_child();
    if (child == 0) {
        signal(SIGUSR1, note_store);
        lard_crash_signal = SIGUSR1;
        lard_crash_count = 0;
        lard_crash_at = lard_crash_step = 1;
        body();
        _exit(0);
    }
    return exited_well(child);
}

static void restore(void) {
    memcpy(book, at_first, sizeof *book);
    memcpy(cache->core->map->base, file_at_first, larder_size(cache));
    memcpy(cache->core->map->hints, hints_at_first,
           cache->core->map->hints_bytes); /* what is evicted depends on them */
}

static unsigned char *copy_of(const void *bytes, size_t count) {
    unsigned char *copy = malloc(count);
    return memcpy(copy, bytes, count);
}

/*
 * How many there were; 0 where one of them was not survived. The process of the test itself does nothing to the
 * cache meanwhile, for it has a copy of where buckets are.
 */
static unsigned long each_death(void (*body)(void), unsigned long from, unsigned long step) {
    unsigned long killed = 0;
    bool well = true;
    memcpy(at_first, book, sizeof *book);
    file_at_first = copy_of(cache->core->map->base, larder_size(cache));
    hints_at_first = copy_of(cache->core->map->hints, cache->core->map->hints_bytes);
    well = note_points(body) && at_first->count > 5 && at_first->count < POINTS;
    for (unsigned long p = from; well && p < at_first->count; p += step) {
        restore();
        pid_t child = fork_child();
        if (child == 0) {
            lard_crash_count = 0;
            lard_crash_at = at_first->points[p];
            body();
            _exit(0);
        }
        int status = wait_within(child, LONGEST_MS);
        killed += status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        well = in_child(go_on, NULL);
        if (!well) {
            fprintf(stderr, "  killed at store %lu\n", at_first->points[p]);
        }
    }
    well &= killed == (at_first->count - from + step - 1) / step;
    restore();
    free(file_at_first);
    free(hints_at_first);
    return well ? killed : 0;
}

static void prepare(size_t bytes) {
    book = shared_memory(sizeof *book);
    at_first = shared_memory(sizeof *at_first);
    record_bytes = bytes;
    cache = open_cache(1 << 20);
    cache->core->lock_timeout_ms = 10000;
}

static void fill(void *with) {
    (void)with;
    while (pin(book->stored, LARDER_ADD) == LARDER_OK) {
        book->stored++;
        CHILD_CHECK(book->stored < MOST_ITEMS - 1);
    }
    CHILD_CHECK(book->stored > 100);
    for (int round = 0; round < 12; round++) {
        change_hot_ones();
    }
}

static void one_more(void *with) {
    (void)with;
    CHILD_CHECK(pin(7, LARDER_SET) == LARDER_OK);
}

static void compaction_may_die_anywhere(void) {
    enum { PHASES = 24 }; /* three segments: records of the pinned and dead ones lie differently each time */
    unsigned long deaths = 0, step = getenv("LARDER_CRASH_STRIDE") ? 1 : 3;
    prepare(RECORD);
    CHECK(in_child(fill, NULL));
    for (int phase = 0; phase < PHASES; phase++) {
        unsigned long more = each_death(change_hot_ones, (unsigned)phase % step, step);
        CHECK(more && in_child(one_more, NULL), "phase %d", phase);
        deaths += more;
    }
    printf("  %lu deaths while it is full\n", deaths);
    larder_close(cache);
}

static void fill_with_others(void *with) {
    (void)with;
    store_others(6000, true);
}

static void the_first_one_may_die_anywhere(void) {
    prepare(RECORD);
    CHECK(in_child(fill_with_others, NULL));
    book->stored = 1;
    unsigned long deaths = each_death(pin_one, 0, 1);
    CHECK(deaths);
    printf("  %lu deaths of the only one\n", deaths);
    larder_close(cache);
}

static const test_case tests[] = {
    TEST(compaction_may_die_anywhere, "compaction may die anywhere"),
    TEST(the_first_one_may_die_anywhere, "the first one that is pinned may die anywhere"),
};

RUN("pin, each store", tests)
