/*
 * damage_test.c — changes bits and pages of the file, at rest and under running processes.
 *
 * There must be no wrong value, no crash and no hang. At rest, each bit is flipped alone in a fresh copy of the
 * same file, and a new process opens it. LARDER_DAMAGE_STRIDE=1 flips every bit of every part.
 */
#include "children.h"

enum { SIZE = 1 << 20, ITEMS = 100, LARGE = 20000 };

static unsigned char pristine[SIZE];
static larder_error failure;

typedef struct {
    larder_status opened;
    larder_status stored;
    int lost; /* of the items */
    bool superblocks_agree;
} outcome;

static outcome *seen;

static size_t item(int i, char key[32], unsigned char value[200]) {
    snprintf(key, 32, "item number %d", i);
    size_t bytes = 8 + (size_t)(i * 37 % 190);
    describe(value, bytes, (uint64_t)i, 1);
    return bytes;
}

static lard_lockfile_content lock_of_pristine;

static bool make_pristine(void) {
    static unsigned char large[LARGE];
    char key[32];
    unsigned char value[200];
    uint32_t unclean = 0;
    larder *cache = open_cache(SIZE);
    seen = shared_memory(sizeof *seen);
    for (int i = 0; i < ITEMS; i++) {
        size_t bytes = item(i, key, value);
        if (set_bytes(cache, key, value, bytes, i % 3 ? 0 : 3600000) != LARDER_OK) {
            return false;
        }
    }
    describe(large, LARGE, 5000, 1);
    int64_t n;
    bool good = set_bytes(cache, "large", large, LARGE, 0) == LARDER_OK &&
                larder_increment(cache, "counter", 7, 40, 0, 0, &n, NULL) == LARDER_OK &&
                larder_increment(cache, "counter", 7, 2, 0, 0, &n, NULL) == LARDER_OK;
    larder_close(cache);
    int fd = open(test_path("t.larder"), O_RDONLY);
    good = good && read(fd, pristine, SIZE) == SIZE;
    close(fd);
    memcpy(pristine + LARD_CONTROL_OFFSET + offsetof(lard_control, clean), &unclean, sizeof unclean);
    fd = open(test_path("t.larder.lock"), O_RDONLY);
    good = good && read(fd, &lock_of_pristine, sizeof lock_of_pristine) == sizeof lock_of_pristine;
    close(fd);
    return good;
}

/* With the inode that it has now, and its lock file as it was, or the file would be one that was put back. */
static bool write_file(const void *bytes, size_t count, off_t at) {
    int fd = open(test_path("t.larder"), O_RDWR | O_CREAT, 0600);
    uint64_t inode[2];
    if (fd < 0 || lard_inode(fd, inode) != 0) {
        return false;
    }
    memcpy(pristine + LARD_CONTROL_OFFSET + offsetof(lard_control, inode), inode, sizeof inode);
    bool done = pwrite(fd, bytes, count, at) == (ssize_t)count;
    close(fd);
    fd = open(test_path("t.larder.lock"), O_WRONLY);
    done = done && write(fd, &lock_of_pristine, sizeof lock_of_pristine) == sizeof lock_of_pristine;
    close(fd);
    return done;
}

static bool write_flipped(uint64_t bit, off_t copy_at) {
    unsigned char byte = pristine[bit / 8] ^ (unsigned char)(1 << bit % 8);
    return write_file(&byte, 1, (off_t)(bit / 8) + copy_at);
}

/* Every operation; what is found must be what was stored. */
static void use_it(void) {
    static unsigned char have[LARGE], want[LARGE];
    char key[32];
    larder *cache = NULL;
    larder_item info;
    larder_report report;
    larder_options options = {.size_bytes = SIZE, .lock_timeout_ms = 20};
    int64_t n;
    seen->opened = larder_open(test_path("t.larder"), &options, &cache, &failure);
    if (seen->opened != LARDER_OK) {
        return;
    }
    for (int i = 0; i < ITEMS; i++) {
        size_t bytes = item(i, key, want);
        larder_status status = larder_get(cache, key, strlen(key), have, sizeof have, &info, NULL);
        CHILD_CHECK(status == LARDER_OK || status == LARDER_MISS || status == LARDER_BUFFER_TOO_SMALL);
        CHILD_CHECK(status != LARDER_OK || (info.size_bytes == bytes && memcmp(have, want, bytes) == 0));
        seen->lost += status != LARDER_OK;
    }
    describe(want, LARGE, 5000, 1);
    larder_status status = larder_get(cache, "large", 5, have, sizeof have, &info, NULL);
    CHILD_CHECK(status != LARDER_OK || (info.size_bytes == LARGE && memcmp(have, want, LARGE) == 0));
    seen->lost += status != LARDER_OK;
    CHILD_CHECK(is(cache, "counter", "42") || is(cache, "counter", NULL));
    seen->lost += is(cache, "counter", NULL);
    larder_verify(cache, &report);
    for (int i = 0; i < ITEMS; i += 7) {
        item(i, key, want);
        larder_delete(cache, key, strlen(key), NULL);
        CHILD_CHECK(is(cache, key, NULL));
    }
    if (larder_increment(cache, "counter", 7, 1, 0, 0, &n, NULL) == LARDER_OK) {
        CHILD_CHECK(n == 43 || n == 1);
    }
    larder_touch(cache, "item number 1", 13, 1000, NULL);
    set_bytes(cache, "large", have, LARGE, 0);
    seen->stored = set(cache, "new", "value");
    CHILD_CHECK(is(cache, "new", seen->stored == LARDER_OK ? "value" : NULL));
    CHILD_CHECK(larder_clear(cache) == LARDER_OK && is(cache, "new", NULL));
    CHILD_CHECK(set(cache, "new", "life") == LARDER_OK && is(cache, "new", "life"));
    CHILD_CHECK(sound(cache)); /* clear repairs whatever was wrong with the shards */
}

/* The file as it is now, used by a process of its own. */
static bool is_used_without_harm(void) {
    memset(seen, 0, sizeof *seen);
    pid_t pid = fork_child();
    if (pid == 0) {
        use_it();
        _exit(0);
    }
    bool good = exited_well(pid);
    unsigned char superblocks[2 * LARD_PAGE];
    int fd = open(test_path("t.larder"), O_RDONLY);
    seen->superblocks_agree = read(fd, superblocks, sizeof superblocks) == (ssize_t)sizeof superblocks &&
                              memcmp(superblocks, superblocks + LARD_PAGE, sizeof(lard_superblock)) == 0;
    close(fd);
    return good;
}

static bool flipped(uint64_t bit) {
    return write_file(pristine, SIZE, 0) && write_flipped(bit, 0) && is_used_without_harm();
}

static uint64_t stride(uint64_t usual) {
    const char *told = getenv("LARDER_DAMAGE_STRIDE");
    return told ? strtoull(told, NULL, 10) : usual;
}

static void bits_of_one_superblock(void) {
    CHECK(make_pristine());
    for (uint64_t bit = 0; bit < sizeof(lard_superblock) * 8; bit++) {
        CHECK(flipped(bit), "bit %d", (int)bit);
        CHECK(seen->opened == LARDER_OK && seen->lost == 0 && seen->superblocks_agree, "bit %d: %s, %d lost",
              (int)bit, larder_status_name(seen->opened), seen->lost);
    }
    for (uint64_t bit = 0; bit < sizeof(lard_superblock) * 8; bit += stride(11)) {
        CHECK(flipped(LARD_PAGE * 8 + bit) && seen->opened == LARDER_OK && seen->lost == 0, "copy, bit %d",
              (int)bit);
    }
}

static void the_same_bit_of_both_superblocks(void) {
    CHECK(make_pristine());
    for (uint64_t bit = 0; bit < sizeof(lard_superblock) * 8; bit += stride(11)) {
        CHECK(write_file(pristine, SIZE, 0) && write_flipped(bit, 0) && write_flipped(bit, LARD_PAGE));
        CHECK(is_used_without_harm(), "bit %d", (int)bit);
        if (bit < 64) { /* of the magic: then it is no file of Larder's */
            CHECK(seen->opened == LARDER_NOT_LARDER, "bit %d", (int)bit);
        } else {
            CHECK(seen->opened == LARDER_OK && seen->lost == ITEMS + 2 && seen->stored == LARDER_OK, "bit %d",
                  (int)bit);
        }
    }
}

static void bits_between(uint64_t from, uint64_t to, uint64_t by, int may_lose) {
    for (uint64_t bit = from * 8; bit < to * 8; bit += by) {
        CHECK(flipped(bit), "byte %d, bit %d", (int)(bit / 8), (int)(bit % 8));
        CHECK(seen->opened == LARDER_OK && seen->lost <= may_lose, "byte %d, bit %d: %s, %d lost", (int)(bit / 8),
              (int)(bit % 8), larder_status_name(seen->opened), seen->lost);
    }
}

static void bits_of_the_control_page(void) {
    CHECK(make_pristine());
    bits_between(LARD_CONTROL_OFFSET, LARD_CONTROL_OFFSET + 32, stride(3), ITEMS + 2);
    off_t use = LARD_CONTROL_OFFSET + offsetof(lard_control, use);
    bits_between(LARD_CONTROL_OFFSET + 32, (uint64_t)use, stride(37), 0);
    bits_between((uint64_t)use, LARD_CONTROL_OFFSET + sizeof(lard_control), stride(5), ITEMS + 2);
    bits_between(LARD_PROCESS_OFFSET, LARD_PROCESS_OFFSET + 2 * sizeof(lard_process), stride(29), 0);
}

static void bits_of_a_shards_header(void) {
    lard_superblock super;
    CHECK(make_pristine());
    memcpy(&super, pristine, sizeof super);
    uint64_t at = super.shard_offset;
    bits_between(at, at + sizeof(lard_shard), stride(7), ITEMS + 2);
    bits_between(at + super.directory_offset, at + super.directory_offset + 8, stride(1), ITEMS + 2);
    bits_between(at + super.segment_table_offset, at + super.segment_table_offset + 5 * sizeof(lard_segment),
                 stride(13), ITEMS + 2);
}

static void bits_of_the_index_and_of_records(void) {
    lard_superblock super;
    CHECK(make_pristine());
    memcpy(&super, pristine, sizeof super);
    uint64_t from = super.shard_offset + super.data_offset, flips = 0, state = 1;
    uint64_t want = 300, each = stride(0);
    for (uint64_t byte = from; byte < SIZE && (each || flips < want); byte++) {
        if (!each) { /* at random, but where something is */
            byte = from + next_random(&state) % (SIZE - from);
        }
        if (pristine[byte]) {
            uint64_t bit = byte * 8 + next_random(&state) % 8;
            flips++;
            CHECK(flipped(bit), "byte %d, bit %d", (int)byte, (int)(bit % 8));
            CHECK(seen->opened == LARDER_OK && seen->lost <= 1, "byte %d, bit %d: %d lost", (int)byte,
                  (int)(bit % 8), seen->lost);
        }
        byte = each ? byte + each - 1 : from - 1;
    }
}

static void whole_pages_of_garbage(void) {
    unsigned char garbage[LARD_PAGE];
    uint64_t state = 77;
    CHECK(make_pristine());
    for (int page = 2; page < SIZE / (int)LARD_PAGE; page += (int)stride(7)) {
        for (int kind = 0; kind < 3; kind++) { /* zeros, ones, random */
            memset(garbage, kind == 1 ? 0xff : 0, sizeof garbage);
            for (size_t i = 0; kind == 2 && i < sizeof garbage; i++) {
                garbage[i] = (unsigned char)next_random(&state);
            }
            CHECK(write_file(pristine, SIZE, 0) && write_file(garbage, sizeof garbage, page * (off_t)LARD_PAGE));
            CHECK(is_used_without_harm(), "page %d, kind %d", page, kind);
            CHECK(seen->opened == LARDER_OK, "page %d, kind %d: %s", page, kind, larder_status_name(seen->opened));
        }
    }
}

/* ------------------------------------------------------------------ under running processes */

enum { WORKERS = 3, KEYS = 200 };
typedef struct {
    uint32_t stop;
    uint64_t beats[WORKERS];
    uint64_t begun[WORKERS][KEYS]; /* newest stamp of each worker's own keys */
    uint64_t found, damaged;
} traffic;

static void work(larder *cache, traffic *t, int me) {
    static unsigned char value[LARGE];
    char key[32];
    uint64_t state = (uint64_t)me + 1, stamp;
    larder_report report;
    while (!__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE)) {
        uint64_t random = next_random(&state);
        int k = (int)(random % KEYS), owner = (int)((random >> 20) % WORKERS);
        uint64_t *begun = &t->begun[owner][k];
        size_t key_bytes = (size_t)snprintf(key, sizeof key, "%d owns %d", owner, k);
        larder_item info;
        if (owner == me && random >> 62) {
            size_t bytes = random >> 60 == 15 ? 8 + random % 9992 : 8 + random % 300;
            __atomic_store_n(begun, *begun + 1, __ATOMIC_SEQ_CST);
            describe(value, bytes, (uint64_t)(owner * KEYS + k), *begun);
            larder_store store = {.key = key, .key_bytes = key_bytes, .value = value, .value_bytes = bytes};
            larder_set(cache, &store, NULL);
        } else if (random >> 58 == 1) {
            larder_delete(cache, key, key_bytes, NULL);
        } else if (random >> 52 == 77) {
            larder_verify(cache, &report);
        } else if (random >> 52 == 78) {
            larder_prune(cache, NULL, NULL);
        } else if (larder_get(cache, key, key_bytes, value, sizeof value, &info, NULL) == LARDER_OK) {
            CHILD_CHECK(info.size_bytes >= 8 &&
                        describes(value, info.size_bytes, (uint64_t)(owner * KEYS + k), &stamp));
            CHILD_CHECK(stamp >= 1 && stamp <= __atomic_load_n(begun, __ATOMIC_SEQ_CST));
            __atomic_add_fetch(&t->found, 1, __ATOMIC_RELAXED);
        }
        __atomic_add_fetch(&t->beats[me], 1, __ATOMIC_RELAXED);
    }
}

/* A process may leave the file for a new one meanwhile: each time, what is at the path is damaged. */
static bool damage_somewhere(uint64_t *state, bool pages) {
    unsigned char bytes[LARD_PAGE];
    int fd = open(test_path("t.larder"), O_RDWR);
    uint64_t random = next_random(state);
    off_t at = (off_t)(LARD_CONTROL_OFFSET + random % (SIZE - LARD_CONTROL_OFFSET - sizeof bytes));
    if (random >> 62 == 0) { /* the shard's header and tables, more often than by their size */
        at = (off_t)(((lard_superblock *)(void *)pristine)->shard_offset + (random >> 8) % 2240);
    }
    size_t count = pages ? (random >> 40) % sizeof bytes : 1;
    bool done = fd >= 0 && pread(fd, bytes, 1, at) == 1;
    bytes[0] ^= (unsigned char)(1 << (random >> 50) % 8);
    for (size_t i = 1; i < count; i++) {
        bytes[i] = (unsigned char)next_random(state);
    }
    done = done && pwrite(fd, bytes, count, at) == (ssize_t)count;
    close(fd);
    return done;
}

static void under_running_processes(bool pages, int times, int every_us) {
    pid_t pids[WORKERS];
    traffic *t = shared_memory(sizeof *t);
    uint64_t state = pages ? 4 : 3;
    CHECK(make_pristine());
    larder *cache = open_cache(SIZE);
    CHECK(cache);
    cache->core->lock_timeout_ms = 20;
    for (int i = 0; i < WORKERS; i++) {
        if ((pids[i] = fork_child()) == 0) {
            work(cache, t, i);
            _exit(0);
        }
    }
    int damaged = 0;
    for (int i = 0; i < times; i++) {
        damaged += damage_somewhere(&state, pages);
        sleep_us((unsigned)every_us);
    }
    uint64_t before[WORKERS];
    memcpy(before, t->beats, sizeof before);
    int moving = 0;
    for (int64_t until = now_us() + LONGEST_MS * 1000ll; moving < WORKERS && now_us() < until; sleep_us(1000)) {
        moving = 0;
        for (int i = 0; i < WORKERS; i++) {
            moving += __atomic_load_n(&t->beats[i], __ATOMIC_RELAXED) > before[i];
        }
    }
    advance(&t->stop);
    int failed = 0;
    for (int i = 0; i < WORKERS; i++) {
        failed += !exited_well(pids[i]);
    }
    printf("  %d places damaged under %llu calls; %llu values found\n", damaged,
           (unsigned long long)(t->beats[0] + t->beats[1] + t->beats[2]), (unsigned long long)t->found);
    CHECK(failed == 0 && moving == WORKERS, "%d failed, %d of %d moved on", failed, moving, WORKERS);
    CHECK(damaged > times / 2 && t->found > 100);
    CHECK(larder_clear(cache) == LARDER_OK);
    CHECK(set(cache, "new", "life") == LARDER_OK && is(cache, "new", "life") && sound(cache), "after a clear");
    larder_close(cache);
    munmap(t, sizeof *t);
}

static void bits_under_running_processes(void) { under_running_processes(false, 6000, 100); }
static void pages_under_running_processes(void) { under_running_processes(true, 800, 700); }

static const test_case tests[] = {
    TEST(bits_of_one_superblock, "a flipped bit of one superblock is repaired from the other"),
    TEST(the_same_bit_of_both_superblocks, "the same bit flipped in both superblocks makes the file anew"),
    TEST(bits_of_the_control_page, "a flipped bit of the control page or a process row is no harm"),
    TEST(bits_of_a_shards_header, "a flipped bit of a shard's header or tables is no harm"),
    TEST(bits_of_the_index_and_of_records, "a flipped bit of the index or of a record costs one item at most"),
    TEST(whole_pages_of_garbage, "whole pages of zeros, ones or garbage are no harm"),
    TEST(bits_under_running_processes, "bits flipped under running processes give no wrong value"),
    TEST(pages_under_running_processes, "pages overwritten under running processes give no wrong value"),
};
RUN_IN_MEMORY("damage", tests)
