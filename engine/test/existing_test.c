/*
 * existing_test.c — opens an existing cache without creating, replacing or removing one.
 *
 * That is for programs beside the application, which decides about its file.
 */
#include "places.h"

static larder_status open_existing(const char *path) {
    larder *cache = NULL;
    larder_options options = {.existing = 1};
    larder_status status = larder_open(path, &options, &cache, &failure);
    larder_close(cache);
    return status;
}

static void nothing_is_made(void) {
    CHECK(open_existing(in_directory("t.larder")) == LARDER_NOT_THERE && strstr(failure.detail, "t.larder"));
    CHECK(!is_there(in_directory("t.larder")) && !is_there(in_directory("t.larder.lock")));
    CHECK(open_existing(in_directory("deep/t.larder")) == LARDER_NOT_THERE && !is_there(in_directory("deep")));
    CHECK(usable(in_directory("t.larder")) && unlink(in_directory("t.larder")) == 0);
    CHECK(open_existing(in_directory("t.larder")) == LARDER_NOT_THERE && !is_there(in_directory("t.larder")),
          "its lock file is there still");
}

static void one_that_is_there_is_used(void) {
    larder *cache = open_cache(SIZE), *again = NULL;
    larder_options options = {.existing = 1};
    CHECK(set(cache, "k", "v") == LARDER_OK);
    CHECK(larder_open(in_directory("t.larder"), &options, &again, &failure) == LARDER_OK && again == cache);
    larder_close(again);
    larder_close(cache);
    CHECK(larder_open(in_directory("t.larder"), &options, &again, &failure) == LARDER_OK);
    CHECK(larder_size(again) == SIZE && is(again, "k", "v") && set(again, "k", "w") == LARDER_OK);
    larder_close(again);
    cache = open_cache(SIZE);
    CHECK(is(cache, "k", "w"));
    larder_close(cache);
}

/* Two handles of a process share the file: that of the application creates it, whichever was opened first. */
static void one_beside_it_creates(void) {
    larder *looks = NULL, *cache;
    larder_options options = {.existing = 1};
    CHECK(usable(in_directory("t.larder")));
    CHECK(larder_open(in_directory("t.larder"), &options, &looks, &failure) == LARDER_OK);
    CHECK(unlink(in_directory("t.larder")) == 0);
    cache = open_cache(SIZE);
    CHECK(set(cache, "k", "v") == LARDER_OK && is_there(in_directory("t.larder")), "%s", failure.detail);
    CHECK(larder_size(cache) == SIZE && is(looks, "k", "v"), "it gets the size of the file that was there");
    larder_close(cache);
    larder_close(looks);
}

/* Changes the file, tries it, and puts it back as it was. */
static void stays_unfit(size_t at, const void *bytes, size_t count, const char *why) {
    static unsigned char whole[SIZE], changed[SIZE];
    const char *path = in_directory("t.larder");
    int fd = open(path, O_RDONLY);
    CHECK(read(fd, whole, SIZE) == SIZE);
    close(fd);
    memcpy(changed, whole, SIZE);
    memcpy(changed + at, bytes, count);
    memcpy(changed + (at < LARD_CONTROL_OFFSET ? at + LARD_PAGE : at), bytes, count); /* both superblocks */
    CHECK(put_file(path, changed, SIZE, 0600));
    CHECK(open_existing(path) == LARDER_UNFIT && strstr(failure.detail, why), "%s", failure.detail);
    CHECK(file_is(path, changed, SIZE), "it stays as it is: %s", why);
    CHECK(put_file(path, whole, SIZE, 0600) && open_existing(path) == LARDER_OK, "%s", failure.detail);
}

static void one_that_is_unfit_stays(void) {
    const uint32_t another = 77, one = 1;
    const uint64_t boot_and_use[3] = {1, 2, 0};
    const char *path = in_directory("t.larder");
    CHECK(usable(path));
    stays_unfit(offsetof(lard_superblock, format_major), &another, 4, "of another version");
    stays_unfit(LARD_CONTROL_OFFSET + offsetof(lard_control, superseded), &one, 4, "was replaced");
    larder *cache = open_cache(SIZE);
    CHECK(unlink(in_directory("t.larder.lock")) == 0);
    larder_close(cache);
    CHECK(open_existing(path) == LARDER_UNFIT && strstr(failure.detail, "lock file"), "%s", failure.detail);
    CHECK(is_there(path) && !is_there(in_directory("t.larder.lock")));
    CHECK(usable(path));
    int fd = open(path, O_RDWR);
    CHECK(pwrite(fd, boot_and_use, 16, LARD_CONTROL_OFFSET + offsetof(lard_control, boot_id)) == 16);
    CHECK(pwrite(fd, &boot_and_use[2], 4, LARD_CONTROL_OFFSET + offsetof(lard_control, clean)) == 4);
    close(fd);
    CHECK(open_existing(path) == LARDER_UNFIT && strstr(failure.detail, "the machine crashed"));
    CHECK(ftruncate(fd = open(path, O_RDWR), SIZE / 2) == 0);
    close(fd);
    CHECK(open_existing(path) == LARDER_UNFIT && strstr(failure.detail, "damaged"), "%s", failure.detail);
    CHECK(put_file(path, "", 0, 0600) && open_existing(path) == LARDER_UNFIT && file_is(path, "", 0));
    CHECK(strstr(failure.detail, "not finished"));
}

static void what_is_not_larders_is_said_to_be_so(void) {
    const char *path = in_directory("notes.txt"), *lock = in_directory("notes.txt.lock");
    CHECK(put_file(path, "Dear diary,\n", 12, 0600));
    CHECK(open_existing(path) == LARDER_NOT_LARDER && file_is(path, "Dear diary,\n", 12) && !is_there(lock));
    CHECK(chmod(path, 0666) == 0 && open_existing(path) == LARDER_UNSAFE_MODE && !is_there(lock));
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0 && open_existing(path) == LARDER_NOT_REGULAR);
    CHECK(!is_there(lock));
}

static const test_case tests[] = {
    TEST(nothing_is_made, "where no cache is, neither it nor its lock file nor its directory is made"),
    TEST(one_that_is_there_is_used, "a cache that is there is used like any other"),
    TEST(one_beside_it_creates,
         "a cache that may create its file does so, also if one that may not was opened before"),
    TEST(one_that_is_unfit_stays, "a cache that would be replaced stays as it is, and the error says why"),
    TEST(what_is_not_larders_is_said_to_be_so,
         "of what is no cache the error says so, and nothing is made beside it"),
};
RUN("existing", tests)
