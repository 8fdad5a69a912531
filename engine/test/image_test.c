/*
 * image_test.c — records that are written by pwritev(2): their bytes, page faults, and what keeps a process from
 * it.
 */
#include "children.h"

#include <sys/resource.h>

#define SIZE (64u << 20)
#define BYTES 11000u /* of a value in one record */
#define WORDS (LARD_MAX_RECORD / 8)

static larder *cache;
static lard_map *map;

/* Wherever the tests are run. */
static void begin(void) {
    cache = open_cache(SIZE);
    CHECK(set(cache, "first", "value") == LARDER_OK);
    map = cache->core->map;
    map->is_on_disk = true;
}

static void end(void) {
    CHECK(sound(cache));
    larder_close(cache);
}

static larder_status put(uint64_t number, size_t bytes) {
    static unsigned char value[1 << 20];
    char key[32];
    describe(value, bytes, number, number);
    snprintf(key, sizeof key, "key %llu", (unsigned long long)number);
    return set_bytes(cache, key, value, bytes, 0);
}

static bool has(larder *in, uint64_t number, size_t bytes) {
    static unsigned char value[1 << 20];
    char key[32];
    larder_item item;
    uint64_t stamp;
    snprintf(key, sizeof key, "key %llu", (unsigned long long)number);
    return larder_get(in, key, strlen(key), value, sizeof value, &item, NULL) == LARDER_OK &&
           item.size_bytes == bytes && describes(value, bytes, number, &stamp) && stamp == number;
}

static void set_hot(uint32_t is_hot) {
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        map->dircache[shard].hints->is_hot = is_hot;
    }
}

/* The words of a record as they are in the file, which the map shows, too. */
static bool are_same(const lard_view *view, uint64_t offset, const lard_u64 *words, uint64_t bytes) {
    bool same = true;
    for (uint64_t i = 0; i < bytes / 8; i++) {
        same &= lard_load(&lard_view_words(view, offset)[i]) == lard_load(&words[i]);
    }
    return same;
}

static void has_the_bytes_of_stores(void) {
    static unsigned char value[40000];
    static lard_u64 words[WORDS], stored[WORDS];
    begin();
    lard_view view = lard_view_of(map, 1);
    uint64_t offset = lard_view_segment_offset(&view, 5) + 24, moved = lard_view_segment_offset(&view, 7) + 56;
    lard_extension extension;
    lard_extension_init(&extension, LARD_TYPE_PLAIN, 12);
    extension.fields = LARD_FIELD_FRESH;
    extension.fresh_until_ms = 1234567;
    describe(value, sizeof value, 1, 2);
    for (size_t bytes = 9001; bytes < sizeof value; bytes += 2999) {
        for (int type = 0; type < 2; type++) {
            lard_key key = lard_key_of(map, NULL, "a key", 1 + bytes % 5);
            lard_record_spec spec = {.value = value,
                                     .value_bytes = bytes,
                                     .expiry_ms = 77,
                                     .type = type ? LARD_TYPE_EXTENDED : LARD_TYPE_PLAIN,
                                     .flags = 9,
                                     .configuration = 3,
                                     .extension = &extension};
            lard_image image = {.words = words};
            lard_image_form(&image, &key, &spec);
            uint32_t crc = lard_record_write(&view, offset, 6, &key, &spec);
            for (uint64_t i = 0; i < image.bytes / 8; i++) {
                lard_store(&stored[i], lard_load(&lard_view_words(&view, offset)[i]));
                lard_store(&lard_view_words(&view, offset)[i], ~0ull);
            }
            CHECK(lard_image_put(&view, offset, 6, &image), "%zu bytes", bytes);
            CHECK(image.crc == crc && image.bytes == lard_record_bytes_of(&key, &spec));
            CHECK(are_same(&view, offset, stored, image.bytes), "%zu bytes", bytes);
            lard_record_info info;
            CHECK(lard_record_info_at(&view, offset, 6, &info));
            lard_record_move(&view, offset, &info, moved, 7);
            for (uint64_t i = 0; i < image.bytes / 8; i++) {
                lard_store(&stored[i], lard_load(&lard_view_words(&view, moved)[i]));
                lard_store(&lard_view_words(&view, moved)[i], ~0ull);
            }
            CHECK(lard_image_move(&view, offset, &info, moved, 7), "%zu bytes", bytes);
            CHECK(are_same(&view, moved, stored, image.bytes), "moved, %zu bytes", bytes);
        }
    }
    larder_close(cache);
}

static void is_read_by_all(void) {
    begin();
    larder *other = open_cache(SIZE);
    for (uint64_t i = 0; i < 3000; i++) { /* half of the file */
        CHECK(put(i, BYTES + i % 900) == LARDER_OK);
        CHECK(has(cache, i, BYTES + i % 900) && has(other, i, BYTES + i % 900), "value %d", (int)i);
    }
    for (uint64_t i = 0; i < 20; i++) { /* in chunks */
        CHECK(put(i, 150000 + i) == LARDER_OK && has(other, i, 150000 + i), "long value %d", (int)i);
    }
    larder_close(other);
    end();
}

static void is_moved_by_eviction(void) {
    begin();
    for (int round = 0; round < 4; round++) {
        for (uint64_t i = 0; i < 300; i++) { /* read often, so that it stays */
            CHECK(has(cache, i, BYTES) || put(i, BYTES) == LARDER_OK);
            has(cache, i, BYTES);
        }
        for (uint64_t i = 0; i < 3000; i++) {
            CHECK(put(10000 + (uint64_t)round * 3000 + i, BYTES) == LARDER_OK);
        }
    }
    larder_stats stats = {0};
    int kept = 0;
    for (uint64_t i = 0; i < 300; i++) {
        kept += has(cache, i, BYTES);
    }
    CHECK(larder_get_stats(cache, &stats) == LARDER_OK && stats.promotions > 100 && stats.damaged == 0);
    CHECK(kept > 100, "%d of 300", kept);
    end();
}

/* ---- page faults ---- */

static int faults;

static void on_fault(int signal, siginfo_t *info, void *context) {
    uintptr_t page = (uintptr_t)info->si_addr / LARD_PAGE * LARD_PAGE;
    (void)signal, (void)context;
    if (page - (uintptr_t)map->base >= map->bytes ||
        mprotect((void *)page, LARD_PAGE, PROT_READ | PROT_WRITE) != 0) {
        abort();
    }
    faults++;
}

static int faults_of(int count) {
    CHILD_CHECK(put(1, BYTES) == LARDER_OK);
    faults = 0;
    for (int i = 0; i < count; i++) {
        CHILD_CHECK(mprotect(map->base, map->bytes, PROT_READ) == 0 && put(1, BYTES) == LARDER_OK);
    }
    return faults;
}

static void takes_no_fault_for_its_pages(void) {
    begin();
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    int by_image = faults_of(100);
    set_hot(1);
    int by_stores = faults_of(100);
    mprotect(map->base, map->bytes, PROT_READ | PROT_WRITE);
    signal(SIGSEGV, SIG_DFL);
    CHECK(by_stores >= by_image + 250, "%d faults by stores, %d by images", by_stores, by_image);
    end();
}

static void stores_where_pages_stay_writable(void) {
    begin();
    uint32_t hot = 0;
    for (int attempt = 0; hot == 0 && attempt < 10; attempt++) { /* a busy disk may take too long */
        for (uint64_t i = 0; i < 20000; i++) { /* three times through the file, in less than HOT_TURN_S */
            CHECK(put(i, BYTES) == LARDER_OK);
        }
        for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
            hot += map->dircache[shard].hints->is_hot;
        }
    }
    for (uint32_t shard = 0; shard < map->super.shard_count; shard++) {
        map->dircache[shard].hints->turn_began_s -= 100; /* the turn takes long */
    }
    for (uint64_t i = 0; i < 2000; i++) {
        CHECK(put(i, BYTES) == LARDER_OK);
    }
    lard_view view = lard_view_of(map, 0);
    CHECK(hot > 0, "no shard was hot");
    CHECK(lard_image_suits(&view, LARD_IMAGE_LEAST) && !lard_image_suits(&view, LARD_IMAGE_LEAST - 8));
    end();
}

/* ---- what keeps a process from it ---- */

static void stores_beyond_a_limit(void *with) {
    struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    (void)with;
    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (uint64_t i = 0; i < 50; i++) {
        CHILD_CHECK(put(i, BYTES) == LARDER_OK && has(cache, i, BYTES));
    }
}

static void a_limit_of_file_sizes_kills_nobody(void) {
    begin();
    CHECK(in_child(stores_beyond_a_limit, NULL));
    CHECK(has(cache, 49, BYTES));
    end();
}

static void another_file_has_the_descriptor(void) {
    begin();
    char path[400];
    snprintf(path, sizeof path, "%s", test_path("another"));
    int fd = open(path, O_RDWR | O_CREAT, 0600), own = dup(map->fd);
    struct stat info;
    CHECK(fd >= 0 && own >= 0 && ftruncate(fd, (off_t)map->bytes) == 0 && dup2(fd, map->fd) == map->fd);
    CHECK(put(1, BYTES) == LARDER_OK && has(cache, 1, BYTES));
    CHECK(fstat(fd, &info) == 0 && info.st_blocks == 0, "it was written to");
    close(map->fd);
    CHECK(put(2, BYTES) == LARDER_OK && has(cache, 2, BYTES));
    CHECK(dup2(own, map->fd) == map->fd);
    close(fd), close(own);
    end();
}

static void a_truncated_file_stays_short(void) {
    static unsigned char value[BYTES];
    static lard_u64 words[WORDS];
    begin();
    struct stat info;
    lard_view view = lard_view_of(map, map->super.shard_count - 1);
    lard_key key = lard_key_of(map, NULL, "key", 3);
    lard_record_spec spec = {.value = value, .value_bytes = sizeof value, .type = LARD_TYPE_PLAIN};
    lard_image image = {.words = words};
    uint64_t last = lard_view_segment_offset(&view, map->super.segments_per_shard - 1);
    off_t left = (off_t)(((uint64_t)(view.base - map->base) + last) / LARD_PAGE * LARD_PAGE);
    CHECK(ftruncate(map->fd, left) == 0);
    lard_image_form(&image, &key, &spec);
    CHECK(!lard_image_put(&view, last, 1, &image), "it was written to");
    CHECK(fstat(map->fd, &info) == 0 && info.st_size == left, "it has %lld bytes", (long long)info.st_size);
    larder_close(cache);
}

/* The rest of the segment's last page is the beginning of another one. */
static void zeros_stay_in_the_segment(void) {
    static unsigned char value[BYTES];
    static lard_u64 words[WORDS];
    begin();
    lard_view view = lard_view_of(map, 0);
    lard_key key = lard_key_of(map, NULL, "key", 3);
    lard_record_spec spec = {.value = value, .value_bytes = sizeof value, .type = LARD_TYPE_PLAIN};
    lard_image image = {.words = words};
    lard_image_form(&image, &key, &spec);
    uint64_t next = lard_view_segment_offset(&view, 8);
    lard_u64 *word = lard_view_words(&view, next);
    CHECK(((uintptr_t)word & (LARD_PAGE - 1)) != 0, "a segment begins with a page");
    lard_store(word, 77);
    CHECK(lard_image_put(&view, next - image.bytes, 1, &image) && lard_load(word) == 77);
    lard_store(&words[1],
               lard_record_sealed(lard_load(&words[0]), lard_load(&words[1]), LARD_ORIGIN(next - image.bytes, 1)));
    CHECK(are_same(&view, next - image.bytes, words, image.bytes));
    larder_close(cache);
}

/* Forms an image of a value, and stores it as `changed` says. */
static bool is_stored(larder *in, void (*change)(lard_write_op *, lard_image *), size_t wanted_bytes) {
    static unsigned char value[BYTES], found[BYTES];
    lard_image image;
    larder_item item;
    lard_key key = lard_key_of(map, in->belief, "key", 3);
    lard_write_op op = {
        .key = &key, .spec = {.value = value, .value_bytes = BYTES, .type = LARD_TYPE_PLAIN}, .now_ms = 1};
    lard_view view = lard_view_of(map, lard_hash_shard(map, &key.hash));
    describe(value, BYTES, 5, 5);
    if (set(in, "key", "value") != LARDER_OK) { /* so the row is known in the shard */
        return false;
    }
    bool is_whole = lard_write_form(&view, &op, &image) && image.configuration != 0 && op.image == &image &&
                    lard_image_is_of(&image, &op.spec);
    change(&op, &image);
    if (lard_shard_lock(in->core, &view, NULL) != LARDER_OK) {
        return false;
    }
    larder_status status = lard_write_locked(in->core, &view, &op);
    lard_write_unlock(&view);
    lard_write_forget(&op, &image);
    return is_whole && status == LARDER_OK &&
           larder_get(in, "key", 3, found, sizeof found, &item, NULL) == LARDER_OK &&
           item.size_bytes == wanted_bytes && memcmp(found, value, wanted_bytes) == 0;
}

static void nothing(lard_write_op *op, lard_image *image) { (void)op, (void)image; }
static void another_row(lard_write_op *op, lard_image *image) {
    lard_record_spec other = op->spec;
    other.configuration ^= 1;
    lard_image_form(image, op->key, &other);
}
static void another_length(lard_write_op *op, lard_image *image) { (void)image, op->spec.value_bytes = 9000; }

static void an_image_of_something_else(void) {
    larder *configured = NULL;
    larder_error error;
    larder_options options = {.size_bytes = SIZE, .configuration = 4711};
    begin();
    CHECK(larder_open(test_path("t.larder"), &options, &configured, &error) == LARDER_OK);
    CHECK(is_stored(configured, nothing, BYTES));
    CHECK(is_stored(configured, another_row, BYTES));
    CHECK(is_stored(configured, another_length, 9000));
    larder_close(configured);
    end();
}

static const test_case tests[] = {
    TEST(has_the_bytes_of_stores, "a record that is written by pwritev(2) has the bytes of one that is stored"),
    TEST(is_read_by_all, "all processes read such records at once, also in a full file and in chunks"),
    TEST(is_moved_by_eviction, "eviction moves such records, and they stay whole"),
    TEST(takes_no_fault_for_its_pages, "a record of several pages takes no page fault for them"),
    TEST(stores_where_pages_stay_writable, "a shard that is written through in seconds is stored to"),
    TEST(a_limit_of_file_sizes_kills_nobody, "a limit of file sizes does not kill the process"),
    TEST(another_file_has_the_descriptor, "another file that has the descriptor is not written to"),
    TEST(a_truncated_file_stays_short, "a file that was truncated does not grow again"),
    TEST(zeros_stay_in_the_segment, "the zeros after a record end with its segment"),
    TEST(an_image_of_something_else, "an image of another configuration or length is not written"),
};
RUN("image", tests)
