/*
 * flips_test.c — flips each single bit outside the records, in files whose records must not all be read.
 *
 * The files have values that were replaced, deleted, cleared, that have expired or lost a tag: their bytes are
 * still there, whole and valid. No flipped bit may bring one of them back, give a wrong value, or stop a call. A
 * bit is flipped under an attached process, which knows the buckets already or looks for them again, or at rest,
 * before the file is opened. Some bits of large tables are skipped; with LARDER_DAMAGE_STRIDE=1 none is.
 */
#include "children.h"

#include <stddef.h>

enum { SIZE = 1 << 20, KEYS = 28, LARGE = 20000, CROWD = 5000, CROWD_READ = 250, VALUE = 200, STAMPS = 4 };

static larder *cache;
static unsigned char image[SIZE], as_mapped[SIZE]; /* of the file: closed, and attached */
static lard_lockfile_content lock_image;
static lard_map *mapped; /* the image */
static larder_error failure;

static uint64_t stride(uint64_t usual) {
    const char *told = getenv("LARDER_DAMAGE_STRIDE");
    return told ? strtoull(told, NULL, 10) : usual;
}

/* ---- the keys, and what each may have ---- */

typedef enum { LIVE, REPLACED, REBORN, TAGGED, DELETED, EXPIRED, UNTAGGED, KINDS } kind;

/* Lengths with which some records of a key take a power of two: then one flipped bit of a place leads to another.
 */
static size_t value_of(kind which, int i, uint64_t stamp, unsigned char value[VALUE]) {
    static const size_t lengths[] = {8, 16, 40, 48, 104, 112, 150};
    size_t bytes = lengths[i % 7];
    describe(value, bytes, (uint64_t)which * KEYS + (uint64_t)i, stamp);
    return bytes;
}

static size_t key_of(kind which, int i, char key[32]) {
    return (size_t)snprintf(key, 32, "%c%06d", 'a' + (int)which, i);
}

/* They are read for each bit, so they are made once. Values by their stamps, which begin at 1. */
static struct {
    char key[32];
    size_t key_bytes, value_bytes;
    unsigned char value[STAMPS][VALUE];
} known[KINDS][KEYS];
static unsigned char large_value[STAMPS][LARGE];
static char crowd_key[CROWD_READ][32];

static void describe_all(void) {
    for (kind which = LIVE; which < KINDS; which++) {
        for (int i = 0; i < KEYS; i++) {
            known[which][i].key_bytes = key_of(which, i, known[which][i].key);
            for (uint64_t stamp = 1; stamp < STAMPS; stamp++) {
                known[which][i].value_bytes = value_of(which, i, stamp, known[which][i].value[stamp]);
            }
        }
    }
    for (uint64_t stamp = 1; stamp < STAMPS; stamp++) {
        describe(large_value[stamp], LARGE, 5000, stamp);
    }
    for (int i = 0; i < CROWD_READ; i++) {
        snprintf(crowd_key[i], sizeof crowd_key[i], "crowd %d", i * (CROWD / CROWD_READ));
    }
}

static bool store(kind which, int i, uint64_t stamp, const char *tag) {
    char key[32];
    unsigned char value[VALUE];
    larder_extra extra = {.tags = &(larder_tag){tag, tag ? strlen(tag) : 0}, .tag_count = tag != NULL};
    larder_call before = {.now_ms = lard_clock_ms() - 100000};
    larder_store one = {.key = key,
                        .key_bytes = key_of(which, i, key),
                        .value = value,
                        .value_bytes = value_of(which, i, stamp, value),
                        .ttl_ms = which == EXPIRED ? 50000
                                  : i % 5          ? 0
                                                   : 3600000,
                        .pin = which == LIVE && i % 9 == 0,
                        .extra = tag || i % 4 == 3 ? &extra : NULL};
    extra.compute_ms = 1;
    return larder_set(cache, &one, which == EXPIRED ? &before : NULL) == LARDER_OK;
}

static bool drop(kind which, int i) {
    char key[32];
    size_t bytes = key_of(which, i, key);
    return larder_delete(cache, key, bytes, NULL) == LARDER_OK;
}

static bool delete_tag(const char *tag) {
    return larder_delete_tagged(cache, &(larder_tag){tag, strlen(tag)}, 1, NULL) == LARDER_OK;
}

static bool store_large(uint64_t stamp) {
    return set_bytes(cache, "large", large_value[stamp], LARGE, 0) == LARDER_OK;
}

static bool store_all(void) {
    int64_t n;
    bool good = true;
    for (int i = 0; good && i < 30; i++) { /* so that stamps are not small numbers */
        char tag[16];
        snprintf(tag, sizeof tag, "tag %d", i);
        good = delete_tag(tag);
    }
    for (int i = 0; i < KEYS; i++) {
        good = good && store(LIVE, i, 1, NULL) && store(REPLACED, i, 1, NULL) && store(REPLACED, i, 2, NULL) &&
               store(REBORN, i, 1, NULL) && drop(REBORN, i) && store(REBORN, i, 2, NULL) &&
               store(TAGGED, i, 1, "kept") && store(DELETED, i, 1, NULL) && drop(DELETED, i) &&
               store(EXPIRED, i, 1, NULL) && store(UNTAGGED, i, 1, "doomed");
    }
    for (int i = 1; good && i <= 42; i++) {
        good = larder_increment(cache, "counter", 7, 1, 0, 0, &n, NULL) == LARDER_OK;
    }
    return good && store_large(1) && store_large(2) && delete_tag("doomed");
}

typedef struct {
    bool kept[KINDS]; /* may these be read? */
    uint64_t stamp[KINDS];
    const char *counter; /* NULL: must not be read */
    uint64_t large;
    bool crowd_is_gone;
} truth;

static const truth living = {.kept = {true, true, true, true}, .stamp = {1, 2, 2, 1}, .counter = "42", .large = 2};
static const truth nothing = {.crowd_is_gone = true};
static truth now;
static bool had_large; /* before a bit was flipped */

static const char *wrong_key(kind which) {
    static const uint32_t ways[] = {0, LARDER_CALL_STALE};
    unsigned char have[VALUE + 100];
    larder_item item;
    for (int i = 0; i < KEYS; i++) {
        const char *key = known[which][i].key;
        const unsigned char *want = known[which][i].value[now.stamp[which]];
        size_t bytes = known[which][i].value_bytes;
        larder_call call = {.flags = ways[i % 2]};
        larder_status status = larder_get(cache, key, known[which][i].key_bytes, have, sizeof have, &item, &call);
        if (status == LARDER_MISS || (status == LARDER_OK && now.kept[which] && item.size_bytes == bytes &&
                                      memcmp(have, want, bytes) == 0)) {
            continue;
        }
        return key;
    }
    return NULL;
}

/* The first key that has a value which it must not have, or NULL. */
static const char *wrong(void) {
    static unsigned char have[LARGE];
    larder_item item;
    for (kind which = LIVE; which < KINDS; which++) {
        const char *found = wrong_key(which);
        if (found) {
            return found;
        }
    }
    const char *count = get(cache, "counter");
    if (count && (!now.counter || strcmp(count, now.counter) != 0)) {
        return "counter";
    }
    if (larder_get(cache, "large", 5, have, LARGE, &item, NULL) == LARDER_OK &&
        (!now.large || item.size_bytes != LARGE || memcmp(have, large_value[now.large], LARGE) != 0)) {
        return "large";
    }
    for (int i = 0; now.crowd_is_gone && i < CROWD_READ; i++) {
        if (get(cache, crowd_key[i])) {
            return crowd_key[i];
        }
    }
    return NULL;
}

static int found(void) {
    int count = 0;
    for (kind which = LIVE; which < KINDS; which++) {
        for (int i = 0; i < KEYS; i++) {
            const char *key = known[which][i].key;
            count += larder_exists(cache, key, known[which][i].key_bytes, NULL, NULL) == LARDER_OK;
        }
    }
    return count;
}

/* ---- files ---- */

static bool take_image(void) {
    int fd = open(test_path("t.larder"), O_RDONLY);
    bool good = fd >= 0 && read(fd, image, SIZE) == SIZE;
    close(fd);
    fd = open(test_path("t.larder.lock"), O_RDONLY);
    good = good && read(fd, &lock_image, sizeof lock_image) == sizeof lock_image;
    close(fd);
    return good;
}

/* With the inode that the file has now, or it would be a copy. */
static bool write_image(void) {
    int fd = open(test_path("t.larder"), O_RDWR | O_CREAT, 0600);
    uint64_t inode[2];
    bool good = fd >= 0 && lard_inode(fd, inode) == 0;
    if (good) {
        memcpy(image + LARD_CONTROL_OFFSET + offsetof(lard_control, inode), inode, sizeof inode);
        good = pwrite(fd, image, SIZE, 0) == SIZE;
    }
    close(fd);
    fd = open(test_path("t.larder.lock"), O_WRONLY);
    good = good && pwrite(fd, &lock_image, sizeof lock_image, 0) == sizeof lock_image;
    close(fd);
    return good;
}

static bool open_image(void) {
    larder_options options = {.lock_timeout_ms = 2, .existing = 1};
    if (!write_image() || larder_open(test_path("t.larder"), &options, &cache, &failure) != LARDER_OK) {
        return false;
    }
    mapped = cache->core->map;
    memcpy(as_mapped, mapped->base, SIZE);
    return true;
}

static void make(bool (*fill)(void)) {
    alarm(300);
    describe_all();
    cache = open_cache(SIZE);
    bool good = fill();
    larder_close(cache);
    CHECK(good && take_image() && open_image());
}

/* As a process that attaches now: it has yet to look where the buckets are. */
static void forget_buckets(void) {
    for (uint32_t shard = 0; shard < mapped->super.shard_count; shard++) {
        mapped->dircache[shard].epoch = mapped->dircache[shard].shape = 0;
        mapped->renewals[shard].known = 0;
    }
}

/* Looks where all buckets are, if that is not known. */
static bool has_large(void) { return larder_exists(cache, "large", 5, NULL, NULL) == LARDER_OK; }

/* The file as it was before a bit was flipped, whose buckets the process knows. A process that has left it, as it
 * must not make another one, uses it again. Reads change nothing but drop a large value that is not whole. */
static bool restore(uint64_t bit, bool was_used) {
    mapped->base[bit / 8] ^= (unsigned char)(1 << bit % 8);
    forget_buckets();
    if (was_used || !lard_map_is_fit(mapped) || has_large() != had_large) {
        memcpy(mapped->base, as_mapped, SIZE);
        forget_buckets();
    }
    return has_large() == had_large && cache->core->map == mapped && lard_map_is_fit(mapped);
}

static lard_shard *header(void) { return lard_view_of(mapped, 0).header; }

/* ---- flips under an attached process ---- */

static bool use_it(void) {
    larder_report report;
    unsigned char value[VALUE];
    int64_t n = 0;
    larder_verify(cache, &report);
    if (delete_tag("kept")) {
        now.kept[TAGGED] = false;
    }
    for (int i = 0; i < KEYS; i += 3) {
        char key[32];
        size_t bytes = key_of(LIVE, i, key);
        larder_delete(cache, key, bytes, NULL);
        if (larder_get(cache, key, bytes, value, sizeof value, NULL, NULL) != LARDER_MISS) {
            return false;
        }
    }
    if (larder_increment(cache, "counter", 7, 1, 0, 0, &n, NULL) == LARDER_OK) {
        now.counter = n == 43 ? "43" : n == 1 ? "1" : NULL;
    }
    for (int i = 0; i < KEYS; i++) { /* one that is refused drops the old value */
        store(REPLACED, i, 3, NULL);
    }
    now.kept[REPLACED] = true;
    now.stamp[REPLACED] = 3;
    now.large = store_large(3) ? 3 : 0;
    return larder_prune(cache, NULL, NULL) != LARDER_INVALID;
}

static unsigned flips;

/* Flips a bit, reads all keys, first where the buckets are known, uses the cache, and restores the file. */
static void flip_one(uint64_t bit, bool uses) {
    mapped->base[bit / 8] ^= (unsigned char)(1 << bit % 8);
    const char *key = wrong();
    CHECK(!key, "byte %d, bit %d: %s", (int)(bit / 8), (int)(bit % 8), key);
    forget_buckets();
    key = wrong();
    CHECK(!key, "byte %d, bit %d, buckets looked for again: %s", (int)(bit / 8), (int)(bit % 8), key);
    if (uses) {
        CHECK(use_it(), "byte %d, bit %d", (int)(bit / 8), (int)(bit % 8));
        key = wrong();
        CHECK(!key, "byte %d, bit %d, after use: %s", (int)(bit / 8), (int)(bit % 8), key);
    }
    flips++;
    CHECK(restore(bit, uses));
}

static void flip_between(const void *from, size_t bytes, uint64_t by, uint64_t use_each, const truth *what) {
    uint64_t first = (uint64_t)((const uint8_t *)from - mapped->base) * 8;
    int before = test_failures;
    for (uint64_t n = 0; n * by < bytes * 8 && test_failures < before + 3; n++) {
        now = *what;
        had_large = now.large != 0;
        int failures = test_failures;
        flip_one(first + n * by, n % use_each == 0);
        if (failures != test_failures) {
            CHECK(restore(first + n * by, true));
        }
    }
    CHECK(test_failures == before);
    now = *what;
    CHECK(!wrong(), "the file is as it was");
}

static void flip_words_outside_records(const truth *what, bool whole_index) {
    lard_view view = lard_view_of(mapped, 0);
    const lard_superblock *super = &mapped->super;
    uint64_t all = stride(0) == 1, each = all ? 1 : 3;
    flip_between(mapped->base, sizeof *super, 13, 50, what);
    flip_between(mapped->control, offsetof(lard_control, retired), 1, 1, what);
    flip_between(&mapped->control->use, sizeof(lard_control) - offsetof(lard_control, use), 1, all ? 1 : 5, what);
    flip_between(&mapped->processes[mapped->slot], sizeof(lard_process), all ? 1 : 31, 1, what);
    flip_between(view.header, sizeof *view.header, 1, 1, what);
    flip_between(view.directory, 4 * super->segments_per_shard, 1, each, what);
    for (uint32_t s = 0; s < super->segments_per_shard; s++) {
        flip_between(&view.segments[s], sizeof(lard_segment), all ? 1 : 5, each, what);
    }
    for (uint32_t n = 0; whole_index && n < lard_bucket_count(&view) * LARD_BUCKET_SLOTS; n++) {
        const lard_u64 *slot = &lard_bucket_at(&view, n / LARD_BUCKET_SLOTS)->slots[n % LARD_BUCKET_SLOTS];
        flip_between(slot, sizeof *slot, all || lard_load(slot) ? 1 : 11, all ? 1 : 97, what);
    }
}

static void bits_of_a_living_file(void) {
    make(store_all);
    CHECK(found() == 4 * KEYS);
    flip_words_outside_records(&living, true);
    printf("  %u bits flipped\n", flips);
    larder_close(cache);
}

static void bits_of_a_table_of_tags(void) {
    make(store_all);
    lard_view view = lard_view_of(mapped, 0);
    lard_tag_table table;
    CHECK(lard_tag_table_of(&view, &table) && table.lines);
    for (uint32_t line = 0; line < table.lines; line++) {
        const lard_u64 *at = lard_tag_table_at(&table, line);
        bool is_used = false;
        for (unsigned i = 1; i < LARD_LINE_WORDS; i++) {
            is_used |= lard_load(&at[i]) != 0;
        }
        if (is_used) {
            flip_between(at, LARD_LINE_WORDS * 8, 1, stride(7), &living);
        }
    }
    larder_close(cache);
}

/* ---- a file that was cleared ---- */

static bool store_crowd(void) { /* for an index of more than one page */
    char key[32];
    for (int i = 0; i < CROWD; i++) {
        snprintf(key, sizeof key, "crowd %d", i);
        if (set(cache, key, key) != LARDER_OK) {
            return false;
        }
    }
    return store_all();
}

static bool store_and_clear(void) { return store_crowd() && larder_clear(cache) == LARDER_OK; }

static bool store_clear_and_store(void) {
    return store_and_clear() && set(cache, "new", "value") == LARDER_OK && larder_clear(cache) == LARDER_OK &&
           set(cache, "new", "value") == LARDER_OK;
}

static void bits_of_a_cleared_file(void) {
    make(store_and_clear);
    CHECK(found() == 0 && lard_load(&header()->items) > CROWD, "its shard is not emptied yet");
    flip_words_outside_records(&nothing, false);
    larder_close(cache);
}

static void bits_of_a_file_that_was_emptied(void) {
    make(store_clear_and_store);
    CHECK(found() == 0 && lard_load(&header()->items) == 1 && is(cache, "new", "value"));
    flip_words_outside_records(&nothing, true);
    larder_close(cache);
}

/* ---- flips at rest ---- */

static void open_flipped(void *unused) {
    larder_report report;
    larder_options options = {.size_bytes = SIZE, .lock_timeout_ms = 2};
    (void)unused;
    alarm(60);
    if (larder_open(test_path("t.larder"), &options, &cache, &failure) == LARDER_OK) {
        const char *key = wrong();
        if (key) {
            fprintf(stderr, "  %s\n", key);
        }
        CHILD_CHECK(!key);
        larder_verify(cache, &report);
        set(cache, "new", "value");
        CHILD_CHECK(!wrong());
    }
}

static void at_rest(unsigned char *word, size_t bytes, uint64_t by) {
    for (uint64_t bit = 0; bit < bytes * 8; bit += by) {
        word[bit / 8] ^= (unsigned char)(1 << bit % 8);
        bool good = write_image() && in_child(open_flipped, NULL);
        word[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK(good, "bit %d of %d bytes", (int)bit, (int)bytes);
    }
}

static void control_at_rest(const truth *what) {
    unsigned char *control = image + LARD_CONTROL_OFFSET;
    size_t use = offsetof(lard_control, use);
    larder_close(cache);
    now = *what;
    at_rest(control, offsetof(lard_control, retired), stride(1));
    at_rest(control + use, sizeof(lard_control) - use, stride(19));
    at_rest((unsigned char *)&lock_image, sizeof lock_image, stride(5));
}

static lard_control *control_image(void) { return (lard_control *)(void *)(image + LARD_CONTROL_OFFSET); }

static void bits_of_a_closed_file(void) {
    make(store_all);
    lard_superblock super = mapped->super;
    control_at_rest(&living);
    at_rest(image, sizeof super, stride(17));
    at_rest(image + super.shard_offset, sizeof(lard_shard), stride(5));
    at_rest(image + super.shard_offset + super.directory_offset, 4 * super.segments_per_shard, stride(5));
}

static void bits_of_a_closed_file_that_was_cleared(void) {
    make(store_clear_and_store);
    lard_superblock super = mapped->super;
    control_at_rest(&nothing);
    at_rest(image + super.shard_offset, sizeof(lard_shard), stride(5));
    at_rest(image + super.shard_offset + super.directory_offset, 4 * super.segments_per_shard, stride(5));
}

/* The machine crashed: what is on the disk may be older than what was acknowledged. */
static void bits_of_a_file_in_use_at_a_crash(void) {
    make(store_all);
    lard_store(&control_image()->clean, LARD_IN_USE);
    lard_store(&control_image()->boot_id[0], lard_load(&control_image()->boot_id[0]) ^ 0x55aa);
    control_at_rest(&nothing);
}

static void bits_of_a_file_that_was_put_back(void) {
    make(store_all);
    lock_image.use[0] = lock_image.use[1] = lock_image.use[0] ^ 0x55aa;
    control_at_rest(&nothing);
}

static void bits_of_a_file_that_was_replaced(void) {
    make(store_all);
    lard_store(&control_image()->superseded, LARD_SUPERSEDED);
    control_at_rest(&nothing);
}

static const test_case tests[] = {
    TEST(bits_of_a_living_file, "a flipped bit brings back nothing that was replaced, deleted or has expired"),
    TEST(bits_of_a_table_of_tags, "a flipped bit of the table of deleted tags brings nothing back"),
    TEST(bits_of_a_cleared_file, "a flipped bit of a cleared file brings nothing back"),
    TEST(bits_of_a_file_that_was_emptied, "a flipped bit of a file that was emptied brings nothing back"),
    TEST(bits_of_a_closed_file, "a flipped bit of a closed file brings nothing back"),
    TEST(bits_of_a_closed_file_that_was_cleared,
         "a flipped bit of a closed file that was cleared brings nothing back"),
    TEST(bits_of_a_file_in_use_at_a_crash, "a flipped bit of a file in use at a crash brings nothing back"),
    TEST(bits_of_a_file_that_was_put_back, "a flipped bit of a file that was put back brings nothing back"),
    TEST(bits_of_a_file_that_was_replaced, "a flipped bit of a file that was replaced brings nothing back"),
};
RUN_IN_MEMORY("flipped bits", tests)
