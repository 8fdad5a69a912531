/*
 * format_test.c — checks the plan of a file, and files of other versions, byte orders and builds.
 *
 * Each is opened with and without a process that uses it.
 */
#include "children.h"

enum { SIZE = 1 << 20 };

static larder_error failure;

static void plans_fit_their_files(void) {
    uint64_t state = 9;
    for (int i = 0; i < 3000; i++) {
        uint64_t size = LARDER_MIN_SIZE + next_random(&state) % (1ull << (20 + i % 21));
        lard_superblock super;
        CHECK(lard_format_plan(size, &super) == LARDER_OK, "%llu", (unsigned long long)size);
        CHECK(super.file_bytes >= size && super.file_bytes < size + LARD_PAGE &&
              super.file_bytes % LARD_PAGE == 0);
        CHECK(super.shard_offset % LARD_PAGE == 0 && super.shard_bytes % LARD_PAGE == 0);
        CHECK(super.shard_offset + super.shard_count * super.shard_bytes <= super.file_bytes);
        CHECK(super.data_offset + (uint64_t)super.segments_per_shard * super.segment_bytes <= super.shard_bytes);
        CHECK(super.data_offset % 64 == 0 && super.segments_per_shard >= 8 && super.shard_count <= 256);
        CHECK((super.shard_count & (super.shard_count - 1)) == 0 && super.shard_bytes <= 1ull << 32);
        CHECK(LARD_PROCESS_OFFSET + super.process_slots * sizeof(lard_process) <= super.shard_offset);
        uint64_t used = (uint64_t)super.shard_count * super.segments_per_shard * super.segment_bytes;
        CHECK(used * 100 > size * 85, "%llu of %llu bytes are for items", (unsigned long long)used,
              (unsigned long long)size);
    }
}

static void sizes_have_limits(void) {
    lard_superblock super;
    CHECK(lard_format_plan(0, &super) == LARDER_SIZE_TOO_SMALL);
    CHECK(lard_format_plan(LARDER_MIN_SIZE - 1, &super) == LARDER_SIZE_TOO_SMALL);
    CHECK(lard_format_plan(LARDER_MIN_SIZE, &super) == LARDER_OK);
    CHECK(lard_format_plan(LARDER_MAX_SIZE, &super) == LARDER_OK);
    CHECK(lard_format_plan(LARDER_MAX_SIZE + 1, &super) == LARDER_SIZE_TOO_LARGE);
}

static void no_number_of_a_file_is_believed(void) {
    lard_superblock super;
    lard_crc_init();
    CHECK(lard_format_plan(64 << 20, &super) == LARDER_OK);
    super.created_ms = 12345;
    super.crc = lard_format_crc(&super);
    CHECK(lard_format_valid(&super, 64 << 20) && !lard_format_valid(&super, (64 << 20) - 1));
    for (size_t at = 0; at + 4 <= offsetof(lard_superblock, crc); at += 4) {
        if (at >= offsetof(lard_superblock, seed) && at < offsetof(lard_superblock, shard_offset)) {
            continue; /* seed, ids and time of creation are what they are */
        }
        for (int change = 0; change < 3; change++) {
            lard_superblock forged = super;
            uint32_t word;
            memcpy(&word, (char *)&forged + at, 4);
            word = change == 0 ? word + 1 : change == 1 ? word ^ 0x80000000u : ~word;
            memcpy((char *)&forged + at, &word, 4);
            forged.crc = lard_format_crc(&forged);
            CHECK(!lard_format_valid(&forged, UINT64_MAX), "byte %zu, change %d", at, change);
        }
    }
}

typedef enum { ENDIAN, MAJOR_UP, MINOR_UP, FEATURE, MAJOR_DOWN, LAYOUT } forgery;

static bool is_up(forgery how) { return how == MAJOR_UP || how == MINOR_UP || how == FEATURE; }

static bool forge(forgery how) {
    lard_superblock super;
    int fd = open(test_path("t.larder"), O_RDWR);
    bool done = fd >= 0 && pread(fd, &super, sizeof super, 0) == sizeof super;
    switch (how) {
    case ENDIAN:
        super.endian_probe = 0x04030201u;
        break;
    case MAJOR_UP:
        super.format_major++;
        break;
    case MINOR_UP:
        super.format_minor++;
        break;
    case MAJOR_DOWN:
        super.format_major--;
        break;
    case LAYOUT:
        super.layout_hash++;
        break;
    case FEATURE: { /* that a newer version of the same format uses in this file */
        uint32_t features = 1;
        off_t at = LARD_CONTROL_OFFSET + offsetof(lard_control, features);
        done = done && pwrite(fd, &features, sizeof features, at) == sizeof features;
    }
    }
    super.crc = lard_format_crc(&super);
    done = done && pwrite(fd, &super, sizeof super, 0) == sizeof super &&
           pwrite(fd, &super, sizeof super, LARD_PAGE) == sizeof super;
    close(fd);
    return done;
}

static larder_status open_anew(larder **out) {
    larder_options options = {.size_bytes = SIZE};
    *out = NULL;
    return larder_open(test_path("t.larder"), &options, out, &failure);
}

static ino_t inode(void) {
    struct stat info;
    return stat(test_path("t.larder"), &info) == 0 ? info.st_ino : 0;
}

static void a_file_nobody_uses_is_made_anew(void) {
    for (forgery how = ENDIAN; how <= LAYOUT; how++) {
        larder *cache;
        CHECK(open_anew(&cache) == LARDER_OK && set(cache, "k", "v") == LARDER_OK);
        larder_close(cache);
        CHECK(forge(how) && open_anew(&cache) == LARDER_OK, "%d: %s", how, failure.detail);
        CHECK(is(cache, "k", NULL) && set(cache, "k", "v") == LARDER_OK && is(cache, "k", "v"), "%d", how);
        larder_close(cache);
        CHECK(open_anew(&cache) == LARDER_OK && is(cache, "k", "v"), "%d", how);
        larder_close(cache);
        CHECK(unlink(test_path("t.larder")) == 0);
    }
}

typedef struct {
    uint32_t stage;
    forgery how;
} script;

static void meet_a_file_in_use(larder *inherited, script *play) {
    larder *cache;
    larder_close(inherited);
    ino_t before = inode();
    larder_status status = open_anew(&cache);
    if (is_up(play->how)) {
        CHILD_CHECK(status == LARDER_NEWER_VERSION && inode() == before);
        CHILD_CHECK(strstr(failure.detail, "t.larder"));
        return;
    }
    CHILD_CHECK(status == LARDER_OK && inode() != before);
    CHILD_CHECK(set(cache, "k", "of the new file") == LARDER_OK);
    advance(&play->stage);
    CHILD_CHECK(await(&play->stage, 2));
    CHILD_CHECK(is(cache, "k", "of the other"));
}

static void a_file_in_use_is_refused_if_newer_and_left_if_older(void) {
    script *play = shared_memory(sizeof *play);
    for (forgery how = ENDIAN; how <= LAYOUT; how++) {
        larder *cache;
        bool newer = is_up(how);
        memset(play, 0, sizeof *play);
        play->how = how;
        CHECK(open_anew(&cache) == LARDER_OK && set(cache, "k", "v") == LARDER_OK && forge(how));
        pid_t pid = fork_child();
        if (pid == 0) {
            meet_a_file_in_use(cache, play);
            _exit(0);
        }
        if (!newer) {
            CHECK(await(&play->stage, 1));
            CHECK(is(cache, "k", "of the new file"), "%d: a process on the old file would not see deletes", how);
            CHECK(set(cache, "k", "of the other") == LARDER_OK);
            advance(&play->stage);
        }
        CHECK(exited_well(pid), "%d", how);
        CHECK(!newer || is(cache, "k", "v"), "%d", how);
        larder_close(cache);
        CHECK(unlink(test_path("t.larder")) == 0);
    }
    munmap(play, sizeof *play);
}

/* A process of a newer version has replaced the file under this one. */
static void serve_misses_beside_a_newer_one(larder *cache, script *play) {
    CHILD_CHECK(is(cache, "k", "v"));
    advance(&play->stage);
    CHILD_CHECK(await(&play->stage, 2));
    CHILD_CHECK(is(cache, "k", NULL));
    CHILD_CHECK(set(cache, "k", "old") == LARDER_SUPERSEDED);
    CHILD_CHECK(larder_increment(cache, "n", 1, 1, 0, 0, NULL, NULL) == LARDER_SUPERSEDED);
}

static void a_newer_file_in_its_place_means_misses(void) {
    script *play = shared_memory(sizeof *play);
    larder *cache;
    CHECK(open_anew(&cache) == LARDER_OK && set(cache, "k", "v") == LARDER_OK);
    pid_t pid = fork_child();
    if (pid == 0) {
        serve_misses_beside_a_newer_one(cache, play);
        _exit(0);
    }
    CHECK(await(&play->stage, 1));
    lard_map_supersede(cache->core->map);
    CHECK(set(cache, "k", "of the new file") == LARDER_OK && forge(MAJOR_UP));
    advance(&play->stage);
    CHECK(exited_well(pid));
    CHECK(is(cache, "k", "of the new file"), "the newer one's file was not touched");
    larder_close(cache);
    munmap(play, sizeof *play);
}

static const test_case tests[] = {
    TEST(plans_fit_their_files, "what is planned for a size fits it"),
    TEST(sizes_have_limits, "sizes have limits"),
    TEST(no_number_of_a_file_is_believed, "no offset or count of a superblock is believed, whatever its checksum"),
    TEST(a_file_nobody_uses_is_made_anew,
         "a file of another version, byte order or build that nobody uses is made anew"),
    TEST(a_file_in_use_is_refused_if_newer_and_left_if_older,
         "a newer file in use is refused, an unfit one is replaced for all"),
    TEST(a_newer_file_in_its_place_means_misses, "a process whose file a newer one replaced serves misses"),
};
RUN("format", tests)
